/*
 * The twin: our Placement kind in the job's namespace of the member. Intent, owner of the pods, and
 * what must not be forgotten over a restart (design document 3). Trees and views only; no I/O.
 */
#ifndef MEMBER_AGENT_TWIN_H
#define MEMBER_AGENT_TWIN_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "api/views.h"
#include "lifecycle/attempt.h"

struct twin_task {
	const char *name;
	int32_t replicas, min_available, max_retry;
	bool on_failure;
	const json_t *template_; /* lives as long as the view */
};

struct twin {
	struct arena arena;
	json_t *tree;
	struct meta meta;
	const char *job_ns, *job_name, *job_uid, *queue;
	const char *cluster_uid; /* of the Cluster that claimed it */
	const char *hub;         /* where, as ANNOTATION_HUB; NULL: not known */
	int64_t part, generation, incarnation, claim_version, grace_s;
	int32_t min_available, min_success, max_retry;
	bool plugin_env, plugin_svc;
	const json_t *svc_args; /* array or NULL */
	const json_t *copies;   /* [{kind, name, optional}]: what the templates refer to */
	struct twin_task *tasks;
	size_t n_tasks;
	struct attempt_memory memory;
	bool ending; /* somebody deleted it, or we did */
};

/* The work of an attempt: the job as it was claimed, its templates ready for this cluster. The
 * size and the alternatives are the Placement's. The caller's. INVALID when Placement and Job do
 * not go together. */
json_t *twin_work(const struct job *job, const struct placement *p,
		  bool (*class_known)(const char *priority_class, void *arg), void *arg,
		  struct error *err);

/* The object to create; the caller's. hub: as ANNOTATION_HUB, or NULL. */
json_t *twin_make(const struct placement *p, const char *hub, int64_t claim_version,
		  const json_t *work);
/* INVALID when it is not one of ours or was bent. */
int twin_view(const struct doc *d, struct twin **ret, struct error *err);
void twin_destroy(struct twin *t);
DEFINE_CLEANUP(struct twin, twin_destroy)

/* A merge patch of the status that keeps this memory; the caller's. */
json_t *twin_memory_patch(const struct attempt_memory *m, int64_t version);
/* An owner reference to it, as a pod's controller or as the owner of a copy; the caller's. */
json_t *twin_owner_reference(const struct twin *t, bool controller);

#endif
