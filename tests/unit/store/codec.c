/*
 * Requests as etcd wants them, and answers as it gives them. The bytes are those that etcd's own
 * code in Go makes of the same messages.
 */
#include <criterion/criterion.h>
#include <string.h>

#include "store/etcd_codec.h"

#define SV(literal) ((struct sv){literal, sizeof(literal) - 1})

/* --- requests --- */

static void assert_written(struct strbuf *out, struct sv expected)
{
	cr_assert_eq(out->size, expected.n, "%zu bytes instead of %zu", out->size, expected.n);
	cr_assert_arr_eq(out->bytes, expected.p, expected.n);
	strbuf_finish(out);
}

Test(codec, ranges)
{
	struct strbuf out = {0};

	etcd_write_range(&out, "/federator/", NULL, 0, 0);
	assert_written(&out, SV("\x0a\x0b/federator/\x12\x0b/federator0"));
	etcd_write_range(&out, "/a/", "/a/b", 500, 42);
	assert_written(&out, SV("\x0a\x05/a/b\x00\x12\x03/a0\x18\xf4\x03\x20\x2a"));
	etcd_write_range(&out, "/a/", "/", 1, 0);
	assert_written(&out, SV("\x0a\x03/a/\x12\x03/a0\x18\x01"));
	etcd_write_range(&out, "a\xff\xff", NULL, 0, 0);
	assert_written(&out, SV("\x0a\x03"
				"a\xff\xff\x12\x01"
				"b"));
}

Test(codec, compactions_leases_and_watches)
{
	struct strbuf out = {0};

	etcd_write_compaction(&out, INT64_C(9007199254740993));
	assert_written(&out, SV("\x08\x81\x80\x80\x80\x80\x80\x80\x10"));
	etcd_write_lease_grant(&out, 10);
	assert_written(&out, SV("\x08\x0a"));
	etcd_write_lease_id(&out, INT64_C(7587862094234353410));
	assert_written(&out, SV("\x08\x82\xfe\xf5\xdb\xf5\x8b\xe0\xa6\x69"));
	etcd_write_lease_id(&out, -2);
	assert_written(&out, SV("\x08\xfe\xff\xff\xff\xff\xff\xff\xff\xff\x01"));
	etcd_write_watch(&out, "/a/", 7);
	assert_written(&out, SV("\x0a\x10\x0a\x03/a/\x12\x03/a0\x18\x07\x20\x01\x40\x01"));
}

/* A guard of 0 says that the key is absent: the 0 is there. */
Test(codec, guards)
{
	struct strbuf out = {0};

	etcd_write_guard(&out, "/a", STORE_MOD, 0);
	assert_written(&out, SV("\x0a\x08\x10\x02\x1a\x02/a\x30\x00"));
	etcd_write_guard(&out, "/a", STORE_CREATE, 0);
	assert_written(&out, SV("\x0a\x08\x10\x01\x1a\x02/a\x28\x00"));
	etcd_write_guard(&out, "/a", STORE_CREATE, 7);
	assert_written(&out, SV("\x0a\x08\x10\x01\x1a\x02/a\x28\x07"));
	etcd_write_guard(&out, "/a", STORE_MOD, INT64_C(9007199254740993));
	assert_written(&out, SV("\x0a\x0f\x10\x02\x1a\x02/a\x30\x81\x80\x80\x80\x80\x80\x80\x10"));
}

Test(codec, operations)
{
	struct strbuf out = {0};

	etcd_write_put(&out, "/a", ENVELOPE_DEFLATED, 258, SV("1"), 0);
	assert_written(&out, SV("\x12\x0c\x12\x0a\x0a\x02/a\x12\x04\x01\x01\x02\x31"));
	etcd_write_put(&out, "/a", ENVELOPE_RAW, 0, SV(""), 5);
	assert_written(&out, SV("\x12\x0d\x12\x0b\x0a\x02/a\x12\x03\x00\x00\x00\x18\x05"));
	etcd_write_count(&out, "/a");
	assert_written(&out, SV("\x12\x08\x0a\x06\x0a\x02/a\x48\x01"));
	etcd_write_delete(&out, "/a");
	assert_written(&out, SV("\x12\x06\x1a\x04\x0a\x02/a"));
}

Test(codec, transactions_in_a_transaction)
{
	struct strbuf out = {0};
	struct etcd_op txn = etcd_write_txn_begin(&out);

	etcd_write_guard(&out, "/a", STORE_MOD, 3);
	etcd_write_delete(&out, "/a");
	etcd_write_txn_end(&out, txn);
	txn = etcd_write_txn_begin(&out);
	etcd_write_txn_end(&out, txn);
	assert_written(&out, SV("\x12\x14\x22\x12\x0a\x08\x10\x02\x1a\x02/a\x30\x03\x12\x06\x1a\x04"
				"\x0a\x02/a\x12\x02\x22\x00"));
}

/* 300 bytes of value: all three lengths in front of it have two bytes. */
Test(codec, puts_of_long_values)
{
	static const char head[] = "\x12\xb9\x02\x12\xb6\x02\x0a\x02/a\x12\xaf\x02\x00\x00\x07";
	struct strbuf out = {0};
	char value[300];

	memset(value, 'x', sizeof(value));
	etcd_write_put(&out, "/a", ENVELOPE_RAW, 7, (struct sv){value, sizeof(value)}, 0);
	cr_assert_eq(out.size, sizeof(head) - 1 + sizeof(value));
	cr_assert_arr_eq(out.bytes, head, sizeof(head) - 1);
	cr_assert_arr_eq(out.bytes + sizeof(head) - 1, value, sizeof(value));
	strbuf_finish(&out);
}

/* --- answers --- */

/* Of every length up to the whole. Each is at the end of its own memory, so that a sanitizer sees
 * who reads behind it. */
static void for_each_cut(struct sv whole, void (*read)(struct sv cut))
{
	for (size_t n = 0; n <= whole.n; n++) {
		auto_xfree char *copy = xmalloc(n ? n : 1);

		memcpy(copy, whole.p, n);
		read((struct sv){copy, n});
	}
}

#define RANGE_PAGE                                                                                 \
	"\x0a\x20\x08\xb2\x98\xea\xf1\x94\x83\x86\xfc\xcd\x01\x10\xc0\xc0\xca\xaf\xc1\xba\x96\x89" \
	"\x2e\x18\x81\x80\x80\x80\x80\x80\x80\x10\x20\x02\x12\x10\x0a\x02/a\x10\x02\x18\x03\x20"   \
	"\x02\x2a\x04\x00\x00\x02\x31\x12\x0c\x0a\x02/b\x10\x03\x18\x03\x20\x01\x30\x07\x18\x01"   \
	"\x20\x05"

Test(codec, range_answers)
{
	struct etcd_range_answer a;
	struct envelope_packer *p = envelope_packer_create();
	struct store_item item;
	struct arena arena = {0};
	struct error err;
	int64_t index;

	cr_assert_eq(etcd_read_range(SV(RANGE_PAGE), &a, &err), 0, "%s", err.text);
	cr_assert(a.revision == INT64_C(9007199254740993) && a.more && a.items.n == 2);
	cr_assert_eq(etcd_item_open(p, &a.items.items[0], &arena, &item, &index, &err), 0);
	cr_assert_str_eq(item.key, "/a");
	cr_assert(item.size == 1 && !memcmp(item.value, "1", 1) && index == 2);
	cr_assert(item.revision == 3 && item.create_revision == 2);
	cr_assert_eq(etcd_item_open(p, &a.items.items[1], &arena, &item, &index, &err), -1,
		     "a value without an envelope");
	cr_assert(strstr(err.text, "/b"), "%s", err.text);
	free(a.items.items);
	arena_finish(&arena);
	envelope_packer_destroy(p);
}

Test(codec, range_answers_without_items)
{
	struct etcd_range_answer a;

	cr_assert_eq(etcd_read_range(SV("\x0a\x02\x18\x01"), &a, NULL), 0);
	cr_assert(a.revision == 1 && !a.more && a.items.n == 0);
	cr_assert_eq(etcd_read_range(SV(""), &a, NULL), -1, "no header");
	cr_assert_eq(etcd_read_range(SV("\x0a\x00"), &a, NULL), -1, "no revision");
	cr_assert_eq(etcd_read_range(SV("\x0a\x0b\x18\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"), &a,
				     NULL),
		     -1, "a negative revision");
}

static void read_range_cut(struct sv cut)
{
	struct etcd_range_answer a;

	if (etcd_read_range(cut, &a, NULL)) {
		cr_assert_lt(cut.n, sizeof(RANGE_PAGE) - 1);
		return;
	}
	cr_assert(a.revision == INT64_C(9007199254740993) && a.items.n <= 2);
	free(a.items.items);
}

Test(codec, range_answers_that_are_cut)
{
	for_each_cut(SV(RANGE_PAGE), read_range_cut);
}

#define TXN_NESTED                                                                                 \
	"\x0a\x02\x18\x0c\x10\x01\x1a\x2c\x22\x2a\x0a\x02\x18\x0c\x10\x01\x1a\x06\x12\x04\x0a\x02" \
	"\x18\x0c\x1a\x08\x1a\x06\x0a\x02\x18\x0c\x10\x01\x1a\x06\x1a\x04\x0a\x02\x18\x0c\x1a\x08" \
	"\x0a\x06\x0a\x02\x18\x0c\x20\x01\x1a\x06\x22\x04\x0a\x02\x18\x0c"

/* A put, a delete that found its key, one that did not, a range; then a guard that failed. */
Test(codec, transaction_answers)
{
	struct etcd_txn_answer a;
	struct error err;

	cr_assert_eq(etcd_read_txn(SV(TXN_NESTED), &a, &err), 0, "%s", err.text);
	cr_assert(a.revision == 12 && a.succeeded && a.n == 6);
	cr_assert(a.ops[0].nested && a.ops[0].succeeded);
	cr_assert(!a.ops[1].nested && !a.ops[1].deleted && a.ops[2].deleted && !a.ops[3].deleted);
	cr_assert(!a.ops[4].nested && !a.ops[4].deleted);
	cr_assert(a.ops[5].nested && !a.ops[5].succeeded);
	free(a.ops);
	cr_assert_eq(etcd_read_txn(SV("\x0a\x02\x18\x03"), &a, &err), 0);
	cr_assert(a.revision == 3 && !a.succeeded && a.n == 0);
	cr_assert_eq(etcd_read_txn(SV("\x10\x01"), &a, &err), -1, "no revision");
}

/* {txn: {txn: {put}}}: the innermost counts as one operation of the one around it. */
Test(codec, transaction_answers_nested_deeper_than_was_asked)
{
	struct etcd_txn_answer a;

	cr_assert_eq(etcd_read_txn(SV("\x0a\x02\x18\x0c\x10\x01\x1a\x10\x22\x0e\x10\x01\x1a\x0a\x22"
				      "\x08\x1a\x06\x12\x04\x0a\x02\x18\x0c"),
				   &a, NULL),
		     0);
	cr_assert(a.n == 2 && a.ops[0].nested && a.ops[0].succeeded && !a.ops[1].nested);
	free(a.ops);
}

static void read_txn_cut(struct sv cut)
{
	struct etcd_txn_answer a;

	if (etcd_read_txn(cut, &a, NULL)) {
		cr_assert_lt(cut.n, sizeof(TXN_NESTED) - 1);
		return;
	}
	cr_assert(a.revision == 12 && a.n <= 6);
	free(a.ops);
}

Test(codec, transaction_answers_that_are_cut)
{
	for_each_cut(SV(TXN_NESTED), read_txn_cut);
}

Test(codec, lease_answers)
{
	struct error err;
	int64_t n;

	cr_assert_eq(etcd_read_lease(SV("\x0a\x02\x18\x01\x10\x85\x8e\xd6\xeb\x88\xc5\xa8\xa0\x20"
					"\x18\x3c"),
				     &n, &err),
		     0);
	cr_assert_eq(n, INT64_C(2324035702778857221));
	cr_assert_eq(etcd_read_lease(SV("\x0a\x00\x18\x3c"), &n, &err), -1, "none was granted");
	cr_assert_eq(etcd_read_lease(SV("\x0a\x02\x18\x01\x10"), &n, &err), -1, "cut");
	cr_assert_eq(etcd_read_keepalive(SV("\x0a\x02\x18\x01\x10\x07\x18\x3c"), &n, &err), 0);
	cr_assert_eq(n, 60);
	cr_assert_eq(etcd_read_keepalive(SV("\x0a\x02\x18\x01\x10\x07"), &n, &err), 0);
	cr_assert_eq(n, 0, "a lease that has ended has no TTL");
	cr_assert_eq(etcd_read_keepalive(SV(""), &n, &err), -1, "of no lease");
}

#define WATCH_EVENTS                                                                               \
	"\x0a\x02\x18\x04\x38\x01\x5a\x12\x12\x10\x0a\x02/a\x10\x02\x18\x03\x20\x02\x2a\x04\x00"   \
	"\x00\x00\x32\x5a\x0a\x08\x01\x12\x06\x0a\x02/a\x18\x04"

Test(codec, watch_messages_with_events)
{
	struct etcd_watch_message m;
	struct error err;

	cr_assert_eq(etcd_read_watch(SV(WATCH_EVENTS), &m, &err), 0, "%s", err.text);
	cr_assert(m.revision == 4 && m.fragment && !m.created && !m.canceled);
	cr_assert_eq(m.items.n, 2);
	cr_assert(!m.items.items[0].deleted && m.items.items[0].revision == 3);
	cr_assert(sv_eq(m.items.items[0].key, "/a") && m.items.items[0].value.n == 4);
	cr_assert(m.items.items[1].deleted && m.items.items[1].revision == 4);
	free(m.items.items);
}

Test(codec, watch_messages_without_events)
{
	struct etcd_watch_message m;

	cr_assert_eq(etcd_read_watch(SV("\x0a\x02\x18\x04"), &m, NULL), 0);
	cr_assert(m.revision == 4 && !m.created && !m.canceled && !m.fragment && m.items.n == 0);
	cr_assert_eq(etcd_read_watch(SV("\x0a\x02\x18\x04\x18\x01"), &m, NULL), 0);
	cr_assert(m.created && !m.canceled && m.items.n == 0);
	cr_assert_eq(etcd_read_watch(SV("\x0a\x02\x08\x01\x20\x01\x28\x08"), &m, NULL), 0);
	cr_assert(m.canceled && m.compact_revision == 8);
	cr_assert_eq(etcd_read_watch(SV("\x0a\x02\x18\x04\x10\xff\xff\xff\xff\xff\xff\xff\xff\xff"
					"\x01\x18\x01\x20\x01\x32\x11permission denied"),
				     &m, NULL),
		     0);
	cr_assert(m.created && m.canceled && sv_eq(m.reason, "permission denied"));
	cr_assert_eq(etcd_read_watch(SV(""), &m, NULL), -1, "no revision");
}

static void read_watch_cut(struct sv cut)
{
	struct etcd_watch_message m;

	if (etcd_read_watch(cut, &m, NULL)) {
		cr_assert_lt(cut.n, sizeof(WATCH_EVENTS) - 1);
		return;
	}
	cr_assert(m.revision == 4 && m.items.n <= 2);
	free(m.items.items);
}

Test(codec, watch_messages_that_are_cut)
{
	for_each_cut(SV(WATCH_EVENTS), read_watch_cut);
}

/* Numbers that etcd may give a meaning some day, of all wire types, at each level. */
#define UNKNOWN                                                                                    \
	"\xa0\x06\x05\xaa\x06\x01x\xa9\x06"                                                        \
	"12345678\xad\x06"                                                                         \
	"1234"

Test(codec, fields_that_are_not_known_are_passed_over)
{
	struct etcd_range_answer a;
	struct etcd_watch_message m;

	cr_assert_eq(etcd_read_range(SV(UNKNOWN "\x0a\x19" UNKNOWN "\x18\x09\x12\x33" UNKNOWN
						"\x0a\x03/a/" UNKNOWN),
				     &a, NULL),
		     0);
	cr_assert(a.revision == 9 && a.items.n == 1 && sv_eq(a.items.items[0].key, "/a/"));
	free(a.items.items);
	cr_assert_eq(
		etcd_read_watch(SV(UNKNOWN "\x0a\x02\x18\x04" UNKNOWN "\x5a\x19\x08\x01" UNKNOWN),
				&m, NULL),
		0);
	cr_assert(m.items.n == 1 && m.items.items[0].deleted);
	free(m.items.items);
}

/* --- what is in them --- */

Test(codec, keys_that_are_none)
{
	static const struct sv keys[] = {{NULL, 0}, {"", 0}, {"/a\0b", 4}, {"\0", 1}};
	struct envelope_packer *p = envelope_packer_create();
	struct store_item item;
	struct arena arena = {0};
	int64_t index;

	for (size_t i = 0; i < ARRAY_LEN(keys); i++) {
		struct etcd_item from = {.key = keys[i], .deleted = true};

		cr_assert_eq(etcd_item_open(p, &from, &arena, &item, &index, NULL), -1, "%zu", i);
	}
	arena_finish(&arena);
	envelope_packer_destroy(p);
}

/* --- failures --- */

static const struct {
	struct grpc_answer answer;
	enum etcd_verdict verdict;
	enum error_code error;
	const char *text;
} judged[] = {
	{{.status = GRPC_UNAVAILABLE, .text = "etcdserver: no leader"},
	 ETCD_NOT_REACHED,
	 ERR_UNAVAILABLE,
	 "says: etcdserver: no leader"},
	{{.status = GRPC_UNAVAILABLE, .text = "etcdserver: request timed out"},
	 ETCD_UNKNOWN,
	 ERR_UNKNOWN_OUTCOME,
	 "says: etcdserver: request timed out (code 14)"},
	{{.status = GRPC_UNKNOWN, .text = ""},
	 ETCD_UNKNOWN,
	 ERR_UNKNOWN_OUTCOME,
	 "says:  (code 2)"},
	{{.status = GRPC_OUT_OF_RANGE,
	  .text = "etcdserver: mvcc: required revision has been compacted"},
	 ETCD_REFUSED,
	 ERR_EXPIRED,
	 "says: etcdserver: mvcc: required revision has been compacted"},
	{{.status = -1, .text = "", .err = {ERR_UNREACHABLE, "Connection refused"}},
	 ETCD_NOT_REACHED,
	 ERR_UNAVAILABLE,
	 "does not answer: Connection refused"},
	{{.status = -1, .text = "", .err = {ERR_UNKNOWN_OUTCOME, "the connection was lost"}},
	 ETCD_UNKNOWN,
	 ERR_UNKNOWN_OUTCOME,
	 "does not answer: the connection was lost"},
	{{.status = -1, .text = "", .err = {ERR_TIMEOUT, "no answer within 6000 ms"}},
	 ETCD_UNKNOWN,
	 ERR_UNKNOWN_OUTCOME,
	 "does not answer: no answer within 6000 ms"},
	{{.status = -1, .text = "", .err = {ERR_TOO_LARGE, "more than 64 MiB"}},
	 ETCD_UNKNOWN,
	 ERR_TOO_LARGE,
	 "answers too much: more than 64 MiB"},
};

Test(codec, failures)
{
	static const struct grpc_answer done = {.status = GRPC_OK, .text = ""};
	struct error err;

	cr_assert_eq(etcd_judge(&done, &err), ETCD_DONE);
	for (size_t i = 0; i < ARRAY_LEN(judged); i++) {
		cr_assert_eq(etcd_judge(&judged[i].answer, &err), judged[i].verdict, "%zu", i);
		cr_assert_eq(err.code, judged[i].error, "%zu: %s", i, err.text);
		cr_assert_str_eq(err.text, judged[i].text);
	}
}
