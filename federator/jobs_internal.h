/* The job controller's own: jobs.c keeps entries and commits, jobs_act.c decides. */
#ifndef FEDERATOR_JOBS_INTERNAL_H
#define FEDERATOR_JOBS_INTERNAL_H

#include "api/views.h"
#include "base/list.h"
#include "base/map.h"
#include "base/strbuf.h"
#include "federator/jobs.h"

#define JOBS_RETRY_MS     1000  /* after a transaction that the store did not settle */
#define JOBS_SETTLE_MS    20    /* after one that it did: look again once its event has come */
#define JOBS_UNCLAIMED_MS 10000 /* an offer is taken back after it, doubled each time */

struct jobs {
	struct hub *hub;
	struct job_entry *entries;
	struct list writes; /* under way, of entries and of jobs that went meanwhile */
	/* jobs_pending.c */
	struct list news;  /* entries whose reason is to be written, by when it may be */
	struct list shown; /* the others that wait, the one looked at longest ago first */
	struct timer *turn;
	int64_t next_turn_ms;
};

enum job_write_purpose { WRITE_STEP, WRITE_OFFER, WRITE_SETTLE, WRITE_REASON };

struct job_write {
	struct list_node node;
	struct job_entry *entry; /* NULL when the job went meanwhile */
	enum job_write_purpose purpose;
	struct strbuf status, placement;
};

struct job_entry {
	UT_hash_handle hh;
	struct jobs *jobs;
	char *uid;
	char *queue; /* where it is counted, as of `phase`; NULL: not yet */
	enum dispatch_phase phase;
	bool deleted, only_our_finalizer;
	bool expires; /* its removal was asked for, and is looked at when the timer fires */
	int64_t ttl_s, phase_since_ns;
	struct doc *doc;         /* the Job; NULL when only its Placement is known yet */
	struct doc *placement;   /* of the present attempt; NULL: none */
	int64_t offered_at_ms;   /* when this process first saw the Placement */
	struct job_write *write; /* under way: one at a time */
	struct timer *timer;
	/* Why the stored Job cannot be read: all but doc is as before, or, once it is deleted, what
	 * its record says. NULL: it can. */
	char *trouble;
	/* jobs_pending.c */
	struct list_node waiting; /* in news or shown */
	bool is_news;
	int64_t due_ms;
	int64_t pending_at_ms; /* when its reason was last written; 0: not yet */
	uint64_t seen;         /* placer_version() when it was last asked for */
};

struct job_entry *jobs_find(struct jobs *j, const char *uid);
/* Idempotent: looks at what is known and does the one next thing, if any. */
void jobs_act(struct job_entry *e);
int jobs_commit(struct job_entry *e, struct job_write *w, const char *placement_key,
		int64_t placement_revision, bool drop_placement, bool drop_job);
void jobs_write_free(struct job_write *w);
char *jobs_status_key(const struct job_entry *e); /* the caller's */

/* --- jobs_pending.c --- */

void jobs_pending_init(struct jobs *j);
void jobs_pending_finish(struct jobs *j); /* no entry may wait any more */
/* A session found a reason; it is asked for when it may be written. */
void jobs_pending_found(struct job_entry *e);
void jobs_pending_failed(struct job_entry *e); /* its write did */
void jobs_pending_leave(struct job_entry *e);  /* it does not wait, or goes */

#endif
