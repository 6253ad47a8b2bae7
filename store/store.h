/*
 * The versioned object store: keys, bytes, one growing revision, transactions by compare, watches.
 * Two implementations pass one suite: etcd (its gRPC API) and memory.
 *
 * version = incarnation * 2^48 + revision * 1024 + index, index being the place of a write among
 * all writes of that revision (group commit puts many transactions into one revision). A read at
 * revision R has version R * 1024 + 1023. Guards compare revisions, never versions.
 *
 * Everything calls back from the loop, never from inside the call that asked.
 */
#ifndef STORE_STORE_H
#define STORE_STORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/loop.h"

#define STORE_PREFIX     "/federator/"
#define STORE_SESSIONS   "/federator/-/" /* keys with a lease; shown to nobody */
#define STORE_MAX_VALUE  (1024 * 1024)
#define STORE_MAX_WRITES 100 /* and guards, of one transaction; etcd refuses 129 operations */

static inline int64_t version_of(int64_t revision, int64_t index)
{
	return revision * 1024 + index;
}
static inline int64_t version_revision(int64_t version)
{
	return (version & ((INT64_C(1) << 48) - 1)) / 1024;
}

struct store;

enum store_target { STORE_MOD, STORE_CREATE };

/* Holds when the key's mod (or create) revision is exactly this; 0: the key is absent. */
struct store_guard {
	const char *key;
	enum store_target target;
	int64_t revision;
};

struct store_write {
	const char *key;
	const void *value; /* NULL: delete */
	size_t size;
	int64_t lease; /* 0: none; only for keys under STORE_SESSIONS */
};

/* All guards hold and all writes happen, or nothing does. A key at most once among the writes;
 * guards alone may be asked for. */
struct store_txn {
	const struct store_guard *guards;
	size_t n_guards;
	const struct store_write *writes;
	size_t n_writes;
};

enum store_outcome {
	STORE_COMMITTED,
	STORE_CONFLICT, /* a guard failed: nothing was written */
	STORE_FAILED,   /* nothing was written; err says why */
	STORE_UNKNOWN,  /* it may have been written: settle by the next compare on its keys */
};

struct store_result {
	enum store_outcome outcome;
	int64_t revision; /* COMMITTED */
	/* COMMITTED: the version of each write, in the order given, as every watcher sees it; 0: a
	 * delete that found nothing. Lives during the callback. */
	const int64_t *versions;
	struct error err; /* FAILED, UNKNOWN; CONFLICT with a text */
};

struct store_item {
	const char *key;
	const void *value;
	size_t size;
	int64_t version, revision, create_revision;
};

struct store_event {
	enum { STORE_EVENT_PUT, STORE_EVENT_DELETE } type;
	struct store_item item; /* DELETE: no value; version is that of the deletion */
};

struct store_watcher {
	/* Events in order, each once. `progress`: all events up to that version were given (also
	 * called without any event). */
	void (*event)(const struct store_event *event, void *arg);
	void (*progress)(int64_t version, void *arg);
	/* The watch is over and gone: EXPIRED (compacted, or the store went back): list again. A
	 * cut line is resumed inside and is not seen here. */
	void (*ended)(const struct error *err, void *arg);
	void *arg;
};
struct store_watch;

/* The implementations; callers use the functions below. */
struct store_ops {
	void (*commit)(struct store *s, const struct store_txn *txn,
		       void (*done)(const struct store_result *result, void *arg), void *arg);
	void (*range)(struct store *s, const char *prefix, const char *after, size_t limit,
		      int64_t revision,
		      void (*done)(const struct store_item *items, size_t n, bool more,
				   int64_t revision, const struct error *err, void *arg),
		      void *arg);
	struct store_watch *(*watch)(struct store *s, const char *prefix, int64_t after_version,
				     const struct store_watcher *watcher);
	void (*unwatch)(struct store *s, struct store_watch *w);
	void (*lease_grant)(struct store *s, int64_t ttl_s,
			    void (*done)(int64_t lease, const struct error *err, void *arg),
			    void *arg);
	void (*lease_keep)(struct store *s, int64_t lease,
			   void (*done)(bool alive, const struct error *err, void *arg), void *arg);
	void (*lease_revoke)(struct store *s, int64_t lease,
			     void (*done)(const struct error *err, void *arg), void *arg);
	void (*compact)(struct store *s, int64_t revision,
			void (*done)(const struct error *err, void *arg), void *arg);
	const struct error *(*trouble)(struct store *s); /* NULL: it has none */
	void (*forget)(struct store *s, const void *arg);
	void (*destroy)(struct store *s);
};

struct store {
	const struct store_ops *ops;
};

/* Copies everything it is given. Transactions that touch one key happen in the order of the calls.
 */
void store_commit(struct store *s, const struct store_txn *txn,
		  void (*done)(const struct store_result *result, void *arg), void *arg);

/* Keys with the prefix, in byte order, behind `after` (NULL: from the start), at `revision` (0: a
 * linearizable read of the newest). limit 0: no limit; else fewer may come when they are large,
 * `more` says so. items live during the callback; err is NULL on success. EXPIRED: the revision was
 * compacted; BAD_REQUEST: it lies in the future. */
void store_range(struct store *s, const char *prefix, const char *after, size_t limit,
		 int64_t revision,
		 void (*done)(const struct store_item *items, size_t n, bool more, int64_t revision,
			      const struct error *err, void *arg),
		 void *arg);

/* Events behind after_version (exact to the index inside a revision). */
struct store_watch *store_watch(struct store *s, const char *prefix, int64_t after_version,
				const struct store_watcher *watcher);
/* No callback comes after it. Not for a watch that has ended. */
void store_unwatch(struct store_watch *w, struct store *s);

/* A lease ends ttl_s seconds after it was granted or last kept; its keys go with it. keep: alive is
 * false when it has ended. revoke of one that has ended is no error. */
void store_lease_grant(struct store *s, int64_t ttl_s,
		       void (*done)(int64_t lease, const struct error *err, void *arg), void *arg);
void store_lease_keep(struct store *s, int64_t lease,
		      void (*done)(bool alive, const struct error *err, void *arg), void *arg);
void store_lease_revoke(struct store *s, int64_t lease,
			void (*done)(const struct error *err, void *arg), void *arg);

/* Forgets what was before `revision`: it can still be read, and watched from behind it. Done twice
 * is no error; BAD_REQUEST: it lies in the future. */
void store_compact(struct store *s, int64_t revision,
		   void (*done)(const struct error *err, void *arg), void *arg);
/* Why the store has not answered for a second or longer, for people; NULL: it does, or was not
 * asked. Borrowed until the loop turns. */
const struct error *store_trouble(struct store *s);
/* Calls made with this arg are not answered any more; what they write may still be written. Watches
 * are not meant. */
void store_forget(struct store *s, const void *arg);
/* Calls back nothing any more; not from inside one of the store's callbacks. */
void store_destroy(struct store *s);

struct store *store_memory_create(struct loop *loop);
/* endpoints: comma-separated URLs. The others are PEM texts, NULL without TLS. NULL with err set
 * when one of them cannot be used; whether etcd is there is not asked. */
struct store_etcd_config {
	const char *endpoints, *ca_pem, *cert_pem, *key_pem;
};
struct store *store_etcd_create(struct loop *loop, const struct store_etcd_config *config,
				struct error *err);

#endif
