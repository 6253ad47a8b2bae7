/*
 * The watch cache: all documents of a store in memory, and a window of past events. Readers list,
 * get and watch here; only writes and consistency checks go to the store.
 *
 * Docs are joined (a kind with split_status is one doc), events are per doc, in version order; what
 * one transaction does to a doc is one event, and all that it does becomes visible at once.
 */
#ifndef STORE_CACHE_H
#define STORE_CACHE_H

#include "api/doc.h"
#include "store/store.h"

#define CACHE_WINDOW 20000 /* events kept for watches that resume: some 30 MB of documents */

struct cache;

/* Keys below `main` have their status below `status` (both prefixes end with /). While there is
 * none, readers see `initial`, a JSON object; NULL: no status. */
struct cache_join {
	const char *main, *status, *initial;
};

enum cache_event_type { CACHE_ADDED, CACHE_MODIFIED, CACHE_DELETED };

struct cache_event {
	enum cache_event_type type;
	struct doc *doc;  /* DELETED: the last state, with the version of the deletion */
	struct doc *prev; /* what was there before; NULL on ADDED */
	int64_t version;
};

/* joins ends with a NULL main. Starts to load at once; ready is called when all is there. */
struct cache *cache_create(struct store *s, struct loop *loop, const struct cache_join *joins,
			   void (*ready)(void *arg), void *arg);
/* Before the store, and not from inside one of the cache's callbacks; calls back nothing more. */
void cache_destroy(struct cache *c);

/* Borrowed until the loop turns; doc_ref() to keep. NULL when absent. */
struct doc *cache_get(const struct cache *c, const char *key);
/* Calls each for docs with the prefix behind `after` (NULL: from the start) in key order until it
 * returns false. */
void cache_each(const struct cache *c, const char *prefix, const char *after,
		bool (*each)(struct doc *doc, void *arg), void *arg);
/* All events up to this version are in the cache. */
int64_t cache_version(const struct cache *c);

/* Calls done(0) when the cache has all up to that version, or done(TIMEOUT) after timeout_ms. */
void cache_wait(struct cache *c, int64_t version, int64_t timeout_ms,
		void (*done)(const struct error *err, void *arg), void *arg);
/* A consistent point: one linearizable read of the store's revision, then waits for it (2 s; then
 * UNAVAILABLE: the caller answers 503 or reads the store itself). */
void cache_fresh(struct cache *c, void (*done)(const struct error *err, void *arg), void *arg);

/* Calls of cache_wait() and cache_fresh() with this arg are not answered any more. */
void cache_forget(struct cache *c, const void *arg);

struct cache_watch;
/* Events of docs with the prefix behind after_version: first those of the window (from the loop,
 * never from inside this call), then live. NULL with EXPIRED when the window does not reach back
 * so far. `ended`: the cache itself had to load anew; the reader must list again. */
struct cache_watch *cache_watch(struct cache *c, const char *prefix, int64_t after_version,
				void (*event)(const struct cache_event *e, void *arg),
				void (*ended)(const struct error *err, void *arg), void *arg,
				struct error *err);
/* No callback comes after it. Not for a watch that has ended. */
void cache_unwatch(struct cache_watch *w);

/* For tests: stop applying events until called with false; reads see the old view. */
void cache_hold_back(struct cache *c, bool held);

#endif
