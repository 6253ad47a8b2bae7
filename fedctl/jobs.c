#include "fedctl/jobs.h"

#include <string.h>

#include "base/encode.h"
#include "base/json.h"

static int64_t time_at(const json_t *object, const char *key)
{
	const char *text = json_str_at(object, key, NULL);
	int64_t ns;

	return text && !time_parse(text, &ns) ? ns : 0;
}

static enum job_phase phase_of(const char *name)
{
	static const char *const names[] = {
		[JOB_PENDING] = "Pending",       [JOB_RUNNING] = "Running",
		[JOB_RESTARTING] = "Restarting", [JOB_COMPLETED] = "Completed",
		[JOB_FAILED] = "Failed",         [JOB_UNCERTAIN] = "Uncertain",
	};

	for (size_t i = 0; name && i < ARRAY_LEN(names); i++)
		if (!strcmp(names[i], name))
			return (enum job_phase)i;
	return JOB_PENDING;
}

/* An alternative may be of another number of pods; which one it was chosen for is not kept. */
static bool may_be_resized(const json_t *job, const char *task)
{
	const json_t *list = json_at(job, "spec", "placement", "alternatives", NULL), *a;
	size_t i;

	json_array_foreach (list, i, a) {
		const char *of = json_str_at(a, "task", NULL);

		if (of && task && !strcmp(of, task) && json_object_get(a, "replicas"))
			return true;
	}
	return false;
}

int64_t job_task_pods(const json_t *job, const json_t *task)
{
	const char *name = json_str_at(task, "name", NULL);
	int64_t wanted = json_int_at(task, 1, "replicas", NULL), counted = 0;
	const json_t *phases =
		json_at(job, "status", "taskStatusCount", name ? name : "", "phase", NULL);
	const char *phase;
	json_t *n;

	if (!may_be_resized(job, name))
		return wanted;
	json_object_foreach ((json_t *)(uintptr_t)phases, phase, n)
		counted += json_integer_value(n);
	return counted ? counted : wanted;
}

static int64_t count_tasks(const json_t *job)
{
	json_t *task;
	int64_t n = 0;
	size_t i;

	json_array_foreach (json_at(job, "spec", "tasks", NULL), i, task)
		n += job_task_pods(job, task);
	return n;
}

/* A job that went back to the queue after it had run waits from then on; one that was only offered
 * and taken back has waited all the time. */
static void read_times(const json_t *attempts, struct job_facts *f)
{
	json_t *a;
	size_t i;

	f->wait_from_ns = f->created_ns;
	json_array_foreach (attempts, i, a) {
		int64_t started = time_at(a, "startedAt");

		if (!started)
			continue;
		if (f->ended_ns)
			f->wait_from_ns = f->ended_ns;
		f->started_ns = started;
		f->ended_ns = time_at(a, "endedAt");
	}
	if (f->phase == JOB_PENDING && f->ended_ns) {
		f->wait_from_ns = f->ended_ns;
		f->started_ns = f->ended_ns = 0;
	}
}

/* Of pods that were over at once nobody has seen the start. */
static bool has_run(const json_t *job)
{
	return json_int_at(job, 0, "status", "succeeded", NULL) ||
	       json_int_at(job, 0, "status", "failed", NULL);
}

static void read_attempts(const json_t *job, struct job_facts *f)
{
	const json_t *attempts = json_at(job, "status", "dispatch", "attempts", NULL);
	const json_t *parts = json_at(job, "status", "dispatch", "parts", NULL);
	const json_t *last = json_array_get(attempts, json_array_size(attempts) - 1);

	f->cluster = json_str_at(json_array_get(parts, 0), "cluster", NULL);
	if (!f->cluster && job_has_ended(f->phase))
		f->cluster = json_str_at(last, "cluster", NULL);
	if (f->cluster)
		f->nodes = json_str_at(last, "nodes", NULL);
	f->generation = json_int_at(last, 0, "generation", NULL);
	read_times(attempts, f);
	if (job_has_ended(f->phase) && !f->ended_ns)
		f->ended_ns = time_at(json_at(job, "status", "state", NULL), "lastTransitionTime");
	if (job_has_ended(f->phase) && !f->started_ns && has_run(job))
		f->started_ns = f->ended_ns;
}

void job_facts_read(const json_t *job, struct job_facts *ret)
{
	const json_t *meta = json_object_get(job, "metadata");
	const json_t *state = json_at(job, "status", "state", NULL);
	const json_t *pending = json_at(job, "status", "pending", NULL);
	struct job_facts f = {
		.ns = json_str_at(meta, "namespace", NULL),
		.name = json_str_at(meta, "name", NULL),
		.uid = json_str_at(meta, "uid", NULL),
		.queue = json_str_at(job, "spec", "queue", NULL),
		.phase_name = json_str_at(state, "phase", NULL),
		.reason = json_str_at(state, "reason", NULL),
		.message = json_str_at(state, "message", NULL),
		.deleting = json_object_get(meta, "deletionTimestamp") != NULL,
		.tasks = count_tasks(job),
		.done = json_int_at(job, 0, "status", "running", NULL) +
			json_int_at(job, 0, "status", "succeeded", NULL),
		.created_ns = time_at(meta, "creationTimestamp"),
	};

	/* Its state says what was heard of it last. */
	if (phase_of(json_str_at(job, "status", "dispatch", "phase", NULL)) == JOB_UNCERTAIN) {
		f.phase_name = "Uncertain";
		f.why_waiting = "fate unknown: fedctl explain";
	}
	f.phase = phase_of(f.phase_name);
	if (!f.phase_name)
		f.phase_name = "Pending";
	if (f.phase == JOB_PENDING)
		f.why_waiting = json_str_at(pending, "detail", NULL);
	read_attempts(job, &f);
	*ret = f;
}
