/* The reader. libyaml gives events; what a scalar means is yaml_scalar.c's. */
#include "base/yaml.h"

#include <stdarg.h>
#include <string.h>
#include <yaml.h>

#include "base/json.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/yaml_scalar.h"

/* Bytes that aliases may add to a stream: far above any real manifest, and nine aliases of nine
 * aliases of nine end here. */
#define ALIAS_BUDGET ((size_t)1024 * 1024)
#define NODE_COST    ((size_t)16)

#define CORE_TAG "tag:yaml.org,2002:"

struct anchor {
	char *name;
	json_t *value;
	UT_hash_handle hh;
};

struct reader {
	yaml_parser_t parser;
	yaml_event_t event; /* the present one */
	const char *text;
	struct anchor *anchors; /* of the present document */
	size_t expanded;
	struct error *err;
};

static json_t *read_node(struct reader *r, unsigned depth);

static int fail_at(struct reader *r, yaml_mark_t mark, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

static int fail_at(struct reader *r, yaml_mark_t mark, const char *fmt, ...)
{
	char text[300];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	return error_set(r->err, ERR_BAD_REQUEST, "line %zu, column %zu: %s", mark.line + 1,
			 mark.column + 1, text);
}

/* Reader errors carry an offset instead of a mark. */
static yaml_mark_t mark_of_offset(const char *text, size_t offset)
{
	yaml_mark_t mark = {.index = offset};

	for (size_t i = 0; i < offset; i++) {
		mark.column++;
		if (text[i] == '\n') {
			mark.line++;
			mark.column = 0;
		}
	}
	return mark;
}

static int fail_parser(struct reader *r)
{
	yaml_mark_t mark = r->parser.problem_mark;

	if (r->parser.error == YAML_MEMORY_ERROR)
		abort();
	if (r->parser.error == YAML_READER_ERROR)
		mark = mark_of_offset(r->text, r->parser.problem_offset);
	return fail_at(r, mark, "%s", r->parser.problem);
}

static int pull(struct reader *r)
{
	yaml_event_delete(&r->event);
	return yaml_parser_parse(&r->parser, &r->event) ? 0 : fail_parser(r);
}

static void anchors_clear(struct reader *r)
{
	struct anchor *a, *next;

	HASH_ITER (hh, r->anchors, a, next) {
		HASH_DEL(r->anchors, a);
		json_decref(a->value);
		free(a->name);
		free(a);
	}
}

static void anchor_set(struct reader *r, const char *name, json_t *value)
{
	struct anchor *a;

	HASH_FIND_STR(r->anchors, name, a);
	if (!a) {
		a = xnew0(struct anchor);
		a->name = xstrdup(name);
		HASH_ADD_KEYPTR(hh, r->anchors, a->name, strlen(a->name), a);
	}
	json_decref(a->value);
	a->value = json_incref(value);
}

/* Adds up what a copy costs; stops as soon as it is too deep or too much. */
static bool copy_affordable(size_t *spent, const json_t *j, unsigned depth)
{
	const char *key;
	json_t *child;
	size_t i;

	*spent += NODE_COST + json_string_length(j);
	if (json_is_object(j) || json_is_array(j))
		depth++;
	if (*spent > ALIAS_BUDGET || depth > JSON_MAX_DEPTH)
		return false;
	json_array_foreach (j, i, child)
		if (!copy_affordable(spent, child, depth))
			return false;
	json_object_foreach ((json_t *)(uintptr_t)j, key, child) {
		*spent += strlen(key);
		if (!copy_affordable(spent, child, depth))
			return false;
	}
	return true;
}

static json_t *read_alias(struct reader *r, unsigned depth)
{
	const char *name = (const char *)r->event.data.alias.anchor;
	struct anchor *a;

	HASH_FIND_STR(r->anchors, name, a);
	if (!a)
		fail_at(r, r->event.start_mark, "unknown anchor \"%s\"", name);
	else if (!copy_affordable(&r->expanded, a->value, depth))
		fail_at(r, r->event.start_mark, "aliases expand to too much");
	else
		return json_deep_copy(a->value);
	return NULL;
}

/* The part of a core tag behind its prefix; "" without a tag; NULL for any other tag. */
static const char *core_tag(const yaml_char_t *tag)
{
	size_t n = strlen(CORE_TAG);

	if (!tag)
		return "";
	if (!strcmp((const char *)tag, "!"))
		return "str";
	return strncmp((const char *)tag, CORE_TAG, n) ? NULL : (const char *)tag + n;
}

static bool scalar_has_type(const json_t *j, const char *type)
{
	return (!strcmp(type, "null") && json_is_null(j)) ||
	       (!strcmp(type, "bool") && json_is_boolean(j)) ||
	       (!strcmp(type, "int") && json_is_integer(j)) ||
	       (!strcmp(type, "float") && json_is_number(j));
}

static json_t *read_scalar(struct reader *r)
{
	const char *text = (const char *)r->event.data.scalar.value;
	size_t n = r->event.data.scalar.length;
	const char *type = core_tag(r->event.data.scalar.tag);
	bool plain = r->event.data.scalar.style == YAML_PLAIN_SCALAR_STYLE;
	auto_json *value = NULL;

	if (memchr(text, '\0', n)) {
		fail_at(r, r->event.start_mark, "NUL in a string");
		return NULL;
	}
	if (type && (!strcmp(type, "str") || (!*type && !plain)))
		return json_stringn_nocheck(text, n);
	value = yaml_scalar_value(text, n);
	if (!value)
		fail_at(r, r->event.start_mark, "%s is a number that JSON cannot hold", text);
	else if (!type || (*type && !scalar_has_type(value, type)))
		fail_at(r, r->event.start_mark, "\"%s\" cannot be read as %s", text,
			r->event.data.scalar.tag);
	else
		return take_ptr(value);
	return NULL;
}

static int check_collection(struct reader *r, const yaml_char_t *tag, const char *type,
			    unsigned depth)
{
	const char *core = core_tag(tag);

	if (!core || (*core && strcmp(core, type)))
		return fail_at(r, r->event.start_mark, "tag %s is not supported", tag);
	if (depth > JSON_MAX_DEPTH)
		return fail_at(r, r->event.start_mark, "nested deeper than %d levels",
			       JSON_MAX_DEPTH);
	return 0;
}

static json_t *read_sequence(struct reader *r, unsigned depth)
{
	auto_json *array = json_array();

	if (check_collection(r, r->event.data.sequence_start.tag, "seq", depth) || pull(r))
		return NULL;
	while (r->event.type != YAML_SEQUENCE_END_EVENT)
		if (json_array_append_new(array, read_node(r, depth)) || pull(r))
			return NULL;
	return take_ptr(array);
}

/* Keys that are numbers or booleans become strings, as in every JSON object; caller frees. */
static char *read_key(struct reader *r, unsigned depth)
{
	yaml_mark_t mark = r->event.start_mark;
	bool merge = r->event.type == YAML_SCALAR_EVENT &&
		     r->event.data.scalar.style == YAML_PLAIN_SCALAR_STYLE &&
		     !strcmp((const char *)r->event.data.scalar.value, "<<");
	auto_json *key = NULL;

	if (merge) {
		fail_at(r, mark, "merge keys (<<) are not supported");
		return NULL;
	}
	if (r->event.type != YAML_SCALAR_EVENT) {
		fail_at(r, mark, "a key must be a scalar");
		return NULL;
	}
	key = read_node(r, depth);
	if (json_is_null(key))
		fail_at(r, mark, "a key must not be null");
	if (!key || json_is_null(key))
		return NULL;
	return json_is_string(key) ? xstrdup(json_string_value(key)) : json_print(key);
}

static int read_member(struct reader *r, json_t *object, unsigned depth)
{
	yaml_mark_t mark = r->event.start_mark;
	auto_xfree char *key = read_key(r, depth);

	if (!key)
		return -1;
	if (json_object_get(object, key))
		return fail_at(r, mark, "duplicate key \"%s\"", key);
	if (pull(r))
		return -1;
	return json_object_set_new_nocheck(object, key, read_node(r, depth));
}

static json_t *read_mapping(struct reader *r, unsigned depth)
{
	auto_json *object = json_object();

	if (check_collection(r, r->event.data.mapping_start.tag, "map", depth) || pull(r))
		return NULL;
	while (r->event.type != YAML_MAPPING_END_EVENT)
		if (read_member(r, object, depth) || pull(r))
			return NULL;
	return take_ptr(object);
}

static const char *event_anchor(const yaml_event_t *e)
{
	switch (e->type) {
	case YAML_SCALAR_EVENT:
		return (const char *)e->data.scalar.anchor;
	case YAML_SEQUENCE_START_EVENT:
		return (const char *)e->data.sequence_start.anchor;
	case YAML_MAPPING_START_EVENT:
		return (const char *)e->data.mapping_start.anchor;
	default:
		return NULL;
	}
}

/* depth: how many containers are around it. Ends at the last event of the node. */
static json_t *read_node(struct reader *r, unsigned depth)
{
	const char *name = event_anchor(&r->event);
	auto_xfree char *anchor = name ? xstrdup(name) : NULL;
	json_t *value = NULL;

	switch (r->event.type) {
	case YAML_SCALAR_EVENT:
		value = read_scalar(r);
		break;
	case YAML_SEQUENCE_START_EVENT:
		value = read_sequence(r, depth + 1);
		break;
	case YAML_MAPPING_START_EVENT:
		value = read_mapping(r, depth + 1);
		break;
	default:
		value = read_alias(r, depth);
		break;
	}
	if (value && anchor)
		anchor_set(r, anchor, value);
	return value;
}

static int read_document(struct reader *r, json_t *docs)
{
	auto_json *value = NULL;

	if (pull(r))
		return -1;
	value = read_node(r, 0);
	anchors_clear(r);
	if (!value || pull(r))
		return -1;
	if (!json_is_null(value))
		json_array_append(docs, value);
	return 0;
}

static int read_stream(struct reader *r, json_t *docs)
{
	do {
		if (pull(r))
			return -1;
		if (r->event.type == YAML_DOCUMENT_START_EVENT && read_document(r, docs))
			return -1;
	} while (r->event.type != YAML_STREAM_END_EVENT);
	return 0;
}

/* No tag that they could name is read, and libyaml's time grows with the square of their number. */
static int refuse_tag_directives(struct reader *r, const char *text, size_t n)
{
	static const char directive[] = "%TAG";
	const char *found = text, *end = text + n;

	while ((found = memmem(found, (size_t)(end - found), directive, strlen(directive)))) {
		if (found == text || found[-1] == '\n' || found[-1] == '\r')
			return fail_at(r, mark_of_offset(text, (size_t)(found - text)),
				       "%s directives are not supported", directive);
		found++;
	}
	return 0;
}

static int parse_yaml(const char *text, size_t n, json_t **ret_docs, struct error *err)
{
	auto_json *docs = json_array();
	struct reader r = {.text = text, .err = err};
	int rc;

	if (!yaml_parser_initialize(&r.parser))
		abort();
	yaml_parser_set_encoding(&r.parser, YAML_UTF8_ENCODING);
	yaml_parser_set_input_string(&r.parser, (const unsigned char *)text, n);
	rc = refuse_tag_directives(&r, text, n) || read_stream(&r, docs) ? -1 : 0;
	anchors_clear(&r);
	yaml_event_delete(&r.event);
	yaml_parser_delete(&r.parser);
	if (!rc)
		*ret_docs = take_ptr(docs);
	return rc;
}

/* One JSON object or array without duplicate keys. YAML would read it too, but for keys of more
 * than 1024 bytes and for surrogate pairs. */
static bool parse_json(const char *text, size_t n, json_t **ret_docs)
{
	auto_xfree char *duplicate = NULL;
	auto_json *value = NULL;
	size_t i = 0;

	while (i < n && strchr(" \t\r\n", text[i]))
		i++;
	if (i == n || (text[i] != '{' && text[i] != '['))
		return false;
	value = json_parse(text, n, &duplicate, NULL);
	if (!value || duplicate)
		return false;
	*ret_docs = json_pack("[O]", value);
	return true;
}

int yaml_parse_all(const char *text, size_t n, json_t **ret_docs, struct error *err)
{
	if (n >= 3 && !memcmp(text, "\xef\xbb\xbf", 3)) { /* a byte order mark */
		text += 3;
		n -= 3;
	}
	return parse_json(text, n, ret_docs) ? 0 : parse_yaml(text, n, ret_docs, err);
}
