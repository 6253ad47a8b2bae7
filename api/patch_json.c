/* JSON patch, RFC 6902, by JSON pointers, RFC 6901. */
#include <stdlib.h>
#include <string.h>

#include "api/patch_internal.h"
#include "base/json.h"
#include "base/mem.h"

#define MAX_OPERATIONS 10000

/* Unescaped reference tokens. */
struct pointer {
	const char *tokens[JSON_MAX_DEPTH];
	size_t n;
};

struct operation {
	struct patch_work *work;
	json_t **doc;
	struct pointer path, from;
	const json_t *value;
	struct arena arena; /* of the pointers */
};

/* "a~1b" is "a/b", "a~0b" is "a~b"; anything else after ~ is wrong. In place. */
static int unescape_token(char *token)
{
	char *out = token;

	for (const char *p = token; *p; p++) {
		bool escaped = *p == '~';

		p += escaped;
		if (escaped && *p != '0' && *p != '1')
			return -1;
		*out++ = (char)(!escaped ? *p : *p == '0' ? '~' : '/');
	}
	*out = '\0';
	return 0;
}

static int parse_pointer(struct operation *o, const char *name, const json_t *text,
			 struct pointer *ret)
{
	const char *p = json_string_value(text);

	if (!p || (*p && *p != '/'))
		return error_set(o->work->err, ERR_BAD_REQUEST,
				 "%s must be a JSON pointer like /spec/queue", name);
	for (ret->n = 0; *p; ret->n++) {
		size_t n = strcspn(++p, "/");
		char *token = arena_strndup(&o->arena, p, n);

		if (ret->n == JSON_MAX_DEPTH || unescape_token(token) < 0)
			return error_set(o->work->err, ERR_BAD_REQUEST,
					 "%s is not a JSON pointer of at most %d tokens", name,
					 JSON_MAX_DEPTH);
		ret->tokens[ret->n] = token;
		p += n;
	}
	return 0;
}

/* An array index in canonical form; -1 for any other token. */
static long parse_index(const char *token)
{
	size_t n = strspn(token, "0123456789");

	if (!n || token[n] || n > 9 || (*token == '0' && n > 1))
		return -1;
	return strtol(token, NULL, 10);
}

static json_t *child(const json_t *parent, const char *token)
{
	long i;

	if (json_is_object(parent))
		return json_object_get(parent, token);
	i = parse_index(token);
	return i < 0 ? NULL : json_array_get(parent, (size_t)i);
}

/* What the first n tokens lead to; NULL when there is nothing. */
static json_t *find(const struct operation *o, const struct pointer *p, size_t n)
{
	json_t *at = *o->doc;

	for (size_t i = 0; at && i < n; i++)
		at = child(at, p->tokens[i]);
	return at;
}

static int missing(const struct operation *o)
{
	return error_set(o->work->err, ERR_INVALID, "path does not exist");
}

/* Elements behind the place have to move. */
static int insert(const struct operation *o, json_t *array, const char *token, json_t *value)
{
	size_t size = json_array_size(array);
	long i = strcmp(token, "-") == 0 ? (long)size : parse_index(token);

	if (i < 0 || (size_t)i > size)
		return missing(o);
	if (patch_spend(o->work, (size - (size_t)i) / 16) < 0)
		return -1;
	return json_array_insert(array, (size_t)i, value);
}

/* Takes its own reference to value. */
static int add(const struct operation *o, json_t *value)
{
	const struct pointer *p = &o->path;
	json_t *parent;

	if (!p->n) {
		json_incref(value);
		json_decref(*o->doc);
		*o->doc = value;
		return 0;
	}
	parent = find(o, p, p->n - 1);
	if (json_is_object(parent))
		return json_object_set_nocheck(parent, p->tokens[p->n - 1], value);
	if (json_is_array(parent))
		return insert(o, parent, p->tokens[p->n - 1], value);
	return missing(o);
}

static int take_away(const struct operation *o, const struct pointer *p)
{
	json_t *parent = p->n ? find(o, p, p->n - 1) : NULL;
	const char *token = p->n ? p->tokens[p->n - 1] : NULL;
	size_t size = json_array_size(parent);

	if (!parent || !child(parent, token))
		return missing(o);
	if (json_is_object(parent))
		return json_object_del(parent, token);
	if (patch_spend(o->work, (size - (size_t)parse_index(token)) / 16) < 0)
		return -1;
	return json_array_remove(parent, (size_t)parse_index(token));
}

/* A copy of a value that must fit below path; NULL when it is too deep or too large. */
static json_t *copy_for(const struct operation *o, const json_t *value)
{
	if (patch_measure(o->work, value, JSON_MAX_DEPTH - o->path.n) < 0)
		return NULL;
	return json_deep_copy(value);
}

static int apply_add(struct operation *o)
{
	auto_json *value = copy_for(o, o->value);

	return value ? add(o, value) : -1;
}

static int apply_remove(struct operation *o)
{
	return take_away(o, &o->path);
}

static int apply_replace(struct operation *o)
{
	auto_json *value = copy_for(o, o->value);
	json_t *parent;

	if (!value)
		return -1;
	if (!find(o, &o->path, o->path.n))
		return missing(o);
	parent = o->path.n ? find(o, &o->path, o->path.n - 1) : NULL;
	if (json_is_array(parent))
		return json_array_set(parent, (size_t)parse_index(o->path.tokens[o->path.n - 1]),
				      value);
	return add(o, value);
}

static int apply_copy(struct operation *o)
{
	json_t *from = find(o, &o->from, o->from.n);
	auto_json *value = from ? copy_for(o, from) : NULL;

	if (!from)
		return error_set(o->work->err, ERR_INVALID, "from does not exist");
	return value ? add(o, value) : -1;
}

static bool is_inside(const struct pointer *outer, const struct pointer *inner)
{
	if (inner->n <= outer->n)
		return false;
	for (size_t i = 0; i < outer->n; i++)
		if (strcmp(outer->tokens[i], inner->tokens[i]) != 0)
			return false;
	return true;
}

static int apply_move(struct operation *o)
{
	auto_json *value = json_incref(find(o, &o->from, o->from.n));

	if (!value)
		return error_set(o->work->err, ERR_INVALID, "from does not exist");
	if (is_inside(&o->from, &o->path))
		return error_set(o->work->err, ERR_INVALID, "nothing can move into itself");
	if (!o->from.n)
		return 0;
	if (patch_measure(o->work, value, JSON_MAX_DEPTH - o->path.n) < 0 ||
	    take_away(o, &o->from) < 0)
		return -1;
	return add(o, value);
}

static int apply_test(struct operation *o)
{
	const json_t *found = find(o, &o->path, o->path.n);

	if (!found)
		return missing(o);
	if (!patch_values_equal(found, o->value))
		return error_set(o->work->err, ERR_INVALID, "the value there is another");
	return 0;
}

static const struct verb_row {
	const char *name;
	int (*apply)(struct operation *o);
	bool takes_value, takes_from;
} verbs[] = {
	{"add", apply_add, .takes_value = true},         {"remove", apply_remove},
	{"replace", apply_replace, .takes_value = true}, {"move", apply_move, .takes_from = true},
	{"copy", apply_copy, .takes_from = true},        {"test", apply_test, .takes_value = true},
};

static const struct verb_row *find_verb(const char *name)
{
	for (size_t i = 0; name && i < ARRAY_LEN(verbs); i++)
		if (!strcmp(verbs[i].name, name))
			return &verbs[i];
	return NULL;
}

static int read_and_apply(struct operation *o, const json_t *j)
{
	const struct verb_row *verb = find_verb(json_str_at(j, "op", NULL));
	struct error *err = o->work->err;

	if (!verb)
		return error_set(err, ERR_BAD_REQUEST,
				 "op must be one of add, remove, replace, move, copy, test");
	o->value = json_object_get(j, "value");
	if (verb->takes_value && !o->value)
		return error_set(err, ERR_BAD_REQUEST, "%s needs a value", verb->name);
	if (parse_pointer(o, "path", json_object_get(j, "path"), &o->path) < 0)
		return -1;
	if (verb->takes_from && parse_pointer(o, "from", json_object_get(j, "from"), &o->from) < 0)
		return -1;
	if (verb->apply(o) < 0) {
		const char *path = json_str_at(j, "path", NULL);

		return error_prefix(err, "%s %.100s", verb->name, *path ? path : "\"\"");
	}
	return 0;
}

int patch_apply_json(struct patch_work *w, json_t **doc, const json_t *patch)
{
	size_t i;
	json_t *j;

	if (!json_is_array(patch))
		return error_set(w->err, ERR_BAD_REQUEST, "a JSON patch must be an array");
	if (json_array_size(patch) > MAX_OPERATIONS)
		return error_set(w->err, ERR_TOO_LARGE, "a JSON patch has at most %d operations",
				 MAX_OPERATIONS);
	json_array_foreach (patch, i, j) {
		struct operation o = {.work = w, .doc = doc};
		int r = read_and_apply(&o, j);

		arena_finish(&o.arena);
		if (r < 0)
			return error_prefix(w->err, "operation %zu", i);
	}
	return 0;
}
