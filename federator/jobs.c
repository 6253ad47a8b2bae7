#include "federator/jobs.h"

#include <string.h>

#include "api/views.h"
#include "base/json.h"
#include "base/log.h"
#include "base/map.h"
#include "base/scan.h"
#include "federator/jobs_internal.h"
#include "federator/placer.h"
#include "federator/queues.h"
#include "server/stored.h"

/* --- what is known of each job --- */

struct job_entry *jobs_find(struct jobs *j, const char *uid)
{
	struct job_entry *e;

	HASH_FIND(hh, j->entries, uid, strlen(uid), e);
	return e;
}

static void on_entry_timer(void *arg)
{
	jobs_act(arg);
}

static struct job_entry *entry_create(struct jobs *j, const char *uid)
{
	struct job_entry *e = xnew0(struct job_entry);

	e->jobs = j;
	e->uid = xstrdup(uid);
	e->timer = timer_create_in(j->hub->env, on_entry_timer, e);
	HASH_ADD_KEYPTR(hh, j->entries, e->uid, strlen(e->uid), e);
	return e;
}

static void entry_free(struct job_entry *e)
{
	HASH_DEL(e->jobs->entries, e);
	if (e->write)
		e->write->entry = NULL;
	jobs_pending_leave(e);
	timer_destroy(e->timer);
	doc_unref(e->doc);
	doc_unref(e->placement);
	free(e->queue);
	free(e->trouble);
	free(e->uid);
	free(e);
}

struct jobs *jobs_create(struct hub *hub)
{
	struct jobs *j = xnew0(struct jobs);

	j->hub = hub;
	list_init(&j->writes);
	jobs_pending_init(j);
	return j;
}

void jobs_destroy(struct jobs *j)
{
	struct job_write *w, *next;
	struct job_entry *e, *tmp;

	if (!j)
		return;
	HASH_ITER (hh, j->entries, e, tmp)
		entry_free(e);
	list_for_each_safe (w, next, &j->writes, node)
		jobs_write_free(w);
	jobs_pending_finish(j);
	free(j);
}

void jobs_follow(struct hub *hub)
{
	struct job_entry *e, *tmp;

	HASH_ITER (hh, hub->jobs->entries, e, tmp)
		entry_free(e);
}

/* --- events --- */

/* A job may be moved to another queue while it waits: it leaves the one and enters the other. */
static void count_in_queue(struct job_entry *e, const char *queue, enum dispatch_phase phase)
{
	struct hub *hub = e->jobs->hub;

	if (e->queue && (!queue || strcmp(e->queue, queue))) {
		queues_count(hub, e->queue, e->phase, DISPATCH_ENDED);
		free(take_ptr(e->queue));
	}
	if (!queue)
		return;
	queues_count(hub, queue, e->queue ? e->phase : DISPATCH_ENDED, phase);
	if (!e->queue)
		e->queue = xstrdup(queue);
	e->phase = phase;
}

static bool only_our_finalizer(const struct job *job)
{
	const char *const *f = job->meta.finalizers;

	return !f[0] || (!f[1] && !strcmp(f[0], JOB_FINALIZER));
}

/* What jobs_act() asks each time: a Job is parsed once an event, not once a look. */
static void remember(struct job_entry *e, const struct job *job)
{
	e->deleted = job->meta.deleted_ns != 0;
	e->only_our_finalizer = only_our_finalizer(job);
	e->ttl_s = job->ttl_s;
	e->phase_since_ns = job->phase_since_ns;
}

static void job_gone(struct hub *hub, const char *uid)
{
	struct job_entry *e = jobs_find(hub->jobs, uid);

	placer_job_gone(hub->placer, uid);
	if (!e)
		return;
	count_in_queue(e, NULL, DISPATCH_ENDED);
	entry_free(e);
}

/* Whoever wants such a job gone need not have it read, only its record. */
static void remember_deletion(struct job_entry *e)
{
	auto_free(job_destroy) struct job *job = NULL;
	auto_json *tree = doc_tree(e->doc);
	struct error err;

	json_object_del(tree, "spec");
	e->deleted = false;
	if (job_view_tree(tree, &job, &err) || !job->meta.deleted_ns)
		return;
	remember(e, job);
	if (e->queue)
		count_in_queue(e, e->queue, job->dispatch.phase);
	e->phase = job->dispatch.phase;
}

/* What another version wrote, or nobody should have: the job says so and stays where it is, unless
 * it was deleted. One that waits is not decided about. */
static void job_unreadable(struct job_entry *e, const char *why)
{
	remember_deletion(e);
	if (!e->trouble || strcmp(e->trouble, why))
		log_error("jobs", "%s: %s", e->doc->key, why);
	free(e->trouble);
	e->trouble = xstrdup(why);
	jobs_pending_leave(e);
	if (e->phase == DISPATCH_NONE || e->phase == DISPATCH_QUEUED)
		placer_job_gone(e->jobs->hub->placer, e->uid);
}

static void job_read(struct job_entry *e, const struct job *job)
{
	free(take_ptr(e->trouble));
	count_in_queue(e, job->queue, job->dispatch.phase);
	remember(e, job);
	placer_job_changed(e->jobs->hub->placer, e->doc, job);
}

/* NULL: it has none; caller frees. */
static char *uid_of(const struct doc *doc)
{
	struct sv uid;
	bool found =
		scan_find_str((struct sv){doc->bytes, doc->size}, &uid, "metadata", "uid", NULL);

	return found ? xstrndup(uid.p, uid.n) : NULL;
}

void jobs_changed(struct hub *hub, struct doc *doc, struct doc *prev)
{
	auto_xfree char *uid = uid_of(doc ? doc : prev);
	auto_free(job_destroy) struct job *job = placer_take_admitted(hub->placer, doc, uid);
	struct job_entry *e;
	struct error err;

	if (!uid) {
		log_error("jobs", "%s: has no uid", doc ? doc->key : prev->key);
		return;
	}
	if (!doc) {
		job_gone(hub, uid);
		return;
	}
	e = jobs_find(hub->jobs, uid);
	if (!e)
		e = entry_create(hub->jobs, uid);
	doc_unref(e->doc);
	e->doc = doc_ref(doc);
	if (!job && job_view(doc, &job, &err))
		job_unreadable(e, err.text);
	else
		job_read(e, job);
	jobs_act(e);
}

void jobs_placement_changed(struct hub *hub, struct doc *doc, struct doc *prev)
{
	auto_free(placement_destroy) struct placement *p = NULL;
	struct job_entry *e;
	struct error err;

	if (placement_view(doc ? doc : prev, &p, &err)) {
		log_error("jobs", "%s: %s", doc ? doc->key : prev->key, err.text);
		return;
	}
	e = jobs_find(hub->jobs, p->job_uid);
	if (!e && doc)
		e = entry_create(hub->jobs, p->job_uid);
	if (!e)
		return;
	if (doc && !e->placement)
		e->offered_at_ms = env_mono_ms(hub->env);
	doc_unref(e->placement);
	e->placement = doc ? doc_ref(doc) : NULL;
	if (!e->doc && !e->placement)
		entry_free(e);
	else
		jobs_act(e);
}

/* --- transactions on a record --- */

static void tell_placer(struct job_entry *e, const struct job_write *w, enum store_outcome outcome)
{
	struct placer *p = e->jobs->hub->placer;

	if (w->purpose == WRITE_OFFER && outcome != STORE_COMMITTED)
		placer_offer_failed(p, e->uid, outcome);
	if (w->purpose == WRITE_SETTLE && outcome == STORE_COMMITTED)
		placer_offer_failed(p, e->uid, STORE_CONFLICT);
}

static void on_committed(const struct store_result *result, void *arg)
{
	struct job_write *w = arg;
	struct job_entry *e = w->entry;

	if (e) {
		e->write = NULL;
		tell_placer(e, w, result->outcome);
		if (w->purpose == WRITE_REASON && result->outcome != STORE_COMMITTED)
			jobs_pending_failed(e);
		/* A conflict brings an event; a store that does not answer does not. */
		if (result->outcome == STORE_FAILED || result->outcome == STORE_UNKNOWN) {
			log_warn("jobs", "%s: %s", e->uid, result->err.text);
			timer_start(e->timer, JOBS_RETRY_MS);
		} else {
			timer_start(e->timer, JOBS_SETTLE_MS);
		}
	}
	jobs_write_free(w);
}

/* Guards: leadership, the Job's two keys as they are known, the Placement's (0: absent). */
int jobs_commit(struct job_entry *e, struct job_write *w, const char *placement_key,
		int64_t placement_revision, bool drop_placement, bool drop_job)
{
	struct hub *hub = e->jobs->hub;
	struct store_guard guards[4];
	struct store_write writes[3];
	auto_xfree char *status_key = jobs_status_key(e);
	size_t n_guards = 1, n_writes = 0;

	if (!hub_leads(hub, &guards[0]))
		return -1;
	guards[n_guards++] = (struct store_guard){e->doc->key, STORE_MOD, e->doc->revision};
	guards[n_guards++] = (struct store_guard){status_key, STORE_MOD, e->doc->status_revision};
	if (placement_key)
		guards[n_guards++] =
			(struct store_guard){placement_key, STORE_MOD, placement_revision};
	if (drop_job)
		writes[n_writes++] = (struct store_write){.key = e->doc->key};
	if (!drop_job || e->doc->status_revision)
		writes[n_writes++] =
			(struct store_write){.key = status_key,
					     .value = drop_job ? NULL : w->status.bytes,
					     .size = w->status.size};
	if (placement_key && (drop_placement || w->placement.size))
		writes[n_writes++] =
			(struct store_write){.key = placement_key,
					     .value = drop_placement ? NULL : w->placement.bytes,
					     .size = w->placement.size};
	w->entry = e;
	e->write = w;
	list_push_back(&e->jobs->writes, &w->node);
	store_commit(hub->store,
		     &(struct store_txn){.guards = guards,
					 .n_guards = n_guards,
					 .writes = writes,
					 .n_writes = n_writes},
		     on_committed, w);
	return 0;
}

void jobs_write_free(struct job_write *w)
{
	list_remove(&w->node);
	strbuf_finish(&w->status);
	strbuf_finish(&w->placement);
	free(w);
}

char *jobs_status_key(const struct job_entry *e)
{
	const struct kind *k = hub_kind("jobs");
	auto_strbuf main = {0};
	struct strbuf key = {0};

	kind_key(k, NULL, NULL, &main);
	kind_status_key(k, NULL, NULL, &key);
	strbuf_adds(&key, e->doc->key + main.size);
	return strbuf_take(&key);
}

/* --- offers --- */

bool jobs_offer(struct hub *hub, const char *job_uid, const struct record_offer *offer)
{
	struct job_entry *e = jobs_find(hub->jobs, job_uid);
	auto_json *job = NULL, *status = NULL, *placement = NULL;
	const struct kind *k = hub_kind("placements");
	struct job_write *w;
	auto_strbuf key = {0};
	char hash[65];
	struct error err;
	int64_t now = env_wall_ns(hub->env);

	if (!e || !e->doc || e->write || e->placement)
		return false;
	job = doc_tree(e->doc);
	if (json_at(job, "metadata", "deletionTimestamp", NULL) ||
	    record_spec_hash(e->doc->bytes, e->doc->size, hash) ||
	    record_make_offer(job, hash, offer, now, &status, &placement, &err))
		return false;
	stored_stamp(hub->env, k, json_str_at(placement, "metadata", "namespace", NULL), placement);
	kind_key(k, json_str_at(placement, "metadata", "namespace", NULL),
		 json_str_at(placement, "metadata", "name", NULL), &key);
	w = xnew0(struct job_write);
	w->purpose = WRITE_OFFER;
	json_write(&w->status, status);
	stored_main(k, placement, &w->placement);
	if (!jobs_commit(e, w, key.bytes, 0, false, false))
		return true;
	jobs_write_free(w);
	return false;
}

bool jobs_settle(struct hub *hub, const char *job_uid)
{
	struct job_entry *e = jobs_find(hub->jobs, job_uid);
	auto_json *job = NULL;
	struct job_write *w;

	if (!e || !e->doc || e->write)
		return false;
	job = doc_tree(e->doc);
	w = xnew0(struct job_write);
	w->purpose = WRITE_SETTLE;
	json_write(&w->status, json_at(job, "status", NULL));
	if (!jobs_commit(e, w, NULL, 0, false, false))
		return true;
	jobs_write_free(w);
	return false;
}

void jobs_wait(struct hub *hub, const char *job_uid)
{
	struct job_entry *e = jobs_find(hub->jobs, job_uid);

	if (e)
		jobs_pending_found(e);
}
