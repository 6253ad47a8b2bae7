#include "wire.h"

#include <assert.h>
#include <string.h>

#include "base/list.h"

/* The library only hands its calls back, so that anything may stand behind the pointer. */
struct http_call {
	struct list_node node;
	char *path;
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
	c->path = xstrdup(spec->path);
	list_push_back(&w->calls, &c->node);
	return c;
}

static void call_free(struct http_call *c)
{
	list_remove(&c->node);
	free(c->path);
	free(c);
}

static void wire_cancel(void *transport, struct http_call *c)
{
	call_free(c);
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
	struct http_call_spec spec = c->spec;
	struct http_answer answer = {.status = statuses[number % ARRAY_LEN(statuses)],
				     .body = body,
				     .size = strlen(body),
				     .retry_after_s = number & 8 ? 1 : -1};

	if (!answer.status)
		error_set(&answer.err, number & 8 ? ERR_TIMEOUT : ERR_UNREACHABLE, "it was lost");
	call_free(c);
	spec.on_done(&answer, spec.arg);
}

/* What the kind of a piece is a watch of; "": any. NULL: it is no piece. */
static const char *watched(char kind)
{
	switch (kind) {
	case 'd':
		return "";
	case 'N':
		return "/nodes?";
	case 'P':
		return "/pods?";
	case 'T':
		return "/placements?";
	default:
		return NULL;
	}
}

static struct http_call *find_call(const struct wire *w, bool stream, const char *path)
{
	struct http_call *c;

	list_for_each (c, (struct list *)(uintptr_t)&w->calls, node)
		if (c->spec.stream == stream && strstr(c->path, path))
			return c;
	return NULL;
}

static struct http_call *call_for(const struct wire *w, char kind)
{
	const char *path = watched(kind);
	struct http_call *c = path ? find_call(w, true, path) : find_call(w, false, "");

	return c || path ? c : find_call(w, true, "");
}

static char *take_message(struct wire *w)
{
	char *message = xstrndup((const char *)w->at, (size_t)(w->end - w->at));

	w->at += strlen(message);
	w->at += w->at < w->end;
	return message;
}

static void deliver(struct http_call *c, const char *message)
{
	if (watched(*message))
		c->spec.on_data(c, message + 1, strlen(message + 1), c->spec.arg);
	else
		give_answer(c, (unsigned char)*message, *message ? message + 1 : message);
}

bool wire_step(struct wire *w)
{
	auto_xfree char *message = NULL;
	struct http_call *c;

	if (w->at == w->end)
		return false;
	message = take_message(w);
	c = call_for(w, *message);
	if (!c && virtual_env_step(w->time)) /* it may be a timer away */
		c = call_for(w, *message);
	if (c)
		deliver(c, message);
	virtual_env_advance(w->time, 1000);
	return true;
}

char *wire_take_other(struct wire *w)
{
	bool other = w->at < w->end && *w->at >= 'A' && !watched((char)*w->at);

	return other ? take_message(w) : NULL;
}
