#include "api/views_decode.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <string.h>

#include "api/quantity.h"
#include "base/encode.h"
#include "base/json.h"

int decode_fail(struct decoder *d, const struct path *at, const char *fmt, ...)
{
	auto_strbuf text = {0};
	va_list ap;

	va_start(ap, fmt);
	strbuf_vaddf(&text, fmt, ap);
	va_end(ap);
	error_set(d->err, ERR_INVALID, "%s", strbuf_str(&text));
	return decode_prefix(d, at);
}

int decode_prefix(struct decoder *d, const struct path *at)
{
	auto_strbuf path = {0};

	path_write(at, &path);
	return path.size ? error_prefix(d->err, "%s", strbuf_str(&path)) : -1;
}

static int decode_string(struct decoder *d, const json_t *v, const struct path *at,
			 const char **ret)
{
	if (!json_is_string(v))
		return decode_fail(d, at, "must be a string");
	*ret = arena_strndup(d->arena, json_string_value(v), json_string_length(v));
	return 0;
}

static int decode_strings(struct decoder *d, const json_t *v, const struct path *at,
			  const char *const **ret)
{
	const char **items;
	size_t i;
	json_t *s;

	if (!json_is_array(v))
		return decode_fail(d, at, "must be an array");
	items = arena_array(d->arena, const char *, json_array_size(v) + 1);
	json_array_foreach (v, i, s) {
		if (decode_string(d, s, PATH_INDEX(at, i), &items[i]) < 0)
			return -1;
	}
	*ret = items;
	return 0;
}

static int decode_int(struct decoder *d, const json_t *v, const struct path *at, int64_t max,
		      int64_t *ret)
{
	if (!json_is_integer(v))
		return decode_fail(d, at, "must be a whole number");
	if (json_integer_value(v) < 0 || json_integer_value(v) > max)
		return decode_fail(d, at,
				   "must be from 0 to %" PRId64 ", not %" JSON_INTEGER_FORMAT, max,
				   json_integer_value(v));
	*ret = json_integer_value(v);
	return 0;
}

static int decode_int32(struct decoder *d, const json_t *v, const struct path *at, int32_t *ret)
{
	int64_t wide = 0; /* gcc -O3 does not see that it is set on success */

	if (decode_int(d, v, at, INT32_MAX, &wide) < 0)
		return -1;
	*ret = (int32_t)wide;
	return 0;
}

static int decode_decimal(struct decoder *d, const json_t *v, const struct path *at, int64_t *ret)
{
	const char *text = json_string_value(v);
	char *end;
	long long n;

	errno = 0;
	n = text ? strtoll(text, &end, 10) : -1;
	if (!text || !*text || *end || errno || n < 0)
		return decode_fail(d, at, "must be a whole number in a string");
	*ret = n;
	return 0;
}

static int decode_bool(struct decoder *d, const json_t *v, const struct path *at, bool *ret)
{
	if (!json_is_boolean(v))
		return decode_fail(d, at, "must be true or false");
	*ret = json_is_true(v);
	return 0;
}

static int decode_time(struct decoder *d, const json_t *v, const struct path *at, int64_t *ret)
{
	const char *text = json_string_value(v);

	if (!text || time_parse(text, ret) < 0)
		return decode_fail(d, at, "must be a time like 2026-11-29T17:46:46Z");
	return 0;
}

/* A quantity in units of unit_nano * 10^-9; what is finer is rounded up. */
static int decode_quantity(struct decoder *d, const json_t *v, const struct path *at,
			   int64_t unit_nano, int64_t *ret)
{
	struct quantity q;
	__int128 units;

	if (quantity_parse_json(v, &q, d->err) < 0)
		return decode_prefix(d, at);
	if (q.nano < 0)
		return decode_fail(d, at, "must be at least 0");
	units = (q.nano + unit_nano - 1) / unit_nano;
	*ret = units < INT64_MAX ? (int64_t)units : INT64_MAX;
	return 0;
}

static int decode_enum(struct decoder *d, const json_t *v, const struct path *at,
		       const struct names *names, int *ret)
{
	const char *text = json_string_value(v);

	for (size_t i = 0; text && i < names->n; i++) {
		if (strcmp(names->items[i], text) != 0)
			continue;
		*ret = (int)i;
		return 0;
	}
	if (!text)
		return decode_fail(d, at, "must be a string");
	if (names->otherwise < 0)
		return decode_fail(d, at, "\"%.60s\" is not known here", text);
	*ret = names->otherwise;
	return 0;
}

static int compare_keys(const void *a, const void *b)
{
	return strcmp(((const struct label *)a)->key, ((const struct label *)b)->key);
}

static int decode_labels(struct decoder *d, const json_t *v, const struct path *at,
			 struct label **ret, size_t *ret_n)
{
	struct label *items;
	const char *key;
	size_t n = 0;
	json_t *value;

	if (!json_is_object(v))
		return decode_fail(d, at, "must be an object");
	items = arena_array(d->arena, struct label, json_object_size(v));
	json_object_foreach ((json_t *)(uintptr_t)v, key, value) {
		if (decode_string(d, value, PATH_KEY(at, key), &items[n].value) < 0)
			return -1;
		items[n++].key = arena_strdup(d->arena, key);
	}
	if (n > 1)
		qsort(items, n, sizeof(*items), compare_keys);
	*ret = items;
	*ret_n = n;
	return 0;
}

static int decode_condition(struct decoder *d, const json_t *v, const struct path *at,
			    const char *wanted, bool *ret)
{
	size_t i;
	json_t *c;

	if (!json_is_array(v))
		return decode_fail(d, at, "must be an array");
	json_array_foreach (v, i, c) {
		const char *type = json_str_at(c, "type", NULL);
		const char *status = json_str_at(c, "status", NULL);

		if (type && !strcmp(type, wanted))
			*ret = status && !strcmp(status, "True");
	}
	return 0;
}

int records_decode(struct decoder *d, const struct record *r, const json_t *array,
		   const struct path *at, void *ret_items, size_t *ret_n)
{
	char *items;
	size_t i;
	json_t *v;

	if (!json_is_array(array))
		return decode_fail(d, at, "must be an array");
	items = arena_alloc(d->arena, r->size * json_array_size(array));
	json_array_foreach (array, i, v) {
		if (r->init)
			r->init(items + i * r->size);
		if (record_decode(d, r, v, PATH_INDEX(at, i), items + i * r->size) < 0)
			return -1;
	}
	memcpy(ret_items, &items, sizeof(items));
	*ret_n = json_array_size(array);
	return 0;
}

static int decode_field(struct decoder *d, const struct field *f, const json_t *v,
			const struct path *at, char *into)
{
	void *p = into + f->offset;
	size_t *count = (size_t *)(void *)(into + f->count_offset);

	switch (f->type) {
	case FIELD_STRING:
		return decode_string(d, v, at, p);
	case FIELD_STRINGS:
		return decode_strings(d, v, at, p);
	case FIELD_INT32:
		return decode_int32(d, v, at, p);
	case FIELD_INT64:
		return decode_int(d, v, at, INT64_MAX, p);
	case FIELD_DECIMAL:
		return decode_decimal(d, v, at, p);
	case FIELD_BOOL:
		return decode_bool(d, v, at, p);
	case FIELD_KEY:
		*(bool *)p = true;
		return 0;
	case FIELD_TIME:
		return decode_time(d, v, at, p);
	case FIELD_MILLIONTHS:
		return decode_quantity(d, v, at, 1000, p);
	case FIELD_WHOLE:
		return decode_quantity(d, v, at, 1000000000, p);
	case FIELD_ENUM:
		return decode_enum(d, v, at, f->names, p);
	case FIELD_LABELS:
		return decode_labels(d, v, at, p, count);
	case FIELD_RESOURCES:
		return resource_list_parse(d->arena, v, p, d->err) < 0 ? decode_prefix(d, at) : 0;
	case FIELD_TREE:
		*(const json_t **)p = v;
		return 0;
	case FIELD_CONDITION:
		return decode_condition(d, v, at, f->text, p);
	case FIELD_OBJECT:
		return record_decode(d, f->record, v, at, p);
	case FIELD_ARRAY:
		return records_decode(d, f->record, v, at, p, count);
	case FIELD_CALL:
		return f->call(d, v, at, into);
	}
	return 0;
}

int record_decode(struct decoder *d, const struct record *r, const json_t *object,
		  const struct path *at, void *into)
{
	if (!json_is_object(object))
		return decode_fail(d, at, "must be an object");
	for (size_t i = 0; i < r->n; i++) {
		const struct field *f = &r->fields[i];
		const json_t *v = json_object_get(object, f->name);
		const struct path *here = PATH_FIELD(at, f->name);

		if ((!v || json_is_null(v)) && f->required)
			return decode_fail(d, here, "is missing");
		if (!v || (json_is_null(v) && f->type != FIELD_KEY))
			continue;
		if (decode_field(d, f, v, here, into) < 0)
			return -1;
	}
	return 0;
}
