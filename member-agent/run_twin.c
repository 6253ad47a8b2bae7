/* A run that has its twin: made, and then led from step to step by lifecycle/attempt.h. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/encode.h"
#include "base/json.h"
#include "base/log.h"
#include "kube/object.h"
#include "member-agent/runner_internal.h"

/* The watch may have told more of it already, even its end. */
static void take_twin(struct run *run, const char *object, size_t size)
{
	auto_free(doc_unref) struct doc *doc = NULL;
	struct error err;

	doc = object_answer((struct sv){object, size}, &err);
	if (!doc)
		log_warn("runner", "placement %s: %s", run->name, err.text);
	else if (informer_version(run->runner->informers[KIND_TWINS]) < doc->version)
		run_set_twin(run, doc);
	run_poke(run);
}

/* --- making it --- */

static void on_twin_made(enum create_result result, const char *object, size_t size,
			 const struct error *err, void *arg)
{
	struct run *run = arg;

	run->twin_create = NULL;
	if (result == CREATE_REFUSED) {
		if (run->claim)
			claim_refuse(run->claim, "Forbidden", "%s", err->text);
		run_poke(run);
		return;
	}
	take_twin(run, object, size);
}

void run_make_twin(struct run *run)
{
	const struct placement *p = run->placement;
	auto_json *tree =
		twin_make(p, run->runner->hub, run->placement_doc->version, claim_work(run->claim));
	auto_xfree char *path = twins_path(p->job_ns);
	struct create_request request = {
		.path = path,
		.name = run->name,
		.take_body = json_print(tree),
		.timeout_ms = runner_write_timeout_ms(run->runner),
		.done = on_twin_made,
		.arg = run,
	};

	run->twin_create = create_start(run->runner->member, run->runner->env, &request);
}

/* --- its memory --- */

static void on_memory_written(struct run *run, const struct kube_answer *a, void *arg)
{
	run->twin_busy = false;
	if (!a->ok) {
		run_retry(run);
		return;
	}
	run->memory_unwritten = false;
	run->tries = 0;
	take_twin(run, a->body, a->size);
}

void run_write_memory(struct run *run)
{
	auto_json *patch = NULL;
	auto_xfree char *path = NULL;

	if (run->twin_busy)
		return;
	patch = twin_memory_patch(&run->memory, run->twin_version);
	path = xasprintf("/apis/federator.dev/v1alpha1/namespaces/%s/placements/%s/status",
			 run->twin->job_ns, run->name);
	run->twin_busy = true;
	run_send(run, "PATCH", path, patch, "application/merge-patch+json", on_memory_written,
		 NULL);
}

/* Written before anything is done that only it explains. */
static void remember(struct run *run)
{
	run->memory_unwritten = true;
	run_write_memory(run);
}

/* --- steps --- */

static void do_wait(struct run *run, const struct attempt_decision *d)
{
	int64_t ms = (d->until_ns - run_now_ns(run)) / 1000000 + 1;

	if (d->until_ns)
		run_poke_in(run, ms);
}

static void do_create(struct run *run, const struct attempt_decision *d)
{
	run_create_pods(run);
}

static void do_restart(struct run *run, const struct attempt_decision *d)
{
	log_info("runner", "placement %s: starts again: %s", run->name, d->message);
	run->memory.retries++;
	run->memory.restart_at_ns = d->until_ns;
	snprintf(run->restart_message, sizeof(run->restart_message), "%s", d->message);
	remember(run);
}

static void do_clear_old(struct run *run, const struct attempt_decision *d)
{
	run_clear_pods(run, CLEAR_OLD);
}

static void do_clear_lost(struct run *run, const struct attempt_decision *d)
{
	struct attempt_memory *m = &run->memory;
	int64_t now = run_now_ns(run);

	if (time_between(m->first_loss_ns, now) >= ATTEMPT_LOSS_WINDOW_MS * INT64_C(1000000)) {
		m->losses = 0;
		m->first_loss_ns = now;
	}
	m->losses++;
	m->last_loss_ns = now;
	run->loss_noted = true;
	log_info("runner", "placement %s: lost a pod: %s", run->name, d->message);
	remember(run);
}

/* Plain ends need no write: what the pods say stands until the last word. */
static void do_decide(struct run *run, const struct attempt_decision *d)
{
	bool ending;

	run->memory.outcome = d->outcome;
	if (run_pods_live(run, &ending) || ending)
		remember(run);
	else
		run->memory_unwritten = true;
	run_poke(run);
}

void run_give_up(struct run *run, const char *reason, const char *message)
{
	struct attempt_memory *m = &run->memory;

	if (m->release || m->outcome.phase != OUTCOME_NONE)
		return;
	log_info("runner", "placement %s: given up: %s: %s", run->name, reason, message);
	m->release = true;
	snprintf(m->release_reason, sizeof(m->release_reason), "%s", reason);
	snprintf(m->release_message, sizeof(m->release_message), "%s", message);
	/* When the hub asks for it, the Placement remembers. */
	if (run->placement && run->placement->desired != DESIRED_RELEASE)
		remember(run);
	run_poke(run);
}

void run_hold(struct run *run, const char *reason, const char *message)
{
	if (strcmp(run->hold_reason, reason))
		log_info("runner", "placement %s: waits for a pod: %s: %s", run->name, reason,
			 message);
	snprintf(run->hold_reason, sizeof(run->hold_reason), "%s", reason);
	snprintf(run->hold_message, sizeof(run->hold_message), "%s", message);
}

/* Rights that lack say nothing about the job: what of it runs goes on. */
void run_refused(struct run *run, const struct error *err)
{
	bool ending;

	if (!error_is_denied(err) || !run_pods_live(run, &ending)) {
		run_give_up(run, refusal_reason(err), err->text);
		return;
	}
	run_hold(run, refusal_reason(err), err->text);
	run_poke_in(run, DENIED_WAIT_MS);
}

static void do_give_up(struct run *run, const struct attempt_decision *d)
{
	run_give_up(run, d->reason, d->message);
}

static void do_clear_live(struct run *run, const struct attempt_decision *d)
{
	run_clear_pods(run, CLEAR_LIVE);
}

static void do_say_done(struct run *run, const struct attempt_decision *d)
{
	struct word_text text = {.state = PLACEMENT_DONE, .outcome = &run->memory.outcome};

	if (!run_may_yet_grow(run))
		word_say(run, &text);
}

static void do_say_released(struct run *run, const struct attempt_decision *d)
{
	struct word_text text = {
		.state = PLACEMENT_RELEASED,
		.reason = run->memory.release_reason,
		.message = run->memory.release_message,
	};

	if (!run_may_yet_grow(run))
		word_say(run, &text);
}

static void (*const acts[])(struct run *run, const struct attempt_decision *d) = {
	[ATTEMPT_WAIT] = do_wait,
	[ATTEMPT_CREATE] = do_create,
	[ATTEMPT_RESTART] = do_restart,
	[ATTEMPT_CLEAR_OLD] = do_clear_old,
	[ATTEMPT_CLEAR_LOST] = do_clear_lost,
	[ATTEMPT_DECIDE] = do_decide,
	[ATTEMPT_GIVE_UP] = do_give_up,
	[ATTEMPT_CLEAR_LIVE] = do_clear_live,
	[ATTEMPT_SAY_DONE] = do_say_done,
	[ATTEMPT_SAY_RELEASED] = do_say_released,
};

static bool is_ending(const struct run *run)
{
	return run->memory.release || run->memory.outcome.phase != OUTCOME_NONE ||
	       run->placement->desired == DESIRED_RELEASE;
}

/* Somebody takes the ground away: end in order, and say so. */
static void notice_removal(struct run *run)
{
	struct doc *ns = runner_known(run->runner, KIND_NAMESPACES, NULL, run->twin->job_ns);
	auto_json *tree = ns ? doc_tree(ns) : NULL;

	if (is_ending(run))
		return;
	/* One that is not there may only be too new for our watch. */
	if (json_at(tree, "metadata", "deletionTimestamp", NULL))
		run_give_up(run, "NamespaceTerminating", "the namespace is being deleted");
	else if (run->twin->ending)
		run_give_up(run, "TwinDeleted", "the attempt's record was deleted in the cluster");
}

static void say_progress(struct run *run, const struct attempt_decision *d)
{
	if (is_ending(run) || d->act == ATTEMPT_DECIDE || d->act == ATTEMPT_SAY_DONE)
		return;
	if (run->placement->state == PLACEMENT_RUNNING || d->running || d->restarting)
		word_say_counts(run, d->restarting);
}

/* A gang that a predecessor left half made is whole when no pod of its first start is missing. */
static void judge_half_made(struct run *run, const struct attempt_decision *d)
{
	if (d->act == ATTEMPT_CREATE || !run->half_made)
		return;
	run->half_made = false;
	runner_poke_all(run->runner);
}

static struct attempt_decision decide(struct run *run)
{
	struct arena arena = {0};
	struct attempt a = run_attempt(run, &arena);
	struct attempt_decision d = attempt_next(&a, run_now_ns(run));

	arena_finish(&arena);
	return d;
}

/* A loss that is in memory already must not be counted again until it is cleared. */
static bool clear_noted_loss(struct run *run)
{
	if (!run->loss_noted || is_ending(run))
		return false;
	run_clear_pods(run, CLEAR_LOST);
	for (size_t i = 0; i < run->n_places; i++)
		if (place_slot(run->places[i]).state == SLOT_LOST)
			return true;
	run->loss_noted = false;
	return false;
}

/* An end that pods tell by themselves is not written, and a Release the Placement remembers. */
static bool must_write_first(const struct run *run)
{
	bool ending;

	if (!run->memory_unwritten)
		return false;
	if (run->memory.outcome.phase != OUTCOME_NONE)
		return run_pods_live(run, &ending) || ending;
	return run->placement->desired != DESIRED_RELEASE;
}

void run_live(struct run *run)
{
	struct attempt_decision d;

	claim_destroy(take_ptr(run->claim));
	if (word_is_last(run) || run->twin_busy)
		return;
	if (must_write_first(run)) {
		run_write_memory(run);
		return;
	}
	notice_removal(run);
	if (is_ending(run))
		run_drop_creates(run);
	if (clear_noted_loss(run))
		return;
	d = decide(run);
	acts[d.act](run, &d);
	judge_half_made(run, &d);
	say_progress(run, &d);
}
