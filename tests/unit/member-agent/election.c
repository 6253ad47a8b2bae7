/* The member's Lease, against a process that stands still and answers that come late. */
#include "member-agent/election.h"

#include <criterion/criterion.h>
#include <string.h>

#include "base/json.h"
#include "process.h"

static size_t n_elected;
static enum election_before before;

static void on_elected(struct agent *a, enum election_before how)
{
	n_elected++;
	before = how;
}

static void on_left(void *arg)
{
	++*(size_t *)arg;
}

static void on_answer(const struct kube_answer *a, void *arg)
{
}

/* The server takes what was sent. */
static void take_write(struct process *p)
{
	auto_xfree char *body = xstrdup(peer_body(p->member));

	peer_answer(p->member, 200, body);
}

/* Lease NULL: there is none. */
static struct election *start(struct process *p, const char *lease)
{
	struct election *e;

	n_elected = 0;
	e = election_start(&p->agent, on_elected);
	peer_answer(p->member, lease ? 200 : 404, lease ? lease : "{}");
	return e;
}

static struct election *hold(struct process *p)
{
	struct election *e = start(p, NULL);

	take_write(p);
	cr_assert_eq(n_elected, 1);
	return e;
}

Test(election, says_how_the_last_holder_ended)
{
	static const struct {
		const char *lease;
		enum election_before before;
	} cases[] = {
		{NULL, ELECTION_BEFORE_NONE},
		{"{\"spec\":{\"holderIdentity\":\"\"}}", ELECTION_BEFORE_CLEAN},
		{"{\"metadata\":{\"annotations\":{\"federator.dev/left-unclean\":\"true\"}},\"spec\":"
		 "{\"holderIdentity\":\"\"}}",
		 ELECTION_BEFORE_CUT},
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		auto_free(process_destroy) struct process *p = process_create();
		struct election *e = start(p, cases[i].lease);

		cr_expect_null(strstr(peer_body(p->member), "left-unclean"));
		take_write(p);
		cr_expect_eq(n_elected, 1);
		cr_expect_eq(before, cases[i].before, "case %zu", i);
		election_free(e);
	}
}

Test(election, a_holder_that_is_silent_is_followed_when_its_lease_is_over)
{
	static const char lease[] = "{\"spec\":{\"holderIdentity\":\"other\",\"renewTime\":\"t\","
				    "\"leaseDurationSeconds\":15}}";
	auto_free(process_destroy) struct process *p = process_create();
	struct election *e = start(p, lease);

	for (int i = 0; i < 15; i++) {
		process_advance(p, 1000);
		cr_assert_eq(strncmp(peer_request(p->member), "GET ", 4), 0, "after %d s", i);
		peer_answer(p->member, 200, lease);
	}
	process_advance(p, 1000);
	peer_answer(p->member, 200, lease);
	cr_expect_eq(strncmp(peer_request(p->member), "PUT ", 4), 0);
	take_write(p);
	cr_expect_eq(before, ELECTION_BEFORE_CUT);
	election_free(e);
}

/* The process stood still between sending a renewal and hearing of it: another may hold it. */
Test(election, a_renewal_that_was_sent_too_long_ago_deposes)
{
	auto_free(process_destroy) struct process *p = process_create();
	struct election *e = hold(p);

	process_advance(p, ELECTION_RENEW_MS);
	process_advance(p, ELECTION_LEASE_S * 1000 + 1);
	cr_expect_eq(p->deposed, 0);
	take_write(p);
	cr_expect_eq(p->deposed, 1);
	election_free(e);
}

Test(election, an_acquisition_that_is_too_old_elects_nobody)
{
	auto_free(process_destroy) struct process *p = process_create();
	struct election *e = start(p, NULL);

	process_advance(p, ELECTION_LEASE_S * 1000 + 1);
	take_write(p);
	cr_expect_eq(n_elected, 0);
	process_advance(p, 1);
	cr_expect_eq(strncmp(peer_request(p->member), "GET ", 4), 0);
	election_free(e);
}

/* Whatever is about to be written into the member first asks how old the lease is. */
Test(election, a_write_under_a_lease_that_is_too_old_deposes_and_is_not_sent)
{
	auto_free(process_destroy) struct process *p = process_create();
	struct election *e = hold(p);
	struct kube_request pod = {
		.method = "POST", .path = "/pods", .body = "{}", .done = on_answer};

	/* The renewal after 4 s is never answered. */
	process_advance(p, ELECTION_LEASE_S * 1000);
	kube_send(p->agent.member, &pod);
	cr_expect_eq(peer_waiting(p->member), 2);
	cr_expect_eq(p->deposed, 0);
	process_advance(p, 1);
	kube_send(p->agent.member, &pod);
	cr_expect_eq(peer_waiting(p->member), 2);
	cr_expect_eq(p->deposed, 1);
	election_free(e);
}

#define CONFLICT                                                                                   \
	"{\"kind\":\"Status\",\"code\":409,\"reason\":\"Conflict\",\"message\":\"changed\"}"
#define ETCD_AWAY "{\"kind\":\"Status\",\"code\":500,\"message\":\"etcd is away\"}"
#define NOT_FOUND "{\"kind\":\"Status\",\"code\":404,\"reason\":\"NotFound\",\"message\":\"no\"}"

/* An operator must learn whether starting again is enough, or whether this is another cluster. */
Test(election, a_lease_that_is_gone_deposes_and_says_of_which_cluster)
{
	static const struct {
		int status;
		const char *kube_system, *why;
	} cases[] = {
		{200, "{\"metadata\":{\"uid\":\"first\"}}",
		 "somebody deleted it, or the cluster began anew"},
		{200, "{\"metadata\":{\"uid\":\"second\"}}", "the cluster is another one by now"},
		{500, ETCD_AWAY, "somebody deleted it, or the cluster began anew"},
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		auto_free(process_destroy) struct process *p = process_create();
		struct election *e = hold(p);
		struct kube_request pod = {
			.method = "POST", .path = "/pods", .body = "{}", .done = on_answer};

		p->agent.member_uid = xstrdup("first");
		process_advance(p, ELECTION_RENEW_MS);
		peer_answer(p->member, 404, NOT_FOUND);
		cr_expect_str_eq(peer_request(p->member), "GET /api/v1/namespaces/kube-system");
		kube_send(p->agent.member, &pod);
		cr_expect_eq(peer_waiting(p->member), 1, "nothing is written any more");
		peer_answer(p->member, cases[i].status, cases[i].kube_system);
		cr_expect_eq(p->deposed, 1, "case %zu", i);
		cr_expect(strstr(p->deposed_why, cases[i].why), "case %zu: %s", i, p->deposed_why);
		election_free(e);
	}
}

/* The answer to a renewal was a conflict, and then there is no Lease: nobody else holds it. */
Test(election, a_lease_that_is_gone_while_in_doubt_is_not_called_anothers)
{
	auto_free(process_destroy) struct process *p = process_create();
	struct election *e = hold(p);

	process_advance(p, ELECTION_RENEW_MS);
	peer_answer(p->member, 409, CONFLICT);
	process_advance(p, 1);
	peer_answer(p->member, 404, NOT_FOUND);
	cr_expect_str_eq(peer_request(p->member), "GET /api/v1/namespaces/kube-system");
	peer_answer(p->member, 404, NOT_FOUND);
	cr_expect(strstr(p->deposed_why, "is gone"), "%s", p->deposed_why);
	election_free(e);
}

Test(election, a_lease_that_cannot_be_renewed_deposes_and_says_why)
{
	auto_free(process_destroy) struct process *p = process_create();
	struct election *e = hold(p);

	for (int s = 0; s < 2 * ELECTION_LEASE_S && !p->deposed; s++) {
		process_advance(p, 1000);
		if (peer_waiting(p->member))
			peer_answer(p->member, 500, ETCD_AWAY);
	}
	cr_assert(p->deposed);
	cr_expect(strstr(p->deposed_why, "etcd is away"), "%s", p->deposed_why);
	election_free(e);
}

/* Until the agent has joined somewhere else, it may yet come back. */
Test(election, keeps_what_was_seen_of_a_hub_and_as_which_cluster)
{
	static const char lease[] =
		"{\"metadata\":{\"annotations\":{\"federator.dev/hub-version\":\"50\","
		"\"federator.dev/hub-cluster\":\"cu\"}},\"spec\":{\"holderIdentity\":\"\"}}";
	auto_free(process_destroy) struct process *p = process_create();
	struct election *e = start(p, lease);

	take_write(p);
	cr_expect_eq(p->agent.hub_version, 50);
	cr_expect_str_eq(p->agent.hub_cluster, "cu");
	process_advance(p, ELECTION_RENEW_MS);
	cr_expect(strstr(peer_body(p->member), "\"federator.dev/hub-version\":\"50\""), "%s",
		  peer_body(p->member));
	cr_expect(strstr(peer_body(p->member), "\"federator.dev/hub-cluster\":\"cu\""), "%s",
		  peer_body(p->member));
	free(take_ptr(p->agent.hub_cluster));
	p->agent.hub_version = 60;
	p->agent.hub_cluster = xstrdup("other");
	take_write(p);
	process_advance(p, ELECTION_RENEW_MS);
	cr_expect(strstr(peer_body(p->member), "\"federator.dev/hub-cluster\":\"other\""), "%s",
		  peer_body(p->member));
	election_free(e);
}

Test(election, leaving_says_whether_it_was_clean)
{
	for (int clean = 0; clean < 2; clean++) {
		auto_free(process_destroy) struct process *p = process_create();
		struct election *e = hold(p);
		size_t left = 0;

		election_leave(e, clean, on_left, &left);
		cr_expect_not_null(strstr(peer_body(p->member), "\"holderIdentity\":\"\""));
		cr_expect_eq(!strstr(peer_body(p->member), "left-unclean"), clean);
		take_write(p);
		cr_expect_eq(left, 1);
		election_free(e);
	}
}
