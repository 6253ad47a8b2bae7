#include <criterion/criterion.h>
#include <string.h>

#include "base/encode.h"
#include "base/mem.h"
#include "base/virtual.h"

TestSuite(time);

#define S 1000000000LL

Test(time, formats)
{
	char text[TIME_SIZE];

	time_format(text, 1795974406 * S + 999999999);
	cr_expect_str_eq(text, "2026-11-29T17:46:46Z");
	time_format_micro(text, 1795974406 * S + 1234);
	cr_expect_str_eq(text, "2026-11-29T17:46:46.000001Z");
	time_format(text, 0);
	cr_expect_str_eq(text, "1970-01-01T00:00:00Z");
	time_format_micro(text, -1);
	cr_expect_str_eq(text, "1969-12-31T23:59:59.999999Z");
	time_format(text, 951782400 * S);
	cr_expect_str_eq(text, "2000-02-29T00:00:00Z");
}

Test(time, parses)
{
	static const struct {
		const char *text;
		int64_t ns;
	} cases[] = {
		{"1970-01-01T00:00:00Z", 0},
		{"2026-11-29T17:46:46Z", 1795974406 * S},
		{"2026-11-29T17:46:46.5Z", 1795974406 * S + 500000000},
		{"2026-11-29T17:46:46.000001Z", 1795974406 * S + 1000},
		{"2026-11-29T17:46:46.123456789123Z", 1795974406 * S + 123456789},
		{"2026-11-29T19:16:46+01:30", 1795974406 * S},
		{"2026-11-29T09:46:46-08:00", 1795974406 * S},
		{"2026-11-29t17:46:46z", 1795974406 * S},
		{"2024-02-29T00:00:00Z", 1709164800 * S},
		{"1969-12-31T23:59:59.5Z", -500000000},
		{"1678-01-01T00:00:00Z", -9214560000 * S},
		{"2261-12-31T23:59:59Z", 9214646399 * S},
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		int64_t ns = -1;

		cr_expect_eq(time_parse(cases[i].text, &ns), 0, "%s", cases[i].text);
		cr_expect_eq(ns, cases[i].ns, "%s: %lld", cases[i].text, (long long)ns);
	}
}

Test(time, refuses)
{
	static const char *const bad[] = {
		"",
		"now",
		"2026-11-29",
		"2026-11-29T17:46:46",
		"2026-11-29 17:46:46Z",
		"2026-11-29T17:46Z",
		"2026-11-29T17:46:46Zx",
		"2026-11-29T17:46:46.Z",
		"2026-11-29T17:46:46,5Z",
		"2026-13-01T00:00:00Z",
		"2026-00-01T00:00:00Z",
		"2026-02-29T00:00:00Z",
		"2026-04-31T00:00:00Z",
		"2026-11-29T24:00:00Z",
		"2026-11-29T17:60:46Z",
		"2026-11-29T17:46:60Z",
		"2026-11-29T17:46:46+24:00",
		"2026-11-29T17:46:46+0100",
		"2026-11-29T17:46:46+01",
		"26-11-29T17:46:46Z",
		"2026-1-29T17:46:46Z",
		"2026\r11-29T17:46:46Z",
		"0001-01-01T00:00:00Z",
		"9999-01-01T00:00:00Z",
	};

	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		int64_t ns = 77;

		cr_expect_eq(time_parse(bad[i], &ns), -1, "%s", bad[i]);
		cr_expect_eq(ns, 77);
	}
}

Test(time, what_was_formatted_reads_back)
{
	auto_free(virtual_env_destroy) struct virtual_env *v = virtual_env_create(3, 0);

	for (int i = 0; i < 20000; i++) {
		/* any microsecond of the years 1678 to 2261 */
		int64_t us = (int64_t)env_random_below(virtual_env_seam(v), 18429206399000000) -
			     9214560000000000;
		char text[TIME_SIZE];
		int64_t back;

		time_format_micro(text, us * 1000);
		cr_assert_eq(time_parse(text, &back), 0, "%s", text);
		cr_assert_eq(back, us * 1000, "%s", text);
	}
}

Test(time, parses_durations)
{
	static const struct {
		const char *text;
		int64_t ns;
	} cases[] = {
		{"0", 0},
		{"0s", 0},
		{"90s", 90 * S},
		{"1h30m", 5400 * S},
		{"250ms", 250000000},
		{"1.5h", 5400 * S},
		{".5s", 500000000},
		{"1.s", S},
		{"-1m", -60 * S},
		{"+1m", 60 * S},
		{"1h0m0.001s", 3600 * S + 1000000},
		{"15us", 15000},
		{"15\xc2\xb5s", 15000},
		{"15\xce\xbcs", 15000},
		{"7ns", 7},
		{"0.3333333333333333333h", 1200 * S - 1},
		{"2562047h47m16.854775807s", INT64_MAX},
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		int64_t ns = -1;

		cr_expect_eq(duration_parse(cases[i].text, &ns), 0, "%s", cases[i].text);
		cr_expect_eq(ns, cases[i].ns, "%s: %lld", cases[i].text, (long long)ns);
	}
}

Test(time, refuses_durations)
{
	static const char *const bad[] = {
		"",       "1",   "s",    ".s",       "1x",
		"1d",     "1 s", "--1s", "1s ",      "1h-30m",
		"1e3s",   "+",   "-",    "9999999h", "2562047h47m16.854775808s",
		"1.2.3s",
	};

	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		int64_t ns = 77;

		cr_expect_eq(duration_parse(bad[i], &ns), -1, "\"%s\"", bad[i]);
		cr_expect_eq(ns, 77);
	}
}

/* The steps at which kubectl changes the form of an age. */
Test(time, shortens_durations_as_kubectl_does)
{
	static const struct {
		int64_t seconds;
		const char *text;
	} cases[] = {
		{-5, "0s"},
		{0, "0s"},
		{1, "1s"},
		{119, "119s"},
		{120, "2m"},
		{121, "2m1s"},
		{599, "9m59s"},
		{600, "10m"},
		{41 * 60 + 59, "41m"},
		{3 * 3600 - 1, "179m"},
		{3 * 3600, "3h"},
		{3 * 3600 + 20 * 60, "3h20m"},
		{8 * 3600 - 1, "7h59m"},
		{8 * 3600, "8h"},
		{48 * 3600 - 1, "47h"},
		{48 * 3600, "2d"},
		{52 * 3600, "2d4h"},
		{8 * 86400 - 1, "7d23h"},
		{8 * 86400, "8d"},
		{2 * 365 * 86400 - 1, "729d"},
		{2 * 365 * 86400, "2y"},
		{(2 * 365 + 30) * 86400, "2y30d"},
		{8LL * 365 * 86400, "8y"},
		{100LL * 365 * 86400, "100y"},
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		char text[TIME_SIZE];

		duration_format(text, cases[i].seconds * S);
		cr_expect_str_eq(text, cases[i].text);
	}
	{
		char text[TIME_SIZE];

		duration_format(text, S - 1);
		cr_expect_str_eq(text, "0s");
	}
}

Test(time, tells_what_lies_between_any_two)
{
	const int64_t first = INT64_MIN / 10 * 9, last = INT64_MAX / 10 * 9;

	cr_expect_eq(time_between(3 * S, 5 * S), 2 * S);
	cr_expect_eq(time_between(5 * S, 3 * S), -2 * S);
	cr_expect_eq(time_between(first, last), INT64_MAX);
	cr_expect_eq(time_between(last, first), INT64_MIN);
}
