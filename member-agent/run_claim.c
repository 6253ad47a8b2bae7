/*
 * Before the claim: everything that may speak against an attempt here is asked in an order in which
 * nothing has to be undone but the booking. The same path makes up for a twin that a predecessor
 * had claimed and not made; what would be a refusal is a release there.
 */
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/log.h"
#include "lifecycle/record.h"
#include "member-agent/plan.h"
#include "member-agent/runner_internal.h"
#include "member-agent/volumes.h"

#define PLACEMENT_PROTOCOL 1
#define HASH_TRIES         3
#define OLD_ATTEMPT_MS     15000 /* beyond W, for an earlier attempt to be forgotten */

enum stage_result { STAGE_NEXT, STAGE_WAIT };

struct claim {
	struct run *run;
	unsigned stage;
	bool asked;   /* the present stage has a request under way */
	bool already; /* claimed by a predecessor */
	bool refused, planned;
	struct refusal why;
	unsigned hash_tries;
	int64_t old_since_ms;
	struct job *job;
	json_t *work;
	struct twin *draft;
	struct create *namespace;
	struct dry_run *dry;
	json_t **specs;
	size_t n_specs;
	char **nodes;
	size_t n_nodes;
};

static void claim_go(struct claim *c);

static bool is_wanted(const struct claim *c)
{
	const struct placement *p = c->run->placement;

	return p && p->desired == DESIRED_GO;
}

/* What was taken back while an answer was under way is seen to in the next turn. */
static void next_stage(struct claim *c)
{
	c->asked = false;
	c->stage++;
	if (is_wanted(c))
		claim_go(c);
}

void claim_refuse(struct claim *c, const char *reason, const char *fmt, ...)
{
	char text[400];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	refusal_set(&c->why, reason, "%s", text);
	c->refused = true;
	c->asked = false;
	run_poke(c->run);
}

/* --- the job --- */

static bool class_is_known(const char *priority_class, void *arg)
{
	return runner_known(arg, KIND_PRIORITY_CLASSES, NULL, priority_class) != NULL;
}

/* A twin as it would be, so that pods can be made from it before it is there. */
static int make_draft(struct claim *c, struct error *err)
{
	auto_json *tree =
		twin_make(c->run->placement, NULL, c->run->placement_doc->version, c->work);
	auto_xfree char *bytes = json_print(tree);
	auto_free(doc_unref) struct doc *doc = doc_create(c->run->name, bytes, strlen(bytes));

	return twin_view(doc, &c->draft, err);
}

static int take_job(struct claim *c, struct doc *doc, struct error *err)
{
	const struct placement *p = c->run->placement;

	if (job_view(doc, &c->job, err))
		return -1;
	if (!c->job->meta.uid || strcmp(c->job->meta.uid, p->job_uid))
		return error_set(err, ERR_INVALID, "job %s is another one by now", p->job_name);
	c->work = twin_work(c->job, p, class_is_known, c->run->runner, err);
	return c->work ? make_draft(c, err) : -1;
}

static bool hash_fits(const struct placement *p, const struct doc *job)
{
	char hash[65];

	return !record_spec_hash(job->bytes, job->size, hash) && !strcmp(hash, p->spec_hash);
}

static void on_job(struct doc *job, const struct error *err, void *arg)
{
	struct claim *c = arg;
	struct error why;

	c->asked = false;
	if (!job && err->code != ERR_NOT_FOUND && err->code != ERR_FORBIDDEN) {
		run_retry(c->run);
	} else if (!job) {
		claim_refuse(c, "JobMissing", "%s", err->text);
	} else if (!hash_fits(c->run->placement, job)) {
		if (++c->hash_tries < HASH_TRIES)
			run_retry(c->run);
		else
			claim_refuse(c, "SpecChanged",
				     "the job is not the one that the placement was made for");
	} else if (take_job(c, job, &why)) {
		claim_refuse(c, "Invalid", "%s", why.text);
	} else {
		c->run->tries = 0;
		next_stage(c);
	}
}

static enum stage_result stage_read_job(struct claim *c)
{
	const struct placement *p = c->run->placement;
	struct owner *owner = c->run->runner->owner;

	if (p->protocol > PLACEMENT_PROTOCOL) {
		claim_refuse(c, "Protocol", "protocol %lld is not spoken here",
			     (long long)p->protocol);
		return STAGE_WAIT;
	}
	c->asked = true;
	owner->ops->read_job(owner, p, on_job, c);
	return STAGE_WAIT;
}

/* --- earlier attempts, names --- */

/* As long as anything of it is known: room is booked by job, and what it gives back at its end must
 * not be ours. */
static struct run *older_attempt(const struct claim *c)
{
	const struct run *mine = c->run;
	struct run *run, *tmp;

	HASH_ITER (hh, mine->runner->runs, run, tmp)
		if (run != mine && !strcmp(run->uid, mine->uid) && run->part == mine->part &&
		    run->generation < mine->generation)
			return run;
	return NULL;
}

static enum stage_result stage_older(struct claim *c)
{
	struct run *old = older_attempt(c);
	int64_t now = env_mono_ms(c->run->runner->env);

	if (!old)
		return STAGE_NEXT;
	if (!c->old_since_ms)
		c->old_since_ms = now;
	run_hurry(old);
	run_poke(old);
	if (now - c->old_since_ms > c->run->runner->shutout_wait_ms + OLD_ATTEMPT_MS) {
		claim_refuse(c, "NameTaken", "generation %lld of the job is still here",
			     (long long)old->generation);
		return STAGE_WAIT;
	}
	run_poke_in(c->run, 200);
	return STAGE_WAIT;
}

/* Ours: it goes, or is waited for once the claim stands. Anybody else's: never touched. */
static bool name_is_free(struct claim *c, const char *name)
{
	struct doc *doc = runner_known(c->run->runner, KIND_PODS, c->draft->job_ns, name);
	auto_free(pod_destroy) struct pod *p = NULL;
	auto_xfree char *holder = NULL;
	struct run *run;
	struct error err;

	if (!doc || pod_view(doc, &p, &err))
		return true;
	holder = attempt_name_of(p);
	if (!holder)
		return false;
	run = runner_find(c->run->runner, holder);
	if (run && run != c->run)
		run_hurry(run);
	return true;
}

static enum stage_result stage_names(struct claim *c)
{
	for (size_t t = 0; t < c->draft->n_tasks; t++) {
		const struct twin_task *task = &c->draft->tasks[t];

		for (int32_t i = 0; i < task->replicas; i++) {
			auto_xfree char *name = pod_name_make(c->draft->job_name, task->name, i);

			if (strlen(name) > POD_NAME_MAX) {
				claim_refuse(c, "NameTooLong",
					     "pod name %s has more than %d characters", name,
					     POD_NAME_MAX);
				return STAGE_WAIT;
			}
			if (name_is_free(c, name))
				continue;
			claim_refuse(c, "NameTaken",
				     "pod %s in namespace %s is not the federator's", name,
				     c->draft->job_ns);
			return STAGE_WAIT;
		}
	}
	return STAGE_NEXT;
}

/* --- volumes, references, namespace --- */

static enum stage_result stage_volumes(struct claim *c)
{
	const char *reason;
	struct error err;

	for (size_t t = 0; t < c->draft->n_tasks; t++) {
		const json_t *spec = json_object_get(c->draft->tasks[t].template_, "spec");

		if (!volumes_check(c->run->runner, c->draft->job_ns, spec, &reason, &err))
			continue;
		claim_refuse(c, reason, "task %s: %s", c->draft->tasks[t].name, err.text);
		return STAGE_WAIT;
	}
	return STAGE_NEXT;
}

static void on_references(const struct error *err, struct run *run)
{
	if (err)
		claim_refuse(run->claim, "ReferenceMissing", "%s", err->text);
	else
		next_stage(run->claim);
}

static enum stage_result stage_references(struct claim *c)
{
	if (!json_array_size(c->draft->copies))
		return STAGE_NEXT;
	supplies_destroy(c->run->supplies);
	c->run->supplies = supplies_create(c->run, c->draft);
	c->asked = true;
	supplies_read(c->run->supplies, on_references);
	return STAGE_WAIT;
}

static bool namespace_is_ending(const struct doc *doc)
{
	auto_json *tree = doc_tree(doc);

	return json_at(tree, "metadata", "deletionTimestamp", NULL) != NULL;
}

static void on_namespace_made(enum create_result result, const char *object, size_t size,
			      const struct error *err, void *arg)
{
	struct claim *c = arg;

	c->namespace = NULL;
	if (result == CREATE_REFUSED)
		claim_refuse(c, "Namespace", "namespace %s: %s", c->draft->job_ns, err->text);
	else
		next_stage(c);
}

static enum stage_result stage_namespace(struct claim *c)
{
	struct doc *doc = runner_known(c->run->runner, KIND_NAMESPACES, NULL, c->draft->job_ns);
	auto_json *body = NULL;
	struct create_request request = {
		.path = "/api/v1/namespaces",
		.name = c->draft->job_ns,
		.done = on_namespace_made,
		.arg = c,
	};

	if (doc && namespace_is_ending(doc)) {
		claim_refuse(c, "NamespaceTerminating", "namespace %s is being deleted",
			     c->draft->job_ns);
		return STAGE_WAIT;
	}
	if (doc)
		return STAGE_NEXT;
	body = json_pack("{sssss{ss}}", "apiVersion", "v1", "kind", "Namespace", "metadata", "name",
			 c->draft->job_ns);
	request.take_body = json_print(body);
	c->asked = true;
	c->namespace = create_start(c->run->runner->member, c->run->runner->env, &request);
	return STAGE_WAIT;
}

/* --- names of plugin svc --- */

static void on_service_name(struct run *run, const struct kube_answer *a, void *arg)
{
	auto_json *object = a->ok ? json_parse_foreign(a->body, a->size, NULL) : NULL;
	struct claim *c = run->claim;

	if (!c)
		return;
	if (!a->ok && a->status != 404) {
		c->asked = false;
		run_retry(run);
	} else if (a->ok && !json_str_at(object, "metadata", "labels", LABEL_UID, NULL)) {
		claim_refuse(c, "NameTaken", "%s %s in namespace %s is not the federator's",
			     json_str_at(object, "kind", NULL),
			     json_str_at(object, "metadata", "name", NULL), c->draft->job_ns);
	} else {
		next_stage(c);
	}
}

static enum stage_result ask_service_name(struct claim *c, const char *plural, const char *suffix)
{
	auto_xfree char *path = NULL;

	if (!c->draft->plugin_svc)
		return STAGE_NEXT;
	path = xasprintf("/api/v1/namespaces/%s/%s/%s%s", c->draft->job_ns, plural,
			 c->draft->job_name, suffix);
	c->asked = true;
	run_send(c->run, "GET", path, NULL, NULL, on_service_name, NULL);
	return STAGE_WAIT;
}

static enum stage_result stage_service(struct claim *c)
{
	return ask_service_name(c, "services", "");
}

static enum stage_result stage_hosts(struct claim *c)
{
	return ask_service_name(c, "configmaps", "-svc");
}

/* --- dry run and session --- */

static void on_dry(json_t **take_specs, const struct error *err, void *arg)
{
	struct claim *c = arg;

	c->dry = NULL;
	if (!take_specs) {
		claim_refuse(c, refusal_reason(err), "%s", err->text);
		return;
	}
	c->specs = take_specs;
	c->n_specs = c->draft->n_tasks;
	next_stage(c);
}

static enum stage_result stage_dry(struct claim *c)
{
	c->asked = true;
	c->dry = dry_run_start(c->run->runner, c->draft, on_dry, c);
	return STAGE_WAIT;
}

static void keep_nodes(struct claim *c, const struct site_placement *plan)
{
	c->n_nodes = plan->n_pods;
	c->nodes = xcalloc(plan->n_pods + 1, sizeof(*c->nodes));
	for (size_t i = 0; i < plan->n_pods; i++)
		c->nodes[i] = xstrdup(plan->pods[i].node);
	c->planned = true;
	c->run->half_made = false;
}

static enum stage_result stage_plan(struct claim *c)
{
	struct runner *r = c->run->runner;
	auto_free(site_placement_destroy) struct site_placement *plan = NULL;

	if (!c->already && runner_has_half_made(r)) {
		run_poke_in(c->run, 200);
		return STAGE_WAIT;
	}
	refusal_finish(&c->why);
	plan = plan_make(r, c->draft, c->specs, NULL, 0, &c->why);
	if (!plan) {
		c->refused = true;
		run_poke(c->run);
		return STAGE_WAIT;
	}
	keep_nodes(c, plan);
	runner_room_changed(r);
	return STAGE_NEXT;
}

/* --- the claim --- */

static enum stage_result stage_say(struct claim *c)
{
	struct word_text text = {.state = PLACEMENT_CLAIMED};

	if (c->already)
		run_poke(c->run); /* the twin comes next */
	else if (c->run->placement->state == PLACEMENT_NONE)
		word_say(c->run, &text);
	return STAGE_WAIT;
}

static enum stage_result (*const stages[])(struct claim *c) = {
	stage_read_job, stage_older, stage_names, stage_volumes, stage_references, stage_namespace,
	stage_service,  stage_hosts, stage_dry,   stage_plan,    stage_say,
};

static void say_refused(struct claim *c)
{
	struct word_text text = {
		.state = c->already ? PLACEMENT_RELEASED : PLACEMENT_REFUSED,
		.reason = c->why.reason,
		.message = c->why.message,
		.nearest_miss = c->why.nearest_miss,
	};

	if (c->already && c->run->predecessors && runner_is_shut_in(c->run->runner))
		return;
	c->run->half_made = false;
	log_info("runner", "placement %s: refused: %s: %s", c->run->name, c->why.reason,
		 c->why.message);
	word_say(c->run, &text);
}

static void claim_go(struct claim *c)
{
	while (!c->asked && !c->refused && stages[c->stage](c) == STAGE_NEXT)
		c->stage++;
}

static void claim_act(struct run *run, bool already)
{
	if (!run->claim) {
		run->claim = xnew0(struct claim);
		run->claim->run = run;
	}
	run->claim->already = already;
	if (run->claim->refused)
		say_refused(run->claim);
	else
		claim_go(run->claim);
}

void run_offered(struct run *run)
{
	claim_act(run, false);
}

void run_claimed_without_twin(struct run *run)
{
	if (run->twin_create)
		return;
	if (!run->claim || !run->claim->planned || run->claim->refused) {
		claim_act(run, true);
		return;
	}
	if (!run->predecessors || !runner_is_shut_in(run->runner))
		run_make_twin(run);
}

const json_t *claim_work(const struct claim *c)
{
	return c->work;
}

const char *claim_node(const struct claim *c, size_t place)
{
	return c && place < c->n_nodes ? c->nodes[place] : NULL;
}

const json_t *claim_spec(const struct claim *c, size_t task)
{
	return c && task < c->n_specs ? c->specs[task] : NULL;
}

void claim_destroy(struct claim *c)
{
	struct owner *owner;

	if (!c)
		return;
	owner = c->run->runner->owner;
	owner->ops->forget_calls(owner, c);
	create_cancel(c->namespace);
	dry_run_cancel(c->dry);
	for (size_t i = 0; i < c->n_specs; i++)
		json_decref(c->specs[i]);
	free(c->specs);
	for (size_t i = 0; i < c->n_nodes; i++)
		free(c->nodes[i]);
	free(c->nodes);
	if (!c->run->twin) {
		supplies_destroy(take_ptr(c->run->supplies));
		run_release_room(c->run);
	}
	refusal_finish(&c->why);
	job_destroy(c->job);
	json_decref(c->work);
	twin_destroy(c->draft);
	free(c);
}
