/* Tells in the log that the state store does not answer, once, and that it answers again. */
#ifndef FEDERATOR_OUTAGE_H
#define FEDERATOR_OUTAGE_H

struct loop;
struct outage;
struct store;

struct outage *outage_create(struct loop *loop, struct store *store);
/* Before the store. */
void outage_destroy(struct outage *o);

#endif
