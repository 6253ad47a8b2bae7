#include "api/names.h"

#include <string.h>

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool is_lower(char c)
{
	return c >= 'a' && c <= 'z';
}

static bool is_alnum(char c)
{
	return is_digit(c) || is_lower(c) || (c >= 'A' && c <= 'Z');
}

static bool is_lower_alnum(char c)
{
	return is_digit(c) || is_lower(c);
}

static bool label_ok(const char *text, size_t n)
{
	if (!n || !is_lower_alnum(text[0]) || !is_lower_alnum(text[n - 1]))
		return false;
	for (size_t i = 0; i < n; i++)
		if (!is_lower_alnum(text[i]) && text[i] != '-')
			return false;
	return true;
}

static bool subdomain_ok(const char *text, size_t n)
{
	for (size_t start = 0, i = 0; i <= n; i++) {
		if (i < n && text[i] != '.')
			continue;
		if (!label_ok(text + start, i - start))
			return false;
		start = i + 1;
	}
	return true;
}

bool dns_label_ok(const char *text)
{
	return label_ok(text, strlen(text));
}

bool dns_subdomain_ok(const char *text)
{
	return subdomain_ok(text, strlen(text));
}

bool dns_label_1035_ok(const char *text)
{
	return is_lower(text[0]) && dns_label_ok(text);
}

/* The part of a label's key behind the slash. */
static bool name_part_ok(const char *text)
{
	size_t n = strlen(text);

	if (!n || !is_alnum(text[0]) || !is_alnum(text[n - 1]))
		return false;
	for (size_t i = 0; i < n; i++)
		if (!is_alnum(text[i]) && !strchr("-_.", text[i]))
			return false;
	return true;
}

bool label_value_ok(const char *text)
{
	return !*text || name_part_ok(text);
}

bool label_key_ok(const char *text)
{
	const char *slash = strchr(text, '/');

	if (!slash)
		return name_part_ok(text);
	return subdomain_ok(text, (size_t)(slash - text)) && name_part_ok(slash + 1);
}

bool qualified_name_ok(const char *text)
{
	const char *slash = strchr(text, '/');

	if (slash && slash - text > 253)
		return false;
	return strlen(slash ? slash + 1 : text) <= 63 && label_key_ok(text);
}

static size_t skip_digits(const char **at)
{
	const char *start = *at;

	while (is_digit(**at))
		(*at)++;
	return (size_t)(*at - start);
}

/* 12, 1.5, 1. and .5 */
static bool skip_number(const char **at)
{
	size_t n = skip_digits(at);

	if (**at == '.') {
		(*at)++;
		n += skip_digits(at);
	}
	return n > 0;
}

static bool exponent_ok(const char *at)
{
	if (*at == '+' || *at == '-')
		at++;
	return skip_digits(&at) && !*at;
}

bool quantity_text_ok(const char *text)
{
	if (*text == '+')
		text++;
	if (!skip_number(&text))
		return false;
	if (!*text)
		return true;
	if (strchr("KMGTPE", *text) && text[1] == 'i')
		return !text[2];
	if (strchr("numkMGTPE", *text) && !text[1])
		return true;
	return (*text == 'e' || *text == 'E') && exponent_ok(text + 1);
}

bool decimal_text_ok(const char *text)
{
	size_t fraction = 1;

	if (!skip_digits(&text))
		return false;
	if (*text == '.') {
		text++;
		fraction = skip_digits(&text);
	}
	return !*text && fraction >= 1 && fraction <= 6;
}
