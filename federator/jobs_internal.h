/* The job controller's own: jobs.c keeps entries and commits, jobs_act.c decides. */
#ifndef FEDERATOR_JOBS_INTERNAL_H
#define FEDERATOR_JOBS_INTERNAL_H

#include "api/views.h"
#include "base/list.h"
#include "base/map.h"
#include "base/strbuf.h"
#include "federator/jobs.h"

#define JOBS_RETRY_MS         1000  /* after a transaction that the store did not settle */
#define JOBS_SETTLE_MS        20    /* after one that it did: look again once its event has come */
#define JOBS_UNCLAIMED_MS     10000 /* an offer is taken back after it, doubled each time */
#define JOBS_PENDING_MS       5000  /* status.pending is written at most so often a job */
#define JOBS_PENDING_FIRST_MS 1000  /* and not for a wait that is over at once */
#define JOBS_PENDING_RATE     100   /* a second, over all jobs: users' writes come first */

struct jobs {
	struct hub *hub;
	struct job_entry *entries;
	struct list writes;     /* under way, of entries and of jobs that went meanwhile */
	int64_t pending_second; /* how many reasons were written in this second */
	int pending_written;
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
	int64_t ttl_s, phase_since_ns;
	struct doc *doc;         /* the Job; NULL when only its Placement is known yet */
	struct doc *placement;   /* of the present attempt; NULL: none */
	int64_t offered_at_ms;   /* when this process first saw the Placement */
	struct job_write *write; /* under way: one at a time */
	struct timer *timer;
	bool waits;             /* a session found a reason, or found it again: to be written */
	int64_t waits_since_ms; /* when it first had a reason to wait; 0: it does not */
	int64_t pending_at_ms;  /* when it was last written */
};

struct job_entry *jobs_find(struct jobs *j, const char *uid);
/* Idempotent: looks at what is known and does the one next thing, if any. */
void jobs_act(struct job_entry *e);
int jobs_commit(struct job_entry *e, struct job_write *w, const char *placement_key,
		int64_t placement_revision, bool drop_placement, bool drop_job);
void jobs_write_free(struct job_write *w);
char *jobs_status_key(const struct job_entry *e); /* the caller's */

#endif
