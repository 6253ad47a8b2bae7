#include "federator/queues.h"

#include <string.h>

#include "base/json.h"
#include "base/list.h"
#include "base/log.h"
#include "base/map.h"
#include "federator/placer.h"

struct queue_entry {
	UT_hash_handle hh;
	char *name;
	struct doc *doc; /* NULL: jobs name a queue that is not there */
	int64_t pending, running;
	bool dirty;
};

struct queues {
	struct hub *hub;
	struct queue_entry *entries;
	struct list writes; /* under way */
	struct timer *timer;
};

struct queue_write {
	struct list_node node;
	struct queues *queues;
	char *name;
};

static struct queue_entry *entry_find(struct queues *q, const char *name)
{
	struct queue_entry *e;

	HASH_FIND(hh, q->entries, name, strlen(name), e);
	return e;
}

static struct queue_entry *entry_need(struct queues *q, const char *name)
{
	struct queue_entry *e = entry_find(q, name);

	if (e)
		return e;
	e = xnew0(struct queue_entry);
	e->name = xstrdup(name);
	HASH_ADD_KEYPTR(hh, q->entries, e->name, strlen(e->name), e);
	return e;
}

static void entry_free(struct queues *q, struct queue_entry *e)
{
	HASH_DEL(q->entries, e);
	doc_unref(e->doc);
	free(e->name);
	free(e);
}

static void mark(struct queues *q, struct queue_entry *e)
{
	e->dirty = true;
	if (!timer_active(q->timer))
		timer_start(q->timer, QUEUES_PERIOD_MS);
}

static void write_free(struct queue_write *w)
{
	list_remove(&w->node);
	free(w->name);
	free(w);
}

/* A queue that is gone or was changed meanwhile brings an event; anything else is tried again. */
static void on_written(const json_t *object, const struct error *err, void *arg)
{
	struct queue_write *w = arg;
	struct queue_entry *e = entry_find(w->queues, w->name);

	if (err && err->code != ERR_NOT_FOUND && err->code != ERR_CONFLICT) {
		log_warn("queues", "write status of %s: %s", w->name, err->text);
		if (e)
			mark(w->queues, e);
	}
	write_free(w);
}

static struct queue_write *write_create(struct queues *q, const char *name)
{
	struct queue_write *w = xnew0(struct queue_write);

	w->queues = q;
	w->name = xstrdup(name);
	list_push_back(&q->writes, &w->node);
	return w;
}

static void write_status(struct queues *q, struct queue_entry *e)
{
	struct server_change change = {.op = SERVER_UPDATE,
				       .kind = hub_kind("queues"),
				       .name = e->name,
				       .subresource = "status",
				       .patch = PATCH_JSON}; /* what is used no more must go */
	auto_free(queue_destroy) struct queue *view = NULL;
	auto_json *status = NULL, *body = NULL, *old = NULL;
	struct error err;

	e->dirty = false;
	if (!e->doc || queue_view(e->doc, &view, &err))
		return;
	status = json_pack("{ss,sI,sI,so}", "state", view->open ? "Open" : "Closed", "pending",
			   (json_int_t)e->pending, "running", (json_int_t)e->running, "allocated",
			   placer_queue_usage(q->hub->placer, e->name));
	old = doc_tree(e->doc);
	if (json_equal(json_object_get(old, "status"), status))
		return;
	body = json_pack("[{ss,ss,sO}]", "op", "add", "path", "/status", "value", status);
	change.body = body;
	server_change(q->hub->server, &change, on_written, write_create(q, e->name));
}

static void on_timer(void *arg)
{
	struct queues *q = arg;
	struct queue_entry *e, *tmp;

	HASH_ITER (hh, q->entries, e, tmp)
		if (e->dirty)
			write_status(q, e);
}

void queues_changed(struct hub *hub, struct doc *doc, struct doc *prev)
{
	const char *name = strrchr(doc ? doc->key : prev->key, '/') + 1;
	struct queue_entry *e = entry_need(hub->queues, name);

	doc_unref(e->doc);
	e->doc = doc ? doc_ref(doc) : NULL;
	mark(hub->queues, e);
}

static int64_t *counter_of(struct queue_entry *e, enum dispatch_phase phase)
{
	switch (phase) {
	case DISPATCH_NONE:
	case DISPATCH_QUEUED:
		return &e->pending;
	case DISPATCH_ENDED:
		return NULL;
	default:
		return &e->running;
	}
}

void queues_count(struct hub *hub, const char *queue, enum dispatch_phase from,
		  enum dispatch_phase to)
{
	struct queue_entry *e = entry_need(hub->queues, queue);
	int64_t *less = counter_of(e, from), *more = counter_of(e, to);

	if (less == more)
		return;
	if (less)
		--*less;
	if (more)
		++*more;
	mark(hub->queues, e);
}

void queues_follow(struct hub *hub)
{
	struct queue_entry *e, *tmp;

	timer_stop(hub->queues->timer);
	HASH_ITER (hh, hub->queues->entries, e, tmp)
		entry_free(hub->queues, e);
}

struct queues *queues_create(struct hub *hub)
{
	struct queues *q = xnew0(struct queues);

	q->hub = hub;
	list_init(&q->writes);
	q->timer = timer_create_in(hub->env, on_timer, q);
	return q;
}

void queues_destroy(struct queues *q)
{
	struct queue_write *w, *next;
	struct queue_entry *e, *tmp;

	if (!q)
		return;
	HASH_ITER (hh, q->entries, e, tmp)
		entry_free(q, e);
	list_for_each_safe (w, next, &q->writes, node)
		write_free(w);
	timer_destroy(q->timer);
	free(q);
}
