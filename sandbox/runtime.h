/*
 * How a pod runs. A runtime starts one run of a pod's containers, tells when it ended, and stops it
 * on demand; restarts and status are the kubelet's business.
 */
#ifndef SANDBOX_RUNTIME_H
#define SANDBOX_RUNTIME_H

#include <jansson.h>
#include <stdint.h>

#include "base/error.h"
#include "sandbox/sandbox.h"

struct run;

struct runtime {
	/* pod lives as long as the run. ended is called once, from the loop, unless the run is
	 * freed before: the exit code, 128 + signal for a process that was killed. */
	struct run *(*start)(struct sandbox *s, const json_t *pod,
			     void (*ended)(int exit_code, void *arg), void *arg, struct error *err);
	/* Asks it to end; after grace_s it is killed. `ended` is called as for any end. */
	void (*stop)(struct run *run, int64_t grace_s);
	void (*free)(struct run *run); /* kills what still runs */
};

extern const struct runtime runtime_simulated, runtime_process;

/* Where a pod's output is kept: "<state>/logs/<uid>.log"; the caller's. */
char *runtime_log_path(const struct sandbox *s, const char *pod_uid);

/* A number in an annotation "sandbox.federator.dev/<name>": seconds to milliseconds, or otherwise.
 */
int64_t runtime_annotation_ms(const json_t *pod, const char *name, int64_t otherwise);

#endif
