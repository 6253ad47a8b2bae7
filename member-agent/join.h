/*
 * Joining: two consents. With a bootstrap token the member announces its Cluster and asks for a
 * certificate; an administrator accepts it on the hub; the certificate comes back.
 */
#ifndef MEMBER_AGENT_JOIN_H
#define MEMBER_AGENT_JOIN_H

#include "member-agent/agent.h"

/* Whether the settings have all that joining still needs of them; BAD_REQUEST names what is not
 * right. With an identity that has joined they need nothing. */
int join_check(const struct settings *s, const struct identity *id, struct error *err);

/* Until a->identity has a certificate and the Cluster's uid; tries for as long as it takes. done is
 * called once; failures that no waiting cures end the process. */
struct join *join_start(struct agent *a, void (*done)(struct agent *a));
void join_destroy(struct join *j); /* never from inside done; NULL is fine */

#endif
