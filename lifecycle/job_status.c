#include "lifecycle/job_status.h"

#include <string.h>

#include "base/encode.h"
#include "base/json.h"

static void set_time(json_t *object, const char *key, int64_t now_ns)
{
	char text[TIME_SIZE];

	time_format(text, now_ns);
	json_set_str(object, key, text);
}

/* Volcano's clients look at state.phase, `kubectl wait` at conditions: one True, for the present
 * phase, the phases passed through False. */
static void set_phase(json_t *status, const char *phase, const char *reason, const char *message,
		      int64_t now_ns)
{
	json_t *state = json_object_need(status, "state"), *conditions, *c;
	const char *old = json_str_at(state, "phase", NULL);
	size_t i, found = SIZE_MAX;

	json_set_str(state, "reason", reason && *reason ? reason : NULL);
	json_set_str(state, "message", message && *message ? message : NULL);
	if (old && !strcmp(old, phase))
		return;
	json_set_str(state, "phase", phase);
	set_time(state, "lastTransitionTime", now_ns);
	conditions = json_object_get(status, "conditions");
	if (!conditions) {
		conditions = json_array();
		json_object_set_new(status, "conditions", conditions);
	}
	json_array_foreach (conditions, i, c) {
		bool is = !strcmp(json_str_at(c, "type", NULL), phase);

		if (is)
			found = i;
		if (is != !strcmp(json_str_at(c, "status", NULL), "True"))
			set_time(c, "lastTransitionTime", now_ns);
		json_set_str(c, "status", is ? "True" : "False");
	}
	if (found != SIZE_MAX)
		return;
	c = json_object();
	json_set_str(c, "type", phase);
	json_set_str(c, "status", "True");
	set_time(c, "lastTransitionTime", now_ns);
	json_array_append_new(conditions, c);
}

static const char *const count_keys[][2] = {
	{"Pending", "pending"},
	{"Running", "running"},
	{"Succeeded", "succeeded"},
	{"Failed", "failed"},
};

/* counts of a Placement: {task: {Pending: n, ...}}; NULL: nothing lives. status.pending is a count
 * while the job has a place, and the reason why it waits while it has none. */
static void set_counts(json_t *status, const json_t *counts)
{
	json_t *per_task = json_object(), *of_task;
	int64_t sum[ARRAY_LEN(count_keys)] = {0};
	const char *task;

	json_object_foreach ((json_t *)(uintptr_t)counts, task, of_task) {
		for (size_t i = 0; i < ARRAY_LEN(count_keys); i++)
			sum[i] += json_int_at(of_task, 0, count_keys[i][0], NULL);
		json_object_set_new(per_task, task, json_pack("{sO}", "phase", of_task));
	}
	for (size_t i = 0; i < ARRAY_LEN(count_keys); i++)
		json_set_int(status, count_keys[i][1], sum[i]);
	json_object_set_new(status, "taskStatusCount", per_task);
	if (!counts)
		json_object_del(status, "pending");
}

json_t *record_initial(const json_t *job, int64_t now_ns)
{
	json_t *status = json_object();

	set_phase(status, "Pending", NULL, NULL, now_ns);
	json_set_int(status, "minAvailable", json_int_at(job, 0, "spec", "minAvailable", NULL));
	return status;
}

void job_status_begin_attempt(json_t *status, const char *cluster, int64_t generation,
			      const char *why, const json_t *runners_up)
{
	json_t *dispatch = json_object_need(status, "dispatch");
	json_t *attempts = json_object_get(dispatch, "attempts"), *a = json_object();

	if (!attempts) {
		attempts = json_array();
		json_object_set_new(dispatch, "attempts", attempts);
	}
	json_set_int(a, "generation", generation);
	json_set_str(a, "cluster", cluster);
	json_set_str(a, "why", why);
	if (runners_up && json_array_size(runners_up))
		json_object_set_new(a, "runnersUp", json_deep_copy(runners_up));
	json_array_append_new(attempts, a);
	while (json_array_size(attempts) > JOB_STATUS_ATTEMPTS)
		json_array_remove(attempts, 0);
}

static json_t *last_attempt(json_t *status)
{
	json_t *attempts = json_object_get(json_object_get(status, "dispatch"), "attempts");

	return json_array_get(attempts, json_array_size(attempts) - 1);
}

static void end_attempt(json_t *status, const char *how, const char *reason, const char *message,
			int64_t now_ns)
{
	json_t *a = last_attempt(status);

	if (!a)
		return;
	json_set_str(a, "how", how);
	if (reason && *reason)
		json_set_str(a, "reason", reason);
	if (message && *message)
		json_set_str(a, "message", message);
	set_time(a, "endedAt", now_ns);
}

void job_status_note_abort(json_t *status, const char *why)
{
	json_t *a = last_attempt(status);

	if (a)
		json_set_str(a, "reason", why);
}

/* In a row, by cluster: attempts are forgotten sooner than a cluster's turn comes again. */
static void count_refusal(json_t *status)
{
	const json_t *attempt = last_attempt(status);
	const char *cluster = json_str_at(attempt, "cluster", NULL);
	json_t *dispatch = json_object_need(status, "dispatch");

	if (!cluster)
		return;
	if (record_is_room(json_str_at(attempt, "reason", NULL))) {
		json_object_del(json_object_get(dispatch, "refusals"), cluster);
		return;
	}
	json_set_int(json_object_need(dispatch, "refusals"), cluster,
		     json_int_at(dispatch, 0, "refusals", cluster, NULL) + 1);
}

void job_status_to_queue(json_t *status, const char *how, const char *reason, const char *message,
			 int64_t now_ns)
{
	json_t *dispatch = json_object_need(status, "dispatch");

	end_attempt(status, how, reason, message, now_ns);
	count_refusal(status);
	json_set_str(dispatch, "phase", dispatch_phase_name(DISPATCH_QUEUED));
	json_object_del(dispatch, "parts");
	set_counts(status, NULL);
	set_phase(status, "Pending", NULL, NULL, now_ns);
}

static void apply_running(json_t *status, const json_t *placement, enum dispatch_phase to,
			  int64_t now_ns)
{
	const char *reason = json_str_at(placement, "status", "reason", NULL);
	const char *nodes = json_str_at(placement, "status", "nodes", NULL);
	bool restarting = reason && !strcmp(reason, "Restarting");
	json_t *attempt = last_attempt(status);

	json_set_str(json_object_need(status, "dispatch"), "phase", dispatch_phase_name(to));
	set_counts(status, json_at(placement, "status", "counts", NULL));
	set_phase(status, restarting ? "Restarting" : "Running", reason,
		  json_str_at(placement, "status", "message", NULL), now_ns);
	if (attempt && !json_object_get(attempt, "startedAt"))
		set_time(attempt, "startedAt", now_ns);
	if (attempt && nodes)
		json_set_str(attempt, "nodes", nodes);
}

static void apply_done(json_t *status, const json_t *placement, int64_t now_ns)
{
	const json_t *outcome = json_at(placement, "status", "outcome", NULL);
	const char *phase = json_str_at(outcome, "phase", NULL);
	const char *reason = json_str_at(outcome, "reason", NULL);
	const char *message = json_str_at(outcome, "message", NULL);
	const char *nodes = json_str_at(placement, "status", "nodes", NULL);
	json_t *attempt = last_attempt(status);

	if (attempt && nodes)
		json_set_str(attempt, "nodes", nodes);
	end_attempt(status, "Done", reason, message, now_ns);
	json_set_str(json_object_need(status, "dispatch"), "phase",
		     dispatch_phase_name(DISPATCH_ENDED));
	set_counts(status, json_at(placement, "status", "counts", NULL));
	set_phase(status, phase && !strcmp(phase, "Completed") ? "Completed" : "Failed", reason,
		  message, now_ns);
}

/* The first report that contains what the last word changed: the debit of the attempt ends with it,
 * and the Placement that said so may be gone. */
static void carry_capacity_seq(json_t *status, const json_t *placement)
{
	int64_t seq = json_int_at(placement, 0, "status", "capacitySeq", NULL);

	if (seq)
		json_set_int(json_object_need(status, "dispatch"), "capacitySeq", seq);
}

static void note_nearest_miss(json_t *attempt, const json_t *nearest_miss)
{
	if (attempt && nearest_miss)
		json_object_set_new(attempt, "nearestMiss", json_deep_copy(nearest_miss));
}

static void carry_retries(json_t *status, const json_t *placement)
{
	json_t *dispatch = json_object_need(status, "dispatch");
	int64_t said = json_int_at(placement, 0, "status", "retries", NULL);
	int64_t known = json_int_at(dispatch, 0, "retries", NULL);

	if (said > known)
		json_set_int(dispatch, "retries", said);
	if (said > known || known)
		json_set_int(status, "retryCount", said > known ? said : known);
}

void job_status_apply(json_t *status, const json_t *job, const json_t *placement,
		      enum record_step step, enum dispatch_phase to, int64_t now_ns)
{
	const char *reason = json_str_at(placement, "status", "reason", NULL);
	const char *message = json_str_at(placement, "status", "message", NULL);

	carry_retries(status, placement);
	carry_capacity_seq(status, placement);
	switch (step) {
	case RECORD_RUNNING:
		apply_running(status, placement, to, now_ns);
		return;
	case RECORD_DONE:
		apply_done(status, placement, now_ns);
		return;
	case RECORD_REFUSED:
	case RECORD_RELEASED:
		job_status_to_queue(status, step == RECORD_REFUSED ? "Refused" : "Released", reason,
				    message, now_ns);
		note_nearest_miss(last_attempt(status),
				  json_at(placement, "status", "nearestMiss", NULL));
		return;
	case RECORD_LOST:
		end_attempt(status, "Lost", reason, message, now_ns);
		json_set_str(json_object_need(status, "dispatch"), "phase",
			     dispatch_phase_name(to));
		set_phase(status, json_str_at(status, "state", "phase", NULL), "Lost", message,
			  now_ns);
		return;
	default:
		return;
	}
}
