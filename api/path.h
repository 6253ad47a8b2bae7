/*
 * The path to the value in hand, as error texts name it: spec.tasks[1].resources[nvidia.com/gpu].
 * Frames lie on the walker's stack, so that a walk that finds nothing wrong builds no strings.
 */
#ifndef API_PATH_H
#define API_PATH_H

#include "api/status.h"
#include "base/strbuf.h"

struct path {
	const struct path *up; /* NULL at the top */
	const char *field;     /* .field */
	const char *key;       /* or [key], of a map */
	size_t index;          /* or [index] */
};

#define PATH_FIELD(up_, name) (&(const struct path){.up = (up_), .field = (name)})
#define PATH_KEY(up_, name)   (&(const struct path){.up = (up_), .key = (name)})
#define PATH_INDEX(up_, i)    (&(const struct path){.up = (up_), .index = (i)})

void path_write(const struct path *p, struct strbuf *out); /* NULL: nothing */

/* causes_add() with the path written out and the value as its JSON text (objects and arrays by the
 * name of their type, long texts cut); value may be NULL. */
void causes_add_at(struct causes *c, enum cause_type type, const struct path *at,
		   const json_t *value, const char *detail, ...)
	__attribute__((format(printf, 5, 6)));

/* At this many causes walkers stop: nobody reads more, and one request must not make a million. */
#define CAUSES_ENOUGH 32

#endif
