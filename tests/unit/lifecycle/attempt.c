/* Runs the cases of cases/attempt.yaml, which an operator can read. */
#include "lifecycle/attempt.h"

#include <criterion/criterion.h>
#include <string.h>

#include "base/json.h"
#include "base/pki.h"
#include "base/yaml.h"

#define SECOND INT64_C(1000000000)

static const char *const act_names[] = {
	[ATTEMPT_WAIT] = "Wait",
	[ATTEMPT_CREATE] = "Create",
	[ATTEMPT_RESTART] = "Restart",
	[ATTEMPT_CLEAR_OLD] = "ClearOld",
	[ATTEMPT_CLEAR_LOST] = "ClearLost",
	[ATTEMPT_DECIDE] = "Decide",
	[ATTEMPT_GIVE_UP] = "GiveUp",
	[ATTEMPT_CLEAR_LIVE] = "ClearLive",
	[ATTEMPT_SAY_DONE] = "SayDone",
	[ATTEMPT_SAY_RELEASED] = "SayReleased",
};

static enum slot_state slot_state_of(const char *name)
{
	static const char *const names[] = {"absent",    "pending", "running",
					    "succeeded", "failed",  "lost"};

	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		if (!strcmp(names[i], name))
			return (enum slot_state)i;
	cr_assert_fail("unknown pod state %s", name);
	return SLOT_ABSENT;
}

static struct slot read_slot(const json_t *pod)
{
	if (json_is_string(pod))
		return (struct slot){.state = slot_state_of(json_string_value(pod)),
				     .exit_code = -1};
	return (struct slot){
		.state = slot_state_of(json_str_at(pod, "state", NULL)),
		.terminating = json_is_true(json_object_get(pod, "terminating")),
		.restart = json_int_at(pod, 0, "restart", NULL),
		.exit_code = (int32_t)json_int_at(pod, -1, "exitCode", NULL),
		.container_restarts = (int32_t)json_int_at(pod, 0, "containerRestarts", NULL),
		.reason = json_str_at(pod, "reason", NULL),
		.message = json_str_at(pod, "message", NULL),
	};
}

static void read_tasks(struct arena *arena, const json_t *tasks, struct attempt *a)
{
	json_t *task, *pod;
	size_t t, i;

	a->n_tasks = json_array_size(tasks);
	a->tasks = arena_array(arena, struct attempt_task, a->n_tasks);
	json_array_foreach (tasks, t, task) {
		const json_t *pods = json_object_get(task, "pods");
		struct attempt_task *out = &a->tasks[t];

		out->name = json_str_at(task, "name", NULL);
		out->replicas = (int32_t)json_array_size(pods);
		out->min_available =
			(int32_t)json_int_at(task, out->replicas, "minAvailable", NULL);
		out->max_retry = (int32_t)json_int_at(task, 3, "maxRetry", NULL);
		out->on_failure = json_is_true(json_object_get(task, "onFailure"));
		out->slots = arena_array(arena, struct slot, json_array_size(pods));
		json_array_foreach (pods, i, pod)
			out->slots[i] = read_slot(pod);
	}
}

static void read_memory(const json_t *m, struct attempt_memory *out)
{
	const char *outcome = json_str_at(m, "outcome", NULL);
	const char *message = json_str_at(m, "message", NULL);

	out->retries = json_int_at(m, 0, "retries", NULL);
	out->restart_at_ns = json_int_at(m, 0, "restartAt", NULL) * SECOND;
	out->losses = json_int_at(m, 0, "losses", NULL);
	out->first_loss_ns = json_int_at(m, 0, "firstLoss", NULL) * SECOND;
	out->last_loss_ns = json_int_at(m, 0, "lastLoss", NULL) * SECOND;
	out->release = json_str_at(m, "release", NULL) != NULL;
	if (outcome)
		out->outcome.phase =
			strcmp(outcome, "Completed") ? OUTCOME_FAILED : OUTCOME_COMPLETED;
	snprintf(out->outcome.message, sizeof(out->outcome.message), "%s", message ? message : "");
}

static void expect_str(const char *name, const char *what, const json_t *expect, const char *key,
		       const char *got)
{
	const char *want = json_str_at(expect, key, NULL);

	if (want)
		cr_expect_str_eq(got, want, "%s: %s is \"%s\", not \"%s\"", name, what, got, want);
}

static void expect_bool(const char *name, const json_t *expect, const char *key, bool got)
{
	const json_t *want = json_object_get(expect, key);

	if (want)
		cr_expect_eq(got, json_is_true(want), "%s: %s", name, key);
}

/* As they are counted, by task and index: "w: Failed, w: -". */
static void expect_counts(const char *name, const json_t *expect, const struct attempt *a)
{
	auto_strbuf got = {0};

	for (size_t t = 0; t < a->n_tasks; t++)
		for (int32_t i = 0; i < a->tasks[t].replicas; i++) {
			const char *as = attempt_counts_as(a, t, i);

			strbuf_addf(&got, "%s%s: %s", got.size ? ", " : "", a->tasks[t].name,
				    as ? as : "-");
		}
	expect_str(name, "counts", expect, "counts", strbuf_str(&got));
}

static void run_case(const json_t *c)
{
	const json_t *expect = json_object_get(c, "expect");
	const char *name = json_str_at(c, "name", NULL);
	const json_t *job = json_object_get(c, "job");
	struct arena arena = {0};
	struct attempt a = {0};
	struct attempt_decision d;

	a.min_available = (int32_t)json_int_at(job, 1, "minAvailable", NULL);
	a.min_success = (int32_t)json_int_at(job, -1, "minSuccess", NULL);
	a.max_retry = (int32_t)json_int_at(job, 3, "maxRetry", NULL);
	a.release_asked = json_is_true(json_object_get(c, "releaseAsked"));
	read_memory(json_object_get(c, "memory"), &a.memory);
	read_tasks(&arena, json_object_get(c, "tasks"), &a);
	d = attempt_next(&a, json_int_at(c, 1000, "now", NULL) * SECOND);

	expect_str(name, "act", expect, "act", act_names[d.act]);
	expect_str(name, "reason", expect, "reason", d.reason);
	expect_str(name, "message", expect, "message",
		   d.act == ATTEMPT_DECIDE ? d.outcome.message : d.message);
	expect_str(name, "outcome", expect, "outcome",
		   d.outcome.phase == OUTCOME_COMPLETED ? "Completed"
		   : d.outcome.phase == OUTCOME_FAILED  ? "Failed"
							: "");
	expect_str(name, "outcome reason", expect, "outcomeReason", d.outcome.reason);
	expect_counts(name, expect, &a);
	expect_bool(name, expect, "running", d.running);
	expect_bool(name, expect, "restarting", d.restarting);
	if (json_object_get(expect, "until"))
		cr_expect_eq(d.until_ns, json_int_at(expect, 0, "until", NULL) * SECOND,
			     "%s: until %lld", name, (long long)(d.until_ns / SECOND));
	arena_finish(&arena);
}

Test(attempt, does_what_the_cases_say)
{
	auto_xfree char *text = NULL;
	auto_json *docs = NULL;
	struct error err;
	json_t *c;
	size_t n, i;

	cr_assert_eq(file_read(LIFECYCLE_CASES "/attempt.yaml", &text, &n, &err), 0, "%s",
		     err.text);
	cr_assert_eq(yaml_parse_all(text, n, &docs, &err), 0, "%s", err.text);
	cr_assert_gt(json_array_size(json_array_get(docs, 0)), 20);
	json_array_foreach (json_array_get(docs, 0), i, c)
		run_case(c);
}

Test(attempt, restart_delay_doubles_to_five_minutes)
{
	cr_expect_eq(attempt_restart_delay_ms(1), 10000);
	cr_expect_eq(attempt_restart_delay_ms(2), 20000);
	cr_expect_eq(attempt_restart_delay_ms(5), 160000);
	cr_expect_eq(attempt_restart_delay_ms(6), 300000);
	cr_expect_eq(attempt_restart_delay_ms(1000000), 300000);
}
