/* Waiting for jobs, with progress. */
#ifndef FEDCTL_WAIT_H
#define FEDCTL_WAIT_H

#include "fedctl/session.h"

struct job_name {
	const char *ns, *name;
	const char *uid; /* NULL: whichever has the name */
};

enum wait_for { WAIT_FOR_COMPLETED, WAIT_FOR_ENDED, WAIT_FOR_RUNNING, WAIT_FOR_GONE };

/* All of one namespace. timeout_ns 0: for ever. quiet: no progress. Prints the outcomes; returns
 * the exit code. */
int wait_for_jobs(struct session *s, const struct job_name *jobs, size_t n, enum wait_for what,
		  int64_t timeout_ns, bool quiet);

#endif
