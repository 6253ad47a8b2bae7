/*
 * Tells the hub what this cluster has: free shapes to the leader (soft state, on change, at most 5
 * a second, only what changed), and a summary in Cluster.status (at most every 30 s).
 */
#ifndef MEMBER_AGENT_REPORTER_H
#define MEMBER_AGENT_REPORTER_H

#include "member-agent/agent.h"

#define REPORT_MS  200
#define SUMMARY_MS 30000

struct reporter *reporter_create(struct agent *a);
void reporter_changed(struct reporter *r); /* capacity may have changed */
void reporter_destroy(struct reporter *r);

#endif
