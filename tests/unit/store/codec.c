/* Requests as etcd wants them, and answers as it was seen to give them. */
#include <criterion/criterion.h>
#include <inttypes.h>

#include "store/etcd_codec.h"

static void assert_written(struct strbuf *out, const char *expected)
{
	cr_assert_str_eq(strbuf_str(out), expected);
	strbuf_finish(out);
}

Test(codec, requests)
{
	struct strbuf out = {0};

	etcd_write_range(&out, "/federator/", NULL, 0, 0);
	assert_written(&out, "{\"key\":\"L2ZlZGVyYXRvci8=\",\"range_end\":\"L2ZlZGVyYXRvcjA=\"}");
	etcd_write_range(&out, "/a/", "/a/b", 500, 42);
	assert_written(&out, "{\"key\":\"L2EvYgA=\",\"range_end\":\"L2Ew\",\"limit\":\"500\","
			     "\"revision\":\"42\"}");
	etcd_write_range(&out, "/a/", "/", 1, 0);
	assert_written(&out, "{\"key\":\"L2Ev\",\"range_end\":\"L2Ew\",\"limit\":\"1\"}");
	etcd_write_range(&out, "a\xff\xff", NULL, 0, 0);
	assert_written(&out, "{\"key\":\"Yf//\",\"range_end\":\"Yg==\"}");
	etcd_write_compaction(&out, INT64_C(9007199254740993));
	assert_written(&out, "{\"revision\":\"9007199254740993\"}");
	etcd_write_lease_grant(&out, 10);
	assert_written(&out, "{\"TTL\":\"10\"}");
	etcd_write_lease_id(&out, INT64_C(7587862094234353410));
	assert_written(&out, "{\"ID\":\"7587862094234353410\"}");
	etcd_write_watch(&out, "/a/", 7);
	assert_written(&out,
		       "{\"create_request\":{\"key\":\"L2Ev\",\"range_end\":\"L2Ew\","
		       "\"start_revision\":\"7\",\"progress_notify\":true,\"fragment\":true}}");
	etcd_write_guard(&out, "L2E=", STORE_MOD, 0);
	assert_written(&out, "{\"key\":\"L2E=\",\"target\":\"MOD\",\"result\":\"EQUAL\","
			     "\"mod_revision\":\"0\"}");
	etcd_write_guard(&out, "L2E=", STORE_CREATE, 7);
	assert_written(&out, "{\"key\":\"L2E=\",\"target\":\"CREATE\",\"result\":\"EQUAL\","
			     "\"create_revision\":\"7\"}");
	etcd_write_put(&out, "L2E=", ENVELOPE_DEFLATED, 258, (struct sv){"MQ==", 4}, 0);
	assert_written(&out, "{\"request_put\":{\"key\":\"L2E=\",\"value\":\"AQECMQ==\"}}");
	etcd_write_put(&out, "L2E=", ENVELOPE_RAW, 0, (struct sv){"", 0}, 5);
	assert_written(&out,
		       "{\"request_put\":{\"key\":\"L2E=\",\"value\":\"AAAA\",\"lease\":\"5\"}}");
	etcd_write_count(&out, "L2E=");
	assert_written(&out, "{\"request_range\":{\"key\":\"L2E=\",\"count_only\":true}}");
	etcd_write_delete(&out, "L2E=");
	assert_written(&out, "{\"request_delete_range\":{\"key\":\"L2E=\"}}");
}

static struct sv sv_of(const char *text)
{
	return (struct sv){text, strlen(text)};
}

Test(codec, range_answers)
{
	static const char page[] =
		"{\"header\":{\"cluster_id\":\"324952591200643719\",\"member_id\":\"3319814642761637952\","
		"\"revision\":\"9007199254740993\",\"raft_term\":\"2\"},\"kvs\":[{\"key\":\"L2E=\","
		"\"create_revision\":\"2\",\"mod_revision\":\"3\",\"version\":\"2\",\"value\":\"AAACMQ==\"},"
		"{\"key\":\"L2I=\",\"create_revision\":\"3\",\"mod_revision\":\"3\",\"version\":\"1\","
		"\"lease\":\"7\"}],\"more\":true,\"count\":\"5\"}";
	struct etcd_range_answer a;
	struct envelope_packer *p = envelope_packer_create();
	struct store_item item;
	struct arena arena = {0};
	struct error err;
	int64_t index;

	cr_assert_eq(etcd_read_range(sv_of(page), &a, &err), 0, "%s", err.text);
	cr_assert(a.revision == INT64_C(9007199254740993) && a.more && a.items.n == 2);
	cr_assert_eq(etcd_item_open(p, &a.items.items[0], &arena, &item, &index, &err), 0);
	cr_assert_str_eq(item.key, "/a");
	cr_assert(item.size == 1 && !memcmp(item.value, "1", 1) && index == 2);
	cr_assert(item.revision == 3 && item.create_revision == 2);
	cr_assert_eq(etcd_item_open(p, &a.items.items[1], &arena, &item, &index, &err), -1,
		     "a value without an envelope");
	cr_assert(strstr(err.text, "/b"), "%s", err.text);
	free(a.items.items);
	cr_assert_eq(etcd_read_range(sv_of("{\"header\":{\"revision\":\"1\"}}"), &a, &err), 0);
	cr_assert(a.revision == 1 && !a.more && a.items.n == 0);
	for (size_t n = 0; n < strlen(page); n++)
		cr_assert_eq(etcd_read_range((struct sv){page, n}, &a, &err), -1, "cut at %zu", n);
	arena_finish(&arena);
	envelope_packer_destroy(p);
}

Test(codec, transaction_answers)
{
	static const char nested[] =
		"{\"header\":{\"revision\":\"12\"},\"succeeded\":true,\"responses\":["
		"{\"response_txn\":{\"header\":{\"revision\":\"12\"},\"succeeded\":true,\"responses\":["
		"{\"response_put\":{\"header\":{\"revision\":\"12\"}}},"
		"{\"response_delete_range\":{\"header\":{\"revision\":\"12\"},\"deleted\":\"1\"}},"
		"{\"response_delete_range\":{\"header\":{\"revision\":\"12\"}}}]}},"
		"{\"response_txn\":{\"header\":{\"revision\":\"12\"}}}]}";
	struct etcd_txn_answer a;
	struct error err;

	cr_assert_eq(etcd_read_txn(sv_of(nested), &a, &err), 0, "%s", err.text);
	cr_assert(a.revision == 12 && a.succeeded && a.n == 5);
	cr_assert(a.ops[0].nested && a.ops[0].succeeded);
	cr_assert(!a.ops[1].nested && !a.ops[1].deleted && a.ops[2].deleted && !a.ops[3].deleted);
	cr_assert(a.ops[4].nested && !a.ops[4].succeeded);
	free(a.ops);
	cr_assert_eq(etcd_read_txn(sv_of("{\"header\":{\"revision\":\"3\"}}"), &a, &err), 0);
	cr_assert(a.revision == 3 && !a.succeeded && a.n == 0);
	for (size_t n = 0; n < strlen(nested); n++)
		cr_assert_eq(etcd_read_txn((struct sv){nested, n}, &a, &err), -1, "cut at %zu", n);
}

Test(codec, lease_answers)
{
	struct error err;
	int64_t n;

	cr_assert_eq(etcd_read_lease(sv_of("{\"header\":{\"revision\":\"1\"},\"ID\":"
					   "\"2324035702778857221\",\"TTL\":\"60\"}"),
				     &n, &err),
		     0);
	cr_assert_eq(n, INT64_C(2324035702778857221));
	cr_assert_eq(etcd_read_lease(sv_of("{\"header\":{},\"TTL\":\"60\"}"), &n, &err), -1);
	cr_assert_eq(etcd_read_keepalive(sv_of("{\"result\":{\"header\":{\"revision\":\"1\"},"
					       "\"ID\":\"7\",\"TTL\":\"60\"}}\n"),
					 &n, &err),
		     0);
	cr_assert_eq(n, 60);
	cr_assert_eq(
		etcd_read_keepalive(sv_of("{\"result\":{\"header\":{},\"ID\":\"7\"}}\n"), &n, &err),
		0);
	cr_assert_eq(n, 0, "a lease that has ended has no TTL");
	cr_assert_eq(etcd_read_keepalive(sv_of("{\"error\":{\"message\":\"x\"}}"), &n, &err), -1);
}

Test(codec, watch_lines)
{
	static const char events[] =
		"{\"result\":{\"header\":{\"revision\":\"4\"},\"fragment\":true,\"events\":["
		"{\"kv\":{\"key\":\"L2E=\",\"create_revision\":\"2\",\"mod_revision\":\"3\",\"version\":\"2\","
		"\"value\":\"AAAAMg==\"}},{\"type\":\"DELETE\",\"kv\":{\"key\":\"L2E=\","
		"\"mod_revision\":\"4\"}}]}}";
	struct etcd_watch_line line;
	struct error err;

	cr_assert_eq(etcd_read_watch_line(sv_of(events), &line, &err), 0, "%s", err.text);
	cr_assert(line.revision == 4 && line.fragment && !line.created && !line.canceled);
	cr_assert_eq(line.items.n, 2);
	cr_assert(!line.items.items[0].deleted && line.items.items[0].revision == 3);
	cr_assert(line.items.items[1].deleted && line.items.items[1].revision == 4);
	free(line.items.items);
	for (size_t n = 0; n < strlen(events); n++)
		cr_assert_eq(etcd_read_watch_line((struct sv){events, n}, &line, &err), -1);
	cr_assert_eq(
		etcd_read_watch_line(
			sv_of("{\"result\":{\"header\":{\"revision\":\"4\"},\"created\":true}}"),
			&line, &err),
		0);
	cr_assert(line.created && line.items.n == 0);
	cr_assert_eq(etcd_read_watch_line(sv_of("{\"result\":{\"header\":{},\"canceled\":true,"
						"\"compact_revision\":\"8\"}}"),
					  &line, &err),
		     0);
	cr_assert(line.canceled && line.compact_revision == 8);
	cr_assert_eq(
		etcd_read_watch_line(
			sv_of("{\"error\":{\"code\":14,\"message\":\"etcdserver: no leader\"}}"),
			&line, &err),
		0);
	cr_assert(line.is_error && sv_eq(line.reason, "etcdserver: no leader"));
	cr_assert_eq(etcd_read_watch_line(sv_of("{\"result\":{}}"), &line, &err), -1);
}

Test(codec, keys_that_are_none)
{
	static const char *const keys[] = {"", "A", "L2E", "AAAA", "L2E*"};
	struct envelope_packer *p = envelope_packer_create();
	struct store_item item;
	struct arena arena = {0};
	int64_t index;

	for (size_t i = 0; i < ARRAY_LEN(keys); i++) {
		struct etcd_item from = {.key64 = sv_of(keys[i]), .deleted = true};

		cr_assert_eq(etcd_item_open(p, &from, &arena, &item, &index, NULL), -1, "%s",
			     keys[i]);
	}
	arena_finish(&arena);
	envelope_packer_destroy(p);
}
