#include "api/names.h"

#include <criterion/criterion.h>
#include <regex.h>
#include <string.h>

#include "api/meta.h"
#include "api/schema_node.h"
#include "tests/unit/property.h"

static bool regex_ok(const regex_t *regex, const char *text)
{
	return regexec(regex, text, 0, NULL, 0) == 0;
}

static const struct text_rule *rule; /* that is being tried, and its pattern */
static regex_t regex;
static size_t n_good;

static bool check_agrees(struct draw *d)
{
	static const char *const alphabets[] = {"a0-.",     "aZ0-_./", "0159.+-eEKMi",
						"019.nums", "mshu1.0", "0123456789."};
	const char *alphabet = alphabets[draw_below(d, ARRAY_LEN(alphabets))];
	size_t n = draw_below(d, 12);
	char text[16] = "";
	bool ok;

	for (size_t i = 0; i < n; i++)
		text[i] = alphabet[draw_below(d, strlen(alphabet))];
	ok = rule->ok(text);
	if (ok)
		draw_count(d, &n_good);
	return ok == regex_ok(&regex, text) || draw_fail(d, "%s on \"%s\"", rule->pattern, text);
}

/* Real API servers apply the pattern, we apply the check: both must say the same. */
Test(names, checks_agree_with_their_patterns)
{
	for (rule = text_rules; rule->ok; rule++) {
		if (!rule->pattern)
			continue;
		cr_assert_eq(regcomp(&regex, rule->pattern, REG_EXTENDED | REG_NOSUB), 0, "%s",
			     rule->pattern);
		property_check(check_agrees, 20000);
		regfree(&regex);
	}
	cr_assert_gt(n_good, 10000u, "the texts must not all be bad");
}

Test(names, qualified_names_have_two_lengths)
{
	auto_xfree char *name63 = xasprintf("example.com/%063d", 0);
	auto_xfree char *name64 = xasprintf("example.com/%064d", 0);
	auto_xfree char *prefix253 = xasprintf("%0253d/a", 0);
	auto_xfree char *prefix254 = xasprintf("%0254d/a", 0);

	cr_expect(qualified_name_ok("app"));
	cr_expect(qualified_name_ok("App_1.x"));
	cr_expect(qualified_name_ok(name63));
	cr_expect_not(qualified_name_ok(name64));
	cr_expect(qualified_name_ok(prefix253));
	cr_expect_not(qualified_name_ok(prefix254));
	cr_expect_not(qualified_name_ok(""));
	cr_expect_not(qualified_name_ok("/a"));
	cr_expect_not(qualified_name_ok("a/"));
	cr_expect_not(qualified_name_ok("a/b/c"));
	cr_expect_not(qualified_name_ok("Example.com/a"));
}

Test(names, each_rule_has_its_length_and_form)
{
	static const struct {
		enum name_rule rule;
		size_t max;
		const char *good, *bad;
	} cases[] = {
		{NAME_SUBDOMAIN, 253, "a.b-c", "a..b"},
		{NAME_LABEL, 63, "1a", "a.b"},
		{NAME_LABEL_1035, 63, "a1", "1a"},
		{NAME_CLUSTER, 32, "gpu-eu", "gpu.eu"},
		{NAME_SEGMENT, 253, "node-csr-A_b:c", "a/b"},
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		char text[300];

		cr_expect_null(name_mistake(cases[i].rule, cases[i].good), "%s", cases[i].good);
		cr_expect(name_mistake(cases[i].rule, cases[i].bad), "%s", cases[i].bad);
		cr_expect(name_mistake(cases[i].rule, ""), "case %zu", i);
		memset(text, 'a', sizeof(text));
		text[cases[i].max] = '\0';
		cr_expect_null(name_mistake(cases[i].rule, text), "case %zu", i);
		text[cases[i].max] = 'a';
		text[cases[i].max + 1] = '\0';
		cr_expect(strstr(name_mistake(cases[i].rule, text), "at most"), "case %zu", i);
	}
}
