/* Watches of the memory store: each reads the window of changes at its own place. */
#include "store/memory.h"

/* Changes given to one watch in one turn of the loop. */
#define CHANGES_PER_TURN 1000

struct memory_watch {
	struct store_watch watch;
	uint64_t place; /* the next change to give */
	bool expired;
	bool removed; /* inside a callback; freed at the end of the turn */
};

static struct memory_watch *memory_watch_of(struct store_watch *w)
{
	return container_of(w, struct memory_watch, watch);
}

void memory_wake_watches(struct memory *m)
{
	if (!list_linked(&m->turn.link) && !list_empty(&m->watches))
		later_add(m->later, &m->turn);
}

struct store_watch *memory_watch(struct store *s, const char *prefix, int64_t after_version,
				 const struct store_watcher *to)
{
	struct memory *m = memory_of(s);
	struct memory_watch *w = xnew0(struct memory_watch);
	int64_t needed = version_next_revision(after_version);

	store_watch_init(&w->watch, prefix, after_version, to);
	w->expired = needed > 1 && needed <= m->history.compacted;
	w->place = history_find(&m->history, after_version);
	list_push_back(&m->watches, &w->watch.link);
	memory_wake_watches(m);
	return &w->watch;
}

static void memory_watch_free(struct memory_watch *w)
{
	store_watch_finish(&w->watch);
	free(w);
}

void memory_unwatch(struct store *s, struct store_watch *watch)
{
	struct memory_watch *w = memory_watch_of(watch);

	w->removed = true;
	if (!memory_of(s)->in_turn)
		memory_watch_free(w);
}

static void give_change(struct memory_watch *w, struct history_change *c)
{
	struct store_event e = {.type = c->deleted ? STORE_EVENT_DELETE : STORE_EVENT_PUT};

	if (c->version <= w->watch.seen ||
	    strncmp(c->key->name, w->watch.prefix, strlen(w->watch.prefix)))
		return;
	e.item = (struct store_item){.key = c->key->name,
				     .value = c->deleted ? NULL : c->value,
				     .size = c->size,
				     .version = c->version,
				     .revision = c->revision,
				     .create_revision = c->deleted ? 0 : c->create_revision};
	history_change_ref(c); /* the callback may compact */
	w->watch.to.event(&e, w->watch.to.arg);
	history_change_unref(c);
}

static void give_progress(struct memory *m, struct memory_watch *w)
{
	int64_t version = version_of(m->history.revision, VERSION_LAST_INDEX);

	if (version <= w->watch.seen)
		return;
	w->watch.seen = version;
	if (w->watch.to.progress)
		w->watch.to.progress(version, w->watch.to.arg);
}

static void give_end(struct memory_watch *w)
{
	struct error err;

	w->removed = true;
	error_set(&err, ERR_EXPIRED, "changes behind version %lld were compacted",
		  (long long)w->watch.seen);
	w->watch.to.ended(&err, w->watch.to.arg);
}

/* False when there is more to give in the next turn. */
static bool memory_watch_run(struct memory *m, struct memory_watch *w)
{
	if (w->expired || w->place < m->history.dropped) {
		give_end(w);
		return true;
	}
	for (int i = 0; i < CHANGES_PER_TURN && !w->removed; i++) {
		struct history_change *c = history_at(&m->history, w->place);

		if (!c) {
			give_progress(m, w);
			return true;
		}
		w->place++;
		give_change(w, c);
	}
	return w->removed;
}

static void watches_sweep(struct memory *m)
{
	struct memory_watch *w, *next;

	list_for_each_safe (w, next, &m->watches, watch.link) {
		if (w->removed)
			memory_watch_free(w);
	}
}

void memory_watches_run(struct later_item *turn)
{
	struct memory *m = container_of(turn, struct memory, turn);
	struct memory_watch *w;
	bool more = false;

	m->in_turn = true;
	list_for_each (w, &m->watches, watch.link) {
		if (!w->removed && !memory_watch_run(m, w))
			more = true;
	}
	m->in_turn = false;
	watches_sweep(m);
	if (more)
		memory_wake_watches(m);
}

void memory_watches_finish(struct memory *m)
{
	struct memory_watch *w, *next;

	list_for_each_safe (w, next, &m->watches, watch.link) {
		memory_watch_free(w);
	}
}
