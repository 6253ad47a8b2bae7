#include "federator/placer.h"

#include <string.h>

#include "base/encode.h"
#include "base/json.h"
#include "base/log.h"
#include "federator/jobs.h"
#include "federator/placer_internal.h"
#include "lifecycle/record.h"

/* --- what is known --- */

struct placed_job *placer_find(struct placer *p, const char *uid)
{
	struct placed_job *j;

	HASH_FIND(hh, p->jobs, uid, strlen(uid), j);
	return j;
}

struct placed_cluster *placer_cluster(struct placer *p, const char *name)
{
	struct placed_cluster *c;

	HASH_FIND(hh, p->clusters, name, strlen(name), c);
	return c;
}

static struct placed_cluster *cluster_need(struct placer *p, const char *name)
{
	struct placed_cluster *c = placer_cluster(p, name);

	if (c)
		return c;
	c = xnew0(struct placed_cluster);
	c->name = xstrdup(name);
	HASH_ADD_KEYPTR(hh, p->clusters, c->name, strlen(c->name), c);
	return c;
}

static void cluster_free(struct placer *p, struct placed_cluster *c)
{
	HASH_DEL(p->clusters, c);
	doc_unref(c->doc);
	json_decref(c->capacity);
	free(c->name);
	free(c->uid);
	free(c);
}

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

static void job_free(struct placer *p, struct placed_job *j)
{
	HASH_DEL(p->jobs, j);
	doc_unref(j->doc);
	free(j->trouble);
	arena_finish(&j->arena);
	free(j->uid);
	free(j->queue);
	free(j);
}

static void priority_free(struct placer *p, struct priority *x)
{
	HASH_DEL(p->priorities, x);
	free(x->name);
	free(x);
}

/* --- life --- */

static void on_session(void *arg)
{
	placer_run_session(arg);
}

/* A refusal that ends by the clock brings no event of its own. */
static void wake_at(struct placer *p, int64_t when_ns, int64_t least_ms)
{
	int64_t left_ms = (when_ns - env_wall_ns(p->hub->env)) / 1000000 + 1;

	if (timer_active(p->alarm) && p->alarm_ns <= when_ns)
		return;
	p->alarm_ns = when_ns;
	timer_start(p->alarm, left_ms > least_ms ? left_ms : least_ms);
}

static void on_alarm(void *arg)
{
	struct placer *p = arg;
	int64_t next = fleet_next_refusal_end(p->fleet, env_wall_ns(p->hub->env));

	if (next)
		wake_at(p, next, PLACER_ALARM_MS);
	placer_wake(p);
}

static void on_unknowns(void *arg)
{
	struct placer *p = arg;
	struct placed_job *j, *tmp;
	bool any = false;

	HASH_ITER (hh, p->jobs, j, tmp) {
		any |= j->unknown;
		if (j->unknown)
			jobs_settle(p->hub, j->uid);
	}
	if (any)
		timer_start(p->unknowns, PLACER_UNKNOWN_MS);
}

static void wake_in(struct placer *p, int64_t ms)
{
	int64_t now = env_mono_ms(p->hub->env), due = now + ms;

	if (due < p->paused_ms)
		due = p->paused_ms;
	if (!p->leading || (timer_active(p->session) && p->session_ms <= due))
		return;
	p->session_ms = due;
	timer_start(p->session, due - now);
}

void placer_wake(struct placer *p)
{
	wake_in(p, 1);
}

static void pause_sessions(struct placer *p)
{
	p->paused_ms = env_mono_ms(p->hub->env) + PLACER_PAUSE_MS;
	timer_stop(p->session);
	wake_in(p, 0);
}

struct placer *placer_create(struct hub *hub)
{
	struct placer *p = xnew0(struct placer);

	p->hub = hub;
	p->fleet = fleet_create();
	p->session = timer_create_in(hub->env, on_session, p);
	p->unknowns = timer_create_in(hub->env, on_unknowns, p);
	p->alarm = timer_create_in(hub->env, on_alarm, p);
	return p;
}

static void forget_all(struct placer *p)
{
	struct placed_cluster *c, *next_cluster;
	struct placed_job *j, *next_job;
	struct priority *x, *next;

	HASH_ITER (hh, p->clusters, c, next_cluster)
		cluster_free(p, c);
	HASH_ITER (hh, p->jobs, j, next_job)
		job_free(p, j);
	HASH_ITER (hh, p->priorities, x, next)
		priority_free(p, x);
	p->default_priority = 0;
	p->paused_ms = 0;
	timer_stop(p->session);
	timer_stop(p->unknowns);
	timer_stop(p->alarm);
}

void placer_destroy(struct placer *p)
{
	if (!p)
		return;
	forget_all(p);
	fleet_destroy(p->fleet);
	timer_destroy(p->session);
	timer_destroy(p->unknowns);
	timer_destroy(p->alarm);
	free(p);
}

void placer_lead(struct placer *p)
{
	p->leading = true;
	placer_wake(p);
}

void placer_follow(struct placer *p)
{
	p->leading = false;
	forget_all(p);
	fleet_destroy(p->fleet);
	p->fleet = fleet_create();
}

/* --- priorities, queues, data sets --- */

int32_t placer_priority(const struct placer *p, const struct job *job)
{
	struct priority *x = NULL;

	if (job->priority_class)
		HASH_FIND(hh, p->priorities, job->priority_class, strlen(job->priority_class), x);
	return x ? x->value : p->default_priority;
}

void placer_priority_changed(struct hub *hub, struct doc *doc, struct doc *prev)
{
	const char *name = strrchr(doc ? doc->key : prev->key, '/') + 1;
	struct placer *p = hub->placer;
	auto_json *tree = doc ? doc_tree(doc) : NULL;
	struct priority *x;

	HASH_FIND(hh, p->priorities, name, strlen(name), x);
	if (x)
		priority_free(p, x);
	if (!doc)
		return;
	x = xnew0(struct priority);
	x->name = xstrdup(name);
	x->value = (int32_t)json_int_at(tree, 0, "value", NULL);
	if (json_is_true(json_object_get(tree, "globalDefault")))
		p->default_priority = x->value;
	HASH_ADD_KEYPTR(hh, p->priorities, x->name, strlen(x->name), x);
}

void placer_dataset_changed(struct hub *hub, struct doc *doc, struct doc *prev)
{
	auto_free(dataset_destroy) struct dataset *d = NULL;
	struct error err;

	if (!doc)
		fleet_dataset_remove(hub->placer->fleet, strrchr(prev->key, '/') + 1);
	else if (dataset_view(doc, &d, &err))
		log_error("placer", "%s: %s", doc->key, err.text);
	else
		fleet_dataset_set(hub->placer->fleet, d);
	placer_wake(hub->placer);
}

void placer_queue_changed(struct hub *hub, struct doc *doc, struct doc *prev)
{
	auto_free(queue_destroy) struct queue *q = NULL;
	struct error err;

	if (!doc)
		fleet_queue_remove(hub->placer->fleet, strrchr(prev->key, '/') + 1);
	else if (queue_view(doc, &q, &err))
		log_error("placer", "%s: %s", doc->key, err.text);
	else
		fleet_queue_set(hub->placer->fleet, q);
	placer_wake(hub->placer);
}

/* --- clusters --- */

/* The object's words, but ready by what we hear, and empty nodes by the newest report. */
static void tell_cluster(struct placer *p, struct placed_cluster *c)
{
	auto_free(cluster_destroy) struct cluster *view = NULL;
	struct error err;

	if (!c->doc)
		return;
	if (cluster_view(c->doc, &view, &err)) {
		log_error("placer", "%s: %s", c->doc->key, err.text);
		return;
	}
	free(c->uid);
	c->uid = xstrdup(view->meta.uid);
	view->ready = c->heard;
	if (c->capacity &&
	    !shapes_parse(&view->arena, c->capacity, &view->capacity, &view->n_capacity, &err))
		view->reported = true;
	fleet_cluster_set(p->fleet, view);
	placer_wake(p);
}

void placer_cluster_changed(struct hub *hub, struct doc *doc, struct doc *prev)
{
	const char *name = strrchr(doc ? doc->key : prev->key, '/') + 1;
	struct placed_cluster *c = cluster_need(hub->placer, name);

	if (!doc) {
		fleet_cluster_remove(hub->placer->fleet, name);
		cluster_free(hub->placer, c);
		return;
	}
	doc_unref(c->doc);
	c->doc = doc_ref(doc);
	tell_cluster(hub->placer, c);
}

void placer_cluster_heard(struct placer *p, const char *cluster, bool heard)
{
	struct placed_cluster *c = cluster_need(p, cluster);

	if (c->heard == heard)
		return;
	c->heard = heard;
	tell_cluster(p, c);
}

int placer_report(struct placer *p, const char *cluster, const json_t *report, struct error *err)
{
	struct placed_cluster *c = placer_cluster(p, cluster);
	int64_t seq = json_int_at(report, 0, "seq", NULL);
	int64_t base = json_int_at(report, 0, "base", NULL);
	const json_t *capacity = json_object_get(report, "capacity");
	struct arena arena = {0};
	struct shape *shapes;
	size_t n;
	int rc = 0;

	if (!c || !c->doc)
		return error_set(err, ERR_UNAVAILABLE, "cluster \"%s\" is not known here yet",
				 cluster);
	if (base && base != c->held_seq)
		return error_set(err, ERR_CONFLICT, "report %lld is not held: send all",
				 (long long)base);
	if (shapes_parse(&arena, json_object_get(report, "shapes"), &shapes, &n, err))
		rc = -1;
	else if (!fleet_report(p->fleet, cluster, seq, !base, shapes, n))
		rc = error_set(err, ERR_CONFLICT, "a newer report than %lld is held: send all",
			       (long long)seq);
	arena_finish(&arena);
	if (rc)
		return -1;
	c->held_seq = seq;
	if (capacity) {
		json_decref(c->capacity);
		c->capacity = json_deep_copy(capacity);
		tell_cluster(p, c);
	}
	placer_wake(p);
	return 0;
}

/* --- jobs --- */

static const json_t *last_attempt(const json_t *job)
{
	const json_t *list = json_at(job, "status", "dispatch", "attempts", NULL);

	return json_array_get(list, json_array_size(list) - 1);
}

static bool is_room(const char *reason)
{
	return reason && !strcmp(reason, "NoRoom");
}

/* How many of the last attempts in this cluster, without a break, ended other than by room. */
static int failures_in_a_row(const json_t *job, const char *cluster)
{
	const json_t *list = json_at(job, "status", "dispatch", "attempts", NULL);
	int n = 0;

	for (size_t i = json_array_size(list); i-- > 0;) {
		const json_t *a = json_array_get(list, i);
		const char *of = json_str_at(a, "cluster", NULL);

		if (!of || strcmp(of, cluster))
			continue;
		if (is_room(json_str_at(a, "reason", NULL)))
			break;
		n++;
	}
	return n;
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
	int n = failures_in_a_row(job, json_str_at(attempt, "cluster", NULL));

	ret->reason = arena_printf(a, "%s%s%s", reason ? reason : json_str_at(attempt, "how", NULL),
				   message ? ": " : "", message ? message : "");
	if (is_room(reason) || !ended || time_parse(ended, &ended_ns)) {
		ret->until_ns = 0;
		return;
	}
	for (int i = 1; i < n && wait_ms < PLACER_BACKOFF_MAX_MS; i++)
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
		wake_at(p, refusal.until_ns, 1);
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
		wake_at(p, refusal.until_ns, 1);
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
	job_free(p, j);
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
	struct error err;

	if (doc && !placement_view(doc, &p, &err) && p->capacity_seq)
		fleet_claimed(hub->placer->fleet, p->job_uid, p->generation, p->capacity_seq);
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
	wake_in(p, PLACER_RETRY_MS);
}

void placer_offer_failed(struct placer *p, const char *job_uid, enum store_outcome outcome)
{
	struct placed_job *j = placer_find(p, job_uid);

	if (!j)
		return;
	if (outcome == STORE_FAILED)
		pause_sessions(p);
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
