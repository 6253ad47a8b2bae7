/*
 * One request: who holds it, what its query says. It outlives its exchange when a write is still on
 * its way while the client has gone.
 */
#include <assert.h>
#include <string.h>

#include "server/request.h"

static void closed(struct exchange *x, bool lost, void *arg)
{
	struct request *r = arg;

	r->pub.x = NULL;
	if (r->on_close)
		r->on_close(&r->pub, r->on_close_arg);
	request_unref(r);
}

struct request *request_create(struct server *s, struct exchange *x)
{
	struct request *r = xnew0(struct request);

	r->refs = 1;
	r->server = s;
	r->pub.server = s;
	r->pub.x = x;
	r->pub.user = &r->user;
	r->pub.verb = "";
	r->pub.subresource = "";
	server_hold(s);
	exchange_on_close(x, closed, r);
	return r;
}

void request_ref(struct request *r)
{
	r->refs++;
}

void request_unref(struct request *r)
{
	struct server *s;

	if (!r || --r->refs)
		return;
	s = r->server;
	if (r->cleanup)
		r->cleanup(r);
	free(r->body_duplicate);
	causes_finish(&r->causes);
	arena_finish(&r->arena);
	free(r);
	server_release(s);
}

struct server_request *server_request_ref(struct server_request *r)
{
	request_ref(request_of(r));
	return r;
}

void server_request_unref(struct server_request *r)
{
	if (r)
		request_unref(request_of(r));
}

void server_request_on_close(struct server_request *pub,
			     void (*fn)(struct server_request *r, void *arg), void *arg)
{
	struct request *r = request_of(pub);

	r->on_close = fn;
	r->on_close_arg = arg;
}

const char *request_query(const struct request *r, const char *name)
{
	const char *value = exchange_query(r->pub.x, name);

	return value && *value ? value : NULL;
}

/* What says that it is too large gets a Status; what does not say so is cut off by the exchange. */
void request_read(struct request *r,
		  void (*done)(struct exchange *x, const char *bytes, size_t n, void *arg))
{
	const char *length = exchange_header(r->pub.x, "Content-Length");
	struct error err;

	if (!length || strtoll(length, NULL, 10) <= SERVER_MAX_BODY) {
		exchange_read_all(r->pub.x, SERVER_MAX_BODY, done, r);
		return;
	}
	error_set(&err, ERR_TOO_LARGE, "the request has %.20s bytes, at most %d are read", length,
		  SERVER_MAX_BODY);
	respond_error(r, &err, NULL);
}

static void body_read(struct exchange *x, const char *bytes, size_t n, void *arg)
{
	struct request *r = arg;
	auto_json *body = NULL;
	struct error err;

	r->body_bytes = bytes;
	r->body_size = n;
	request_ref(r);
	if (body_type_parse(exchange_header(x, "Content-Type"), &r->body_type, &err) ||
	    body_parse(r->body_type, bytes, n, &body, &r->body_duplicate, &err))
		respond_error(r, &err, NULL);
	else
		r->body_done(&r->pub, body, r->body_arg);
	request_unref(r);
}

json_t *request_body_again(const struct request *r)
{
	json_t *body = NULL;
	int failed = body_parse(r->body_type, r->body_bytes, r->body_size, &body, NULL, NULL);

	assert(!failed);
	return body;
}

void server_read_body(struct server_request *pub,
		      void (*done)(struct server_request *r, json_t *body, void *arg), void *arg)
{
	struct request *r = request_of(pub);

	r->body_done = done;
	r->body_arg = arg;
	request_read(r, body_read);
}
