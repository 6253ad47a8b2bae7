#include "api/names.h"

#include <criterion/criterion.h>
#include <regex.h>
#include <string.h>

#include "api/meta.h"
#include "api/schema_node.h"
#include "random.h"

static bool regex_ok(const regex_t *regex, const char *text)
{
	return regexec(regex, text, 0, NULL, 0) == 0;
}

static void random_text(struct random *r, const char *alphabet, char out[16])
{
	size_t n = random_below(r, 12);

	for (size_t i = 0; i < n; i++)
		out[i] = alphabet[random_below(r, strlen(alphabet))];
	out[n] = '\0';
}

/* Real API servers apply the pattern, we apply the check: both must say the same. */
Test(names, checks_agree_with_their_patterns)
{
	static const char *const alphabets[] = {"a0-.",     "aZ0-_./", "0159.+-eEKMi",
						"019.nums", "mshu1.0", "0123456789."};
	struct random r = random_seeded();
	size_t good = 0;

	for (const struct text_rule *rule = text_rules; rule->ok; rule++) {
		regex_t regex;

		if (!rule->pattern)
			continue;
		cr_assert_eq(regcomp(&regex, rule->pattern, REG_EXTENDED | REG_NOSUB), 0, "%s",
			     rule->pattern);
		for (size_t i = 0; i < 20000; i++) {
			char text[16];
			bool ok;

			random_text(&r, alphabets[i % ARRAY_LEN(alphabets)], text);
			ok = rule->ok(text);
			good += ok;
			cr_assert_eq(ok, regex_ok(&regex, text), "%s on \"%s\", seed %llu",
				     rule->pattern, text, (unsigned long long)r.seed);
		}
		regfree(&regex);
	}
	cr_assert_gt(good, 10000u, "the texts must not all be bad");
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
