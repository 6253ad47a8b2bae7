/*
 * What is kept of a pod of ours, and what it means for the slot that it stands in. Pure.
 */
#ifndef MEMBER_AGENT_PODINFO_H
#define MEMBER_AGENT_PODINFO_H

#include <stdbool.h>
#include <stdint.h>

#include "api/views.h"
#include "lifecycle/attempt.h"

struct podinfo {
	char *ns, *name, *uid, *node; /* node NULL: none */
	char *task, *reason, *message;
	int64_t version, restart, deleted_ns;
	int64_t grace_s;     /* deletionGracePeriodSeconds; -1: absent */
	int64_t finished_ns; /* when the last container ended; 0: unknown */
	int32_t index, exit_code, restarts;
	enum pod_phase phase;
	bool disrupted, has_finalizer; /* has_finalizer: ours */
	json_t *other_finalizers;
};

/* A pod that is of no attempt gives NULL. */
struct podinfo *podinfo_create(const struct pod *p);
void podinfo_destroy(struct podinfo *i);
DEFINE_CLEANUP(struct podinfo, podinfo_destroy)

/* By its kubelet's word, or because who deleted it vouches for its node. */
bool podinfo_has_ended(const struct podinfo *i);
/* The slot's state by this pod alone. node_gone: its node is not in the cluster any more. Strings
 * are borrowed. */
struct slot podinfo_slot(const struct podinfo *i, bool node_gone);

/* "<uid>-<part>-<g>", the attempt that a pod is of: its labels name it, and the twin of that name
 * controls it. NULL for anybody else's, with labels that were copied too. The caller's. */
char *attempt_name_of(const struct pod *p);

#endif
