/* JSON trees by chance, for round-trip tests: mean strings, mean keys, all types. */
#ifndef TEST_BASE_GENERATE_H
#define TEST_BASE_GENERATE_H

#include <jansson.h>

#include "tests/unit/property.h"

json_t *generate_json(struct draw *d, unsigned depth);

#endif
