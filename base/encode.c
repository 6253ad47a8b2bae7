/* Base64, hex, SHA-256, UUIDs, percent-encoding, UTF-8. Times are in time.c. */
#include "base/encode.h"

#include <ctype.h>
#include <errno.h>
#include <openssl/evp.h>
#include <stdlib.h>
#include <string.h>

#include "base/loop.h"

static const char base64_alphabet[] =
	"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
static const char hex_digits[] = "0123456789abcdef";

void base64_encode(struct strbuf *out, const void *bytes, size_t n)
{
	char *to = strbuf_extend(out, (n + 2) / 3 * 4);
	const unsigned char *p = bytes;

	for (; n >= 3; n -= 3, p += 3) {
		*to++ = base64_alphabet[p[0] >> 2];
		*to++ = base64_alphabet[(p[0] & 3) << 4 | p[1] >> 4];
		*to++ = base64_alphabet[(p[1] & 15) << 2 | p[2] >> 6];
		*to++ = base64_alphabet[p[2] & 63];
	}
	if (n) {
		unsigned char second = n == 2 ? p[1] : 0;

		*to++ = base64_alphabet[p[0] >> 2];
		*to++ = base64_alphabet[(p[0] & 3) << 4 | second >> 4];
		*to++ = n == 2 ? base64_alphabet[(second & 15) << 2] : '=';
		*to++ = '=';
	}
}

/* One more than what each character stands for; 0: none of them. */
static const unsigned char base64_values[256] = {
	['A'] = 1,  ['B'] = 2,  ['C'] = 3,  ['D'] = 4,  ['E'] = 5,  ['F'] = 6,  ['G'] = 7,
	['H'] = 8,  ['I'] = 9,  ['J'] = 10, ['K'] = 11, ['L'] = 12, ['M'] = 13, ['N'] = 14,
	['O'] = 15, ['P'] = 16, ['Q'] = 17, ['R'] = 18, ['S'] = 19, ['T'] = 20, ['U'] = 21,
	['V'] = 22, ['W'] = 23, ['X'] = 24, ['Y'] = 25, ['Z'] = 26, ['a'] = 27, ['b'] = 28,
	['c'] = 29, ['d'] = 30, ['e'] = 31, ['f'] = 32, ['g'] = 33, ['h'] = 34, ['i'] = 35,
	['j'] = 36, ['k'] = 37, ['l'] = 38, ['m'] = 39, ['n'] = 40, ['o'] = 41, ['p'] = 42,
	['q'] = 43, ['r'] = 44, ['s'] = 45, ['t'] = 46, ['u'] = 47, ['v'] = 48, ['w'] = 49,
	['x'] = 50, ['y'] = 51, ['z'] = 52, ['0'] = 53, ['1'] = 54, ['2'] = 55, ['3'] = 56,
	['4'] = 57, ['5'] = 58, ['6'] = 59, ['7'] = 60, ['8'] = 61, ['9'] = 62, ['+'] = 63,
	['/'] = 64,
};

/* Bytes in the group of four, 0 when it is malformed; unused bits must be zero. */
static int base64_group(const char *four, bool last, unsigned char out[3])
{
	int n = !last || four[3] != '=' ? 3 : four[2] != '=' ? 2 : 1;
	unsigned bits = 0;

	for (int i = 0; i < 4; i++) {
		int value = i <= n ? base64_values[(unsigned char)four[i]] - 1 : 0;

		if (value < 0)
			return 0;
		bits = bits << 6 | (unsigned)value;
	}
	out[0] = (unsigned char)(bits >> 16);
	out[1] = (unsigned char)(bits >> 8);
	out[2] = (unsigned char)bits;
	return bits & ((1U << (24 - 8 * n)) - 1) ? 0 : n;
}

int base64_decode(struct strbuf *out, const char *text, size_t n)
{
	size_t before = out->size;
	unsigned char *to;

	if (n % 4)
		return -1;
	to = (unsigned char *)strbuf_extend(out, n / 4 * 3);
	for (size_t i = 0; i < n; i += 4) {
		int got = base64_group(text + i, i + 4 == n, to);

		if (!got) {
			strbuf_shrink(out, before);
			return -1;
		}
		to += got;
	}
	strbuf_shrink(out, (size_t)((char *)to - out->bytes));
	return 0;
}

void hex_encode(char *out, const void *bytes, size_t n)
{
	const unsigned char *p = bytes;

	for (size_t i = 0; i < n; i++) {
		out[2 * i] = hex_digits[p[i] >> 4];
		out[2 * i + 1] = hex_digits[p[i] & 15];
	}
	out[2 * n] = '\0';
}

void sha256_hex(const void *bytes, size_t n, char out[65])
{
	unsigned char digest[32];

	if (EVP_Digest(bytes, n, digest, NULL, EVP_sha256(), NULL) != 1)
		abort();
	hex_encode(out, digest, sizeof(digest));
}

void uuid_make(struct env *env, char out[UUID_SIZE])
{
	uint64_t high = env_random(env), low = env_random(env);

	high = (high & ~0xf000ULL) | 0x4000ULL;
	low = (low & ~(3ULL << 62)) | 2ULL << 62;
	snprintf(out, UUID_SIZE, "%08x-%04x-%04x-%04x-%012llx", (unsigned)(high >> 32),
		 (unsigned)(high >> 16) & 0xffff, (unsigned)high & 0xffff, (unsigned)(low >> 48),
		 (unsigned long long)(low & 0xffffffffffffULL));
}

static bool is_unreserved(char c)
{
	return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') ||
	       c == '-' || c == '.' || c == '_' || c == '~';
}

int int64_parse(const char *text, int64_t *ret)
{
	const char *digits = text + (*text == '-');
	long long value;
	char *end;

	if (!isdigit((unsigned char)*digits))
		return -1;
	errno = 0;
	value = strtoll(text, &end, 10);
	if (errno || *end)
		return -1;
	*ret = value;
	return 0;
}

void percent_encode(struct strbuf *out, const char *s)
{
	for (; *s; s++) {
		if (is_unreserved(*s))
			strbuf_addc(out, *s);
		else
			strbuf_addf(out, "%%%02X", (unsigned char)*s);
	}
}

static int hex_value(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c |= 0x20;
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* The byte that %XX at s stands for; 0 when it is malformed, or is %00. */
static char percent_byte(const char *s, size_t n)
{
	int high = n >= 3 ? hex_value(s[1]) : -1;
	int low = n >= 3 ? hex_value(s[2]) : -1;

	return high < 0 || low < 0 ? '\0' : (char)(high << 4 | low);
}

int percent_decode(struct strbuf *out, const char *s, size_t n, bool plus_is_space)
{
	size_t before = out->size;

	while (n) {
		size_t used = *s == '%' ? 3 : 1;
		char c = *s == '%' ? percent_byte(s, n) : *s == '+' && plus_is_space ? ' ' : *s;

		if (!c) {
			strbuf_shrink(out, before);
			return -1;
		}
		strbuf_addc(out, c);
		s += used;
		n -= used;
	}
	return 0;
}
