/* The cluster's Lease on the hub, every 10 s: whether it is heard. */
#ifndef MEMBER_AGENT_HEARTBEAT_H
#define MEMBER_AGENT_HEARTBEAT_H

#include "member-agent/agent.h"

#define HEARTBEAT_MS 10000

struct heartbeat *heartbeat_create(struct agent *a);
void heartbeat_destroy(struct heartbeat *h);

#endif
