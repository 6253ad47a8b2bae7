#include "base/lines.h"

#include <string.h>

void lines_init(struct lines *l, size_t limit)
{
	*l = (struct lines){.begun.limit = limit};
}

void lines_finish(struct lines *l)
{
	strbuf_finish(&l->begun);
}

void lines_clear(struct lines *l)
{
	strbuf_clear(&l->begun);
	l->overlong = false;
}

/* What comes in one piece is told where it lies. */
static void end_line(struct lines *l, const char *bytes, size_t n, lines_fn fn, void *arg)
{
	if (!l->begun.size && n <= l->begun.limit) {
		fn(bytes, n, arg);
		return;
	}
	strbuf_add(&l->begun, bytes, n);
	if (!l->begun.truncated)
		fn(l->begun.bytes, l->begun.size, arg);
	l->overlong = l->overlong || l->begun.truncated;
	strbuf_clear(&l->begun);
}

void lines_feed(struct lines *l, const char *bytes, size_t n, lines_fn fn, void *arg)
{
	const char *end;

	while ((end = memchr(bytes, '\n', n))) {
		size_t size = (size_t)(end - bytes);

		end_line(l, bytes, size, fn, arg);
		bytes += size + 1;
		n -= size + 1;
	}
	if (n)
		strbuf_add(&l->begun, bytes, n);
	l->overlong = l->overlong || l->begun.truncated;
}
