/*
 * The failures of etcd as they were seen, played to the store's reads and writes: what a real
 * server will not do on demand.
 */
#include "tests/unit/store/played.h"

#define RANGE_LIMIT    3
#define RANGE_REVISION 4

static void say_message(struct grpc_stream *t, const struct reply *r)
{
	grpc_stream_answer(t, r->message.bytes, r->message.size);
}

static void say_http(struct grpc_stream *t, const struct reply *r)
{
	grpc_stream_http(t, r->text, "text/plain", "bad gateway");
}

static void say_too_much(struct grpc_stream *t, const struct reply *r)
{
	grpc_stream_begin(t);
	grpc_stream_send_raw(t, "\0\4\0\0\1", 5);
}

static void cut_inside_answer(struct grpc_stream *t, const struct reply *r)
{
	grpc_stream_begin(t);
	grpc_stream_send_raw(t, "\0\0\0\0\7half", 9);
	cut(t, r);
}

static void end_without_status(struct grpc_stream *t, const struct reply *r)
{
	grpc_stream_begin(t);
	grpc_stream_end(t, -1, "");
}

static struct commit commit_one(struct played *s)
{
	const struct store_write w = write_of(STORE_PREFIX "a", "1");
	struct commit c;

	commit_now(&s->bed, &c, &(struct store_txn){.writes = &w, .n_writes = 1});
	return c;
}

/* What came to the first request, what the caller is told, and how often it was sent. */
Test(calls, failures_of_a_write)
{
	static const struct {
		struct reply reply;
		enum store_outcome outcome;
		enum error_code code;
		int sent;
	} cases[] = {
		{{say_status, 14, "etcdserver: no leader"}, STORE_COMMITTED, 0, 2},
		{{refuse}, STORE_COMMITTED, 0, 2},
		{{go_before_it}, STORE_COMMITTED, 0, 2},
		{{cut}, STORE_UNKNOWN, ERR_UNKNOWN_OUTCOME, 1},
		{{cut_inside_answer}, STORE_UNKNOWN, ERR_UNKNOWN_OUTCOME, 1},
		{{break_off}, STORE_UNKNOWN, ERR_UNKNOWN_OUTCOME, 1},
		{{go_behind_it}, STORE_UNKNOWN, ERR_UNKNOWN_OUTCOME, 1},
		{{end_without_status}, STORE_UNKNOWN, ERR_UNKNOWN_OUTCOME, 1},
		{{say_http, .text = "502"}, STORE_UNKNOWN, ERR_UNKNOWN_OUTCOME, 1},
		{{say_status, 1, "context canceled"}, STORE_UNKNOWN, ERR_UNKNOWN_OUTCOME, 1},
		{{say_status, 2, "context deadline exceeded"},
		 STORE_UNKNOWN,
		 ERR_UNKNOWN_OUTCOME,
		 1},
		{{say_status, 4, "context deadline exceeded"},
		 STORE_UNKNOWN,
		 ERR_UNKNOWN_OUTCOME,
		 1},
		{{say_status, 14, "transport is closing"}, STORE_UNKNOWN, ERR_UNKNOWN_OUTCOME, 1},
		{{say_status, 14, "etcdserver: request timed out"},
		 STORE_UNKNOWN,
		 ERR_UNKNOWN_OUTCOME,
		 1},
		{{say_status, 3, "etcdserver: request is too large"},
		 STORE_FAILED,
		 ERR_TOO_LARGE,
		 1},
		{{say_status, 8, "grpc: received message larger than max (2 vs. 1)"},
		 STORE_FAILED,
		 ERR_TOO_LARGE,
		 1},
		{{say_status, 8, "etcdserver: mvcc: database space exceeded"},
		 STORE_UNKNOWN,
		 ERR_UNKNOWN_OUTCOME,
		 1},
		{{say_status, 8, "etcdserver: too many requests"}, STORE_FAILED, ERR_TOO_MANY, 1},
		{{say_status, 5, "etcdserver: requested lease not found"},
		 STORE_FAILED,
		 ERR_NOT_FOUND,
		 1},
		{{say_status, 16, "etcdserver: invalid auth token"},
		 STORE_FAILED,
		 ERR_UNAUTHORIZED,
		 1},
		{{say_status, 7, "etcdserver: permission denied"}, STORE_FAILED, ERR_FORBIDDEN, 1},
		{{say_status, 3, "etcdserver: user name is empty"}, STORE_FAILED, ERR_INTERNAL, 1},
		{{say_status, 12, "unknown service etcdserverpb.KV"},
		 STORE_FAILED,
		 ERR_INTERNAL,
		 1},
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct played s;
		struct commit c;

		played_init(&s);
		s.txn[0] = cases[i].reply;
		c = commit_one(&s);
		cr_assert_eq(c.outcome, cases[i].outcome, "%zu: %d %s", i, c.outcome, c.err.text);
		if (c.outcome != STORE_COMMITTED)
			cr_assert_eq(c.err.code, cases[i].code, "%zu: %s", i, c.err.text);
		cr_assert_eq(s.n_txns, cases[i].sent, "%zu: sent %d times", i, s.n_txns);
		played_finish(&s);
	}
}

/* It says that all went well, and what else it says is not what etcd says. */
Test(calls, an_answer_to_a_write_that_is_none)
{
	for (int i = 0; i < 2; i++) {
		struct played s;
		struct commit c;

		played_init(&s);
		s.txn[0].say = say_message;
		say_txn(&s.txn[0].message, 9, i);
		if (i)
			strbuf_shrink(&s.txn[0].message, s.txn[0].message.size - 1);
		c = commit_one(&s);
		cr_assert_eq(c.outcome, STORE_UNKNOWN, "%d: %d", i, c.outcome);
		cr_assert_eq(s.n_txns, 1);
		played_finish(&s);
	}
}

/* All of a lost batch are in doubt, and it is not sent again. */
Test(calls, a_lost_batch_is_unknown_to_all_in_it)
{
	struct played s;
	struct commit c[10];
	char key[64];

	played_init(&s);
	s.txn[0].say = cut;
	for (size_t i = 0; i < 10; i++) {
		struct store_write w;

		snprintf(key, sizeof(key), STORE_PREFIX "%zu", i);
		w = write_of(key, "x");
		commit_start(&s.bed, &c[i], &(struct store_txn){.writes = &w, .n_writes = 1});
	}
	for (size_t i = 0; i < 10; i++) {
		bed_wait_flag(&s.bed, &c[i].done);
		cr_assert_eq(c[i].outcome, STORE_UNKNOWN, "%s", c[i].err.text);
	}
	cr_assert_eq(s.n_txns, 1);
	cr_assert(strstr(s.last_head, "hasleader: true\n"));
	cr_assert(strstr(s.last_head, "grpc-timeout: 5000m\n"));
	played_finish(&s);
}

Test(calls, a_read_is_tried_again)
{
	struct played s;
	struct page p;

	played_init(&s);
	s.range[0].say = cut;
	s.range[1] = (struct reply){say_status, 14, "transport is closing"};
	range_now(&s.bed, &p, STORE_PREFIX, NULL, 0, 0);
	cr_assert(!p.failed && p.revision == 9, "%s", p.err.text);
	cr_assert_eq(s.n_ranges, 3);
	page_finish(&p);
	s.range[3].say = say_message;
	strbuf_adds(&s.range[3].message, "half a");
	range_now(&s.bed, &p, STORE_PREFIX, NULL, 0, 0);
	cr_assert(p.failed && p.err.code == ERR_INTERNAL, "%s", p.err.text);
	cr_assert_eq(s.n_ranges, 4);
	page_finish(&p);
	played_finish(&s);
}

/* Two keys, a page each, once the answer with both was too large. */
Test(calls, a_page_that_is_too_large_is_halved)
{
	static const struct said_key keys[] = {{A, 3, "1"}, {B, 4, "2", 1}};
	static const struct reply too_large[] = {
		{say_status, 3, "etcdserver: request is too large"},
		{say_status, 8, "grpc: received message larger than max (2 vs. 1)"},
		{say_too_much},
	};

	for (size_t i = 0; i < ARRAY_LEN(too_large); i++) {
		struct played s;
		struct page p;

		played_init(&s);
		s.range[0] = too_large[i];
		s.range[1].say = s.range[2].say = say_message;
		say_range(&s.range[1].message, 9, true, &keys[0], 1);
		say_range(&s.range[2].message, 12, false, &keys[1], 1);
		range_now(&s.bed, &p, STORE_PREFIX, NULL, 0, 0);
		cr_assert(!p.failed && !p.more && p.records.n == 2, "%zu: %s", i, p.err.text);
		cr_assert_eq(p.revision, 9, "all pages are of the first one's revision");
		cr_assert_eq(last_asked(&s, RANGE_REVISION), 9);
		cr_assert_eq(last_asked(&s, RANGE_LIMIT), 250);
		cr_assert_eq(s.n_ranges, 3);
		assert_record(&p.records.items[0], A, "1", version_of(3, 0));
		assert_record(&p.records.items[1], B, "2", version_of(4, 1));
		page_finish(&p);
		played_finish(&s);
	}
}

/* The first address does not answer: the second serves, and is asked first from then on. */
Test(calls, goes_on_to_an_endpoint_that_answers)
{
	struct played s;
	struct grpc_server *gone;
	auto_xfree char *endpoints = NULL;
	struct tape t;
	int64_t began_ms;

	played_init(&s);
	gone = played_serve(&s);
	endpoints = xasprintf("%s,%s", grpc_server_url(gone), grpc_server_url(s.server));
	grpc_server_destroy(gone);
	played_connect(&s, endpoints);
	began_ms = env_mono_ms(loop_env(s.bed.loop));
	tape_start(&t, s.bed.store, STORE_PREFIX, 0);
	for (int i = 0; i < 3; i++)
		cr_assert_eq(commit_one(&s).outcome, STORE_COMMITTED);
	await_watches(&s, 1);
	cr_assert_lt(env_mono_ms(loop_env(s.bed.loop)) - began_ms, 1000);
	cr_expect_null(store_trouble(s.bed.store), "it is served");
	tape_finish(&t);
	played_finish(&s);
}

/* Nobody answers: nothing was written, and that is said, to all of many batches in one time, in
 * words for people. */
Test(calls, without_any_endpoint_writes_fail_and_are_known_to)
{
	enum { N = 1000 };
	struct commit *c = xcalloc(N, sizeof(*c));
	auto_xfree char *told = NULL;
	struct played s;
	int64_t began_ms;
	char key[64];

	played_init(&s);
	told = xasprintf("the state store (etcd at %s) does not answer: Connection refused",
			 grpc_server_url(s.server));
	grpc_server_destroy(take_ptr(s.server));
	cr_expect_null(store_trouble(s.bed.store), "it was not asked");
	began_ms = env_mono_ms(loop_env(s.bed.loop));
	for (int i = 0; i < N; i++) {
		struct store_write w;

		snprintf(key, sizeof(key), STORE_PREFIX "%d", i);
		w = write_of(key, "x");
		commit_start(&s.bed, &c[i], &(struct store_txn){.writes = &w, .n_writes = 1});
	}
	commits_wait(&s.bed, c, N);
	for (int i = 0; i < N; i++)
		cr_assert(c[i].outcome == STORE_FAILED && c[i].err.code == ERR_UNAVAILABLE &&
				  !strcmp(c[i].err.text, told),
			  "%s", c[i].err.text);
	cr_assert_not_null(store_trouble(s.bed.store));
	cr_expect_str_eq(store_trouble(s.bed.store)->text, told);
	cr_assert_lt(env_mono_ms(loop_env(s.bed.loop)) - began_ms, 8000);
	free(c);
	played_finish(&s);
}
