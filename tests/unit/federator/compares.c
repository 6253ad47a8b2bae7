/*
 * What each transaction about a job compares and writes, row by row as design document 3 has it.
 * A compare that is missing here is a race somewhere: none of them shows in a run without one.
 */
#include <string.h>

#include "base/json.h"
#include "caller.h"

#define JOBS       "/apis/batch.volcano.sh/v1alpha1/namespaces/default/jobs"
#define JOB        JOBS "/j"
#define CLUSTERS   "/apis/federator.dev/v1alpha1/clusters/"
#define CLUSTER    CLUSTERS "a"
#define LEASE      "/apis/coordination.k8s.io/v1/namespaces/cluster-a/leases/agent"
#define PLACEMENTS "/apis/federator.dev/v1alpha1/namespaces/cluster-a/placements/"

/* A hub with cluster a, its administrator and its agent, which has said hello. */
struct scene {
	struct bed *bed;
	struct caller *admin, *agent;
	struct strbuf trace;
};

/* What was asked up to now. */
static void skip(struct scene *s)
{
	bed_trace(s->bed, &s->trace);
	strbuf_clear(&s->trace);
}

static int say_hello(struct scene *s, const char *cluster_uid, const char *member_uid)
{
	auto_xfree char *body = xasprintf("{clusterUID: %s, memberUID: %s, protocols: [1]}",
					  cluster_uid, member_uid);

	return caller_call(s->agent, "POST", CLUSTER "/hello", body);
}

static void scene_begin(struct scene *s, int nodes)
{
	s->bed = bed_create();
	bed_cluster(s->bed, "a");
	bed_report(s->bed, "a", 1, nodes);
	s->admin = caller_create(s->bed, "admin", "system:masters");
	s->agent = caller_create(s->bed, "system:cluster:a", NULL);
	cr_assert_eq(say_hello(s, "uid-a", "m"), 200);
	caller_set_term(s->agent, "uid-a.1");
	skip(s);
}

static void scene_end(struct scene *s)
{
	caller_destroy(s->admin);
	caller_destroy(s->agent);
	bed_destroy(s->bed);
	strbuf_finish(&s->trace);
}

static void submit(struct scene *s, const char *more_spec, const char *more_meta)
{
	auto_xfree char *yaml = xasprintf(
		"{apiVersion: batch.volcano.sh/v1alpha1, kind: Job, metadata: {name: j%s}, spec: {"
		"queue: default, minAvailable: 1, tasks: [{name: t, replicas: 1, template: {spec: {"
		"containers: [{name: c, image: i, resources: {requests: {cpu: '4'}}}]}}}]%s}}",
		more_meta, more_spec);
	int status = caller_call(s->admin, "POST", JOBS, yaml);

	cr_assert_eq(status, 201, "%d", status);
}

/* The agent's word about the present attempt of j; the status of the answer. */
static int say(struct scene *s, const char *state, const char *more)
{
	auto_json *p = bed_placement(s->bed, "j");
	auto_xfree char *path =
		xasprintf(PLACEMENTS "%s/status", json_str_at(p, "metadata", "name", NULL));
	auto_xfree char *body =
		xasprintf("{metadata: {resourceVersion: '%s'}, status: {state: %s%s}}",
			  json_str_at(p, "metadata", "resourceVersion", NULL), state, more);

	cr_assert(p, "there is no placement for %s", state);
	return caller_call(s->agent, "PATCH", path, body);
}

static void must_say(struct scene *s, const char *state, const char *more)
{
	int status = say(s, state, more);

	cr_assert_eq(status, 200, "%s: %d", state, status);
}

/* The transactions since the last look, once there are as many; and no more. */
static void expect(struct scene *s, const char *what, const char *wanted)
{
	auto_strbuf more = {0};

	for (int i = 0; i < 3000 && strlen(strbuf_str(&s->trace)) < strlen(wanted); i++) {
		bed_sleep(s->bed, 1);
		bed_trace(s->bed, &more);
		strbuf_adds(&s->trace, strbuf_str(&more));
	}
	bed_sleep(s->bed, 50);
	bed_trace(s->bed, &more);
	strbuf_adds(&s->trace, strbuf_str(&more));
	cr_expect_str_eq(strbuf_str(&s->trace), wanted, "%s:\n%swanted:\n%s", what,
			 strbuf_str(&s->trace), wanted);
	strbuf_clear(&s->trace);
}

static void offer(struct scene *s)
{
	submit(s, "", "");
	bed_wait_phase(s->bed, "j", "Confirmed");
	expect(s, "submit and offer",
	       "Job=0 Namespace -> Job\n"
	       "Job L Placement=0 record=0 -> Placement record\n");
}

static void claim(struct scene *s)
{
	offer(s);
	must_say(s, "Claimed", ", capacitySeq: 4294967297");
	expect(s, "claim", "Placement term -> Placement\n");
}

static void run(struct scene *s)
{
	claim(s);
	must_say(s, "Running", ", counts: {t: {Running: 1}}");
	expect(s, "running", "Placement record term -> Placement record\n");
}

static void delete_j(struct scene *s)
{
	cr_assert_eq(caller_call(s->admin, "DELETE", JOB, NULL), 200);
}

Test(compares, one_life)
{
	struct scene s = {0};

	scene_begin(&s, 1);
	run(&s);
	must_say(&s, "Done", ", outcome: {phase: Completed}");
	expect(&s, "last word", "Placement record term -> -Placement record\n");
	cr_expect_str_eq(bed_phase(s.bed, "j"), "Ended");
	delete_j(&s);
	expect(&s, "deletion of what has ended", "Job record -> -Job -record\n");
	scene_end(&s);
}

Test(compares, expiry)
{
	struct scene s = {0};

	scene_begin(&s, 1);
	submit(&s, ", ttlSecondsAfterFinished: 0", "");
	bed_wait_phase(s.bed, "j", "Confirmed");
	must_say(&s, "Claimed", "");
	skip(&s);
	must_say(&s, "Done", ", outcome: {phase: Failed}");
	expect(&s, "expiry",
	       "Placement record term -> -Placement record\n"
	       "Job L record -> -Job -record\n");
	scene_end(&s);
}

Test(compares, refusal_and_release_move_the_record_with_the_word)
{
	struct scene s = {0};

	scene_begin(&s, 1);
	offer(&s);
	must_say(&s, "Refused", ", reason: NameTaken");
	expect(&s, "refusal", "Placement record term -> -Placement record\n");
	scene_end(&s);
	s = (struct scene){0};
	scene_begin(&s, 1);
	claim(&s);
	must_say(&s, "Released", ", reason: NameTaken");
	expect(&s, "release", "Placement record term -> -Placement record\n");
	scene_end(&s);
}

Test(compares, an_offer_that_nobody_claimed_is_taken_back_by_the_leader_alone)
{
	struct scene s = {0};

	scene_begin(&s, 1);
	offer(&s);
	delete_j(&s);
	expect(&s, "deletion before the claim",
	       "Job record -> Job\n"
	       "Job L Placement record -> -Placement record\n"
	       "Job L record -> -Job -record\n");
	scene_end(&s);
}

Test(compares, what_is_claimed_ends_by_the_agents_word)
{
	struct scene s = {0};

	scene_begin(&s, 1);
	claim(&s);
	delete_j(&s);
	expect(&s, "abort",
	       "Job record -> Job\n"
	       "Job L Placement record -> Placement record\n");
	cr_expect_str_eq(bed_phase(s.bed, "j"), "Releasing");
	must_say(&s, "Released", ", reason: Released");
	expect(&s, "last word, removal",
	       "Placement record term -> -Placement record\n"
	       "Job L record -> -Job -record\n");
	scene_end(&s);
}

Test(compares, a_running_job_ends_by_the_agents_word)
{
	struct scene s = {0};

	scene_begin(&s, 1);
	run(&s);
	delete_j(&s);
	expect(&s, "abort",
	       "Job record -> Job\n"
	       "Job L Placement record -> Placement record\n");
	must_say(&s, "Done", ", outcome: {phase: Completed}");
	expect(&s, "done wins",
	       "Placement record term -> -Placement record\n"
	       "Job L record -> -Job -record\n");
	scene_end(&s);
}

/* A renewal of the lead that comes late is no change of leader: nobody begins anew. */
Test(compares, what_fell_due_in_a_lapse_of_the_lead_is_done_after_it)
{
	struct scene s = {0};
	struct election *mine;

	scene_begin(&s, 1);
	offer(&s);
	mine = bed_hub(s.bed)->election;
	bed_hub(s.bed)->election = NULL;
	delete_j(&s);
	expect(&s, "the lapse", "Job record -> Job\n");
	bed_hub(s.bed)->election = mine;
	expect(&s, "after it",
	       "Job L Placement record -> -Placement record\n"
	       "Job L record -> -Job -record\n");
	scene_end(&s);
}

/* Stored by another version, or bent: only its record can be read. */
static void make_unreadable(struct scene *s)
{
	auto_json *job = bed_job(s->bed, "j");
	auto_xfree char *yaml =
		xasprintf("{metadata: {name: j, uid: %s, finalizers: [" JOB_FINALIZER "]}, spec: {"
			  "queue: default, tasks: [{name: t, replicas: many}]}}",
			  json_str_at(job, "metadata", "uid", NULL));

	bed_put(s->bed, "jobs", yaml);
	bed_sleep(s->bed, 100);
	skip(s);
}

Test(compares, a_job_that_cannot_be_read_is_removed_as_any_other)
{
	struct scene s = {0};

	scene_begin(&s, 1);
	run(&s);
	make_unreadable(&s);
	delete_j(&s);
	expect(&s, "abort",
	       "Job record -> Job\n"
	       "Job L Placement record -> Placement record\n");
	must_say(&s, "Released", ", reason: Released");
	expect(&s, "last word, removal",
	       "Placement record term -> -Placement record\n"
	       "Job L record -> -Job -record\n");
	scene_end(&s);
	s = (struct scene){0};
	scene_begin(&s, 1);
	offer(&s);
	make_unreadable(&s);
	delete_j(&s);
	expect(&s, "before the claim",
	       "Job record -> Job\n"
	       "Job L Placement record -> -Placement record\n"
	       "Job L record -> -Job -record\n");
	scene_end(&s);
}

/* Its own goes last, and only from the leader's hand. */
Test(compares, others_finalizers_hold_the_job)
{
	struct scene s = {0};

	scene_begin(&s, 1);
	submit(&s, "", ", finalizers: [example.com/audit]");
	bed_wait_phase(s.bed, "j", "Confirmed");
	must_say(&s, "Claimed", "");
	must_say(&s, "Done", ", outcome: {phase: Completed}");
	delete_j(&s);
	bed_sleep(s.bed, 100);
	skip(&s);
	cr_assert_eq(caller_call(s.admin, "PATCH", JOB, "{metadata: {labels: {a: b}}}"), 200);
	expect(&s, "the other holds it", "Job -> Job\n");
	cr_assert_eq(caller_call(s.admin, "PATCH", JOB, "{metadata: {finalizers: []}}"), 200);
	expect(&s, "the other lets go",
	       "Job -> Job\n"
	       "Job L record -> -Job -record\n");
	scene_end(&s);
}

Test(compares, a_user_cannot_drop_the_hubs_finalizer)
{
	struct scene s = {0};
	const json_t *finalizers;

	scene_begin(&s, 1);
	claim(&s);
	cr_assert_eq(caller_call(s.admin, "PATCH", JOB, "{metadata: {finalizers: []}}"), 200);
	finalizers = json_at(caller_body(s.admin), "metadata", "finalizers", NULL);
	cr_expect_str_eq(json_string_value(json_array_get(finalizers, 0)), JOB_FINALIZER);
	scene_end(&s);
}

/* While it waits, a spec may change: by a compare with what says that it waits. */
Test(compares, a_change_of_spec_names_the_record)
{
	struct scene s = {0};

	scene_begin(&s, 0);
	submit(&s, "", "");
	bed_wait_pending(s.bed, "j", "NoRoom");
	skip(&s);
	cr_assert_eq(caller_call(s.admin, "PATCH", JOB, "{spec: {maxRetry: 7}}"), 200);
	expect(&s, "spec", "Job record -> Job\n");
	cr_assert_eq(caller_call(s.admin, "PATCH", JOB, "{metadata: {labels: {a: b}}}"), 200);
	expect(&s, "labels", "Job -> Job\n");
	delete_j(&s);
	expect(&s, "deletion while it waits", "Job record -> -Job -record\n");
	scene_end(&s);
}

Test(compares, a_word_names_the_version_that_it_is_about)
{
	struct scene s = {0};
	auto_json *p = NULL;
	auto_xfree char *path = NULL;

	scene_begin(&s, 1);
	offer(&s);
	p = bed_placement(s.bed, "j");
	path = xasprintf(PLACEMENTS "%s/status", json_str_at(p, "metadata", "name", NULL));
	cr_expect_eq(caller_call(s.agent, "PATCH", path, "{status: {state: Claimed}}"), 422);
	cr_expect_eq(caller_call(s.agent, "PATCH", path,
				 "{metadata: {resourceVersion: '1'}, status: {state: Claimed}}"),
		     409);
	expect(&s, "neither was written", "");
	scene_end(&s);
}

/* The caller's. */
static char *with_version(const char *text, const char *version)
{
	const char *at = strstr(text, "%s");

	return at ? xasprintf("%.*s%s%s", (int)(at - text), text, version, at + 2) : xstrdup(text);
}

#define VERSION "/metadata/resourceVersion"

/* By a patch of operations too, whose result has a version whatever they say. */
Test(compares, a_list_of_operations_names_a_version_or_none)
{
	static const struct {
		const char *operations; /* %s: the present version */
		int status;
	} cases[] = {
		{"", 422},
		{"{op: remove, path: " VERSION "}, ", 422},
		{"{op: add, path: " VERSION ", value: '%s'}, {op: remove, path: " VERSION "}, ",
		 422},
		{"{op: test, path: " VERSION ", value: '%s'}, {op: remove, path: " VERSION "}, ",
		 422},
		{"{op: replace, path: " VERSION ", value: null}, ", 422},
		{"{op: copy, from: " VERSION ", path: " VERSION "}, ", 422},
		{"{op: add, path: " VERSION ", value: '%s'}, {op: move, from: " VERSION
		 ", path: /metadata/labels}, ",
		 422},
		{"{op: replace, path: " VERSION ", value: '1'}, ", 409},
		{"{op: test, path: " VERSION ", value: '%s'}, ", 200},
		{"{op: replace, path: " VERSION ", value: '%s'}, ", 200},
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct scene s = {0};
		auto_json *p = NULL;
		auto_xfree char *first = NULL, *body = NULL, *path = NULL;

		scene_begin(&s, 1);
		offer(&s);
		p = bed_placement(s.bed, "j");
		path = xasprintf(PLACEMENTS "%s/status", json_str_at(p, "metadata", "name", NULL));
		first = with_version(cases[i].operations,
				     json_str_at(p, "metadata", "resourceVersion", NULL));
		body = xasprintf("[%s{op: add, path: /status, value: {state: Claimed}}]", first);
		cr_expect_eq(caller_call(s.agent, "PATCH", path, body), cases[i].status, "%s",
			     body);
		expect(&s, body, cases[i].status == 200 ? "Placement term -> Placement\n" : "");
		scene_end(&s);
	}
}

/* --- deletion of what must be empty --- */

/* What came last is not in the view of a replica that lags. */
Test(compares, no_cluster_and_no_queue_goes_that_a_lagging_replica_thinks_empty)
{
	static const char placement[] =
		"{metadata: {name: u-0-1, uid: p}, spec: {job: {namespace: default, name: k, uid: "
		"u}, part: 0, generation: 1, incarnation: 0, clusterUID: uid-a, desired: Go, "
		"size: {seq: 1, tasks: []}, protocol: 1}, status: {state: Claimed}}";
	static const char queue[] = "/apis/scheduling.volcano.sh/v1beta1/queues/q";
	struct scene s = {0};

	scene_begin(&s, 0);
	bed_put(s.bed, "queues", "{metadata: {name: q, uid: q1}, spec: {}}");
	bed_sleep(s.bed, 20);
	cache_hold_back(bed_hub(s.bed)->cache, true);
	bed_put_in(s.bed, "placements", "cluster-a", placement);
	bed_put(s.bed, "jobs", "{metadata: {name: k, uid: u}, spec: {queue: q, tasks: []}}");
	cr_expect_eq(caller_call(s.admin, "DELETE", CLUSTER, NULL), 503);
	cr_expect_eq(caller_call(s.admin, "DELETE", queue, NULL), 503);
	cache_hold_back(bed_hub(s.bed)->cache, false);
	cr_expect_eq(caller_call(s.admin, "DELETE", CLUSTER, NULL), 403);
	cr_expect_eq(caller_call(s.admin, "DELETE", queue, NULL), 403);
	bed_cluster(s.bed, "b");
	cr_expect_eq(caller_call(s.admin, "DELETE", CLUSTERS "b", NULL), 200, "it is empty");
	scene_end(&s);
}

/* --- terms --- */

static const char *cause_of(const struct caller *c)
{
	const json_t *causes = json_at(caller_body(c), "details", "causes", NULL);
	const char *reason = json_str_at(json_array_get(causes, 0), "reason", NULL);

	return reason ? reason : "";
}

Test(compares, hello_raises_the_term_by_compare)
{
	struct scene s = {0};

	scene_begin(&s, 1);
	cr_assert_eq(say_hello(&s, "uid-a", "m"), 200);
	cr_expect_eq(json_int_at(caller_body(s.agent), 0, "term", NULL), 2);
	expect(&s, "hello", "term -> term\n");
	scene_end(&s);
}

Test(compares, hello_is_for_one_cluster_and_one_member)
{
	struct scene s = {0};

	scene_begin(&s, 1);
	cr_expect_eq(say_hello(&s, "uid-old", "m"), 403, "joined anew under the name");
	cr_expect_eq(say_hello(&s, "uid-a", "other"), 403, "another member");
	cr_expect_str_eq(cause_of(s.agent), "", "neither is cured by waiting");
	expect(&s, "no term was raised", "");
	scene_end(&s);
}

/* The certificate may be of before: an administrator has not said yes to this Cluster. */
Test(compares, hello_before_it_is_accepted_is_refused_for_now)
{
	struct scene s = {0};

	scene_begin(&s, 1);
	bed_put(s.bed, "clusters", "{metadata: {name: a, uid: uid-a}, spec: {}}");
	cr_expect_eq(say_hello(&s, "uid-a", "m"), 403);
	cr_expect_str_eq(cause_of(s.agent), "NotAccepted");
	bed_put(s.bed, "clusters", "{metadata: {name: a, uid: uid-a}, spec: {accepted: true}}");
	cr_expect_eq(say_hello(&s, "uid-a", "m"), 200);
	scene_end(&s);
}

/* It may go on asking: nothing that it has is taken from it. */
Test(compares, an_agent_is_told_that_its_cluster_was_deleted)
{
	static const char beat[] = "{spec: {holderIdentity: a}}";
	struct scene s = {0};

	scene_begin(&s, 1);
	cr_assert_eq(caller_call(s.admin, "DELETE", CLUSTER, NULL), 200);
	cr_expect_eq(caller_call(s.agent, "PATCH", LEASE, beat), 403);
	cr_expect_str_eq(cause_of(s.agent), "ClusterUnknown");
	cr_expect_eq(caller_call(s.agent, "POST", CLUSTER "/capacity", "{seq: 2}"), 403);
	cr_expect_str_eq(cause_of(s.agent), "ClusterUnknown");
	cr_expect_eq(say_hello(&s, "uid-a", "m"), 404);
	cr_expect_str_eq(cause_of(s.agent), "ClusterUnknown");
	bed_put(s.bed, "clusters", "{metadata: {name: a, uid: uid-new}, spec: {accepted: true}}");
	cr_expect_eq(caller_call(s.agent, "PATCH", LEASE, beat), 409, "joined anew");
	cr_expect_str_eq(cause_of(s.agent), "TermSuperseded");
	scene_end(&s);
}

Test(compares, a_deposed_agent_changes_nothing)
{
	static const char *const terms[] = {"uid-a.1", "uid-a.0", "uid-old.2", "2", "", NULL};
	struct scene s = {0};

	scene_begin(&s, 1);
	offer(&s);
	cr_assert_eq(say_hello(&s, "uid-a", "m"), 200);
	expect(&s, "hello", "term -> term\n");
	for (size_t i = 0; i < ARRAY_LEN(terms); i++) {
		caller_set_term(s.agent, terms[i]);
		cr_expect_eq(say(&s, "Claimed", ""), 409, "%s", terms[i]);
		cr_expect_str_eq(cause_of(s.agent), "TermSuperseded", "%s", terms[i]);
	}
	expect(&s, "nothing was written", "");
	caller_set_term(s.agent, "uid-a.2");
	must_say(&s, "Claimed", "");
	scene_end(&s);
}
