/*
 * Job status, the parts that people and clients read: phase, conditions, counts, attempts. Used by
 * record.c only; every function writes into a status tree that the caller owns.
 */
#ifndef LIFECYCLE_JOB_STATUS_H
#define LIFECYCLE_JOB_STATUS_H

#include <jansson.h>
#include <stdint.h>

#include "lifecycle/record.h"

#define JOB_STATUS_ATTEMPTS 5 /* kept in status.dispatch.attempts */

void job_status_begin_attempt(json_t *status, const char *cluster, int64_t generation,
			      const char *why, const json_t *runners_up);
/* Record and status after an agent's word; to: the record's new phase. */
void job_status_apply(json_t *status, const json_t *job, const json_t *placement,
		      enum record_step step, enum dispatch_phase to, int64_t now_ns);
/* Back to the queue; how: "Refused", "Released", "TakenBack". */
void job_status_to_queue(json_t *status, const char *how, const char *reason, const char *message,
			 int64_t now_ns);
void job_status_note_abort(json_t *status, const char *why);

#endif
