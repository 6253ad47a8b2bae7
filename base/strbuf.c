#include "base/strbuf.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

static size_t strbuf_room(struct strbuf *b, size_t n)
{
	if (b->limit && n > b->limit - b->size) {
		b->truncated = true;
		n = b->limit - b->size;
	}
	if (b->size + n + 1 > b->cap) {
		size_t cap = b->cap ? b->cap : 64;

		while (cap < b->size + n + 1)
			cap *= 2;
		b->bytes = xrealloc(b->bytes, cap, 1);
		b->cap = cap;
	}
	return n;
}

void strbuf_add(struct strbuf *b, const void *bytes, size_t n)
{
	n = strbuf_room(b, n);
	if (n)
		memcpy(b->bytes + b->size, bytes, n);
	b->size += n;
	b->bytes[b->size] = '\0';
}

void strbuf_adds(struct strbuf *b, const char *s)
{
	strbuf_add(b, s, strlen(s));
}

/* JSON is written mark by mark. */
void strbuf_addc(struct strbuf *b, char c)
{
	if (b->limit || b->size + 2 > b->cap) {
		strbuf_add(b, &c, 1);
		return;
	}
	b->bytes[b->size++] = c;
	b->bytes[b->size] = '\0';
}

char *strbuf_extend(struct strbuf *b, size_t n)
{
	assert(!b->limit);
	strbuf_room(b, n);
	b->size += n;
	b->bytes[b->size] = '\0';
	return b->bytes + b->size - n;
}

void strbuf_addi(struct strbuf *b, int64_t n)
{
	uint64_t left = n < 0 ? -(uint64_t)n : (uint64_t)n;
	char text[20], *at = text + sizeof(text);

	do {
		*--at = (char)('0' + left % 10);
		left /= 10;
	} while (left);
	if (n < 0)
		*--at = '-';
	strbuf_add(b, at, (size_t)(text + sizeof(text) - at));
}

void strbuf_addf(struct strbuf *b, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	strbuf_vaddf(b, fmt, ap);
	va_end(ap);
}

/* Most texts are short: they are put together on the stack. */
void strbuf_vaddf(struct strbuf *b, const char *fmt, va_list ap)
{
	auto_xfree char *text = NULL;
	char brief[128];
	va_list again;
	int n;

	va_copy(again, ap);
	n = vsnprintf(brief, sizeof(brief), fmt, ap);
	if (n >= (int)sizeof(brief))
		n = vasprintf(&text, fmt, again);
	va_end(again);
	if (n < 0)
		abort();
	strbuf_add(b, text ? text : brief, (size_t)n);
}

void strbuf_consume(struct strbuf *b, size_t n)
{
	if (!n)
		return;
	b->size -= n;
	memmove(b->bytes, b->bytes + n, b->size + 1);
}

void strbuf_shrink(struct strbuf *b, size_t size)
{
	if (size >= b->size)
		return;
	b->size = size;
	b->bytes[size] = '\0';
}

void strbuf_clear(struct strbuf *b)
{
	b->size = 0;
	b->truncated = false;
	if (b->bytes)
		b->bytes[0] = '\0';
}

void strbuf_finish(struct strbuf *b)
{
	free(b->bytes);
	*b = (struct strbuf){0};
}

const char *strbuf_str(const struct strbuf *b)
{
	return b->bytes ? b->bytes : "";
}

char *strbuf_take(struct strbuf *b)
{
	char *s = b->bytes ? b->bytes : xstrdup("");

	*b = (struct strbuf){0};
	return s;
}
