/* Small encodings: base64, hex, SHA-256, UUIDs, numbers, RFC 3339 times, percent-encoding. */
#ifndef BASE_ENCODE_H
#define BASE_ENCODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/strbuf.h"

struct env;

void base64_encode(struct strbuf *out, const void *bytes, size_t n); /* standard, padded */
/* Strict (standard alphabet, padded). Appends to out; -1 on bad input, out unchanged. */
int base64_decode(struct strbuf *out, const char *text, size_t n);

void hex_encode(char *out, const void *bytes, size_t n); /* out: 2n + 1 bytes, lower case */
void sha256_hex(const void *bytes, size_t n, char out[65]);

#define UUID_SIZE 37
void uuid_make(struct env *env, char out[UUID_SIZE]); /* version 4 */

#define TIME_SIZE 32
/* "2026-11-29T17:46:46Z", and with six decimals for Lease times. */
void time_format(char out[TIME_SIZE], int64_t wall_ns);
void time_format_micro(char out[TIME_SIZE], int64_t wall_ns);
/* RFC 3339 with any fraction (cut at nanoseconds) and offset; -1 when malformed or not in the
 * years 1678 to 2261, which is what 64 bits of nanoseconds hold. */
int time_parse(const char *text, int64_t *ret_wall_ns);

/* From one time to another: as much as fits where they lie more than 292 years apart. */
int64_t time_between(int64_t from_ns, int64_t to_ns);

/* Decimal digits, perhaps behind a minus; -1 on anything else. */
int int64_parse(const char *text, int64_t *ret);

/* "1h30m", "90s", "250ms" (Go's duration grammar) to nanoseconds; -1 when malformed. */
int duration_parse(const char *text, int64_t *ret_ns);
/* The short form people read, by kubectl's steps: "41m", "3h20m", "2d4h"; under 1 s "0s". */
void duration_format(char out[TIME_SIZE], int64_t ns);

void percent_encode(struct strbuf *out, const char *s); /* keeps RFC 3986 unreserved */
/* Appends to out; -1 on a malformed escape or a NUL, out unchanged. */
int percent_decode(struct strbuf *out, const char *s, size_t n, bool plus_is_space);

/* True for well-formed UTF-8 without overlong forms or surrogates. */
bool utf8_valid(const char *s, size_t n);
/* Bytes of the character that s begins with; 0 when it is malformed or n is 0. */
size_t utf8_length(const char *s, size_t n);
size_t utf8_encode(char out[4], uint32_t c); /* returns the bytes written */
/* n, or less when the n bytes end inside a character: then where that begins. */
size_t utf8_cut(const char *s, size_t n);

#endif
