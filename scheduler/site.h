/*
 * Level 2: the nodes of one cluster, what stands on them, and which node each pod of a gang gets.
 * Events may come in any order; a pod may be told before its node.
 */
#ifndef SCHEDULER_SITE_H
#define SCHEDULER_SITE_H

#include "api/views.h"
#include "scheduler/explain.h"

struct site;
struct gang;

struct site *site_create(const char *name); /* of the cluster, for explain */
void site_destroy(struct site *s);          /* NULL: nothing; its gangs must have been destroyed */

/* --- what is there ------------------------------------------------------------------------ */

void site_node_set(struct site *s, const struct node *n); /* added or changed */
void site_node_remove(struct site *s, const char *name);

/* Pod `index` of a task of the job `uid`. */
struct site_key {
	const char *uid, *task;
	int32_t index;
};

/* Any pod of the cluster: counts on its node, or else on the one it is nominated to, until it is
 * terminal. With a key (one of ours), and unless it is ending, it takes the place of the booking.
 */
void site_pod_set(struct site *s, const struct pod *p, const struct site_key *key);
void site_pod_remove(struct site *s, const char *pod_uid); /* unknown: nothing */

/* --- bookings: room of pods that are decided and not seen yet ------------------------------ */

/* Made or changed, e.g. from the pod that a server returned, or for a pod that is made again where
 * it was. Does not ask whether there is room. */
void site_book(struct site *s, const struct site_key *key, const char *node,
	       const struct resource_list *request, const int32_t *ports, size_t n_ports);
bool site_release(struct site *s, const struct site_key *key); /* false: there was none */
size_t site_release_gang(struct site *s, const char *uid);     /* how many there were */

/* --- decisions ---------------------------------------------------------------------------- */

/* priority: of the job's class. choices: per task the alternative that was chosen (-1: the task
 * itself); NULL: the core chooses. Nothing of the view is kept. INVALID: cannot be decided on. */
int site_gang_create(struct site *s, const struct job *job, int32_t priority,
		     const int32_t *choices, struct gang **ret, struct error *err);
void site_gang_destroy(struct site *s, struct gang *g); /* NULL: nothing; gives its quota back */

struct site_pod {
	int32_t task, index;
	const char *node;
};

struct site_placement {
	struct gang *gang;
	size_t n_tasks;
	int32_t *alternatives, *replicas; /* by task */
	struct site_pod *pods;            /* by task, then index */
	size_t n_pods;
};
void site_placement_destroy(struct site_placement *p); /* NULL: nothing */
DEFINE_CLEANUP(struct site_placement, site_placement_destroy)

/* All pods of the gang, or NULL. Each is booked at once. */
struct site_placement *site_place(struct site *s, struct gang *g);
/* Only these pods of it (node is not read), for those that were lost. */
struct site_placement *site_place_some(struct site *s, struct gang *g, const struct site_pod *pods,
				       size_t n);
/* Why it does not fit, or that it does. Never NULL. */
struct explain *site_explain(struct site *s, struct gang *g);

/* --- alone, without a hub ----------------------------------------------------------------- */

void site_queue_set(struct site *s, const struct queue *q);
void site_queue_remove(struct site *s, const char *name);
void site_submit(struct site *s, struct gang *g);   /* waits until site_next or its end */
void site_withdraw(struct site *s, struct gang *g); /* does not wait any more */
/* It runs already (agent started again): charges its queue as chosen. */
void site_adopt(struct site *s, struct gang *g, const int32_t *choices);
/* The next waiting gang that its queue and the nodes allow, placed and charged; NULL when there
 * is none. */
struct site_placement *site_next(struct site *s);

/* --- shapes, so that the hub can answer the same ------------------------------------------ */

#define SITE_SHAPES_MAX 2048 /* shapes are exact up to this many */

struct site_shapes {
	struct shape *items;
	size_t n;
	bool full;    /* all of them; else those whose count changed since the last report */
	bool rounded; /* amounts are rounded, since there were too many shapes */
};
/* Of empty nodes; rounded up, so that what they cannot hold cannot be held. Strings and taints are
 * valid until the next event or report. */
void site_capacity(struct site *s, struct arena *a, struct site_shapes *ret);
/* Of what is free now, bookings taken off; rounded down. Without `full`, changes only (count 0:
 * gone), where that is possible; n is 0 when nothing changed. */
void site_report(struct site *s, bool full, struct arena *a, struct site_shapes *ret);

uint64_t site_checksum(struct site *s); /* of all that decides; for tests and simulation */
const char *site_fault(struct site *s); /* a broken invariant, or NULL; for tests */

#endif
