#include "tests/unit/store/proxy.h"

#include "base/list.h"
#include "base/mem.h"

struct held_range {
	struct list_node link;
	char *prefix, *after;
	size_t limit;
	int64_t revision;
	void (*done)(const struct store_item *items, size_t n, bool more, int64_t revision,
		     const struct error *err, void *arg);
	void *arg;
};

struct proxy_watch {
	struct list_node link;
	struct store_watch *inner;
	struct store_watcher to;
};

struct proxy {
	struct store store;
	struct store *inner;
	struct list held, watches;
	int ranges;
	bool holds, breaks;
};

static struct proxy *proxy_of(struct store *s)
{
	return container_of(s, struct proxy, store);
}

static void proxy_commit(struct store *s, const struct store_txn *txn,
			 void (*done)(const struct store_result *result, void *arg), void *arg)
{
	store_commit(proxy_of(s)->inner, txn, done, arg);
}

static void proxy_range(struct store *s, const char *prefix, const char *after, size_t limit,
			int64_t revision,
			void (*done)(const struct store_item *items, size_t n, bool more,
				     int64_t revision, const struct error *err, void *arg),
			void *arg)
{
	struct proxy *p = proxy_of(s);
	struct held_range *r;

	p->ranges++;
	if (!p->holds) {
		store_range(p->inner, prefix, after, limit, p->breaks ? 1000000 : revision, done,
			    arg);
		return;
	}
	r = xnew0(struct held_range);
	r->prefix = xstrdup(prefix);
	r->after = after ? xstrdup(after) : NULL;
	r->limit = limit;
	r->revision = revision;
	r->done = done;
	r->arg = arg;
	list_push_back(&p->held, &r->link);
}

static void held_destroy(struct held_range *r)
{
	list_remove(&r->link);
	free(r->prefix);
	free(r->after);
	free(r);
}

void proxy_hold_ranges(struct proxy *p, bool held)
{
	struct held_range *r, *next;

	p->holds = held;
	if (held)
		return;
	list_for_each_safe (r, next, &p->held, link) {
		store_range(p->inner, r->prefix, r->after, r->limit, r->revision, r->done, r->arg);
		held_destroy(r);
	}
}

static void on_event(const struct store_event *event, void *arg)
{
	struct proxy_watch *w = arg;

	w->to.event(event, w->to.arg);
}

static void on_progress(int64_t version, void *arg)
{
	struct proxy_watch *w = arg;

	w->to.progress(version, w->to.arg);
}

static void on_ended(const struct error *err, void *arg)
{
	struct proxy_watch *w = arg;
	struct store_watcher to = w->to;

	list_remove(&w->link);
	free(w);
	to.ended(err, to.arg);
}

static struct store_watch *proxy_watch(struct store *s, const char *prefix, int64_t after_version,
				       const struct store_watcher *to)
{
	struct proxy_watch *w = xnew0(struct proxy_watch);
	const struct store_watcher own = {on_event, on_progress, on_ended, w};

	w->to = *to;
	w->inner = store_watch(proxy_of(s)->inner, prefix, after_version, &own);
	list_push_back(&proxy_of(s)->watches, &w->link);
	return (struct store_watch *)w;
}

static void proxy_unwatch(struct store *s, struct store_watch *watch)
{
	struct proxy_watch *w = (struct proxy_watch *)watch;

	store_unwatch(w->inner, proxy_of(s)->inner);
	list_remove(&w->link);
	free(w);
}

void proxy_expire_watches(struct proxy *p)
{
	struct proxy_watch *w, *next;
	struct error err;

	error_set(&err, ERR_EXPIRED, "made to expire");
	list_for_each_safe (w, next, &p->watches, link) {
		store_unwatch(w->inner, p->inner);
		on_ended(&err, w);
	}
}

static void proxy_forget(struct store *s, const void *arg)
{
	struct held_range *r, *next;

	list_for_each_safe (r, next, &proxy_of(s)->held, link) {
		if (r->arg == arg)
			held_destroy(r);
	}
	store_forget(proxy_of(s)->inner, arg);
}

static const struct store_ops proxy_ops = {
	.commit = proxy_commit,
	.range = proxy_range,
	.watch = proxy_watch,
	.unwatch = proxy_unwatch,
	.forget = proxy_forget,
};

struct proxy *proxy_create(struct store *inner)
{
	struct proxy *p = xnew0(struct proxy);

	p->store.ops = &proxy_ops;
	p->inner = inner;
	list_init(&p->held);
	list_init(&p->watches);
	return p;
}

void proxy_destroy(struct proxy *p)
{
	free(p);
}

struct store *proxy_store(struct proxy *p)
{
	return &p->store;
}

int proxy_ranges(const struct proxy *p)
{
	return p->ranges;
}

void proxy_break_ranges(struct proxy *p, bool broken)
{
	p->breaks = broken;
}
