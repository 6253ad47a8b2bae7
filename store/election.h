/*
 * Leadership: one key under STORE_SESSIONS with a lease. Every transaction of a leader carries
 * its guard, so a deposed leader can write nothing; the lease alone decides nothing.
 */
#ifndef STORE_ELECTION_H
#define STORE_ELECTION_H

#include "store/store.h"

struct election;

struct election_callbacks {
	void (*elected)(void *arg);
	/* The lease was lost or could not be renewed in time; called before the key can be taken
	 * by another as far as this process's clock can tell. */
	void (*deposed)(void *arg);
	void *arg;
};

/* identity: who leads, as told to the others ("https://127.0.0.1:7443"; under 200 bytes). ttl_s: 5
 * to 60; without a word from the leader for so long another takes over within a second more. */
struct election *election_create(struct store *s, struct loop *loop, const char *name,
				 const char *identity, int64_t ttl_s,
				 const struct election_callbacks *callbacks);
bool election_is_leader(const struct election *e);
/* Between elected and deposed. The key lives as long as the election. */
struct store_guard election_guard(const struct election *e);
/* Identity of the present leader as last seen, or NULL. */
const char *election_leader(const struct election *e);
/* Revokes the lease when leading (for at most 2 s), frees, then calls done (may be NULL) from the
 * loop. No other callback comes; the store must live until then. */
void election_destroy(struct election *e, void (*done)(void *arg), void *arg);

#endif
