/*
 * What users ask of this cluster: the agent holds one streaming GET on the hub, each line of it is
 * a question, each answer a chunked POST.
 */
#ifndef MEMBER_AGENT_REQUESTS_H
#define MEMBER_AGENT_REQUESTS_H

#include "member-agent/agent.h"

struct requests *requests_create(struct agent *a);
void requests_destroy(struct requests *r);

#endif
