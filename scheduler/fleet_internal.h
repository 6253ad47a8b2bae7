/* Shared by the fleet_*.c files and the plugins of clusters. */
#ifndef SCHEDULER_FLEET_INTERNAL_H
#define SCHEDULER_FLEET_INTERNAL_H

#include "scheduler/explain_internal.h"
#include "scheduler/fleet.h"
#include "scheduler/gang.h"
#include "scheduler/judge.h"
#include "scheduler/plugin.h"
#include "scheduler/quota.h"
#include "scheduler/space.h"

/* Room that an attempt takes and no report contains yet: a stretch of the cluster's log. */
struct debit {
	char *uid;
	int64_t generation;
	struct form *form; /* held */
	size_t variant;
	int32_t priority;
	struct submission submitted;
	int64_t capacity_seq; /* ends with a report of at least this; 0: not known yet */
	size_t mark;          /* in the log of free, where it begins */
};

struct fleet_cluster {
	char *name;
	bool known; /* else only reports or attempts speak of it */
	bool accepted, ready, cordoned;
	struct arena arena; /* of labels, taints and namespaces */
	struct label *labels;
	size_t n_labels;
	struct taint *taints; /* but for the cordon */
	size_t n_taints;
	const char **namespaces;
	size_t n_namespaces;
	bool any_namespace;
	bool has_capacity, has_free;
	struct space free, capacity;
	int64_t capacity_seq; /* of the report that is held */
	int64_t room_seq;     /* of the last report that showed other room than the one before it */
	struct debit *debits;
	size_t n_debits, cap_debits;
	UT_hash_handle hh;
};

struct backoff {
	struct fleet_cluster *cluster;
	/* 0: until the report of capacity_seq, or a later one, has come and the room is known to be
	 * other than it was by the report of decided_seq */
	int64_t until_ns;
	int64_t capacity_seq, decided_seq;
	char *reason;
};

struct fleet_job {
	struct gang *gang;
	int64_t generation;           /* of the open attempt, or of the next one */
	struct fleet_cluster *placed; /* NULL: waits */
	int64_t decided_seq;          /* of the report by which it was placed; 0: not known */
	enum wait_code said;          /* the last reason that a session gave */
	bool asked;                   /* a session has looked at it since it last changed */
	struct backoff *backoffs;
	size_t n_backoffs, cap_backoffs;
	UT_hash_handle hh;
};

struct fleet_dataset {
	char *name;
	struct arena arena;
	int64_t size_bytes;
	struct dataset_replica *replicas;
	size_t n_replicas;
	UT_hash_handle hh;
};

struct fleet {
	struct model model;
	struct fleet_cluster *clusters; /* by name */
	struct fleet_cluster **order;   /* known and accepted, by name */
	size_t n_order, cap_order;
	struct quotas quotas;
	struct fleet_dataset *datasets;
	struct fleet_job *jobs; /* by uid */
	struct pending pending;
	uint64_t version; /* from 1; gangs that were seen at the present one need no look */
	struct {
		bool open;
		int64_t now_ns;
		const struct gang *after; /* the last one looked at */
		bool wrapped;             /* began further down and is in what stands before that */
		bool over;                /* nothing is left to look at */
		struct arena arena;       /* of the last decision */
	} session;
	/* Where a session that stopped early goes on. When something happened meanwhile, only every
	 * other turn does: those at the top come first, those at the end come too. */
	struct {
		bool set;
		struct gang key;  /* only what the order of gangs asks; uid is its own */
		bool from_top;    /* how the last turn began */
		uint64_t version; /* of the fleet when it ended */
		bool submitted;   /* a job since then */
	} resume;
};

/* fleet.c */
struct fleet_cluster *fleet_need_cluster(struct fleet *f, const char *name);

/* fleet_debit.c */
void debit_add(struct fleet *f, struct fleet_cluster *c, struct debit d); /* by its age */
void debit_append(struct fleet_cluster *c, struct debit d); /* its stretch is in the log already */
struct debit debit_make(const struct fleet_job *job, size_t variant, int64_t capacity_seq);
/* Sets the seq of the attempt's debit, and ends it when the report that is held contains it: true.
 */
bool debit_settle(struct fleet *f, const char *uid, int64_t generation, int64_t capacity_seq);
void debit_cancel(struct fleet *f, const char *uid, int64_t generation);
void debits_expire(struct fleet *f,
		   struct fleet_cluster *c); /* by c's seq; log must be rolled back */
void debits_replay(struct fleet *f, struct fleet_cluster *c, size_t from);
void debits_finish(struct fleet *f, struct fleet_cluster *c);

/* fleet_jobs.c */
struct fleet_job *fleet_job_find(const struct fleet *f, const char *uid);
void fleet_jobs_finish(struct fleet *f);
void fleet_charge(struct fleet *f, struct fleet_job *job, int variant); /* -1: gives back */

/* fleet_decide.c */
enum wait_code fleet_gate(const struct fleet *f, const struct gang *g, uint64_t *ret_allowed);
/* The first plugin whose filter the cluster fails; NULL: passes. skip: a filter taken as passed. */
const struct plugin *fleet_filter(const struct cluster_question *q, enum filter skip);
void fleet_resume_finish(struct fleet *f);
struct judge fleet_judge(struct fleet *f, struct fleet_cluster *c, struct form *form,
			 uint64_t allowed);

/* fleet_data.c */
const struct fleet_dataset *fleet_dataset_find(const struct fleet *f, const char *name);
int64_t fleet_bytes_missing(const struct fleet *f, const struct gang *g, const char *cluster);
void fleet_datasets_finish(struct fleet *f);

/* fleet_why.c */
/* Why the form does not fit there; brief and cheap. Borrowed from the form. */
const char *fleet_why_not(struct fleet *f, struct fleet_cluster *c, struct form *form,
			  uint64_t allowed);

#endif
