/* Reads etcd's answers: what is absent has its zero value, what is not known is passed over, and a
 * field of another wire type than etcd's own reads as absent. */
#include "base/protobuf.h"
#include "store/etcd_codec.h"

/* The fields that are read, of each message of etcd's rpc.proto and kv.proto. */
enum { HEADER = 1 }; /* of all answers */
enum { HEADER_REVISION = 3 };
enum { KV_KEY = 1, KV_CREATE_REVISION = 2, KV_MOD_REVISION = 3, KV_VALUE = 5 };
enum { RANGE_KVS = 2, RANGE_MORE = 3 };
enum { DELETE_DELETED = 2 };
enum { RESPONSE_RANGE = 1, RESPONSE_PUT = 2, RESPONSE_DELETE = 3, RESPONSE_TXN = 4 };
enum { TXN_SUCCEEDED = 2, TXN_RESPONSES = 3 };
enum { LEASE_ID = 2, LEASE_TTL = 3 }; /* of a grant and of a keep-alive */
enum {
	WATCH_CREATED = 3,
	WATCH_CANCELED = 4,
	WATCH_COMPACT_REVISION = 5,
	WATCH_CANCEL_REASON = 6,
	WATCH_FRAGMENT = 7,
	WATCH_EVENTS = 11,
};
enum { EVENT_TYPE = 1, EVENT_KV = 2 };
enum { TYPE_DELETE = 1 };

static int bad_answer(const char *what, struct error *err)
{
	return error_set(err, ERR_INTERNAL, "etcd's answer to %s cannot be read", what);
}

/* The readers of messages return false when the bytes are none. */

static bool read_header(struct sv in, int64_t *ret_revision)
{
	struct pb_field f;

	while (pb_next(&in, &f))
		if (f.number == HEADER_REVISION)
			*ret_revision = (int64_t)f.varint;
	return !in.n;
}

static bool read_kv(struct sv in, struct etcd_item *item)
{
	struct pb_field f;

	while (pb_next(&in, &f)) {
		if (f.number == KV_KEY)
			item->key = f.bytes;
		else if (f.number == KV_VALUE)
			item->value = f.bytes;
		else if (f.number == KV_MOD_REVISION)
			item->revision = (int64_t)f.varint;
		else if (f.number == KV_CREATE_REVISION)
			item->create_revision = (int64_t)f.varint;
	}
	return !in.n;
}

static struct etcd_item *items_add(struct etcd_items *items)
{
	GROW(items->items, items->n, items->cap);
	items->items[items->n] = (struct etcd_item){0};
	return &items->items[items->n++];
}

static bool read_range(struct sv in, struct etcd_range_answer *a)
{
	struct pb_field f;
	bool good = true;

	while (good && pb_next(&in, &f)) {
		if (f.number == HEADER)
			good = read_header(f.bytes, &a->revision);
		else if (f.number == RANGE_KVS)
			good = read_kv(f.bytes, items_add(&a->items));
		else if (f.number == RANGE_MORE)
			a->more = f.varint;
	}
	return good && !in.n;
}

int etcd_read_range(struct sv message, struct etcd_range_answer *ret, struct error *err)
{
	struct etcd_range_answer a = {0};

	if (!read_range(message, &a) || a.revision < 1) {
		free(a.items.items);
		return bad_answer("a range", err);
	}
	*ret = a;
	return 0;
}

static struct etcd_op_answer *ops_add(struct etcd_txn_answer *a)
{
	GROW(a->ops, a->n, a->cap);
	a->ops[a->n] = (struct etcd_op_answer){0};
	return &a->ops[a->n++];
}

static bool read_deleted(struct sv in, struct etcd_op_answer *op)
{
	struct pb_field f;

	while (pb_next(&in, &f))
		if (f.number == DELETE_DELETED)
			op->deleted = (int64_t)f.varint > 0;
	return !in.n;
}

static bool read_response(struct sv in, struct etcd_txn_answer *a, bool inside);

/* The place of a nested transaction is taken before its operations are read. */
static bool read_nested(struct sv in, struct etcd_txn_answer *a)
{
	size_t at = a->n;
	struct pb_field f;
	bool good = true;

	ops_add(a)->nested = true;
	while (good && pb_next(&in, &f)) {
		if (f.number == TXN_SUCCEEDED)
			a->ops[at].succeeded = f.varint;
		else if (f.number == TXN_RESPONSES)
			good = read_response(f.bytes, a, true);
	}
	return good && !in.n;
}

/* A transaction inside of a nested one was never asked for, and is not looked into. */
static bool read_response(struct sv in, struct etcd_txn_answer *a, bool inside)
{
	struct pb_field f;
	bool good = true;

	while (good && pb_next(&in, &f)) {
		if (f.number == RESPONSE_TXN && !inside)
			good = read_nested(f.bytes, a);
		else if (f.number == RESPONSE_DELETE)
			good = read_deleted(f.bytes, ops_add(a));
		else if (f.number == RESPONSE_RANGE || f.number == RESPONSE_PUT ||
			 f.number == RESPONSE_TXN)
			ops_add(a);
	}
	return good && !in.n;
}

static bool read_txn(struct sv in, struct etcd_txn_answer *a)
{
	struct pb_field f;
	bool good = true;

	while (good && pb_next(&in, &f)) {
		if (f.number == HEADER)
			good = read_header(f.bytes, &a->revision);
		else if (f.number == TXN_SUCCEEDED)
			a->succeeded = f.varint;
		else if (f.number == TXN_RESPONSES)
			good = read_response(f.bytes, a, false);
	}
	return good && !in.n;
}

int etcd_read_txn(struct sv message, struct etcd_txn_answer *ret, struct error *err)
{
	struct etcd_txn_answer a = {0};

	if (!read_txn(message, &a) || a.revision < 1) {
		free(a.ops);
		return bad_answer("a transaction", err);
	}
	*ret = a;
	return 0;
}

static bool read_lease(struct sv in, int64_t *lease, int64_t *ttl_s)
{
	struct pb_field f;

	while (pb_next(&in, &f)) {
		if (f.number == LEASE_ID)
			*lease = (int64_t)f.varint;
		else if (f.number == LEASE_TTL)
			*ttl_s = (int64_t)f.varint;
	}
	return !in.n && *lease;
}

int etcd_read_lease(struct sv message, int64_t *ret_lease, struct error *err)
{
	int64_t lease = 0, ttl_s = 0;

	if (!read_lease(message, &lease, &ttl_s))
		return bad_answer("the grant of a lease", err);
	*ret_lease = lease;
	return 0;
}

int etcd_read_keepalive(struct sv message, int64_t *ret_ttl_s, struct error *err)
{
	int64_t lease = 0, ttl_s = 0;

	if (!read_lease(message, &lease, &ttl_s))
		return bad_answer("a keep-alive", err);
	*ret_ttl_s = ttl_s;
	return 0;
}

static bool read_event(struct sv in, struct etcd_item *item)
{
	struct pb_field f;
	bool good = true;

	while (good && pb_next(&in, &f)) {
		if (f.number == EVENT_TYPE)
			item->deleted = f.varint == TYPE_DELETE;
		else if (f.number == EVENT_KV)
			good = read_kv(f.bytes, item);
	}
	return good && !in.n;
}

static bool read_watch_field(const struct pb_field *f, struct etcd_watch_message *m)
{
	switch (f->number) {
	case HEADER:
		return read_header(f->bytes, &m->revision);
	case WATCH_CREATED:
		m->created = f->varint;
		break;
	case WATCH_CANCELED:
		m->canceled = f->varint;
		break;
	case WATCH_COMPACT_REVISION:
		m->compact_revision = (int64_t)f->varint;
		break;
	case WATCH_CANCEL_REASON:
		m->reason = f->bytes;
		break;
	case WATCH_FRAGMENT:
		m->fragment = f->varint;
		break;
	case WATCH_EVENTS:
		return read_event(f->bytes, items_add(&m->items));
	default:
		break;
	}
	return true;
}

int etcd_read_watch(struct sv message, struct etcd_watch_message *ret, struct error *err)
{
	struct etcd_watch_message m = {0};
	struct pb_field f;
	bool good = true;

	while (good && pb_next(&message, &f))
		good = read_watch_field(&f, &m);
	if (!good || message.n || (!m.canceled && m.revision < 1)) {
		free(m.items.items);
		return bad_answer("a watch", err);
	}
	*ret = m;
	return 0;
}

static int open_key(struct sv key, struct arena *arena, const char **ret_key, struct error *err)
{
	if (!key.n || memchr(key.p, '\0', key.n))
		return error_set(err, ERR_INTERNAL,
				 "etcd gave a key that is none of ours: \"%.*s\"", (int)key.n,
				 key.p);
	*ret_key = arena_strndup(arena, key.p, key.n);
	return 0;
}

static int open_value(struct envelope_packer *p, struct sv packed, struct arena *arena,
		      struct store_item *item, int64_t *ret_index, struct error *err)
{
	auto_strbuf value = {0};

	if (envelope_open(p, packed.p, packed.n, STORE_MAX_VALUE, ret_index, &value, err))
		return -1;
	item->value = arena_strndup(arena, strbuf_str(&value), value.size);
	item->size = value.size;
	return 0;
}

int etcd_item_open(struct envelope_packer *p, const struct etcd_item *from, struct arena *arena,
		   struct store_item *ret, int64_t *ret_index, struct error *err)
{
	struct store_item item = {.revision = from->revision,
				  .create_revision = from->create_revision};
	int64_t index = -1;

	if (open_key(from->key, arena, &item.key, err))
		return -1;
	if (!from->deleted && open_value(p, from->value, arena, &item, &index, err))
		return error_prefix(err, "%s", item.key);
	*ret = item;
	*ret_index = index;
	return 0;
}
