#include "lifecycle/attempt.h"

#include <stdio.h>
#include <string.h>

#include "base/encode.h"
#include "base/mem.h"

struct tally {
	int32_t absent, live, old, lost, running, succeeded, failed, total;
	const struct slot *first_failed;
	const struct attempt_task *failed_task;
	int32_t failed_index;
	const struct attempt_task *lost_task;
	int32_t lost_index;
};

static bool slot_failed(const struct attempt_task *t, const struct slot *s)
{
	if (s->state == SLOT_FAILED)
		return true;
	return t->on_failure && s->container_restarts > t->max_retry &&
	       (s->state == SLOT_PENDING || s->state == SLOT_RUNNING);
}

static void count_slot(struct tally *sum, const struct attempt *a, const struct attempt_task *t,
		       int32_t i)
{
	const struct slot *s = &t->slots[i];

	sum->total++;
	if (s->state != SLOT_ABSENT && s->restart != a->memory.retries) {
		sum->old++;
		return;
	}
	sum->absent += s->state == SLOT_ABSENT;
	sum->live += s->state == SLOT_PENDING || s->state == SLOT_RUNNING;
	sum->running += s->state == SLOT_RUNNING && !s->terminating;
	sum->succeeded += s->state == SLOT_SUCCEEDED;
	if (s->state == SLOT_LOST) {
		sum->lost++;
		sum->lost_task = t;
		sum->lost_index = i;
	}
	if (!slot_failed(t, s))
		return;
	sum->failed++;
	if (sum->first_failed)
		return;
	sum->first_failed = s;
	sum->failed_task = t;
	sum->failed_index = i;
}

static struct tally count_slots(const struct attempt *a)
{
	struct tally sum = {0};

	for (size_t t = 0; t < a->n_tasks; t++)
		for (int32_t i = 0; i < a->tasks[t].replicas; i++)
			count_slot(&sum, a, &a->tasks[t], i);
	return sum;
}

int64_t attempt_restart_delay_ms(int64_t retries)
{
	int64_t ms = ATTEMPT_RESTART_BASE_MS;

	for (int64_t i = 1; i < retries && ms < ATTEMPT_RESTART_MAX_MS; i++)
		ms *= 2;
	return ms < ATTEMPT_RESTART_MAX_MS ? ms : ATTEMPT_RESTART_MAX_MS;
}

static int32_t task_succeeded(const struct attempt *a, const struct attempt_task *t)
{
	int32_t n = 0;

	for (int32_t i = 0; i < t->replicas; i++)
		n += t->slots[i].state == SLOT_SUCCEEDED &&
		     t->slots[i].restart == a->memory.retries;
	return n;
}

enum outcome_phase attempt_end_rule(const struct attempt *a)
{
	int32_t succeeded = 0, task_minimum = 0;
	bool all_tasks = true;

	for (size_t t = 0; t < a->n_tasks; t++) {
		int32_t n = task_succeeded(a, &a->tasks[t]);

		succeeded += n;
		task_minimum += a->tasks[t].min_available;
		all_tasks = all_tasks && n >= a->tasks[t].min_available;
	}
	if (a->min_success >= 0)
		return succeeded >= a->min_success ? OUTCOME_COMPLETED : OUTCOME_FAILED;
	if (a->min_available >= task_minimum && !all_tasks)
		return OUTCOME_FAILED;
	return succeeded >= a->min_available ? OUTCOME_COMPLETED : OUTCOME_FAILED;
}

/* "OutOfcpu: Pod was rejected", as far as they are known. */
static void say_reason(const struct slot *s, const char *otherwise, struct strbuf *out)
{
	strbuf_adds(out, s->reason ? s->reason : otherwise);
	if (s->message && *s->message)
		strbuf_addf(out, ": %s", s->message);
}

static void name_pod(const struct attempt_task *t, int32_t index, struct strbuf *out)
{
	strbuf_addf(out, "task %s, pod %d: ", t->name, index);
}

static void say_failed_pod(const struct tally *sum, char *out, size_t n)
{
	const struct slot *s = sum->first_failed;
	auto_strbuf text = {0};

	name_pod(sum->failed_task, sum->failed_index, &text);
	if (s->state != SLOT_FAILED)
		strbuf_addf(&text, "its containers restarted %d times", s->container_restarts);
	else if (s->exit_code >= 0)
		strbuf_addf(&text, "exit code %d", s->exit_code);
	else
		say_reason(s, "failed", &text);
	snprintf(out, n, "%s", text.bytes);
}

static void decide_end(const struct attempt *a, const struct tally *sum, struct attempt_decision *d)
{
	d->act = ATTEMPT_DECIDE;
	d->outcome.phase = attempt_end_rule(a);
	if (d->outcome.phase == OUTCOME_COMPLETED) {
		snprintf(d->outcome.message, sizeof(d->outcome.message), "%d of %d pods succeeded",
			 sum->succeeded, sum->total);
		return;
	}
	snprintf(d->outcome.reason, sizeof(d->outcome.reason), "%s",
		 sum->first_failed ? "TaskFailed" : "TooFewSucceeded");
	if (sum->first_failed)
		say_failed_pod(sum, d->outcome.message, sizeof(d->outcome.message));
	else
		snprintf(d->outcome.message, sizeof(d->outcome.message), "%d of %d pods succeeded",
			 sum->succeeded, sum->total);
}

static void decide_failure(const struct attempt *a, const struct tally *sum, int64_t now_ns,
			   struct attempt_decision *d)
{
	if (a->memory.retries >= a->max_retry) {
		decide_end(a, sum, d);
		return;
	}
	d->act = ATTEMPT_RESTART;
	d->until_ns = now_ns + attempt_restart_delay_ms(a->memory.retries + 1) * 1000000;
	snprintf(d->reason, sizeof(d->reason), "Restarting");
	say_failed_pod(sum, d->message, sizeof(d->message));
}

static void decide_loss(const struct attempt *a, const struct tally *sum, int64_t now_ns,
			struct attempt_decision *d)
{
	const struct attempt_memory *m = &a->memory;
	const struct slot *s = &sum->lost_task->slots[sum->lost_index];
	auto_strbuf text = {0};
	bool in_window =
		time_between(m->first_loss_ns, now_ns) < ATTEMPT_LOSS_WINDOW_MS * INT64_C(1000000);

	snprintf(d->reason, sizeof(d->reason), "PodLost");
	name_pod(sum->lost_task, sum->lost_index, &text);
	say_reason(s, "deleted", &text);
	snprintf(d->message, sizeof(d->message), "%s", text.bytes);
	d->act =
		in_window && m->losses + 1 >= ATTEMPT_LOSSES ? ATTEMPT_GIVE_UP : ATTEMPT_CLEAR_LOST;
}

/* The message begins with the pod; nothing else tells of one whose containers restarted too often,
 * once it was ended. */
static bool is_failed_pod_of(const struct outcome *o, const struct attempt_task *t, int32_t index)
{
	auto_strbuf name = {0};

	name_pod(t, index, &name);
	return o->phase == OUTCOME_FAILED && !strncmp(o->message, name.bytes, name.size);
}

const char *attempt_counts_as(const struct attempt *a, size_t task, int32_t index)
{
	static const char *const names[] = {
		[SLOT_ABSENT] = "Pending",  [SLOT_PENDING] = "Pending",
		[SLOT_RUNNING] = "Running", [SLOT_SUCCEEDED] = "Succeeded",
		[SLOT_FAILED] = "Failed",   [SLOT_LOST] = "Pending",
	};
	enum slot_state state = a->tasks[task].slots[index].state;

	if (a->memory.outcome.phase == OUTCOME_NONE || state == SLOT_SUCCEEDED)
		return names[state];
	if (state == SLOT_FAILED || is_failed_pod_of(&a->memory.outcome, &a->tasks[task], index))
		return names[SLOT_FAILED];
	return NULL;
}

static int64_t loss_delay_ms(int64_t losses)
{
	int64_t ms = ATTEMPT_LOSS_BASE_MS;

	for (int64_t i = 1; i < losses && ms < ATTEMPT_LOSS_MAX_MS; i++)
		ms *= 2;
	return ms < ATTEMPT_LOSS_MAX_MS ? ms : ATTEMPT_LOSS_MAX_MS;
}

/* Anchors are on the wall clock, and that may have been set back: what lies further ahead than
 * twice its delay is not waited for. A successor's clock may be a little behind. */
static int64_t unless_set_back(int64_t at_ns, int64_t delay_ms, int64_t now_ns)
{
	return time_between(now_ns, at_ns) > 2 * delay_ms * 1000000 ? 0 : at_ns;
}

static int64_t restart_at_ns(const struct attempt_memory *m, int64_t now_ns)
{
	return unless_set_back(m->restart_at_ns, attempt_restart_delay_ms(m->retries), now_ns);
}

/* When the pods that are absent may be made: after a restart's delay, after a loss's back-off. */
static int64_t create_after_ns(const struct attempt_memory *m, int64_t now_ns)
{
	int64_t at = restart_at_ns(m, now_ns), delay = loss_delay_ms(m->losses), lost;

	if (!m->losses)
		return at;
	lost = unless_set_back(m->last_loss_ns + delay * 1000000, delay, now_ns);
	return at > lost ? at : lost;
}

/* Ending: pods first, then the last word. Done wins over Released when all had ended. */
static void decide_ending(const struct attempt *a, const struct tally *sum,
			  struct attempt_decision *d)
{
	if (a->memory.outcome.phase != OUTCOME_NONE) {
		d->act = sum->live || sum->old || sum->lost ? ATTEMPT_CLEAR_LIVE : ATTEMPT_SAY_DONE;
		return;
	}
	if (!a->memory.release && sum->succeeded + sum->failed == sum->total && !sum->live) {
		decide_end(a, sum, d);
		return;
	}
	if (!a->memory.release) {
		d->act = ATTEMPT_GIVE_UP;
		snprintf(d->reason, sizeof(d->reason), "Released");
		snprintf(d->message, sizeof(d->message), "the federator asked for the end");
		return;
	}
	d->act = sum->live || sum->old || sum->lost ? ATTEMPT_CLEAR_LIVE : ATTEMPT_SAY_RELEASED;
}

struct attempt_decision attempt_next(const struct attempt *a, int64_t now_ns)
{
	struct tally sum = count_slots(a);
	struct attempt_decision d = {.act = ATTEMPT_WAIT};

	d.running = sum.running + sum.succeeded >= a->min_available && !sum.old;
	d.restarting = a->memory.retries && (sum.old || now_ns < restart_at_ns(&a->memory, now_ns));
	if (a->memory.outcome.phase != OUTCOME_NONE || a->memory.release || a->release_asked)
		decide_ending(a, &sum, &d);
	else if (sum.old)
		d.act = ATTEMPT_CLEAR_OLD;
	else if (sum.failed)
		decide_failure(a, &sum, now_ns, &d);
	else if ((a->min_success >= 0 && sum.succeeded >= a->min_success) ||
		 sum.succeeded == sum.total)
		decide_end(a, &sum, &d);
	else if (sum.lost)
		decide_loss(a, &sum, now_ns, &d);
	else if (sum.absent && now_ns < create_after_ns(&a->memory, now_ns))
		d.until_ns = create_after_ns(&a->memory, now_ns);
	else if (sum.absent)
		d.act = ATTEMPT_CREATE;
	return d;
}
