/* The leader compacts the store every minute, five minutes behind: history is for watches only. */
#ifndef FEDERATOR_COMPACTOR_H
#define FEDERATOR_COMPACTOR_H

#include "federator/hub.h"

#define COMPACT_PERIOD_MS 60000
#define COMPACT_BEHIND    5 /* periods; etcd 3.4 may lose events near a compaction that is closer */

struct compactor;

struct compactor *compactor_create(struct hub *hub);
void compactor_destroy(struct compactor *c);

#endif
