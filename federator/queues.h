/* The queue controller of the leader: Queue.status, written on change, at most once a second. */
#ifndef FEDERATOR_QUEUES_H
#define FEDERATOR_QUEUES_H

#include "api/views.h"
#include "federator/hub.h"

#define QUEUES_PERIOD_MS 1000

struct queues;

struct queues *queues_create(struct hub *hub);
void queues_destroy(struct queues *q); /* after the server and the store */

/* Row of controllers.c. */
void queues_changed(struct hub *hub, struct doc *doc, struct doc *prev);
void queues_follow(struct hub *hub);

/* A job of the queue went from one phase to another. A new job comes from DISPATCH_ENDED, one that
 * is gone goes to it: the ended are not counted. */
void queues_count(struct hub *hub, const char *queue, enum dispatch_phase from,
		  enum dispatch_phase to);

#endif
