/* How objects of a kind are listed: jobs by a layout of their own, others by their table columns or
 * by those of a command. */
#ifndef FEDCTL_LAYOUT_H
#define FEDCTL_LAYOUT_H

#include <jansson.h>
#include <stdint.h>

#include "api/kind.h"
#include "base/mem.h"
#include "fedctl/table.h"

struct layout_column {
	const char *header; /* NULL: there are no more */
	const char *(*cell)(struct arena *a, const json_t *object,
			    int64_t now_ns); /* NULL: empty */
};

struct layout {
	const struct kind *kind;
	const struct layout_column *columns; /* of a command, the name first, then a state; NULL */
	bool namespaces;                     /* a column for them */
	bool wide;                           /* more columns, absolute times */
	bool growing;                        /* rows come later that may fill any column */
};

struct table *layout_table(const struct layout *l);
void layout_add(const struct layout *l, struct table *t, const json_t *object, int64_t now_ns);
/* A row that says that the object is gone. */
void layout_add_deleted(const struct layout *l, struct table *t, const json_t *object);

#endif
