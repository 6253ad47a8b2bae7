/* Reads etcd's answers with the pull scanner; what is absent has its zero value. */
#include "base/encode.h"
#include "store/etcd_codec.h"

static int bad_answer(const struct scan *s, const char *what, struct error *err)
{
	return error_set(err, ERR_INTERNAL, "etcd's answer to %s cannot be read: %s", what,
			 s->why ? s->why : "it is not what was expected");
}

static void read_header(struct scan *s, int64_t *ret_revision)
{
	struct sv key;

	scan_object_begin(s);
	while (scan_key(s, &key)) {
		if (sv_eq(key, "revision"))
			scan_int64(s, ret_revision);
		else
			scan_skip(s);
	}
}

static void read_kv(struct scan *s, struct etcd_item *item)
{
	struct sv key;

	scan_object_begin(s);
	while (scan_key(s, &key)) {
		if (sv_eq(key, "key"))
			scan_string(s, &item->key64);
		else if (sv_eq(key, "value"))
			scan_string(s, &item->value64);
		else if (sv_eq(key, "mod_revision"))
			scan_int64(s, &item->revision);
		else if (sv_eq(key, "create_revision"))
			scan_int64(s, &item->create_revision);
		else
			scan_skip(s);
	}
}

static struct etcd_item *items_add(struct etcd_items *items)
{
	GROW(items->items, items->n, items->cap);
	items->items[items->n] = (struct etcd_item){0};
	return &items->items[items->n++];
}

int etcd_read_range(struct sv body, struct etcd_range_answer *ret, struct error *err)
{
	struct etcd_range_answer a = {0};
	struct scan s;
	struct sv key;

	scan_init(&s, body.p, body.n);
	scan_object_begin(&s);
	while (scan_key(&s, &key)) {
		if (sv_eq(key, "header")) {
			read_header(&s, &a.revision);
		} else if (sv_eq(key, "more")) {
			scan_bool(&s, &a.more);
		} else if (sv_eq(key, "kvs")) {
			scan_array_begin(&s);
			while (scan_element(&s))
				read_kv(&s, items_add(&a.items));
		} else {
			scan_skip(&s);
		}
	}
	if (!scan_end(&s) || a.revision < 1) {
		free(a.items.items);
		return bad_answer(&s, "a range", err);
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

static void read_deleted(struct scan *s, struct etcd_op_answer *op)
{
	int64_t deleted = 0;
	struct sv key;

	scan_object_begin(s);
	while (scan_key(s, &key)) {
		if (sv_eq(key, "deleted"))
			scan_int64(s, &deleted);
		else
			scan_skip(s);
	}
	op->deleted = deleted > 0;
}

static void read_responses(struct scan *s, struct etcd_txn_answer *a, bool inside);

/* The place of a nested transaction is taken before its operations are read. */
static void read_nested(struct scan *s, struct etcd_txn_answer *a)
{
	size_t at = a->n;
	struct sv key;

	ops_add(a)->nested = true;
	scan_object_begin(s);
	while (scan_key(s, &key)) {
		if (sv_eq(key, "succeeded"))
			scan_bool(s, &a->ops[at].succeeded);
		else if (sv_eq(key, "responses"))
			read_responses(s, a, true);
		else
			scan_skip(s);
	}
}

/* Answers of any depth are read alike: what was asked for says how many there must be. */
static void read_response(struct scan *s, struct etcd_txn_answer *a, bool inside)
{
	struct sv key;

	scan_object_begin(s);
	while (scan_key(s, &key)) {
		if (sv_eq(key, "response_txn") && !inside) {
			read_nested(s, a);
		} else if (sv_eq(key, "response_delete_range")) {
			read_deleted(s, ops_add(a));
		} else {
			ops_add(a);
			scan_skip(s);
		}
	}
}

static void read_responses(struct scan *s, struct etcd_txn_answer *a, bool inside)
{
	scan_array_begin(s);
	while (scan_element(s))
		read_response(s, a, inside);
}

int etcd_read_txn(struct sv body, struct etcd_txn_answer *ret, struct error *err)
{
	struct etcd_txn_answer a = {0};
	struct scan s;
	struct sv key;

	scan_init(&s, body.p, body.n);
	scan_object_begin(&s);
	while (scan_key(&s, &key)) {
		if (sv_eq(key, "header"))
			read_header(&s, &a.revision);
		else if (sv_eq(key, "succeeded"))
			scan_bool(&s, &a.succeeded);
		else if (sv_eq(key, "responses"))
			read_responses(&s, &a, false);
		else
			scan_skip(&s);
	}
	if (!scan_end(&s) || a.revision < 1) {
		free(a.ops);
		return bad_answer(&s, "a transaction", err);
	}
	*ret = a;
	return 0;
}

int etcd_read_lease(struct sv body, int64_t *ret_lease, struct error *err)
{
	int64_t lease = 0;
	struct scan s;
	struct sv key;

	scan_init(&s, body.p, body.n);
	scan_object_begin(&s);
	while (scan_key(&s, &key)) {
		if (sv_eq(key, "ID"))
			scan_int64(&s, &lease);
		else
			scan_skip(&s);
	}
	if (!scan_end(&s) || !lease)
		return bad_answer(&s, "the grant of a lease", err);
	*ret_lease = lease;
	return 0;
}

int etcd_read_keepalive(struct sv body, int64_t *ret_ttl_s, struct error *err)
{
	int64_t ttl = 0, lease = 0;
	struct sv result, key;
	struct scan s = {0};

	if (!scan_find(body, &result, "result", NULL))
		return bad_answer(&s, "a keep-alive", err);
	scan_init(&s, result.p, result.n);
	scan_object_begin(&s);
	while (scan_key(&s, &key)) {
		if (sv_eq(key, "TTL"))
			scan_int64(&s, &ttl);
		else if (sv_eq(key, "ID"))
			scan_int64(&s, &lease);
		else
			scan_skip(&s);
	}
	if (!scan_end(&s) || !lease)
		return bad_answer(&s, "a keep-alive", err);
	*ret_ttl_s = ttl;
	return 0;
}

static void read_event(struct scan *s, struct etcd_items *items)
{
	struct etcd_item *item = items_add(items);
	struct sv key, type;

	scan_object_begin(s);
	while (scan_key(s, &key)) {
		if (sv_eq(key, "type") && scan_string(s, &type))
			item->deleted = sv_eq(type, "DELETE");
		else if (sv_eq(key, "kv"))
			read_kv(s, item);
		else
			scan_skip(s);
	}
}

static void read_watch_result(struct scan *s, struct etcd_watch_line *line)
{
	struct sv key;

	scan_object_begin(s);
	while (scan_key(s, &key)) {
		if (sv_eq(key, "header")) {
			read_header(s, &line->revision);
		} else if (sv_eq(key, "created")) {
			scan_bool(s, &line->created);
		} else if (sv_eq(key, "canceled")) {
			scan_bool(s, &line->canceled);
		} else if (sv_eq(key, "fragment")) {
			scan_bool(s, &line->fragment);
		} else if (sv_eq(key, "compact_revision")) {
			scan_int64(s, &line->compact_revision);
		} else if (sv_eq(key, "cancel_reason")) {
			scan_string(s, &line->reason);
		} else if (sv_eq(key, "events")) {
			scan_array_begin(s);
			while (scan_element(s))
				read_event(s, &line->items);
		} else {
			scan_skip(s);
		}
	}
}

/* 3.4 and 3.6 nest differently and agree in the name of the text. */
static void read_watch_error(struct scan *s, struct etcd_watch_line *line)
{
	struct sv error;

	line->is_error = true;
	if (scan_raw(s, &error))
		scan_find_str(error, &line->reason, "message", NULL);
}

int etcd_read_watch_line(struct sv text, struct etcd_watch_line *ret, struct error *err)
{
	struct etcd_watch_line line = {0};
	struct scan s;
	struct sv key;

	scan_init(&s, text.p, text.n);
	scan_object_begin(&s);
	while (scan_key(&s, &key)) {
		if (sv_eq(key, "result"))
			read_watch_result(&s, &line);
		else if (sv_eq(key, "error"))
			read_watch_error(&s, &line);
		else
			scan_skip(&s);
	}
	if (!scan_end(&s) || (!line.is_error && !line.canceled && line.revision < 1)) {
		free(line.items.items);
		return bad_answer(&s, "a watch", err);
	}
	*ret = line;
	return 0;
}

static int open_key(const struct etcd_item *from, struct arena *arena, const char **ret_key,
		    struct error *err)
{
	auto_strbuf key = {0};

	if (base64_decode(&key, from->key64.p, from->key64.n) || !key.size ||
	    strlen(strbuf_str(&key)) != key.size)
		return error_set(err, ERR_INTERNAL,
				 "etcd gave a key that is none of ours: \"%.*s\"",
				 (int)from->key64.n, from->key64.p);
	*ret_key = arena_strndup(arena, key.bytes, key.size);
	return 0;
}

static int open_value(struct envelope_packer *p, const struct etcd_item *from, struct arena *arena,
		      struct store_item *item, int64_t *ret_index, struct error *err)
{
	auto_strbuf packed = {0}, value = {0};

	if (base64_decode(&packed, from->value64.p, from->value64.n))
		return error_set(err, ERR_INTERNAL, "etcd gave a value that is not base64");
	if (envelope_open(p, strbuf_str(&packed), packed.size, STORE_MAX_VALUE, ret_index, &value,
			  err))
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

	if (open_key(from, arena, &item.key, err))
		return -1;
	if (!from->deleted && open_value(p, from, arena, &item, &index, err))
		return error_prefix(err, "%s", item.key);
	*ret = item;
	*ret_index = index;
	return 0;
}
