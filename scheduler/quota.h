/*
 * Queues: whether they are open, what they may use at most, and what their placed gangs use.
 * Usage is kept by name, so a queue that is deleted and made again keeps its accounts.
 */
#ifndef SCHEDULER_QUOTA_H
#define SCHEDULER_QUOTA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "api/views.h"
#include "base/map.h"
#include "scheduler/form.h"

struct quota_tally {
	char *name;
	int64_t amount;
};

struct quota_queue {
	char *name;
	bool known, open, has_capability;
	struct quota_tally *capability, *used;
	size_t n_capability, n_used, cap_used;
	UT_hash_handle hh;
};

struct quotas {
	struct quota_queue *by_name;
};

/* A resource of which the request does not fit under the ceiling. */
struct quota_excess {
	const char *resource; /* borrowed from the queue */
	int64_t capability, used, needs;
};

void quotas_finish(struct quotas *q);
bool quota_set(struct quotas *q, const struct queue *queue); /* false: nothing is new */
void quota_remove(struct quotas *q, const char *name);
const struct quota_queue *quota_find(const struct quotas *q, const char *name); /* known ones */

/* times 1 charges, -1 gives back. */
void quota_charge(struct quotas *q, const char *queue, const struct resource_list *total,
		  int64_t times);
/* The i-th excess of the request; false when there are not that many. */
bool quota_excess(const struct quota_queue *q, const struct resource_list *total, size_t i,
		  struct quota_excess *ret);
/* Bit i: the queue, were it open, has room for variant i under its ceiling. */
uint64_t quota_covers(const struct quota_queue *q, const struct form *f);
/* Bit i: the queue is open and has room for variant i under its ceiling. NULL: 0. */
uint64_t quota_allows(const struct quota_queue *q, const struct form *f);

#endif
