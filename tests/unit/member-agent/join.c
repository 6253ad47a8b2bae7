/* Joining, with a hub that forgets and a process that ends in the middle of it. */
#include "member-agent/join.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "process.h"

#define CLUSTER_OF(uid, spec)                                                                      \
	"{\"kind\":\"Cluster\",\"metadata\":{\"name\":\"gpu\",\"uid\":\"" uid                      \
	"\"},\"spec\":{" spec "}}"
#define CLUSTER  CLUSTER_OF("cluster-uid", "")
#define ACCEPTED "\"accepted\":true"
/* base64 of "request", and of a certificate */
#define SIGNED    "{\"spec\":{\"request\":\"cmVxdWVzdA==\"},\"status\":{\"certificate\":\"Y2VydA==\"}}"
#define UNSIGNED  "{\"spec\":{\"request\":\"cmVxdWVzdA==\"}}"
#define ACCEPT_IT "waits: the hub has to accept it: fedctl cluster accept gpu"

static size_t n_joined;

static void on_joined(struct agent *a)
{
	n_joined++;
}

/* Without a state folder: the identity is a Secret of the member. */
static struct join *start(struct process *p)
{
	char token[] = "/tmp/token-XXXXXX";
	int fd = mkstemp(token);
	struct join *j;

	n_joined = 0;
	cr_assert_eq(write(fd, "abc.def\n", 8), 8);
	close(fd);
	p->agent.settings.token_file = token;
	p->agent.identity.ca_pem = xstrdup("any");
	p->agent.identity.key_pem = xstrdup("key");
	p->agent.identity.csr_pem = xstrdup("request");
	j = join_start(&p->agent, on_joined);
	p->agent.settings.token_file = NULL;
	unlink(token);
	return j;
}

/* Until it waits to be accepted. */
static void announce(struct process *p)
{
	cr_assert_eq(strncmp(peer_request(p->elsewhere), "POST /apis/federator.dev", 24), 0);
	peer_answer(p->elsewhere, 201, CLUSTER);
	cr_assert_eq(strncmp(peer_request(p->member), "PUT ", 4), 0);
	peer_answer(p->member, 200, "{}");
	cr_assert_not_null(strstr(peer_request(p->elsewhere), "POST /apis/certificates.k8s.io"));
	peer_answer(p->elsewhere, 201, "{}");
	cr_assert_not_null(strstr(peer_request(p->elsewhere), "/certificatesigningrequests/gpu"));
}

static void read_cluster(struct process *p, const char *cluster)
{
	cr_assert_str_eq(peer_request(p->elsewhere),
			 "GET /apis/federator.dev/v1alpha1/clusters/gpu");
	peer_answer(p->elsewhere, cluster ? 200 : 404, cluster ? cluster : "{}");
}

Test(join, a_request_that_somebody_removed_is_made_again)
{
	auto_free(process_destroy) struct process *p = process_create();
	struct join *j = start(p);

	announce(p);
	peer_answer(p->elsewhere, 404, "{}");
	process_advance(p, 1000);
	announce(p);
	peer_answer(p->elsewhere, 200, SIGNED);
	read_cluster(p, CLUSTER_OF("cluster-uid", ACCEPTED));
	peer_answer(p->member, 200, "{}");
	cr_expect_eq(n_joined, 1);
	cr_expect_str_eq(p->agent.identity.cert_pem, "cert");
	join_destroy(j);
}

/* Its request is of before the Cluster was deleted, and has the certificate of then. */
Test(join, a_certificate_is_no_acceptance)
{
	auto_free(process_destroy) struct process *p = process_create();
	struct join *j;

	process_keep_log();
	j = start(p);
	announce(p);
	for (int i = 0; i < 3; i++) {
		peer_answer(p->elsewhere, 200, SIGNED);
		read_cluster(p, CLUSTER);
		cr_expect_eq(peer_waiting(p->member) + peer_waiting(p->elsewhere), 0);
		process_advance(p, 1000);
	}
	/* Nothing else is waited for while it is signed anew. */
	peer_answer(p->elsewhere, 200, UNSIGNED);
	process_advance(p, 1000);
	cr_expect_eq(process_logged(ACCEPT_IT), 1);
	cr_expect_eq(process_logged("has accepted"), 0);
	cr_expect_null(p->agent.identity.cert_pem);
	peer_answer(p->elsewhere, 200, SIGNED);
	read_cluster(p, CLUSTER_OF("cluster-uid", ACCEPTED));
	peer_answer(p->member, 200, "{}");
	cr_expect_eq(n_joined, 1);
	cr_expect_eq(p->stopped, 0);
	cr_expect_eq(process_logged("the hub has accepted cluster gpu"), 1);
	join_destroy(j);
}

/* The one that was announced is gone, accepted or not: it begins again. */
Test(join, a_cluster_that_was_deleted_meanwhile_is_made_again)
{
	static const char *const found[] = {NULL, CLUSTER_OF("another-uid", ACCEPTED)};

	for (size_t i = 0; i < ARRAY_LEN(found); i++) {
		auto_free(process_destroy) struct process *p = process_create();
		struct join *j = start(p);

		announce(p);
		peer_answer(p->elsewhere, 200, SIGNED);
		read_cluster(p, found[i]);
		process_advance(p, 1000);
		announce(p);
		cr_expect_eq(n_joined + p->stopped, 0);
		join_destroy(j);
	}
}

Test(join, ends_for_what_no_waiting_cures_and_says_what_to_do)
{
	static const struct {
		int status;
		const char *body, *why;
	} cases[] = {
		{401, "{}",
		 "the hub at https://hub:7443 does not know the token of --token-file "
		 "\"/tmp/token-\", or it has expired; make one: fedctl cluster token create gpu"},
		{403, "{\"kind\":\"Status\",\"code\":403,\"message\":\"not this cluster\"}",
		 "the hub at https://hub:7443 refuses cluster gpu: not this cluster"},
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		auto_free(process_destroy) struct process *p = process_create();
		struct join *j = start(p);

		p->agent.settings.token_file = (char *)(uintptr_t) "/tmp/token-";
		peer_answer(p->elsewhere, cases[i].status, cases[i].body);
		cr_expect_eq(p->stopped, 1);
		cr_expect_eq(p->exit_code, 1);
		cr_expect_str_eq(p->why, cases[i].why);
		p->agent.settings.token_file = NULL;
		join_destroy(j);
	}
}

Test(join, goes_on_when_the_hub_is_away_for_a_while)
{
	auto_free(process_destroy) struct process *p = process_create();
	struct join *j = start(p);

	for (int i = 0; i < 3; i++) {
		peer_lose(p->elsewhere, ERR_UNREACHABLE);
		process_advance(p, 1000);
	}
	cr_expect_eq(p->stopped, 0);
	announce(p);
	join_destroy(j);
}

/* At each step: nothing of it is left, and nothing calls back. */
Test(join, may_end_at_any_time)
{
	for (int step = 0; step < 5; step++) {
		auto_free(process_destroy) struct process *p = process_create();
		struct join *j = start(p);

		if (step >= 1)
			peer_answer(p->elsewhere, 201, CLUSTER);
		if (step >= 2)
			peer_answer(p->member, 404, "{}");
		if (step >= 3)
			peer_answer(p->member, 201, "{}");
		if (step >= 4)
			peer_answer(p->elsewhere, 503, "{}");
		join_destroy(j);
		cr_expect_eq(peer_waiting(p->member) + peer_waiting(p->elsewhere), 0, "step %d",
			     step);
		process_advance(p, 60000);
		cr_expect_eq(n_joined, 0);
	}
}
