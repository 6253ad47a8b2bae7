/* The formats and patterns that schemas may use, and how a mistake in each is worded. */
#include <string.h>

#include "api/names.h"
#include "api/schema_node.h"
#include "base/encode.h"

static bool time_ok(const char *text)
{
	int64_t ns;

	return time_parse(text, &ns) == 0;
}

static bool base64_ok(const char *text)
{
	auto_strbuf out = {0};

	return base64_decode(&out, text, strlen(text)) == 0;
}

const struct text_rule text_rules[] = {
	{.format = "date-time",
	 .ok = time_ok,
	 .must = "must be a time such as 2026-01-02T15:04:05Z"},
	{.format = "byte", .ok = base64_ok, .must = "must be base64"},
	{.format = "quantity",
	 .ok = quantity_text_ok,
	 .must = "must be an amount such as 500m, 4 or 8Gi, not below 0"},
	{.pattern = PATTERN_DNS_LABEL,
	 .ok = dns_label_ok,
	 .must = "must consist of lower case letters, digits and '-', and begin and end with a "
		 "letter or digit"},
	{.pattern = PATTERN_DNS_SUBDOMAIN,
	 .ok = dns_subdomain_ok,
	 .must = "must consist of lower case letters, digits, '-' and '.', and begin and end with a "
		 "letter or digit"},
	{.pattern = PATTERN_LABEL_VALUE,
	 .ok = label_value_ok,
	 .must = "must consist of letters, digits, '-', '_' and '.', and begin and end with a letter "
		 "or digit"},
	{.pattern = PATTERN_LABEL_KEY,
	 .ok = label_key_ok,
	 .must = "must be a name such as app or example.com/app"},
	{.pattern = PATTERN_QUANTITY,
	 .ok = quantity_text_ok,
	 .must = "must be an amount such as 500m, 4 or 8Gi, not below 0"},
	{.pattern = PATTERN_DECIMAL,
	 .ok = decimal_text_ok,
	 .must = "must be a decimal number such as 0.45, with at most 6 decimals"},
	{.ok = NULL},
};

const struct text_rule *text_rule_by_format(const char *format)
{
	for (const struct text_rule *r = text_rules; r->ok; r++)
		if (r->format && !strcmp(r->format, format))
			return r;
	return NULL;
}

const struct text_rule *text_rule_by_pattern(const char *pattern)
{
	for (const struct text_rule *r = text_rules; r->ok; r++)
		if (r->pattern && !strcmp(r->pattern, pattern))
			return r;
	return NULL;
}
