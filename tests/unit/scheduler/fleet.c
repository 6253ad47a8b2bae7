/* Level 1: order of events, debits, and the bookkeeping that cases in YAML do not show. */
#include "scheduler/fleet.h"

#include <criterion/criterion.h>
#include <string.h>

#include "tests/unit/property.h"
#include "world.h"

static void add_cluster(struct fleet *f, const char *yaml)
{
	auto_json *j = world_yaml(yaml);

	world_add_cluster(f, j);
}

static void add_queue(struct fleet *f, const char *yaml)
{
	auto_json *j = world_yaml(yaml);
	auto_free(queue_destroy) struct queue *q = world_queue(j);

	fleet_queue_set(f, q);
}

static void submit(struct fleet *f, const char *yaml)
{
	auto_free(job_destroy) struct job *job = world_job_yaml(yaml);
	struct error err;

	cr_assert_eq(fleet_submit(f, job, 0, 1, &err), 0, "%s", err.text);
}

static void adopt(struct fleet *f, const char *yaml, const char *cluster, int64_t seq)
{
	auto_free(job_destroy) struct job *job = world_job_yaml(yaml);
	const int32_t choices[] = {job->n_alternatives ? 1 : -1, -1};
	struct fleet_attempt a = {cluster, choices, 1, seq};
	struct error err;

	cr_assert_eq(fleet_adopt(f, job, 0, &a, &err), 0, "%s", err.text);
}

/* How many jobs of one CPU are placed now; they are taken back again. */
static int room(struct fleet *f)
{
	int placed = 0;

	for (int i = 0; i < 64; i++) {
		auto_xfree char *yaml =
			xasprintf("{name: probe-%02d, tasks: [{name: m, requests: {cpu: 1}}]}", i);

		submit(f, yaml);
	}
	{
		auto_json *decided = world_decide(f, 0);
		const char *name;
		json_t *d;

		json_object_foreach (decided, name, d)
			placed += !strncmp(name, "probe", 5) && json_object_get(d, "cluster");
	}
	for (int i = 0; i < 64; i++) {
		auto_xfree char *uid = xasprintf("probe-%02d", i);

		fleet_forget(f, uid, 0);
	}
	return placed;
}

/* --- a new leader ------------------------------------------------------------------------- */

Test(fleet, open_attempts_are_debited_until_a_report_has_them)
{
	struct fleet *f = fleet_create();

	add_queue(f, "{name: default}");
	/* attempts are known before their cluster, and before its report */
	adopt(f, "{name: old, tasks: [{name: m, replicas: 2, requests: {cpu: 1}}]}", "a", 7);
	adopt(f, "{name: new, tasks: [{name: m, requests: {cpu: 1}}]}", "a", 9);
	adopt(f, "{name: unclaimed, tasks: [{name: m, requests: {cpu: 1}}]}", "a", 0);
	cr_expect_eq(room(f), 0);
	add_cluster(f, "{name: a, seq: 8, nodes: [{count: 2, allocatable: {cpu: 4}}]}");
	cr_expect_eq(room(f), 6, "the report has `old` in it");
	fleet_claimed(f, "unclaimed", 1, 8);
	cr_expect_eq(room(f), 7);
	fleet_claimed(f, "unclaimed", 1, 8);
	fleet_claimed(f, "new", 2, 8);
	cr_expect_eq(room(f), 7, "twice, or of another generation, is nothing");
	fleet_forget(f, "new", 10);
	cr_expect_eq(room(f), 7, "it is over, but the report is older than its end");
	add_cluster(f, "{name: a, seq: 10, nodes: [{count: 2, allocatable: {cpu: 4}}]}");
	cr_expect_eq(room(f), 8);
	cr_expect_null(fleet_fault(f));
	fleet_destroy(f);
}

Test(fleet, a_debit_that_finds_less_room_takes_what_is_there)
{
	struct fleet *f = fleet_create();

	add_queue(f, "{name: default}");
	add_cluster(f, "{name: a, nodes: [{count: 1, allocatable: {cpu: 4}}]}");
	adopt(f, "{name: j, tasks: [{name: m, replicas: 4, requests: {cpu: 1}}]}", "a", 0);
	cr_expect_eq(room(f), 0);
	add_cluster(
		f, "{name: a, seq: 2, nodes: [{count: 1, allocatable: {cpu: 4}, free: {cpu: 2}}]}");
	cr_expect_eq(room(f), 0);
	add_cluster(f, "{name: a, seq: 3, nodes: [{count: 1, allocatable: {cpu: 8}}]}");
	cr_expect_eq(room(f), 4);
	fleet_forget(f, "j", 0);
	cr_expect_eq(room(f), 8);
	fleet_destroy(f);
}

/* A younger job that came first gives way, in the books, to one that is more urgent. */
Test(fleet, debits_are_placed_again_in_the_order_of_gangs)
{
	struct fleet *f = fleet_create();
	auto_free(job_destroy) struct job *urgent =
		world_job_yaml("{name: urgent, tasks: [{name: m, requests: {cpu: 2}}]}");
	struct error err;

	add_queue(f, "{name: default}");
	add_cluster(f, "{name: a, nodes: [{count: 1, allocatable: {cpu: 8}}]}");
	submit(f, "{name: big, tasks: [{name: m, requests: {cpu: 4}}]}");
	json_decref(world_decide(f, 0));
	cr_assert_eq(fleet_submit(f, urgent, 9, 1, &err), 0);
	json_decref(world_decide(f, 0));
	cr_expect_eq(room(f), 2);
	add_cluster(
		f, "{name: a, seq: 2, nodes: [{count: 1, allocatable: {cpu: 8}, free: {cpu: 4}}]}");
	cr_expect_eq(room(f), 2, "urgent has 2 of 4, and big finds no room");
	fleet_destroy(f);
}

/* --- reports ------------------------------------------------------------------------------ */

static bool report(struct fleet *f, int64_t seq, bool full, int64_t cpu, int64_t count)
{
	struct resource amounts[] = {{"cpu", cpu}, {"pods", 110}};
	struct shape s = {.amounts = {amounts, 2}, .count = count};

	return fleet_report(f, "a", seq, full, &s, 1);
}

Test(fleet, changes_of_a_report_and_what_is_out_of_order)
{
	struct fleet *f = fleet_create();

	add_queue(f, "{name: default}");
	add_cluster(f, "{name: a, reported: false}");
	cr_expect(!report(f, 1, false, 4000, 1), "a change of nothing");
	add_cluster(f, "{name: a, seq: 5, nodes: [{count: 2, allocatable: {cpu: 4}}]}");
	cr_expect_eq(room(f), 8);
	cr_expect(report(f, 6, false, 4000, 1));
	cr_expect(report(f, 6, false, 1000, 1));
	cr_expect_eq(room(f), 5);
	cr_expect(!report(f, 5, true, 4000, 9), "older than what is held");
	cr_expect_eq(room(f), 5);
	cr_expect(report(f, 7, false, 4000, 0));
	cr_expect(report(f, 7, false, 9000, 0), "gone before it was there");
	cr_expect(report(f, 7, false, 1000, -3), "nonsense counts as none");
	cr_expect_eq(room(f), 0);
	cr_expect(report(f, 8, true, 2000, 2));
	cr_expect_eq(room(f), 4);
	cr_expect(report(f, 9, true, 2000, 1));
	cr_expect_eq(room(f), 2);
	fleet_cluster_remove(f, "a");
	fleet_cluster_remove(f, "a");
	cr_expect_eq(room(f), 0);
	cr_expect_null(fleet_fault(f));
	fleet_destroy(f);
}

Test(fleet, unknown_jobs_and_clusters_are_no_events)
{
	struct fleet *f = fleet_create();
	struct fleet_refusal r = {"no", 0};

	fleet_claimed(f, "x", 1, 1);
	fleet_requeue(f, "x", 1, 1, &r);
	fleet_forget(f, "x", 1);
	fleet_cluster_remove(f, "x");
	fleet_queue_remove(f, "x");
	fleet_dataset_remove(f, "x");
	cr_expect_null(fleet_explain(f, "x", 0));
	fleet_destroy(f);
}

/* --- refusals that another leader heard --------------------------------------------------- */

static const char *cluster_of(struct fleet *f, const char *job, int64_t now_ns)
{
	auto_json *decided = world_decide(f, now_ns);
	const char *name = json_str_at(decided, job, "cluster", NULL);

	return !name ? "" : !strcmp(name, "a") ? "a" : "b";
}

Test(fleet, refusals_of_before_hold_until_their_end_or_other_room)
{
	struct fleet *f = fleet_create();
	struct fleet_refusal by_room = {"no room", 0}, by_clock = {"quota", 30 * SECOND};

	add_queue(f, "{name: default}");
	submit(f, "{name: j, tasks: [{name: m, requests: {cpu: 1}}]}");
	fleet_refused(f, "j", "a", 7, &by_room); /* not known yet */
	fleet_refused(f, "nobody", "a", 7, &by_room);
	add_cluster(f, "{name: a, seq: 6, nodes: [{count: 1, allocatable: {cpu: 4}}]}");
	cr_expect_str_eq(cluster_of(f, "j", 0), "");
	cr_expect_eq(fleet_next_refusal_end(f, 0), 0, "no clock ends it");
	add_cluster(f, "{name: b, seq: 9, nodes: [{count: 1, allocatable: {cpu: 4}}]}");
	fleet_refused(f, "j", "b", 0, &by_clock);
	cr_expect_str_eq(cluster_of(f, "j", 0), "");
	cr_expect_eq(fleet_next_refusal_end(f, 0), 30 * SECOND);
	cr_expect_eq(fleet_next_refusal_end(f, 30 * SECOND), 0);
	submit(f, "{name: j, tasks: [{name: m, requests: {cpu: 2}}]}");
	cr_expect_str_eq(cluster_of(f, "j", 0), "", "a change of the job ends none");
	add_cluster(f, "{name: a, seq: 8, nodes: [{count: 2, allocatable: {cpu: 4}}]}");
	cr_expect_str_eq(cluster_of(f, "j", 0), "a");
	fleet_refused(f, "j", "a", 9, &by_room);
	cr_expect_eq(fleet_next_refusal_end(f, 0), 0, "it has a place");
	fleet_destroy(f);
}

/* --- jobs --------------------------------------------------------------------------------- */

Test(fleet, a_job_that_changes_keeps_one_place)
{
	struct fleet *f = fleet_create();
	auto_json *decided = NULL;

	add_queue(f, "{name: default, capability: {cpu: 4}}");
	add_cluster(f, "{name: a, nodes: [{count: 1, allocatable: {cpu: 5}}]}");
	submit(f, "{name: j, tasks: [{name: m, requests: {cpu: 5}}]}");
	submit(f, "{name: j, tasks: [{name: m, requests: {cpu: 3}}]}");
	decided = world_decide(f, 0);
	cr_expect_str_eq(json_str_at(decided, "j", "cluster", NULL), "a");
	/* waits again, as its record says: nothing of the attempt is left */
	submit(f, "{name: j, tasks: [{name: m, requests: {cpu: 4}}]}");
	json_decref(decided);
	decided = world_decide(f, 0);
	cr_expect_str_eq(json_str_at(decided, "j", "cluster", NULL), "a");
	fleet_forget(f, "j", 0);
	submit(f, "{name: k, tasks: [{name: m, requests: {cpu: 4}}]}");
	json_decref(decided);
	decided = world_decide(f, 0);
	cr_expect_str_eq(json_str_at(decided, "k", "cluster", NULL), "a", "usage was given back");
	fleet_destroy(f);
}

Test(fleet, a_session_may_stop_and_says_waiting_jobs_once)
{
	struct fleet *f = fleet_create();
	struct fleet_decision d;
	auto_json *again = NULL;

	add_queue(f, "{name: default}");
	add_cluster(f, "{name: a, nodes: [{count: 1, allocatable: {cpu: 2}}]}");
	for (int i = 0; i < 5; i++) {
		auto_xfree char *yaml = xasprintf(
			"{name: j%d, submitted: %d, tasks: [{name: m, requests: {cpu: 1}}]}", i, i);

		submit(f, yaml);
	}
	fleet_session_begin(f, 0);
	cr_assert(fleet_session_next(f, &d));
	cr_expect_str_eq(d.name, "j0");
	fleet_session_end(f);
	again = world_decide(f, 0);
	cr_expect_eq(json_object_size(again), 4, "j1 placed, the rest told to wait");
	cr_expect_str_eq(json_str_at(again, "j1", "cluster", NULL), "a");
	cr_expect_str_eq(json_str_at(again, "j4", "waits", NULL), "NoRoom");
	json_decref(again);
	again = world_decide(f, 0);
	cr_expect_eq(json_object_size(again), 0, "nothing is new");
	fleet_destroy(f);
}

/* Else each submission would cost a look at all that wait. */
Test(fleet, a_job_that_comes_or_goes_unplaced_is_no_news_for_others)
{
	struct fleet *f = fleet_create();
	auto_json *decided = NULL;
	uint64_t before;

	add_queue(f, "{name: default}");
	add_cluster(f, "{name: a, nodes: [{count: 1, allocatable: {cpu: 2}}]}");
	submit(f, "{name: big1, tasks: [{name: m, requests: {cpu: 3}}]}");
	submit(f, "{name: big2, tasks: [{name: m, requests: {cpu: 3}}]}");
	decided = world_decide(f, 0);
	cr_expect_eq(json_object_size(decided), 2);
	before = fleet_version(f);
	submit(f, "{name: big3, tasks: [{name: m, requests: {cpu: 3}}]}");
	fleet_forget(f, "big1", 0);
	add_queue(f, "{name: default}");
	cr_expect_eq(fleet_version(f), before);
	json_decref(decided);
	decided = world_decide(f, 0);
	cr_expect_eq(json_object_size(decided), 1);
	cr_expect(json_object_get(decided, "big3"), "it is looked at");
	cr_expect_eq(fleet_version(f), before);
	add_queue(f, "{name: default, capability: {cpu: 1}}");
	cr_expect_gt(fleet_version(f), before);
	json_decref(decided);
	decided = world_decide(f, 0);
	cr_expect_eq(json_object_size(decided), 2, "their reason to wait is another");
	fleet_destroy(f);
}

Test(fleet, what_a_placed_job_gives_back_is_news)
{
	struct fleet *f = fleet_create();
	auto_json *decided = NULL;

	add_queue(f, "{name: default}");
	add_cluster(f, "{name: a, nodes: [{count: 1, allocatable: {cpu: 2}}]}");
	submit(f, "{name: first, tasks: [{name: m, requests: {cpu: 2}}]}");
	decided = world_decide(f, 0);
	submit(f, "{name: second, submitted: 1, tasks: [{name: m, requests: {cpu: 2}}]}");
	json_decref(decided);
	decided = world_decide(f, 0);
	cr_expect_str_eq(json_str_at(decided, "second", "waits", NULL), "NoRoom");
	fleet_forget(f, "first", 0);
	json_decref(decided);
	decided = world_decide(f, 0);
	cr_expect_str_eq(json_str_at(decided, "second", "cluster", NULL), "a");
	fleet_destroy(f);
}

/* One decision of a session that then stops; "" when there is none. */
static const char *decide_one(struct fleet *f, char name[16])
{
	struct fleet_decision d;

	fleet_session_begin(f, 0);
	snprintf(name, 16, "%s", fleet_session_next(f, &d) ? d.name : "");
	fleet_session_end(f);
	return name;
}

Test(fleet, short_turns_reach_the_end_while_events_go_on)
{
	struct fleet *f = fleet_create();
	bool small = false, urgent = false;
	char name[16];

	add_queue(f, "{name: default}");
	for (int i = 0; i < 20; i++) {
		auto_xfree char *yaml = xasprintf(
			"{name: big%02d, submitted: %d, tasks: [{name: m, requests: {cpu: 5}}]}", i,
			i);

		submit(f, yaml);
	}
	submit(f, "{name: small, submitted: 50, tasks: [{name: m, requests: {cpu: 1}}]}");
	for (int i = 0; i < 50 && !small; i++) {
		cr_assert(report(f, i + 1, true, 4000, 1 + i % 2));
		if (!i)
			add_cluster(f, "{name: a, nodes: [{count: 1, allocatable: {cpu: 4}}]}");
		small = !strcmp(decide_one(f, name), "small");
	}
	cr_expect(small, "each turn looks at one job, and with each there is a report");
	/* what comes first has its turn soon, wherever the last one stopped */
	for (int i = 0; i < 5; i++)
		decide_one(f, name);
	submit(f, "{name: urgent, tasks: [{name: m, requests: {cpu: 1}}]}");
	for (int i = 0; i < 2 && !urgent; i++)
		urgent = !strcmp(decide_one(f, name), "urgent");
	cr_expect(urgent);
	fleet_destroy(f);
}

Test(fleet, a_claim_that_frees_nothing_is_no_event)
{
	struct fleet *f = fleet_create();
	uint64_t before;

	add_queue(f, "{name: default}");
	add_cluster(f, "{name: a, seq: 5, nodes: [{count: 1, allocatable: {cpu: 4}}]}");
	adopt(f, "{name: j, tasks: [{name: m, requests: {cpu: 1}}]}", "a", 0);
	before = fleet_version(f);
	fleet_claimed(f, "j", 2, 5);
	fleet_claimed(f, "other", 1, 5);
	cr_expect_eq(fleet_version(f), before);
	fleet_claimed(f, "j", 1, 5);
	cr_expect_gt(fleet_version(f), before);
	fleet_destroy(f);
}

/* --- order of events ---------------------------------------------------------------------- */

#define CLUSTERS 4
#define JOBS     10

struct story {
	char clusters[CLUSTERS][200], jobs[JOBS][300];
};

static void invent(struct story *s, struct draw *d)
{
	for (int i = 0; i < CLUSTERS; i++)
		snprintf(s->clusters[i], sizeof(s->clusters[i]),
			 "{name: c%d, nodes: [{count: %u, allocatable: {cpu: %u, x.io/gpu: %u}}, "
			 "{count: %u, labels: {a: b}, allocatable: {cpu: %u}}]}",
			 i, draw_below(d, 4), 1 + draw_below(d, 6), draw_below(d, 2),
			 draw_below(d, 4), 1 + draw_below(d, 6));
	for (int i = 0; i < JOBS; i++)
		snprintf(
			s->jobs[i], sizeof(s->jobs[i]),
			"{name: j%d, queue: q%u, submitted: %u, tasks: [{name: m, replicas: %u, "
			"requests: {cpu: %u}}], placement: {datasets: [{name: d%u}], alternatives: "
			"[{task: m, resources: {x.io/gpu: 1}}, {task: m, replicas: %u}]}}",
			i, draw_below(d, 2), draw_below(d, 3), 1 + draw_below(d, 3),
			1 + draw_below(d, 3), draw_below(d, 2), 1 + draw_below(d, 5));
}

static void tell(struct fleet *f, const struct story *s, int i)
{
	static const char *const rest[] = {"{name: q0}", "{name: q1, capability: {cpu: 9}}",
					   "{name: d0, size: 4Gi, replicas: {c1: 50, c3: 50}}",
					   "{name: d1, size: 1Gi}"};
	auto_json *j = NULL;

	if (i < CLUSTERS) {
		add_cluster(f, s->clusters[i]);
	} else if (i < CLUSTERS + 3) {
		/* known attempts of unequal age, more of them than there may be room for */
		adopt(f, s->jobs[i - CLUSTERS], "c0", 0);
	} else if (i < CLUSTERS + JOBS) {
		submit(f, s->jobs[i - CLUSTERS]);
	} else if (i < CLUSTERS + JOBS + 2) {
		add_queue(f, rest[i - CLUSTERS - JOBS]);
	} else {
		j = world_yaml(rest[i - CLUSTERS - JOBS]);
		world_add_dataset(f, j);
	}
}

static json_t *tell_and_decide(const struct story *s, struct draw *d, uint64_t *ret_sum)
{
	int order[CLUSTERS + JOBS + 4];
	struct fleet *f = fleet_create();
	json_t *decided;

	draw_order(d, order, ARRAY_LEN(order));
	for (size_t i = 0; i < ARRAY_LEN(order); i++)
		tell(f, s, order[i]);
	decided = world_decide(f, 0);
	cr_assert_null(fleet_fault(f), "%s", fleet_fault(f));
	*ret_sum = fleet_checksum(f);
	fleet_destroy(f);
	return decided;
}

static bool order_changes_nothing(struct draw *d)
{
	struct story s;
	auto_json *first = NULL, *again = NULL;
	uint64_t sum = 0, other = 0;

	invent(&s, d);
	first = tell_and_decide(&s, d, &sum);
	cr_assert_eq(json_object_size(first), JOBS - 3);
	again = tell_and_decide(&s, d, &other);
	if (!json_equal(first, again)) {
		auto_xfree char *a = json_print(first), *b = json_print(again);

		return draw_fail(d, "%s, and in another order %s", a, b);
	}
	return sum == other || draw_fail(d, "the same decisions left other room");
}

Test(fleet, the_order_of_events_changes_nothing)
{
	property_check(order_changes_nothing, 60);
}

/* --- no room is given twice --------------------------------------------------------------- */

/* A cluster that books what it is offered, reports late and out of step with its claims. */
struct member {
	int64_t free, seq;
	struct {
		char uid[16];
		int64_t cpu;
		bool open, claimed;
	} jobs[200];
	int n;
};

static int cpu_of(unsigned long number)
{
	return 1 + (int)(number % 3);
}

static void take_offers(struct fleet *f, struct member *m, int64_t *ret_offered)
{
	auto_json *decided = world_decide(f, 0);
	const char *name;
	json_t *d;

	json_object_foreach (decided, name, d) {
		if (!json_object_get(d, "cluster"))
			continue;
		snprintf(m->jobs[m->n].uid, sizeof(m->jobs[0].uid), "%s", name);
		m->jobs[m->n].cpu = cpu_of(strtoul(name + 1, NULL, 10));
		m->jobs[m->n].open = true;
		*ret_offered += m->jobs[m->n++].cpu;
	}
}

static bool member_step(struct fleet *f, struct member *m, struct draw *d, int64_t *offered)
{
	int i = m->n ? (int)draw_below(d, (unsigned)m->n) : 0;

	if (m->n && m->jobs[i].open && !m->jobs[i].claimed) {
		if (m->jobs[i].cpu > m->free)
			return draw_fail(d, "%s wants %d, only %d are free", m->jobs[i].uid,
					 (int)m->jobs[i].cpu, (int)m->free);
		m->free -= m->jobs[i].cpu;
		m->jobs[i].claimed = true;
		fleet_claimed(f, m->jobs[i].uid, 1, ++m->seq);
	} else if (m->n && m->jobs[i].open && draw_below(d, 2)) {
		m->free += m->jobs[i].cpu;
		*offered -= m->jobs[i].cpu;
		m->jobs[i].open = false;
		fleet_forget(f, m->jobs[i].uid, ++m->seq);
	}
	if (draw_one_in(d, 3))
		cr_assert(report(f, m->seq, true, m->free * 1000, 1));
	return true;
}

static bool round_of_offers(struct fleet *f, struct member *m, struct draw *d, int number,
			    int64_t *offered)
{
	auto_xfree char *yaml = xasprintf("{name: j%d, tasks: [{name: m, requests: {cpu: %d}}]}",
					  number, cpu_of((unsigned long)number));

	submit(f, yaml);
	take_offers(f, m, offered);
	if (*offered > 8)
		return draw_fail(d, "%d of 8 are offered", (int)*offered);
	for (int k = 0; k < 3; k++)
		if (!member_step(f, m, d, offered))
			return false;
	return true;
}

static size_t n_offered;

static bool room_is_given_once(struct draw *d)
{
	struct fleet *f = fleet_create();
	struct member m = {.free = 8};
	int64_t offered = 0;
	bool good = true;

	add_queue(f, "{name: default}");
	add_cluster(f, "{name: a, seq: 0, nodes: [{allocatable: {cpu: 8}}]}");
	for (int i = 0, n = (int)draw_below(d, 150); good && i < n; i++)
		good = round_of_offers(f, &m, d, i, &offered);
	if (good && fleet_fault(f))
		good = draw_fail(d, "%s", fleet_fault(f));
	for (int i = 0; i < m.n; i++)
		draw_count(d, &n_offered);
	fleet_destroy(f);
	return good;
}

Test(fleet, no_room_is_given_twice)
{
	property_check(room_is_given_once, 20);
	cr_expect(n_offered > 200, "only %zu offers were made", n_offered);
}
