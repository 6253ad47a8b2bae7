/*
 * Quantities by decimal digits: the text's digits are kept as an array, multiplied by the suffix in
 * place and cut at nano. No width is lost on the way, so only the end rounds and saturates.
 */
#include "api/quantity.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"

#define NANO         ((unsigned __int128)1000000000)
#define LIMIT        ((unsigned __int128)INT64_MAX * NANO)
#define CARRY_ROOM   20   /* digits that a multiplication by 2^60 may add */
#define EXPONENT_MAX 1000 /* beyond it every text of legal length has saturated or vanished */

struct digits {
	unsigned char d[CARRY_ROOM + QUANTITY_TEXT_MAX];
	size_t first, n; /* d[first] to d[n - 1], most significant first */
	int scale;       /* value = digits * 10^-scale */
};

static const struct suffix {
	char text[3];
	short exponent10, times_1024;
} suffixes[] = {
	{"n", -9, 0}, {"u", -6, 0}, {"m", -3, 0}, {"", 0, 0},   {"k", 3, 0},  {"M", 6, 0},
	{"G", 9, 0},  {"T", 12, 0}, {"P", 15, 0}, {"E", 18, 0}, {"Ki", 0, 1}, {"Mi", 0, 2},
	{"Gi", 0, 3}, {"Ti", 0, 4}, {"Pi", 0, 5}, {"Ei", 0, 6},
};
#define DECIMAL_SUFFIXES 10
#define BINARY_SUFFIX(i) suffixes[DECIMAL_SUFFIXES - 1 + (i)].text

/* Reads "12.50"; the text's length was checked. Returns the first byte behind it, or NULL. */
static const char *read_digits(const char *p, struct digits *ret)
{
	bool point = false;

	memset(ret->d, 0, CARRY_ROOM);
	ret->n = ret->first = CARRY_ROOM;
	ret->scale = 0;
	for (;; p++) {
		if (*p == '.' && !point) {
			point = true;
		} else if (isdigit((unsigned char)*p)) {
			ret->d[ret->n++] = (unsigned char)(*p - '0');
			ret->scale += point;
		} else {
			break;
		}
	}
	return ret->n > ret->first ? p : NULL;
}

/* "e3", "E-9", "e+12": the exponent, cut to +-EXPONENT_MAX. */
static int read_exponent(const char *p, int *ret)
{
	bool negative = p[1] == '-';
	int v = 0;

	p += p[1] == '-' || p[1] == '+' ? 2 : 1;
	if (!*p)
		return -1;
	for (; isdigit((unsigned char)*p); p++)
		if (v < EXPONENT_MAX)
			v = v * 10 + (*p - '0');
	if (*p)
		return -1;
	*ret = negative ? -v : v;
	return 0;
}

static int read_suffix(const char *p, int *ret_exponent10, int *ret_times_1024)
{
	for (size_t i = 0; i < ARRAY_LEN(suffixes); i++) {
		if (strcmp(suffixes[i].text, p) != 0)
			continue;
		*ret_exponent10 = suffixes[i].exponent10;
		*ret_times_1024 = suffixes[i].times_1024;
		return 0;
	}
	if (*p != 'e' && *p != 'E')
		return -1;
	*ret_times_1024 = 0;
	return read_exponent(p, ret_exponent10);
}

static void multiply_1024(struct digits *x)
{
	unsigned carry = 0;

	for (size_t i = x->n; i-- > x->first;) {
		unsigned v = x->d[i] * 1024u + carry;

		x->d[i] = (unsigned char)(v % 10);
		carry = v / 10;
	}
	for (; carry; carry /= 10)
		x->d[--x->first] = (unsigned char)(carry % 10);
}

/* The digits times 10^power, rounded away from zero, at most LIMIT. */
static unsigned __int128 cut(const struct digits *x, int power)
{
	long whole =
		(long)x->n + (power < 0 ? power : 0); /* digits from here on are the fraction */
	unsigned __int128 v = 0;
	bool fraction = false;

	for (long i = (long)x->first; i < whole && v < LIMIT; i++)
		v = v * 10 + x->d[i];
	for (size_t i = whole > (long)x->first ? (size_t)whole : x->first; i < x->n; i++)
		fraction |= x->d[i] != 0;
	for (int i = 0; i < power && v && v < LIMIT; i++)
		v *= 10;
	v += fraction;
	return v < LIMIT ? v : LIMIT;
}

int quantity_parse(const char *text, struct quantity *ret, struct error *err)
{
	size_t n = strlen(text);
	int exponent10 = 0, times_1024 = 0;
	bool negative = *text == '-';
	unsigned __int128 v;
	struct digits x;
	const char *p;

	if (n > QUANTITY_TEXT_MAX)
		return error_set(err, ERR_INVALID,
				 "a quantity has at most %d characters, this has %zu",
				 QUANTITY_TEXT_MAX, n);
	p = read_digits(*text == '-' || *text == '+' ? text + 1 : text, &x);
	if (!p || read_suffix(p, &exponent10, &times_1024) < 0)
		return error_set(err, ERR_INVALID,
				 "\"%s\" is not a quantity; write it like 500m, 1.5, 2e3 or 8Gi",
				 text);
	while (times_1024-- > 0)
		multiply_1024(&x);
	v = cut(&x, 9 + exponent10 - x.scale);
	ret->nano = negative ? -(__int128)v : (__int128)v;
	return 0;
}

int quantity_parse_json(const json_t *value, struct quantity *ret, struct error *err)
{
	auto_xfree char *text = NULL;

	if (json_is_string(value))
		return quantity_parse(json_string_value(value), ret, err);
	if (!json_is_number(value))
		return error_set(err, ERR_INVALID, "a quantity is a string or a number");
	text = json_print(value);
	return quantity_parse(text, ret, err);
}

static int64_t divide_up(__int128 nano, __int128 by)
{
	bool negative = nano < 0;
	unsigned __int128 v = negative ? -(unsigned __int128)nano : (unsigned __int128)nano;
	unsigned __int128 q = v / (unsigned __int128)by + (v % (unsigned __int128)by != 0);
	int64_t cut_to = q < INT64_MAX ? (int64_t)q : INT64_MAX;

	return negative ? -cut_to : cut_to;
}

int64_t quantity_milli(struct quantity q)
{
	return divide_up(q.nano, 1000000);
}

int64_t quantity_value(struct quantity q)
{
	return divide_up(q.nano, 1000000000);
}

static void print(char out[QUANTITY_SIZE], bool negative, unsigned __int128 v, const char *suffix)
{
	char *p = out + QUANTITY_SIZE - sizeof(suffixes[0].text);

	memmove(p, suffix, strlen(suffix) + 1);
	do
		*--p = (char)('0' + (int)(v % 10));
	while (v /= 10);
	if (negative)
		*--p = '-';
	memmove(out, p, strlen(p) + 1);
}

void quantity_format(struct quantity q, bool binary, char out[QUANTITY_SIZE])
{
	bool negative = q.nano < 0;
	unsigned __int128 v = negative ? -(unsigned __int128)q.nano : (unsigned __int128)q.nano;
	int i = 0;

	if (!v) {
		print(out, false, 0, "");
	} else if (binary && v % NANO == 0 && v / NANO >= 1024) {
		for (v /= NANO; i < 6 && v % 1024 == 0; i++)
			v /= 1024;
		print(out, negative, v, i ? BINARY_SUFFIX(i) : "");
	} else {
		for (; i < DECIMAL_SUFFIXES - 1 && v % 1000 == 0; i++)
			v /= 1000;
		print(out, negative, v, suffixes[i].text);
	}
}
