/*
 * Jobs of a fleet: waiting, or with an open attempt.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "scheduler/fleet_internal.h"

struct fleet_job *fleet_job_find(const struct fleet *f, const char *uid)
{
	struct fleet_job *job;

	HASH_FIND_STR(f->jobs, uid, job);
	return job;
}

void fleet_charge(struct fleet *f, struct fleet_job *job, int variant)
{
	struct gang *g = job->gang;

	if (g->charged >= 0)
		quota_charge(&f->quotas, g->queue, &g->form->variants[g->charged].total, -1);
	g->charged = variant;
	if (variant >= 0)
		quota_charge(&f->quotas, g->queue, &g->form->variants[variant].total, 1);
}

static void clear_backoffs(struct fleet_job *job)
{
	for (size_t i = 0; i < job->n_backoffs; i++)
		free(job->backoffs[i].reason);
	free(job->backoffs);
	job->backoffs = NULL;
	job->n_backoffs = job->cap_backoffs = 0;
}

/* Takes the gang out of lists and accounts. */
static void release_gang(struct fleet *f, struct fleet_job *job)
{
	if (!job->gang)
		return;
	pending_remove(&f->pending, job->gang);
	fleet_charge(f, job, -1);
	gang_destroy(&f->model, job->gang);
	job->gang = NULL;
}

static void job_free(struct fleet *f, struct fleet_job *job)
{
	HASH_DEL(f->jobs, job);
	release_gang(f, job);
	clear_backoffs(job);
	free(job);
}

void fleet_jobs_finish(struct fleet *f)
{
	struct fleet_job *job, *next;

	HASH_ITER (hh, f->jobs, job, next)
		job_free(f, job);
}

static void event(struct fleet *f)
{
	assert(!f->session.open);
	f->version++;
}

/* What its attempt takes may go to others. */
static void give_back(struct fleet *f, const struct fleet_job *job, int64_t capacity_seq)
{
	f->version++;
	if (capacity_seq)
		debit_settle(f, job->gang->uid, job->generation, capacity_seq);
	else
		debit_cancel(f, job->gang->uid, job->generation);
}

/* The job of the gang, which it takes: a new one, or one whose gang is replaced. */
static struct fleet_job *job_with(struct fleet *f, struct gang *take_gang)
{
	struct fleet_job *job = fleet_job_find(f, take_gang->uid);

	if (job) {
		if (job->placed)
			give_back(f, job, 0);
		HASH_DEL(f->jobs, job); /* the key goes with the old gang */
		release_gang(f, job);
	} else {
		job = xnew0(struct fleet_job);
	}
	job->gang = take_gang;
	job->placed = NULL;
	job->asked = false;
	take_gang->owner = job;
	HASH_ADD_KEYPTR(hh, f->jobs, take_gang->uid, strlen(take_gang->uid), job);
	return job;
}

int fleet_submit(struct fleet *f, const struct job *from, int32_t priority, int64_t generation,
		 struct error *err)
{
	struct fleet_job *job;
	struct gang *g;

	assert(!f->session.open);
	if (gang_create(&f->model, from, priority, NULL, &g, err) < 0)
		return -1;
	job = job_with(f, g);
	job->generation = generation;
	pending_add(&f->pending, g);
	f->resume.submitted = true;
	return 0;
}

int fleet_adopt(struct fleet *f, const struct job *from, int32_t priority,
		const struct fleet_attempt *a, struct error *err)
{
	struct fleet_job *job;
	struct fleet_cluster *c;
	struct gang *g;
	int variant;

	event(f);
	if (gang_create(&f->model, from, priority, NULL, &g, err) < 0)
		return -1;
	job = job_with(f, g);
	c = job->placed = fleet_need_cluster(f, a->cluster);
	job->decided_seq = 0;
	job->generation = a->generation;
	variant = gang_variant(g, a->choices);
	fleet_charge(f, job, variant < 0 ? 0 : variant);
	if (!a->capacity_seq || !c->has_free || c->capacity_seq < a->capacity_seq)
		debit_add(f, c, debit_make(job, (size_t)g->charged, a->capacity_seq));
	return 0;
}

void fleet_claimed(struct fleet *f, const char *uid, int64_t generation, int64_t capacity_seq)
{
	assert(!f->session.open);
	if (debit_settle(f, uid, generation, capacity_seq))
		f->version++;
}

/* --- the end of an attempt ---------------------------------------------------------------- */

static struct backoff *need_backoff(struct fleet_job *job, struct fleet_cluster *c)
{
	for (size_t i = 0; i < job->n_backoffs; i++)
		if (job->backoffs[i].cluster == c)
			return &job->backoffs[i];
	GROW(job->backoffs, job->n_backoffs, job->cap_backoffs);
	job->backoffs[job->n_backoffs] = (struct backoff){.cluster = c};
	return &job->backoffs[job->n_backoffs++];
}

static void remember_refusal(struct fleet_job *job, struct fleet_cluster *c,
			     const struct fleet_refusal *r, int64_t capacity_seq,
			     int64_t decided_seq)
{
	struct backoff *b = need_backoff(job, c);

	free(b->reason);
	b->reason = xstrdup(r->reason ? r->reason : "");
	b->until_ns = r->until_ns;
	b->capacity_seq = capacity_seq;
	/* another leader's decision: by the last report before, for all that is known */
	b->decided_seq = decided_seq ? decided_seq : capacity_seq - 1;
}

void fleet_requeue(struct fleet *f, const char *uid, int64_t generation, int64_t capacity_seq,
		   const struct fleet_refusal *refusal)
{
	struct fleet_job *job = fleet_job_find(f, uid);

	assert(!f->session.open);
	if (!job || !job->placed)
		return;
	give_back(f, job, capacity_seq);
	if (refusal)
		remember_refusal(job, job->placed, refusal, capacity_seq, job->decided_seq);
	fleet_charge(f, job, -1);
	job->placed = NULL;
	job->generation = generation;
	job->asked = false;
	pending_add(&f->pending, job->gang);
}

void fleet_refused(struct fleet *f, const char *uid, const char *cluster, int64_t capacity_seq,
		   const struct fleet_refusal *refusal)
{
	struct fleet_job *job = fleet_job_find(f, uid);

	event(f);
	if (!job || job->placed)
		return;
	remember_refusal(job, fleet_need_cluster(f, cluster), refusal, capacity_seq, 0);
	job->asked = false;
}

static int64_t first_end(const struct fleet_job *job, int64_t now_ns, int64_t first)
{
	for (size_t i = 0; i < job->n_backoffs; i++) {
		int64_t end = job->backoffs[i].until_ns;

		if (end > now_ns && (!first || end < first))
			first = end;
	}
	return first;
}

int64_t fleet_next_refusal_end(const struct fleet *f, int64_t now_ns)
{
	const struct fleet_job *job, *next;
	int64_t first = 0;

	HASH_ITER (hh, f->jobs, job, next)
		if (!job->placed)
			first = first_end(job, now_ns, first);
	return first;
}

void fleet_forget(struct fleet *f, const char *uid, int64_t capacity_seq)
{
	struct fleet_job *job = fleet_job_find(f, uid);

	assert(!f->session.open);
	if (!job)
		return;
	if (job->placed)
		give_back(f, job, capacity_seq);
	job_free(f, job);
}
