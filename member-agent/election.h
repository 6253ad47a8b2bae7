/*
 * One agent speaks for a member: the holder of the Lease federator-system/member-agent. The Lease
 * also remembers what must outlive a process: whether the last holder left cleanly, and the highest
 * version of the hub that was seen, as which Cluster there.
 */
#ifndef MEMBER_AGENT_ELECTION_H
#define MEMBER_AGENT_ELECTION_H

#include "member-agent/agent.h"

#define ELECTION_LEASE_S  15
#define ELECTION_RENEW_MS 4000

/* How the last holder ended, as far as the Lease tells. */
enum election_before {
	ELECTION_BEFORE_CUT,   /* it may be writing yet */
	ELECTION_BEFORE_CLEAN, /* it had ended all it did */
	ELECTION_BEFORE_NONE,  /* there is no Lease: never one here, or somebody removed it */
};

/* elected is called once, when this process holds the Lease. Losing it later, or being about to
 * write into the member when it may be lost, ends the process (agent_deposed). */
struct election *election_start(struct agent *a,
				void (*elected)(struct agent *a, enum election_before before));
bool election_is_held(const struct election *e);
/* Gives the Lease back, then done. clean: every write has its answer, and no predecessor's may yet
 * be carried out. */
void election_leave(struct election *e, bool clean, void (*done)(void *arg), void *arg);
void election_free(struct election *e);

#endif
