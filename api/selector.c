/*
 * Label selectors: both forms become one list of requirements, all of which must hold. Field
 * selectors are in field_selector.c.
 */
#include "api/selector.h"

#include <ctype.h>
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "api/names.h"
#include "base/json.h"
#include "base/mem.h"

enum label_operator {
	OP_IN,
	OP_NOT_IN,
	OP_EXISTS,
	OP_NOT_EXISTS,
	OP_GREATER,
	OP_LESS,
};

struct requirement {
	enum label_operator op;
	const char *key;
	const char **values; /* in the selector's arena */
	size_t n_values;
	int64_t bound; /* of OP_GREATER and OP_LESS */
};

struct selector {
	struct arena arena;
	struct requirement *items;
	size_t n, cap;
};

static struct requirement *add_requirement(struct selector *s, enum label_operator op,
					   const char *key)
{
	GROW(s->items, s->n, s->cap);
	s->items[s->n] = (struct requirement){.op = op, .key = key};
	return &s->items[s->n++];
}

static struct selector *selector_create(void)
{
	return xnew0(struct selector);
}

void selector_destroy(struct selector *s)
{
	if (!s)
		return;
	arena_finish(&s->arena);
	free(s->items);
	free(s);
}
DEFINE_CLEANUP(struct selector, selector_destroy)

static int check_key(const char *key, enum error_code code, struct error *err)
{
	if (qualified_name_ok(key))
		return 0;
	return error_set(err, code, "\"%.100s\" is not a label key", key);
}

static int check_value(const char *value, enum error_code code, struct error *err)
{
	if (strlen(value) <= 63 && label_value_ok(value))
		return 0;
	return error_set(err, code, "\"%.100s\" is not a label value", value);
}

/* The one value of Gt and Lt is a whole number. */
static int set_bound(struct requirement *r, enum error_code code, struct error *err)
{
	char *end;

	if (r->n_values != 1)
		return error_set(err, code, "%s: needs exactly one value", r->key);
	errno = 0;
	r->bound = strtoll(r->values[0], &end, 10);
	if (errno || *end || end == r->values[0] || isspace((unsigned char)*r->values[0]))
		return error_set(err, code, "%s: \"%.100s\" is not a whole number", r->key,
				 r->values[0]);
	return 0;
}

static int check_requirement(struct requirement *r, enum error_code code, struct error *err)
{
	bool takes_values = r->op == OP_IN || r->op == OP_NOT_IN;

	if (check_key(r->key, code, err) < 0)
		return -1;
	if (r->op == OP_GREATER || r->op == OP_LESS)
		return set_bound(r, code, err);
	if (takes_values && !r->n_values)
		return error_set(err, code, "%s: needs at least one value", r->key);
	if (!takes_values && r->n_values)
		return error_set(err, code, "%s: takes no values", r->key);
	for (size_t i = 0; i < r->n_values; i++)
		if (check_value(r->values[i], code, err) < 0)
			return error_prefix(err, "%s", r->key);
	return 0;
}

/* --- the text form ---------------------------------------------------------------------- */

struct parser {
	const char *at;
	struct selector *selector;
	struct error *err;
};

static void skip_space(struct parser *p)
{
	while (isspace((unsigned char)*p->at))
		p->at++;
}

static bool take(struct parser *p, const char *token)
{
	size_t n = strlen(token);

	skip_space(p);
	if (strncmp(p->at, token, n) != 0)
		return false;
	p->at += n;
	return true;
}

/* A run of bytes that are neither space nor an operator; may be empty. */
static const char *take_word(struct parser *p)
{
	size_t n;
	const char *word;

	skip_space(p);
	n = strcspn(p->at, " \t\r\n\v\f,=!()<>");
	word = arena_strndup(&p->selector->arena, p->at, n);
	p->at += n;
	return word;
}

static int unexpected(struct parser *p, const char *wanted)
{
	skip_space(p);
	if (!*p->at)
		return error_set(p->err, ERR_BAD_REQUEST,
				 "unable to parse selector: it ends where %s should be", wanted);
	return error_set(p->err, ERR_BAD_REQUEST,
			 "unable to parse selector: found \"%.40s\" where %s should be", p->at,
			 wanted);
}

static void add_value(struct selector *s, struct requirement *r, const char *value)
{
	bool full = (r->n_values & (r->n_values - 1)) == 0; /* room is the next power of two */

	if (full) {
		size_t room = r->n_values ? 2 * r->n_values : 1;
		const char **values = arena_array(&s->arena, const char *, room);

		if (r->n_values)
			memcpy(values, r->values, r->n_values * sizeof(*values));
		r->values = values;
	}
	r->values[r->n_values++] = value;
}

/* "(a, b)"; an empty place is the empty value, also in "()". */
static int parse_set(struct parser *p, struct requirement *r)
{
	if (!take(p, "("))
		return unexpected(p, "\"(\"");
	do
		add_value(p->selector, r, take_word(p));
	while (take(p, ","));
	return take(p, ")") ? 0 : unexpected(p, "\")\"");
}

static const struct {
	const char *token;
	enum label_operator op;
} text_operators[] = {
	{"==", OP_IN}, {"=", OP_IN}, {"!=", OP_NOT_IN}, {">", OP_GREATER}, {"<", OP_LESS},
};

/* What follows a key. */
static int parse_operator(struct parser *p, struct requirement *r)
{
	const char *word;

	for (size_t i = 0; i < ARRAY_LEN(text_operators); i++) {
		if (!take(p, text_operators[i].token))
			continue;
		r->op = text_operators[i].op;
		add_value(p->selector, r, take_word(p));
		return 0;
	}
	word = take_word(p);
	if (!*word)
		return 0;
	if (!strcmp(word, "in"))
		r->op = OP_IN;
	else if (!strcmp(word, "notin"))
		r->op = OP_NOT_IN;
	else
		return error_set(p->err, ERR_BAD_REQUEST,
				 "unable to parse selector: found \"%.40s\" where an operator "
				 "should be",
				 word);
	return parse_set(p, r);
}

static int parse_requirement(struct parser *p)
{
	bool negated = take(p, "!");
	const char *key = take_word(p);
	struct requirement *r;

	if (!*key)
		return unexpected(p, "a label key");
	r = add_requirement(p->selector, negated ? OP_NOT_EXISTS : OP_EXISTS, key);
	if (!negated && parse_operator(p, r) < 0)
		return -1;
	return check_requirement(r, ERR_BAD_REQUEST, p->err);
}

int selector_parse(const char *text, struct selector **ret, struct error *err)
{
	auto_free(selector_destroy) struct selector *s = selector_create();
	struct parser p = {.at = text ? text : "", .selector = s, .err = err};

	skip_space(&p);
	if (*p.at) {
		do
			if (parse_requirement(&p) < 0)
				return -1;
		while (take(&p, ","));
		skip_space(&p);
		if (*p.at)
			return unexpected(&p, "\",\" or the end");
	}
	*ret = take_ptr(s);
	return 0;
}

/* --- the object form -------------------------------------------------------------------- */

static int read_match_labels(struct selector *s, const json_t *labels, struct error *err)
{
	const char *key;
	json_t *value;

	if (labels && !json_is_object(labels))
		return error_set(err, ERR_INVALID, "matchLabels: must be an object");
	json_object_foreach ((json_t *)(uintptr_t)labels, key, value) {
		struct requirement *r = add_requirement(s, OP_IN, arena_strdup(&s->arena, key));

		if (!json_is_string(value))
			return error_set(err, ERR_INVALID, "matchLabels: %s: must be a string",
					 key);
		add_value(s, r, arena_strdup(&s->arena, json_string_value(value)));
		if (check_requirement(r, ERR_INVALID, err) < 0)
			return error_prefix(err, "matchLabels");
	}
	return 0;
}

static const char *const operator_names[] = {
	[OP_IN] = "In",         [OP_NOT_IN] = "NotIn",
	[OP_EXISTS] = "Exists", [OP_NOT_EXISTS] = "DoesNotExist",
	[OP_GREATER] = "Gt",    [OP_LESS] = "Lt",
};

/* -1 when there is none of this name. */
static int find_operator(const char *name)
{
	for (size_t i = 0; name && i < ARRAY_LEN(operator_names); i++)
		if (!strcmp(operator_names[i], name))
			return (int)i;
	return -1;
}

static int read_values(struct selector *s, struct requirement *r, const json_t *values,
		       struct error *err)
{
	size_t i;
	json_t *v;

	if (values && !json_is_array(values))
		return error_set(err, ERR_INVALID, "values: must be an array");
	json_array_foreach (values, i, v) {
		if (!json_is_string(v))
			return error_set(err, ERR_INVALID, "values[%zu]: must be a string", i);
		add_value(s, r, arena_strdup(&s->arena, json_string_value(v)));
	}
	return 0;
}

static int read_expression(struct selector *s, const json_t *e, struct error *err)
{
	const char *key = json_str_at(e, "key", NULL);
	const char *name = json_str_at(e, "operator", NULL);
	int op = find_operator(name);
	struct requirement *r;

	if (!key)
		return error_set(err, ERR_INVALID, "key: must be a string");
	if (op < 0)
		return error_set(err, ERR_INVALID,
				 "operator: \"%.40s\" is none of In, NotIn, Exists, "
				 "DoesNotExist, Gt, Lt",
				 name ? name : "");
	r = add_requirement(s, (enum label_operator)op, arena_strdup(&s->arena, key));
	if (read_values(s, r, json_at(e, "values", NULL), err) < 0)
		return -1;
	return check_requirement(r, ERR_INVALID, err);
}

static int read_expressions(struct selector *s, const json_t *expressions, struct error *err)
{
	size_t i;
	json_t *e;

	if (expressions && !json_is_array(expressions))
		return error_set(err, ERR_INVALID, "matchExpressions: must be an array");
	json_array_foreach (expressions, i, e) {
		if (read_expression(s, e, err) < 0)
			return error_prefix(err, "matchExpressions[%zu]", i);
	}
	return 0;
}

int selector_from_object(const json_t *object, struct selector **ret, struct error *err)
{
	auto_free(selector_destroy) struct selector *s = selector_create();

	if (object && !json_is_object(object) && !json_is_null(object))
		return error_set(err, ERR_INVALID, "a selector must be an object");
	if (read_match_labels(s, json_at(object, "matchLabels", NULL), err) < 0)
		return -1;
	if (read_expressions(s, json_at(object, "matchExpressions", NULL), err) < 0)
		return -1;
	*ret = take_ptr(s);
	return 0;
}

/* --- matching --------------------------------------------------------------------------- */

static bool has_value(const struct requirement *r, const char *value)
{
	for (size_t i = 0; i < r->n_values; i++)
		if (!strcmp(r->values[i], value))
			return true;
	return false;
}

static bool compare_bound(const struct requirement *r, const char *value)
{
	char *end;
	long long v;

	errno = 0;
	v = strtoll(value, &end, 10);
	if (errno || *end || end == value)
		return false;
	return r->op == OP_GREATER ? v > r->bound : v < r->bound;
}

/* value is NULL where the label is absent. */
static bool requirement_holds(const struct requirement *r, const char *value)
{
	switch (r->op) {
	case OP_IN:
		return value && has_value(r, value);
	case OP_NOT_IN:
		return !value || !has_value(r, value);
	case OP_EXISTS:
		return value != NULL;
	case OP_NOT_EXISTS:
		return !value;
	case OP_GREATER:
	case OP_LESS:
		return value && compare_bound(r, value);
	}
	return false;
}

bool selector_match_fn(const struct selector *s, const char *(*get)(const char *key, void *arg),
		       void *arg)
{
	for (size_t i = 0; i < s->n; i++)
		if (!requirement_holds(&s->items[i], get(s->items[i].key, arg)))
			return false;
	return true;
}

static const char *get_from_object(const char *key, void *labels)
{
	return json_string_value(json_object_get(labels, key));
}

bool selector_match(const struct selector *s, const json_t *labels)
{
	return selector_match_fn(s, get_from_object, (void *)(uintptr_t)labels);
}

bool selector_is_empty(const struct selector *s)
{
	return s->n == 0;
}

const char *selector_key(const struct selector *s, size_t i)
{
	return i < s->n ? s->items[i].key : NULL;
}
