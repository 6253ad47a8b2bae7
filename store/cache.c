/*
 * The cache's conversation with the store: load all at one revision, then watch. Changes become
 * visible a whole revision at a time, so no reader sees half of a transaction.
 */
#include "store/cache.h"

#include <assert.h>

#include "base/mem.h"
#include "store/cache_internal.h"

#define LOAD_PAGE        500
#define RETRY_FIRST_MS   100
#define RETRY_LONGEST_MS 5000

static void cache_load(struct cache *c);
static void cache_load_page(struct cache *c);

static void cache_load_later(struct cache *c)
{
	timer_start(c->retry, env_backoff_ms(loop_env(c->loop), c->tries++, RETRY_FIRST_MS,
					     RETRY_LONGEST_MS));
}

static void on_window_event(const struct cache_event *e, void *arg)
{
	cache_window_add(arg, e);
}

static struct cache_change *first_change(const struct cache *c)
{
	struct list_node *node = list_first(&c->changes);

	return node ? list_entry(node, struct cache_change, link) : NULL;
}

/* True when the revision of the first change has been given whole. */
static bool first_revision_is_complete(const struct cache *c)
{
	const struct cache_change *first = first_change(c);
	const struct cache_change *last =
		list_entry(c->changes.head.prev, struct cache_change, link);

	return first && (first->version <= c->complete ||
			 version_revision(first->version) < version_revision(last->version));
}

static void apply_revision(struct cache *c)
{
	int64_t revision = version_revision(first_change(c)->version);
	struct cache_change *change;
	struct list touched;

	list_init(&touched);
	while ((change = first_change(c)) && version_revision(change->version) == revision)
		cache_docs_take(&c->docs, change, &touched);
	c->version = version_of(revision, VERSION_LAST_INDEX);
	cache_docs_settle(&c->docs, &touched, on_window_event, c);
}

static void cache_apply(struct cache *c)
{
	if (c->held)
		return;
	while (first_revision_is_complete(c))
		apply_revision(c);
	if (list_empty(&c->changes) && c->complete > c->version)
		c->version = c->complete;
	cache_watches_wake(c);
	cache_waiters_wake(c);
}

static void on_store_event(const struct store_event *event, void *arg)
{
	struct cache *c = arg;
	struct cache_change *change =
		cache_change_create(&c->docs, &event->item, event->type == STORE_EVENT_DELETE);

	if (change)
		list_push_back(&c->changes, &change->link);
	cache_apply(c);
}

static void on_store_progress(int64_t version, void *arg)
{
	struct cache *c = arg;

	if (version > c->complete)
		c->complete = version;
	cache_apply(c);
}

static void changes_clear(struct cache *c)
{
	struct cache_change *change;

	while ((change = first_change(c)))
		cache_change_destroy(change);
}

static void on_store_ended(const struct error *err, void *arg)
{
	struct cache *c = arg;

	c->store_watch = NULL;
	changes_clear(c);
	if (err->code == ERR_EXPIRED)
		cache_load(c);
	else
		cache_load_later(c);
}

static void cache_start_watch(struct cache *c)
{
	const struct store_watcher watcher = {.event = on_store_event,
					      .progress = on_store_progress,
					      .ended = on_store_ended,
					      .arg = c};

	c->store_watch = store_watch(c->store, STORE_PREFIX, c->version, &watcher);
}

/* All is loaded: what was there before is replaced, and nobody can continue what he saw. */
static void cache_loaded(struct cache *c)
{
	bool first = !c->is_ready;

	cache_watches_expire(c);
	cache_docs_finish(&c->docs);
	c->docs = c->loading;
	cache_docs_init(&c->loading, c->docs.joins);
	free(take_ptr(c->loading_after));
	c->tries = 0;
	c->is_ready = true;
	c->version = version_of(c->loading_revision, VERSION_LAST_INDEX);
	c->complete = c->version;
	cache_window_clear(c, c->version);
	cache_start_watch(c);
	cache_waiters_wake(c);
	if (first)
		c->ready(c->ready_arg);
}

static void load_items(struct cache *c, const struct store_item *items, size_t n)
{
	struct list touched;

	list_init(&touched);
	for (size_t i = 0; i < n; i++) {
		struct cache_change *change = cache_change_create(&c->loading, &items[i], false);

		if (change)
			cache_docs_take(&c->loading, change, &touched);
	}
	cache_docs_settle(&c->loading, &touched, NULL, NULL);
}

static void on_load_page(const struct store_item *items, size_t n, bool more, int64_t revision,
			 const struct error *err, void *arg)
{
	struct cache *c = arg;

	if (err) {
		cache_load_later(c);
		return;
	}
	load_items(c, items, n);
	c->loading_revision = revision;
	if (!more) {
		cache_loaded(c);
		return;
	}
	free(c->loading_after);
	c->loading_after = xstrdup(items[n - 1].key);
	cache_load_page(c);
}

static void cache_load_page(struct cache *c)
{
	store_range(c->store, STORE_PREFIX, c->loading_after, LOAD_PAGE, c->loading_revision,
		    on_load_page, c);
}

/* From the start again, at a new revision: pages of different revisions do not fit together. */
static void cache_load(struct cache *c)
{
	cache_docs_finish(&c->loading);
	free(take_ptr(c->loading_after));
	c->loading_revision = 0;
	cache_load_page(c);
}

static void on_retry(void *arg)
{
	cache_load(arg);
}

struct cache *cache_create(struct store *s, struct loop *loop, const struct cache_join *joins,
			   void (*ready)(void *arg), void *arg)
{
	struct cache *c = xnew0(struct cache);

	c->store = s;
	c->loop = loop;
	c->later = later_create(loop);
	c->ready = ready;
	c->ready_arg = arg;
	c->retry = timer_create_in(loop_env(loop), on_retry, c);
	c->events = xcalloc(CACHE_WINDOW, sizeof(*c->events));
	c->watches_turn.run = cache_watches_run;
	cache_docs_init(&c->docs, joins);
	cache_docs_init(&c->loading, joins);
	list_init(&c->changes);
	list_init(&c->watches);
	cache_waiters_init(c);
	cache_load(c);
	return c;
}

void cache_destroy(struct cache *c)
{
	if (!c)
		return;
	store_forget(c->store, c);
	store_unwatch(c->store_watch, c->store);
	timer_destroy(c->retry);
	changes_clear(c);
	cache_waiters_finish(c);
	cache_watches_finish(c);
	cache_window_clear(c, 0);
	later_destroy(c->later);
	cache_docs_finish(&c->docs);
	cache_docs_finish(&c->loading);
	free(c->loading_after);
	free(c->events);
	free(c);
}

int64_t cache_version(const struct cache *c)
{
	return c->version;
}

struct doc *cache_get(const struct cache *c, const char *key)
{
	struct cache_entry *e = cache_docs_find(&c->docs, key);

	return e ? e->joined : NULL;
}

void cache_each(const struct cache *c, const char *prefix, const char *after,
		bool (*each)(struct doc *doc, void *arg), void *arg)
{
	bool skip = after && strcmp(after, prefix) >= 0;
	struct cache_entry *e = cache_docs_seek(&c->docs, skip ? after : prefix, skip);

	for (; e && !strncmp(e->key, prefix, strlen(prefix)); e = cache_docs_next(e))
		if (e->joined && !each(e->joined, arg))
			return;
}

void cache_hold_back(struct cache *c, bool held)
{
	c->held = held;
	if (!held && c->is_ready)
		cache_apply(c);
}
