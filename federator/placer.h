/*
 * The level-1 driver: feeds the scheduling core with what the cache and the agents say, carries its
 * decisions out as transactions, and keeps the reasons of those that wait. Decides only while this
 * replica leads; docs/design/0003-hub.md.
 */
#ifndef FEDERATOR_PLACER_H
#define FEDERATOR_PLACER_H

#include <jansson.h>

#include "api/views.h"
#include "federator/hub.h"

struct placer *placer_create(struct hub *hub);
void placer_destroy(struct placer *p);

/* The cache is ready and this replica leads, or it does no longer. */
void placer_lead(struct placer *p);
void placer_follow(struct placer *p);

/* A report of an agent: {"seq", "base", "shapes", "capacity"}. base 0: everything; else only the
 * groups that changed since that report. CONFLICT when that is not the one held: send all. */
int placer_report(struct placer *p, const char *cluster, const json_t *report, struct error *err);

/* For the submission of a job (created: of a new one): INVALID with a cause NeverFits when every
 * accepted cluster has reported and none could hold it even when empty. *ret_warning (the caller's)
 * is set when those that have reported could not, and others have not reported yet. On every
 * replica. */
int placer_admit(struct placer *p, const json_t *job, bool created, struct causes *causes,
		 char **ret_warning, struct error *err);
/* What placer_admit() read of the job, if this is its creation: the caller's. NULL: not here. */
struct job *placer_take_admitted(struct placer *p, const struct doc *doc, const char *uid);

/* Rows of controllers.c, and what the job and cluster controllers tell. */
void placer_priority_changed(struct hub *hub, struct doc *doc, struct doc *prev);
void placer_dataset_changed(struct hub *hub, struct doc *doc, struct doc *prev);
void placer_queue_changed(struct hub *hub, struct doc *doc, struct doc *prev);
void placer_cluster_changed(struct hub *hub, struct doc *doc, struct doc *prev);
void placer_placement_changed(struct hub *hub, struct doc *doc, struct doc *prev);
void placer_job_changed(struct placer *p, struct doc *doc, const struct job *job);
void placer_job_gone(struct placer *p, const char *uid);
void placer_cluster_heard(struct placer *p, const char *cluster, bool heard);
/* What became of an offer that was not committed. CONFLICT: it cannot be any more; FAILED: nor does
 * the store take others now; UNKNOWN: it may have been, so its room stays taken until an event of
 * the job or jobs_settle() tells. */
void placer_offer_failed(struct placer *p, const char *job_uid, enum store_outcome outcome);

/* What the queue's placed gangs use, as a resource list; the caller's. */
json_t *placer_queue_usage(struct placer *p, const char *queue);

/* Raised by all that may change why a job waits, but for the end of a refusal. */
uint64_t placer_version(const struct placer *p);

/* Why the job waits, for status.pending; the caller's. NULL: it does not wait. */
json_t *placer_why(struct placer *p, const char *job_uid);

/* Why the job waits, or where it went and why: JSON with a "text" member; the caller's. NULL when
 * the core does not know it. utc_offset_s: of the reader's clock. */
json_t *placer_explain(struct placer *p, const json_t *job, int32_t utc_offset_s);

#endif
