/* Random JSON trees from a seed, for round-trip tests: mean strings, mean keys, all types. */
#ifndef TEST_BASE_GENERATE_H
#define TEST_BASE_GENERATE_H

#include <jansson.h>

#include "base/loop.h"

json_t *generate_json(struct env *env, unsigned depth);

#endif
