/*
 * The job controller of the leader: every transaction on a dispatch record but an agent's word.
 * Offers, taking back, aborting, removing with the record, expiry (design document 3).
 */
#ifndef FEDERATOR_JOBS_H
#define FEDERATOR_JOBS_H

#include "federator/hub.h"
#include "lifecycle/record.h"

struct jobs;

struct jobs *jobs_create(struct hub *hub);
void jobs_destroy(struct jobs *j); /* after the store: nothing calls back any more */

/* Rows of controllers.c. */
void jobs_changed(struct hub *hub, struct doc *doc, struct doc *prev);
void jobs_placement_changed(struct hub *hub, struct doc *doc, struct doc *prev);
void jobs_follow(struct hub *hub);

/* For the placer. Offers a job that the record says is queued: false when it has moved on or a
 * transaction on it is under way. The outcome comes as events of the cache; on anything but a
 * commit placer_offer_failed is called. */
bool jobs_offer(struct hub *hub, const char *job_uid, const struct record_offer *offer);
/* What became of an offer whose outcome is not known: writes the status as it is known, under the
 * same guards. Committed, the offer was not made and never will be: placer_offer_failed is called;
 * in conflict, an event tells. False: nothing was asked now. */
bool jobs_settle(struct hub *hub, const char *job_uid);
/* A session looked at the job and it waits: the placer is asked why (placer_why) when the reason
 * may be written. */
void jobs_wait(struct hub *hub, const char *job_uid);

#endif
