/* The kubelet's own: kubelet.c follows the pods, admit.c refuses, status.c words what is so. */
#ifndef SANDBOX_KUBELET_INTERNAL_H
#define SANDBOX_KUBELET_INTERNAL_H

#include "api/views.h"
#include "base/map.h"
#include "sandbox/kubelet.h"
#include "sandbox/runtime.h"

enum pod_state { POD_IS_NEW, POD_IS_RUNNING, POD_IS_STOPPING, POD_IS_ENDED };

struct pod_entry {
	UT_hash_handle hh;
	struct kubelet *kubelet;
	char *uid, *ns, *name, *node;
	struct arena arena; /* of request */
	struct resource_list request;
	json_t *tree; /* the pod as last seen */
	enum pod_state state;
	const struct runtime *runtime;
	struct run *run; /* NULL: not running */
	int64_t started_ns, ended_ns;
	int restarts, exit_code;
	bool restart_due;              /* the timer runs until the container starts again */
	char reason[64], message[200]; /* of a pod that was refused */
	bool writing, dirty, remove;   /* a write is under way; another one is due; then delete */
	struct timer *timer;           /* a pod whose node is not there */
};

struct kubelet {
	struct sandbox *sandbox;
	struct cache_watch *watch;
	struct pod_entry *pods;
};

/* False with reason and message in the entry when a kubelet would not take the pod. */
bool kubelet_admits(struct pod_entry *e, const struct node *node);

/* The whole status of the pod as the entry knows it; the caller's. */
json_t *kubelet_status(const struct pod_entry *e);

#endif
