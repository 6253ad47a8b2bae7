#include "base/yaml.h"

#include <criterion/criterion.h>
#include <string.h>

#include "base/json.h"
#include "generate.h"

TestSuite(yaml);

/* The documents of the text, printed as a JSON array; caller frees. */
static char *as_json(const char *text)
{
	struct error err = {.text = ""};
	auto_json *docs = NULL;

	cr_assert_eq(yaml_parse_all(text, strlen(text), &docs, &err), 0, "%s: %s", text, err.text);
	return json_print(docs);
}

static void expect_json(const char *text, const char *expected)
{
	auto_xfree char *print = as_json(text);

	cr_expect_str_eq(print, expected, "%s gives %s", text, print);
}

Test(yaml, plain_scalars_by_the_rules_of_the_kubernetes_tools)
{
	static const char *const cases[][2] = {
		/* only true and false are booleans */
		{"true", "true"},
		{"True", "true"},
		{"TRUE", "true"},
		{"false", "false"},
		{"yes", "\"yes\""},
		{"no", "\"no\""},
		{"on", "\"on\""},
		{"Off", "\"Off\""},
		{"y", "\"y\""},
		{"tRue", "\"tRue\""},
		/* integers */
		{"0", "0"},
		{"42", "42"},
		{"-7", "-7"},
		{"+7", "7"},
		{"0x1F", "31"},
		{"-0x10", "-16"},
		{"0o17", "15"},
		{"0644", "420"},
		{"0b101", "5"},
		{"1_000", "1000"},
		{"08", "8"},
		{"00", "0"},
		{"9223372036854775807", "9223372036854775807"},
		{"-9223372036854775808", "-9223372036854775808"},
		{"9223372036854775808", "9.223372036854776e+18"},
		/* floats */
		{"1.5", "1.5"},
		{"-.5", "-0.5"},
		{"1.", "1.0"},
		{"1e3", "1000.0"},
		{"6.02E23", "6.02e+23"},
		/* strings that look like something else */
		{"1.2.3", "\"1.2.3\""},
		{"1e", "\"1e\""},
		{"0x", "\"0x\""},
		{"0xg", "\"0xg\""},
		{"0b2", "\"0b2\""},
		{"0o9", "\"0o9\""},
		{"1a", "\"1a\""},
		{".", "\".\""},
		{"1:30", "\"1:30\""},
		{"2026-11-29", "\"2026-11-29\""},
		{"2026-11-29T17:46:46Z", "\"2026-11-29T17:46:46Z\""},
		{"100m", "\"100m\""},
		{"1Gi", "\"1Gi\""},
		{"_1", "\"_1\""},
		{"nullx", "\"nullx\""},
		{"=", "\"=\""},
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		auto_xfree char *text = xasprintf("a: %s\n", cases[i][0]);
		auto_xfree char *expected = xasprintf("[{\"a\":%s}]", cases[i][1]);

		expect_json(text, expected);
	}
	expect_json("a:\nb: ~\nc: null\nd: NULL\n",
		    "[{\"a\":null,\"b\":null,\"c\":null,\"d\":null}]");
}

Test(yaml, quoted_scalars_are_strings)
{
	expect_json(
		"a: '1'\nb: \"true\"\nc: 'null'\nd: ''\ne: |\n  1\nf: >-\n  a\n  b\n",
		"[{\"a\":\"1\",\"b\":\"true\",\"c\":\"null\",\"d\":\"\",\"e\":\"1\\n\",\"f\":\"a b\"}]");
	expect_json("a: \"\\u00e9\\n\\t\\\"\"\n", "[{\"a\":\"\xc3\xa9\\n\\t\\\"\"}]");
}

Test(yaml, core_tags)
{
	expect_json(
		"a: !!str 1\nb: !!int \"7\"\nc: !!float 1\nd: !!bool 'true'\ne: ! 1\n"
		"f: !!map {}\ng: !!seq []\nh: !!null ''\n",
		"[{\"a\":\"1\",\"b\":7,\"c\":1,\"d\":true,\"e\":\"1\",\"f\":{},\"g\":[],\"h\":null}]");
}

Test(yaml, collections_and_keys)
{
	expect_json(
		"a:\n- 1\n- b: 2\n  c: [x, {y: z}]\n-\n  - 3\nempty: {}\nnone: []\n",
		"[{\"a\":[1,{\"b\":2,\"c\":[\"x\",{\"y\":\"z\"}]},[3]],\"empty\":{},\"none\":[]}]");
	/* keys become strings */
	expect_json("8080: web\ntrue: t\n1.5: r\n'x y': q\n0x10: h\n",
		    "[{\"8080\":\"web\",\"true\":\"t\",\"1.5\":\"r\",\"x y\":\"q\",\"16\":\"h\"}]");
	expect_json("? a\n: 1\n", "[{\"a\":1}]");
	expect_json("'<<': 1\n", "[{\"<<\":1}]");
}

Test(yaml, documents)
{
	expect_json("", "[]");
	expect_json("# only a comment\n", "[]");
	expect_json("---\n---\n", "[]");
	expect_json("a: 1\n---\nb: 2\n...\n---\n# nothing\n---\nc: 3\n",
		    "[{\"a\":1},{\"b\":2},{\"c\":3}]");
	expect_json("%YAML 1.1\n---\na: 1 %TAG\n", "[{\"a\":\"1 %TAG\"}]");
	expect_json("\xef\xbb\xbf"
		    "a: 1\r\nb: 2\r\n",
		    "[{\"a\":1,\"b\":2}]");
}

Test(yaml, json_is_read_too)
{
	auto_strbuf longkey = {0};
	auto_xfree char *text = NULL, *expected = NULL;

	expect_json("{\"a\":[1,2.5,\"\\ud83d\\ude00\"],\n\t\"b\":null}",
		    "[{\"a\":[1,2.5,\"\xf0\x9f\x98\x80\"],\"b\":null}]");
	expect_json(" [1]", "[[1]]");
	/* YAML's own limit of keys in one line does not hold for JSON */
	for (int i = 0; i < 3000; i++)
		strbuf_addc(&longkey, 'k');
	text = xasprintf("{\"%s\":1}", longkey.bytes);
	expected = xasprintf("[{\"%s\":1}]", longkey.bytes);
	expect_json(text, expected);
}

Test(yaml, anchors_are_expanded_into_copies)
{
	struct error err;
	auto_json *docs = NULL;
	static const char text[] = "a: &x {n: [1]}\nb: *x\nc: *x\n---\na: &s hello\nb: *s\n";

	expect_json(text, "[{\"a\":{\"n\":[1]},\"b\":{\"n\":[1]},\"c\":{\"n\":[1]}},"
			  "{\"a\":\"hello\",\"b\":\"hello\"}]");
	cr_assert_eq(yaml_parse_all(text, strlen(text), &docs, &err), 0);
	json_object_clear(json_object_get(json_array_get(docs, 0), "b"));
	cr_assert_eq(json_object_size(json_object_get(json_array_get(docs, 0), "c")), 1,
		     "a change of one copy must not reach another");
}

Test(yaml, refusals_name_line_and_column)
{
	static const struct {
		const char *text, *err;
	} cases[] = {
		{"a: 1\nb: 2\na: 3\n", "line 3, column 1: duplicate key \"a\""},
		{"x:\n  1: a\n  '1': b\n", "line 3, column 3: duplicate key \"1\""},
		{"{\"a\":1,\"a\":2}", "line 1, column 8: duplicate key \"a\""},
		{"a: &x 1\nb:\n  <<: *x\n", "line 3, column 3: merge keys (<<) are not supported"},
		{"a: *nope\n", "line 1, column 4: unknown anchor \"nope\""},
		{"a: &x [*x]\n", "line 1, column 8: unknown anchor \"x\""},
		{"a: &x 1\n---\nb: *x\n", "line 3, column 4: unknown anchor \"x\""},
		{"a: !mine 1\n", "line 1, column 4: \"1\" cannot be read as !mine"},
		{"a: !!binary aGk=\n",
		 "line 1, column 4: \"aGk=\" cannot be read as tag:yaml.org,2002:binary"},
		{"a: !!int x\n", "line 1, column 4: \"x\" cannot be read as tag:yaml.org,2002:int"},
		{"a: !thing {}\n", "line 1, column 4: tag !thing is not supported"},
		{"a: 1\n---\nb: 2\n...\n%TAG !e! tag:e,2000:\n---\nc: 3\n",
		 "line 5, column 1: %TAG directives are not supported"},
		{"a: !!seq {}\n", "line 1, column 4: tag tag:yaml.org,2002:seq is not supported"},
		{"a: .inf\n", "line 1, column 4: .inf is a number that JSON cannot hold"},
		{"a: -.INF\n", "line 1, column 4: -.INF is a number that JSON cannot hold"},
		{"a: .nan\n", "line 1, column 4: .nan is a number that JSON cannot hold"},
		{"a: 1e999\n", "line 1, column 4: 1e999 is a number that JSON cannot hold"},
		{"? [a]\n: 1\n", "line 1, column 3: a key must be a scalar"},
		{"~: 1\n", "line 1, column 1: a key must not be null"},
		{"a: \"\\0\"\n", "line 1, column 4: NUL in a string"},
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct error err = {.text = ""};
		json_t *docs = NULL;

		cr_expect_eq(yaml_parse_all(cases[i].text, strlen(cases[i].text), &docs, &err), -1,
			     "%s", cases[i].text);
		cr_expect_str_eq(err.text, cases[i].err);
		cr_expect_eq(err.code, ERR_BAD_REQUEST);
		cr_expect_null(docs);
	}
}

/* What libyaml itself finds: its words, our line. */
Test(yaml, syntax_errors_have_a_line)
{
	static const struct {
		const char *text, *begin;
	} cases[] = {
		{"a: 1\nb: [1, 2\nc: 3\n", "line 3, "},
		{"a: 1\n\tb: 2\n", "line 2, "},
		{"a: 'x\n", "line 2, "},
		{"a: b: c\n", "line 1, "},
		{"- a\nb: 1\n", "line 2, "},
		{"a: 1\nb: \xff\n", "line 2, column 4: "},
		{"a: @x\n", "line 1, "},
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct error err = {.text = ""};
		json_t *docs = NULL;

		cr_expect_eq(yaml_parse_all(cases[i].text, strlen(cases[i].text), &docs, &err), -1,
			     "%s", cases[i].text);
		cr_expect_eq(strncmp(err.text, cases[i].begin, strlen(cases[i].begin)), 0, "%s: %s",
			     cases[i].text, err.text);
	}
}

Test(yaml, depth_64_is_the_deepest)
{
	char text[200];

	for (size_t depth = JSON_MAX_DEPTH; depth <= JSON_MAX_DEPTH + 1; depth++) {
		auto_json *docs = NULL;
		struct error err = {.text = ""};

		memset(text, '[', depth);
		text[depth] = 'x';
		memset(text + depth + 1, ']', depth);
		yaml_parse_all(text, depth * 2 + 1, &docs, &err);
		if (depth == JSON_MAX_DEPTH)
			cr_expect(docs, "%s", err.text);
		else
			cr_expect_str_eq(err.text,
					 "line 1, column 65: nested deeper than 64 levels");
	}
}

/* Aliases may not be a way around the depth. */
Test(yaml, aliases_count_for_the_depth)
{
	auto_strbuf text = {0};
	json_t *docs = NULL;
	struct error err;

	strbuf_adds(&text, "a0: &a0 [[[[[[[[[[x]]]]]]]]]]\n");
	for (int i = 1; i < 8; i++)
		strbuf_addf(&text, "a%d: &a%d [[[[[[[[[[*a%d]]]]]]]]]]\n", i, i, i - 1);
	cr_assert_eq(yaml_parse_all(text.bytes, text.size, &docs, &err), -1);
	cr_assert(strstr(err.text, "aliases expand to too much"), "%s", err.text);
}

Test(yaml, alias_bombs_are_refused)
{
	auto_strbuf text = {0};
	json_t *docs = NULL;
	struct error err;

	strbuf_adds(&text, "a0: &a0 [x, x, x, x, x, x, x, x, x]\n");
	for (int i = 1; i < 10; i++) {
		strbuf_addf(&text, "a%d: &a%d [", i, i);
		for (int j = 0; j < 9; j++)
			strbuf_addf(&text, "%s*a%d", j ? ", " : "", i - 1);
		strbuf_adds(&text, "]\n");
	}
	cr_assert_eq(yaml_parse_all(text.bytes, text.size, &docs, &err), -1);
	cr_assert(strstr(err.text, "aliases expand to too much"), "%s", err.text);
}

/* One large scalar many times is a bomb too. */
Test(yaml, aliases_of_a_large_scalar_are_refused)
{
	auto_strbuf text = {0};
	json_t *docs = NULL;
	struct error err;

	strbuf_adds(&text, "a: &a ");
	for (int i = 0; i < 100000; i++)
		strbuf_addc(&text, 'x');
	strbuf_adds(&text, "\nb:\n");
	for (int i = 0; i < 100; i++)
		strbuf_adds(&text, "- *a\n");
	cr_assert_eq(yaml_parse_all(text.bytes, text.size, &docs, &err), -1);
	cr_assert(strstr(err.text, "aliases expand to too much"), "%s", err.text);
}

static void expect_yaml(const char *json, const char *expected)
{
	auto_json *j = json_loads(json, JSON_DECODE_ANY, NULL);
	auto_strbuf out = {0};

	cr_assert(j, "%s", json);
	yaml_write(&out, j);
	cr_expect_str_eq(strbuf_str(&out), expected, "%s gives\n%s", json, strbuf_str(&out));
}

Test(yaml, writes_as_kubectl_prints)
{
	expect_yaml(
		"{\"kind\":\"Job\",\"apiVersion\":\"batch/v1\","
		"\"spec\":{\"tasks\":[{\"replicas\":2,\"name\":\"a\"},[]],\"plugins\":{\"env\":[]},"
		"\"list\":[[1,2],\"x\"],\"empty\":{}}}",
		"apiVersion: batch/v1\n"
		"kind: Job\n"
		"spec:\n"
		"  empty: {}\n"
		"  list:\n"
		"  - - 1\n"
		"    - 2\n"
		"  - x\n"
		"  plugins:\n"
		"    env: []\n"
		"  tasks:\n"
		"  - name: a\n"
		"    replicas: 2\n"
		"  - []\n");
}

Test(yaml, quotes_what_would_read_back_as_something_else)
{
	static const char *const cases[][2] = {
		{"\"1\"", "a: \"1\"\n"},
		{"\"true\"", "a: \"true\"\n"},
		{"\"null\"", "a: \"null\"\n"},
		{"\"\"", "a: \"\"\n"},
		{"\"~\"", "a: \"~\"\n"},
		{"\"1e3\"", "a: \"1e3\"\n"},
		{"\"0644\"", "a: \"0644\"\n"},
		{"\"1_000\"", "a: \"1_000\"\n"},
		{"\".inf\"", "a: \".inf\"\n"},
		{"\"yes\"", "a: \"yes\"\n"},
		{"\"Off\"", "a: \"Off\"\n"},
		{"\"<<\"", "a: \"<<\"\n"},
		{"\"plain\"", "a: plain\n"},
		{"\"1Gi\"", "a: 1Gi\n"},
		{"\"2026-11-29T17:46:46Z\"", "a: \"2026-11-29T17:46:46Z\"\n"},
		{"\"2026-11-29\"", "a: \"2026-11-29\"\n"},
		{"\"2026-11-29-rc1\"", "a: 2026-11-29-rc1\n"},
		{"\"1:30\"", "a: \"1:30\"\n"},
		{"\"8080:80\"", "a: 8080:80\n"},
		{"\"10.0.0.1:59\"", "a: 10.0.0.1:59\n"},
		{"\"a: b\"", "a: 'a: b'\n"},
		{"\"*x\"", "a: '*x'\n"},
		{"\"it's\"", "a: it's\n"},
		{"\" x\"", "a: ' x'\n"},
		{"1", "a: 1\n"},
		{"true", "a: true\n"},
		{"null", "a: null\n"},
		{"1.5", "a: 1.5\n"},
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		auto_xfree char *json = xasprintf("{\"a\":%s}", cases[i][0]);

		expect_yaml(json, cases[i][1]);
	}
	expect_yaml("{\"true\":1,\"8080\":2}", "\"8080\": 2\n\"true\": 1\n");
}

Test(yaml, writes_lines_as_a_block)
{
	expect_yaml("{\"script\":\"a\\n  b\\n\\nc\\n\",\"z\":1}",
		    "script: |\n  a\n    b\n\n  c\nz: 1\n");
	expect_yaml("{\"a\":\"x\\ny\"}", "a: |-\n  x\n  y\n");
	expect_yaml("{\"a\":\"x\\n\\n\",\"b\":1}", "a: |+\n  x\n\nb: 1\n");
}

Test(yaml, does_not_fold_long_lines)
{
	auto_strbuf json = {0}, expected = {0};

	strbuf_adds(&json, "{\"a\":\"");
	strbuf_adds(&expected, "a: ");
	for (int i = 0; i < 100; i++) {
		strbuf_addf(&json, "%sword", i ? " " : "");
		strbuf_addf(&expected, "%sword", i ? " " : "");
	}
	strbuf_adds(&json, "\"}");
	strbuf_adds(&expected, "\n");
	expect_yaml(json.bytes, expected.bytes);
}

/* Any tree: what was written reads back as the same one document. */
static bool reads_back_equal(struct draw *d)
{
	auto_json *value = generate_json(d, 4);
	auto_json *doc = json_pack("{s:O}", "doc", value);
	auto_json *docs = NULL;
	auto_strbuf text = {0};
	auto_xfree char *print = json_print(doc);
	struct error err = {.text = ""};

	yaml_write(&text, doc);
	yaml_parse_all(text.bytes, text.size, &docs, &err);
	return (json_array_size(docs) == 1 && json_equal(json_array_get(docs, 0), doc)) ||
	       draw_fail(d, "%s is written as\n%s\n%s", print, text.bytes, err.text);
}

Test(yaml, what_was_written_reads_back_equal, .timeout = 120)
{
	property_check(reads_back_equal, 6000);
}
