/* Subresources that the leader answers from memory; another replica sends the caller to it. */
#ifndef FEDERATOR_ROUTES_H
#define FEDERATOR_ROUTES_H

#include "federator/hub.h"

void route_capacity(struct server_request *r, void *arg); /* POST clusters/X/capacity */
void route_explain(struct server_request *r, void *arg);  /* GET jobs/X/explain */

#endif
