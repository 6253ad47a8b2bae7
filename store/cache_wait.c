/* Readers that wait: for a version, or for what the store holds now. */
#include "base/mem.h"
#include "store/cache_internal.h"

#define FRESH_MS  2000
#define NUDGE_MS  100
#define NUDGE_KEY STORE_SESSIONS "nudge"
/* Nothing is ever stored there. */
#define ABSENT_KEY STORE_SESSIONS "absent"

struct cache_waiter {
	struct list_node link;
	struct later_item item;
	struct cache *cache;
	struct timer *timer;
	int64_t version;
	enum error_code late; /* what it means when the time is over */
	bool failed;
	struct error err;
	void (*done)(const struct error *err, void *arg);
};

static void waiter_destroy(struct cache_waiter *w)
{
	list_remove(&w->link);
	timer_destroy(w->timer);
	free(w);
}

static void waiter_drop(struct later_item *item)
{
	waiter_destroy(container_of(item, struct cache_waiter, item));
}

static void waiter_run(struct later_item *item)
{
	struct cache_waiter *w = container_of(item, struct cache_waiter, item);

	w->done(w->failed ? &w->err : NULL, item->arg);
	waiter_destroy(w);
}

static void waiter_finish(struct cache_waiter *w, const struct error *err)
{
	list_remove(&w->link);
	timer_stop(w->timer);
	w->failed = err != NULL;
	if (err)
		w->err = *err;
	later_add(w->cache->later, &w->item);
}

/* version 0: the store was asked for it and has not answered. */
static void on_waiter_timer(void *arg)
{
	struct cache_waiter *w = arg;
	const struct error *trouble = store_trouble(w->cache->store);
	struct error err;

	if (trouble)
		error_set(&err, w->late, "%s", trouble->text);
	else if (!w->version)
		error_set(&err, w->late, "the state store did not answer within %d s",
			  FRESH_MS / 1000);
	else
		error_set(&err, w->late,
			  "this server is behind the state store: it has version %lld, and %lld "
			  "was asked for; try again",
			  (long long)w->cache->version, (long long)w->version);
	waiter_finish(w, &err);
}

static struct cache_waiter *waiter_create(struct cache *c, int64_t timeout_ms, enum error_code late,
					  void (*done)(const struct error *err, void *arg),
					  void *arg)
{
	struct cache_waiter *w = xnew0(struct cache_waiter);

	w->cache = c;
	w->late = late;
	w->done = done;
	w->item = (struct later_item){.run = waiter_run, .drop = waiter_drop, .arg = arg};
	w->timer = timer_create_in(loop_env(c->loop), on_waiter_timer, w);
	timer_start(w->timer, timeout_ms);
	return w;
}

static void waiter_wait(struct cache_waiter *w, int64_t version)
{
	w->version = version;
	list_remove(&w->link);
	if (w->cache->is_ready && version <= w->cache->version)
		waiter_finish(w, NULL);
	else
		list_push_back(&w->cache->waiters, &w->link);
}

void cache_wait(struct cache *c, int64_t version, int64_t timeout_ms,
		void (*done)(const struct error *err, void *arg), void *arg)
{
	waiter_wait(waiter_create(c, timeout_ms, ERR_TIMEOUT, done, arg), version);
}

void cache_waiters_wake(struct cache *c)
{
	struct cache_waiter *w, *next;

	list_for_each_safe (w, next, &c->waiters, link) {
		if (w->version <= c->version)
			waiter_finish(w, NULL);
	}
}

/* --- what others write into the same etcd --- */

/* It raises the store's revision, and our watch tells of it only by and by. A write of ours brings
 * a later one at once. */
static void nudge(struct cache *c);

static void on_nudged(const struct store_result *result, void *arg)
{
	struct cache *c = arg;

	c->nudging = false;
	if (result->outcome != STORE_COMMITTED)
		nudge(c);
}

static void on_nudge_timer(void *arg)
{
	static const struct store_write write = {.key = NUDGE_KEY, .value = "", .size = 0};
	static const struct store_txn txn = {.writes = &write, .n_writes = 1};
	struct cache *c = arg;

	if (list_empty(&c->waiters) || c->nudging)
		return;
	c->nudging = true;
	store_commit(c->store, &txn, on_nudged, c);
}

static void nudge(struct cache *c)
{
	if (!list_empty(&c->waiters) && !timer_active(c->nudge))
		timer_start(c->nudge, NUDGE_MS);
}

/* --- what the store holds now --- */

static void fresh_read(struct cache *c);

static void fresh_settle(struct cache *c, int64_t revision, const struct error *err)
{
	struct cache_waiter *w, *next;

	list_for_each_safe (w, next, &c->fresh_read, link) {
		if (err)
			waiter_finish(w, err);
		else
			waiter_wait(w, version_of(revision, VERSION_LAST_INDEX));
	}
	nudge(c);
}

static void on_fresh_read(const struct store_item *items, size_t n, bool more, int64_t revision,
			  const struct error *err, void *arg)
{
	struct cache *c = arg;
	struct error unavailable;

	c->reading = false;
	if (err) {
		error_set(&unavailable, ERR_UNAVAILABLE, "%s", err->text);
		err = &unavailable;
	}
	fresh_settle(c, revision, err);
	fresh_read(c);
}

/* One read serves all who asked before it began. */
static void fresh_read(struct cache *c)
{
	struct list_node *node;

	if (c->reading || list_empty(&c->fresh_asked))
		return;
	while ((node = list_first(&c->fresh_asked))) {
		list_remove(node);
		list_push_back(&c->fresh_read, node);
	}
	c->reading = true;
	store_range(c->store, ABSENT_KEY, NULL, 1, 0, on_fresh_read, c);
}

void cache_fresh(struct cache *c, void (*done)(const struct error *err, void *arg), void *arg)
{
	struct cache_waiter *w = waiter_create(c, FRESH_MS, ERR_UNAVAILABLE, done, arg);

	list_push_back(&c->fresh_asked, &w->link);
	fresh_read(c);
}

static void waiters_clear(struct list *l, const void *arg)
{
	struct cache_waiter *w, *next;

	list_for_each_safe (w, next, l, link) {
		if (!arg || w->item.arg == arg)
			waiter_destroy(w);
	}
}

static void waiters_forget(struct cache *c, const void *arg)
{
	waiters_clear(&c->waiters, arg);
	waiters_clear(&c->fresh_asked, arg);
	waiters_clear(&c->fresh_read, arg);
}

void cache_forget(struct cache *c, const void *arg)
{
	waiters_forget(c, arg);
	later_forget(c->later, arg);
}

void cache_waiters_init(struct cache *c)
{
	list_init(&c->waiters);
	list_init(&c->fresh_asked);
	list_init(&c->fresh_read);
	c->nudge = timer_create_in(loop_env(c->loop), on_nudge_timer, c);
}

void cache_waiters_finish(struct cache *c)
{
	waiters_forget(c, NULL);
	timer_destroy(c->nudge);
}
