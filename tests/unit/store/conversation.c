/*
 * Recorded conversations with etcd, and its failures as they were seen, played to the store: what a
 * real server will not do on demand.
 */
#include "tests/unit/store/bed.h"
#include "tests/unit/store/gateway.h"

#define HEADER(revision)                                                                              \
	"\"header\":{\"cluster_id\":\"14841639068965178418\",\"member_id\":\"10276657743932975437\"," \
	"\"revision\":\"" revision "\",\"raft_term\":\"2\"}"
#define CREATED(revision)        "{\"result\":{" HEADER(revision) ",\"created\":true}}\n"
#define PROGRESS(revision)       "{\"result\":{" HEADER(revision) "}}\n"
#define EVENTS(revision, events) "{\"result\":{" HEADER(revision) ",\"events\":[" events "]}}\n"
#define FRAGMENT(revision, events)                                                                 \
	"{\"result\":{" HEADER(revision) ",\"fragment\":true,\"events\":[" events "]}}\n"
/* "/federator/a" and "/federator/b"; AAAAMQ== is index 0 and "1", AAABMg== index 1 and "2". */
#define A "L2ZlZGVyYXRvci9h"
#define B "L2ZlZGVyYXRvci9i"
#define PUT(key, revision, value)                                                                  \
	"{\"kv\":{\"key\":\"" key "\",\"create_revision\":\"2\",\"mod_revision\":\"" revision      \
	"\",\"version\":\"1\",\"value\":\"" value "\"}}"
#define DELETE(key, revision)                                                                      \
	"{\"type\":\"DELETE\",\"kv\":{\"key\":\"" key "\",\"mod_revision\":\"" revision "\"}}"

#define STAGE_CALLS 16

/* What is said to the n-th request of a path, and what was asked. */
struct stage {
	struct bed bed;
	struct gateway *gateway;
	const char *range, *txn;                                /* answers, status 200 */
	int txn_status[STAGE_CALLS], range_status[STAGE_CALLS]; /* -1: cut; 0: as above */
	const char *txn_body[STAGE_CALLS], *range_body[STAGE_CALLS];
	int n_txns, n_ranges, n_watches;
	struct gateway_call *watch[STAGE_CALLS];
	char *asked[STAGE_CALLS];
	char *last_head, *last_body;
};

static void answer(struct gateway_call *call, int status, const char *body, const char *usual)
{
	if (status < 0)
		gateway_cut(call);
	else
		gateway_answer(call, status ? status : 200, status ? body : usual);
}

static void on_request(struct gateway_call *call, const struct gateway_request *request, void *arg)
{
	struct stage *s = arg;

	free(s->last_head);
	free(s->last_body);
	s->last_head = xstrdup(request->head);
	s->last_body = xstrdup(request->body);
	if (!strncmp(request->path, "/v3/watch ", 10)) {
		cr_assert_lt(s->n_watches, STAGE_CALLS);
		s->asked[s->n_watches] = xstrdup(request->body);
		s->watch[s->n_watches++] = call;
		gateway_stream(call);
	} else if (!strncmp(request->path, "/v3/kv/txn ", 11)) {
		answer(call, s->txn_status[s->n_txns], s->txn_body[s->n_txns], s->txn);
		s->n_txns++;
	} else if (!strncmp(request->path, "/v3/kv/range ", 13)) {
		answer(call, s->range_status[s->n_ranges], s->range_body[s->n_ranges], s->range);
		s->n_ranges++;
	} else {
		cr_assert_fail("%s", request->path);
	}
}

static void stage_init(struct stage *s)
{
	*s = (struct stage){.bed = {.loop = loop_create()}};
	s->range = "{" HEADER("9") "}";
	s->txn = "{" HEADER("9") ",\"succeeded\":true,\"responses\":[{\"response_put\":{}}]}";
	s->gateway = gateway_create(s->bed.loop, on_request, s);
	s->bed.store = store_etcd_create(
		s->bed.loop, &(struct store_etcd_config){.endpoints = gateway_url(s->gateway)});
}

static void stage_finish(struct stage *s)
{
	store_destroy(s->bed.store);
	gateway_destroy(s->gateway);
	loop_destroy(s->bed.loop);
	for (int i = 0; i < s->n_watches; i++)
		free(s->asked[i]);
	free(s->last_head);
	free(s->last_body);
}

struct watch_goal {
	struct stage *stage;
	int n;
};

static bool has_watches(void *arg)
{
	struct watch_goal *g = arg;

	return g->stage->n_watches >= g->n;
}

static void await_watches(struct stage *s, int n)
{
	struct watch_goal g = {s, n};

	bed_wait(&s->bed, has_watches, &g);
}

static void say(struct stage *s, int watch, const char *lines)
{
	gateway_send(s->watch[watch - 1], lines, strlen(lines));
}

static void assert_record(const struct record *r, const char *key, const char *value,
			  int64_t version)
{
	cr_assert_str_eq(r->key, key);
	cr_assert_eq(r->deleted, !value);
	cr_assert(r->deleted || !strcmp(r->value, value), "%s", r->value);
	cr_assert_eq(r->version, version, "%s: %lld", key, (long long)r->version);
}

static const char conversation[] =
	CREATED("3") EVENTS("3", PUT(A, "2", "AAAAMQ==") "," PUT(A, "3", "AAAAMQ==") "," PUT(
					 B, "3", "AAABMg==") "," DELETE(A, "3")) PROGRESS("4")
		FRAGMENT("5", DELETE(B, "5")) FRAGMENT("5", PUT(A, "5", "AAABMg=="))
			EVENTS("5", DELETE(A, "5"));

static void check_conversation(struct stage *s, struct tape *t)
{
	static const struct {
		const char *key, *value;
		int64_t revision, index;
	} expected[] = {
		{STORE_PREFIX "a", "1", 2, 0},  {STORE_PREFIX "a", "1", 3, 0},
		{STORE_PREFIX "b", "2", 3, 1},  {STORE_PREFIX "a", NULL, 3, 2},
		{STORE_PREFIX "b", NULL, 5, 0}, {STORE_PREFIX "a", "2", 5, 1},
		{STORE_PREFIX "a", NULL, 5, 2},
	};

	tape_wait_version(&s->bed, t, version_of(5, 1023));
	cr_assert_eq(t->records.n, ARRAY_LEN(expected));
	for (size_t i = 0; i < ARRAY_LEN(expected); i++)
		assert_record(&t->records.items[i], expected[i].key, expected[i].value,
			      version_of(expected[i].revision, expected[i].index));
	cr_assert_eq(s->n_watches, 1);
}

Test(conversation, lines_whole)
{
	struct stage s;
	struct tape t;

	stage_init(&s);
	tape_start(&t, s.bed.store, STORE_PREFIX, 0);
	await_watches(&s, 1);
	say(&s, 1, conversation);
	check_conversation(&s, &t);
	tape_finish(&t);
	stage_finish(&s);
}

Test(conversation, lines_split_at_every_byte)
{
	struct stage s;
	struct tape t;

	stage_init(&s);
	tape_start(&t, s.bed.store, STORE_PREFIX, 0);
	await_watches(&s, 1);
	for (size_t i = 0; conversation[i]; i++) {
		gateway_send(s.watch[0], conversation + i, 1);
		/* until the client has read it: its socket is on the same loop */
		for (int turn = 0; turn < 3; turn++)
			uv_run(loop_uv(s.bed.loop), UV_RUN_NOWAIT);
	}
	check_conversation(&s, &t);
	tape_finish(&t);
	stage_finish(&s);
}

/* Cut between two events of revision 3: asked again from one revision before it, which etcd
 * refuses should revision 3 no longer be whole. */
Test(conversation, resumes_inside_a_revision)
{
	struct stage s;
	struct tape t;

	stage_init(&s);
	tape_start(&t, s.bed.store, STORE_PREFIX, 0);
	await_watches(&s, 1);
	cr_assert(strstr(s.asked[0], "\"start_revision\":\"1\""), "%s", s.asked[0]);
	cr_assert(strstr(s.asked[0], "\"fragment\":true"));
	cr_assert(strstr(s.asked[0], "\"progress_notify\":true"));
	cr_assert(strstr(s.last_head, "Grpc-Metadata-hasleader: true"));
	cr_assert(!strstr(s.last_head, "Grpc-Timeout"));
	say(&s, 1, CREATED("3") FRAGMENT("3", DELETE(A, "3") "," PUT(B, "3", "AAABMg==")));
	tape_wait(&s.bed, &t, 2);
	gateway_cut(s.watch[0]);
	await_watches(&s, 2);
	cr_assert(strstr(s.asked[1], "\"start_revision\":\"2\""), "%s", s.asked[1]);
	say(&s, 2, CREATED("3") EVENTS("3", PUT(A, "2", "AAAAMQ==")));
	say(&s, 2, EVENTS("3", DELETE(A, "3") "," PUT(B, "3", "AAABMg==") "," DELETE(A, "3")));
	tape_wait_version(&s.bed, &t, version_of(3, 1023));
	cr_assert_eq(t.records.n, 3);
	assert_record(&t.records.items[2], STORE_PREFIX "a", NULL, version_of(3, 2));
	gateway_cut(s.watch[1]);
	await_watches(&s, 3);
	cr_assert(strstr(s.asked[2], "\"start_revision\":\"3\""), "behind 3, whole: %s",
		  s.asked[2]);
	tape_finish(&t);
	stage_finish(&s);
}

/* The ends of a stream that are no ends of the watch. */
Test(conversation, connects_again_after_any_end)
{
	static const char *const ends[] = {
		"",
		"{\"error\":{\"grpc_code\":14,\"http_code\":503,\"message\":\"transport is closing\","
		"\"http_status\":\"Service Unavailable\"}}\n",
		"{\"error\":{\"code\":14,\"message\":\"etcdserver: no leader\",\"details\":[]}}\n",
		"{\"result\":{" HEADER(
			"3") ",\"canceled\":true,\"cancel_reason\":\"etcdserver: no leader\"}}\n",
		"not json\n",
	};
	struct stage s;
	struct tape t;

	stage_init(&s);
	tape_start(&t, s.bed.store, STORE_PREFIX, version_of(2, 1023));
	for (int i = 0; i < (int)ARRAY_LEN(ends); i++) {
		await_watches(&s, i + 1);
		cr_assert(strstr(s.asked[i], "\"start_revision\":\"2\""), "%s", s.asked[i]);
		say(&s, i + 1, CREATED("2"));
		if (*ends[i])
			say(&s, i + 1, ends[i]);
		else
			gateway_end(s.watch[i]);
	}
	await_watches(&s, (int)ARRAY_LEN(ends) + 1);
	cr_assert(!t.ended && !t.records.n);
	tape_finish(&t);
	stage_finish(&s);
}

/* The ends that are: said once, and the connection is closed by us. */
Test(conversation, ends_when_it_cannot_go_on)
{
	static const struct {
		const char *line;
		enum error_code code;
	} cases[] = {
		{"{\"result\":{\"header\":{\"cluster_id\":\"1\",\"raft_term\":\"2\"},\"canceled\":true,"
		 "\"compact_revision\":\"8\"}}\n",
		 ERR_EXPIRED},
		{"{\"result\":{" HEADER(
			 "9") ",\"canceled\":true,\"cancel_reason\":"
			      "\"etcdserver: mvcc: required revision has been compacted\"}}\n",
		 ERR_EXPIRED},
		{"{\"result\":{" HEADER(
			 "9") ",\"watch_id\":\"-1\",\"created\":true,\"canceled\":true,"
			      "\"cancel_reason\":\"rpc error: code = PermissionDenied desc = etcdserver: permission "
			      "denied\"}}\n",
		 ERR_FORBIDDEN},
		{PROGRESS("7") PROGRESS("6"), ERR_EXPIRED},
		{EVENTS("9", PUT(A, "9", "eyJ9")), ERR_INTERNAL},
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct stage s;
		struct tape t;

		stage_init(&s);
		tape_start(&t, s.bed.store, STORE_PREFIX, version_of(5, 1023));
		await_watches(&s, 1);
		say(&s, 1, cases[i].line);
		tape_wait_end(&s.bed, &t);
		cr_assert_eq(t.err.code, cases[i].code, "%zu: %s", i, t.err.text);
		bed_sleep(&s.bed, 50);
		cr_assert_eq(s.n_watches, 1);
		tape_finish(&t);
		stage_finish(&s);
	}
}

Test(conversation, old_events_and_doubles_are_dropped)
{
	struct stage s;
	struct tape t;

	stage_init(&s);
	tape_start(&t, s.bed.store, STORE_PREFIX, version_of(3, 0));
	await_watches(&s, 1);
	say(&s, 1,
	    CREATED("4") EVENTS("4", PUT(A, "2", "AAAAMQ==") "," DELETE(A, "3") "," DELETE(
					     B, "3") "," PUT(A, "4", "AAAAMQ==")));
	say(&s, 1, EVENTS("4", PUT(A, "4", "AAAAMQ==")) EVENTS("4", PUT(B, "3", "AAABMg==")));
	say(&s, 1, EVENTS("5", DELETE(A, "5")));
	tape_wait_version(&s.bed, &t, version_of(5, 1023));
	cr_assert_eq(t.records.n, 3);
	assert_record(&t.records.items[0], STORE_PREFIX "b", NULL, version_of(3, 1));
	assert_record(&t.records.items[1], STORE_PREFIX "a", "1", version_of(4, 0));
	assert_record(&t.records.items[2], STORE_PREFIX "a", NULL, version_of(5, 0));
	tape_finish(&t);
	stage_finish(&s);
}

Test(conversation, a_store_that_went_back_ends_its_watches)
{
	struct stage s;
	struct page p;
	struct tape t, u;

	stage_init(&s);
	tape_start(&t, s.bed.store, STORE_PREFIX, version_of(5, 1023));
	tape_start(&u, s.bed.store, STORE_PREFIX, version_of(5, 1023));
	await_watches(&s, 2);
	range_now(&s.bed, &p, STORE_PREFIX, NULL, 0, 0);
	page_finish(&p);
	cr_assert(!t.ended);
	s.range = "{" HEADER("8") "}";
	range_now(&s.bed, &p, STORE_PREFIX, NULL, 0, 0);
	cr_assert_eq(p.revision, 8);
	page_finish(&p);
	tape_wait_end(&s.bed, &t);
	tape_wait_end(&s.bed, &u);
	cr_assert_eq(t.err.code, ERR_EXPIRED);
	tape_finish(&t);
	tape_finish(&u);
	stage_finish(&s);
}

/* A restored etcd answers a new watch with a lower revision than it had: the store asks it. */
Test(conversation, a_store_that_went_back_is_noticed_when_connecting)
{
	struct stage s;
	struct tape t;

	stage_init(&s);
	tape_start(&t, s.bed.store, STORE_PREFIX, version_of(5, 1023));
	await_watches(&s, 1);
	say(&s, 1, CREATED("7") PROGRESS("7"));
	tape_wait_version(&s.bed, &t, version_of(7, 1023));
	s.range = "{" HEADER("4") "}";
	gateway_cut(s.watch[0]);
	await_watches(&s, 2);
	say(&s, 2, CREATED("4"));
	tape_wait_end(&s.bed, &t);
	cr_assert_eq(t.err.code, ERR_EXPIRED);
	tape_finish(&t);
	stage_finish(&s);
}

/* Silence that hides something is ended; silence that hides nothing is not. */
Test(conversation, a_stuck_stream_is_replaced)
{
	struct stage s;
	struct tape t;

	stage_init(&s);
	s.range = "{" HEADER("5") "}";
	tape_start(&t, s.bed.store, STORE_PREFIX, version_of(5, 1023));
	await_watches(&s, 1);
	say(&s, 1, CREATED("5"));
	bed_sleep(&s.bed, 14000);
	cr_assert_eq(s.n_watches, 1);
	cr_assert_eq(s.n_ranges, 1);
	s.range = "{" HEADER("6") "}";
	await_watches(&s, 2);
	tape_finish(&t);
	stage_finish(&s);
}

static struct commit commit_one(struct stage *s)
{
	const struct store_write w = write_of(STORE_PREFIX "a", "1");
	struct commit c;

	commit_now(&s->bed, &c, &(struct store_txn){.writes = &w, .n_writes = 1});
	return c;
}

/* What came to the first request, what the caller is told, and how often it was sent. */
Test(conversation, failures_of_a_write)
{
	static const struct {
		int status; /* -1: cut */
		const char *body;
		enum store_outcome outcome;
		enum error_code code;
		int sent;
	} cases[] = {
		{503,
		 "{\"error\":\"etcdserver: no leader\",\"message\":\"etcdserver: no leader\",\"code\":14}",
		 STORE_COMMITTED, 0, 2},
		{503, "{\"code\":14,\"message\":\"etcdserver: no leader\",\"details\":[]}",
		 STORE_COMMITTED, 0, 2},
		{500,
		 "{\"error\":\"context deadline exceeded\",\"message\":\"context deadline exceeded\",\"code\":2}",
		 STORE_UNKNOWN, ERR_UNKNOWN_OUTCOME, 1},
		{503,
		 "{\"error\":\"transport is closing\",\"message\":\"transport is closing\",\"code\":14}",
		 STORE_UNKNOWN, ERR_UNKNOWN_OUTCOME, 1},
		{503, "{\"code\":14,\"message\":\"etcdserver: request timed out\",\"details\":[]}",
		 STORE_UNKNOWN, ERR_UNKNOWN_OUTCOME, 1},
		{504,
		 "{\"error\":\"context deadline exceeded\",\"message\":\"context deadline exceeded\",\"code\":4}",
		 STORE_UNKNOWN, ERR_UNKNOWN_OUTCOME, 1},
		{-1, NULL, STORE_UNKNOWN, ERR_UNKNOWN_OUTCOME, 1},
		{502, "bad gateway", STORE_UNKNOWN, ERR_UNKNOWN_OUTCOME, 1},
		{200, "{\"header\":{\"revision\":\"9\"}", STORE_UNKNOWN, ERR_UNKNOWN_OUTCOME, 1},
		{200, "{" HEADER("9") ",\"succeeded\":true}", STORE_UNKNOWN, ERR_UNKNOWN_OUTCOME,
		 1},
		{400,
		 "{\"error\":\"etcdserver: request is too large\",\"message\":\"etcdserver: request is too "
		 "large\",\"code\":3}",
		 STORE_FAILED, ERR_TOO_LARGE, 1},
		{429, "{\"error\":\"grpc: received message larger than max (2 vs. 1)\",\"code\":8}",
		 STORE_FAILED, ERR_TOO_LARGE, 1},
		{429,
		 "{\"error\":\"etcdserver: mvcc: database space exceeded\",\"message\":\"etcdserver: mvcc: "
		 "database space exceeded\",\"code\":8}",
		 STORE_UNKNOWN, ERR_UNKNOWN_OUTCOME, 1},
		{429, "{\"code\":8,\"message\":\"etcdserver: too many requests\"}", STORE_FAILED,
		 ERR_TOO_MANY, 1},
		{404, "{\"error\":\"etcdserver: requested lease not found\",\"code\":5}",
		 STORE_FAILED, ERR_NOT_FOUND, 1},
		{401, "{\"error\":\"etcdserver: invalid auth token\",\"code\":16}", STORE_FAILED,
		 ERR_UNAUTHORIZED, 1},
		{403, "{\"error\":\"etcdserver: permission denied\",\"code\":7}", STORE_FAILED,
		 ERR_FORBIDDEN, 1},
		{400, "CommonName of client sending a request against gateway will be ignored",
		 STORE_FAILED, ERR_INTERNAL, 1},
		{404, "404 page not found\n", STORE_FAILED, ERR_INTERNAL, 1},
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct stage s;
		struct commit c;

		stage_init(&s);
		s.txn_status[0] = cases[i].status;
		s.txn_body[0] = cases[i].body;
		c = commit_one(&s);
		cr_assert_eq(c.outcome, cases[i].outcome, "%zu: %d %s", i, c.outcome, c.err.text);
		if (c.outcome != STORE_COMMITTED)
			cr_assert_eq(c.err.code, cases[i].code, "%zu: %s", i, c.err.text);
		cr_assert_eq(s.n_txns, cases[i].sent, "%zu: sent %d times", i, s.n_txns);
		stage_finish(&s);
	}
}

/* All of a lost batch are in doubt, and it is not sent again. */
Test(conversation, a_lost_batch_is_unknown_to_all_in_it)
{
	struct stage s;
	struct commit c[10];
	char key[64];

	stage_init(&s);
	s.txn_status[0] = -1;
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
	cr_assert(strstr(s.last_head, "Grpc-Metadata-hasleader: true"));
	cr_assert(strstr(s.last_head, "Grpc-Timeout: 5000m"));
	stage_finish(&s);
}

Test(conversation, a_read_is_tried_again)
{
	struct stage s;
	struct page p;

	stage_init(&s);
	s.range_status[0] = -1;
	s.range_status[1] = 503;
	s.range_body[1] = "{\"message\":\"transport is closing\",\"code\":14}";
	range_now(&s.bed, &p, STORE_PREFIX, NULL, 0, 0);
	cr_assert(!p.failed && p.revision == 9, "%s", p.err.text);
	cr_assert_eq(s.n_ranges, 3);
	page_finish(&p);
	s.range = "half a";
	range_now(&s.bed, &p, STORE_PREFIX, NULL, 0, 0);
	cr_assert(p.failed && p.err.code == ERR_INTERNAL, "%s", p.err.text);
	cr_assert_eq(s.n_ranges, 4);
	page_finish(&p);
	stage_finish(&s);
}

/* Two keys, a page each, once the answer with both was too large. */
Test(conversation, a_page_that_is_too_large_is_halved)
{
	static const char too_large[] =
		"{\"message\":\"etcdserver: request is too large\",\"code\":3}";
	static const char first[] = "{" HEADER(
		"9") ",\"more\":true,\"count\":\"2\",\"kvs\":[{\"key\":\"" A
		     "\",\"create_revision\":\"2\",\"mod_revision\":\"3\",\"value\":\"AAAAMQ==\"}]}";
	static const char second[] = "{" HEADER(
		"12") ",\"count\":\"1\",\"kvs\":[{\"key\":\"" B
		      "\",\"create_revision\":\"2\",\"mod_revision\":\"4\",\"value\":\"AAABMg==\"}]}";
	struct stage s;
	struct page p;

	stage_init(&s);
	s.range_status[0] = 400;
	s.range_body[0] = too_large;
	s.range_status[1] = s.range_status[2] = 200;
	s.range_body[1] = first;
	s.range_body[2] = second;
	range_now(&s.bed, &p, STORE_PREFIX, NULL, 0, 0);
	cr_assert(!p.failed && !p.more && p.records.n == 2, "%s", p.err.text);
	cr_assert_eq(p.revision, 9, "all pages are of the first one's revision");
	cr_assert(strstr(s.last_body, "\"revision\":\"9\""), "%s", s.last_body);
	cr_assert(strstr(s.last_body, "\"limit\":\"250\""), "%s", s.last_body);
	assert_record(&p.records.items[0], STORE_PREFIX "a", "1", version_of(3, 0));
	assert_record(&p.records.items[1], STORE_PREFIX "b", "2", version_of(4, 1));
	page_finish(&p);
	stage_finish(&s);
}

/* The first address does not answer: the second serves, and is asked first from then on. */
Test(conversation, goes_on_to_an_endpoint_that_answers)
{
	struct stage s;
	struct gateway *gone;
	auto_xfree char *endpoints = NULL;
	struct tape t;
	int64_t began_ms;

	stage_init(&s);
	gone = gateway_create(s.bed.loop, on_request, &s);
	endpoints = xasprintf("%s,%s", gateway_url(gone), gateway_url(s.gateway));
	gateway_destroy(gone);
	store_destroy(s.bed.store);
	s.bed.store =
		store_etcd_create(s.bed.loop, &(struct store_etcd_config){.endpoints = endpoints});
	began_ms = env_mono_ms(loop_env(s.bed.loop));
	tape_start(&t, s.bed.store, STORE_PREFIX, 0);
	for (int i = 0; i < 3; i++)
		cr_assert_eq(commit_one(&s).outcome, STORE_COMMITTED);
	await_watches(&s, 1);
	cr_assert_lt(env_mono_ms(loop_env(s.bed.loop)) - began_ms, 1000);
	cr_expect_null(store_trouble(s.bed.store), "it is served");
	tape_finish(&t);
	stage_finish(&s);
}

/* Nobody answers: nothing was written, and that is said, to all of many batches in one time, in
 * words for people. */
Test(conversation, without_any_endpoint_writes_fail_and_are_known_to)
{
	enum { N = 1000 };
	struct commit *c = xcalloc(N, sizeof(*c));
	auto_xfree char *told = NULL;
	struct stage s;
	int64_t began_ms;
	char key[64];

	stage_init(&s);
	told = xasprintf("the state store (etcd at %s) does not answer: Connection refused",
			 gateway_url(s.gateway));
	gateway_destroy(s.gateway);
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
	s.gateway = gateway_create(s.bed.loop, on_request, &s);
	stage_finish(&s);
}
