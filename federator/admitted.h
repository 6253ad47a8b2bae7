/*
 * The jobs that were admitted here last, as they were read: a leader that admits a job need not
 * parse it again when the event of its creation comes a moment later.
 */
#ifndef FEDERATOR_ADMITTED_H
#define FEDERATOR_ADMITTED_H

#include "api/views.h"

struct admitted;

struct admitted *admitted_create(void);
void admitted_destroy(struct admitted *a); /* NULL: nothing */

/* job: of the whole object that is about to be stored, which nothing changes any more but its
 * resourceVersion; its uid was made for this one attempt to create it. */
void admitted_add(struct admitted *a, struct job *take_job);
/* The job of this uid and document, if nothing was written since its creation: the caller's. NULL:
 * not here. */
struct job *admitted_take(struct admitted *a, const struct doc *doc, const char *uid);

#endif
