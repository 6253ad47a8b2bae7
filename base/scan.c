#include "base/scan.h"

#include <endian.h>
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/encode.h"

#define SCAN_DEPTH      64    /* of what is read into trees */
#define SCAN_DEPTH_DEEP 10000 /* as much as a Kubernetes API server lets through */
#define EACH_BYTE(b)    (0x0101010101010101ULL * (b))

bool sv_eq(struct sv v, const char *s)
{
	return strlen(s) == v.n && !memcmp(v.p, s, v.n);
}

static bool scan_fail(struct scan *s, const char *why)
{
	if (!s->failed) {
		s->failed = true;
		s->why = why;
	}
	return false;
}

void scan_init(struct scan *s, const char *bytes, size_t n)
{
	*s = (struct scan){.at = bytes, .end = bytes + n, .max_depth = SCAN_DEPTH};
}

void scan_init_deep(struct scan *s, const char *bytes, size_t n)
{
	scan_init(s, bytes, n);
	s->max_depth = SCAN_DEPTH_DEEP;
}

static inline bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* The next byte that is not white space; 0 at the end. */
static inline char next_byte(struct scan *s)
{
	while (s->at < s->end) {
		if (*s->at != ' ' && *s->at != '\n' && *s->at != '\r' && *s->at != '\t')
			return *s->at;
		s->at++;
	}
	return '\0';
}

enum scan_type scan_peek(struct scan *s)
{
	char c = s->failed ? '\0' : next_byte(s);

	switch (c) {
	case 'n':
		return SCAN_NULL;
	case 't':
	case 'f':
		return SCAN_BOOL;
	case '"':
		return SCAN_STRING;
	case '[':
		return SCAN_ARRAY;
	case '{':
		return SCAN_OBJECT;
	default:
		return c == '-' || is_digit(c) ? SCAN_NUMBER : SCAN_NONE;
	}
}

/* Of eight bytes, the first in the lowest bits: a bit is set in the first of those that are a
 * control character, a quote, a backslash or not ASCII. Of those behind it the borrows may tell
 * lies. */
static inline uint64_t specials(uint64_t eight)
{
	uint64_t quote = eight ^ EACH_BYTE('"'), slash = eight ^ EACH_BYTE('\\');

	return ((eight - EACH_BYTE(0x20)) | (quote - EACH_BYTE(1)) | (slash - EACH_BYTE(1)) |
		eight) &
	       EACH_BYTE(0x80);
}

static const char *skip_plain(const char *p, const char *end)
{
	uint64_t eight, found;

	while ((size_t)(end - p) >= sizeof(eight)) {
		memcpy(&eight, p, sizeof(eight));
		found = specials(le64toh(eight));
		if (found)
			return p + __builtin_ctzll(found) / 8;
		p += sizeof(eight);
	}
	while (p < end && *p != '"' && *p != '\\' && (signed char)*p >= 0x20)
		p++;
	return p;
}

/* Four hex digits at p; -1 when they are not there. */
static int32_t hex4(const char *p, const char *end)
{
	int32_t value = 0;

	if (end - p < 4)
		return -1;
	for (int i = 0; i < 4; i++) {
		char c = p[i] | 0x20;

		if (is_digit(p[i]))
			value = value << 4 | (p[i] - '0');
		else if (c >= 'a' && c <= 'f')
			value = value << 4 | (c - 'a' + 10);
		else
			return -1;
	}
	return value;
}

/* The character that the \u at p stands for, a surrogate pair joined; -1 when malformed. */
static int32_t unicode_escape(const char *p, const char *end, size_t *ret_used)
{
	int32_t c = end - p >= 6 ? hex4(p + 2, end) : -1, low;

	*ret_used = 6;
	if (c < 0xd800 || c > 0xdfff)
		return c;
	if (c > 0xdbff || end - p < 12 || p[6] != '\\' || p[7] != 'u')
		return -1;
	low = hex4(p + 8, end);
	if (low < 0xdc00 || low > 0xdfff)
		return -1;
	*ret_used = 12;
	return 0x10000 + ((c - 0xd800) << 10) + (low - 0xdc00);
}

/* The byte that a backslash and c stand for; 0 when it is no short escape. */
static char short_escape(char c)
{
	static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";
	const char *found = c ? strchr(from, c) : NULL;

	return found ? to[found - from] : '\0';
}

/* Behind the escape or the non-ASCII character at s->at; fails on everything else but a quote. */
static bool skip_special(struct scan *s)
{
	size_t used;

	if (s->at == s->end)
		return scan_fail(s, "the string does not end");
	if ((unsigned char)*s->at < 0x20)
		return scan_fail(s, "control character in a string");
	if (*s->at != '\\') {
		used = utf8_length(s->at, (size_t)(s->end - s->at));
		if (!used)
			return scan_fail(s, "invalid UTF-8");
	} else if (s->end - s->at > 1 && s->at[1] == 'u') {
		if (unicode_escape(s->at, s->end, &used) < 0)
			return scan_fail(s, "malformed \\u escape");
	} else {
		if (s->end - s->at < 2 || !short_escape(s->at[1]))
			return scan_fail(s, "unknown escape in a string");
		used = 2;
	}
	s->at += used;
	return true;
}

/* s->at is behind the opening quote. */
static bool string_rest(struct scan *s, struct sv *ret_raw)
{
	const char *start = s->at;

	for (;;) {
		s->at = skip_plain(s->at, s->end);
		if (s->at < s->end && *s->at == '"')
			break;
		if (!skip_special(s))
			return false;
	}
	*ret_raw = (struct sv){start, (size_t)(s->at - start)};
	s->at++;
	return true;
}

bool scan_string(struct scan *s, struct sv *ret_raw)
{
	if (s->failed)
		return false;
	if (next_byte(s) != '"')
		return scan_fail(s, "expected a string");
	s->at++;
	return string_rest(s, ret_raw);
}

void sv_unescape(struct sv raw, struct strbuf *out)
{
	const char *p = raw.p, *end = raw.p + raw.n;

	while (p < end) {
		const char *slash = memchr(p, '\\', (size_t)(end - p));
		char utf8[4];
		size_t used = 2;

		strbuf_add(out, p, (size_t)((slash ? slash : end) - p));
		if (!slash)
			return;
		if (slash[1] == 'u') {
			int32_t c = unicode_escape(slash, end, &used);

			strbuf_add(out, utf8, utf8_encode(utf8, (uint32_t)c));
		} else {
			strbuf_addc(out, short_escape(slash[1]));
		}
		p = slash + used;
	}
}

static bool begin(struct scan *s, char open, const char *why)
{
	if (s->failed)
		return false;
	if (next_byte(s) != open)
		return scan_fail(s, why);
	if (s->depth == s->max_depth)
		return scan_fail(s, s->max_depth == SCAN_DEPTH ? "nested deeper than 64 levels"
							       : "nested deeper than 10000 levels");
	s->at++;
	s->depth++;
	s->first = true;
	return true;
}

/* Behind the comma before the next member, or behind the closing bracket (then false). */
static bool next_member(struct scan *s, char close, const char *why)
{
	char c;

	if (s->failed)
		return false;
	c = next_byte(s);
	if (c == close) {
		s->at++;
		s->depth--;
		s->first = false;
		return false;
	}
	if (s->first) {
		s->first = false;
		return true;
	}
	if (c != ',')
		return scan_fail(s, why);
	s->at++;
	return true;
}

bool scan_object_begin(struct scan *s)
{
	return begin(s, '{', "expected an object");
}

bool scan_array_begin(struct scan *s)
{
	return begin(s, '[', "expected an array");
}

bool scan_key(struct scan *s, struct sv *ret_key)
{
	struct sv key;

	if (!next_member(s, '}', "expected ',' or '}'"))
		return false;
	if (next_byte(s) != '"')
		return scan_fail(s, "expected a key in quotes");
	s->at++;
	if (!string_rest(s, &key))
		return false;
	if (next_byte(s) != ':')
		return scan_fail(s, "expected ':'");
	s->at++;
	*ret_key = key;
	return true;
}

bool scan_element(struct scan *s)
{
	if (!next_member(s, ']', "expected ',' or ']'"))
		return false;
	return scan_peek(s) != SCAN_NONE || scan_fail(s, "expected a value");
}

/* RFC 8259: -?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][-+]?[0-9]+)? */
static bool skip_number(struct scan *s, bool *ret_whole)
{
	const char *p = s->at, *end = s->end, *digits;

	*ret_whole = true;
	if (*p == '-')
		p++;
	digits = p;
	while (p < end && is_digit(*p))
		p++;
	if (p == digits || (*digits == '0' && p - digits > 1))
		return scan_fail(s, "malformed number");
	if (p < end && *p == '.') {
		*ret_whole = false;
		for (digits = ++p; p < end && is_digit(*p); p++)
			;
		if (p == digits)
			return scan_fail(s, "malformed number");
	}
	if (p < end && (*p | 0x20) == 'e') {
		*ret_whole = false;
		p++;
		if (p < end && (*p == '+' || *p == '-'))
			p++;
		for (digits = p; p < end && is_digit(*p); p++)
			;
		if (p == digits)
			return scan_fail(s, "malformed number");
	}
	s->at = p;
	return true;
}

static bool skip_word(struct scan *s, const char *word)
{
	size_t n = strlen(word);

	if ((size_t)(s->end - s->at) < n || memcmp(s->at, word, n))
		return scan_fail(s, "expected a value");
	s->at += n;
	return true;
}

static bool skip_scalar(struct scan *s, enum scan_type type)
{
	struct sv raw;
	bool whole;

	switch (type) {
	case SCAN_STRING:
		s->at++;
		return string_rest(s, &raw);
	case SCAN_NUMBER:
		return skip_number(s, &whole);
	case SCAN_NULL:
		return skip_word(s, "null");
	case SCAN_BOOL:
		return skip_word(s, *s->at == 't' ? "true" : "false");
	default:
		return scan_fail(s, s->at == s->end ? "unexpected end" : "expected a value");
	}
}

/* Not recursive; bit d of `objects` says that the container at depth d is an object. */
static bool skip_value(struct scan *s, uint64_t *objects)
{
	unsigned base = s->depth;
	struct sv key;

	do {
		enum scan_type type = scan_peek(s);
		uint64_t *word = &objects[s->depth / 64], bit = 1ULL << (s->depth % 64);

		if (type == SCAN_OBJECT && scan_object_begin(s))
			*word |= bit;
		else if (type == SCAN_ARRAY && scan_array_begin(s))
			*word &= ~bit;
		else
			skip_scalar(s, type);
		/* leave all containers that end here; stop before the next value */
		while (!s->failed && s->depth > base) {
			unsigned d = s->depth - 1;

			if (objects[d / 64] >> (d % 64) & 1 ? scan_key(s, &key) : scan_element(s))
				break;
		}
	} while (!s->failed && s->depth > base);
	return !s->failed;
}

static bool skip_deep(struct scan *s)
{
	uint64_t objects[SCAN_DEPTH_DEEP / 64 + 1] = {0};

	return skip_value(s, objects);
}

static bool skip_nested(struct scan *s)
{
	uint64_t objects[2] = {0}; /* one bit more than SCAN_DEPTH: of what is then refused */

	return s->max_depth > SCAN_DEPTH ? skip_deep(s) : skip_value(s, objects);
}

bool scan_skip(struct scan *s)
{
	enum scan_type type = scan_peek(s);

	return type == SCAN_OBJECT || type == SCAN_ARRAY ? skip_nested(s) : skip_scalar(s, type);
}

bool scan_raw(struct scan *s, struct sv *ret_value)
{
	const char *start;

	if (s->failed)
		return false;
	next_byte(s);
	start = s->at;
	if (!scan_skip(s))
		return false;
	*ret_value = (struct sv){start, (size_t)(s->at - start)};
	return true;
}

static bool parse_int64(struct sv text, int64_t *ret)
{
	char copy[24], *end;
	long long value;

	if (!text.n || text.n >= sizeof(copy) || !(is_digit(*text.p) || *text.p == '-'))
		return false;
	memcpy(copy, text.p, text.n);
	copy[text.n] = '\0';
	errno = 0;
	value = strtoll(copy, &end, 10);
	if (errno || end != copy + text.n)
		return false;
	*ret = value;
	return true;
}

bool scan_int64(struct scan *s, int64_t *ret)
{
	const char *start;
	struct sv text;
	bool whole = true;

	if (scan_peek(s) == SCAN_STRING) {
		if (!scan_string(s, &text))
			return false;
	} else {
		start = s->at;
		if (scan_peek(s) != SCAN_NUMBER)
			return scan_fail(s, "expected an integer");
		if (!skip_number(s, &whole))
			return false;
		text = (struct sv){start, (size_t)(s->at - start)};
	}
	return (whole && parse_int64(text, ret)) || scan_fail(s, "expected an integer of 64 bits");
}

bool scan_bool(struct scan *s, bool *ret)
{
	bool value;

	if (scan_peek(s) != SCAN_BOOL)
		return scan_fail(s, "expected true or false");
	value = *s->at == 't';
	if (!skip_word(s, value ? "true" : "false"))
		return false;
	*ret = value;
	return true;
}

bool scan_end(struct scan *s)
{
	if (s->failed)
		return false;
	next_byte(s);
	return s->at == s->end || scan_fail(s, "something follows the value");
}

static bool find_member(struct sv object, const char *name, struct sv *ret_value)
{
	struct scan s;
	struct sv key;

	scan_init_deep(&s, object.p, object.n);
	if (scan_peek(&s) != SCAN_OBJECT)
		return false;
	scan_object_begin(&s);
	while (scan_key(&s, &key)) {
		if (sv_eq(key, name))
			return scan_raw(&s, ret_value);
		scan_skip(&s);
	}
	return false;
}

static bool find_path(struct sv object, struct sv *ret_value, va_list path)
{
	const char *name;

	while ((name = va_arg(path, const char *)))
		if (!find_member(object, name, &object))
			return false;
	*ret_value = object;
	return true;
}

bool scan_find(struct sv object, struct sv *ret_value, ...)
{
	va_list path;
	bool found;

	va_start(path, ret_value);
	found = find_path(object, ret_value, path);
	va_end(path);
	return found;
}

bool scan_find_str(struct sv object, struct sv *ret_text, ...)
{
	struct sv value;
	va_list path;
	bool found;

	va_start(path, ret_text);
	found = find_path(object, &value, path);
	va_end(path);
	if (!found || *value.p != '"' || memchr(value.p, '\\', value.n))
		return false;
	*ret_text = (struct sv){value.p + 1, value.n - 2};
	return true;
}
