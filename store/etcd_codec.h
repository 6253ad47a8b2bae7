/*
 * etcd's gateway on paper: requests as JSON, answers and watch lines read from it. No I/O.
 * Zero values are left out by etcd, 64-bit numbers are strings, bytes are standard base64.
 */
#ifndef STORE_ETCD_CODEC_H
#define STORE_ETCD_CODEC_H

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

/* Parts of a transaction; the caller writes commas and brackets. Keys and payloads are base64. */
void etcd_write_guard(struct strbuf *out, const char *key64, enum store_target target,
		      int64_t revision);
void etcd_write_put(struct strbuf *out, const char *key64, enum envelope_format format,
		    int64_t index, struct sv payload64, int64_t lease);
void etcd_write_delete(struct strbuf *out, const char *key64);
void etcd_write_count(struct strbuf *out, const char *key64); /* reads whether the key is there */

/* --- answers --- */

/* A key with its value as they came; open it with etcd_item_open(). */
struct etcd_item {
	struct sv key64, value64; /* views of the answer */
	int64_t revision, create_revision;
	bool deleted;
};

struct etcd_items {
	struct etcd_item *items;
	size_t n, cap;
};

/* Decodes into memory of the arena. ret->version is not set, the index is: a deletion has none
 * (-1). INTERNAL: not a value of this program. */
int etcd_item_open(struct envelope_packer *p, const struct etcd_item *from, struct arena *arena,
		   struct store_item *ret, int64_t *ret_index, struct error *err);

struct etcd_range_answer {
	int64_t revision; /* of the store */
	bool more;
	struct etcd_items items; /* the caller frees items.items */
};
int etcd_read_range(struct sv body, struct etcd_range_answer *ret, struct error *err);

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
int etcd_read_txn(struct sv body, struct etcd_txn_answer *ret, struct error *err);

int etcd_read_lease(struct sv body, int64_t *ret_lease, struct error *err);
/* The answer of a keep-alive; a lease that has ended has a TTL of 0. */
int etcd_read_keepalive(struct sv body, int64_t *ret_ttl_s, struct error *err);

struct etcd_watch_line {
	int64_t revision; /* of the store */
	bool created, canceled, fragment, is_error;
	int64_t compact_revision;
	struct sv reason; /* of canceled or is_error; raw, may be empty */
	struct etcd_items items;
};
int etcd_read_watch_line(struct sv line, struct etcd_watch_line *ret, struct error *err);

/* --- failures --- */

enum etcd_verdict {
	ETCD_DONE,
	ETCD_REFUSED,     /* nothing was done, and trying again is of no use */
	ETCD_NOT_REACHED, /* nothing was done; another endpoint or a later time may help */
	ETCD_UNKNOWN,     /* it may have been done */
};

/* What an answer means. status 0: there was none, and transport says why. err is not written on
 * ETCD_DONE; its text goes on behind the name of the store: "does not answer: ...". */
enum etcd_verdict etcd_judge(int status, struct sv body, const struct error *transport,
			     struct error *err);

#endif
