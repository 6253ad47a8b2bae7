/* The one encoder of requests. A field of a number that etcd does not know is ignored by it, so
 * none is written anywhere else. */
#include <assert.h>

#include "base/protobuf.h"
#include "store/etcd_codec.h"

/* The fields that are written, of each message of etcd's rpc.proto. */
enum { RANGE_KEY = 1, RANGE_END = 2, RANGE_LIMIT = 3, RANGE_REVISION = 4, RANGE_COUNT_ONLY = 9 };
enum { PUT_KEY = 1, PUT_VALUE = 2, PUT_LEASE = 3 };
enum { DELETE_KEY = 1 };
enum { TXN_COMPARE = 1, TXN_SUCCESS = 2 };
enum { COMPARE_TARGET = 2, COMPARE_KEY = 3, COMPARE_CREATE = 5, COMPARE_MOD = 6 };
enum { TARGET_CREATE = 1, TARGET_MOD = 2 };
enum { REQUEST_RANGE = 1, REQUEST_PUT = 2, REQUEST_DELETE = 3, REQUEST_TXN = 4 };
enum { COMPACTION_REVISION = 1 };
enum { LEASE_GRANT_TTL = 1 };
enum { LEASE_ID = 1 }; /* of a revocation and of a keep-alive */
enum { WATCH_CREATE = 1 };
enum { CREATE_KEY = 1, CREATE_END = 2, CREATE_START = 3, CREATE_PROGRESS = 4, CREATE_FRAGMENT = 8 };

static void put_text(struct strbuf *out, unsigned field, const char *text)
{
	pb_put_bytes(out, field, text, strlen(text));
}

/* The first key behind all with the prefix. */
static void put_end(struct strbuf *out, unsigned field, const char *prefix)
{
	auto_xfree char *end = xstrdup(prefix);
	size_t n = strlen(end);

	while (n && (unsigned char)end[n - 1] == 0xff)
		n--;
	assert(n);
	end[n - 1] = (char)(end[n - 1] + 1);
	pb_put_bytes(out, field, end, n);
}

void etcd_write_range(struct strbuf *out, const char *prefix, const char *after, size_t limit,
		      int64_t revision)
{
	if (after && strcmp(after, prefix) >= 0)
		pb_put_bytes(out, RANGE_KEY, after, strlen(after) + 1); /* its NUL: just behind */
	else
		put_text(out, RANGE_KEY, prefix);
	put_end(out, RANGE_END, prefix);
	if (limit)
		pb_put_varint(out, RANGE_LIMIT, limit);
	if (revision)
		pb_put_varint(out, RANGE_REVISION, (uint64_t)revision);
}

void etcd_write_compaction(struct strbuf *out, int64_t revision)
{
	pb_put_varint(out, COMPACTION_REVISION, (uint64_t)revision);
}

void etcd_write_lease_grant(struct strbuf *out, int64_t ttl_s)
{
	pb_put_varint(out, LEASE_GRANT_TTL, (uint64_t)ttl_s);
}

void etcd_write_lease_id(struct strbuf *out, int64_t lease)
{
	pb_put_varint(out, LEASE_ID, (uint64_t)lease);
}

void etcd_write_watch(struct strbuf *out, const char *prefix, int64_t start_revision)
{
	size_t create = pb_begin(out, WATCH_CREATE);

	assert(start_revision >= 1);
	put_text(out, CREATE_KEY, prefix);
	put_end(out, CREATE_END, prefix);
	pb_put_varint(out, CREATE_START, (uint64_t)start_revision);
	pb_put_varint(out, CREATE_PROGRESS, true);
	pb_put_varint(out, CREATE_FRAGMENT, true);
	pb_end(out, create);
}

/* EQUAL is the result that is asked for when none is written. The operand is always written: it is
 * one of several, and absent it is not the same as zero. */
void etcd_write_guard(struct strbuf *out, const char *key, enum store_target target,
		      int64_t revision)
{
	static const struct {
		unsigned target, operand;
	} fields[] = {
		[STORE_MOD] = {TARGET_MOD, COMPARE_MOD},
		[STORE_CREATE] = {TARGET_CREATE, COMPARE_CREATE},
	};
	size_t compare = pb_begin(out, TXN_COMPARE);

	pb_put_varint(out, COMPARE_TARGET, fields[target].target);
	put_text(out, COMPARE_KEY, key);
	pb_put_varint(out, fields[target].operand, (uint64_t)revision);
	pb_end(out, compare);
}

static struct etcd_op op_begin(struct strbuf *out, unsigned request)
{
	size_t op = pb_begin(out, TXN_SUCCESS);

	return (struct etcd_op){.op = op, .request = pb_begin(out, request)};
}

static void op_end(struct strbuf *out, struct etcd_op begun)
{
	pb_end(out, begun.request);
	pb_end(out, begun.op);
}

void etcd_write_put(struct strbuf *out, const char *key, enum envelope_format format, int64_t index,
		    struct sv payload, int64_t lease)
{
	struct etcd_op op = op_begin(out, REQUEST_PUT);
	unsigned char head[ENVELOPE_SIZE];
	size_t value;

	put_text(out, PUT_KEY, key);
	envelope_head(format, index, head);
	value = pb_begin(out, PUT_VALUE);
	strbuf_add(out, head, sizeof(head));
	strbuf_add(out, payload.p, payload.n);
	pb_end(out, value);
	if (lease)
		pb_put_varint(out, PUT_LEASE, (uint64_t)lease);
	op_end(out, op);
}

void etcd_write_delete(struct strbuf *out, const char *key)
{
	struct etcd_op op = op_begin(out, REQUEST_DELETE);

	put_text(out, DELETE_KEY, key);
	op_end(out, op);
}

void etcd_write_count(struct strbuf *out, const char *key)
{
	struct etcd_op op = op_begin(out, REQUEST_RANGE);

	put_text(out, RANGE_KEY, key);
	pb_put_varint(out, RANGE_COUNT_ONLY, true);
	op_end(out, op);
}

struct etcd_op etcd_write_txn_begin(struct strbuf *out)
{
	return op_begin(out, REQUEST_TXN);
}

void etcd_write_txn_end(struct strbuf *out, struct etcd_op begun)
{
	op_end(out, begun);
}
