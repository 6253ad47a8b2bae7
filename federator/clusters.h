/*
 * The cluster controller of the leader: certificates for accepted members, their namespaces on the
 * hub, and whether they are heard (a Lease every 10 s; not Ready after 40 s of silence).
 */
#ifndef FEDERATOR_CLUSTERS_H
#define FEDERATOR_CLUSTERS_H

#include "federator/hub.h"

#define CLUSTER_SILENCE_MS 40000
#define CLUSTER_LEASE      "agent" /* name of the Lease in the cluster's namespace */
#define CLUSTER_SIGNER     "federator.dev/cluster-agent"
#define CLUSTER_CERT_DAYS  90
#define CLUSTER_REQUEST_KEEP_MS                                                                    \
	INT64_C(86400000) /* as long as a token lives: it asks only once                           \
			   */

struct clusters;

struct clusters *clusters_create(struct hub *hub);
void clusters_destroy(struct clusters *c);

/* Rows of controllers.c. */
void clusters_changed(struct hub *hub, struct doc *doc, struct doc *prev);
void clusters_request_changed(struct hub *hub, struct doc *doc, struct doc *prev);
void clusters_lease_changed(struct hub *hub, struct doc *doc, struct doc *prev);
void clusters_follow(struct hub *hub);

#endif
