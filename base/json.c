/*
 * jansson trees read and written by our own scanner and printer: jansson's loader refuses integers
 * of more than 64 bits, and its printer turns 0.1 into 0.10000000000000001.
 */
#include "base/json.h"

#include <errno.h>
#include <float.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <uv.h>

#include "base/encode.h"
#include "base/scan.h"

/* Where a value lies: key.p NULL means the index. */
struct step {
	const struct step *up;
	struct sv key;
	size_t index;
};

struct reader {
	struct scan scan;
	bool foreign;          /* takes all that the scanner takes */
	struct strbuf scratch; /* an unescaped string, or a number */
	char *duplicate;       /* path of the first duplicate key */
};

static json_t *read_value(struct reader *r, const struct step *at);

static bool read_fail(struct reader *r, const char *why)
{
	if (!r->scan.failed) {
		r->scan.failed = true;
		r->scan.why = why;
	}
	return false;
}

static void add_path(struct strbuf *out, const struct step *at)
{
	if (!at)
		return;
	add_path(out, at->up);
	if (!at->key.p) {
		strbuf_addf(out, "[%zu]", at->index);
		return;
	}
	if (out->size)
		strbuf_addc(out, '.');
	strbuf_add(out, at->key.p, at->key.n);
}

/* The unescaped text; valid until the next call. NULL when it holds a NUL that may not be there. */
static const char *unescape(struct reader *r, struct sv raw, size_t *ret_n)
{
	if (memchr(raw.p, '\\', raw.n)) {
		strbuf_clear(&r->scratch);
		sv_unescape(raw, &r->scratch);
		raw = (struct sv){r->scratch.bytes, r->scratch.size};
	}
	if (!r->foreign && memchr(raw.p, '\0', raw.n)) {
		read_fail(r, "\\u0000 in a string");
		return NULL;
	}
	*ret_n = raw.n;
	return raw.p;
}

static json_t *read_string(struct reader *r)
{
	struct sv raw;
	const char *text;
	size_t n;

	if (!scan_string(&r->scan, &raw))
		return NULL;
	text = unescape(r, raw, &n);
	return text ? json_stringn_nocheck(text, n) : NULL;
}

static json_t *read_number(struct reader *r)
{
	const char *text;
	struct sv raw;
	char *end;
	double real;

	if (!scan_raw(&r->scan, &raw))
		return NULL;
	strbuf_clear(&r->scratch);
	strbuf_add(&r->scratch, raw.p, raw.n);
	text = r->scratch.bytes;
	if (!strpbrk(text, ".eE")) {
		long long whole;

		errno = 0;
		whole = strtoll(text, &end, 10);
		if (!errno)
			return json_integer(whole);
	}
	real = strtod(text, &end);
	if (r->foreign && !isfinite(real))
		real = copysign(DBL_MAX, real);
	if (!isfinite(real)) {
		read_fail(r, "number out of range");
		return NULL;
	}
	return json_real(real);
}

static void note_duplicate(struct reader *r, const struct step *at)
{
	auto_strbuf path = {0};

	add_path(&path, at);
	free(r->duplicate);
	r->duplicate = strbuf_take(&path);
}

/* Of bytes that may hold NUL: a key that was cut there could pass for another. */
static char *key_of(const char *text, size_t n)
{
	auto_strbuf key = {0};

	for (const char *end = text + n, *nul; (nul = memchr(text, '\0', n)); text = nul + 1) {
		strbuf_add(&key, text, (size_t)(nul - text));
		strbuf_adds(&key, "\xef\xbf\xbd"); /* U+FFFD */
		n = (size_t)(end - nul) - 1;
	}
	strbuf_add(&key, text, n);
	return strbuf_take(&key);
}

static bool read_member(struct reader *r, json_t *object, struct step *here, struct sv raw)
{
	auto_xfree char *copy = NULL; /* an escaped key is unescaped where its value will be, too */
	size_t before = json_object_size(object);
	bool none_before = !r->duplicate;

	here->key.p = unescape(r, raw, &here->key.n);
	if (!here->key.p)
		return false;
	if (here->key.p != raw.p) {
		copy = key_of(here->key.p, here->key.n);
		here->key = (struct sv){copy, strlen(copy)};
	}
	if (json_object_setn_new_nocheck(object, here->key.p, here->key.n, read_value(r, here)))
		return false;
	/* Its key comes before those inside of its value. */
	if (json_object_size(object) == before && none_before)
		note_duplicate(r, here);
	return true;
}

static json_t *read_object(struct reader *r, const struct step *up)
{
	auto_json *object = json_object();
	struct step here = {.up = up};
	struct sv raw;

	scan_object_begin(&r->scan);
	while (scan_key(&r->scan, &raw))
		if (!read_member(r, object, &here, raw))
			return NULL;
	return r->scan.failed ? NULL : take_ptr(object);
}

static json_t *read_array(struct reader *r, const struct step *up)
{
	auto_json *array = json_array();
	struct step here = {.up = up};

	scan_array_begin(&r->scan);
	for (; scan_element(&r->scan); here.index++)
		if (json_array_append_new(array, read_value(r, &here)))
			return NULL;
	return r->scan.failed ? NULL : take_ptr(array);
}

/* Recursion is bounded by the scanner's depth. */
static json_t *read_value(struct reader *r, const struct step *at)
{
	bool truth;

	switch (scan_peek(&r->scan)) {
	case SCAN_OBJECT:
		return read_object(r, at);
	case SCAN_ARRAY:
		return read_array(r, at);
	case SCAN_STRING:
		return read_string(r);
	case SCAN_NUMBER:
		return read_number(r);
	case SCAN_BOOL:
		return scan_bool(&r->scan, &truth) ? json_boolean(truth) : NULL;
	default:
		return scan_skip(&r->scan) ? json_null() : NULL;
	}
}

static void set_error(struct error *err, const char *bytes, const struct scan *s)
{
	size_t line = 1, column = 1;

	for (const char *p = bytes; p < s->at; p++) {
		if (*p == '\n') {
			line++;
			column = 1;
		} else if ((*p & 0xc0) != 0x80) {
			column++;
		}
	}
	error_set(err, ERR_BAD_REQUEST, "line %zu, column %zu: %s", line, column, s->why);
}

static void seed_hashes(void)
{
	json_object_seed(0);
}

static json_t *parse(struct reader *r, const char *bytes, size_t n, struct error *err)
{
	static uv_once_t once = UV_ONCE_INIT;
	auto_json *j = NULL;

	uv_once(&once, seed_hashes);
	scan_init(&r->scan, bytes, n);
	j = read_value(r, NULL);
	strbuf_finish(&r->scratch);
	if (scan_end(&r->scan))
		return take_ptr(j);
	set_error(err, bytes, &r->scan);
	return NULL;
}

json_t *json_parse(const char *bytes, size_t n, char **ret_duplicate, struct error *err)
{
	struct reader r = {0};
	json_t *j = parse(&r, bytes, n, err);

	if (j && ret_duplicate)
		*ret_duplicate = take_ptr(r.duplicate);
	free(r.duplicate);
	return j;
}

json_t *json_parse_foreign(const char *bytes, size_t n, struct error *err)
{
	struct reader r = {.foreign = true};
	json_t *j = parse(&r, bytes, n, err);

	free(r.duplicate);
	return j;
}

static void write_string(struct strbuf *out, const char *s, size_t n)
{
	static const char from[] = "\"\\\b\f\n\r\t", to[] = "\"\\bfnrt";
	const char *end = s + n, *plain = s;

	strbuf_addc(out, '"');
	for (; s < end; s++) {
		const char *found;

		if ((unsigned char)*s >= 0x20 && *s != '"' && *s != '\\')
			continue;
		strbuf_add(out, plain, (size_t)(s - plain));
		plain = s + 1;
		found = *s ? strchr(from, *s) : NULL;
		if (found)
			strbuf_add(out, (char[]){'\\', to[found - from]}, 2);
		else
			strbuf_addf(out, "\\u%04x", (unsigned char)*s);
	}
	strbuf_add(out, plain, (size_t)(end - plain));
	strbuf_addc(out, '"');
}

/* 15 digits always survive, 17 always suffice. */
static void write_real(struct strbuf *out, double value)
{
	char text[32];

	for (int digits = 15; digits <= 17; digits++) {
		snprintf(text, sizeof(text), "%.*g", digits, value);
		if (strtod(text, NULL) == value)
			break;
	}
	strbuf_adds(out, text);
	if (!strpbrk(text, ".e"))
		strbuf_adds(out, ".0");
}

static void write_object(struct strbuf *out, const json_t *j)
{
	const char *key;
	json_t *value;
	char before = '{';

	json_object_foreach ((json_t *)(uintptr_t)j, key, value) {
		strbuf_addc(out, before);
		before = ',';
		write_string(out, key, strlen(key));
		strbuf_addc(out, ':');
		json_write(out, value);
	}
	strbuf_adds(out, before == '{' ? "{}" : "}");
}

static void write_array(struct strbuf *out, const json_t *j)
{
	size_t n = json_array_size(j);

	strbuf_addc(out, '[');
	for (size_t i = 0; i < n; i++) {
		if (i)
			strbuf_addc(out, ',');
		json_write(out, json_array_get(j, i));
	}
	strbuf_addc(out, ']');
}

void json_write(struct strbuf *out, const json_t *j)
{
	switch (json_typeof(j)) {
	case JSON_OBJECT:
		write_object(out, j);
		break;
	case JSON_ARRAY:
		write_array(out, j);
		break;
	case JSON_STRING:
		write_string(out, json_string_value(j), json_string_length(j));
		break;
	case JSON_INTEGER:
		strbuf_addi(out, json_integer_value(j));
		break;
	case JSON_REAL:
		write_real(out, json_real_value(j));
		break;
	case JSON_TRUE:
		strbuf_adds(out, "true");
		break;
	case JSON_FALSE:
		strbuf_adds(out, "false");
		break;
	case JSON_NULL:
		strbuf_adds(out, "null");
		break;
	}
}

char *json_print(const json_t *j)
{
	struct strbuf out = {0};

	json_write(&out, j);
	return strbuf_take(&out);
}

static const json_t *walk(const json_t *j, va_list path)
{
	const char *key;

	while (j && (key = va_arg(path, const char *)))
		j = json_object_get(j, key);
	return j;
}

const json_t *json_at(const json_t *j, ...)
{
	va_list path;

	va_start(path, j);
	j = walk(j, path);
	va_end(path);
	return j;
}

const char *json_str_at(const json_t *j, ...)
{
	va_list path;

	va_start(path, j);
	j = walk(j, path);
	va_end(path);
	return json_string_value(j);
}

int64_t json_int_at(const json_t *j, int64_t otherwise, ...)
{
	va_list path;

	va_start(path, otherwise);
	j = walk(j, path);
	va_end(path);
	return json_is_integer(j) ? json_integer_value(j) : otherwise;
}

json_t *json_object_need(json_t *object, const char *key)
{
	json_t *child = json_object_get(object, key);

	if (json_is_object(child))
		return child;
	child = json_object();
	json_object_set_new(object, key, child);
	return child;
}

void json_set_str(json_t *object, const char *key, const char *value)
{
	if (value)
		json_object_set_new(object, key, json_string(value));
	else
		json_object_del(object, key);
}

void json_set_int(json_t *object, const char *key, int64_t value)
{
	json_object_set_new(object, key, json_integer(value));
}
