/* Shared by space.c, space_search.c and space_read.c. */
#ifndef SCHEDULER_SPACE_INTERNAL_H
#define SCHEDULER_SPACE_INTERNAL_H

#include "base/mem.h"
#include "scheduler/space.h"

#define group_of(node) container_of(node, struct shape_group, link)
#define seat_of(node)  container_of(node, struct seat, link)

static inline int64_t *group_max(struct shape_group *g)
{
	return g->vectors + g->stride;
}

#endif
