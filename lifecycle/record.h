/*
 * The hub's side of a job's life: the dispatch record as a table of edges, and the Job status that
 * follows from record and Placement (design document 3, "Record and Placement"). Pure: trees and
 * times in, new trees out; who compares and writes them is the caller's business.
 */
#ifndef LIFECYCLE_RECORD_H
#define LIFECYCLE_RECORD_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "api/views.h"
#include "base/error.h"

enum record_step {
	RECORD_OFFER,
	RECORD_CLAIM,
	RECORD_RUNNING,
	RECORD_TAKE_BACK,
	RECORD_ABORT,
	RECORD_REFUSED,
	RECORD_RELEASED,
	RECORD_DONE,
	RECORD_LOST,
};

/* False when the step has no edge from that phase: the caller re-reads, nothing is written. */
bool record_edge(enum dispatch_phase from, enum record_step step, enum dispatch_phase *ret_to);

/* What the leader decided, beside the job itself. */
struct record_offer {
	const char *cluster, *cluster_uid;
	const char *why;             /* "least waste on large": kept in the attempt */
	const json_t *runners_up;    /* array of at most three objects, or NULL */
	const int32_t *alternatives; /* of each task: index, or -1 for the task itself */
	size_t n_alternatives;       /* 0: they were chosen for this very tree */
	int64_t incarnation;
	int64_t protocol;
};

/* job: the whole Job as stored and joined. Both results are the caller's: the new status of the
 * Job, and the Placement to create beside it. CONFLICT when the record cannot be offered, or when
 * the alternatives are not of this job's tasks: it was changed since they were chosen. */
int record_make_offer(const json_t *job, const char *spec_hash, const struct record_offer *offer,
		      int64_t now_ns, json_t **ret_status, json_t **ret_placement,
		      struct error *err);

/* An agent's word: the Placement before and after its patch. *ret_status is the Job's new status,
 * or NULL when the step does not touch it (a claim); *ret_last tells that the word was the last
 * one: the Placement goes in the same transaction. INVALID for an unknown state, CONFLICT for a
 * step without an edge. */
int record_answer(const json_t *job, const json_t *before, const json_t *after, int64_t now_ns,
		  json_t **ret_status, bool *ret_last, struct error *err);

/* Of the Job's record; NONE where it has none, or one that is not known. */
enum dispatch_phase record_phase(const json_t *job);

/* Whether an attempt ended for want of room: what a cluster lacks shows in its next report, whether
 * it is in use or not there at all. */
bool record_is_room(const char *reason);
/* How many attempts in that cluster ended otherwise, without one between them that ended by room.
 */
int64_t record_refusals(const json_t *job, const char *cluster);

/* Takes back an offer that nobody claimed: the new status of the Job (phase Queued). */
int record_take_back(const json_t *job, const char *reason, int64_t now_ns, json_t **ret_status,
		     struct error *err);

/* Asks for the end of an attempt: the record to Releasing, and the Placement with desired Release.
 * why: the reason kept in the attempt ("Deleted"). */
int record_abort(const json_t *job, const json_t *placement, const char *why, int64_t now_ns,
		 json_t **ret_status, json_t **ret_placement, struct error *err);

/* status.pending: why a queued job waits. pending NULL removes it. The result is the caller's;
 * NULL when nothing would change (`since` is kept while code and cluster stay the same). */
json_t *record_set_pending(const json_t *job, const json_t *pending, int64_t now_ns);

/* A Job that the hub cannot read says so where people look: in status.pending while it waits, else
 * in the message of its state, until the next word about it. All else stays as it is. The result is
 * the caller's; NULL when it says so already. */
json_t *record_set_unreadable(const json_t *job, const char *why, int64_t now_ns);

/* The status that a job has from its creation on: phase Pending, counts zero. */
json_t *record_initial(const json_t *job, int64_t now_ns);

/* "<uid>-<part>-<generation>"; freed by the caller. */
char *record_placement_name(const char *uid, int64_t part, int64_t generation);
/* "cluster-<name>"; freed by the caller. */
char *record_cluster_namespace(const char *cluster);

/* SHA-256 of the stored bytes of the spec, as hex. -1 when the document has none. */
int record_spec_hash(const char *job_bytes, size_t n, char out[65]);

#endif
