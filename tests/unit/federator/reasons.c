/* Why a job waits, as its status shows it: true for as long as it is shown. */
#include <string.h>

#include "base/json.h"
#include "bed.h"

#define POD                                                                                        \
	"template: {spec: {containers: [{name: c, image: i, resources: {requests: {cpu: '4'}}}]}}"

static void put_job(struct bed *b, const char *name, const char *more)
{
	auto_xfree char *yaml =
		xasprintf("{metadata: {name: %s, uid: uid-%s}, spec: {queue: default, "
			  "minAvailable: 1, tasks: [{name: t, replicas: 1, " POD "}]}%s}",
			  name, name, more);

	bed_put(b, "jobs", yaml);
}

static void put_capability(struct bed *b, const char *cpu)
{
	auto_xfree char *yaml = xasprintf(
		"{metadata: {name: default, uid: q0}, spec: {capability: {cpu: '%s'}}}", cpu);

	bed_put(b, "queues", yaml);
}

static int64_t version_of_job(struct bed *b, const char *name)
{
	return hub_get(bed_hub(b), hub_kind("jobs"), "default", name)->version;
}

/* The reason stays, its numbers do not. */
Test(reasons, numbers_that_change_are_written)
{
	struct bed *b = bed_create();
	int64_t version;

	put_capability(b, "2");
	put_job(b, "j", "");
	bed_wait_detail(b, "j", "cpu 0 of 2 used, needs 4");
	put_capability(b, "3");
	bed_wait_detail(b, "j", "cpu 0 of 3 used, needs 4");
	/* and what does not change is not */
	version = version_of_job(b, "j");
	put_capability(b, "3");
	bed_sleep(b, 6000);
	cr_expect_eq(version_of_job(b, "j"), version);
	bed_destroy(b);
}

Test(reasons, a_cluster_that_comes_is_spoken_of)
{
	struct bed *b = bed_create();

	put_job(b, "j", "");
	bed_wait_detail(b, "j", "no cluster has joined");
	bed_cluster(b, "a");
	bed_wait_detail(b, "j", "a: room not reported yet");
	bed_report(b, "a", 1, 0);
	bed_wait_pending(b, "j", "NoRoom");
	bed_destroy(b);
}

Test(reasons, a_write_that_failed_is_made_later)
{
	struct bed *b = bed_create();
	auto_json *job = NULL;

	bed_break(b, "/jobs.status/");
	put_job(b, "j", "");
	bed_sleep(b, 1500);
	job = bed_job(b, "j");
	cr_expect_null(json_at(job, "status", "pending", NULL));
	bed_break(b, NULL);
	bed_wait_pending(b, "j", "NoCluster");
	bed_destroy(b);
}

/* --- jobs that the hub cannot read -------------------------------------------------------- */

static void expect_settled(struct bed *b, const char *name)
{
	int64_t version = version_of_job(b, name);

	bed_sleep(b, 200);
	cr_expect_eq(version_of_job(b, name), version, "it is written again and again");
}

Test(reasons, a_waiting_job_that_cannot_be_read_says_so)
{
	struct bed *b = bed_create();

	bed_cluster(b, "a");
	bed_report(b, "a", 1, 1);
	bed_put(b, "jobs",
		"{metadata: {name: j, uid: uid-j}, spec: {queue: default, tasks: [{name: t, "
		"replicas: many}]}}");
	bed_wait_pending(b, "j", "Invalid");
	bed_wait_detail(b, "j", "spec.tasks[0].replicas");
	expect_settled(b, "j");
	put_job(b, "other", "");
	bed_wait_phase(b, "other", "Confirmed");
	bed_report(b, "a", 2, 2);
	put_job(b, "j", ""); /* what can be read is decided about */
	bed_wait_phase(b, "j", "Confirmed");
	bed_destroy(b);
}

Test(reasons, a_waiting_job_that_becomes_unreadable_is_not_offered)
{
	struct bed *b = bed_create();

	put_job(b, "j", "");
	bed_wait_pending(b, "j", "NoCluster");
	bed_put(b, "jobs",
		"{metadata: {name: j, uid: uid-j}, spec: {queue: default, tasks: [{name: t, "
		"replicas: many}]}}");
	bed_wait_pending(b, "j", "Invalid");
	bed_cluster(b, "a");
	bed_report(b, "a", 1, 1);
	bed_sleep(b, 200);
	cr_expect_eq(bed_offers(b), 0);
	expect_settled(b, "j");
	bed_destroy(b);
}

Test(reasons, a_placed_job_that_cannot_be_read_keeps_its_record)
{
	struct bed *b = bed_create();
	auto_json *job = NULL;
	const char *message;

	put_job(b, "j",
		", status: {state: {phase: Running}, conditions: [], pending: 3, dispatch: {phase: "
		"Spread, n: 1, parts: [{cluster: a, generation: 1}, {cluster: b, generation: 1}]}}");
	bed_sleep(b, 300);
	job = bed_job(b, "j");
	message = json_str_at(job, "status", "state", "message", NULL);
	cr_expect(message && strstr(message, "status.dispatch"), "%s", message);
	cr_expect_str_eq(json_str_at(job, "status", "state", "reason", NULL), "Unreadable");
	cr_expect_str_eq(json_str_at(job, "status", "state", "phase", NULL), "Running");
	cr_expect_str_eq(bed_phase(b, "j"), "Spread");
	cr_expect_eq(json_array_size(json_at(job, "status", "dispatch", "parts", NULL)), 2);
	cr_expect_eq(json_int_at(job, 0, "status", "pending", NULL), 3);
	expect_settled(b, "j");
	bed_destroy(b);
}

/* Nobody here knows how many clusters would have to end it. */
Test(reasons, a_deleted_job_stays_whose_record_cannot_be_read)
{
	struct bed *b = bed_create();
	auto_json *job = NULL;

	bed_put(b, "jobs",
		"{metadata: {name: j, uid: uid-j, deletionTimestamp: '2026-01-01T00:00:00Z', "
		"finalizers: [" JOB_FINALIZER "]}, spec: {queue: default, tasks: []}, status: {"
		"conditions: [], dispatch: {phase: Ended, parts: [{cluster: a, generation: 1}, "
		"{cluster: b, generation: 1}]}}}");
	bed_sleep(b, 300);
	job = bed_job(b, "j");
	cr_assert(job, "it was removed");
	cr_expect_str_eq(json_str_at(job, "status", "state", "reason", NULL), "Unreadable");
	bed_destroy(b);
}
