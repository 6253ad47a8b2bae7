#include "kube/client.h"

#include <criterion/criterion.h>
#include <string.h>

#include "base/json.h"
#include "peer.h"

struct seen {
	int calls, status, asked;
	bool ok;
	struct error err;
	char body[200], cause[80];
};

static void on_answer(const struct kube_answer *a, void *arg)
{
	struct seen *s = arg;
	const json_t *cause = json_array_get(json_at(a->error_details, "causes", NULL), 0);
	const char *reason = json_str_at(cause, "reason", NULL);

	s->calls++;
	s->ok = a->ok;
	s->status = a->status;
	s->err = a->err;
	snprintf(s->body, sizeof(s->body), "%s", a->body);
	snprintf(s->cause, sizeof(s->cause), "%s", reason ? reason : "");
}

static struct kube_call *get(struct peer *p, struct seen *s)
{
	return kube_send(
		peer_client(p),
		&(struct kube_request){.method = "GET", .path = "/x", .done = on_answer, .arg = s});
}

static struct kube_call *post(struct peer *p, struct seen *s)
{
	return kube_send(peer_client(p), &(struct kube_request){.method = "POST",
								.path = "/x",
								.body = "{\"a\":1}",
								.done = on_answer,
								.arg = s});
}

Test(client, an_answer_comes_back_as_it_is)
{
	auto_free(peer_destroy) struct peer *p = peer_create();
	struct seen s = {0};

	post(p, &s);
	cr_expect_str_eq(peer_request(p), "POST /x");
	cr_expect_str_eq(peer_body(p), "{\"a\":1}");
	peer_answer(p, 201, "{\"b\":2}");
	cr_expect_eq(s.calls, 1);
	cr_expect(s.ok);
	cr_expect_str_eq(s.body, "{\"b\":2}");
}

Test(client, a_status_becomes_an_error_with_its_causes)
{
	auto_free(peer_destroy) struct peer *p = peer_create();
	struct seen s = {0};

	post(p, &s);
	peer_answer(p, 409,
		    "{\"kind\":\"Status\",\"status\":\"Failure\",\"message\":\"taken\","
		    "\"reason\":\"AlreadyExists\",\"code\":409,"
		    "\"details\":{\"causes\":[{\"reason\":\"Mine\",\"message\":\"m\"}]}}");
	cr_expect_not(s.ok);
	cr_expect_eq(s.err.code, ERR_ALREADY_EXISTS);
	cr_expect_str_eq(s.err.text, "taken");
	cr_expect_str_eq(s.cause, "Mine");
}

Test(client, an_overloaded_server_is_asked_again_when_it_says)
{
	auto_free(peer_destroy) struct peer *p = peer_create();
	struct seen s = {0};

	post(p, &s);
	peer_answer_later(p, 429, 2);
	cr_expect_eq(s.calls, 0);
	cr_expect_eq(peer_waiting(p), 0);
	virtual_env_advance(peer_time(p), 1999);
	cr_expect_eq(peer_waiting(p), 0);
	virtual_env_advance(peer_time(p), 1);
	cr_expect_str_eq(peer_body(p), "{\"a\":1}");
	peer_answer(p, 201, "{}");
	cr_expect(s.ok);
}

Test(client, ten_times_are_enough)
{
	auto_free(peer_destroy) struct peer *p = peer_create();
	struct seen s = {0};

	get(p, &s);
	for (int i = 0; i < 10; i++) {
		peer_answer_later(p, 503, 1);
		virtual_env_advance(peer_time(p), 1000);
	}
	peer_answer_later(p, 503, 1);
	cr_expect_eq(s.calls, 1);
	cr_expect_eq(s.status, 503);
}

static bool twice(const struct error *why, void *arg)
{
	struct seen *s = arg;

	cr_expect_eq(why->code, ERR_UNAVAILABLE);
	return s->asked++ < 2;
}

Test(client, who_asked_may_have_enough_of_it_before)
{
	auto_free(peer_destroy) struct peer *p = peer_create();
	struct seen s = {0};

	kube_send(peer_client(p), &(struct kube_request){.method = "GET",
							 .path = "/x",
							 .done = on_answer,
							 .may_retry = twice,
							 .arg = &s});
	for (int i = 0; i < 2; i++) {
		peer_answer_later(p, 503, 1);
		cr_expect_eq(s.calls, 0);
		virtual_env_advance(peer_time(p), 1000);
	}
	peer_answer_later(p, 503, 1);
	cr_expect_eq(s.calls, 1);
	cr_expect_eq(s.err.code, ERR_UNAVAILABLE);
}

Test(client, who_asked_may_have_more_patience)
{
	auto_free(peer_destroy) struct peer *p = peer_create();
	struct seen s = {0};

	kube_send(peer_client(p), &(struct kube_request){.method = "DELETE",
							 .path = "/x",
							 .done = on_answer,
							 .retries = 30,
							 .arg = &s});
	for (int i = 0; i < 30; i++) {
		peer_answer_later(p, 503, 1);
		cr_expect_eq(s.calls, 0);
		virtual_env_advance(peer_time(p), 1000);
	}
	peer_answer(p, 200, "{}");
	cr_expect_eq(s.calls, 1);
	cr_expect(s.ok);
}

Test(client, without_retry_after_a_failure_is_told_at_once)
{
	auto_free(peer_destroy) struct peer *p = peer_create();
	struct seen s = {0};

	get(p, &s);
	peer_answer(p, 503, "");
	cr_expect_eq(s.calls, 1);
	cr_expect_eq(s.err.code, ERR_UNAVAILABLE);
}

Test(client, a_lost_answer_keeps_its_code)
{
	static const enum error_code codes[] = {ERR_UNKNOWN_OUTCOME, ERR_UNREACHABLE, ERR_TIMEOUT};
	auto_free(peer_destroy) struct peer *p = peer_create();

	for (size_t i = 0; i < ARRAY_LEN(codes); i++) {
		struct seen s = {0};

		post(p, &s);
		peer_lose(p, codes[i]);
		cr_expect_eq(s.calls, 1);
		cr_expect_eq(s.status, 0);
		cr_expect_eq(s.err.code, codes[i]);
	}
}

Test(client, a_cancelled_call_says_nothing_even_while_it_waits_to_be_sent_again)
{
	auto_free(peer_destroy) struct peer *p = peer_create();
	struct seen s = {0};
	struct kube_call *call = post(p, &s);

	peer_answer_later(p, 429, 1);
	kube_cancel(call);
	virtual_env_advance(peer_time(p), 5000);
	cr_expect_eq(peer_waiting(p), 0);
	kube_cancel(post(p, &s));
	cr_expect_eq(peer_waiting(p), 0);
	cr_expect_eq(s.calls, 0);
}

Test(client, headers_of_the_client_are_replaced_and_those_of_a_request_added)
{
	static const char *const more[] = {"Federator-Job: j", NULL};
	auto_free(peer_destroy) struct peer *p = peer_create();
	struct seen s = {0};

	kube_set_header(peer_client(p), "Federator-Term", "1");
	kube_set_header(peer_client(p), "Federator-Term", "2");
	kube_send(peer_client(p), &(struct kube_request){.method = "GET",
							 .path = "/x",
							 .headers = more,
							 .done = on_answer,
							 .arg = &s});
	cr_expect(peer_has_header(p, "Federator-Term: 2"));
	cr_expect_not(peer_has_header(p, "Federator-Term: 1"));
	cr_expect(peer_has_header(p, "Federator-Job: j"));
	peer_answer(p, 200, "{}");
	kube_set_header(peer_client(p), "Federator-Term", NULL);
	get(p, &s);
	cr_expect_not(peer_has_header(p, "Federator-Term: 2"));
}

/* --- writes and leases --- */

static bool may_write(void *arg)
{
	return *(bool *)arg;
}

Test(client, a_gate_that_is_shut_lets_reads_through_and_no_write)
{
	auto_free(peer_destroy) struct peer *p = peer_create();
	struct seen read = {0}, write = {0}, again = {0};
	bool open = false;

	kube_set_gate(peer_client(p), may_write, &open);
	post(p, &write);
	get(p, &read);
	cr_expect_eq(peer_waiting(p), 1);
	cr_expect_str_eq(peer_request(p), "GET /x");
	cr_expect_eq(write.calls, 0, "not from inside kube_send");
	virtual_env_advance(peer_time(p), 0);
	cr_expect_eq(write.calls, 1);
	cr_expect_eq(write.err.code, ERR_UNREACHABLE);
	peer_answer(p, 200, "{}");

	open = true;
	post(p, &again);
	cr_expect_str_eq(peer_request(p), "POST /x");
	open = false;
	peer_answer_later(p, 429, 1);
	virtual_env_advance(peer_time(p), 1000);
	cr_expect_eq(peer_waiting(p), 0, "what was put off is asked again");
	virtual_env_advance(peer_time(p), 0);
	cr_expect_eq(again.err.code, ERR_UNREACHABLE);
}

static void on_settled(void *arg)
{
	++*(int *)arg;
}

Test(client, settles_when_a_write_that_was_cancelled_has_its_answer)
{
	auto_free(peer_destroy) struct peer *p = peer_create();
	struct seen s = {0};
	int settled = 0;
	struct kube_call *write = post(p, &s);

	kube_settle(peer_client(p), on_settled, &settled);
	kube_cancel(write);
	virtual_env_advance(peer_time(p), 10000);
	cr_expect_eq(settled, 0);
	peer_answer(p, 201, "{}");
	cr_expect_eq(settled, 0, "not from inside an answer");
	virtual_env_advance(peer_time(p), 0);
	cr_expect_eq(settled, 1);
	cr_expect_eq(s.calls, 0, "who cancelled hears nothing");
	cr_expect_eq(kube_lost_ms(peer_client(p)), INT64_MIN);
}

Test(client, settles_at_once_when_only_reads_are_under_way)
{
	auto_free(peer_destroy) struct peer *p = peer_create();
	struct seen s = {0};
	int settled = 0;

	kube_cancel(get(p, &s));
	get(p, &s);
	kube_settle(peer_client(p), on_settled, &settled);
	virtual_env_advance(peer_time(p), 0);
	cr_expect_eq(settled, 1);
	cr_expect_eq(kube_lost_ms(peer_client(p)), INT64_MIN);
}

Test(client, remembers_when_a_write_ended_without_an_answer)
{
	auto_free(peer_destroy) struct peer *p = peer_create();
	struct kube *k = peer_client(p);
	struct seen s = {0};

	post(p, &s);
	peer_lose(p, ERR_UNREACHABLE);
	cr_expect_eq(kube_lost_ms(k), INT64_MIN, "nothing of it was sent");
	virtual_env_advance(peer_time(p), 1000);
	post(p, &s);
	peer_lose(p, ERR_TIMEOUT);
	cr_expect_eq(kube_lost_ms(k), 1000);
	virtual_env_advance(peer_time(p), 1000);
	kube_cancel(post(p, &s));
	cr_expect_eq(kube_lost_ms(k), 2000);
}

/* A server that gives up may be overtaken by what it asked its store for. */
Test(client, remembers_when_a_write_ended_with_an_error_of_the_server)
{
	static const struct {
		int status;
		bool may_come;
	} cases[] = {{201, false}, {403, false}, {409, false},
		     {500, true},  {503, true},  {504, true}};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		auto_free(peer_destroy) struct peer *p = peer_create();
		struct seen s = {0};

		post(p, &s);
		virtual_env_advance(peer_time(p), 1000);
		peer_answer(p, cases[i].status, "{}");
		cr_expect_eq(kube_lost_ms(peer_client(p)), cases[i].may_come ? 1000 : INT64_MIN,
			     "%d", cases[i].status);
		get(p, &s);
		virtual_env_advance(peer_time(p), 1000);
		peer_answer(p, 500, "{}");
		cr_expect_lt(kube_lost_ms(peer_client(p)), 2000, "a read writes nothing");
	}
}
