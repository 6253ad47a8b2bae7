/* What the link asks of the hub. */
#include "member-agent/link.h"

#include <criterion/criterion.h>
#include <string.h>

#include "base/json.h"
#include "process.h"

static void on_job(struct doc *job, const struct error *err, void *arg)
{
}

static void on_object(const json_t *object, const struct error *err, void *arg)
{
	snprintf(arg, 20, "%s", json_str_at(object, "kind", NULL));
}

static void on_up(struct agent *a)
{
	link_start_placements(a->link);
}

/* A replica that lags would show what the Job refers to as it was, or not at all. */
Test(link, reads_nothing_older_than_the_placement)
{
	auto_free(process_destroy) struct process *p = process_create();
	struct link *l = link_create(&p->agent, on_up);
	struct owner *o = link_owner(l);
	char name[] = "j", ns[] = "x", kind[20] = "";
	struct placement placement = {.job_name = name, .job_ns = ns, .meta = {.version = 77}};

	o->ops->read_job(o, &placement, on_job, NULL);
	cr_expect_str_eq(peer_request(p->hub),
			 "GET /apis/batch.volcano.sh/v1alpha1/namespaces/x/jobs/j"
			 "?resourceVersion=77&resourceVersionMatch=NotOlderThan");
	peer_answer(p->hub, 404, "{}");
	o->ops->read_object(o, &placement, "/api/v1/namespaces/x/secrets/y", on_object, kind);
	cr_expect_str_eq(peer_request(p->hub),
			 "GET /api/v1/namespaces/x/secrets/y"
			 "?resourceVersion=77&resourceVersionMatch=NotOlderThan");
	cr_expect(peer_has_header(p->hub, "Federator-Job: j"));
	peer_answer(p->hub, 200, "{\"kind\":\"Secret\"}");
	cr_expect_str_eq(kind, "Secret");
	link_destroy(l);
}

#define LIST                                                                                       \
	"GET /apis/federator.dev/v1alpha1/namespaces/cluster-gpu/placements?limit=500"             \
	"&resourceVersion=%s&resourceVersionMatch=NotOlderThan"
#define PLACEMENT(version)                                                                          \
	"{\"apiVersion\":\"federator.dev/v1alpha1\",\"kind\":\"Placement\",\"metadata\":{\"name\":" \
	"\"u-0-1\",\"namespace\":\"cluster-gpu\",\"resourceVersion\":\"" version "\"},\"spec\":{"   \
	"\"job\":{\"namespace\":\"x\",\"name\":\"j\",\"uid\":\"u\"},\"part\":0,\"generation\":1,"   \
	"\"incarnation\":0,\"clusterUID\":\"other\",\"desired\":\"Go\"}}"
#define PLACEMENTS(version, items)                                                                 \
	"{\"metadata\":{\"resourceVersion\":\"" version "\"},\"items\":[" items "]}"
#define STATUS(code, reason, details)                                                              \
	"{\"kind\":\"Status\",\"status\":\"Failure\",\"message\":\"m\",\"reason\":\"" reason       \
	"\",\"code\":" code details "}"
#define SUPERSEDED                                                                                 \
	STATUS("409", "Conflict", ",\"details\":{\"causes\":[{\"reason\":\"TermSuperseded\"}]}")

/* An agent that has seen version 50 of its hub, and has a runner whose member does not answer. */
static void start(struct process *p)
{
	struct runner_config config = {.cluster = "gpu", .own_namespace = AGENT_NAMESPACE};
	struct agent *a = &p->agent;

	a->hub_version = 50;
	a->identity.cluster_uid = xstrdup("cu");
	a->member_uid = xstrdup("m");
	a->link = link_create(a, on_up);
	a->runner = runner_create(a->env, a->member, link_owner(a->link), &config, NULL, NULL);
	link_say_hello(a->link);
}

static void end(struct process *p)
{
	runner_destroy(p->agent.runner);
	link_destroy(p->agent.link);
	free(take_ptr(p->agent.member_uid));
}

static void hear_hello(struct process *p, const char *revision)
{
	auto_xfree char *body = xasprintf(
		"{\"term\":3,\"incarnation\":0,\"revision\":\"%s\",\"protocol\":1}", revision);

	peer_answer(p->hub, 200, body);
	process_advance(p, 1);
}

Test(link, begins_with_a_view_that_is_not_older_than_its_hello)
{
	auto_free(process_destroy) struct process *p = process_create();
	auto_xfree char *list = xasprintf(LIST, "90");

	start(p);
	cr_expect(strstr(peer_body(p->hub), "\"revision\":\"50\""), "%s", peer_body(p->hub));
	hear_hello(p, "90");
	cr_expect_str_eq(peer_request(p->hub), list);
	cr_expect(peer_has_header(p->hub, AGENT_TERM_HEADER ": cu.3"));
	peer_answer(p->hub, 200, PLACEMENTS("89", ""));
	process_advance(p, 1000);
	cr_expect_str_eq(peer_request(p->hub), list, "an older one is not taken");
	end(p);
}

/* Its store was restored: what it shows may be of before. */
Test(link, does_not_speak_for_a_hub_that_went_back)
{
	auto_free(process_destroy) struct process *p = process_create();

	start(p);
	hear_hello(p, "49");
	cr_expect_null(p->agent.term);
	process_advance(p, 20000);
	cr_expect(strstr(peer_request(p->hub), "/hello"), "%s", peer_request(p->hub));
	hear_hello(p, "50");
	cr_expect_str_eq(p->agent.term, "cu.3");
	end(p);
}

/* Deleted there, or of another hub: it was joined anew, and versions count anew. */
Test(link, versions_that_were_seen_as_another_cluster_do_not_count)
{
	static const struct {
		const char *what, *seen_as;
		bool counts;
	} cases[] = {
		{"as this one", "cu", true},
		{"nobody knows as which", NULL, true},
		{"as another", "cu-of-another-hub", false},
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		auto_free(process_destroy) struct process *p = process_create();

		p->agent.hub_cluster = cases[i].seen_as ? xstrdup(cases[i].seen_as) : NULL;
		start(p);
		hear_hello(p, "7");
		cr_expect_eq(!p->agent.term, cases[i].counts, "%s", cases[i].what);
		cr_expect_str_eq(p->agent.hub_cluster, "cu");
		cr_expect_eq(p->agent.hub_version, cases[i].counts ? 50 : 7, "%s", cases[i].what);
		end(p);
	}
}

/* Forgotten is what is absent from a view that is not older than its claim. */
Test(link, absence_counts_from_the_claim_on)
{
	auto_free(process_destroy) struct process *p = process_create();
	struct owner *o;

	start(p);
	o = link_owner(p->agent.link);
	cr_expect_not(o->ops->is_absent(o, "u-0-1", 0), "before hello");
	hear_hello(p, "90");
	cr_expect_not(o->ops->is_absent(o, "u-0-1", 0), "before the list");
	peer_answer(p->hub, 200, PLACEMENTS("95", PLACEMENT("91")));
	cr_expect_not(o->ops->is_absent(o, "u-0-1", 91), "it is there");
	cr_expect(o->ops->is_absent(o, "u-0-2", 95));
	cr_expect_not(o->ops->is_absent(o, "u-0-2", 96), "claimed after this view");
	end(p);
}

struct heard {
	int times;
	enum owner_reply reply;
};

static void on_said(enum owner_reply reply, struct doc *now, const struct error *err, void *arg)
{
	struct heard *h = arg;

	h->times++;
	h->reply = reply;
}

static void say(struct process *p, struct heard *h)
{
	struct owner *o = link_owner(p->agent.link);
	auto_free(doc_unref) struct doc *doc =
		doc_create("u-0-1", PLACEMENT("91"), strlen(PLACEMENT("91")));
	auto_json *status = json_pack("{ss}", "state", "Released");

	doc->version = 91;
	o->ops->say(o, doc, status, on_said, h);
	cr_assert(strstr(peer_request(p->hub), "PUT "), "%s", peer_request(p->hub));
	cr_expect(strstr(peer_body(p->hub), "\"resourceVersion\":\"91\""), "%s", peer_body(p->hub));
}

/* Up, with nothing else under way at the hub. */
static void come_up(struct process *p)
{
	start(p);
	hear_hello(p, "90");
	peer_answer(p->hub, 200, PLACEMENTS("95", ""));
	process_advance(p, 1);
	peer_lose(p->hub, ERR_UNREACHABLE); /* the watch */
}

Test(link, only_what_is_known_is_taken_for_an_answer)
{
	static const struct {
		int status;
		const char *body;
		enum owner_reply reply;
	} cases[] = {
		{200, PLACEMENT("99"), OWNER_OK},
		{409, STATUS("409", "Conflict", ""), OWNER_CHANGED},
		{404, STATUS("404", "NotFound", ""), OWNER_GONE},
		{403, STATUS("403", "Forbidden", ""), OWNER_LATER},
		{504, STATUS("504", "Timeout", ""), OWNER_LATER},
		{0, "", OWNER_LATER},
	};
	auto_free(process_destroy) struct process *p = process_create();

	come_up(p);
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct heard h = {0};

		say(p, &h);
		if (cases[i].status)
			peer_answer(p->hub, cases[i].status, cases[i].body);
		else
			peer_lose(p->hub, ERR_UNKNOWN_OUTCOME);
		cr_expect_eq(h.times, 1, "case %zu", i);
		cr_expect_eq(h.reply, cases[i].reply, "case %zu", i);
	}
	cr_expect_eq(p->deposed, 0);
	end(p);
}

Test(link, an_agent_whose_term_is_over_leaves)
{
	auto_free(process_destroy) struct process *p = process_create();
	struct heard h = {0};

	come_up(p);
	say(p, &h);
	peer_answer(p->hub, 409, SUPERSEDED);
	cr_expect_eq(p->deposed, 1);
	cr_expect_eq(h.times, 0, "nobody acts on it");
	end(p);
}

#define NOT_ACCEPTED                                                                               \
	STATUS("403", "Forbidden", ",\"details\":{\"causes\":[{\"reason\":\"NotAccepted\"}]}")

/* It kept its certificate, or the hub's administrator has changed his mind. */
Test(link, waits_to_be_accepted)
{
	auto_free(process_destroy) struct process *p = process_create();

	process_keep_log();
	start(p);
	for (int i = 0; i < 20; i++) {
		cr_expect(strstr(peer_request(p->hub), "/hello"), "%s", peer_request(p->hub));
		peer_answer(p->hub, 403, NOT_ACCEPTED);
		process_advance(p, 1000);
	}
	cr_expect_eq(p->stopped, 0);
	cr_expect_null(p->agent.term);
	cr_expect_eq(process_logged("waits: the hub has to accept it: fedctl cluster accept gpu"),
		     1);
	hear_hello(p, "90");
	cr_expect_str_eq(p->agent.term, "cu.3");
	end(p);
}

#define UNKNOWN                                                                                    \
	STATUS("404", "NotFound", ",\"details\":{\"causes\":[{\"reason\":\"ClusterUnknown\"}]}")

/* Somebody deleted its Cluster while it was away: it asks on, for the hub may be restored. */
Test(link, says_once_that_its_cluster_was_deleted)
{
	auto_free(process_destroy) struct process *p = process_create();

	process_keep_log();
	p->agent.settings.state = xstrdup("/var/state");
	start(p);
	for (int i = 0; i < 4; i++) {
		cr_expect(strstr(peer_request(p->hub), "/hello"), "%s", peer_request(p->hub));
		peer_answer(p->hub, 404, UNKNOWN);
		process_advance(p, AGENT_FORGOTTEN_MS - 1);
		cr_expect_eq(peer_waiting(p->hub), 0, "too soon");
		process_advance(p, 1);
	}
	cr_expect_eq(p->stopped, 0);
	cr_expect_eq(process_logged("has no cluster gpu any more: somebody deleted it;"), 1);
	cr_expect_eq(process_logged("delete what it keeps in /var/state, "), 1);
	hear_hello(p, "90");
	cr_expect_str_eq(p->agent.term, "cu.3");
	free(take_ptr(p->agent.settings.state));
	end(p);
}

/* Joined anew under its name, or another member: waiting helps nobody. */
Test(link, an_agent_that_is_refused_ends)
{
	auto_free(process_destroy) struct process *p = process_create();

	start(p);
	peer_answer(p->hub, 403, STATUS("403", "Forbidden", ""));
	cr_expect_eq(p->stopped, 1);
	cr_expect_eq(p->exit_code, 1);
	end(p);
}
