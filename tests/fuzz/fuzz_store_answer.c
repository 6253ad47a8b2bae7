/*
 * What etcd might send: each reader of answers, chosen by the first byte, and the values in them. A
 * value that opens must open to the same when it is packed again.
 */
#include <assert.h>
#include <string.h>

#include "store/etcd_codec.h"

#define LIMIT 65536

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

static void check_value(struct envelope_packer *p, const void *bytes, size_t n)
{
	auto_strbuf value = {0}, payload = {0}, packed = {0}, again = {0};
	unsigned char head[ENVELOPE_SIZE];
	int64_t index, index_again;

	if (envelope_open(p, bytes, n, LIMIT, &index, &value, NULL))
		return;
	envelope_head(envelope_pack(p, strbuf_str(&value), value.size, &payload), index, head);
	strbuf_add(&packed, head, sizeof(head));
	strbuf_add(&packed, strbuf_str(&payload), payload.size);
	assert(!envelope_open(p, packed.bytes, packed.size, LIMIT, &index_again, &again, NULL));
	assert(index == index_again && value.size == again.size);
	assert(!memcmp(strbuf_str(&value), strbuf_str(&again), value.size));
}

static void open_items(struct envelope_packer *p, struct etcd_items *items)
{
	struct arena arena = {0};

	for (size_t i = 0; i < items->n; i++) {
		struct store_item item;
		int64_t index;

		if (etcd_item_open(p, &items->items[i], &arena, &item, &index, NULL))
			continue;
		assert(*item.key && (items->items[i].deleted ? index == -1 : index >= 0));
		assert(item.size <= STORE_MAX_VALUE);
	}
	arena_finish(&arena);
	free(items->items);
}

static void check_range(struct envelope_packer *p, struct sv text)
{
	struct etcd_range_answer a;

	if (!etcd_read_range(text, &a, NULL))
		open_items(p, &a.items);
}

static void check_watch(struct envelope_packer *p, struct sv text)
{
	struct etcd_watch_line line;

	if (!etcd_read_watch_line(text, &line, NULL))
		open_items(p, &line.items);
}

static void check_txn(struct sv text)
{
	struct etcd_txn_answer a;

	if (!etcd_read_txn(text, &a, NULL))
		free(a.ops);
}

static void check_judge(struct sv text)
{
	static const int statuses[] = {400, 404, 429, 500, 503};
	struct error err;

	for (size_t i = 0; i < ARRAY_LEN(statuses); i++)
		assert(etcd_judge(statuses[i], text, NULL, &err) != ETCD_DONE);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	struct envelope_packer *p = envelope_packer_create();
	struct sv text = {(const char *)bytes + 1, n - 1};
	int64_t number;

	switch (n ? bytes[0] : 0) {
	case 'r':
		check_range(p, text);
		break;
	case 't':
		check_txn(text);
		break;
	case 'w':
		check_watch(p, text);
		break;
	case 'l':
		etcd_read_lease(text, &number, NULL);
		etcd_read_keepalive(text, &number, NULL);
		break;
	case 'j':
		check_judge(text);
		break;
	case 'v':
		check_value(p, text.p, text.n);
		break;
	default:
		break;
	}
	envelope_packer_destroy(p);
	return 0;
}
