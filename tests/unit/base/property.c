/* The finder of counterexamples that other tests rest on: it must find, and make small. */
#include "tests/unit/property.h"

#include <criterion/criterion.h>
#include <string.h>

#include "base/strbuf.h"

static bool true_of_all(struct draw *d)
{
	return draw_below(d, 1000) < 1000;
}

Test(property, what_holds_is_not_refuted)
{
	struct counterexample c;

	cr_expect(!property_refute(true_of_all, 1, 1000, &c));
}

static bool below_700(struct draw *d)
{
	unsigned n = draw_below(d, 1000);

	return n < 700 || draw_fail(d, "%u", n);
}

Test(property, a_number_shrinks_to_the_first_that_fails)
{
	struct counterexample c;

	cr_assert(property_refute(below_700, 1, 1000, &c));
	cr_expect_str_eq(c.text, "700");
	free(c.text);
}

/* A list whose length is drawn first, of which two elements may not be 5 or more. */
static bool at_most_one_large(struct draw *d)
{
	size_t n = draw_below(d, 20), large = 0;
	struct strbuf text = {0};
	bool ok;

	for (size_t i = 0; i < n; i++) {
		unsigned v = draw_below(d, 10);

		large += v >= 5;
		strbuf_addf(&text, "%u ", v);
	}
	ok = large < 2 || draw_fail(d, "%s", strbuf_str(&text));
	strbuf_finish(&text);
	return ok;
}

Test(property, a_list_shrinks_to_what_matters)
{
	struct counterexample c;

	cr_assert(property_refute(at_most_one_large, 1, 1000, &c));
	cr_expect_str_eq(c.text, "5 5 ");
	free(c.text);
}

static bool same_case(struct draw *d)
{
	return draw_fail(d, "%u", draw_below(d, UINT32_MAX));
}

Test(property, a_seed_gives_the_same_case_again)
{
	struct counterexample a, b;

	cr_assert(property_refute(same_case, 17, 1, &a) && property_refute(same_case, 17, 1, &b));
	cr_expect_eq(a.seed, 17u);
	cr_expect_str_eq(a.text, b.text);
	free(a.text);
	free(b.text);
}
