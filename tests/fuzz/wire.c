#include "wire.h"

#include <assert.h>
#include <string.h>

#include "base/list.h"

/* The library only hands its calls back, so that anything may stand behind the pointer. */
struct http_call {
	struct list_node node;
	struct http_call_spec spec;
};

struct wire {
	struct virtual_env *time;
	struct list calls;
	const uint8_t *at, *end;
};

static const int statuses[] = {0, 200, 404, 410, 429, 500, 503, 504};

static struct http_call *wire_start(void *transport, const struct http_call_spec *spec)
{
	struct wire *w = transport;
	struct http_call *c = xnew0(struct http_call);

	c->spec = *spec;
	list_push_back(&w->calls, &c->node);
	return c;
}

static void wire_cancel(void *transport, struct http_call *c)
{
	list_remove(&c->node);
	free(c);
}

static void wire_fresh(void *transport)
{
}

static void wire_set_token(void *transport, const char *token)
{
}

static void wire_closed(void *transport)
{
}

static const struct kube_transport_ops ops = {
	.start = wire_start,
	.cancel = wire_cancel,
	.fresh = wire_fresh,
	.set_token = wire_set_token,
	.destroy = wire_closed,
};

struct wire *wire_create(const uint8_t *bytes, size_t n)
{
	struct wire *w = xnew0(struct wire);

	w->time = virtual_env_create(1, 0);
	w->at = bytes;
	w->end = bytes + n;
	list_init(&w->calls);
	return w;
}

void wire_destroy(struct wire *w)
{
	assert(list_empty(&w->calls));
	virtual_env_destroy(w->time);
	free(w);
}

struct kube *wire_connect(struct wire *w)
{
	return kube_create_with(virtual_env_seam(w->time), &ops, w);
}

struct env *wire_env(struct wire *w)
{
	return virtual_env_seam(w->time);
}

static void give_answer(struct http_call *c, unsigned number, const char *body)
{
	struct http_answer answer = {.status = statuses[number % ARRAY_LEN(statuses)],
				     .body = body,
				     .size = strlen(body),
				     .retry_after_s = number & 8 ? 1 : -1};

	if (!answer.status)
		error_set(&answer.err, number & 8 ? ERR_TIMEOUT : ERR_UNREACHABLE, "it was lost");
	list_remove(&c->node);
	c->spec.on_done(&answer, c->spec.arg);
	free(c);
}

/* A request that is not there yet may be a timer away. */
static struct http_call *oldest_call(struct wire *w)
{
	struct list_node *first = list_first(&w->calls);

	if (!first && virtual_env_step(w->time))
		first = list_first(&w->calls);
	return first ? container_of(first, struct http_call, node) : NULL;
}

bool wire_step(struct wire *w)
{
	struct http_call *c = w->at < w->end ? oldest_call(w) : NULL;
	auto_xfree char *message = NULL;

	if (!c)
		return false;
	message = xstrndup((const char *)w->at, (size_t)(w->end - w->at));
	w->at += strlen(message) + (w->at + strlen(message) < w->end);
	if (*message == 'd' && c->spec.stream)
		c->spec.on_data(c, message + 1, strlen(message + 1), c->spec.arg);
	else
		give_answer(c, (unsigned char)*message, *message ? message + 1 : message);
	virtual_env_advance(w->time, 1000);
	return true;
}
