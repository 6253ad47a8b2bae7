/*
 * What the clusters could hold when empty, on a replica that does not lead: as their objects in the
 * cache say. The leader knows it from its agents' reports, some seconds sooner.
 */
#ifndef FEDERATOR_CAPABLE_H
#define FEDERATOR_CAPABLE_H

#include "federator/hub.h"
#include "scheduler/fleet.h"

struct capable;

struct capable *capable_create(const struct hub *hub);
void capable_destroy(struct capable *c); /* NULL: nothing */

/* All clusters as the cache has them now, for fleet_fits(): nothing else is in it. Borrowed until
 * the loop turns. */
struct fleet *capable_fleet(struct capable *c);

#endif
