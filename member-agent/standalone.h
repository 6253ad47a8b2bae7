/*
 * The jobs of one cluster without a hub: an owner of attempts (owner.h) whose Placements are made
 * here, and what they become is written to jobs/status (docs/design/0005-standalone.md).
 */
#ifndef MEMBER_AGENT_STANDALONE_H
#define MEMBER_AGENT_STANDALONE_H

#include "member-agent/agent.h"

struct standalone;

/* explain: "ns/job": only says how that job stands, and writes nothing; NULL: runs all jobs. */
struct standalone *standalone_create(struct agent *a, bool beside_volcano, const char *explain);
struct owner *standalone_owner(struct standalone *s);
/* The runner has seen its cluster: jobs and queues are read, attempts resumed, then new ones
 * begun. Explaining ends the process when it is done. */
void standalone_begin(struct standalone *s);
void standalone_capacity_changed(struct standalone *s);
/* Before the runner goes: nothing is decided any more, and its site holds nothing of ours. */
void standalone_stop(struct standalone *s); /* NULL: nothing */
void standalone_destroy(struct standalone *s);

#endif
