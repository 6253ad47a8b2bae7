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
	const unsigned char *p = bytes;

	for (; n >= 3; n -= 3, p += 3) {
		char four[4] = {
			base64_alphabet[p[0] >> 2],
			base64_alphabet[(p[0] & 3) << 4 | p[1] >> 4],
			base64_alphabet[(p[1] & 15) << 2 | p[2] >> 6],
			base64_alphabet[p[2] & 63],
		};

		strbuf_add(out, four, 4);
	}
	if (n) {
		unsigned char second = n == 2 ? p[1] : 0;
		char four[4] = {
			base64_alphabet[p[0] >> 2],
			base64_alphabet[(p[0] & 3) << 4 | second >> 4],
			n == 2 ? base64_alphabet[(second & 15) << 2] : '=',
			'=',
		};

		strbuf_add(out, four, 4);
	}
}

static int base64_value(char c)
{
	if (c >= 'A' && c <= 'Z')
		return c - 'A';
	if (c >= 'a' && c <= 'z')
		return c - 'a' + 26;
	if (c >= '0' && c <= '9')
		return c - '0' + 52;
	return c == '+' ? 62 : c == '/' ? 63 : -1;
}

/* Bytes in the group of four, 0 when it is malformed; unused bits must be zero. */
static int base64_group(const char *four, bool last, unsigned char out[3])
{
	int n = !last || four[3] != '=' ? 3 : four[2] != '=' ? 2 : 1;
	unsigned bits = 0;

	for (int i = 0; i < 4; i++) {
		int value = i <= n ? base64_value(four[i]) : 0;

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

	if (n % 4)
		return -1;
	for (size_t i = 0; i < n; i += 4) {
		unsigned char three[3];
		int got = base64_group(text + i, i + 4 == n, three);

		if (!got) {
			strbuf_shrink(out, before);
			return -1;
		}
		strbuf_add(out, three, (size_t)got);
	}
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
