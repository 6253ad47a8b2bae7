/* libcurl's multi handle on libuv: a poll handle for each of its sockets, one timer for all. */
#include <unistd.h>

#include "base/http_client_internal.h"

/* One for each connection, as long as it lives: most are used for one call after another. */
struct watch {
	struct list_node link;
	struct pool *pool;
	curl_socket_t fd;
	int events; /* that are polled for; 0: it is stopped */
	bool idle;  /* libcurl does not ask for any; they are polled for until one comes */
	uv_poll_t poll;
};

static void on_watch_closed(uv_handle_t *handle)
{
	struct watch *w = handle->data;

	client_handle_gone(w->pool->client);
	free(w);
}

static void watch_close(struct watch *w)
{
	list_remove(&w->link);
	uv_close((uv_handle_t *)&w->poll, on_watch_closed);
}

static struct watch *watch_find(const struct pool *p, curl_socket_t fd)
{
	struct watch *w;

	list_for_each (w, &p->watches, link)
		if (w->fd == fd)
			return w;
	return NULL;
}

static struct watch *watch_create(struct pool *p, curl_socket_t fd)
{
	struct watch *w = xnew0(struct watch);
	int r;

	w->pool = p;
	w->fd = fd;
	r = uv_poll_init_socket(loop_uv(p->client->loop), &w->poll, fd);
	assert(r == 0); /* a fresh socket that nobody else watches */
	w->poll.data = w;
	p->client->open_handles++;
	list_push_back(&p->watches, &w->link);
	return w;
}

/* Takes from libcurl which calls are done. */
static void pool_collect(struct pool *p)
{
	const struct CURLMsg *msg;
	int left;

	while ((msg = curl_multi_info_read(p->multi, &left)) != NULL) {
		struct http_call *call = NULL;

		if (msg->msg != CURLMSG_DONE)
			continue;
		curl_easy_getinfo(msg->easy_handle, CURLINFO_PRIVATE, &call);
		call->finished = true;
		call->result = msg->data.result;
		call_ready(call);
	}
}

static void on_idle(uv_idle_t *idle)
{
	uv_idle_stop(idle);
	pool_deliver(idle->data);
}

/* Somebody waits for the answer to a short call. Streams bring much that nobody waits for: it comes
 * when all that the loop has found has been seen to. */
static void pool_action(struct pool *p, curl_socket_t fd, int events)
{
	int running;

	curl_multi_socket_action(p->multi, fd, events, &running);
	pool_collect(p);
	if (p == &p->client->pools[POOL_SHORT])
		pool_deliver(p);
	else if (!list_empty(&p->ready))
		uv_idle_start(&p->idle, on_idle);
}

static void on_poll(uv_poll_t *poll, int status, int events);

static void watch_poll(struct watch *w, int events)
{
	w->idle = false;
	if (w->events == events)
		return;
	w->events = events;
	uv_poll_start(&w->poll, events, on_poll);
}

static void watch_stop(struct watch *w)
{
	w->events = 0;
	uv_poll_stop(&w->poll);
}

static void on_poll(uv_poll_t *poll, int status, int events)
{
	struct watch *w = poll->data;
	int flags = status < 0 ? CURL_CSELECT_ERR : 0;

	if (status < 0)
		w->events = 0; /* libuv has stopped it */
	if (w->idle) {
		watch_stop(w); /* the peer has closed it, which libcurl finds out when it uses it */
		return;
	}
	if (events & UV_READABLE)
		flags |= CURL_CSELECT_IN;
	if (events & UV_WRITABLE)
		flags |= CURL_CSELECT_OUT;
	pool_action(w->pool, w->fd, flags);
}

static void on_timer(uv_timer_t *timer)
{
	pool_action(timer->data, CURL_SOCKET_TIMEOUT, 0);
}

static void on_prepare(uv_prepare_t *prepare)
{
	uv_prepare_stop(prepare);
	pool_action(prepare->data, CURL_SOCKET_TIMEOUT, 0);
}

/* libcurl says when it closes a connection, but not a socket that never became one. */
static bool is_connected(CURL *easy)
{
	struct http_call *call = NULL;

	curl_easy_getinfo(easy, CURLINFO_PRIVATE, &call);
	return call && call->sends;
}

static int on_socket_change(CURL *easy, curl_socket_t fd, int what, void *arg, void *watch)
{
	struct pool *p = arg;
	struct watch *w = watch ? watch : watch_find(p, fd);
	int events = 0;

	if (what == CURL_POLL_REMOVE) {
		if (w && is_connected(easy))
			w->idle = true;
		else if (w)
			watch_close(w);
		return 0;
	}
	if (what != CURL_POLL_OUT)
		events |= UV_READABLE;
	if (what != CURL_POLL_IN)
		events |= UV_WRITABLE;
	if (!w)
		w = watch_create(p, fd);
	curl_multi_assign(p->multi, fd, w);
	watch_poll(w, events);
	return 0;
}

int pool_close_socket(void *pool, curl_socket_t fd)
{
	struct watch *w = watch_find(pool, fd);

	if (w)
		watch_close(w);
	return close(fd);
}

static int on_timer_change(CURLM *multi, long timeout_ms, void *arg)
{
	struct pool *p = arg;

	(void)multi;
	if (p->client->closing)
		return 0;
	if (timeout_ms < 0)
		uv_timer_stop(&p->timer);
	else
		uv_timer_start(&p->timer, on_timer, (uint64_t)timeout_ms, 0);
	/* A request goes out before the loop looks for more to do, which may take long. */
	if (timeout_ms == 0)
		uv_prepare_start(&p->prepare, on_prepare);
	else
		uv_prepare_stop(&p->prepare);
	return 0;
}

/* --- calls --- */

static void pool_activate(struct pool *p, struct http_call *call)
{
	list_remove(&call->link);
	list_push_back(&p->active, &call->link);
	call->active = true;
	p->n_active++;
	curl_multi_add_handle(p->multi, call->easy);
}

static void pool_activate_waiting(struct pool *p)
{
	struct list_node *node;

	while ((!p->limit || p->n_active < p->limit) && (node = list_first(&p->waiting)) != NULL)
		pool_activate(p, list_entry(node, struct http_call, link));
}

void pool_add(struct pool *p, struct http_call *call)
{
	list_push_back(&p->waiting, &call->link);
	pool_activate_waiting(p);
}

void pool_remove(struct pool *p, struct http_call *call)
{
	list_remove(&call->link);
	list_remove(&call->ready);
	if (!call->active)
		return;
	call->active = false;
	p->n_active--;
	curl_multi_remove_handle(p->multi, call->easy);
	if (!p->client->closing)
		pool_activate_waiting(p);
}

void pool_deliver(struct pool *p)
{
	struct list_node *node;

	while (!p->client->closing && (node = list_first(&p->ready)) != NULL) {
		struct http_call *call = list_entry(node, struct http_call, ready);

		list_remove(&call->ready);
		call_deliver(call);
	}
}

/* --- easy handles: most of their options are the same for all calls, and costly to set --- */

CURL *pool_take_spare(struct pool *p)
{
	return p->n_spare ? p->spare[--p->n_spare] : NULL;
}

void pool_keep_spare(struct pool *p, CURL *take_easy)
{
	if (p->n_spare == p->limit || p->client->closing) {
		curl_easy_cleanup(take_easy);
		return;
	}
	GROW(p->spare, p->n_spare, p->cap_spare);
	p->spare[p->n_spare++] = take_easy;
}

void pool_drop_spares(struct pool *p)
{
	CURL *easy;

	while ((easy = pool_take_spare(p)) != NULL)
		curl_easy_cleanup(easy);
}

/* --- life --- */

void pool_init(struct pool *p, struct http_client *client, unsigned limit)
{
	p->client = client;
	p->limit = limit;
	list_init(&p->waiting);
	list_init(&p->active);
	list_init(&p->ready);
	list_init(&p->watches);
	uv_timer_init(loop_uv(client->loop), &p->timer);
	uv_prepare_init(loop_uv(client->loop), &p->prepare);
	uv_idle_init(loop_uv(client->loop), &p->idle);
	p->timer.data = p->prepare.data = p->idle.data = p;
	client->open_handles += 3;
	p->multi = curl_multi_init();
	assert(p->multi);
	curl_multi_setopt(p->multi, CURLMOPT_SOCKETFUNCTION, on_socket_change);
	curl_multi_setopt(p->multi, CURLMOPT_SOCKETDATA, p);
	curl_multi_setopt(p->multi, CURLMOPT_TIMERFUNCTION, on_timer_change);
	curl_multi_setopt(p->multi, CURLMOPT_TIMERDATA, p);
	if (limit)
		curl_multi_setopt(p->multi, CURLMOPT_MAXCONNECTS, (long)limit);
}

static void cancel_all(struct list *calls)
{
	struct list_node *node;

	while ((node = list_first(calls)) != NULL)
		http_call_cancel(list_entry(node, struct http_call, link));
}

static void on_handle_closed(uv_handle_t *handle)
{
	struct pool *p = handle->data;

	client_handle_gone(p->client);
}

void pool_finish(struct pool *p)
{
	struct list_node *node;

	cancel_all(&p->active);
	cancel_all(&p->waiting);
	pool_drop_spares(p);
	free(p->spare);
	curl_multi_cleanup(p->multi);
	while ((node = list_first(&p->watches)) != NULL)
		watch_close(list_entry(node, struct watch, link));
	uv_close((uv_handle_t *)&p->timer, on_handle_closed);
	uv_close((uv_handle_t *)&p->prepare, on_handle_closed);
	uv_close((uv_handle_t *)&p->idle, on_handle_closed);
}
