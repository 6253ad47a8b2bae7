/*
 * Field causes and Status objects, made and read. What is not here: which failures there are
 * (base/error.h) and who sends them.
 */
#include "api/status.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/encode.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/strbuf.h"

#define VALUE_SHOWN 200 /* bytes of an offending value that a message quotes */
#define NAME_SHOWN  100 /* and of a name, so that what is wrong with it is still said */

static const struct {
	const char *reason, *text;
} cause_types[] = {
#define X(name, reason, text) [CAUSE_##name] = {reason, text},
	CAUSE_TYPES(X)
#undef X
};

static void add_shown(struct strbuf *out, const char *text, size_t limit)
{
	size_t n = strlen(text);

	strbuf_add(out, text, n <= limit ? n : utf8_cut(text, limit));
	if (n > limit)
		strbuf_adds(out, "...");
}

void causes_add(struct causes *c, enum cause_type type, const char *field, const char *value,
		const char *detail, ...)
{
	auto_strbuf message = {0}, said = {0};
	va_list ap;

	if (c->n == CAUSES_MAX)
		return;
	va_start(ap, detail);
	strbuf_vaddf(&said, detail, ap);
	va_end(ap);
	strbuf_adds(&message, cause_types[type].text);
	if (value) {
		strbuf_adds(&message, ": ");
		add_shown(&message, value, VALUE_SHOWN);
	}
	if (said.size)
		strbuf_addf(&message, ": %s", said.bytes);
	GROW(c->items, c->n, c->cap);
	c->items[c->n++] = (struct cause){
		.type = type, .field = xstrdup(field), .message = strbuf_take(&message)};
}

void causes_finish(struct causes *c)
{
	for (size_t i = 0; i < c->n; i++) {
		free(c->items[i].field);
		free(c->items[i].message);
	}
	free(c->items);
	*c = (struct causes){0};
}

/* A JSON string of any bytes: where one is not UTF-8, all that is not ASCII is shown as "?". */
static json_t *string_of(const char *s)
{
	json_t *j = json_string(s);
	auto_xfree char *copy = NULL;

	if (j)
		return j;
	copy = xstrdup(s);
	for (char *p = copy; *p; p++)
		if ((unsigned char)*p >= 0x80)
			*p = '?';
	return json_string(copy);
}

static void set_string(json_t *object, const char *key, const char *value)
{
	if (value && *value)
		json_object_set_new(object, key, string_of(value));
}

static json_t *causes_json(const struct causes *causes)
{
	json_t *array = json_array();

	for (size_t i = 0; i < causes->n; i++) {
		const struct cause *c = &causes->items[i];
		json_t *j = json_object();

		set_string(j, "reason",
			   c->reason_override ? c->reason_override : cause_types[c->type].reason);
		set_string(j, "message", c->message);
		set_string(j, "field", c->field);
		json_array_append_new(array, j);
	}
	return array;
}

static json_t *details_json(const struct status_details *d)
{
	json_t *j = json_object();

	set_string(j, "name", d->name);
	set_string(j, "group", d->group);
	set_string(j, "kind", d->kind);
	set_string(j, "uid", d->uid);
	if (d->causes && d->causes->n)
		json_object_set_new(j, "causes", causes_json(d->causes));
	if (d->retry_after_s)
		json_object_set_new(j, "retryAfterSeconds", json_integer(d->retry_after_s));
	return j;
}

json_t *status_failure(const struct error *err, const struct status_details *details)
{
	json_t *j = json_object();
	json_t *d = details ? details_json(details) : NULL;

	set_string(j, "kind", "Status");
	set_string(j, "apiVersion", "v1");
	json_object_set_new(j, "metadata", json_object());
	set_string(j, "status", "Failure");
	json_object_set_new(j, "message", string_of(err->text));
	set_string(j, "reason", error_reason(err->code));
	if (d && json_object_size(d))
		json_object_set(j, "details", d);
	json_decref(d);
	json_object_set_new(j, "code", json_integer(error_http_status(err->code)));
	return j;
}

/* "a: .., b: .." as far as limit allows; what did not fit is counted. */
static void add_causes(struct strbuf *out, const struct causes *causes, size_t limit)
{
	for (size_t i = 0; i < causes->n; i++) {
		const struct cause *c = &causes->items[i];

		if (i && out->size + strlen(c->field) + strlen(c->message) + 4 > limit) {
			strbuf_addf(out, ", and %zu more", causes->n - i);
			return;
		}
		strbuf_addf(out, "%s%s: %s", i ? ", " : "", c->field, c->message);
	}
}

void status_invalid(const char *kind, const char *group, const char *name,
		    const struct causes *causes, struct error *err)
{
	auto_strbuf text = {0};

	if (!err)
		return;
	strbuf_addf(&text, "%s%s%s \"", kind, *group ? "." : "", group);
	add_shown(&text, name, NAME_SHOWN);
	strbuf_adds(&text, "\" is invalid: ");
	if (causes->n > 1)
		strbuf_addc(&text, '[');
	add_causes(&text, causes, sizeof(err->text) - sizeof(", and 100 more]"));
	if (causes->n > 1)
		strbuf_addc(&text, ']');
	error_set(err, ERR_INVALID, "%s", strbuf_str(&text));
}

/* The first line of a body that is not a Status. */
static void read_plain(int http_status, const char *body, size_t n, struct error *err)
{
	size_t line = 0;

	while (line < n && (unsigned char)body[line] >= ' ' && line < sizeof(err->text) - 1)
		line++;
	if (line)
		error_set(err, error_code_from(NULL, http_status), "%.*s", (int)line, body);
	else
		error_set(err, error_code_from(NULL, http_status), "HTTP status %d", http_status);
}

void status_read(int http_status, const char *body, size_t n, struct error *err)
{
	auto_json *j = json_parse_foreign(body, n, NULL);
	const char *kind = json_str_at(j, "kind", NULL);
	const char *message = json_str_at(j, "message", NULL);
	const char *reason = json_str_at(j, "reason", NULL);

	if (!kind || strcmp(kind, "Status") != 0 || !message) {
		read_plain(http_status, body, n, err);
		return;
	}
	/* the ERROR event of a watch comes with HTTP status 200 and its own code */
	if (!*message)
		message = reason && *reason ? reason : "no message";
	error_set(err, error_code_from(reason, (int)json_int_at(j, http_status, "code", NULL)),
		  "%s", message);
}
