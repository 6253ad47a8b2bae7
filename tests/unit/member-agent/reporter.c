/* Reports of room, when another replica of the hub leads and then is gone. */
#include "member-agent/reporter.h"

#include <criterion/criterion.h>
#include <string.h>

#include "process.h"

#define CAPACITY     "POST /apis/federator.dev/v1alpha1/clusters/gpu/capacity"
#define ELSEWHERE(n) "https://other" n ":7443/apis/federator.dev/v1alpha1/clusters/gpu/capacity"
#define CONFLICT                                                                                   \
	"{\"kind\":\"Status\",\"status\":\"Failure\",\"message\":\"all\",\"reason\":\"Conflict\",\"code\":409}"

/* Its first report waits at the hub, the summary behind it. */
static void start(struct process *p)
{
	static struct owner owner;
	struct runner_config config = {.cluster = "gpu", .own_namespace = AGENT_NAMESPACE};

	p->agent.term = xstrdup("uid.7");
	kube_set_header(p->agent.hub, AGENT_TERM_HEADER, p->agent.term);
	p->agent.reporter = NULL;
	p->agent.runner = runner_create(p->agent.env, p->agent.member, &owner, &config, NULL, NULL);
	p->agent.reporter = reporter_create(&p->agent);
	while (strcmp(peer_request(p->member), "GET /version"))
		peer_lose(p->member, ERR_UNREACHABLE);
	peer_answer(p->member, 200, "{\"gitVersion\":\"v1\"}");
	process_advance(p, REPORT_MS);
	cr_assert_str_eq(peer_request(p->hub), CAPACITY);
}

static void end(struct process *p)
{
	reporter_destroy(p->agent.reporter);
	runner_destroy(p->agent.runner);
}

static void follow(struct process *p, const char *where)
{
	peer_redirect(p->hub, where);
	process_advance(p, 1);
	cr_assert_str_eq(peer_request(p->elsewhere), CAPACITY);
}

Test(reporter, a_leader_elsewhere_is_told_the_term)
{
	auto_free(process_destroy) struct process *p = process_create();

	start(p);
	follow(p, ELSEWHERE("1"));
	cr_expect_str_eq(p->elsewhere_url, "https://other1:7443");
	cr_expect(peer_has_header(p->elsewhere, AGENT_TERM_HEADER ": uid.7"));
	/* It asks for all of it. */
	peer_answer(p->elsewhere, 409, CONFLICT);
	process_advance(p, REPORT_MS);
	cr_expect_str_eq(peer_request(p->elsewhere), CAPACITY);
	cr_expect_eq(p->connected, 1);
	end(p);
}

Test(reporter, a_leader_that_is_gone_is_looked_for_where_the_hub_is_known)
{
	auto_free(process_destroy) struct process *p = process_create();

	start(p);
	follow(p, ELSEWHERE("1"));
	peer_answer(p->hub, 200, "{}"); /* the summary */
	peer_lose(p->elsewhere, ERR_UNREACHABLE);
	process_advance(p, 1000);
	cr_expect_eq(peer_waiting(p->elsewhere), 0);
	cr_expect_str_eq(peer_request(p->hub), CAPACITY);
	follow(p, ELSEWHERE("2"));
	cr_expect_str_eq(p->elsewhere_url, "https://other2:7443");
	end(p);
}

Test(reporter, a_leader_that_names_another_is_left)
{
	auto_free(process_destroy) struct process *p = process_create();

	start(p);
	follow(p, ELSEWHERE("1"));
	for (int i = 0; i < 3; i++) {
		peer_redirect(p->elsewhere, i % 2 ? ELSEWHERE("1") : ELSEWHERE("2"));
		process_advance(p, REPORT_MS);
		cr_expect_str_eq(peer_request(p->elsewhere), CAPACITY);
		cr_expect(peer_has_header(p->elsewhere, AGENT_TERM_HEADER ": uid.7"));
	}
	cr_expect_eq(p->connected, 4);
	end(p);
}
