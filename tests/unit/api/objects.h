/* Objects for tests: written as YAML, changed by path, judged as lines of text. */
#ifndef TESTS_UNIT_API_OBJECTS_H
#define TESTS_UNIT_API_OBJECTS_H

#include <jansson.h>

#include "api/kind.h"

/* The one document of the text; fails the test when it is not good. The caller owns it. */
json_t *object_from_yaml(const char *yaml);
/* Puts a value, as YAML, at a path: "spec.tasks[0].replicas". value NULL removes. What is on the
 * way must be there, but for the last step; an index at the end of an array adds to it. */
void object_set(json_t *object, const char *path, const char *value);
/* "field: message\n" for each cause, in order; freed by the caller. */
char *causes_lines(const struct causes *c);
/* kind_validate() of an object after kind_default(), as lines; freed by the caller. */
char *object_mistakes(json_t *object, const json_t *old);
/* A Job of one task "worker" with three replicas and one container. */
json_t *sample_job(void);

#endif
