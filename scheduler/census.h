/*
 * Which labels make classes: a census of label keys and values over the nodes of a cluster, and the
 * rule of docs/design/0001-scheduling-core.md.
 */
#ifndef SCHEDULER_CENSUS_H
#define SCHEDULER_CENSUS_H

#include <stdbool.h>
#include <stddef.h>

#include "api/views.h"
#include "base/map.h"

#define CENSUS_VALUES_MAX   8   /* of a key that nothing refers to */
#define CENSUS_REFERRED_MAX 64  /* of a key that a job refers to */
#define CENSUS_CLASSES_MAX  256 /* beyond, only keys that are known or referred to count */

struct census_key {
	char *key;
	struct census_value *values;
	bool referred, shown; /* shown: its values make classes */
	UT_hash_handle hh;
};

struct census {
	struct census_key *keys;
	bool strict; /* there were too many classes */
};

void census_finish(struct census *c);
void census_count(struct census *c, const struct label *labels, size_t n, int times); /* 1, -1 */
void census_refer(struct census *c, const char *key); /* a key on no node: nothing */
/* Applies the rule; true when a key's values began or ceased to make classes. */
bool census_update(struct census *c);
/* The value that stands in the class: the label's own, or LABEL_BY_NODE. */
const char *census_value(const struct census *c, const struct label *l);

#endif
