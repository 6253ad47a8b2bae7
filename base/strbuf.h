/* A growing byte string with a hard limit; always NUL-terminated. */
#ifndef BASE_STRBUF_H
#define BASE_STRBUF_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct strbuf {
	char *bytes; /* NULL until the first byte is added */
	size_t size, cap;
	size_t limit;   /* 0: none */
	bool truncated; /* something was dropped because of the limit */
};

void strbuf_add(struct strbuf *b, const void *bytes, size_t n);
void strbuf_adds(struct strbuf *b, const char *s);
void strbuf_addc(struct strbuf *b, char c);
void strbuf_addi(struct strbuf *b, int64_t n); /* decimal */
void strbuf_addf(struct strbuf *b, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void strbuf_vaddf(struct strbuf *b, const char *fmt, va_list ap)
	__attribute__((format(printf, 2, 0)));
/* Adds n bytes, which the caller writes where this points. Not for a buffer with a limit. */
char *strbuf_extend(struct strbuf *b, size_t n);
void strbuf_consume(struct strbuf *b, size_t n);   /* drops the first n bytes */
void strbuf_shrink(struct strbuf *b, size_t size); /* drops what is behind the first size bytes */
void strbuf_clear(struct strbuf *b);               /* empties it, keeps the memory */
void strbuf_finish(struct strbuf *b);              /* frees */
const char *strbuf_str(const struct strbuf *b);    /* "" when empty */
char *strbuf_take(struct strbuf *b);               /* caller frees; never NULL; b is empty after */

#define auto_strbuf __attribute__((cleanup(strbuf_finish))) struct strbuf

#endif
