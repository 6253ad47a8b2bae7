/*
 * A small kubelet for all nodes of the sandbox: admits the pods that are on its nodes, runs them,
 * reports their status, and lets them go when they are deleted.
 */
#ifndef SANDBOX_KUBELET_H
#define SANDBOX_KUBELET_H

#include "sandbox/sandbox.h"

struct kubelet *kubelet_create(struct sandbox *s); /* when the cache is ready */
void kubelet_destroy(struct kubelet *k);           /* kills local processes */

/* True while the pod of this uid runs: its log may still grow. */
bool kubelet_runs(const struct kubelet *k, const char *pod_uid);

#endif
