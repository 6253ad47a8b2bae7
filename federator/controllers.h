/*
 * Controllers of the leading replica: each event of the cache goes to the rows of its kind. On
 * leading, every document is told once as new; on following, all that was known is dropped.
 */
#ifndef FEDERATOR_CONTROLLERS_H
#define FEDERATOR_CONTROLLERS_H

#include "federator/hub.h"

struct controllers;

struct controllers *controllers_create(struct hub *hub);
void controllers_destroy(struct controllers *c);
void controllers_lead(struct controllers *c);
void controllers_follow(struct controllers *c);
bool controllers_lead_now(const struct controllers *c);

#endif
