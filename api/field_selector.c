/* Field selectors: terms of a path and a value, all of which must hold. */
#include <inttypes.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "api/selector.h"
#include "base/mem.h"
#include "base/strbuf.h"

struct field_term {
	char *path, *value;
	bool negated;
};

struct field_selector {
	struct field_term *items;
	size_t n, cap;
};

void field_selector_destroy(struct field_selector *s)
{
	if (!s)
		return;
	for (size_t i = 0; i < s->n; i++) {
		free(s->items[i].path);
		free(s->items[i].value);
	}
	free(s->items);
	free(s);
}
DEFINE_CLEANUP(struct field_selector, field_selector_destroy)

/* Length of a term: up to a comma that no backslash guards. */
static size_t term_length(const char *p)
{
	size_t n = 0;

	while (p[n] && p[n] != ',')
		n += p[n] == '\\' && p[n + 1] ? 2 : 1;
	return n;
}

/* A value may guard '\', ',' and '=' by a backslash, and must guard the last two. */
static int unescape(const char *p, size_t n, struct strbuf *out)
{
	for (size_t i = 0; i < n; i++) {
		if (p[i] == '\\' && (i + 1 == n || !strchr("\\,=", p[i + 1])))
			return -1;
		if (p[i] == '=')
			return -1;
		i += p[i] == '\\';
		strbuf_addc(out, p[i]);
	}
	return 0;
}

static int add_term(struct field_selector *s, const char *p, size_t n, struct error *err)
{
	const char *equal = memchr(p, '=', n);
	auto_strbuf value = {0};
	bool negated = equal && equal > p && equal[-1] == '!';
	size_t path = equal ? (size_t)(equal - p) - negated : 0;
	size_t value_at = path + negated + 1;

	if (equal && !negated && value_at < n && p[value_at] == '=')
		value_at++;
	if (!path || unescape(p + value_at, n - value_at, &value) < 0)
		return error_set(err, ERR_BAD_REQUEST,
				 "invalid field selector \"%.*s\"; write it like metadata.name=x",
				 n < 100 ? (int)n : 100, p);
	GROW(s->items, s->n, s->cap);
	s->items[s->n++] = (struct field_term){.path = xstrndup(p, path),
					       .value = xstrdup(strbuf_str(&value)),
					       .negated = negated};
	return 0;
}

int field_selector_parse(const char *text, struct field_selector **ret, struct error *err)
{
	auto_free(field_selector_destroy) struct field_selector *s = xnew0(struct field_selector);

	for (const char *p = text ? text : ""; *p;) {
		size_t n = term_length(p);

		if (n && add_term(s, p, n, err) < 0)
			return -1;
		p += n;
		p += *p == ',';
	}
	*ret = take_ptr(s);
	return 0;
}

const char *field_selector_path(const struct field_selector *s, size_t i)
{
	return i < s->n ? s->items[i].path : NULL;
}

static const json_t *find_path(const json_t *object, const char *path)
{
	while (object && *path) {
		size_t n = strcspn(path, ".");

		object = json_object_getn(object, path, n);
		path += n + (path[n] == '.');
	}
	return object;
}

/* Absent is the empty text; booleans and whole numbers compare as they are written. */
static bool has_text(const json_t *value, const char *text)
{
	char number[24];

	if (json_is_string(value))
		return !strcmp(json_string_value(value), text);
	if (json_is_boolean(value))
		return !strcmp(json_is_true(value) ? "true" : "false", text);
	if (!json_is_integer(value))
		return !*text;
	snprintf(number, sizeof(number), "%" JSON_INTEGER_FORMAT, json_integer_value(value));
	return !strcmp(number, text);
}

bool field_selector_match(const struct field_selector *s, const json_t *object)
{
	for (size_t i = 0; i < s->n; i++) {
		const struct field_term *t = &s->items[i];

		if (has_text(find_path(object, t->path), t->value) == t->negated)
			return false;
	}
	return true;
}

const char *field_selector_name(const struct field_selector *s)
{
	for (size_t i = 0; i < s->n; i++)
		if (!s->items[i].negated && !strcmp(s->items[i].path, "metadata.name"))
			return s->items[i].value;
	return NULL;
}
