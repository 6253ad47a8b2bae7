/* Making the pods of a run: bound to their nodes when they are created. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/log.h"
#include "kube/object.h"
#include "member-agent/runner_internal.h"
#include "member-agent/template.h"

static bool is_this_attempt(const struct place *p, const struct pod *pod)
{
	auto_xfree char *name = attempt_name_of(pod);
	auto_free(podinfo_destroy) struct podinfo *info = podinfo_create(pod);

	return name && info && !strcmp(name, p->run->name) &&
	       info->restart == p->run->memory.retries && !info->deleted_ns &&
	       !podinfo_has_ended(info);
}

static void wait_for_name(struct place *p, const struct pod *holder)
{
	struct run *run = p->run, *other;
	auto_xfree char *name = attempt_name_of(holder);
	int64_t now = env_mono_ms(run->runner->env);
	char text[200];

	snprintf(text, sizeof(text), "pod %s in namespace %s is held by another", p->name,
		 run->twin->job_ns);
	if (!run->name_wait_ms)
		run->name_wait_ms = now;
	if (!name || now - run->name_wait_ms > NAME_WAIT_MS) {
		run_give_up(run, "NameTaken", text);
		return;
	}
	other = runner_find(run->runner, name);
	if (other && other != run)
		run_hurry(other);
	run_poke_in(run, 500);
}

static void on_unanswered(void *arg)
{
	struct place *p = arg;

	p->unanswered++;
	p->unanswered_ms = env_mono_ms(p->run->runner->env);
}

static void take_object(struct place *p, const char *object, size_t size, bool found)
{
	struct runner *r = p->run->runner;
	auto_free(doc_unref) struct doc *doc = NULL;
	auto_free(pod_destroy) struct pod *pod = NULL;
	bool overbooked;
	struct error err;

	doc = object_answer((struct sv){object, size}, &err);
	if (!doc || pod_view(doc, &pod, &err)) {
		log_warn("runner", "pod %s: %s", p->name, err.text);
		on_unanswered(p); /* there is one, and only the watch can tell of it */
		run_retry(p->run);
		return;
	}
	if (found && !is_this_attempt(p, pod)) {
		wait_for_name(p, pod);
		return;
	}
	p->run->name_wait_ms = 0;
	p->run->hold_reason[0] = '\0';
	/* This is the one, unless a predecessor may have sent one too. */
	if (found && p->unanswered == 1 && !runner_is_shut_in(r))
		p->unanswered_ms = 0;
	overbooked = place_is_overbooked(p, pod);
	/* The informer may have seen more of it already, even its end. */
	if (informer_version(r->informers[KIND_PODS]) < doc->version) {
		runner_pod_seen(r, pod);
		p->unseen = true;
	}
	if (overbooked)
		run_withdraw_pod(p);
	run_poke(p->run);
}

static void on_pod_made(enum create_result result, const char *object, size_t size,
			const struct error *err, void *arg)
{
	struct place *p = arg;

	p->create = NULL;
	p->run->runner->pods_in_flight--;
	if (result == CREATE_REFUSED)
		run_refused(p->run, err);
	else if (result == CREATE_DROPPED)
		run_poke(p->run);
	else
		take_object(p, object, size, result == CREATE_FOUND);
	runner_poke_waiting(p->run->runner);
}

/* How long a POST without an answer may yet be carried out. */
static int64_t unanswered_for_ms(const struct place *p)
{
	const struct runner *r = p->run->runner;

	return p->unanswered_ms ? p->unanswered_ms + r->shutout_wait_ms - env_mono_ms(r->env) : 0;
}

static void create_pod(struct place *p)
{
	struct run *run = p->run;
	auto_xfree char *path = pods_path(run->twin->job_ns);
	struct pod_order order = {
		.twin = run->twin,
		.task = p->task,
		.index = p->index,
		.restart = run->memory.retries,
		.node = p->node,
		.finalizer = run->twin->max_retry == 0,
	};
	auto_json *pod = pod_make(&order);
	struct create_request request = {
		.path = path,
		.name = p->name,
		.take_body = json_print(pod),
		.timeout_ms = runner_write_timeout_ms(run->runner),
		.done = on_pod_made,
		.unanswered = on_unanswered,
		.arg = p,
	};

	if (unanswered_for_ms(p) <= 0)
		p->unanswered = 0;
	run->runner->pods_in_flight++;
	p->create = create_start(run->runner->member, run->runner->env, &request);
}

static bool is_missing(const struct place *p)
{
	return !p->pod && !p->latched && !p->vanished && !p->create;
}

/* Known to be held already: no write is tried. */
static bool name_is_held(struct place *p)
{
	struct doc *doc = runner_known(p->run->runner, KIND_PODS, p->run->twin->job_ns, p->name);
	auto_free(pod_destroy) struct pod *pod = NULL;
	struct error err;

	if (!doc || pod_view(doc, &pod, &err))
		return false;
	wait_for_name(p, pod);
	return true;
}

void run_create_pods(struct run *run)
{
	struct runner *r = run->runner;

	if (!supplies_ready(run) || !run_plan_missing(run))
		return;
	for (size_t i = 0; i < run->n_places && !run->memory.release; i++) {
		struct place *p = run->places[i];

		if (!is_missing(p) || !p->node)
			continue;
		if (r->pods_in_flight >= PODS_IN_FLIGHT) {
			run->starved = true;
			return;
		}
		if (!name_is_held(p))
			create_pod(p);
	}
}

/* --- the end of making --- */

void run_drop_creates(struct run *run)
{
	for (size_t i = 0; i < run->n_places; i++)
		if (run->places[i]->create)
			create_drop(run->places[i]->create);
}

bool run_creates_settled(struct run *run)
{
	int64_t wait = 0;
	bool under_way = false;

	run_drop_creates(run);
	for (size_t i = 0; i < run->n_places; i++) {
		int64_t ms = unanswered_for_ms(run->places[i]);

		under_way = under_way || run->places[i]->create;
		wait = ms > wait ? ms : wait;
	}
	if (!under_way && wait > 0)
		run_poke_in(run, wait);
	return !under_way && wait <= 0;
}

bool run_may_yet_grow(struct run *run)
{
	return runner_is_shut_in(run->runner) || !run_creates_settled(run);
}
