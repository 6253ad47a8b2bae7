/* Lists that say more of a kind than its table columns do. */
#ifndef FEDCTL_LISTING_H
#define FEDCTL_LISTING_H

#include <jansson.h>

#include "base/mem.h"
#include "fedctl/session.h"

struct listing_column {
	const char *header;
	const char *(*cell)(struct arena *a, const json_t *object, int64_t now_ns);
};

/* All objects of a kind without namespaces, or as -o says. Columns end with a NULL header. Returns
 * the exit code. */
int run_listing(struct session *s, const struct kind *kind, const struct listing_column *columns);

const char *listing_name(struct arena *a, const json_t *object, int64_t now_ns);
const char *listing_number(struct arena *a, const json_t *value); /* NULL when absent */
/* "cpu 12, memory 40Gi": cpu, memory and devices; NULL when there are none. */
const char *listing_amounts(struct arena *a, const json_t *amounts);

#endif
