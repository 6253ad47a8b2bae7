/* The volumes that pods of a job name: they must be there and bound, and some bind the node. */
#ifndef MEMBER_AGENT_VOLUMES_H
#define MEMBER_AGENT_VOLUMES_H

#include <jansson.h>

#include "base/error.h"

struct runner;

/* -1: the reason, in one word, and err for people. */
int volumes_check(const struct runner *r, const char *ns, const json_t *pod_spec,
		  const char **ret_reason, struct error *err);
/* Adds to a PodSpec the node affinity of the volumes that its claims are bound to. */
void volumes_bind_nodes(const struct runner *r, const char *ns, json_t *pod_spec);

#endif
