/* Cuts a stream into lines, wherever the pieces that it comes in are cut. */
#ifndef BASE_LINES_H
#define BASE_LINES_H

#include <stdbool.h>
#include <stddef.h>

#include "base/strbuf.h"

struct lines {
	struct strbuf begun; /* a line whose end has not come; its limit is that of every line */
	bool overlong;       /* a line was left out, because it is over the limit */
};

typedef void (*lines_fn)(const char *line, size_t n, void *arg);

void lines_init(struct lines *l, size_t limit); /* bytes of a line, its end not counted */
void lines_finish(struct lines *l);
void lines_clear(struct lines *l); /* for another stream */
/* Tells each line that these bytes complete: without its '\n', not NUL-terminated, and only until
 * fn returns. fn must not feed, clear or finish l. */
void lines_feed(struct lines *l, const char *bytes, size_t n, lines_fn fn, void *arg);

#endif
