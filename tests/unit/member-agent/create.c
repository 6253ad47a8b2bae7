#include "member-agent/create.h"

#include <criterion/criterion.h>
#include <string.h>

#include "base/mem.h"
#include "peer.h"

#define STATUS(code, reason, text)                                                                 \
	"{\"kind\":\"Status\",\"code\":" #code ",\"reason\":\"" reason "\",\"message\":\"" text    \
	"\",\"details\":{\"kind\":\"pods\"}}"

struct told {
	int times;
	enum create_result result;
	char object[100], err[500];
};

static void on_done(enum create_result result, const char *object, size_t size,
		    const struct error *err, void *arg)
{
	struct told *t = arg;

	t->times++;
	t->result = result;
	snprintf(t->object, sizeof(t->object), "%.*s", (int)size, object ? object : "");
	snprintf(t->err, sizeof(t->err), "%s", err->text);
}

static struct create *start(struct peer *p, struct told *t)
{
	return create_start(peer_client(p), virtual_env_seam(peer_time(p)),
			    &(struct create_request){.path = "/pods",
						     .name = "a",
						     .take_body = xstrdup("{}"),
						     .timeout_ms = 5000,
						     .done = on_done,
						     .arg = t});
}

/* The next request, after whatever pause comes before it. */
static const char *next(struct peer *p)
{
	for (int i = 0; i < 100 && !peer_waiting(p); i++)
		virtual_env_advance(peer_time(p), 1000);
	cr_assert_eq(peer_waiting(p), 1);
	return peer_request(p);
}

Test(create, what_was_made_is_told)
{
	auto_free(peer_destroy) struct peer *p = peer_create();
	struct told t = {0};

	start(p, &t);
	cr_expect_str_eq(next(p), "POST /pods?timeout=5000ms");
	peer_answer(p, 201, "{\"made\":1}");
	cr_expect_eq(t.times, 1);
	cr_expect_eq(t.result, CREATE_MADE);
	cr_expect_str_eq(t.object, "{\"made\":1}");
}

/* A POST whose answer did not come may have been carried out. */
Test(create, a_lost_answer_is_settled_by_reading)
{
	static const struct {
		int status;
		const char *body;
		enum error_code lost;
	} answers[] = {
		{0, NULL, ERR_UNKNOWN_OUTCOME},
		{0, NULL, ERR_TIMEOUT},
		{500, STATUS(500, "", "etcdserver: leader changed"), 0},
		{504, STATUS(504, "Timeout", "request did not complete"), 0},
		{403, STATUS(403, "Forbidden", "exceeded quota: q"), 0},
		{409, STATUS(409, "AlreadyExists", "pods a already exists"), 0},
	};

	for (size_t i = 0; i < ARRAY_LEN(answers); i++) {
		auto_free(peer_destroy) struct peer *p = peer_create();
		struct told t = {0};

		start(p, &t);
		next(p);
		if (answers[i].status)
			peer_answer(p, answers[i].status, answers[i].body);
		else
			peer_lose(p, answers[i].lost);
		cr_expect_eq(peer_fresh_connections(p), 1, "case %zu", i);
		cr_expect_str_eq(next(p), "GET /pods/a", "case %zu", i);
		peer_answer(p, 200, "{\"uid\":7}");
		cr_expect_eq(t.result, CREATE_FOUND, "case %zu", i);
		cr_expect_str_eq(t.object, "{\"uid\":7}", "case %zu", i);
		cr_expect_eq(t.times, 1, "case %zu", i);
	}
}

Test(create, only_behind_a_404_the_same_name_is_posted_again)
{
	auto_free(peer_destroy) struct peer *p = peer_create();
	struct told t = {0};

	start(p, &t);
	next(p);
	peer_lose(p, ERR_UNKNOWN_OUTCOME);
	next(p);
	peer_lose(p, ERR_TIMEOUT);
	cr_expect_str_eq(next(p), "GET /pods/a");
	peer_answer(p, 500, STATUS(500, "", "not now"));
	cr_expect_str_eq(next(p), "GET /pods/a");
	peer_answer(p, 404, STATUS(404, "NotFound", "no"));
	cr_expect_str_eq(next(p), "POST /pods?timeout=5000ms");
	peer_answer(p, 201, "{}");
	cr_expect_eq(t.result, CREATE_MADE);
	cr_expect_eq(t.times, 1);
}

Test(create, a_refusal_keeps_its_text)
{
	static const struct {
		int status;
		const char *body;
		bool read; /* first whether an earlier try made it */
	} answers[] = {
		{403, STATUS(403, "Forbidden", "exceeded quota: q, requested: cpu=3"), true},
		{403, STATUS(403, "Forbidden", "violates PodSecurity exceeded quota"), true},
		{422, STATUS(422, "Invalid", "spec.x: exceeded quota"), false},
		{404, STATUS(404, "NotFound", "namespaces x not found, exceeded quota"), false},
	};

	for (size_t i = 0; i < ARRAY_LEN(answers); i++) {
		auto_free(peer_destroy) struct peer *p = peer_create();
		struct told t = {0};

		start(p, &t);
		next(p);
		peer_answer(p, answers[i].status, answers[i].body);
		if (answers[i].read) {
			cr_expect_str_eq(next(p), "GET /pods/a");
			peer_answer(p, 404, STATUS(404, "NotFound", "no"));
		}
		cr_expect_eq(t.times, 1, "case %zu", i);
		cr_expect_eq(t.result, CREATE_REFUSED, "case %zu", i);
		cr_expect_not_null(strstr(t.err, "exceeded quota"), "case %zu: %s", i, t.err);
	}
}

/* Admission reads what it needs, and its 403 may only say that it could not; a kind that has just
 * been installed answers 404 in plain text. */
Test(create, what_passes_is_tried_again)
{
	static const struct {
		int status;
		const char *body;
	} answers[] = {
		{403, STATUS(403, "Forbidden", "Get limitranges: stream error: etcd")},
		{403, STATUS(403, "Forbidden", "status unknown for quota: q")},
		{403, STATUS(403, "Forbidden",
			     "error looking up service account x/default: "
			     "serviceaccount default not found")},
		{404, "404 page not found\n"},
		{409, STATUS(409, "Conflict", "operation cannot be fulfilled on quota")},
		{500, STATUS(500, "InternalError", "failed calling webhook")},
	};

	for (size_t i = 0; i < ARRAY_LEN(answers); i++) {
		auto_free(peer_destroy) struct peer *p = peer_create();
		struct told t = {0};

		start(p, &t);
		next(p);
		peer_answer(p, answers[i].status, answers[i].body);
		cr_expect_str_eq(next(p), "GET /pods/a", "case %zu", i);
		peer_answer(p, 404, answers[3].body);
		cr_expect_str_eq(next(p), "POST /pods?timeout=5000ms", "case %zu", i);
		peer_answer(p, 201, "{}");
		cr_expect_eq(t.result, CREATE_MADE, "case %zu", i);
	}
}

#define DENIED                                                                                     \
	STATUS(403, "Forbidden",                                                                   \
	       "pods is forbidden: User \\\"a\\\" cannot create resource \\\"pods\\\" in API "     \
	       "group \\\"\\\" in the namespace \\\"x\\\"")

/* The authorizer's no is about us, and an apiserver that starts knows nobody yet. */
Test(create, rights_are_waited_for_but_not_for_ever)
{
	auto_free(peer_destroy) struct peer *p = peer_create();
	int64_t begin = env_mono_ms(virtual_env_seam(peer_time(p)));
	struct told t = {0};
	int posts = 0;

	start(p, &t);
	for (; !t.times && posts < 100; posts++) {
		cr_assert_str_eq(next(p), "POST /pods?timeout=5000ms", "nothing is looked for");
		peer_answer(p, 403, DENIED);
		if (env_mono_ms(virtual_env_seam(peer_time(p))) - begin < 5000)
			cr_expect_eq(t.times, 0, "after %d tries", posts);
	}
	cr_expect_eq(t.result, CREATE_REFUSED);
	cr_expect(strstr(t.err, "cannot create resource"), "%s", t.err);
	cr_expect(posts > 3 && posts < 20, "%d tries", posts);
}

Test(create, rights_that_come_in_time_make_it)
{
	auto_free(peer_destroy) struct peer *p = peer_create();
	struct told t = {0};

	start(p, &t);
	for (int i = 0; i < 3; i++) {
		next(p);
		peer_answer(p, 403, DENIED);
	}
	next(p);
	peer_answer(p, 201, "{}");
	cr_expect_eq(t.result, CREATE_MADE);
}

Test(create, a_denial_is_not_taken_for_a_quota_nor_a_quota_for_a_denial)
{
	static const struct {
		const char *text;
		bool denied;
	} cases[] = {
		{"pods is forbidden: User \"u\" cannot create resource \"pods\" in API group \"\"",
		 true},
		{"pods \"a\" is forbidden: User \"u\" cannot get resource \"pods\"", true},
		{"pods \"a\" is forbidden: exceeded quota: q, requested: pods=1", false},
		{"pods \"a\" is forbidden: violates PodSecurity \"restricted:latest\": cannot run as "
		 "root",
		 false},
		{"pods \"a\" is forbidden: unable to create new content in namespace x because it is "
		 "being terminated",
		 false},
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct error err;

		error_set(&err, ERR_FORBIDDEN, "%s", cases[i].text);
		cr_expect_eq(error_is_denied(&err), cases[i].denied, "%s", cases[i].text);
	}
}

static void count(void *arg)
{
	++*(int *)arg;
}

/* Whoever makes something must know what may yet come to be. */
Test(create, says_which_posts_may_yet_be_carried_out)
{
	static const struct {
		int status;
		const char *body;
		enum error_code lost;
		int unanswered;
	} cases[] = {
		{0, NULL, ERR_UNKNOWN_OUTCOME, 1},
		{0, NULL, ERR_TIMEOUT, 1},
		{0, NULL, ERR_UNREACHABLE, 0},
		{504, STATUS(504, "Timeout", "late"), 0, 1},
		{500, STATUS(500, "", "code = Unavailable"), 0, 1},
		{409, STATUS(409, "AlreadyExists", "there"), 0, 0},
		{403, STATUS(403, "Forbidden", "exceeded quota: q"), 0, 0},
		{429, "too many", 0, 0},
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		auto_free(peer_destroy) struct peer *p = peer_create();
		struct create_request request = {.path = "/pods",
						 .name = "a",
						 .take_body = xstrdup("{}"),
						 .done = on_done,
						 .unanswered = count};
		struct told t = {0};
		struct create *c;

		request.arg = &t;
		c = create_start(peer_client(p), virtual_env_seam(peer_time(p)), &request);
		next(p);
		if (cases[i].status)
			peer_answer(p, cases[i].status, cases[i].body);
		else
			peer_lose(p, cases[i].lost);
		cr_expect_eq(t.times, cases[i].unanswered, "case %zu", i);
		create_cancel(c);
	}
}

Test(create, what_is_dropped_is_looked_for_and_not_made)
{
	auto_free(peer_destroy) struct peer *p = peer_create();
	struct create *c;
	struct told t = {0};

	c = start(p, &t);
	next(p);
	create_drop(c);
	peer_lose(p, ERR_UNKNOWN_OUTCOME);
	cr_expect_str_eq(next(p), "GET /pods/a");
	peer_answer(p, 404, STATUS(404, "NotFound", "no"));
	virtual_env_advance(peer_time(p), 60000);
	cr_expect_eq(peer_waiting(p), 0, "no POST");
	cr_expect_eq(t.times, 1);
	cr_expect_eq(t.result, CREATE_DROPPED);
}

Test(create, what_is_dropped_while_it_waits_is_over_at_once)
{
	auto_free(peer_destroy) struct peer *p = peer_create();
	struct create *c;
	struct told t = {0};

	c = start(p, &t);
	next(p);
	peer_lose(p, ERR_UNREACHABLE);
	create_drop(c);
	virtual_env_advance(peer_time(p), 1);
	cr_expect_eq(t.result, CREATE_DROPPED);
	cr_expect_eq(t.times, 1);
}

Test(create, what_is_dropped_too_late_is_told_as_made)
{
	auto_free(peer_destroy) struct peer *p = peer_create();
	struct create *c;
	struct told t = {0};

	c = start(p, &t);
	next(p);
	create_drop(c);
	peer_answer(p, 201, "{}");
	cr_expect_eq(t.result, CREATE_MADE);
	cr_expect_eq(t.times, 1);
}

Test(create, what_was_not_sent_needs_no_reading)
{
	auto_free(peer_destroy) struct peer *p = peer_create();
	struct told t = {0};

	start(p, &t);
	next(p);
	peer_lose(p, ERR_UNREACHABLE);
	cr_expect_str_eq(next(p), "POST /pods?timeout=5000ms");
	peer_answer(p, 201, "{}");
	cr_expect_eq(t.times, 1);
}

Test(create, a_cancelled_one_tells_nothing)
{
	auto_free(peer_destroy) struct peer *p = peer_create();
	struct create *waiting, *sent;
	struct told t = {0};

	waiting = start(p, &t);
	next(p);
	peer_lose(p, ERR_UNREACHABLE);
	create_cancel(waiting);
	sent = start(p, &t);
	create_cancel(sent);
	create_cancel(NULL);
	cr_expect_eq(peer_waiting(p), 0);
	virtual_env_advance(peer_time(p), 60000);
	cr_expect_eq(t.times, 0);
}
