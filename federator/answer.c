/*
 * What goes into the transaction of a write beside the object itself: an agent's term, the job's
 * record when an agent speaks about a Placement, the leader's key, and the record of a Job that
 * leaves at once.
 */
#include <string.h>

#include "base/encode.h"
#include "base/json.h"
#include "federator/hub.h"
#include "lifecycle/record.h"

static void put_status(struct server_write *w, const char *key, const json_t *status)
{
	auto_strbuf text = {0};

	json_write(&text, status);
	server_write_put(w, key, text.bytes, text.size);
}

static int guard_term(struct server_write *w, const struct hub *hub, const char *cluster,
		      struct error *err)
{
	auto_xfree char *key = NULL;
	struct store_guard guard;

	if (hub_term_guard(hub, cluster, server_write_header(w, "Federator-Term"), &guard, &key,
			   err)) {
		hub_say_term(&w->causes, err);
		return -1;
	}
	server_write_guard(w, guard.key, guard.target, guard.revision);
	return 0;
}

/* The Job that the Placement is of; NULL when that uid is gone. */
static struct doc *job_of(const struct hub *hub, const json_t *placement)
{
	const json_t *ref = json_at(placement, "spec", "job", NULL);
	struct doc *doc = hub_get(hub, hub_kind("jobs"), json_str_at(ref, "namespace", NULL),
				  json_str_at(ref, "name", NULL));
	auto_json *job = doc ? doc_tree(doc) : NULL;
	const char *uid = json_str_at(job, "metadata", "uid", NULL);

	return uid && !strcmp(uid, json_str_at(ref, "uid", NULL)) ? doc : NULL;
}

static int answer_placement(struct server_write *w, const struct hub *hub, struct error *err)
{
	struct doc *doc = job_of(hub, w->old);
	auto_json *job = doc ? doc_tree(doc) : NULL, *status = NULL;
	auto_strbuf key = {0};
	bool last;

	if (!w->names_version)
		return error_set(err, ERR_INVALID,
				 "metadata.resourceVersion: Required value: an agent's word must "
				 "name the version that it is about");
	if (!job)
		return error_set(err, ERR_CONFLICT, "the job of this placement is gone");
	if (record_answer(job, w->old, w->object, env_wall_ns(hub->env), &status, &last, err))
		return -1;
	w->remove = last;
	if (!status)
		return 0;
	kind_status_key(hub_kind("jobs"), json_str_at(job, "metadata", "namespace", NULL),
			json_str_at(job, "metadata", "name", NULL), &key);
	server_write_guard(w, key.bytes, STORE_MOD, doc->status_revision);
	put_status(w, key.bytes, status);
	return 0;
}

/* No Placement can be there: the Job and its record go in one transaction. */
static bool is_free(const json_t *job)
{
	static const enum dispatch_phase free_phases[] = {DISPATCH_QUEUED, DISPATCH_ENDED,
							  DISPATCH_UNCERTAIN};
	const char *phase = json_str_at(job, "status", "dispatch", "phase", NULL);

	for (size_t i = 0; phase && i < ARRAY_LEN(free_phases); i++)
		if (!strcmp(phase, dispatch_phase_name(free_phases[i])))
			return true;
	return !phase;
}

static bool only_our_finalizer(const json_t *job)
{
	const json_t *list = json_at(job, "metadata", "finalizers", NULL);
	const char *first = json_string_value(json_array_get(list, 0));

	return json_array_size(list) == 0 ||
	       (json_array_size(list) == 1 && first && !strcmp(first, JOB_FINALIZER));
}

static void delete_job(struct server_write *w)
{
	auto_strbuf key = {0};

	if (!is_free(w->old) || !only_our_finalizer(w->object))
		return;
	kind_status_key(w->kind, w->ns, w->name, &key);
	server_write_guard(w, key.bytes, STORE_MOD, w->stored->status_revision);
	if (w->stored->status_revision)
		server_write_put(w, key.bytes, NULL, 0);
	w->remove = true;
}

/* A user's change of a spec is only good while the record says so: compare it. */
static void guard_record(struct server_write *w)
{
	auto_strbuf key = {0};

	if (json_equal(json_at(w->old, "spec", NULL), json_at(w->object, "spec", NULL)))
		return;
	kind_status_key(w->kind, w->ns, w->name, &key);
	server_write_guard(w, key.bytes, STORE_MOD, w->stored->status_revision);
}

/* With its Cluster an agent's term ends: what it has under way compares a key that is gone. */
static void delete_term(struct server_write *w)
{
	auto_xfree char *key = hub_term_key(json_str_at(w->old, "metadata", "uid", NULL));

	server_write_put(w, key, NULL, 0);
}

/* What no request asked for is written by the leader, under its key. What is made at a start,
 * before anybody leads, is the same whoever makes it. */
static int guard_leadership(struct server_write *w, const struct hub *hub, struct error *err)
{
	struct store_guard guard;

	if (hub_leads(hub, &guard))
		server_write_guard(w, guard.key, guard.target, guard.revision);
	else if (w->op != SERVER_CREATE)
		return error_set(err, ERR_UNAVAILABLE, "this federator leads no longer");
	return 0;
}

int hub_extend(struct server_write *w, struct error *err, void *arg)
{
	struct hub *hub = arg;
	const char *agent = hub_agent_cluster(w->user);

	if (agent && guard_term(w, hub, agent, err))
		return -1;
	if (!w->request && guard_leadership(w, hub, err))
		return -1;
	if (!strcmp(w->kind->plural, "placements") && agent)
		return answer_placement(w, hub, err);
	if (!strcmp(w->kind->plural, "clusters") && w->op == SERVER_DELETE)
		delete_term(w);
	if (strcmp(w->kind->plural, "jobs"))
		return 0;
	if (w->op == SERVER_DELETE)
		delete_job(w);
	else if (w->op == SERVER_UPDATE)
		guard_record(w);
	return 0;
}
