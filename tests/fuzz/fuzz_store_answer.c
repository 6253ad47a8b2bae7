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

static void check_range(struct envelope_packer *p, struct sv message)
{
	struct etcd_range_answer a;

	if (!etcd_read_range(message, &a, NULL))
		open_items(p, &a.items);
}

static void check_watch(struct envelope_packer *p, struct sv message)
{
	struct etcd_watch_message m;

	if (!etcd_read_watch(message, &m, NULL))
		open_items(p, &m.items);
}

static void check_txn(struct sv message)
{
	struct etcd_txn_answer a;

	if (!etcd_read_txn(message, &a, NULL))
		free(a.ops);
}

/* A status, then its text. */
static void check_judge(struct sv bytes)
{
	auto_xfree char *text = bytes.n ? xstrndup(bytes.p + 1, bytes.n - 1) : xstrdup("");
	struct grpc_answer answer = {.status = bytes.n ? (unsigned char)*bytes.p : 1, .text = text};
	struct error err;

	assert((etcd_judge(&answer, &err) == ETCD_DONE) == (answer.status == GRPC_OK));
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	struct envelope_packer *p = envelope_packer_create();
	struct sv input = {(const char *)bytes + 1, n - 1};
	int64_t number;

	switch (n ? bytes[0] : 0) {
	case 'r':
		check_range(p, input);
		break;
	case 't':
		check_txn(input);
		break;
	case 'w':
		check_watch(p, input);
		break;
	case 'l':
		etcd_read_lease(input, &number, NULL);
		etcd_read_keepalive(input, &number, NULL);
		break;
	case 'j':
		check_judge(input);
		break;
	case 'v':
		check_value(p, input.p, input.n);
		break;
	default:
		break;
	}
	envelope_packer_destroy(p);
	return 0;
}
