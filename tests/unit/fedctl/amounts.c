#include "fedctl/amounts.h"

#include <criterion/criterion.h>

#include "base/json.h"

Test(amounts, are_names_with_quantities)
{
	auto_json *j = NULL;
	struct error err;

	cr_assert_eq(amounts_parse("cpu=400,memory=2Ti,nvidia.com/gpu=64", &j, &err), 0);
	cr_expect_eq(json_object_size(j), 3);
	cr_expect_str_eq(json_str_at(j, "memory", NULL), "2Ti");
	cr_expect_str_eq(json_str_at(j, "nvidia.com/gpu", NULL), "64");
}

Test(amounts, that_are_wrong_are_quoted)
{
	static const char *const wrong[] = {"cpu",    "=4",     "cpu=",        "cpu=4,memory",
					    "cpu=4x", "cpu=-1", "cpu,memory=4"};

	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		auto_json *j = NULL;
		struct error err = {0};

		cr_expect_eq(amounts_parse(wrong[i], &j, &err), -1, "%s", wrong[i]);
		cr_expect_null(j);
		cr_expect_neq(err.text[0], '\0');
	}
}

Test(amounts, are_told_in_one_way)
{
	static const struct {
		const char *resource, *quantity, *text;
	} table[] = {
		{"cpu", "127900m", "127.9"},
		{"cpu", "4", "4"},
		{"cpu", "1590m", "1.5"},
		{"cpu", "50m", "50m"},
		{"cpu", "0", "0"},
		{"cpu", "-50m", "-50m"},
		{"memory", "524224Mi", "511.9Gi"},
		{"memory", "2560Gi", "2.5Ti"},
		{"memory", "8Gi", "8Gi"},
		{"memory", "1000", "1000"},
		{"memory", "0", "0"},
		{"memory", "9223372036854775807", "7.9Ei"},
		{"memory", "much", "much"},
		{"nvidia.com/gpu", "1500", "1500"},
	};

	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		auto_strbuf out = {0};

		amount_write(table[i].resource, table[i].quantity, &out);
		cr_expect_str_eq(strbuf_str(&out), table[i].text);
	}
}
