/*
 * Conversations with etcd about a watch, played to the store: what a real server will not do on
 * demand.
 */
#include "tests/unit/store/played.h"

#define START_REVISION  3
#define PROGRESS_NOTIFY 4
#define IN_FRAGMENTS    8

/* A watch that has begun, and the tape of what it gives. */
static void watched_init(struct played *s, struct tape *t, int64_t after_version)
{
	played_init(s);
	tape_start(t, s->bed.store, STORE_PREFIX, after_version);
	await_watches(s, 1);
}

static void watched_finish(struct played *s, struct tape *t)
{
	tape_finish(t);
	played_finish(s);
}

static void add_messages(struct strbuf *frames, const struct said *messages, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		auto_strbuf message = {0};

		say_watch(&message, &messages[i]);
		grpc_frame(frames, message.bytes, message.size);
	}
}

static void say_all(struct played *s, int watch, const struct said *messages, size_t n)
{
	auto_strbuf frames = {0};

	add_messages(&frames, messages, n);
	grpc_stream_send_raw(s->watch[watch - 1], frames.bytes, frames.size);
}

/* Messages that come together. */
#define SAY(s, watch, ...)                                                                         \
	say_all((s), (watch), (const struct said[]){__VA_ARGS__},                                  \
		ARRAY_LEN(((const struct said[]){__VA_ARGS__})))

static const struct said conversation[] = {
	{3, .created = true},
	{3, .events = {{A, 2, "1"}, {A, 3, "1"}, {B, 3, "2", 1}, {A, 3}}},
	{4},
	{5, .fragment = true, .events = {{B, 5}}},
	{5, .fragment = true, .events = {{A, 5, "2", 1}}},
	{5, .events = {{A, 5}}},
};

static void check_conversation(struct played *s, struct tape *t)
{
	static const struct {
		const char *key, *value;
		int64_t revision, index;
	} expected[] = {
		{A, "1", 2, 0},  {A, "1", 3, 0}, {B, "2", 3, 1},  {A, NULL, 3, 2},
		{B, NULL, 5, 0}, {A, "2", 5, 1}, {A, NULL, 5, 2},
	};

	tape_wait_version(&s->bed, t, version_of(5, 1023));
	cr_assert_eq(t->records.n, ARRAY_LEN(expected));
	for (size_t i = 0; i < ARRAY_LEN(expected); i++)
		assert_record(&t->records.items[i], expected[i].key, expected[i].value,
			      version_of(expected[i].revision, expected[i].index));
	cr_assert_eq(s->n_watches, 1);
}

/* In pieces of that size. */
static void try_conversation(size_t size)
{
	struct played s;
	struct tape t;
	auto_strbuf frames = {0};

	watched_init(&s, &t, 0);
	add_messages(&frames, conversation, ARRAY_LEN(conversation));
	for (size_t at = 0; at < frames.size; at += size) {
		size_t left = frames.size - at;

		grpc_stream_send_raw(s.watch[0], frames.bytes + at, left < size ? left : size);
		/* until the client has read it: its socket is on the same loop */
		for (int turn = 0; turn < 3; turn++)
			uv_run(loop_uv(s.bed.loop), UV_RUN_NOWAIT);
	}
	check_conversation(&s, &t);
	watched_finish(&s, &t);
}

Test(conversation, messages_whole)
{
	try_conversation(4096);
}

Test(conversation, messages_split_at_every_byte)
{
	try_conversation(1);
}

/* Cut between two events of revision 3: asked again from one revision before it, which etcd
 * refuses should revision 3 no longer be whole. */
Test(conversation, resumes_inside_a_revision)
{
	struct played s;
	struct tape t;

	watched_init(&s, &t, 0);
	cr_assert_eq(asked(&s, 1, START_REVISION), 1);
	cr_assert_eq(asked(&s, 1, PROGRESS_NOTIFY), 1);
	cr_assert_eq(asked(&s, 1, IN_FRAGMENTS), 1);
	cr_assert(strstr(s.last_head, "hasleader: true\n"));
	cr_assert(!strstr(s.last_head, "grpc-timeout"));
	SAY(&s, 1, {3, .created = true}, {3, .fragment = true, .events = {{A, 3}, {B, 3, "2", 1}}});
	tape_wait(&s.bed, &t, 2);
	cut(s.watch[0], NULL);
	await_watches(&s, 2);
	cr_assert_eq(asked(&s, 2, START_REVISION), 2);
	SAY(&s, 2, {3, .created = true}, {3, .events = {{A, 2, "1"}}});
	SAY(&s, 2, {3, .events = {{A, 3}, {B, 3, "2", 1}, {A, 3}}});
	tape_wait_version(&s.bed, &t, version_of(3, 1023));
	cr_assert_eq(t.records.n, 3);
	assert_record(&t.records.items[2], A, NULL, version_of(3, 2));
	cut(s.watch[1], NULL);
	await_watches(&s, 3);
	cr_assert_eq(asked(&s, 3, START_REVISION), 3, "behind 3, whole");
	watched_finish(&s, &t);
}

static void end_well(struct grpc_stream *t, const struct reply *r)
{
	grpc_stream_end(t, 0, "");
}

static void end_bare(struct grpc_stream *t, const struct reply *r)
{
	grpc_stream_end(t, -1, "");
}

static void end_with_status(struct grpc_stream *t, const struct reply *r)
{
	grpc_stream_end(t, r->status, r->text);
}

static void cancel_watch(struct grpc_stream *t, const struct reply *r)
{
	const struct said canceled = {.revision = 3, .canceled = true, .reason = r->text};
	auto_strbuf message = {0};

	say_watch(&message, &canceled);
	grpc_stream_send(t, message.bytes, message.size);
}

static void say_nonsense(struct grpc_stream *t, const struct reply *r)
{
	grpc_stream_send(t, "no message", 10);
}

/* The ends of a stream that are no ends of the watch. */
Test(conversation, connects_again_after_any_end)
{
	static const struct reply ends[] = {
		{end_well},
		{end_bare},
		{cut},
		{refuse},
		{break_off},
		{go_before_it},
		{go_behind_it},
		{end_with_status, 14, "transport is closing"},
		{end_with_status, 14, "etcdserver: no leader"},
		{end_with_status, 2, "etcdserver: server stopped"},
		{cancel_watch, .text = "etcdserver: no leader"},
		{say_nonsense},
	};
	for (size_t i = 0; i < ARRAY_LEN(ends); i++) {
		struct played s;
		struct tape t;

		watched_init(&s, &t, version_of(2, 1023));
		SAY(&s, 1, {2, .created = true});
		ends[i].say(s.watch[0], &ends[i]);
		await_watches(&s, 2);
		cr_assert_eq(asked(&s, 2, START_REVISION), 2);
		SAY(&s, 2, {2, .created = true}, {3, .events = {{A, 3, "1"}}});
		tape_wait(&s.bed, &t, 1);
		watched_finish(&s, &t);
	}
}

static bool has_gone(void *arg)
{
	return ((struct played *)arg)->n_gone > 0;
}

/* The ends that are: said once, and the stream is ended by us. */
Test(conversation, ends_when_it_cannot_go_on)
{
	static const struct {
		struct said said[2];
		size_t n;
		enum error_code code;
	} cases[] = {
		{{{.canceled = true, .compact_revision = 8}}, 1, ERR_EXPIRED},
		{{{.revision = 9,
		   .canceled = true,
		   .reason = "etcdserver: mvcc: required revision has been compacted"}},
		 1,
		 ERR_EXPIRED},
		{{{.revision = 9,
		   .created = true,
		   .canceled = true,
		   .reason = "rpc error: code = PermissionDenied desc = etcdserver: permission "
			     "denied"}},
		 1,
		 ERR_FORBIDDEN},
		{{{7}, {6}}, 2, ERR_EXPIRED},
		{{{9, .events = {{A, 9, "", .format = '{'}}}}, 1, ERR_INTERNAL},
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct played s;
		struct tape t;

		watched_init(&s, &t, version_of(5, 1023));
		say_all(&s, 1, cases[i].said, cases[i].n);
		tape_wait_end(&s.bed, &t);
		cr_assert_eq(t.err.code, cases[i].code, "%zu: %s", i, t.err.text);
		bed_wait(&s.bed, has_gone, &s);
		bed_sleep(&s.bed, 50);
		cr_assert_eq(s.n_watches, 1);
		watched_finish(&s, &t);
	}
}

Test(conversation, ends_when_it_is_refused)
{
	static const struct {
		int status;
		const char *text;
		enum error_code code;
	} cases[] = {
		{7, "etcdserver: permission denied", ERR_FORBIDDEN},
		{16, "etcdserver: invalid auth token", ERR_UNAUTHORIZED},
		{12, "unknown service etcdserverpb.Watch", ERR_INTERNAL},
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct played s;
		struct tape t;

		watched_init(&s, &t, version_of(5, 1023));
		grpc_stream_end(s.watch[0], cases[i].status, cases[i].text);
		tape_wait_end(&s.bed, &t);
		cr_assert_eq(t.err.code, cases[i].code, "%zu: %s", i, t.err.text);
		bed_sleep(&s.bed, 50);
		cr_assert_eq(s.n_watches, 1);
		watched_finish(&s, &t);
	}
}

Test(conversation, old_events_and_doubles_are_dropped)
{
	struct played s;
	struct tape t;

	watched_init(&s, &t, version_of(3, 0));
	SAY(&s, 1, {4, .created = true}, {4, .events = {{A, 2, "1"}, {A, 3}, {B, 3}, {A, 4, "1"}}});
	SAY(&s, 1, {4, .events = {{A, 4, "1"}}}, {4, .events = {{B, 3, "2", 1}}});
	SAY(&s, 1, {5, .events = {{A, 5}}});
	tape_wait_version(&s.bed, &t, version_of(5, 1023));
	cr_assert_eq(t.records.n, 3);
	assert_record(&t.records.items[0], B, NULL, version_of(3, 1));
	assert_record(&t.records.items[1], A, "1", version_of(4, 0));
	assert_record(&t.records.items[2], A, NULL, version_of(5, 0));
	watched_finish(&s, &t);
}

Test(conversation, a_store_that_went_back_ends_its_watches)
{
	struct played s;
	struct page p;
	struct tape t, u;

	played_init(&s);
	tape_start(&t, s.bed.store, STORE_PREFIX, version_of(5, 1023));
	tape_start(&u, s.bed.store, STORE_PREFIX, version_of(5, 1023));
	await_watches(&s, 2);
	range_now(&s.bed, &p, STORE_PREFIX, NULL, 0, 0);
	page_finish(&p);
	cr_assert(!t.ended);
	s.revision = 8;
	range_now(&s.bed, &p, STORE_PREFIX, NULL, 0, 0);
	cr_assert_eq(p.revision, 8);
	page_finish(&p);
	tape_wait_end(&s.bed, &t);
	tape_wait_end(&s.bed, &u);
	cr_assert_eq(t.err.code, ERR_EXPIRED);
	tape_finish(&t);
	tape_finish(&u);
	played_finish(&s);
}

/* A restored etcd answers a new watch with a lower revision than it had: the store asks it. */
Test(conversation, a_store_that_went_back_is_noticed_when_connecting)
{
	struct played s;
	struct tape t;

	watched_init(&s, &t, version_of(5, 1023));
	SAY(&s, 1, {7, .created = true}, {7});
	tape_wait_version(&s.bed, &t, version_of(7, 1023));
	s.revision = 4;
	cut(s.watch[0], NULL);
	await_watches(&s, 2);
	SAY(&s, 2, {4, .created = true});
	tape_wait_end(&s.bed, &t);
	cr_assert_eq(t.err.code, ERR_EXPIRED);
	watched_finish(&s, &t);
}

/* Silence that hides something is ended; silence that hides nothing is not. */
Test(conversation, a_stuck_stream_is_replaced)
{
	struct played s;
	struct tape t;

	played_init(&s);
	s.revision = 5;
	tape_start(&t, s.bed.store, STORE_PREFIX, version_of(5, 1023));
	await_watches(&s, 1);
	SAY(&s, 1, {5, .created = true});
	bed_sleep(&s.bed, 14000);
	cr_assert_eq(s.n_watches, 1);
	cr_assert_eq(s.n_ranges, 1);
	s.revision = 6;
	await_watches(&s, 2);
	cr_expect_neq(s.watch_connection[1], s.watch_connection[0], "it may be stuck as a whole");
	watched_finish(&s, &t);
}
