/*
 * Inside of the etcd store, shared by its sources. Not for callers of the store.
 *
 *	store_etcd.c    creation, leases, compaction
 *	etcd_range.c    ranges, by pages that an answer can hold
 *	etcd_call.c     one unary call: endpoints, retries
 *	etcd_commit.c   group commit: the queue, what may go together
 *	etcd_batch.c    one batch: its request, its answer, the outcomes
 *	etcd_watch.c    a watch that outlives its connections
 */
#ifndef STORE_ETCD_H
#define STORE_ETCD_H

#include "base/grpc_client.h"
#include "base/map.h"
#include "store/etcd_codec.h"
#include "store/internal.h"
#include "store/later.h"

struct etcd_endpoint {
	char *url;
	struct grpc_client *client;
};

struct etcd {
	struct store store;
	struct loop *loop;
	struct env *env;
	struct later *later;
	struct envelope_packer *packer;
	struct etcd_endpoint *endpoints;
	size_t n_endpoints, current;
	struct error trouble;     /* the last failure */
	int64_t trouble_since_ms; /* of the first since it served last; 0: none */
	int64_t revision;         /* the highest that etcd has told */
	struct list calls, requests, watches;

	/* group commit */
	struct etcd_key *keys; /* of all waiting and sent entries, by name */
	struct list queue;     /* entries that wait, in order */
	struct list batches;   /* sent */
	unsigned n_batches;
	uint64_t round; /* of assembling; marks of older rounds count as none */
	struct later_item flush;

	struct later_item expiry; /* of watches */
};

static inline struct etcd *etcd_of(struct store *s)
{
	return container_of(s, struct etcd, store);
}

/* A restart of etcd takes 0.2 s, an election 1 to 2. */
#define ETCD_PATIENCE_MS 3000

/* --- calls --- */

struct etcd_call_spec {
	const char *method;
	struct strbuf *message; /* taken */
	/* May be sent again when its outcome is unknown. */
	bool repeatable;
	/* verdict is DONE with the message, or why it failed; the call is gone after it. */
	void (*done)(enum etcd_verdict verdict, struct sv message, const struct error *err,
		     void *arg);
	void *arg;
};
struct etcd_call;

struct etcd_call *etcd_call_start(struct etcd *e, const struct etcd_call_spec *spec);
void etcd_call_cancel(struct etcd_call *call); /* NULL is fine; no callback comes after it */
/* What every call to etcd carries; the last is the time-out of unary ones. */
#define ETCD_METADATA        2
#define ETCD_STREAM_METADATA 1
extern const struct grpc_metadata etcd_metadata[ETCD_METADATA];
/* The endpoint did not serve: the next calls go to another. */
void etcd_endpoint_failed(struct etcd *e, size_t endpoint);

/* A call of the store's user that is answered from one or more calls to etcd. Embedded first. */
struct etcd_request {
	struct list_node link;
	struct etcd *etcd;
	struct etcd_call *call;
	void *arg; /* of the user */
	void (*destroy)(struct etcd_request *r);
};

void etcd_request_init(struct etcd *e, struct etcd_request *r, void *arg,
		       void (*destroy)(struct etcd_request *r));
/* From here on it cannot be forgotten: its answer is about to be given. */
void etcd_request_answered(struct etcd_request *r);

void etcd_range(struct store *s, const char *prefix, const char *after, size_t limit,
		int64_t revision,
		void (*done)(const struct store_item *items, size_t n, bool more, int64_t revision,
			     const struct error *err, void *arg),
		void *arg);

/* --- the store's revision --- */

/* An answer told a revision that etcd had when it was asked (asked: the highest known at that
 * time). When it is lower, the store was replaced by an older one: all watches end. */
void etcd_revision_told(struct etcd *e, int64_t revision, int64_t asked);

/* --- group commit --- */

#define BATCH_ENTRIES 100
#define BATCH_GUARDS  128 /* etcd's default --max-txn-ops */
#define BATCH_OPS     128
#define BATCH_BYTES   (1200 * 1024) /* etcd's default --max-request-bytes is 1.5 MiB */

/* A key in use, once for all entries that name it. */
struct etcd_key {
	UT_hash_handle hh;
	unsigned refs;
	unsigned sent_writes, sent_guards; /* in batches under way or assembled */
	uint64_t round;                    /* that the marks are of */
	unsigned marks;
	enum store_target guard_target; /* of KEY_GUARDED */
	int64_t guard_revision;
	char name[];
};

struct etcd_guard {
	struct etcd_key *key;
	enum store_target target;
	int64_t revision;
	bool shared; /* an earlier entry of the batch has the same */
};

struct etcd_write {
	struct etcd_key *key;
	bool deletes;
	enum envelope_format format;
	struct strbuf payload; /* as it is stored, behind its envelope's head */
	int64_t lease;
	int64_t version; /* when committed */
};

/* A transaction that waits or is sent. */
struct etcd_entry {
	struct list_node link;
	struct etcd_guard *guards;
	struct etcd_write *writes;
	size_t n_guards, n_writes;
	size_t bytes; /* about, of the request as etcd counts it */
	int64_t since_ms;
	bool alone; /* it can fail for a reason that no guard tells: with a lease */
	void (*done)(const struct store_result *result, void *arg); /* NULL: forgotten */
	void *arg;
	enum store_outcome outcome;
};

static inline size_t etcd_entry_ops(const struct etcd_entry *entry)
{
	return entry->n_writes ? entry->n_writes : 1;
}

struct etcd_batch {
	struct list_node link;
	struct etcd *etcd;
	struct list entries;
	size_t n_entries, n_guards, n_ops, bytes;
	bool nested;
	int64_t asked;    /* the highest revision known when it was sent */
	int64_t revision; /* its own, when anything was written */
	struct error err; /* of entries that are FAILED or UNKNOWN */
	struct etcd_call *call;
};

void etcd_commit(struct store *s, const struct store_txn *txn,
		 void (*done)(const struct store_result *result, void *arg), void *arg);
void etcd_commits_init(struct etcd *e);
void etcd_commits_forget(struct etcd *e, const void *arg);
/* etcd does not serve: those that have waited long fail now, rather than one batch after another.
 */
void etcd_commits_give_up(struct etcd *e, const struct error *why);
void etcd_commits_finish(struct etcd *e);

void etcd_batch_send(struct etcd_batch *batch);
/* The answer has come: others may use its keys and its place. It stays in the list until all its
 * callers were told, so that they can be forgotten. */
void etcd_batch_over(struct etcd_batch *batch);
void etcd_batch_destroy(struct etcd_batch *batch);
void etcd_entry_destroy(struct etcd *e, struct etcd_entry *entry);

/* --- watches --- */

struct store_watch *etcd_watch(struct store *s, const char *prefix, int64_t after_version,
			       const struct store_watcher *to);
void etcd_unwatch(struct store *s, struct store_watch *w);
/* The store has gone back: all that are there end, a little later. */
void etcd_watches_expire(struct etcd *e);
void etcd_watches_run_expired(struct later_item *item);
void etcd_watches_finish(struct etcd *e);

#endif
