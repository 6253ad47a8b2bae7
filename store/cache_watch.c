/* The window of past events, and its readers: each goes through it at its own place. */
#include "base/mem.h"
#include "store/cache_internal.h"

/* Events looked at for one watch in one turn of the loop. */
#define EVENTS_PER_TURN 1000

struct cache_watch {
	struct list_node link;
	struct cache *cache;
	char *prefix;
	size_t prefix_size;
	uint64_t place; /* the next event to look at */
	bool expired, removed;
	void (*event)(const struct cache_event *e, void *arg);
	void (*ended)(const struct error *err, void *arg);
	void *arg;
};

static struct cache_event *window_at(const struct cache *c, uint64_t place)
{
	return &c->events[place % CACHE_WINDOW];
}

static void window_drop_first(struct cache *c)
{
	struct cache_event *e = window_at(c, c->first++);

	doc_unref(e->doc);
	doc_unref(e->prev);
}

void cache_window_add(struct cache *c, const struct cache_event *e)
{
	struct cache_event *at;

	if (c->next - c->first == CACHE_WINDOW) {
		c->window_from = window_at(c, c->first)->version;
		window_drop_first(c);
	}
	at = window_at(c, c->next++);
	*at = *e;
	at->doc = doc_ref(e->doc);
	at->prev = e->prev ? doc_ref(e->prev) : NULL;
}

void cache_window_clear(struct cache *c, int64_t version)
{
	while (c->first != c->next)
		window_drop_first(c);
	c->window_from = version;
}

static uint64_t window_find(const struct cache *c, int64_t version)
{
	uint64_t low = c->first, high = c->next;

	while (low < high) {
		uint64_t mid = low + (high - low) / 2;

		if (window_at(c, mid)->version > version)
			high = mid;
		else
			low = mid + 1;
	}
	return low;
}

void cache_watches_wake(struct cache *c)
{
	if (!list_linked(&c->watches_turn.link) && !list_empty(&c->watches))
		later_add(c->later, &c->watches_turn);
}

void cache_watches_expire(struct cache *c)
{
	struct cache_watch *w;

	list_for_each (w, &c->watches, link) {
		w->expired = true;
	}
	cache_watches_wake(c);
}

struct cache_watch *cache_watch(struct cache *c, const char *prefix, int64_t after_version,
				void (*event)(const struct cache_event *e, void *arg),
				void (*ended)(const struct error *err, void *arg), void *arg,
				struct error *err)
{
	struct cache_watch *w;

	if (!c->is_ready || after_version < c->window_from) {
		error_set(err, ERR_EXPIRED, "too old resource version: %lld (oldest: %lld)",
			  (long long)after_version, (long long)c->window_from);
		return NULL;
	}
	w = xnew0(struct cache_watch);
	w->cache = c;
	w->prefix = xstrdup(prefix);
	w->prefix_size = strlen(prefix);
	w->place = window_find(c, after_version);
	w->event = event;
	w->ended = ended;
	w->arg = arg;
	list_push_back(&c->watches, &w->link);
	cache_watches_wake(c);
	return w;
}

static void watch_free(struct cache_watch *w)
{
	list_remove(&w->link);
	free(w->prefix);
	free(w);
}

void cache_unwatch(struct cache_watch *w)
{
	if (!w)
		return;
	w->removed = true;
	if (!w->cache->in_turn)
		watch_free(w);
}

void cache_watches_finish(struct cache *c)
{
	struct cache_watch *w, *next;

	list_for_each_safe (w, next, &c->watches, link) {
		watch_free(w);
	}
}

static void watch_end(struct cache_watch *w)
{
	struct error err;

	w->removed = true;
	error_set(&err, ERR_EXPIRED, "the events were lost: list again");
	w->ended(&err, w->arg);
}

/* False when there is more to give in the next turn. */
static bool watch_run(struct cache *c, struct cache_watch *w)
{
	if (w->expired || w->place < c->first) {
		watch_end(w);
		return true;
	}
	for (int i = 0; i < EVENTS_PER_TURN && !w->removed && w->place < c->next; i++) {
		const struct cache_event *e = window_at(c, w->place++);

		if (!strncmp(e->doc->key, w->prefix, w->prefix_size))
			w->event(e, w->arg);
	}
	return w->removed || w->place == c->next;
}

void cache_watches_run(struct later_item *turn)
{
	struct cache *c = container_of(turn, struct cache, watches_turn);
	struct cache_watch *w, *next;
	bool more = false;

	c->in_turn = true;
	list_for_each (w, &c->watches, link) {
		if (!w->removed && !watch_run(c, w))
			more = true;
	}
	c->in_turn = false;
	list_for_each_safe (w, next, &c->watches, link) {
		if (w->removed)
			watch_free(w);
	}
	if (more)
		cache_watches_wake(c);
}
