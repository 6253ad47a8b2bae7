/* Joining, with a hub that forgets and a process that ends in the middle of it. */
#include "member-agent/join.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "process.h"

#define CLUSTER "{\"kind\":\"Cluster\",\"metadata\":{\"name\":\"gpu\",\"uid\":\"cluster-uid\"}}"

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

Test(join, a_request_that_somebody_removed_is_made_again)
{
	auto_free(process_destroy) struct process *p = process_create();
	struct join *j = start(p);

	announce(p);
	peer_answer(p->elsewhere, 404, "{}");
	process_advance(p, 1000);
	announce(p);
	/* base64 of "request", and of a certificate */
	peer_answer(p->elsewhere, 200,
		    "{\"spec\":{\"request\":\"cmVxdWVzdA==\"},"
		    "\"status\":{\"certificate\":\"Y2VydA==\"}}");
	peer_answer(p->member, 200, "{}");
	cr_expect_eq(n_joined, 1);
	cr_expect_str_eq(p->agent.identity.cert_pem, "cert");
	join_destroy(j);
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
