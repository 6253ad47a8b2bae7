/*
 * Why a gang waits: all reasons, as data, with one renderer to text and one to JSON.
 */
#ifndef SCHEDULER_EXPLAIN_H
#define SCHEDULER_EXPLAIN_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/mem.h"
#include "base/strbuf.h"
#include "scheduler/filter.h"

/* code of status.pending, what holds the gang back. */
#define WAIT_CODES(X)                                                                              \
	X(NONE, "", "nothing")                                                                     \
	X(DATASET_NOT_FOUND, "DataSetNotFound", "data set")                                        \
	X(QUEUE_NOT_FOUND, "QueueNotFound", "queue")                                               \
	X(QUEUE_CLOSED, "QueueClosed", "queue")                                                    \
	X(QUOTA, "Quota", "quota")                                                                 \
	X(NO_CLUSTER, "NoCluster", "clusters")                                                     \
	X(NO_CAPABLE_CLUSTER, "NoCapableCluster", "capacity")                                      \
	X(NO_ROOM, "NoRoom", "room")

enum wait_code {
#define X(name, code, text) WAIT_##name,
	WAIT_CODES(X)
#undef X
};
const char *wait_code_name(enum wait_code c); /* "NoRoom"; NONE: "" */

enum verdict {
	VERDICT_FITS,
	VERDICT_FULL,     /* would fit when empty */
	VERDICT_NEVER,    /* not even then */
	VERDICT_EXCLUDED, /* by a filter of the cluster, whatever its room */
};
const char *verdict_name(enum verdict v); /* "never fits" */

/* The largest part of the gang that fits gets `have` of the `want` that all of it asks for. */
struct explain_short {
	const char *resource;
	int64_t have, want;
	bool sole; /* more of this alone would do */
};

struct explain_place { /* a cluster */
	const char *name;
	enum verdict verdict;
	enum filter filter;           /* the first that it fails; FILTER_NONE when it fits */
	const char *detail;           /* in words; "" when it fits */
	bool sole;                    /* would fit, were this filter lifted alone */
	struct explain_short *shorts; /* of FULL and NEVER */
	size_t n_shorts;
	int64_t fits, pods; /* pods of the largest part that fits now (NEVER: when empty), of all */
	int64_t bytes;      /* to move */
	const char *variant; /* alternatives that this is about, "worker: alternative 2 of 3"; "" */
};

/* A step of the funnel. */
struct explain_step {
	enum filter filter;
	int64_t left;  /* after this filter and those before it */
	int64_t alone; /* would be added at the end, were this filter lifted alone */
};

struct explain_quota {
	const char *resource;
	int64_t capability, used, needs;
};

struct explain_gate {
	enum wait_code code;
	const char *detail, *remedy;
};

struct explain {
	struct arena arena;
	const char *uid, *ns, *name, *queue;
	int32_t priority;
	int64_t pods, submitted_ns;
	const char *placed;          /* cluster of the open attempt; NULL: it waits */
	enum wait_code code;         /* the first reason */
	const char *detail;          /* in one line */
	const char *remedy;          /* what would start it, "" when unknown */
	bool sole;                   /* it would start, were this lifted alone */
	struct explain_gate *others; /* that are shut too, whatever the room */
	size_t n_others;
	struct explain_quota *quotas; /* each that is exceeded */
	size_t n_quotas;
	struct explain_place *places; /* by name */
	size_t n_places;
	const char *funnel_of; /* "Clusters" or "Nodes for task w" */
	struct explain_step *steps;
	size_t n_steps;
	bool has_data; /* the gang names data sets */
};
void explain_destroy(struct explain *e); /* NULL: nothing */
DEFINE_CLEANUP(struct explain, explain_destroy)

/* The screen of `fedctl explain` for a job that waits. now: wall clock; utc_offset_s: of the
 * reader's clock. */
void explain_text(const struct explain *e, int64_t now_ns, int32_t utc_offset_s,
		  struct strbuf *out);
json_t *explain_json(const struct explain *e); /* caller owns */
/* What status.pending says: code, detail, and with miss (a place of e, or NULL) its cluster and
 * nearestMiss. Caller owns. */
json_t *explain_pending_json(const struct explain *e, const struct explain_place *miss);

/* "40Gi", "0 B", "1.2Ti". */
void explain_bytes(int64_t bytes, struct strbuf *out);

#endif
