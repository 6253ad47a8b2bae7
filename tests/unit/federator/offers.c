/* Offers that are not made, or of which nobody knows; what a new leader begins with. */
#include <string.h>

#include "base/encode.h"
#include "base/json.h"
#include "caller.h"
#include "federator/controllers.h"
#include "federator/placer.h"

#define JOBS "/apis/batch.volcano.sh/v1alpha1/namespaces/default/jobs"
#define POD                                                                                        \
	"template: {spec: {containers: [{name: c, image: i, resources: {requests: {cpu: '4'}}}]}}"

/* A job of so many tasks that each take a node. */
static void put_job(struct bed *b, const char *name, int tasks, const char *more)
{
	auto_strbuf yaml = {0};

	strbuf_addf(&yaml, "{metadata: {name: %s, uid: uid-%s}, spec: {queue: default, ", name,
		    name);
	strbuf_addf(&yaml, "minAvailable: %d, tasks: [", tasks);
	for (int i = 0; i < tasks; i++)
		strbuf_addf(&yaml, "{name: t%d, replicas: 1, " POD "}, ", i);
	strbuf_addf(&yaml, "]}%s}", more);
	bed_put(b, "jobs", yaml.bytes);
}

static struct bed *bed_with_room(int nodes)
{
	struct bed *b = bed_create();

	bed_cluster(b, "a");
	bed_report(b, "a", 1, nodes);
	return b;
}

static void expect_generation(struct bed *b, const char *job, int64_t n)
{
	auto_json *j = bed_job(b, job);

	cr_expect_eq(json_int_at(j, 0, "status", "dispatch", "n", NULL), n);
}

Test(offers, room_of_an_offer_that_may_have_been_made_is_not_given_to_another)
{
	struct bed *b = bed_with_room(1);

	bed_fate(b, FATE_LOSE);
	put_job(b, "first", 1, "");
	while (!bed_offers(b))
		bed_sleep(b, 1);
	bed_fate(b, FATE_COMMIT);
	put_job(b, "second", 1, "");
	bed_break(b, "/jobs.status/"); /* nor can it be asked */
	bed_sleep(b, 1500);
	cr_expect_eq(bed_offers(b), 1);
	bed_break(b, NULL);
	cr_expect_str_eq(bed_phase(b, "first"), "");
	cr_expect_str_eq(bed_phase(b, "second"), "", "there is one node");
	bed_wait_phase(b, "first", "Confirmed");
	cr_expect_eq(bed_offers(b), 2);
	expect_generation(b, "first", 1);
	cr_expect_str_eq(bed_phase(b, "second"), "");
	bed_destroy(b);
}

/* A second is long: the store's order tells who came first in it, another leader too. */
Test(offers, who_came_first_in_a_second_is_served_first)
{
	static const char *const names[] = {"z", "m", "a"};

	for (int again = 0; again < 2; again++) {
		struct bed *b = bed_create();

		for (size_t i = 0; i < ARRAY_LEN(names); i++)
			put_job(b, names[i], 1, "");
		if (again)
			bed_lead_anew(b);
		bed_cluster(b, "c");
		bed_report(b, "c", 1, 1);
		bed_wait_phase(b, "z", "Confirmed");
		bed_sleep(b, 50);
		cr_expect_str_eq(bed_phase(b, "m"), "");
		cr_expect_str_eq(bed_phase(b, "a"), "");
		bed_destroy(b);
	}
}

/* A queue's use is what records and open offers say, so that nothing is left of what goes. */
Test(offers, what_may_have_been_offered_uses_its_queue_no_longer_than_it_may)
{
	static const bool deleted[] = {false, true};

	for (size_t i = 0; i < ARRAY_LEN(deleted); i++) {
		struct bed *b = bed_with_room(2);
		struct caller *admin = caller_create(b, "admin", "system:masters");

		bed_put(b, "queues",
			"{metadata: {name: default, uid: q0}, spec: {capability: {cpu: '4'}}}");
		bed_sleep(b, 20);
		bed_fate(b, FATE_LOSE);
		put_job(b, "j", 1, "");
		while (!bed_offers(b))
			bed_sleep(b, 1);
		put_job(b, "k", 1, "");
		bed_fate(b, FATE_COMMIT);
		if (deleted[i])
			cr_expect_eq(caller_call(admin, "DELETE", JOBS "/j", NULL), 200);
		bed_wait_phase(b, deleted[i] ? "k" : "j", "Confirmed");
		bed_sleep(b, 100);
		cr_expect_str_eq(bed_phase(b, deleted[i] ? "j" : "k"), "");
		caller_destroy(admin);
		bed_destroy(b);
	}
}

Test(offers, an_offer_that_was_made_unknown_to_us_stays)
{
	struct bed *b = bed_with_room(2);

	bed_fate(b, FATE_LOSE_OUTCOME);
	put_job(b, "j", 1, "");
	bed_wait_phase(b, "j", "Confirmed");
	bed_fate(b, FATE_COMMIT);
	bed_sleep(b, 1300);
	cr_expect_eq(bed_offers(b), 1);
	expect_generation(b, "j", 1);
	put_job(b, "k", 2, "");
	bed_sleep(b, 200);
	cr_expect_str_eq(bed_phase(b, "k"), "", "one of two nodes is taken");
	bed_destroy(b);
}

Test(offers, a_job_that_is_changed_meanwhile_is_offered_as_it_is_then)
{
	struct bed *b = bed_with_room(3);
	auto_json *placement = NULL;

	bed_fate(b, FATE_HOLD);
	put_job(b, "j", 3, "");
	while (!bed_offers(b))
		bed_sleep(b, 1);
	put_job(b, "j", 1, "");
	bed_sleep(b, 20);
	bed_release(b);
	bed_wait_phase(b, "j", "Confirmed");
	placement = bed_placement(b, "j");
	cr_expect_eq(json_array_size(json_at(placement, "spec", "size", "tasks", NULL)), 1);
	put_job(b, "k", 2, "");
	bed_wait_phase(b, "k", "Confirmed");
	bed_destroy(b);
}

Test(offers, a_store_that_takes_none_is_not_asked_again_at_once)
{
	struct bed *b = bed_with_room(2);

	bed_fate(b, FATE_FAIL);
	put_job(b, "j", 1, "");
	put_job(b, "k", 1, "");
	bed_sleep(b, 500);
	cr_expect_leq(bed_offers(b), 4, "%d offers", bed_offers(b));
	bed_fate(b, FATE_COMMIT);
	bed_wait_phase(b, "j", "Confirmed");
	bed_wait_phase(b, "k", "Confirmed");
	bed_destroy(b);
}

Test(offers, a_job_that_cannot_be_decided_about_says_so)
{
	struct bed *b = bed_with_room(1);
	auto_json *job = NULL, *explained = NULL;

	put_job(b, "j", 1, ", status: {state: {phase: Pending}}");
	bed_wait_phase(b, "j", "Confirmed");
	bed_put(b, "jobs",
		"{metadata: {name: bad, uid: uid-bad}, spec: {queue: default, minAvailable: 1,"
		" tasks: [{name: t, replicas: 1, template: {spec: {containers: [{name: c}],"
		" affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution:"
		" {nodeSelectorTerms: [{matchFields: [{key: spec.x, operator: In, values: [a]}]}]"
		"}}}}}}]}}");
	bed_wait_pending(b, "bad", "Invalid");
	job = bed_job(b, "bad");
	cr_expect(strstr(json_str_at(job, "status", "pending", "detail", NULL), "matchFields"));
	explained = placer_explain(bed_hub(b)->placer, job, 0);
	cr_expect(strstr(json_str_at(explained, "text", NULL), "matchFields"));
	/* a change that can be decided about ends it */
	bed_report(b, "a", 2, 2);
	put_job(b, "bad", 1, "");
	bed_wait_phase(b, "bad", "Confirmed");
	bed_destroy(b);
}

/* A job that cluster a has refused n times in a row, the last of them `ago` seconds ago. */
static void put_refused_often(struct bed *b, const char *name, int n, int64_t ago,
			      const char *reason)
{
	char ended[TIME_SIZE];
	auto_xfree char *status = NULL;

	time_format(ended, env_wall_ns(bed_hub(b)->env) - ago * INT64_C(1000000000));
	status = xasprintf(
		", status: {state: {phase: Pending}, conditions: [], dispatch: {phase: Queued, n: 1, "
		"capacitySeq: 2, refusals: {a: %d}, attempts: [{generation: 1, cluster: a, how: "
		"Refused, reason: %s, endedAt: '%s'}]}}",
		n, reason, ended);
	put_job(b, name, 1, status);
}

/* A job that was refused, for 30 s, so that `left` seconds of it remain. */
static void put_refused(struct bed *b, const char *name, int64_t left, const char *reason)
{
	put_refused_often(b, name, 1, 30 - left, reason);
}

Test(offers, each_refusal_in_a_row_doubles_the_wait_up_to_ten_minutes)
{
	static const struct {
		const char *name;
		int n;
		int64_t ago;
	} cases[] = {{"first", 1, 31}, {"second", 2, 58}, {"fourth", 4, 238}, {"ninth", 9, 598}};
	struct bed *b = bed_with_room(4);

	for (size_t i = 0; i < ARRAY_LEN(cases); i++)
		put_refused_often(b, cases[i].name, cases[i].n, cases[i].ago, "Forbidden");
	bed_wait_phase(b, "first", "Confirmed");
	cr_expect_eq(bed_offers(b), 1);
	for (size_t i = 1; i < ARRAY_LEN(cases); i++)
		bed_wait_phase(b, cases[i].name, "Confirmed");
	bed_destroy(b);
}

Test(offers, each_refusal_that_ends_by_the_clock_is_looked_at)
{
	struct bed *b = bed_with_room(2);

	put_refused(b, "j", 2, "Forbidden");
	put_refused(b, "k", 5, "Forbidden");
	bed_sleep(b, 100);
	cr_expect_eq(bed_offers(b), 0);
	bed_wait_phase(b, "j", "Confirmed");
	cr_expect_eq(bed_offers(b), 1);
	bed_wait_phase(b, "k", "Confirmed");
	bed_destroy(b);
}

/* --- a new leader ------------------------------------------------------------------------- */

Test(offers, nothing_is_decided_on_an_old_view)
{
	struct bed *b = bed_create_behind();

	bed_put(b, "queues", "{metadata: {name: other, uid: q1}, spec: {}}");
	bed_sleep(b, 200);
	cr_expect_not(controllers_lead_now(bed_hub(b)->controllers));
	bed_show(b);
	cr_expect(hub_get(bed_hub(b), hub_kind("queues"), NULL, "other"));
	bed_destroy(b);
}

Test(offers, a_refusal_of_before_is_kept)
{
	struct bed *b = bed_with_room(2);
	auto_json *why = NULL;

	put_refused(b, "j", 30, "Forbidden");
	put_refused(b, "k", 30, "NoRoom");
	bed_sleep(b, 300);
	cr_expect_str_eq(bed_phase(b, "j"), "Queued");
	cr_expect_eq(bed_offers(b), 0);
	why = placer_why(bed_hub(b)->placer, "uid-j");
	cr_expect(strstr(json_str_at(why, "detail", NULL), "Forbidden"));
	bed_report(b, "a", 2, 2);
	bed_sleep(b, 50);
	cr_expect_str_eq(bed_phase(b, "k"), "Queued", "it is the room that it was refused in");
	bed_report(b, "a", 3, 3);
	bed_wait_phase(b, "k", "Confirmed");
	cr_expect_str_eq(bed_phase(b, "j"), "Queued");
	bed_destroy(b);
}
