#include "peer.h"

#include <criterion/criterion.h>
#include <string.h>

#include "base/list.h"

/* The library only hands its calls back, so that anything may stand behind the pointer. */
struct http_call {
	struct list_node node;
	char *request, *body;
	char **headers;
	struct http_call_spec spec;
};

struct peer {
	struct virtual_env *time;
	struct kube *client;
	struct list calls;
	size_t fresh;
	char *token;
};

static char **copy_headers(const char *const *headers)
{
	char **out;
	size_t n = 0;

	while (headers && headers[n])
		n++;
	out = xcalloc(n + 1, sizeof(*out));
	for (size_t i = 0; i < n; i++)
		out[i] = xstrdup(headers[i]);
	return out;
}

static struct http_call *peer_start(void *transport, const struct http_call_spec *spec)
{
	struct peer *p = transport;
	struct http_call *c = xnew0(struct http_call);

	c->spec = *spec;
	c->request = xasprintf("%s %s", spec->method, spec->path);
	c->body = xstrndup(spec->body ? spec->body : "", spec->body ? spec->body_size : 0);
	c->headers = copy_headers(spec->headers);
	list_push_back(&p->calls, &c->node);
	return c;
}

static void call_free(struct http_call *c)
{
	list_remove(&c->node);
	for (size_t i = 0; c->headers[i]; i++)
		free(c->headers[i]);
	free(c->headers);
	free(c->request);
	free(c->body);
	free(c);
}

static void peer_cancel(void *transport, struct http_call *call)
{
	call_free(call);
}

static void peer_fresh(void *transport)
{
	((struct peer *)transport)->fresh++;
}

static void peer_set_token(void *transport, const char *token)
{
	struct peer *p = transport;

	free(p->token);
	p->token = xstrdup(token);
}

static void peer_closed(void *transport)
{
}

static const struct kube_transport_ops peer_ops = {
	.start = peer_start,
	.cancel = peer_cancel,
	.fresh = peer_fresh,
	.set_token = peer_set_token,
	.destroy = peer_closed,
};

struct peer *peer_create(void)
{
	struct peer *p = xnew0(struct peer);

	p->time = virtual_env_create(1, 0);
	list_init(&p->calls);
	p->client = peer_connect(p);
	return p;
}

struct kube *peer_connect(struct peer *p)
{
	return kube_create_with(virtual_env_seam(p->time), &peer_ops, p);
}

void peer_destroy(struct peer *p)
{
	if (!p)
		return;
	kube_destroy(p->client);
	cr_assert(list_empty(&p->calls), "a call outlives the client");
	virtual_env_destroy(p->time);
	free(p->token);
	free(p);
}

struct kube *peer_client(struct peer *p)
{
	return p->client;
}

struct virtual_env *peer_time(struct peer *p)
{
	return p->time;
}

size_t peer_waiting(const struct peer *p)
{
	struct http_call *c;
	size_t n = 0;

	list_for_each (c, &p->calls, node)
		n++;
	return n;
}

static struct http_call *oldest(const struct peer *p)
{
	cr_assert(!list_empty(&p->calls), "no request waits");
	return list_entry(list_first(&p->calls), struct http_call, node);
}

const char *peer_request(const struct peer *p)
{
	return oldest(p)->request;
}

const char *peer_body(const struct peer *p)
{
	return oldest(p)->body;
}

bool peer_has_header(const struct peer *p, const char *line)
{
	for (char **h = oldest(p)->headers; *h; h++)
		if (!strcmp(*h, line))
			return true;
	return false;
}

static void finish(struct peer *p, const struct http_answer *answer)
{
	struct http_call *c = oldest(p);
	struct http_call_spec spec = c->spec;

	call_free(c);
	spec.on_done(answer, spec.arg);
}

void peer_answer(struct peer *p, int status, const char *body)
{
	finish(p,
	       &(struct http_answer){
		       .status = status, .body = body, .size = strlen(body), .retry_after_s = -1});
}

void peer_answer_later(struct peer *p, int status, int64_t retry_after_s)
{
	finish(p, &(struct http_answer){.status = status,
					.body = "Too many requests",
					.size = 17,
					.retry_after_s = retry_after_s});
}

void peer_redirect(struct peer *p, const char *location)
{
	finish(p, &(struct http_answer){
			  .status = 307, .body = "", .location = location, .retry_after_s = -1});
}

void peer_lose(struct peer *p, enum error_code code)
{
	struct http_answer answer = {.body = "", .retry_after_s = -1};

	error_set(&answer.err, code, "the line was cut");
	finish(p, &answer);
}

void peer_stream(struct peer *p, const char *bytes)
{
	struct http_call *c = oldest(p);

	c->spec.on_data(c, bytes, strlen(bytes), c->spec.arg);
}

size_t peer_fresh_connections(const struct peer *p)
{
	return p->fresh;
}

const char *peer_token(const struct peer *p)
{
	return p->token;
}
