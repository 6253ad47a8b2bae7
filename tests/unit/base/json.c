#include "base/json.h"

#include <criterion/criterion.h>
#include <float.h>
#include <math.h>
#include <string.h>

#include "generate.h"

TestSuite(json);

static json_t *parse(const char *text)
{
	struct error err = {.text = ""};
	json_t *j = json_parse(text, strlen(text), NULL, &err);

	cr_assert(j, "%s: %s", text, err.text);
	return j;
}

static void expect_reprint(const char *text, const char *expected)
{
	auto_json *j = parse(text);
	auto_xfree char *again = json_print(j);

	cr_expect_str_eq(again, expected);
}

Test(json, prints_compact_in_insertion_order)
{
	expect_reprint(" { \"b\" : 1 , \"a\" : [ true , false , null , \"x\" ] , \"c\" : { } } ",
		       "{\"b\":1,\"a\":[true,false,null,\"x\"],\"c\":{}}");
	expect_reprint("[]", "[]");
	expect_reprint("\"alone\"", "\"alone\"");
}

Test(json, numbers_survive)
{
	static const char *const same[] = {
		"0",
		"-1",
		"9223372036854775807",
		"-9223372036854775808",
		"0.1",
		"1.5",
		"-0.0",
		"3.141592653589793",
		"1e+300",
		"2.2250738585072014e-308",
		"1.0",
		"0.30000000000000004",
		"1e-07",
	};

	for (size_t i = 0; i < ARRAY_LEN(same); i++)
		expect_reprint(same[i], same[i]);
	expect_reprint("1e3", "1000.0");
	/* beyond 64 bits the nearest real is kept */
	expect_reprint("18446744073709551616", "1.8446744073709552e+19");
	expect_reprint("-9223372036854775809", "-9.223372036854776e+18");
}

Test(json, strings_survive)
{
	static const char *const same[] = {
		"\"\\\"\\\\\\b\\f\\n\\r\\t\"",
		"\"\\u0001\\u001f\"",
		"\"\x7f \xc3\xa9 \xe2\x80\xa8 \xf0\x9f\x98\x80 </script>\"",
		"{\"a\\nb\":1}",
	};

	for (size_t i = 0; i < ARRAY_LEN(same); i++)
		expect_reprint(same[i], same[i]);
	expect_reprint("\"\\/\\u00e9\\ud83d\\ude00\"", "\"/\xc3\xa9\xf0\x9f\x98\x80\"");
	expect_reprint("{\"\\u0061\":1}", "{\"a\":1}");
}

Test(json, errors_carry_line_and_column)
{
	static const struct {
		const char *text, *err;
	} cases[] = {
		{"", "line 1, column 1: unexpected end"},
		{"{\"a\": tru}", "line 1, column 7: expected a value"},
		{"{\n  \"a\": 1\n  \"b\": 2\n}", "line 3, column 3: expected ',' or '}'"},
		{"{\"\xc3\xa9\": \"\xff\"}", "line 1, column 8: invalid UTF-8"},
		{"[1, 2", "line 1, column 6: expected ',' or ']'"},
		{"{} x", "line 1, column 4: something follows the value"},
		{"[1e999]", "line 1, column 7: number out of range"},
		{"[\"a\\u0000b\"]", "line 1, column 12: \\u0000 in a string"},
		{"{\"a\\u0000b\":1}", "line 1, column 13: \\u0000 in a string"},
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct error err = {.text = ""};
		json_t *j = json_parse(cases[i].text, strlen(cases[i].text), NULL, &err);

		cr_expect_null(j, "%s", cases[i].text);
		cr_expect_str_eq(err.text, cases[i].err);
		cr_expect_eq(err.code, ERR_BAD_REQUEST);
	}
	cr_expect_null(json_parse("x", 1, NULL, NULL));
}

Test(json, depth_64_is_the_deepest)
{
	char text[JSON_MAX_DEPTH * 2 + 4];
	struct error err;

	for (size_t depth = JSON_MAX_DEPTH; depth <= JSON_MAX_DEPTH + 1; depth++) {
		auto_json *j = NULL;

		memset(text, '[', depth);
		memset(text + depth, ']', depth);
		j = json_parse(text, depth * 2, NULL, &err);
		cr_expect_eq(j != NULL, depth == JSON_MAX_DEPTH);
	}
	cr_expect_str_eq(err.text, "line 1, column 65: nested deeper than 64 levels");
}

Test(json, duplicates_keep_the_last_and_name_the_first)
{
	static const struct {
		const char *text, *path, *print;
	} cases[] = {
		{"{\"a\":1,\"b\":2}", NULL, "{\"a\":1,\"b\":2}"},
		{"{\"a\":1,\"a\":2}", "a", "{\"a\":2}"},
		{"{\"a\":1,\"\\u0061\":2}", "a", "{\"a\":2}"},
		{"{\"a\":1,\"a\":{\"b\":1,\"b\":2}}", "a", "{\"a\":{\"b\":2}}"},
		{"{\"\\u0061\":{\"\\u0062\":1,\"b\":2}}", "a.b", "{\"a\":{\"b\":2}}"},
		{"{\"spec\":{\"queue\":1,\"queue\":2}}", "spec.queue", "{\"spec\":{\"queue\":2}}"},
		{"{\"spec\":{\"tasks\":[{\"name\":1,\"name\":2}]}}", "spec.tasks[0].name",
		 "{\"spec\":{\"tasks\":[{\"name\":2}]}}"},
		{"[[1,{\"x\":{\"y\":1,\"y\":2},\"x\":3}]]", "[0][1].x.y", "[[1,{\"x\":3}]]"},
		{"{\"a\":{\"b\":1},\"c\":{\"b\":1}}", NULL, "{\"a\":{\"b\":1},\"c\":{\"b\":1}}"},
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		auto_xfree char *path = NULL;
		auto_json *j = json_parse(cases[i].text, strlen(cases[i].text), &path, NULL);
		auto_xfree char *print = json_print(j);

		cr_expect_str_eq(print, cases[i].print);
		if (cases[i].path)
			cr_expect_str_eq(path, cases[i].path);
		else
			cr_expect_null(path);
	}
	cr_expect_not(json_parse("{\"a\":1,\"a\":}", 12, NULL, NULL));
}

Test(json, foreign_documents_may_hold_nul)
{
	static const char text[] = "{\"message\":\"a\\u0000b\"}";
	auto_json *j = json_parse_foreign(text, strlen(text), NULL);
	auto_xfree char *print = NULL;

	cr_assert(j);
	cr_assert_eq(json_string_length(json_object_get(j, "message")), 3);
	print = json_print(j);
	cr_assert_str_eq(print, text);
}

/* What another server took must not be refused here: who reads it has nobody to give it back to. */
Test(json, foreign_documents_are_taken_whatever_they_hold)
{
	static const char text[] = "{\"a\\u0000b\":1,\"\\u0000\":2,\"a\":[1e999,-1e999]}";
	auto_json *j = json_parse_foreign(text, strlen(text), NULL);

	cr_assert(j);
	cr_expect_eq(json_int_at(j, 0,
				 "a\xef\xbf\xbd"
				 "b",
				 NULL),
		     1);
	cr_expect_eq(json_int_at(j, 0, "\xef\xbf\xbd", NULL), 2);
	cr_expect_eq(json_real_value(json_array_get(json_object_get(j, "a"), 0)), DBL_MAX);
	cr_expect_eq(json_real_value(json_array_get(json_object_get(j, "a"), 1)), -DBL_MAX);
	cr_expect_null(json_parse(text, strlen(text), NULL, NULL));
}

Test(json, walks_paths)
{
	auto_json *j = parse("{\"spec\":{\"n\":5,\"s\":\"x\",\"list\":[1],\"r\":1.5}}");

	cr_assert_eq(json_at(j, "spec", "n", NULL),
		     json_object_get(json_object_get(j, "spec"), "n"));
	cr_assert_eq(json_at(j, NULL), j);
	cr_assert_null(json_at(j, "spec", "absent", "deeper", NULL));
	cr_assert_null(json_at(j, "spec", "n", "deeper", NULL));
	cr_assert_null(json_at(NULL, "spec", NULL));
	cr_assert_str_eq(json_str_at(j, "spec", "s", NULL), "x");
	cr_assert_null(json_str_at(j, "spec", "n", NULL));
	cr_assert_null(json_str_at(j, "spec", "none", NULL));
	cr_assert_eq(json_int_at(j, -1, "spec", "n", NULL), 5);
	cr_assert_eq(json_int_at(j, -1, "spec", "s", NULL), -1);
	cr_assert_eq(json_int_at(j, -1, "spec", "r", NULL), -1);
	cr_assert_eq(json_int_at(NULL, -1, "spec", NULL), -1);
}

Test(json, sets_members)
{
	auto_json *j = parse("{\"status\":null}");
	auto_xfree char *print = NULL;

	json_set_int(json_object_need(j, "status"), "n", 1);
	json_set_str(json_object_need(json_object_need(j, "a"), "b"), "c", "d");
	json_set_str(json_object_need(j, "status"), "s", "x");
	json_set_str(json_object_need(j, "status"), "s", NULL);
	json_set_str(j, "absent", NULL);
	print = json_print(j);
	cr_assert_str_eq(print, "{\"status\":{\"n\":1},\"a\":{\"b\":{\"c\":\"d\"}}}");
}

static bool reads_back_equal(struct draw *d)
{
	auto_json *tree = generate_json(d, 5);
	auto_xfree char *text = json_print(tree);
	struct error err = {.text = ""};
	auto_json *again = json_parse(text, strlen(text), NULL, &err);
	auto_json *judge = json_loads(text, JSON_DECODE_ANY, NULL);

	if (!json_equal(tree, again))
		return draw_fail(d, "%s: %s", text, err.text);
	return json_equal(tree, judge) || draw_fail(d, "jansson reads %s differently", text);
}

Test(json, what_was_printed_reads_back_equal)
{
	property_check(reads_back_equal, 3000);
}
