/*
 * Who this agent is on the hub: key, certificate, the hub's CA and the Cluster's uid. Kept in the
 * state folder (a sandbox), or in the Secret federator-system/member-agent of the member.
 */
#ifndef MEMBER_AGENT_IDENTITY_H
#define MEMBER_AGENT_IDENTITY_H

#include "base/error.h"
#include "kube/client.h"

struct identity {
	char *key_pem, *csr_pem, *cert_pem, *ca_pem, *cluster_uid; /* NULL: not there yet */
};
void identity_finish(struct identity *id);

struct identity_call;

/* state: the folder, or NULL for the Secret. done: err NULL also when there is nothing yet. A
 * folder is read at once: done has been called then, and the result is NULL. */
struct identity_call *identity_load(struct kube *member, const char *state,
				    void (*done)(struct identity *take_id, const struct error *err,
						 void *arg),
				    void *arg);
/* Keeps what is set of it; a folder is written at once, as above. */
struct identity_call *identity_save(struct kube *member, const char *state,
				    const struct identity *id,
				    void (*done)(const struct error *err, void *arg), void *arg);
void identity_cancel(struct identity_call *c); /* NULL is fine */

#endif
