/*
 * Level 1: clusters, queues, data sets and waiting jobs of a federation, and which cluster each job
 * is offered to. Holds what the leader knows; events in, decisions out.
 */
#ifndef SCHEDULER_FLEET_H
#define SCHEDULER_FLEET_H

#include "api/views.h"
#include "scheduler/explain.h"

struct fleet;

struct fleet *fleet_create(void);
void fleet_destroy(struct fleet *f); /* NULL: nothing */

/* --- what is there ------------------------------------------------------------------------ */

/* Added or changed. Read: labels, accepted, ready, cordoned, taints, spec.namespaces (of the view's
 * tree; absent: all), capacity shapes once reported. Only accepted clusters are considered. */
void fleet_cluster_set(struct fleet *f, const struct cluster *c);
void fleet_cluster_remove(struct fleet *f, const char *name);

/* Free shapes: all of them (full), or those whose count changed (the new count; 0: gone). Ends the
 * debits that this report contains. False: older than what is held, or a change without a base. */
bool fleet_report(struct fleet *f, const char *cluster, int64_t capacity_seq, bool full,
		  const struct shape *shapes, size_t n);

void fleet_queue_set(struct fleet *f, const struct queue *q);
void fleet_queue_remove(struct fleet *f, const char *name);
void fleet_dataset_set(struct fleet *f, const struct dataset *d);
void fleet_dataset_remove(struct fleet *f, const char *name);

/* --- jobs, by uid ------------------------------------------------------------------------- */

/* Waits (record Queued): added, or changed. priority: of its class. generation: that its next
 * attempt would have. INVALID: cannot be decided on; nothing is held. */
int fleet_submit(struct fleet *f, const struct job *job, int32_t priority, int64_t generation,
		 struct error *err);

struct fleet_attempt {
	const char *cluster;
	const int32_t *choices; /* per task: alternative, or -1 */
	int64_t generation;
	int64_t capacity_seq; /* of the claim; 0: not claimed yet */
};
/* Has an open attempt that this fleet did not decide: charged and debited. */
int fleet_adopt(struct fleet *f, const struct job *job, int32_t priority,
		const struct fleet_attempt *a, struct error *err);
/* The claim's capacitySeq: the first report that contains the attempt. */
void fleet_claimed(struct fleet *f, const char *uid, int64_t generation, int64_t capacity_seq);

struct fleet_refusal {
	const char *reason; /* in words, for explain */
	/* Not offered to that cluster before; 0: before a report, of capacity_seq or newer, that
	 * shows other room than the one before it. */
	int64_t until_ns;
};
/* The attempt is over and the job waits again, offered next as `generation`. capacity_seq: of the
 * last word; 0: it was never claimed. refusal NULL: the cluster may be asked again. */
void fleet_requeue(struct fleet *f, const char *uid, int64_t generation, int64_t capacity_seq,
		   const struct fleet_refusal *refusal);
/* The same for a job that waits, of an attempt that this fleet did not decide. */
void fleet_refused(struct fleet *f, const char *uid, const char *cluster, int64_t capacity_seq,
		   const struct fleet_refusal *refusal);
/* When the first refusal of those that wait ends by the clock, after now; 0: none does. */
int64_t fleet_next_refusal_end(const struct fleet *f, int64_t now_ns);
/* The job has ended or is gone. */
void fleet_forget(struct fleet *f, const char *uid, int64_t capacity_seq);

/* --- decisions ---------------------------------------------------------------------------- */

struct fleet_choice {
	const char *task;
	int32_t alternative, replicas;
};
struct fleet_runner_up {
	const char *cluster, *why;
};
#define FLEET_RUNNERS_UP 3

struct fleet_decision {
	const char *uid, *ns, *name;
	int64_t generation;
	enum wait_code wait; /* NONE: placed */
	const char *cluster; /* NULL when it waits, as the rest */
	const char *why;
	const struct fleet_choice *choices; /* by task */
	size_t n_choices;
	struct fleet_runner_up runners_up[FLEET_RUNNERS_UP]; /* best first */
	size_t n_runners_up;
};

/* One pass over the waiting jobs. The caller may stop after any decision; then every other session
 * goes on where that one stopped, so that those at the end have their turn however long the rest
 * takes. No event may come between begin and end. now: wall clock, for refusals. */
void fleet_session_begin(struct fleet *f, int64_t now_ns);
/* The next job that is placed (debited and charged at once), or whose reason to wait is new or was
 * found again; false when all have been looked at. Valid until the next call. */
bool fleet_session_next(struct fleet *f, struct fleet_decision *ret);
void fleet_session_end(struct fleet *f);

/* Why the job waits, all of it; NULL when the fleet does not know it. */
struct explain *fleet_explain(struct fleet *f, const char *uid, int64_t now_ns);
/* Raised by every event that may change the answer about another job, and by decisions:
 * explanations of before may be out of date. */
uint64_t fleet_version(const struct fleet *f);

enum fleet_fit {
	FLEET_MAY_FIT,
	FLEET_NO_CAPABLE, /* no cluster that has reported can hold it, and some have not */
	FLEET_NEVER_FITS, /* nor could any other: all have reported */
};
/* Could the job fit somewhere, were all clusters empty? Among the accepted ones that its namespace
 * and selector allow. text: a warning or an error message, the nearest miss first; empty when it
 * may fit. INVALID: cannot be decided on. */
int fleet_fits(struct fleet *f, const struct job *job, enum fleet_fit *ret, struct strbuf *text,
	       struct error *err);

uint64_t fleet_checksum(const struct fleet *f); /* of all room; for tests and simulation */
const char *fleet_fault(const struct fleet *f); /* a broken invariant, or NULL; for tests */

#endif
