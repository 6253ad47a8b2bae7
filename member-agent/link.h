/*
 * The link to the hub: hello, the Placements of this cluster, the Jobs that they name, and words
 * about them. The hub as an owner of attempts (owner.h).
 */
#ifndef MEMBER_AGENT_LINK_H
#define MEMBER_AGENT_LINK_H

#include "member-agent/agent.h"

/* Says hello until it is heard, then lists Placements not older than it and feeds the runner. */
struct link *link_create(struct agent *a, void (*up)(struct agent *a));
struct owner *link_owner(struct link *l);
/* The first list of Placements begins when the runner is ready too. */
void link_start_placements(struct link *l);
void link_destroy(struct link *l);

#endif
