/* Inside of the memory store: its state, shared by its sources. Not for callers of the store. */
#ifndef STORE_MEMORY_H
#define STORE_MEMORY_H

#include "base/mem.h"
#include "store/history.h"
#include "store/internal.h"
#include "store/later.h"

struct memory {
	struct store store;
	struct loop *loop;
	struct history history;
	struct later *later;
	struct list watches, leases;
	struct later_item turn; /* gives changes to the watches */
	bool in_turn;
	int64_t last_lease;
};

static inline struct memory *memory_of(struct store *s)
{
	return container_of(s, struct memory, store);
}

/* Deletes the keys, which are sorted, in one revision. */
void memory_delete(struct memory *m, const char *const *keys, size_t n);
void memory_wake_watches(struct memory *m);

bool memory_lease_exists(const struct memory *m, int64_t id);
void memory_leases_finish(struct memory *m);

void memory_lease_grant(struct store *s, int64_t ttl_s,
			void (*done)(int64_t lease, const struct error *err, void *arg), void *arg);
void memory_lease_keep(struct store *s, int64_t lease,
		       void (*done)(bool alive, const struct error *err, void *arg), void *arg);
void memory_lease_revoke(struct store *s, int64_t lease,
			 void (*done)(const struct error *err, void *arg), void *arg);

struct store_watch *memory_watch(struct store *s, const char *prefix, int64_t after_version,
				 const struct store_watcher *to);
void memory_unwatch(struct store *s, struct store_watch *w);
void memory_watches_finish(struct memory *m);
void memory_watches_run(struct later_item *turn);

#endif
