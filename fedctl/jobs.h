/* What people want to know of a Job, read from its tree. */
#ifndef FEDCTL_JOBS_H
#define FEDCTL_JOBS_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/mem.h"

enum job_phase {
	JOB_PENDING,
	JOB_RUNNING,
	JOB_RESTARTING,
	JOB_COMPLETED,
	JOB_FAILED,
	JOB_UNCERTAIN, /* what became of it is known to nobody: a person decides */
};

/* Texts are borrowed from the tree, NULL where there is nothing; times are wall clock, 0: not yet.
 */
struct job_facts {
	const char *ns, *name, *uid, *queue, *cluster, *nodes;
	enum job_phase phase;
	const char *phase_name, *reason, *message;
	bool deleting;
	int64_t tasks;      /* pods that it wants */
	int64_t done;       /* of them those that run or have succeeded */
	int64_t generation; /* of its last attempt; 0: none yet */
	int64_t created_ns;
	int64_t wait_from_ns, started_ns, ended_ns; /* of the present or last start */
	const char *why_waiting;
};

void job_facts_read(const json_t *job, struct job_facts *ret);
/* How many pods one of its tasks has, or wants while it has none. */
int64_t job_task_pods(const json_t *job, const json_t *task);

static inline bool job_has_ended(enum job_phase p)
{
	return p == JOB_COMPLETED || p == JOB_FAILED;
}

#endif
