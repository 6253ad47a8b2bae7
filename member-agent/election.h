/*
 * One agent speaks for a member: the holder of the Lease federator-system/member-agent. The Lease
 * also remembers what must outlive a process: whether the last holder left cleanly, and the highest
 * version of the hub that was seen.
 */
#ifndef MEMBER_AGENT_ELECTION_H
#define MEMBER_AGENT_ELECTION_H

#include "member-agent/agent.h"

#define ELECTION_LEASE_S  15
#define ELECTION_RENEW_MS 4000

/* elected is called once, when this process holds the Lease; left_cleanly: the last holder had
 * ended all it did. Losing it later ends the process (agent_deposed). */
struct election *election_start(struct agent *a,
				void (*elected)(struct agent *a, bool left_cleanly));
/* Gives the Lease back, saying that all was ended; then done. */
void election_leave(struct election *e, void (*done)(void *arg), void *arg);
void election_free(struct election *e);

#endif
