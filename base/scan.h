/*
 * A pull scanner over JSON bytes that are complete in memory: no tree, no allocation. For what is
 * hot or large: watch lines, list pages. Strict RFC 8259, depth at most 64.
 *
 *	struct scan s;
 *	scan_init(&s, bytes, n);
 *	scan_object_begin(&s);
 *	while (scan_key(&s, &key))
 *		if (sv_eq(key, "kv")) ... else scan_skip(&s);
 *
 * Every key must be followed by one call that takes its value. Keys are compared as they are
 * written, escapes included. The first error sticks (s.failed, s.why); all calls are no-ops that
 * return false after it.
 */
#ifndef BASE_SCAN_H
#define BASE_SCAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/strbuf.h"

/* A view of bytes that somebody else owns; not NUL-terminated. */
struct sv {
	const char *p;
	size_t n;
};

bool sv_eq(struct sv v, const char *s);
/* Appends the text of a string that a scan gave raw, and so checked. */
void sv_unescape(struct sv raw, struct strbuf *out);

enum scan_type {
	SCAN_NONE,
	SCAN_NULL,
	SCAN_BOOL,
	SCAN_NUMBER,
	SCAN_STRING,
	SCAN_ARRAY,
	SCAN_OBJECT
};

struct scan {
	const char *at, *end;
	unsigned depth, max_depth;
	bool failed;
	const char *why; /* what was wrong at `at`; a constant */
	bool first;      /* nothing of the present container was read yet */
};

void scan_init(struct scan *s, const char *bytes, size_t n);
/* The same to a depth of 10,000: to pass over what others have written; nothing of it may become a
 * tree without being scanned again. scan_find() and scan_find_str() look as deep. */
void scan_init_deep(struct scan *s, const char *bytes, size_t n);
enum scan_type scan_peek(struct scan *s); /* type of the next value */
bool scan_object_begin(struct scan *s);
bool scan_key(struct scan *s, struct sv *ret_key); /* false: the object ended (or failed) */
bool scan_array_begin(struct scan *s);
bool scan_element(struct scan *s); /* true: a value follows; false: the array ended */
bool scan_raw(struct scan *s, struct sv *ret_value);  /* the bytes of the next value, checked */
bool scan_string(struct scan *s, struct sv *ret_raw); /* between the quotes, escapes as they are */
bool scan_int64(struct scan *s, int64_t *ret);        /* a number, or a number in a string */
bool scan_bool(struct scan *s, bool *ret);
bool scan_skip(struct scan *s);
bool scan_end(struct scan *s); /* only white space is left */

/* Finds a member by path in an object: scan_find(bytes, &v, "metadata", "name", NULL). The first of
 * duplicate keys; what comes behind it is not checked. */
bool scan_find(struct sv object, struct sv *ret_value, ...) __attribute__((sentinel));
/* The same for a string without escapes in it; false when absent or escaped. */
bool scan_find_str(struct sv object, struct sv *ret_text, ...) __attribute__((sentinel));

#endif
