#include "base/scan.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "generate.h"

TestSuite(scan);

static bool scans(const char *text, size_t n)
{
	/* a copy that ends exactly at its last byte, so that a sanitizer sees any read behind it */
	auto_xfree char *exact = xmalloc(n);
	struct scan s;

	memcpy(exact, text, n);
	scan_init(&s, exact, n);
	scan_skip(&s);
	return scan_end(&s);
}

/* By the grammar of RFC 8259. */
Test(scan, accepts_what_the_rfc_allows)
{
	static const char *const good[] = {
		"0",
		"-0",
		"10",
		"1.0",
		"-1.5e10",
		"1E+2",
		"0e-1",
		"123456789012345678901234567890",
		"1e999",
		"\"\"",
		"\"a\"",
		"\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"",
		"\"\\u0000\\uD7FF\\uE000\\uffff\"",
		"\"\\ud83d\\ude00\"",
		"\"\x7f\"",
		"\"\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80\"",
		"true",
		"false",
		"null",
		"[]",
		"{}",
		"[1,2 , 3]",
		" \t\r\n{ \"a\" : [ ] , \"b\" : { } } \n",
		"{\"\":0}",
		"{\"a\":1,\"a\":2}",
		"[[],{},[{}]]",
	};

	for (size_t i = 0; i < ARRAY_LEN(good); i++)
		cr_expect(scans(good[i], strlen(good[i])), "%s", good[i]);
}

static const char *const bad[] = {
	"",
	" ",
	"tru",
	"truex",
	"nul",
	"True",
	"NaN",
	"Infinity",
	"-",
	"+1",
	"01",
	"-01",
	"1.",
	".5",
	"1e",
	"1e+",
	"1.e5",
	"0x10",
	"1 2",
	"1,",
	"\"",
	"\"a",
	"\"a\\\"",
	"'a'",
	"\"\\a\"",
	"\"\\u\"",
	"\"\\u12\"",
	"\"\\u12g4\"",
	"\"\\ud800\"",
	"\"\\ud800x\"",
	"\"\\ud800\\n\"",
	"\"\\ud800\\ud800\"",
	"\"\\udc00\"",
	"\"\n\"",
	"\"\t\"",
	"\"\x1f\"",
	"\"abcdefgh\x01\"",
	"\"\xff\"",
	"\"\xc3\"",
	"\"\xc0\x80\"",
	"\"\xed\xa0\x80\"",
	"[",
	"]",
	"[1",
	"[1,",
	"[1,]",
	"[,1]",
	"[1 2]",
	"[1}",
	"[1:2]",
	"{",
	"}",
	"{\"a\"",
	"{\"a\":",
	"{\"a\":1",
	"{\"a\":1,",
	"{\"a\":1,}",
	"{\"a\":1]",
	"{\"a\" 1}",
	"{\"a\":}",
	"{\"a\",1}",
	"{,}",
	"{a:1}",
	"{1:1}",
	"{null:1}",
	"{\"a\":1 \"b\":2}",
	"{\"a\":1,,\"b\":2}",
	"[] []",
	"{}x",
	"\xef\xbb\xbf{}",
	"[1,\v2]",
	"/**/1",
};

Test(scan, refuses_what_the_rfc_does_not_allow)
{
	for (size_t i = 0; i < ARRAY_LEN(bad); i++)
		cr_expect_not(scans(bad[i], strlen(bad[i])), "%s", bad[i]);
	cr_expect_not(scans("1\0", 2));
	cr_expect_not(scans("[\0]", 3));
}

Test(scan, depth_64_is_the_deepest)
{
	char text[200];

	for (int depth = 63; depth <= 66; depth++) {
		memset(text, '[', (size_t)depth);
		memset(text + depth, ']', (size_t)depth);
		cr_expect_eq(scans(text, (size_t)depth * 2), depth <= 64, "depth %d", depth);
	}
}

Test(scan, depth_counts_what_was_entered_before_a_skip)
{
	char text[200];
	struct scan s;

	memset(text, '[', 65);
	memset(text + 65, ']', 65);
	scan_init(&s, text, 130);
	scan_array_begin(&s);
	cr_assert(scan_element(&s));
	cr_assert_not(scan_skip(&s));
	cr_assert_str_eq(s.why, "nested deeper than 64 levels");
}

Test(scan, every_prefix_of_a_document_is_refused)
{
	static const char text[] =
		"{\"a\":[1,-2.5e3,\"x\\u00e9\\n\xc3\xa9\",true,null],\"b\":{\"c\":false}}";

	for (size_t n = 0; n < sizeof(text) - 1; n++)
		cr_expect_not(scans(text, n), "%.*s", (int)n, text);
	cr_assert(scans(text, sizeof(text) - 1));
}

Test(scan, walks_members_in_order)
{
	static const char text[] = "{ \"name\":\"x\", \"n\" : 42 ,\"on\":true,"
				   "\"list\":[1,2,3],\"skip\":{\"deep\":[{}]},\"last\":null}";
	struct scan s;
	struct sv key, name = {0};
	int64_t n = 0, item, sum = 0;
	bool on = false;
	int keys = 0;

	scan_init(&s, text, strlen(text));
	cr_assert_eq(scan_peek(&s), SCAN_OBJECT);
	cr_assert(scan_object_begin(&s));
	for (; scan_key(&s, &key); keys++) {
		if (sv_eq(key, "name")) {
			cr_assert(scan_string(&s, &name));
		} else if (sv_eq(key, "n")) {
			cr_assert(scan_int64(&s, &n));
		} else if (sv_eq(key, "on")) {
			cr_assert(scan_bool(&s, &on));
		} else if (sv_eq(key, "list")) {
			cr_assert(scan_array_begin(&s));
			while (scan_element(&s)) {
				cr_assert(scan_int64(&s, &item));
				sum = sum * 10 + item;
			}
		} else {
			cr_assert(scan_skip(&s));
		}
	}
	cr_assert(scan_end(&s));
	cr_assert_eq(keys, 6);
	cr_assert(sv_eq(name, "x"));
	cr_assert_eq(n, 42);
	cr_assert_eq(sum, 123);
	cr_assert(on);
}

Test(scan, peeks_at_every_type)
{
	static const struct {
		const char *text;
		enum scan_type type;
	} cases[] = {
		{"null", SCAN_NULL}, {" true", SCAN_BOOL}, {"false", SCAN_BOOL},
		{"-1", SCAN_NUMBER}, {"0", SCAN_NUMBER},   {"\"", SCAN_STRING},
		{"[", SCAN_ARRAY},   {"{", SCAN_OBJECT},   {"", SCAN_NONE},
		{"x", SCAN_NONE},    {"]", SCAN_NONE},     {":", SCAN_NONE},
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct scan s;

		scan_init(&s, cases[i].text, strlen(cases[i].text));
		cr_expect_eq(scan_peek(&s), cases[i].type, "%s", cases[i].text);
	}
}

Test(scan, raw_gives_exactly_the_bytes_of_the_value)
{
	static const char text[] = "[ {\"a\" : [1, 2]} , \"x\\n\" ,-1.5 ]";
	static const char *const expected[] = {"{\"a\" : [1, 2]}", "\"x\\n\"", "-1.5"};
	struct scan s;
	struct sv raw;

	scan_init(&s, text, strlen(text));
	scan_array_begin(&s);
	for (size_t i = 0; i < 3; i++) {
		cr_assert(scan_element(&s));
		cr_assert(scan_raw(&s, &raw));
		cr_assert(sv_eq(raw, expected[i]), "%.*s", (int)raw.n, raw.p);
	}
	cr_assert_not(scan_element(&s));
	cr_assert(scan_end(&s));
}

/* Strings are read eight bytes at a time: what is special in them may stand at any place. */
Test(scan, strings_end_where_they_do_whatever_stands_before)
{
	static const struct {
		const char *inside;
		bool fine;
	} cases[] = {
		{"", true},           {"\\\"", true},  {"\xc3\xa9", true}, {"\\u0041\\\\", true},
		{"!#[]^\x7f~", true}, {"\x1f", false}, {"\xff", false},    {"\\x", false}};

	for (size_t i = 0; i < ARRAY_LEN(cases) * 24; i++) {
		auto_xfree char *value =
			xasprintf("%.*s%s%s", (int)(i % 24), "~a !#[]^_}~b !#[]^_}~c !#[",
				  cases[i / 24].inside, "z\\n-plain-text");
		auto_xfree char *text = xasprintf("\"%s\", \"", value);
		struct scan s;
		struct sv raw;

		scan_init(&s, text, strlen(text));
		cr_assert_eq(scan_string(&s, &raw), cases[i / 24].fine, "%s", text);
		cr_assert(!cases[i / 24].fine || sv_eq(raw, value), "%s", text);
	}
}

Test(scan, unescapes_strings)
{
	static const char text[] =
		"\"\\\"\\\\\\/\\b\\f\\n\\r\\t\\u0041\\u00e9\\u20AC\\ud83d\\ude00z\"";
	auto_strbuf out = {0};
	struct scan s;
	struct sv raw;

	scan_init(&s, text, strlen(text));
	cr_assert(scan_string(&s, &raw));
	cr_assert(scan_end(&s));
	sv_unescape(raw, &out);
	cr_assert_str_eq(strbuf_str(&out), "\"\\/\b\f\n\r\tA\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80z");
}

Test(scan, integers_exact_or_refused)
{
	static const struct {
		const char *text;
		bool good;
		int64_t value;
	} cases[] = {
		{"0", true, 0},
		{"-1", true, -1},
		{"9223372036854775807", true, INT64_MAX},
		{"-9223372036854775808", true, INT64_MIN},
		{"\"9007199254740993\"", true, 9007199254740993},
		{"\"-5\"", true, -5},
		{"9223372036854775808", false, 0},
		{"\"99999999999999999999999999\"", false, 0},
		{"1.0", false, 0},
		{"1e3", false, 0},
		{"\"\"", false, 0},
		{"\" 1\"", false, 0},
		{"\"1 \"", false, 0},
		{"\"+1\"", false, 0},
		{"\"0x1\"", false, 0},
		{"\"1.5\"", false, 0},
		{"true", false, 0},
		{"null", false, 0},
		{"[]", false, 0},
		{"01", false, 0},
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		int64_t value = 77;
		struct scan s;

		scan_init(&s, cases[i].text, strlen(cases[i].text));
		cr_expect_eq(scan_int64(&s, &value), cases[i].good, "%s", cases[i].text);
		cr_expect_eq(value, cases[i].good ? cases[i].value : 77, "%s", cases[i].text);
		cr_expect_eq(s.failed, !cases[i].good);
	}
}

Test(scan, first_error_sticks)
{
	struct scan s;
	struct sv sv;
	int64_t n;
	bool b;

	scan_init(&s, "[1,]", 4);
	scan_array_begin(&s);
	cr_assert(scan_element(&s));
	cr_assert_not(scan_bool(&s, &b));
	cr_assert_str_eq(s.why, "expected true or false");
	cr_assert_eq(s.at - s.end, -3, "the error lies at the value");
	cr_assert_not(scan_int64(&s, &n));
	cr_assert_not(scan_skip(&s));
	cr_assert_not(scan_raw(&s, &sv));
	cr_assert_not(scan_element(&s));
	cr_assert_not(scan_key(&s, &sv));
	cr_assert_not(scan_object_begin(&s));
	cr_assert_not(scan_array_begin(&s));
	cr_assert_not(scan_string(&s, &sv));
	cr_assert_not(scan_end(&s));
	cr_assert_eq(scan_peek(&s), SCAN_NONE);
	cr_assert_str_eq(s.why, "expected true or false");
}

static struct sv sv_of(const char *text)
{
	return (struct sv){text, strlen(text)};
}

Test(scan, finds_by_path)
{
	struct sv doc = sv_of("{\"metadata\":{\"labels\":{\"a\":\"b\"},\"name\":\"x\"},"
			      "\"spec\":{\"n\":5,\"esc\":\"a\\nb\",\"list\":[1]}}");
	struct sv v = {0};

	cr_assert(scan_find(doc, &v, "spec", "n", NULL));
	cr_assert(sv_eq(v, "5"));
	cr_assert(scan_find(doc, &v, "spec", "list", NULL));
	cr_assert(sv_eq(v, "[1]"));
	cr_assert(scan_find_str(doc, &v, "metadata", "name", NULL));
	cr_assert(sv_eq(v, "x"));
	cr_assert(scan_find_str(doc, &v, "metadata", "labels", "a", NULL));
	cr_assert(sv_eq(v, "b"));

	v = sv_of("kept");
	cr_assert_not(scan_find(doc, &v, "metadata", "nam", NULL));
	cr_assert_not(scan_find(doc, &v, "metadata", "name", "deeper", NULL));
	cr_assert_not(scan_find(doc, &v, "spec", "list", "0", NULL));
	cr_assert_not(scan_find_str(doc, &v, "spec", "n", NULL));
	cr_assert_not(scan_find_str(doc, &v, "spec", "esc", NULL));
	cr_assert_not(scan_find(sv_of("[]"), &v, "a", NULL));
	cr_assert_not(scan_find(sv_of("{\"a\":"), &v, "a", NULL));
	cr_assert_not(scan_find(sv_of(""), &v, "a", NULL));
	cr_assert(sv_eq(v, "kept"));
}

static size_t accepted, refused;

/* jansson refuses more: deep nesting, \u0000 in keys, big integers. */
static bool is_dialect(const json_error_t *e)
{
	return json_error_code(e) == json_error_null_character ||
	       json_error_code(e) == json_error_null_byte_in_key ||
	       json_error_code(e) == json_error_numeric_overflow;
}

static bool agrees_on(struct draw *d, const char *text, size_t n)
{
	json_error_t e;
	json_t *judge = json_loadb(text, n, JSON_DECODE_ANY, &e);
	bool taken = judge != NULL;

	json_decref(judge);
	draw_count(d, taken ? &accepted : &refused);
	if (!taken && is_dialect(&e))
		return true;
	return scans(text, n) == taken ||
	       draw_fail(d, "jansson %s %s", taken ? "takes" : "refuses", text);
}

/* A document that jansson printed, and after one changed byte. */
static bool agrees_with_jansson(struct draw *d)
{
	static const char bytes[] = "{}[],:\"\\u0e-1.\n\x01\xc3\xff";
	auto_json *tree = generate_json(d, 4);
	auto_xfree char *text = json_dumps(tree, JSON_COMPACT | JSON_ENCODE_ANY);
	size_t n = strlen(text);

	if (!scans(text, n))
		return draw_fail(d, "%s", text);
	for (int i = 0; i < 40 && n; i++) {
		size_t at = draw_below(d, (unsigned)n);
		char was = text[at];

		text[at] = bytes[draw_below(d, sizeof(bytes) - 1)];
		if (!agrees_on(d, text, n))
			return false;
		text[at] = was;
	}
	return true;
}

Test(scan, agrees_with_jansson_on_mutated_documents, .timeout = 60)
{
	property_check(agrees_with_jansson, 400);
	cr_assert_gt(accepted, 1000u);
	cr_assert_gt(refused, 1000u);
}
