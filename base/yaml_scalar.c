#include "base/yaml_scalar.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/mem.h"

enum word { WORD_NULL, WORD_TRUE, WORD_FALSE, WORD_NO_NUMBER };

static const struct {
	const char *text;
	enum word word;
} words[] = {
	{"", WORD_NULL},           {"~", WORD_NULL},          {"null", WORD_NULL},
	{"Null", WORD_NULL},       {"NULL", WORD_NULL},       {"true", WORD_TRUE},
	{"True", WORD_TRUE},       {"TRUE", WORD_TRUE},       {"false", WORD_FALSE},
	{"False", WORD_FALSE},     {"FALSE", WORD_FALSE},     {".inf", WORD_NO_NUMBER},
	{".Inf", WORD_NO_NUMBER},  {".INF", WORD_NO_NUMBER},  {"+.inf", WORD_NO_NUMBER},
	{"+.Inf", WORD_NO_NUMBER}, {"+.INF", WORD_NO_NUMBER}, {"-.inf", WORD_NO_NUMBER},
	{"-.Inf", WORD_NO_NUMBER}, {"-.INF", WORD_NO_NUMBER}, {".nan", WORD_NO_NUMBER},
	{".NaN", WORD_NO_NUMBER},  {".NAN", WORD_NO_NUMBER},
};
/* YAML 1.1 takes them for booleans, in any case of letters that people use. */
static const char *const old_words[] = {"y", "n", "yes", "no", "on", "off"};

static bool word_find(const char *text, size_t n, enum word *ret_word)
{
	for (size_t i = 0; i < ARRAY_LEN(words); i++) {
		if (strlen(words[i].text) != n || memcmp(words[i].text, text, n))
			continue;
		*ret_word = words[i].word;
		return true;
	}
	return false;
}

static json_t *word_value(enum word word)
{
	switch (word) {
	case WORD_NULL:
		return json_null();
	case WORD_TRUE:
		return json_true();
	case WORD_FALSE:
		return json_false();
	default:
		return NULL;
	}
}

/* How integers are written: 0x1f, 0o17, 0b11, and 017 as file modes are. */
static const struct {
	char prefix[3];
	int base;
} bases[] = {{"0x", 16}, {"0X", 16}, {"0o", 8}, {"0O", 8}, {"0b", 2}, {"0B", 2}, {"0", 8}};

static int integer_base(const char **digits)
{
	for (size_t i = 0; i < ARRAY_LEN(bases); i++) {
		size_t n = strlen(bases[i].prefix);

		if (strncmp(*digits, bases[i].prefix, n) || !(*digits)[n])
			continue;
		*digits += n;
		return bases[i].base;
	}
	return 10;
}

static bool all_digits(const char *s, int base)
{
	static const char digits[] = "0123456789abcdef0123456789ABCDEF";

	if (!*s)
		return false;
	for (; *s; s++) {
		const char *found = strchr(digits, *s);

		if (!found || (found - digits) % 16 >= base)
			return false;
	}
	return true;
}

static json_t *decimal_value(bool negative, const char *digits)
{
	double real = strtod(digits, NULL);

	return isfinite(real) ? json_real(negative ? -real : real) : NULL;
}

/* text has no underscores. NULL when it is no integer. */
static json_t *integer_value(const char *text)
{
	bool negative = *text == '-';
	const char *decimal = text + (*text == '-' || *text == '+'), *digits = decimal;
	int base = integer_base(&digits);
	unsigned long long value;

	if (!all_digits(digits, base)) {
		if (!all_digits(decimal, 10))
			return NULL;
		base = 10; /* 08 is no octal number */
		digits = decimal;
	}
	errno = 0;
	value = strtoull(digits, NULL, base);
	if (errno)
		return base == 10 ? decimal_value(negative, decimal) : NULL;
	if (value <= INT64_MAX)
		return json_integer(negative ? -(long long)value : (long long)value);
	if (negative && value == 1ULL << 63)
		return json_integer(INT64_MIN);
	return json_real(negative ? -(double)value : (double)value);
}

static const char *skip_digits(const char *s, size_t *count)
{
	for (; *s >= '0' && *s <= '9'; s++)
		++*count;
	return s;
}

/* [-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)? */
static bool is_float(const char *s)
{
	size_t mantissa = 0, exponent = 0;

	s += *s == '-' || *s == '+';
	s = skip_digits(s, &mantissa);
	if (*s == '.')
		s = skip_digits(s + 1, &mantissa);
	if (mantissa && (*s == 'e' || *s == 'E')) {
		s++;
		s += *s == '-' || *s == '+';
		s = skip_digits(s, &exponent);
		if (!exponent)
			return false;
	}
	return mantissa && !*s;
}

static char *without_underscores(const char *text, size_t n)
{
	char *copy = xmalloc(n + 1), *end = copy;

	for (size_t i = 0; i < n; i++)
		if (text[i] != '_')
			*end++ = text[i];
	*end = '\0';
	return copy;
}

/* True when it looks like a number; then *ret is its value, NULL when JSON cannot hold it. */
static bool number_find(const char *text, size_t n, json_t **ret)
{
	auto_xfree char *plain = NULL;

	if (!n || !strchr("+-.0123456789", *text) || memchr(text, '\0', n))
		return false;
	plain = without_underscores(text, n);
	*ret = integer_value(plain);
	if (*ret)
		return true;
	if (!is_float(plain))
		return false;
	*ret = decimal_value(*plain == '-', plain + (*plain == '-'));
	return true;
}

json_t *yaml_scalar_value(const char *text, size_t n)
{
	enum word word;
	json_t *number;

	if (word_find(text, n, &word))
		return word_value(word);
	if (number_find(text, n, &number))
		return number;
	return json_stringn_nocheck(text, n);
}

/* 1:30:00.5 was a number in YAML 1.1: [-+]?[0-9][0-9_]*(:[0-5]?[0-9])+(\.[0-9_]*)? */
static bool is_base_60(const char *s)
{
	size_t digits = 0, parts = 0;

	s += *s == '-' || *s == '+';
	if (!isdigit((unsigned char)*s))
		return false;
	s += strspn(s, "0123456789_");
	for (; *s == ':'; parts++) {
		digits = 0;
		s = skip_digits(s + 1, &digits);
		if (!digits || digits > 2 || (digits == 2 && s[-2] > '5'))
			return false;
	}
	if (*s == '.')
		s += 1 + strspn(s + 1, "0123456789_");
	return parts && !*s;
}

/* A date, alone or before a time of day: a timestamp to many readers. */
static bool is_date(const char *s)
{
	size_t year = 0, month = 0, day = 0;

	s = skip_digits(s, &year);
	if (year != 4 || *s != '-')
		return false;
	s = skip_digits(s + 1, &month);
	if (!month || month > 2 || *s != '-')
		return false;
	s = skip_digits(s + 1, &day);
	return day && day <= 2 && (!*s || strchr("Tt \t", *s));
}

bool yaml_scalar_ambiguous(const char *text, size_t n)
{
	json_t *value = yaml_scalar_value(text, n);
	bool string = json_is_string(value);

	json_decref(value);
	if (!string || (n == 2 && !memcmp(text, "<<", 2)) || is_base_60(text) || is_date(text))
		return true;
	for (size_t i = 0; i < ARRAY_LEN(old_words); i++)
		if (strlen(old_words[i]) == n && !strncasecmp(old_words[i], text, n))
			return true;
	return false;
}
