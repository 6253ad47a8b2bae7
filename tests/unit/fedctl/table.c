#include "fedctl/table.h"

#include <criterion/criterion.h>
#include <locale.h>
#include <string.h>

#include "fedctl/output.h"

static const char *const headers[] = {"NAME", "PHASE", "CLUSTER", "WHY"};

static void set_up(void)
{
	setlocale(LC_CTYPE, "C.UTF-8");
}

TestSuite(table, .init = set_up);

static void expect_table(struct table *t, size_t width, const char *expected)
{
	auto_strbuf out = {0};

	table_write(t, width, false, &out);
	cr_expect_str_eq(strbuf_str(&out), expected, "got:\n%s", strbuf_str(&out));
}

Test(table, aligns_and_leaves_out_what_says_nothing)
{
	auto_free(table_destroy) struct table *t = table_create(headers, 4);

	table_add(t, (const char *[]){"a", "Running", NULL, "x"});
	table_add(t, (const char *[]){"longer", "Pending", "", NULL});
	expect_table(t, 100,
		     "NAME    PHASE    WHY\n"
		     "a       Running  x\n"
		     "longer  Pending\n");
}

Test(table, keeps_empty_columns_when_told_to)
{
	auto_free(table_destroy) struct table *t = table_create(headers, 4);

	table_keep_all(t);
	table_add(t, (const char *[]){"a", NULL, NULL, "x"});
	expect_table(t, 100,
		     "NAME  PHASE  CLUSTER  WHY\n"
		     "a                     x\n");
}

Test(table, goes_on_below_what_was_written)
{
	auto_free(table_destroy) struct table *t = table_create(headers, 4);

	table_keep_all(t);
	table_widen(t, 1, 9);
	table_add(t, (const char *[]){"first", "Pending", NULL, NULL});
	expect_table(t, 100,
		     "NAME   PHASE      CLUSTER  WHY\n"
		     "first  Pending\n");
	table_add(t, (const char *[]){"b", "Completed", "gpu", NULL});
	expect_table(t, 100, "b      Completed  gpu\n");
}

Test(table, cuts_the_last_long_column_to_the_width)
{
	auto_free(table_destroy) struct table *t = table_create(headers, 4);

	table_add(t, (const char *[]){"a", "Running", "gpu-eu",
				      "a reason that is far too long for the line"});
	expect_table(t, 50,
		     "NAME  PHASE    CLUSTER  WHY\n"
		     "a     Running  gpu-eu   a reason that is far too \xe2\x80\xa6\n");
}

Test(table, never_cuts_short_words_or_names_that_are_kept_whole)
{
	auto_free(table_destroy) struct table *t = table_create(headers, 4);

	table_keep_whole(t, 0);
	table_add(t, (const char *[]){"a-name-that-somebody-will-copy", "Completed", NULL, "why"});
	expect_table(t, 20,
		     "NAME                            PHASE      WHY\n"
		     "a-name-that-somebody-will-copy  Completed  why\n");
}

Test(table, has_no_limit_when_wide)
{
	auto_free(table_destroy) struct table *t = table_create(headers, 4);
	char text[301];
	auto_strbuf out = {0};

	memset(text, 'x', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	table_add(t, (const char *[]){"a", NULL, NULL, text});
	table_write(t, 0, false, &out);
	cr_expect(strstr(out.bytes, text));
}

Test(table, counts_columns_of_the_terminal_not_bytes)
{
	auto_free(table_destroy) struct table *t = table_create(headers, 4);

	table_add(t, (const char *[]){"\xe6\xa8\xa1\xe5\x9e\x8b", "x", NULL, NULL}); /* 2 wide */
	table_add(t, (const char *[]){"\xc3\xa9t\xc3\xa9", "y", NULL, NULL});
	expect_table(t, 100,
		     "NAME  PHASE\n"
		     "\xe6\xa8\xa1\xe5\x9e\x8b  x\n"
		     "\xc3\xa9t\xc3\xa9   y\n");
}

/* What others wrote into objects must not move the reader's cursor. */
Test(table, prints_no_control_characters)
{
	auto_free(table_destroy) struct table *t = table_create(headers, 4);

	table_add(t, (const char *[]){"a\033[2Jb", "x\ny", "\xc2\x9bz", "\xff"});
	expect_table(t, 100,
		     "NAME    PHASE  CLUSTER  WHY\n"
		     "a [2Jb  x y     z       ?\n");
}

static const char *red(const char *word)
{
	return !strcmp(word, "Failed") ? COLOR_RED : NULL;
}

Test(table, colors_only_when_asked_and_only_some_words)
{
	for (int colors = 0; colors < 2; colors++) {
		auto_free(table_destroy) struct table *t = table_create(headers, 4);
		auto_strbuf out = {0};

		table_paint(t, 1, red);
		table_add(t, (const char *[]){"a", "Failed", "gpu", NULL});
		table_add(t, (const char *[]){"b", "Running", "gpu", NULL});
		table_write(t, 100, colors, &out);
		cr_expect_str_eq(out.bytes, colors ? "NAME  PHASE    CLUSTER\n"
						     "a     \033[31mFailed\033[0m   gpu\n"
						     "b     Running  gpu\n"
						   : "NAME  PHASE    CLUSTER\n"
						     "a     Failed   gpu\n"
						     "b     Running  gpu\n");
	}
}
