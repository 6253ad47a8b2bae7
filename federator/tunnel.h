/*
 * The reverse tunnel: an agent holds one streaming GET .../clusters/X/requests; what a user asks of
 * a cluster is written there as a line, and the agent answers each by a chunked POST to
 * .../clusters/X/answers?id=N, which is relayed to the user with back-pressure.
 */
#ifndef FEDERATOR_TUNNEL_H
#define FEDERATOR_TUNNEL_H

#include "federator/hub.h"

struct tunnel *tunnel_create(struct hub *hub);
void tunnel_destroy(struct tunnel *t);

/* Route handlers; arg: the hub. */
void tunnel_requests(struct server_request *r, void *arg); /* GET clusters/X/requests */
void tunnel_answers(struct server_request *r, void *arg);  /* POST clusters/X/answers */
void tunnel_log(struct server_request *r, void *arg);      /* GET jobs/X/log */

#endif
