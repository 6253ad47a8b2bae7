/* Inside of the watch cache, shared by its sources. Not for its users. */
#ifndef STORE_CACHE_INTERNAL_H
#define STORE_CACHE_INTERNAL_H

#include "base/list.h"
#include "store/cache.h"
#include "store/internal.h"
#include "store/later.h"
#include "store/tree.h"

/* The value of a status key. */
struct cache_status {
	int64_t revision;
	size_t size;
	char bytes[];
};

/* One object: its main key, its status key, and what readers see. */
struct cache_entry {
	RB_ENTRY(cache_entry) node;
	struct list_node touched; /* while a revision is applied */
	struct doc *main;         /* NULL: only the status is there */
	struct cache_status *status;
	struct doc *joined; /* main, or main with the status; NULL without main */
	struct doc *before; /* what joined was before the revision that is applied */
	int64_t version;    /* of the last change of either key */
	char key[];
};

RB_HEAD(cache_tree, cache_entry);

struct cache_docs {
	struct cache_tree tree;
	const struct cache_join *joins;
};

/* A change that the store gave and that is not yet to be seen. */
struct cache_change {
	struct list_node link;
	bool is_status;
	struct doc *main; /* both NULL: deleted */
	struct cache_status *status;
	int64_t version;
	char key[]; /* of the main key */
};

void cache_docs_init(struct cache_docs *d, const struct cache_join *joins);
void cache_docs_finish(struct cache_docs *d);
/* NULL for keys that no reader sees. */
struct cache_change *cache_change_create(const struct cache_docs *d, const struct store_item *item,
					 bool deleted);
void cache_change_destroy(struct cache_change *change);
struct cache_entry *cache_docs_find(const struct cache_docs *d, const char *key);
/* The first entry at or behind key; behind it when `behind`. */
struct cache_entry *cache_docs_seek(const struct cache_docs *d, const char *key, bool behind);
struct cache_entry *cache_docs_next(struct cache_entry *e);
/* Takes a change in; the entry goes to the end of touched. */
void cache_docs_take(struct cache_docs *d, struct cache_change *change, struct list *touched);
/* Joins what was touched anew; each gives one event, whose docs it borrows. */
void cache_docs_settle(struct cache_docs *d, struct list *touched,
		       void (*event)(const struct cache_event *e, void *arg), void *arg);

struct cache {
	struct store *store;
	struct loop *loop;
	struct later *later;
	void (*ready)(void *arg);
	void *ready_arg;
	bool is_ready, held;

	struct cache_docs docs;
	int64_t version;
	struct list changes; /* given by the store, not yet applied, in order */
	int64_t complete;    /* all changes up to this version were given */
	struct store_watch *store_watch;

	/* loading */
	struct cache_docs loading;
	int64_t loading_revision;
	char *loading_after;
	unsigned tries;
	struct timer *retry;

	/* the window: events first to next - 1, each at its place modulo CACHE_WINDOW */
	struct cache_event *events;
	uint64_t first, next;
	int64_t window_from; /* events behind this version are there */
	struct list watches;
	struct later_item watches_turn;
	bool in_turn;

	struct list waiters;     /* for a version */
	struct list fresh_asked; /* for a read of the store that begins after they asked */
	struct list fresh_read;  /* for the read in flight */
	bool reading;
	struct timer *nudge; /* fresh reads wait for a version that nothing of ours brings */
	bool nudging;
};

/* Adds an event, which it references, to the window. */
void cache_window_add(struct cache *c, const struct cache_event *e);
void cache_window_clear(struct cache *c, int64_t version);
/* Ends all watches: what they saw cannot be continued. */
void cache_watches_expire(struct cache *c);
void cache_watches_wake(struct cache *c);
void cache_watches_run(struct later_item *turn);
void cache_watches_finish(struct cache *c);

void cache_waiters_init(struct cache *c);
void cache_waiters_wake(struct cache *c);
void cache_waiters_finish(struct cache *c);

#endif
