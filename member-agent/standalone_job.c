/* One Job without a hub: judged, queued, offered, resumed, held, ended. */
#include <string.h>

#include "api/kind.h"
#include "base/json.h"
#include "base/log.h"
#include "lifecycle/record.h"
#include "member-agent/names.h"
#include "member-agent/standalone_internal.h"

#define EXPLAIN_MS      5000 /* a job's reason changes at most so often */
#define ROOM_BASE_MS    1000 /* pause after the runner found less room than the core */
#define ROOM_MAX_MS     30000
#define REFUSAL_BASE_MS 5000 /* after any other refusal */
#define REFUSAL_MAX_MS  300000

/* --- life --- */

struct local_job *local_create(struct standalone *s, const char *uid, const char *ns,
			       const char *name)
{
	struct local_job *j = xnew0(struct local_job);

	j->alone = s;
	j->uid = xstrdup(uid);
	j->ns = xstrdup(ns);
	j->name = xstrdup(name);
	j->judged = -1;
	HASH_ADD_KEYPTR(hh, s->by_uid, j->uid, strlen(j->uid), j);
	return j;
}

void local_drop_gang(struct local_job *j)
{
	if (!j->gang)
		return;
	HASH_DELETE(by_gang, j->alone->by_gang, j);
	site_gang_destroy(standalone_site(j->alone), take_ptr(j->gang));
	standalone_poke(j->alone, 1);
}

static void set_state(struct local_job *j, enum local_state state)
{
	struct standalone *s = j->alone;

	if (s->offered == j && state != LOCAL_OFFERED) {
		s->offered = NULL;
		standalone_poke(s, 1);
	}
	list_remove(&j->waiting);
	if (state == LOCAL_WAITING || state == LOCAL_HELD)
		list_push_back(&s->waiting, &j->waiting);
	j->state = state;
}

void local_destroy(struct local_job *j)
{
	set_state(j, LOCAL_IDLE);
	local_drop_gang(j);
	local_cancel_write(j);
	kube_cancel(j->event);
	timer_destroy(j->retry);
	HASH_DEL(j->alone->by_uid, j);
	doc_unref(j->doc);
	doc_unref(j->work);
	json_decref(j->tree);
	json_decref(j->placement);
	json_decref(j->pending_before);
	free(j->told);
	free(j->uid);
	free(j->ns);
	free(j->name);
	free(j);
}

void local_set_doc(struct local_job *j, struct doc *doc, bool being_deleted)
{
	if (doc && j->doc && doc->version < j->doc->version)
		return;
	doc_unref(j->doc);
	j->doc = doc ? doc_ref(doc) : NULL;
	j->ending = !doc || being_deleted;
	if (doc)
		return;
	local_cancel_write(j);
	j->unwritten = false;
}

/* --- the Placement --- */

struct doc *local_placement_doc(const struct local_job *j)
{
	auto_xfree char *bytes = json_print(j->placement);
	struct doc *doc = doc_create("placement", bytes, strlen(bytes));

	doc->version = j->placement_version;
	return doc;
}

static void deliver(struct local_job *j)
{
	auto_free(doc_unref) struct doc *doc = NULL;

	j->placement_version = ++j->alone->version;
	if (j->alone->explain_name)
		return;
	doc = local_placement_doc(j);
	runner_placement_changed(j->alone->agent->runner, doc, NULL);
}

static void drop_placement(struct local_job *j)
{
	json_decref(take_ptr(j->placement));
	doc_unref(take_ptr(j->work));
}

static void set_placement(struct local_job *j, json_t *take)
{
	json_decref(j->placement);
	j->placement = take;
}

/* What the runner reads as the Job, and the hash that the Placement names. */
static void make_work(struct local_job *j, char hash[65])
{
	auto_xfree char *bytes = json_print(j->tree);

	doc_unref(j->work);
	j->work = doc_create("job", bytes, strlen(bytes));
	j->work->version = j->doc ? j->doc->version : 0;
	if (record_spec_hash(j->work->bytes, j->work->size, hash))
		hash[0] = '\0';
}

static int make_placement(struct local_job *j, const int32_t *alternatives, struct error *err)
{
	struct standalone *s = j->alone;
	struct record_offer offer = {
		.cluster = s->agent->settings.name,
		.cluster_uid = s->agent->member_uid,
		.why = "it fits",
		.alternatives = alternatives,
		.protocol = AGENT_PROTOCOL,
	};
	json_t *status, *placement;
	char hash[65];

	make_work(j, hash);
	if (record_make_offer(j->tree, hash, &offer, env_wall_ns(s->agent->env), &status,
			      &placement, err))
		return -1;
	json_decref(j->pending_before);
	j->pending_before =
		json_incref((json_t *)(uintptr_t)json_at(j->tree, "status", "pending", NULL));
	json_object_set_new(j->tree, "status", status);
	set_placement(j, placement);
	return 0;
}

void local_offer(struct local_job *j, const int32_t *alternatives)
{
	struct error err;

	if (make_placement(j, alternatives, &err)) {
		log_error("standalone", "job %s/%s: %s", j->ns, j->name, err.text);
		local_drop_gang(j);
		set_state(j, LOCAL_IDLE);
		return;
	}
	set_state(j, LOCAL_OFFERED);
	deliver(j);
}

/* --- judging --- */

/* json_parse has limits of its own, and what a real server took may be beyond them. */
static json_t *read_tree(struct local_job *j, struct error *err)
{
	json_t *tree = json_parse_foreign(j->doc->bytes, j->doc->size, err);

	if (tree && j->tree)
		json_object_set(tree, "status", json_object_get(j->tree, "status"));
	return tree;
}

static void set_tree(struct local_job *j, json_t *take)
{
	json_decref(j->tree);
	j->tree = take;
}

static const struct kind *job_kind(void)
{
	return kind_find("batch.volcano.sh", "jobs");
}

static int check(const json_t *job, struct error *err)
{
	struct causes causes = {0};
	size_t n;

	kind_validate(job_kind(), job, NULL, &causes);
	n = causes.n;
	if (n)
		status_invalid("Job", "batch.volcano.sh",
			       json_str_at(job, "metadata", "name", NULL), &causes, err);
	causes_finish(&causes);
	return n ? -1 : 0;
}

static int make_gang(struct local_job *j, struct error *err)
{
	auto_free(job_destroy) struct job *view = NULL;
	struct standalone *s = j->alone;

	if (job_view_tree(j->tree, &view, err) ||
	    site_gang_create(standalone_site(s), view, standalone_priority(s, view->priority_class),
			     NULL, &j->gang, err))
		return -1;
	HASH_ADD(by_gang, s->by_gang, gang, sizeof(j->gang), j);
	return 0;
}

void local_set_pending(struct local_job *j, const json_t *pending)
{
	const char *code = json_str_at(pending, "code", NULL);
	const char *detail = json_str_at(pending, "detail", NULL);
	json_t *status = record_set_pending(j->tree, pending, env_wall_ns(j->alone->agent->env));

	if (status) {
		json_object_set_new(j->tree, "status", status);
		local_write(j);
	} else if (j->unwritten) {
		local_write(j);
	}
	if (!code || (j->told && !strcmp(j->told, code)))
		return;
	free(j->told);
	j->told = xstrdup(code);
	local_tell(j, !strcmp(code, "Invalid") ? "Warning" : "Normal", code, detail ? detail : "");
}

static void set_invalid(struct local_job *j, const struct error *err)
{
	auto_json *pending = json_pack("{ssss}", "code", "Invalid", "detail", err->text);

	local_drop_gang(j);
	set_state(j, LOCAL_IDLE);
	local_set_pending(j, pending);
}

void local_submit(struct local_job *j)
{
	struct error err;

	local_drop_gang(j);
	if (make_gang(j, &err)) {
		set_invalid(j, &err);
		return;
	}
	set_state(j, LOCAL_WAITING);
	site_submit(standalone_site(j->alone), j->gang);
	standalone_poke(j->alone, 1);
}

static bool is_ours(const struct local_job *j, const json_t *tree)
{
	const char *scheduler = json_str_at(tree, "spec", "schedulerName", NULL);

	return !j->alone->beside || (scheduler && !strcmp(scheduler, SCHEDULER_NAME));
}

static bool is_left_alone(struct local_job *j, const json_t *tree)
{
	if (!is_ours(j, tree) || job_has_ended(tree))
		return true;
	if (!job_is_strange(tree))
		return false;
	log_warn("standalone", "job %s/%s was begun by another controller: left alone", j->ns,
		 j->name);
	return true;
}

/* So deep that it cannot even be read: nothing but its name is known. */
static void set_unreadable(struct local_job *j, const struct error *err)
{
	set_tree(j, json_pack("{s{ssssss}s{}s{}}", "metadata", "name", j->name, "namespace", j->ns,
			      "uid", j->uid, "spec", "status"));
	set_invalid(j, err);
}

static void judge(struct local_job *j)
{
	struct error err;
	json_t *tree = read_tree(j, &err);

	if (!tree) {
		set_unreadable(j, &err);
		return;
	}
	j->judged = json_int_at(tree, 0, "metadata", "generation", NULL);
	if (is_left_alone(j, tree)) {
		json_decref(tree);
		local_drop_gang(j);
		set_state(j, LOCAL_IDLE);
		set_tree(j, NULL);
		return;
	}
	kind_default(job_kind(), tree);
	set_tree(j, tree);
	if (check(tree, &err))
		set_invalid(j, &err);
	else
		local_submit(j);
}

/* --- resuming --- */

/* As it was offered: the twin's own spec where there is one. */
static void resume_spec(struct local_job *j, const json_t *twin)
{
	json_t *spec;

	if (!twin)
		return;
	spec = json_deep_copy(json_object_get(twin, "spec"));
	json_object_del(spec, "work");
	json_object_set_new(j->placement, "spec", spec);
}

static void resume_choices(struct local_job *j)
{
	const json_t *tasks = json_at(j->placement, "spec", "size", "tasks", NULL);
	size_t n = json_array_size(json_at(j->tree, "spec", "tasks", NULL));
	auto_xfree int32_t *choices = xcalloc(n + 1, sizeof(*choices));
	struct error err;

	if (make_gang(j, &err)) {
		log_warn("standalone", "job %s/%s runs, and is not charged to its queue: %s", j->ns,
			 j->name, err.text);
		return;
	}
	for (size_t i = 0; i < n; i++)
		choices[i] =
			(int32_t)json_int_at(json_array_get(tasks, i), -1, "alternative", NULL);
	site_adopt(standalone_site(j->alone), j->gang, choices);
}

/* The record as it was when generation g had been offered. */
static int resume_record(struct local_job *j, int64_t g, struct error *err)
{
	json_t *had = json_deep_copy(json_object_get(j->tree, "status"));
	bool recorded = job_open_generation(j->tree) == g;
	json_t *dispatch = json_object_need(json_object_need(j->tree, "status"), "dispatch");
	int rc;

	json_set_int(dispatch, "n", g - 1);
	json_set_str(dispatch, "phase", "Queued");
	rc = make_placement(j, NULL, err);
	if (!rc && recorded)
		json_object_set(j->tree, "status", had);
	json_decref(had);
	return rc;
}

static void set_claimed(struct local_job *j, bool running)
{
	json_set_str(json_object_need(j->placement, "status"), "state",
		     running ? "Running" : "Claimed");
}

/* Its Job is gone: the twin is all there is. */
static void resume_gone(struct local_job *j, const json_t *twin)
{
	json_t *p = json_pack("{sssss{ssss}}", "apiVersion", "federator.dev/v1alpha1", "kind",
			      "Placement", "metadata", "name",
			      json_str_at(twin, "metadata", "name", NULL), "namespace", "local");

	set_placement(j, p);
	resume_spec(j, twin);
	set_claimed(j, false);
	json_set_str(json_object_need(p, "spec"), "desired", "Release");
	set_state(j, LOCAL_OPEN);
	deliver(j);
}

bool local_resume(struct local_job *j, const json_t *twin)
{
	struct error err;
	int64_t g;
	const char *phase;
	bool running;

	if (!j->doc && twin)
		resume_gone(j, twin);
	if (!j->doc)
		return true;
	set_tree(j, read_tree(j, &err));
	if (!j->tree || !job_leaves_open(j->tree, twin))
		return false;
	kind_default(job_kind(), j->tree);
	g = twin ? json_int_at(twin, 0, "spec", "generation", NULL) : job_open_generation(j->tree);
	j->judged = json_int_at(j->tree, 0, "metadata", "generation", NULL);
	phase = json_str_at(j->tree, "status", "state", "phase", NULL);
	running = phase && (!strcmp(phase, "Running") || !strcmp(phase, "Restarting"));
	if (resume_record(j, g, &err)) {
		log_error("standalone", "job %s/%s: %s", j->ns, j->name, err.text);
		return true;
	}
	resume_spec(j, twin);
	set_claimed(j, running);
	resume_choices(j);
	set_state(j, LOCAL_OPEN);
	deliver(j);
	return true;
}

void local_twin_seen(struct local_job *j, const char *name)
{
	const char *mine = json_str_at(j->placement, "metadata", "name", NULL);

	if (j->state != LOCAL_OFFERED || !mine || strcmp(mine, name))
		return;
	set_claimed(j, false);
	set_state(j, LOCAL_OPEN);
	deliver(j);
}

/* --- the end --- */

static void ask_for_release(struct local_job *j)
{
	const char *desired = json_str_at(j->placement, "spec", "desired", NULL);
	json_t *status, *placement;
	struct error err;

	if (!strcmp(desired, "Release"))
		return;
	if (j->doc && !record_abort(j->tree, j->placement, "Deleted",
				    env_wall_ns(j->alone->agent->env), &status, &placement, &err)) {
		json_object_set_new(j->tree, "status", status);
		set_placement(j, placement);
	} else {
		json_set_str(json_object_need(j->placement, "spec"), "desired", "Release");
	}
	deliver(j);
}

static void end(struct local_job *j)
{
	if (!j->doc && j->waiter) {
		word_written(j);
		return;
	}
	if (j->placement) {
		ask_for_release(j);
		return;
	}
	local_drop_gang(j);
	set_state(j, LOCAL_IDLE);
	if (!j->doc)
		local_destroy(j);
}

void local_update(struct local_job *j)
{
	int64_t generation;
	struct sv raw;
	struct scan scan;

	if (j->ending) {
		end(j);
		return;
	}
	if (j->placement)
		return;
	if (j->judged >= 0 && scan_find((struct sv){j->doc->bytes, j->doc->size}, &raw, "metadata",
					"generation", NULL)) {
		scan_init(&scan, raw.p, raw.n);
		if (scan_int64(&scan, &generation) && generation == j->judged)
			return;
	}
	judge(j);
}

/* --- after a word --- */

static int64_t pause_ms(struct local_job *j, const char *reason)
{
	struct env *env = j->alone->agent->env;
	bool room = reason && (!strcmp(reason, "NoRoom") || !strcmp(reason, "NeverFits"));

	return env_backoff_ms(env, j->refusals++, room ? ROOM_BASE_MS : REFUSAL_BASE_MS,
			      room ? ROOM_MAX_MS : REFUSAL_MAX_MS);
}

/* Why it waits was known before, and `since` goes on when it is the same. */
static void restore_pending(struct local_job *j)
{
	if (j->pending_before)
		json_object_set(json_object_need(j->tree, "status"), "pending", j->pending_before);
}

static void hold(struct local_job *j, const json_t *placement)
{
	const json_t *status = json_object_get(placement, "status");
	auto_json *pending = pending_of_refusal(j->alone->agent->settings.name, status);
	int64_t ms = pause_ms(j, json_str_at(status, "reason", NULL));

	local_drop_gang(j);
	set_state(j, LOCAL_HELD);
	j->held_until_ms = env_mono_ms(j->alone->agent->env) + ms;
	restore_pending(j);
	local_set_pending(j, pending);
	standalone_poke(j->alone, ms);
}

/* A person must look: it is not begun again. */
static void tell_lost(struct local_job *j, const json_t *placement)
{
	const char *state = json_str_at(placement, "status", "state", NULL);
	const char *reason = json_str_at(placement, "status", "reason", NULL);
	const char *message = json_str_at(placement, "status", "message", NULL);

	if (!strcmp(state, "Lost"))
		local_tell(j, "Warning", reason ? reason : state, message ? message : "");
}

static void over(struct local_job *j, const json_t *placement)
{
	tell_lost(j, placement);
	local_drop_gang(j);
	set_state(j, LOCAL_IDLE);
	if (!j->doc)
		local_destroy(j);
	else if (!j->ending)
		set_tree(j, NULL);
}

void local_heard(struct local_job *j, json_t *take_placement, bool last)
{
	auto_json *placement = take_placement;
	const char *state = json_str_at(placement, "status", "state", NULL);
	bool again = !strcmp(state, "Refused") || !strcmp(state, "Released");

	if (!last) {
		set_placement(j, json_incref(placement));
		j->placement_version = ++j->alone->version;
		j->refusals = 0;
		free(take_ptr(j->told));
		set_state(j, LOCAL_OPEN);
		if (j->ending)
			ask_for_release(j);
		return;
	}
	drop_placement(j);
	if (again && !j->ending)
		hold(j, placement);
	else
		over(j, placement);
}

/* --- why it waits --- */

bool local_explain_is_due(const struct local_job *j)
{
	int64_t now = env_mono_ms(j->alone->agent->env);

	return j->state == LOCAL_WAITING &&
	       (!j->explained_ms || now - j->explained_ms >= EXPLAIN_MS);
}

void local_explain(struct local_job *j)
{
	auto_free(explain_destroy) struct explain *e =
		site_explain(standalone_site(j->alone), j->gang);
	auto_json *pending = NULL;

	j->explained_ms = env_mono_ms(j->alone->agent->env);
	if (e->code == WAIT_NONE)
		return;
	pending = pending_of_explain(e);
	local_set_pending(j, pending);
}
