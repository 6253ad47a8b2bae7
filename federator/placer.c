#include "federator/placer.h"

#include <string.h>

#include "base/json.h"
#include "base/log.h"
#include "federator/admitted.h"
#include "federator/capable.h"
#include "federator/jobs.h"
#include "federator/placer_internal.h"

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
void placer_wake_at(struct placer *p, int64_t when_ns, int64_t least_ms)
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
		placer_wake_at(p, next, PLACER_ALARM_MS);
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

void placer_wake_in(struct placer *p, int64_t ms)
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
	placer_wake_in(p, 1);
}

uint64_t placer_version(const struct placer *p)
{
	return fleet_version(p->fleet);
}

void placer_pause(struct placer *p)
{
	p->paused_ms = env_mono_ms(p->hub->env) + PLACER_PAUSE_MS;
	timer_stop(p->session);
	placer_wake_in(p, 0);
}

struct placer *placer_create(struct hub *hub)
{
	struct placer *p = xnew0(struct placer);

	p->hub = hub;
	p->fleet = fleet_create();
	p->capable = capable_create(hub);
	p->admitted = admitted_create();
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
		placer_job_free(p, j);
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
	capable_destroy(p->capable);
	admitted_destroy(p->admitted);
	timer_destroy(p->session);
	timer_destroy(p->unknowns);
	timer_destroy(p->alarm);
	free(p);
}

void placer_lead(struct placer *p)
{
	p->leading = true;
	p->grace_ms = env_mono_ms(p->hub->env) + PLACER_GRACE_MS;
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
	c->expected = view->accepted && view->ready;
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
