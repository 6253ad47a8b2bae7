#include "fedctl/jobs.h"

#include <criterion/criterion.h>

#include "base/encode.h"
#include "base/json.h"
#include "base/yaml.h"

#define NS_PER_S 1000000000LL

/* The caller's tree lives as long as the facts. */
static json_t *read_job(const char *status, struct job_facts *f)
{
	auto_xfree char *text = xasprintf(
		"metadata: {name: x, namespace: ml, uid: u, creationTimestamp: "
		"\"2026-01-01T00:00:00Z\"}\nspec: {queue: q, tasks: [{name: a, replicas: 3}, "
		"{name: b}]}\n%s",
		status);
	auto_json *docs = NULL;
	struct error err;
	json_t *job;

	cr_assert_eq(yaml_parse_all(text, strlen(text), &docs, &err), 0, "%s", err.text);
	job = json_incref(json_array_get(docs, 0));
	job_facts_read(job, f);
	return job;
}

static int64_t seconds(const struct job_facts *f, int64_t ns)
{
	return ns ? (ns - f->created_ns) / NS_PER_S : -1;
}

Test(jobs, reads_one_that_waits)
{
	struct job_facts f;
	auto_json *job = read_job("status:\n"
				  "  state: {phase: Pending}\n"
				  "  pending: {code: NoRoom, detail: 'gang: no room'}\n",
				  &f);

	cr_expect_eq(f.phase, JOB_PENDING);
	cr_expect_eq(f.tasks, 4);
	cr_expect_eq(f.done, 0);
	cr_expect_null(f.cluster);
	cr_expect_str_eq(f.why_waiting, "gang: no room");
	cr_expect_eq(seconds(&f, f.wait_from_ns), 0);
	cr_expect_eq(f.started_ns, 0);
}

Test(jobs, reads_one_without_any_status)
{
	struct job_facts f;
	auto_json *job = read_job("", &f);

	cr_expect_eq(f.phase, JOB_PENDING);
	cr_expect_str_eq(f.phase_name, "Pending");
	cr_expect_eq(f.generation, 0);
}

Test(jobs, reads_one_that_runs)
{
	struct job_facts f;
	auto_json *job =
		read_job("status:\n"
			 "  state: {phase: Running}\n"
			 "  running: 2\n"
			 "  succeeded: 1\n"
			 "  pending: 1\n" /* a number while it runs */
			 "  dispatch:\n"
			 "    parts: [{cluster: gpu}]\n"
			 "    attempts:\n"
			 "    - {generation: 1, cluster: arm, how: Refused}\n"
			 "    - {generation: 2, cluster: gpu, startedAt: \"2026-01-01T00:00:12Z\","
			 " nodes: gpu-0}\n",
			 &f);

	cr_expect_str_eq(f.cluster, "gpu");
	cr_expect_str_eq(f.nodes, "gpu-0");
	cr_expect_eq(f.done, 3);
	cr_expect_eq(f.generation, 2);
	cr_expect_null(f.why_waiting);
	cr_expect_eq(seconds(&f, f.wait_from_ns), 0, "a refusal does not end the waiting");
	cr_expect_eq(seconds(&f, f.started_ns), 12);
	cr_expect_eq(f.ended_ns, 0);
}

static int64_t tasks_of(const char *yaml)
{
	auto_json *docs = NULL;
	struct job_facts f;
	struct error err;

	cr_assert_eq(yaml_parse_all(yaml, strlen(yaml), &docs, &err), 0, "%s", err.text);
	job_facts_read(json_array_get(docs, 0), &f);
	return f.tasks;
}

/* By the pods that there are: its record does not keep which alternative was chosen. */
Test(jobs, counts_the_tasks_of_an_alternative_of_another_size)
{
#define SIZED                                                                                      \
	"spec:\n"                                                                                  \
	"  tasks: [{name: w, replicas: 4}, {name: p, replicas: 2}]\n"                              \
	"  placement: {alternatives: [{task: w, replicas: 1}, {task: p, speed: '1'}]}\n"
	cr_expect_eq(tasks_of(SIZED), 6, "none there yet");
	cr_expect_eq(tasks_of(SIZED "status: {taskStatusCount: {w: {phase: {Running: 1}}, "
				    "p: {phase: {Running: 1}}}}\n"),
		     3, "one of w; p has the size that it asks for");
	cr_expect_eq(tasks_of("spec: {tasks: [{name: w, replicas: 4}]}\n"
			      "status: {taskStatusCount: {w: {phase: {Running: 1}}}}\n"),
		     4);
}

/* Its state still says what was heard of it last. */
Test(jobs, reads_one_of_which_nobody_knows)
{
	struct job_facts f;
	auto_json *job = read_job("status:\n"
				  "  state: {phase: Running}\n"
				  "  dispatch:\n"
				  "    phase: Uncertain\n"
				  "    parts: [{cluster: gpu}]\n",
				  &f);

	cr_expect_eq(f.phase, JOB_UNCERTAIN);
	cr_expect_str_eq(f.phase_name, "Uncertain");
	cr_expect_str_eq(f.cluster, "gpu");
	cr_expect(strstr(f.why_waiting, "fedctl explain"));
}

Test(jobs, reads_one_that_has_ended)
{
	struct job_facts f;
	auto_json *job = read_job("status:\n"
				  "  state: {phase: Failed, reason: TaskFailed, message: code 3}\n"
				  "  dispatch:\n"
				  "    attempts:\n"
				  "    - {generation: 1, cluster: gpu, how: Done,\n"
				  "       startedAt: \"2026-01-01T00:00:05Z\",\n"
				  "       endedAt: \"2026-01-01T00:01:05Z\"}\n",
				  &f);

	cr_expect(job_has_ended(f.phase));
	cr_expect_str_eq(f.cluster, "gpu", "where it was is told after the end too");
	cr_expect_str_eq(f.message, "code 3");
	cr_expect_eq(seconds(&f, f.started_ns), 5);
	cr_expect_eq(seconds(&f, f.ended_ns), 65);
}

Test(jobs, counts_the_waiting_of_one_that_came_back_from_its_return)
{
	struct job_facts f;
	auto_json *job = read_job("status:\n"
				  "  state: {phase: Pending}\n"
				  "  dispatch:\n"
				  "    attempts:\n"
				  "    - {generation: 1, cluster: gpu, how: Lost,\n"
				  "       startedAt: \"2026-01-01T00:00:05Z\",\n"
				  "       endedAt: \"2026-01-01T00:01:05Z\"}\n",
				  &f);

	cr_expect_null(f.cluster);
	cr_expect_eq(seconds(&f, f.wait_from_ns), 65);
	cr_expect_eq(f.started_ns, 0);
	cr_expect_eq(f.ended_ns, 0);
}

Test(jobs, that_were_over_at_once_have_run)
{
	struct job_facts f;
	auto_json *quick = read_job("status:\n"
				    "  state: {phase: Completed}\n"
				    "  succeeded: 1\n"
				    "  dispatch:\n"
				    "    attempts:\n"
				    "    - {generation: 1, cluster: a, endedAt: "
				    "\"2026-01-01T00:00:07Z\"}\n",
				    &f);
	auto_json *never = NULL;

	cr_expect_eq(seconds(&f, f.started_ns), seconds(&f, f.ended_ns));
	never = read_job("status: {state: {phase: Failed, lastTransitionTime: "
			 "\"2026-01-01T00:00:07Z\"}}\n",
			 &f);
	cr_expect_eq(f.started_ns, 0);
	cr_expect_eq(seconds(&f, f.ended_ns), 7);
}
