#include "base/closest.h"

#include <criterion/criterion.h>
#include <string.h>

static const char *nearest(const char *word)
{
	static const char *const known[] = {"get",     "describe",   "submit", "cluster",
					    "version", "kill2",      "vsel",   "cc",
					    "ml",      "example-job"};
	struct closest c;

	closest_init(&c, word, strlen(word));
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		closest_offer(&c, known[i]);
	return c.best;
}

Test(closest, offers_what_was_probably_meant)
{
	cr_expect_str_eq(nearest("submti"), "submit");
	cr_expect_str_eq(nearest("clusters"), "cluster");
	cr_expect_str_eq(nearest("gte"), "get");
	cr_expect_str_eq(nearest("descibe"), "describe");
	cr_expect_str_eq(nearest("mll"), "ml");
	cr_expect_str_eq(nearest("lm"), "ml");
	cr_expect_str_eq(nearest("example-jb"), "example-job");
	cr_expect_str_eq(nearest("exmaple-jbo"), "example-job");
}

Test(closest, offers_nothing_that_is_far)
{
	char long_word[200];

	memset(long_word, 'g', sizeof(long_word) - 1);
	long_word[sizeof(long_word) - 1] = '\0';
	cr_expect_null(nearest("launch"));
	cr_expect_null(nearest("hello"));
	cr_expect_null(nearest("usecm"));
	cr_expect_null(nearest("svcs"));
	cr_expect_null(nearest("m"));
	cr_expect_null(nearest("xyz"), "no letter is right");
	cr_expect_null(nearest(""));
	cr_expect_null(nearest(long_word));
}

Test(closest, reads_no_further_than_told)
{
	struct closest c;

	closest_init(&c, "gets=1", 3);
	closest_offer(&c, "get");
	cr_expect_str_eq(c.best, "get");
}
