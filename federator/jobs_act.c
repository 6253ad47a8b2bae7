/* What the job controller does next with a job: one transaction at a time, each by compare. */
#include <string.h>

#include "api/views.h"
#include "base/json.h"
#include "base/log.h"
#include "federator/jobs_internal.h"
#include "federator/placer.h"
#include "server/stored.h"

static void commit(struct job_entry *e, struct job_write *w, bool drop_placement, bool drop_job)
{
	const struct doc *p = e->placement;

	if (jobs_commit(e, w, p ? p->key : NULL, p ? p->revision : 0, drop_placement, drop_job))
		jobs_write_free(w);
}

/* Both keys go together; no Placement may be there, which the record's state says. */
static void remove_job(struct job_entry *e)
{
	commit(e, xnew0(struct job_write), false, true);
}

static void take_back(struct job_entry *e, const json_t *job, const char *reason)
{
	auto_json *status = NULL;
	struct job_write *w;
	struct error err;

	if (record_take_back(job, reason, env_wall_ns(e->jobs->hub->env), &status, &err))
		return;
	w = xnew0(struct job_write);
	json_write(&w->status, status);
	commit(e, w, true, false);
}

static void abort_attempt(struct job_entry *e, const json_t *job, const char *why)
{
	auto_json *placement = doc_tree(e->placement), *status = NULL, *releasing = NULL;
	struct job_write *w;
	struct error err;

	if (record_abort(job, placement, why, env_wall_ns(e->jobs->hub->env), &status, &releasing,
			 &err))
		return;
	w = xnew0(struct job_write);
	json_write(&w->status, status);
	stored_main(hub_kind("placements"), releasing, &w->placement);
	commit(e, w, false, false);
}

/* --- offers that nobody claims --- */

/* How often in a row, up to now, offers of this job were taken back. */
static unsigned taken_back_in_a_row(const json_t *job)
{
	const json_t *attempts = json_at(job, "status", "dispatch", "attempts", NULL);
	unsigned n = 0;

	for (size_t i = json_array_size(attempts); i-- > 0;) {
		const char *how = json_str_at(json_array_get(attempts, i), "how", NULL);

		if (!how && i + 1 == json_array_size(attempts))
			continue; /* the present one */
		if (!how || strcmp(how, "TakenBack"))
			break;
		n++;
	}
	return n;
}

static bool is_claimed(const struct job_entry *e)
{
	auto_json *p = doc_tree(e->placement);
	const char *state = json_str_at(p, "status", "state", NULL);

	return state && *state;
}

static void act_unclaimed(struct job_entry *e, const json_t *job)
{
	int64_t patience = (int64_t)JOBS_UNCLAIMED_MS << taken_back_in_a_row(job);
	int64_t left = e->offered_at_ms + patience - env_mono_ms(e->jobs->hub->env);
	char reason[80];

	if (left > 0) {
		timer_start(e->timer, left);
		return;
	}
	snprintf(reason, sizeof(reason), "the cluster did not claim it within %lld s",
		 (long long)(patience / 1000));
	take_back(e, job, reason);
}

static void act_confirmed(struct job_entry *e, const json_t *job, bool deleted)
{
	if (!is_claimed(e) && deleted)
		take_back(e, job, "the job was deleted");
	else if (!is_claimed(e))
		act_unclaimed(e, job);
	else if (deleted)
		abort_attempt(e, job, "Deleted");
}

/* --- the end --- */

static void on_expired(const json_t *object, const struct error *err, void *arg)
{
	if (err && err->code != ERR_NOT_FOUND && err->code != ERR_CONFLICT)
		log_warn("jobs", "remove an expired job: %s", err->text);
}

static void expire(struct job_entry *e, const json_t *job)
{
	struct server_change change = {
		.op = SERVER_DELETE,
		.kind = hub_kind("jobs"),
		.ns = json_str_at(job, "metadata", "namespace", NULL),
		.name = json_str_at(job, "metadata", "name", NULL),
		.uid = e->uid,
		.grace_s = -1,
	};

	e->expires = true;
	timer_start(e->timer, JOBS_RETRY_MS);
	server_change(e->jobs->hub->server, &change, on_expired, NULL);
}

static void act_ended(struct job_entry *e)
{
	auto_json *job = NULL;
	int64_t left_ms;

	if (e->ttl_s < 0 || (e->expires && timer_active(e->timer)))
		return;
	left_ms = (e->phase_since_ns - env_wall_ns(e->jobs->hub->env)) / 1000000 + e->ttl_s * 1000;
	if (left_ms > 0) {
		timer_start(e->timer, left_ms);
		return;
	}
	job = doc_tree(e->doc);
	expire(e, job);
}

/* --- all --- */

static void act_placed(struct job_entry *e)
{
	auto_json *job = NULL;

	if (!e->placement || (e->phase == DISPATCH_RUNNING && !e->deleted))
		return; /* its event is still to come, or the agent's word */
	job = doc_tree(e->doc);
	if (e->phase == DISPATCH_CONFIRMED)
		act_confirmed(e, job, e->deleted);
	else
		abort_attempt(e, job, "Deleted");
}

static void say_trouble(struct job_entry *e)
{
	auto_json *job = doc_tree(e->doc);
	auto_json *status = record_set_unreadable(job, e->trouble, env_wall_ns(e->jobs->hub->env));
	struct job_write *w;

	if (!status)
		return;
	w = xnew0(struct job_write);
	json_write(&w->status, status);
	if (jobs_commit(e, w, NULL, 0, false, false))
		jobs_write_free(w);
}

void jobs_act(struct job_entry *e)
{
	bool leaves = e->deleted && e->only_our_finalizer && !e->placement;

	if (e->write || !e->doc)
		return;
	/* A renewal may only be late; whoever leads instead begins with all jobs. */
	if (!hub_leads(e->jobs->hub, NULL)) {
		timer_start(e->timer, JOBS_RETRY_MS);
		return;
	}
	if (e->trouble && !e->deleted) {
		say_trouble(e);
		return;
	}
	switch (e->phase) {
	case DISPATCH_NONE:
	case DISPATCH_QUEUED:
		if (leaves)
			remove_job(e);
		return;
	case DISPATCH_CONFIRMED:
	case DISPATCH_RUNNING:
		act_placed(e);
		return;
	case DISPATCH_ENDED:
		if (leaves)
			remove_job(e);
		else if (!e->deleted)
			act_ended(e);
		return;
	case DISPATCH_UNCERTAIN:
		if (leaves) /* a person has decided */
			remove_job(e);
		return;
	case DISPATCH_RELEASING:
		return; /* the agent's last word comes next */
	}
}
