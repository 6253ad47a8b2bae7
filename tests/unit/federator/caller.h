/* A client of the bed's server: an administrator, or the agent of a cluster. */
#ifndef TESTS_UNIT_FEDERATOR_CALLER_H
#define TESTS_UNIT_FEDERATOR_CALLER_H

#include "bed.h"

struct caller;

struct caller *caller_create(struct bed *b, const char *user, const char *group);
void caller_destroy(struct caller *c);
void caller_set_term(struct caller *c, const char *term); /* header Federator-Term; NULL: none */

/* The status of the answer, whose body caller_body() is, until the next call. body is YAML; NULL:
 * none. That of a PATCH is a JSON patch when it is a list. */
int caller_call(struct caller *c, const char *method, const char *path, const char *body);
/* The warnings of that answer, each a line. */
const char *caller_warnings(const struct caller *c);
const json_t *caller_body(const struct caller *c);

#endif
