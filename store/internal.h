/* What both implementations share. Not for callers of the store. */
#ifndef STORE_INTERNAL_H
#define STORE_INTERNAL_H

#include "base/list.h"
#include "store/store.h"

#define VERSION_LAST_INDEX 1023

struct store_watch {
	struct list_node link; /* in the store's list */
	char *prefix;
	struct store_watcher to;
	int64_t seen; /* nothing up to this version is given any more */
};

void store_watch_init(struct store_watch *w, const char *prefix, int64_t after_version,
		      const struct store_watcher *to);
void store_watch_finish(struct store_watch *w);

/* The first revision whose events a watch behind this version still needs. */
int64_t version_next_revision(int64_t version);

/* What is wrong with the input; wrong use (a foreign key, a key twice) is an assertion. */
int store_txn_check(const struct store_txn *txn, struct error *err);

/* CONFLICT, with the key named when there is only one guard. */
void store_conflict(size_t n_guards, const char *first_key, struct error *err);

#endif
