/* The placer and jobs: what the record says of each goes to the core, and what became of offers. */
#include <string.h>

#include "base/encode.h"
#include "base/json.h"
#include "base/log.h"
#include "federator/jobs.h"
#include "federator/placer_internal.h"
#include "lifecycle/record.h"

static struct placed_job *job_need(struct placer *p, const char *uid)
{
	struct placed_job *j = placer_find(p, uid);

	if (j)
		return j;
	j = xnew0(struct placed_job);
	j->uid = xstrdup(uid);
	HASH_ADD_KEYPTR(hh, p->jobs, j->uid, strlen(j->uid), j);
	return j;
}

void placer_job_free(struct placer *p, struct placed_job *j)
{
	HASH_DEL(p->jobs, j);
	doc_unref(j->doc);
	free(j->trouble);
	arena_finish(&j->arena);
	free(j->uid);
	free(j->queue);
	free(j);
}
/* --- refusals --- */

static const json_t *last_attempt(const json_t *job)
{
	const json_t *list = json_at(job, "status", "dispatch", "attempts", NULL);

	return json_array_get(list, json_array_size(list) - 1);
}

/* Refused for want of room: until the cluster reports other room. For any other reason: 30 s,
 * doubled with each in a row, at most 10 min. */
static void read_refusal(const json_t *job, struct fleet_refusal *ret, struct arena *a)
{
	const json_t *attempt = last_attempt(job);
	const char *reason = json_str_at(attempt, "reason", NULL);
	const char *message = json_str_at(attempt, "message", NULL);
	const char *ended = json_str_at(attempt, "endedAt", NULL);
	int64_t ended_ns = 0, wait_ms = PLACER_BACKOFF_MS;
	int64_t n = record_refusals(job, json_str_at(attempt, "cluster", NULL));

	ret->reason = arena_printf(a, "%s%s%s", reason ? reason : json_str_at(attempt, "how", NULL),
				   message ? ": " : "", message ? message : "");
	if (record_is_room(reason) || !ended || time_parse(ended, &ended_ns)) {
		ret->until_ns = 0;
		return;
	}
	for (int64_t i = 1; i < n && wait_ms < PLACER_BACKOFF_MAX_MS; i++)
		wait_ms *= 2;
	if (wait_ms > PLACER_BACKOFF_MAX_MS)
		wait_ms = PLACER_BACKOFF_MAX_MS;
	ret->until_ns = ended_ns + wait_ms * 1000000;
}

static void requeue(struct placer *p, struct placed_job *j, const json_t *tree, int64_t next)
{
	int64_t seq = json_int_at(tree, 0, "status", "dispatch", "capacitySeq", NULL);
	struct fleet_refusal refusal;
	struct arena arena = {0};

	read_refusal(tree, &refusal, &arena);
	fleet_requeue(p->fleet, j->uid, next, seq, &refusal);
	if (refusal.until_ns)
		placer_wake_at(p, refusal.until_ns, 1);
	arena_finish(&arena);
	j->state = JOB_WAITS;
	j->generation = next;
	j->unknown = false;
}

static bool went_back(const json_t *attempt)
{
	static const char *const hows[] = {"Refused", "Released", "TakenBack"};
	const char *how = json_str_at(attempt, "how", NULL);

	for (size_t i = 0; how && i < ARRAY_LEN(hows); i++)
		if (!strcmp(how, hows[i]))
			return json_object_get(attempt, "endedAt") != NULL;
	return false;
}

/* What the record says of the last attempt, which another leader may have made. */
static void tell_refusal(struct placer *p, struct placed_job *j)
{
	auto_json *tree = doc_tree(j->doc);
	const json_t *attempt = last_attempt(tree);
	const char *cluster = json_str_at(attempt, "cluster", NULL);
	int64_t seq = json_int_at(tree, 0, "status", "dispatch", "capacitySeq", NULL);
	struct fleet_refusal refusal;
	struct arena arena = {0};

	if (!cluster || !went_back(attempt))
		return;
	read_refusal(tree, &refusal, &arena);
	if (!refusal.until_ns || refusal.until_ns > env_wall_ns(p->hub->env))
		fleet_refused(p->fleet, j->uid, cluster, seq, &refusal);
	if (refusal.until_ns > env_wall_ns(p->hub->env))
		placer_wake_at(p, refusal.until_ns, 1);
	arena_finish(&arena);
}

/* No session finds it: it waits with the reason that it has from here. */
static void cannot_decide(struct placer *p, struct placed_job *j, const struct job *job,
			  const struct error *err)
{
	if (!j->trouble || strcmp(j->trouble, err->text))
		log_warn("placer", "job %s/%s: %s", job->meta.ns, job->meta.name, err->text);
	free(j->trouble);
	j->trouble = xstrdup(err->text);
	fleet_forget(p->fleet, j->uid, 0);
	j->state = JOB_UNKNOWN;
	jobs_wait(p->hub, j->uid);
}

static void submit(struct placer *p, struct placed_job *j, const struct job *job, int64_t next)
{
	struct error err;

	j->unknown = false;
	if (fleet_submit(p->fleet, job, placer_priority(p, job), next, &err)) {
		cannot_decide(p, j, job, &err);
		return;
	}
	free(take_ptr(j->trouble));
	j->state = JOB_WAITS;
	j->generation = next;
	j->told_revision = j->doc->revision;
	if (job->dispatch.n)
		tell_refusal(p, j);
}

/* An offer under way says itself what became of it. One of which that is not known cannot have
 * been made when the job still waits in a later document: its guards name the one before. */
static void job_waits(struct placer *p, struct placed_job *j, const struct job *job)
{
	int64_t next = HUB_INCARNATION * (INT64_C(1) << 20) + job->dispatch.n + 1;
	bool open = j->state == JOB_OPEN;

	if (open && j->generation < next) {
		auto_json *tree = doc_tree(j->doc);

		requeue(p, j, tree, next);
	}
	if (open && j->generation == next && j->state == JOB_OPEN && !j->unknown)
		return;
	if (j->state != JOB_WAITS || j->generation != next || j->told_revision != j->doc->revision)
		submit(p, j, job, next);
}

/* --- attempts that the core did not decide: a leader before us did --- */

static struct doc *placement_of(struct placer *p, const struct job *job)
{
	auto_xfree char *ns = record_cluster_namespace(job->dispatch.cluster);
	auto_xfree char *name = record_placement_name(job->meta.uid, 0, job->dispatch.generation);

	return hub_get(p->hub, hub_kind("placements"), ns, name);
}

/* A lost attempt has no Placement any more; the record keeps what its last word said. */
static int64_t last_capacity_seq(const struct placed_job *j)
{
	auto_json *tree = doc_tree(j->doc);

	return json_int_at(tree, 0, "status", "dispatch", "capacitySeq", NULL);
}

static void adopt(struct placer *p, struct placed_job *j, const struct job *job)
{
	struct doc *doc = job->dispatch.cluster ? placement_of(p, job) : NULL;
	auto_free(placement_destroy) struct placement *placement = NULL;
	int32_t *choices = xcalloc(job->n_tasks, sizeof(*choices));
	struct fleet_attempt attempt = {.cluster = job->dispatch.cluster,
					.choices = choices,
					.generation = job->dispatch.generation};
	struct error err;

	if (doc && placement_view(doc, &placement, &err))
		log_error("placer", "%s: %s", doc->key, err.text);
	for (size_t i = 0; i < job->n_tasks; i++)
		choices[i] =
			placement && i < placement->n_tasks ? placement->tasks[i].alternative : -1;
	attempt.capacity_seq = placement ? placement->capacity_seq : last_capacity_seq(j);
	if (attempt.cluster &&
	    fleet_adopt(p->fleet, job, placer_priority(p, job), &attempt, &err)) {
		log_warn("placer", "job %s/%s: %s", job->meta.ns, job->meta.name, err.text);
		fleet_forget(p->fleet, j->uid, 0);
	}
	free(choices);
	j->state = JOB_OPEN;
	j->generation = job->dispatch.generation;
	j->told_revision = j->doc->revision;
}

static void job_has_place(struct placer *p, struct placed_job *j, const struct job *job)
{
	j->unknown = false;
	free(take_ptr(j->trouble));
	if (j->state == JOB_OPEN && j->generation == job->dispatch.generation)
		return;
	adopt(p, j, job);
}

static void forget(struct placer *p, struct placed_job *j, int64_t capacity_seq)
{
	fleet_forget(p->fleet, j->uid, capacity_seq);
	placer_job_free(p, j);
	placer_wake(p);
}

static void remember_request(struct placed_job *j, const struct job *job)
{
	arena_finish(&j->arena);
	j->request = (struct resource_list){0};
	for (size_t i = 0; i < job->n_tasks; i++)
		resource_list_add(&j->arena, &j->request, &job->tasks[i].request,
				  job->tasks[i].replicas);
	free(j->queue);
	j->queue = xstrdup(job->queue);
}

static bool has_no_place(const struct job *job)
{
	return job->dispatch.phase == DISPATCH_NONE || job->dispatch.phase == DISPATCH_QUEUED;
}

static void tell_job(struct placer *p, struct placed_job *j, const struct job *job)
{
	if (has_no_place(job))
		job_waits(p, j, job);
	else
		job_has_place(p, j, job);
}

void placer_job_changed(struct placer *p, struct doc *doc, const struct job *job)
{
	enum dispatch_phase phase = job->dispatch.phase;
	bool waits = has_no_place(job);
	struct placed_job *j = placer_find(p, job->meta.uid);

	if (phase == DISPATCH_ENDED || (waits && job->meta.deleted_ns)) {
		auto_json *tree = j ? doc_tree(doc) : NULL;

		if (j)
			forget(p, j,
			       json_int_at(tree, 0, "status", "dispatch", "capacitySeq", NULL));
		return;
	}
	j = job_need(p, job->meta.uid);
	doc_unref(j->doc);
	j->doc = doc_ref(doc);
	if (!j->queue || waits)
		remember_request(j, job);
	tell_job(p, j, job);
	if (waits)
		placer_wake(p);
}

void placer_job_gone(struct placer *p, const char *uid)
{
	struct placed_job *j = placer_find(p, uid);

	if (j)
		forget(p, j, 0);
}

void placer_placement_changed(struct hub *hub, struct doc *doc, struct doc *prev)
{
	auto_free(placement_destroy) struct placement *p = NULL;
	struct fleet *fleet = hub->placer->fleet;
	uint64_t before = fleet_version(fleet);
	struct error err;

	if (doc && !placement_view(doc, &p, &err) && p->capacity_seq)
		fleet_claimed(fleet, p->job_uid, p->generation, p->capacity_seq);
	if (fleet_version(fleet) != before)
		placer_wake(hub->placer);
}

/* --- offers that were not made --- */

void placer_take_offer_back(struct placer *p, struct placed_job *j)
{
	auto_free(job_destroy) struct job *job = NULL;
	struct error err;

	j->unknown = false;
	if (j->state != JOB_OPEN)
		return;
	if (job_view(j->doc, &job, &err)) {
		log_error("placer", "%s: %s", j->doc->key, err.text);
		return;
	}
	j->state = JOB_UNKNOWN;
	tell_job(p, j, job);
	placer_wake_in(p, PLACER_RETRY_MS);
}

void placer_offer_failed(struct placer *p, const char *job_uid, enum store_outcome outcome)
{
	struct placed_job *j = placer_find(p, job_uid);

	if (!j)
		return;
	if (outcome == STORE_FAILED)
		placer_pause(p);
	if (outcome != STORE_UNKNOWN || j->doc->version != j->offer_version) {
		placer_take_offer_back(p, j);
		return;
	}
	j->unknown = true;
	if (!timer_active(p->unknowns))
		timer_start(p->unknowns, PLACER_UNKNOWN_MS);
}

json_t *placer_queue_usage(struct placer *p, const char *queue)
{
	struct resource_list sum = {0};
	struct placed_job *j, *tmp;
	struct arena arena = {0};
	json_t *out;

	HASH_ITER (hh, p->jobs, j, tmp)
		if (j->state == JOB_OPEN && j->queue && !strcmp(j->queue, queue))
			resource_list_add(&arena, &sum, &j->request, 1);
	out = resource_list_json(&sum);
	arena_finish(&arena);
	return out;
}
