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
