/*
 * What the memory store remembers: keys in byte order, each with its past values, and all changes
 * in the order they happened, as far back as the window reaches.
 */
#ifndef STORE_HISTORY_H
#define STORE_HISTORY_H

#include "base/list.h"
#include "store/store.h"
#include "store/tree.h"

#define HISTORY_WINDOW 20000 /* changes; a whole revision is kept or goes */

struct history_key {
	RB_ENTRY(history_key) node;
	struct list changes; /* oldest first, never empty while in the tree */
	unsigned refs;
	char name[];
};

/* One write. Lives as long as the window, its key's newest value, or a reader needs it. */
struct history_change {
	struct list_node link; /* in its key's list */
	struct history_key *key;
	unsigned refs;
	bool deleted;
	int64_t revision, version, create_revision, lease;
	size_t size;
	char value[];
};

RB_HEAD(history_tree, history_key);

struct history {
	struct history_tree keys;
	struct history_change **changes; /* the window: n of them, from start on */
	size_t start, n, cap;
	uint64_t dropped;  /* changes that have left the window: the place of its first one */
	int64_t revision;  /* the newest */
	int64_t compacted; /* 0: never; what was before it is gone */
};

void history_init(struct history *h);
void history_finish(struct history *h);

/* The value of a key at a revision, or NULL. */
struct history_change *history_get(const struct history *h, const char *key, int64_t revision);

/* Walks values with the prefix behind `after` (NULL: from the start) at a revision, in key order,
 * until each returns false. */
void history_each(const struct history *h, const char *prefix, const char *after, int64_t revision,
		  bool (*each)(struct history_change *c, void *arg), void *arg);

/* Adds a change with that version; its revision becomes the newest. A deletion (value NULL) of a
 * key that is not there is the caller's mistake. */
void history_put(struct history *h, const struct store_write *w, int64_t version);

/* The place of the first change of the window behind this version. */
uint64_t history_find(const struct history *h, int64_t version);
/* NULL: the window ends before that place. It must not lie before the window. */
struct history_change *history_at(const struct history *h, uint64_t place);

/* Forgets what was before that revision. */
void history_compact(struct history *h, int64_t revision);
/* Keeps the window near its size; call it between revisions. */
void history_trim(struct history *h);

struct history_change *history_change_ref(struct history_change *c);
void history_change_unref(struct history_change *c);

#endif
