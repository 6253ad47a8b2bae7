/*
 * The link to the hub: hello, the Placements of this cluster, the Jobs that they name, and words
 * about them. The hub as an owner of attempts (owner.h).
 */
#ifndef MEMBER_AGENT_LINK_H
#define MEMBER_AGENT_LINK_H

#include "member-agent/agent.h"

struct link *link_create(struct agent *a, void (*up)(struct agent *a));
struct owner *link_owner(struct link *l);
/* Says hello until it is heard, then calls up. Not before the runner has seen its cluster. */
void link_say_hello(struct link *l);
/* Lists Placements, not older than the hello, and feeds the runner. */
void link_start_placements(struct link *l);
void link_destroy(struct link *l);

#endif
