#include "tests/unit/store/messages.h"

#include <string.h>

#include "base/protobuf.h"

/* etcd leaves out what is zero. */
static void put_number(struct strbuf *out, unsigned field, int64_t n)
{
	if (n)
		pb_put_varint(out, field, (uint64_t)n);
}

static void put_header(struct strbuf *out, int64_t revision)
{
	size_t header = pb_begin(out, 1);

	pb_put_varint(out, 1, 14841639068965178418u);
	pb_put_varint(out, 2, 10276657743932975437u);
	put_number(out, 3, revision);
	pb_put_varint(out, 4, 2);
	pb_end(out, header);
}

static void put_value(struct strbuf *out, const struct said_key *k)
{
	const char head[] = {k->format, (char)(k->index >> 8), (char)k->index};
	size_t value = pb_begin(out, 5);

	strbuf_add(out, head, sizeof(head));
	strbuf_adds(out, k->value);
	pb_end(out, value);
}

static void put_key(struct strbuf *out, unsigned field, const struct said_key *k)
{
	size_t key = pb_begin(out, field);

	pb_put_bytes(out, 1, k->key, strlen(k->key));
	if (k->value)
		pb_put_varint(out, 2, 2);
	pb_put_varint(out, 3, (uint64_t)k->revision);
	if (k->value) {
		pb_put_varint(out, 4, 1);
		put_value(out, k);
	}
	pb_end(out, key);
}

static void put_event(struct strbuf *out, const struct said_key *k)
{
	size_t event = pb_begin(out, 11);

	put_number(out, 1, !k->value);
	put_key(out, 2, k);
	pb_end(out, event);
}

void say_watch(struct strbuf *out, const struct said *m)
{
	put_header(out, m->revision);
	put_number(out, 3, m->created);
	put_number(out, 4, m->canceled);
	put_number(out, 5, m->compact_revision);
	if (m->reason)
		pb_put_bytes(out, 6, m->reason, strlen(m->reason));
	put_number(out, 7, m->fragment);
	for (size_t i = 0; i < SAID_KEYS && m->events[i].key; i++)
		put_event(out, &m->events[i]);
}

void say_range(struct strbuf *out, int64_t revision, bool more, const struct said_key *keys,
	       size_t n)
{
	put_header(out, revision);
	for (size_t i = 0; i < n; i++)
		put_key(out, 2, &keys[i]);
	put_number(out, 3, more);
	put_number(out, 4, (int64_t)n + more);
}

void say_txn(struct strbuf *out, int64_t revision, size_t puts)
{
	put_header(out, revision);
	pb_put_varint(out, 2, true);
	for (size_t i = 0; i < puts; i++) {
		size_t response = pb_begin(out, 3), put = pb_begin(out, 2);

		pb_end(out, put);
		pb_end(out, response);
	}
}

static struct pb_field find(struct sv message, unsigned number)
{
	struct pb_field f;

	while (pb_next(&message, &f))
		if (f.number == number)
			return f;
	return (struct pb_field){0};
}

int64_t message_number(struct sv message, unsigned field)
{
	return (int64_t)find(message, field).varint;
}

struct sv message_part(struct sv message, unsigned field)
{
	return find(message, field).bytes;
}
