/* Answers: whole bodies, Status objects, the texts that Kubernetes' clients know. */
#include <stdio.h>
#include <string.h>

#include "server/request.h"

#define MAX_WARNING 4000 /* bytes of one Warning header; clients cut at about that */

void respond_bytes(struct request *r, int status, const char *content_type, const void *bytes,
		   size_t n)
{
	if (r->pub.x)
		exchange_respond(r->pub.x, status, content_type, bytes, n);
}

void respond_text(struct request *r, int status, const char *text)
{
	respond_bytes(r, status, "text/plain; charset=utf-8", text, strlen(text));
}

void respond_json(struct request *r, int status, const json_t *body)
{
	auto_strbuf text = {0};

	json_write(&text, body);
	respond_bytes(r, status, "application/json", strbuf_str(&text), text.size);
}

void respond_not_found_path(struct request *r)
{
	respond_text(r, 404, "404 page not found\n");
}

void respond_not_found_resource(struct request *r)
{
	struct error err;

	error_set(&err, ERR_NOT_FOUND, "the server could not find the requested resource");
	r->about = (struct about){.said = true};
	respond_error(r, &err, NULL);
}

void server_respond(struct server_request *r, int status, const json_t *body)
{
	respond_json(request_of(r), status, body);
}

void cause_add(struct causes *c, const char *reason, const char *field, const char *message)
{
	GROW(c->items, c->n, c->cap);
	c->items[c->n++] = (struct cause){.type = CAUSE_INVALID,
					  .reason_override = reason,
					  .field = xstrdup(field),
					  .message = xstrdup(message)};
}

/* Which errors are about an object. 422 names it only beside causes: without them clients show the
 * name in place of the message. */
static bool is_about_object(const struct error *err, const struct causes *causes)
{
	switch (err->code) {
	case ERR_NOT_FOUND:
	case ERR_ALREADY_EXISTS:
	case ERR_CONFLICT:
	case ERR_FORBIDDEN:
		return true;
	case ERR_INVALID:
		return causes && causes->n;
	default:
		return false;
	}
}

static struct about about_of(const struct request *r, const struct error *err,
			     const struct causes *causes)
{
	const struct kind *k = r->pub.kind;

	if (r->about.said || !k || !is_about_object(err, causes))
		return r->about;
	return (struct about){.group = k->group,
			      .kind = err->code == ERR_INVALID ? k->name : k->plural,
			      .name = r->pub.name};
}

static json_t *status_of(const struct request *r, const struct error *err,
			 const struct causes *causes)
{
	const struct about about = about_of(r, err, causes);
	const struct status_details details = {
		.name = about.name,
		.group = about.group,
		.kind = about.kind,
		.causes = causes,
		.retry_after_s = err->code == ERR_UNAVAILABLE || err->code == ERR_TOO_MANY ||
						 err->code == ERR_TIMEOUT
					 ? 1
					 : 0,
	};
	json_t *status = status_failure(err, &details);

	if (err->code == ERR_INTERNAL) /* a failure that has no name has no reason either */
		json_object_del(status, "reason");
	return status;
}

void respond_error(struct request *r, const struct error *err, const struct causes *causes)
{
	auto_json *status = status_of(r, err, causes && causes->n ? causes : &r->causes);

	if (r->pub.x && json_at(status, "details", "retryAfterSeconds", NULL))
		exchange_add_header(r->pub.x, "Retry-After", "1");
	respond_json(r, error_http_status(err->code), status);
}

void server_respond_error(struct server_request *r, const struct error *err,
			  const struct causes *causes)
{
	respond_error(request_of(r), err, causes);
}

/* `299 - "text"`, quotes and control characters escaped. */
void respond_warning(struct request *r, const char *text)
{
	auto_strbuf header = {.limit = MAX_WARNING};

	if (!r->pub.x || exchange_begun(r->pub.x))
		return;
	strbuf_adds(&header, "299 - \"");
	for (const char *p = text; *p && header.size < MAX_WARNING - 4; p++) {
		if (*p == '"' || *p == '\\')
			strbuf_addc(&header, '\\');
		strbuf_addc(&header, (unsigned char)*p < ' ' || *p == 0x7f ? ' ' : *p);
	}
	strbuf_addc(&header, '"');
	exchange_add_header(r->pub.x, "Warning", strbuf_str(&header));
}

int not_found(const struct kind *k, const char *name, struct error *err)
{
	auto_strbuf resource = {0};

	kind_resource_name(k, &resource);
	return error_set(err, ERR_NOT_FOUND, "%s \"%s\" not found", strbuf_str(&resource), name);
}

int already_exists(const struct kind *k, const char *name, struct error *err)
{
	auto_strbuf resource = {0};

	kind_resource_name(k, &resource);
	return error_set(err, ERR_ALREADY_EXISTS, "%s \"%s\" already exists", strbuf_str(&resource),
			 name);
}

int conflict(const struct kind *k, const char *name, struct error *err)
{
	auto_strbuf resource = {0};

	kind_resource_name(k, &resource);
	return error_set(
		err, ERR_CONFLICT,
		"Operation cannot be fulfilled on %s \"%s\": the object has been modified; "
		"please apply your changes to the latest version and try again",
		strbuf_str(&resource), name);
}
