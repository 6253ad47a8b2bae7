/*
 * etcd's gRPC API on paper: the messages of its rpc.proto, requests written, answers and watch
 * messages read. No I/O.
 */
#ifndef STORE_ETCD_CODEC_H
#define STORE_ETCD_CODEC_H

#include "base/grpc_client.h"
#include "base/mem.h"
#include "base/scan.h"
#include "store/envelope.h"
#include "store/store.h"

/* --- requests, appended to out --- */

void etcd_write_range(struct strbuf *out, const char *prefix, const char *after, size_t limit,
		      int64_t revision);
void etcd_write_compaction(struct strbuf *out, int64_t revision);
void etcd_write_lease_grant(struct strbuf *out, int64_t ttl_s);
void etcd_write_lease_id(struct strbuf *out, int64_t lease);
void etcd_write_watch(struct strbuf *out, const char *prefix, int64_t start_revision);

/* A transaction is its guards and its operations, one appended after another. */
void etcd_write_guard(struct strbuf *out, const char *key, enum store_target target,
		      int64_t revision);
void etcd_write_put(struct strbuf *out, const char *key, enum envelope_format format, int64_t index,
		    struct sv payload, int64_t lease);
void etcd_write_delete(struct strbuf *out, const char *key);
void etcd_write_count(struct strbuf *out, const char *key); /* reads whether the key is there */

/* An operation that is a transaction itself: what is appended between the two calls. */
struct etcd_op {
	size_t op, request; /* where they begin */
};
struct etcd_op etcd_write_txn_begin(struct strbuf *out);
void etcd_write_txn_end(struct strbuf *out, struct etcd_op begun);

/* --- answers --- */

/* A key with its value as they came; open it with etcd_item_open(). */
struct etcd_item {
	struct sv key, value; /* views of the answer */
	int64_t revision, create_revision;
	bool deleted;
};

struct etcd_items {
	struct etcd_item *items;
	size_t n, cap;
};

/* Opens into memory of the arena. ret->version is not set, the index is: a deletion has none
 * (-1). INTERNAL: not a value of this program. */
int etcd_item_open(struct envelope_packer *p, const struct etcd_item *from, struct arena *arena,
		   struct store_item *ret, int64_t *ret_index, struct error *err);

struct etcd_range_answer {
	int64_t revision; /* of the store */
	bool more;
	struct etcd_items items; /* the caller frees items.items */
};
int etcd_read_range(struct sv message, struct etcd_range_answer *ret, struct error *err);

/* One operation's answer; of a nested transaction whether its guards held. */
struct etcd_op_answer {
	bool nested, succeeded;
	bool deleted; /* a delete that found its key */
};

/* In order; a nested transaction is followed by its operations. */
struct etcd_txn_answer {
	int64_t revision;
	bool succeeded;
	struct etcd_op_answer *ops; /* the caller frees */
	size_t n, cap;
};
int etcd_read_txn(struct sv message, struct etcd_txn_answer *ret, struct error *err);

int etcd_read_lease(struct sv message, int64_t *ret_lease, struct error *err);
/* The answer of a keep-alive; a lease that has ended has a TTL of 0. */
int etcd_read_keepalive(struct sv message, int64_t *ret_ttl_s, struct error *err);

struct etcd_watch_message {
	int64_t revision; /* of the store */
	bool created, canceled, fragment;
	int64_t compact_revision;
	struct sv reason;        /* of canceled; may be empty */
	struct etcd_items items; /* the caller frees items.items */
};
int etcd_read_watch(struct sv message, struct etcd_watch_message *ret, struct error *err);

/* --- failures --- */

enum etcd_verdict {
	ETCD_DONE,
	ETCD_REFUSED,     /* nothing was done, and trying again is of no use */
	ETCD_NOT_REACHED, /* nothing was done; another endpoint or a later time may help */
	ETCD_UNKNOWN,     /* it may have been done */
};

/* What an answer means. err is not written on ETCD_DONE; its text goes on behind the name of the
 * store: "does not answer: ...". */
enum etcd_verdict etcd_judge(const struct grpc_answer *answer, struct error *err);

#endif
