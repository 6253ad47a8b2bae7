/* The end of a run: kept for a while, told to the journal, forgotten. */
#include <stdlib.h>
#include <string.h>

#include "base/encode.h"
#include "base/json.h"
#include "base/log.h"
#include "member-agent/runner_internal.h"

void run_hurry(struct run *run)
{
	if (run->hurried)
		return;
	run->hurried = true;
	if (run->journal_asked)
		journal_hurry(run->runner->journal);
	run_poke(run);
}

/* --- orphans --- */

static void on_event(struct run *run, const struct kube_answer *a, void *arg)
{
	if (!a->ok)
		log_warn("runner", "event about placement %s: %s", run->name, a->err.text);
}

static json_t *orphan_event(const struct run *run)
{
	const struct twin *t = run->twin;
	auto_xfree char *prefix = xasprintf("%.40s.", run->name);
	char now[TIME_SIZE];
	json_t *e;

	time_format(now, run_now_ns(run));
	e = json_pack("{ssss s{ssss} s{ssssssssss} ssssssss si s{ss}}", "apiVersion", "v1", "kind",
		      "Event", "metadata", "generateName", prefix, "namespace", t->job_ns,
		      "involvedObject", "apiVersion", "federator.dev/v1alpha1", "kind", "Placement",
		      "namespace", t->job_ns, "name", t->meta.name, "uid", t->meta.uid, "type",
		      "Warning", "reason", "Orphan", "message",
		      "its pods run, but the federator knows no placement for them; nothing is "
		      "touched",
		      "firstTimestamp", now, "count", 1, "source", "component", SCHEDULER_NAME);
	if (e)
		json_set_str(e, "lastTimestamp", now);
	return e;
}

static void tell_orphan(struct run *run)
{
	auto_json *event = NULL;
	auto_xfree char *path = NULL;

	if (run->told_orphan)
		return;
	run->told_orphan = true;
	log_warn("runner", "placement %s: its pods run, but there is no such placement", run->name);
	event = orphan_event(run);
	path = xasprintf("/api/v1/namespaces/%s/events", run->twin->job_ns);
	if (event)
		run_send(run, "POST", path, event, NULL, on_event, NULL);
}

/* --- keeping --- */

static bool is_kept(struct run *run)
{
	int64_t now = run_now_ns(run), end;

	if (run->hurried || run->twin->ending)
		return false;
	if (!run->keep_until_ns) {
		end = run_last_end_ns(run);
		if (!end)
			return false;
		run->keep_until_ns = end + run->runner->keep_pods_ms * 1000000;
	}
	if (now >= run->keep_until_ns)
		return false;
	run_poke_in(run, (run->keep_until_ns - now) / 1000000 + 1);
	return true;
}

/* --- forgetting --- */

static const char *outcome_text(const struct run *run)
{
	struct arena arena = {0};
	struct attempt a;
	enum outcome_phase phase = run->memory.outcome.phase;

	if (run->memory.release)
		return "Released";
	if (phase == OUTCOME_NONE) {
		a = run_attempt(run, &arena);
		phase = attempt_end_rule(&a);
		arena_finish(&arena);
	}
	return phase == OUTCOME_COMPLETED ? "Completed" : "Failed";
}

static void on_twin_changed(struct run *run, const struct kube_answer *a, void *arg)
{
	run->twin_busy = false;
	/* That it is gone, the watch tells: until then it is asked for now and then. */
	if (!a->ok || !arg) {
		run_retry(run);
		return;
	}
	run->twin_deleted = true;
	run_poke(run);
}

static void delete_twin(struct run *run)
{
	auto_json *body = json_pack("{s{ss}}", "preconditions", "uid", run->twin->meta.uid);
	auto_xfree char *path =
		xasprintf("/apis/federator.dev/v1alpha1/namespaces/%s/placements/%s",
			  run->twin->job_ns, run->name);

	run->twin_busy = true;
	run_send(run, "DELETE", path, body, NULL, on_twin_changed, run);
}

static json_t *others_finalizers(const struct twin *t)
{
	json_t *all = json_object_get(json_object_get(t->tree, "metadata"), "finalizers");
	json_t *others = json_array(), *f;
	size_t i;

	json_array_foreach (all, i, f)
		if (strcmp(json_string_value(f), FINALIZER_TWIN))
			json_array_append(others, f);
	return others;
}

static void release_twin(struct run *run)
{
	auto_json *patch = json_pack("{s{ssso}}", "metadata", "uid", run->twin->meta.uid,
				     "finalizers", others_finalizers(run->twin));
	auto_xfree char *path =
		xasprintf("/apis/federator.dev/v1alpha1/namespaces/%s/placements/%s",
			  run->twin->job_ns, run->name);

	run->twin_busy = true;
	run_send(run, "PATCH", path, patch, "application/merge-patch+json", on_twin_changed, NULL);
}

static bool twin_holds(const struct run *run)
{
	json_t *f;
	size_t i;

	json_array_foreach (json_at(run->twin->tree, "metadata", "finalizers", NULL), i, f)
		if (!strcmp(json_string_value(f), FINALIZER_TWIN))
			return true;
	return false;
}

/* A newer attempt waits for these names: the member's collector may take long. */
void run_clear_names(struct run *run)
{
	if (run_has_pods(run))
		run_clear_pods(run, CLEAR_ALL);
}

void run_forget(struct run *run)
{
	struct runner *r = run->runner;
	bool ending, live = run_pods_live(run, &ending);

	if (run->twin_busy || run->twin_create || run_may_yet_grow(run))
		return;
	if (!run_is_absent(run)) {
		run_poke_in(run, 1000);
		return;
	}
	if (live && !run->settled) {
		tell_orphan(run);
		return;
	}
	/* Its own hub may ask again what became of it; a person who deletes it knows better. */
	if (run_is_anothers(run) && !run->twin->ending)
		return;
	/* The owner was told that none lives, and may have begun anew. */
	if (live)
		run_clear_pods(run, CLEAR_LIVE);
	if (live || ending)
		return;
	/* Without its twin nobody would take them off, and the names would be held for ever. */
	if (run_drop_finalizers(run) || is_kept(run))
		return;
	if (!run->journaled) {
		if (!run->journal_asked)
			journal_add(r->journal, run, outcome_text(run));
		run->journal_asked = true;
		if (run->hurried)
			journal_hurry(r->journal);
		return;
	}
	if (run->hurried)
		run_clear_names(run);
	if (!run->twin->ending && !run->twin_deleted)
		delete_twin(run);
	else if (twin_holds(run))
		release_twin(run);
}
