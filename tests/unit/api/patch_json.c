#include "api/patch.h"

#include <criterion/criterion.h>
#include <string.h>

#include "base/json.h"
#include "patch_check.h"

/* RFC 6902, appendix A. */
Test(json_patch, passes_the_cases_of_the_rfc)
{
	static const char *const cases[][3] = {
		/* A.1 to A.7 */
		{"{\"foo\":\"bar\"}", "[{\"op\":\"add\",\"path\":\"/baz\",\"value\":\"qux\"}]",
		 "{\"baz\":\"qux\",\"foo\":\"bar\"}"},
		{"{\"foo\":[\"bar\",\"baz\"]}",
		 "[{\"op\":\"add\",\"path\":\"/foo/1\",\"value\":\"qux\"}]",
		 "{\"foo\":[\"bar\",\"qux\",\"baz\"]}"},
		{"{\"baz\":\"qux\",\"foo\":\"bar\"}", "[{\"op\":\"remove\",\"path\":\"/baz\"}]",
		 "{\"foo\":\"bar\"}"},
		{"{\"foo\":[\"bar\",\"qux\",\"baz\"]}", "[{\"op\":\"remove\",\"path\":\"/foo/1\"}]",
		 "{\"foo\":[\"bar\",\"baz\"]}"},
		{"{\"baz\":\"qux\",\"foo\":\"bar\"}",
		 "[{\"op\":\"replace\",\"path\":\"/baz\",\"value\":\"boo\"}]",
		 "{\"baz\":\"boo\",\"foo\":\"bar\"}"},
		{"{\"foo\":{\"bar\":\"baz\",\"waldo\":\"fred\"},\"qux\":{\"corge\":\"grault\"}}",
		 "[{\"op\":\"move\",\"from\":\"/foo/waldo\",\"path\":\"/qux/thud\"}]",
		 "{\"foo\":{\"bar\":\"baz\"},\"qux\":{\"corge\":\"grault\",\"thud\":\"fred\"}}"},
		{"{\"foo\":[\"all\",\"grass\",\"cows\",\"eat\"]}",
		 "[{\"op\":\"move\",\"from\":\"/foo/1\",\"path\":\"/foo/3\"}]",
		 "{\"foo\":[\"all\",\"cows\",\"eat\",\"grass\"]}"},
		/* A.8 */
		{"{\"baz\":\"qux\",\"foo\":[\"a\",2,\"c\"]}",
		 "[{\"op\":\"test\",\"path\":\"/baz\",\"value\":\"qux\"},"
		 "{\"op\":\"test\",\"path\":\"/foo/1\",\"value\":2}]",
		 "{\"baz\":\"qux\",\"foo\":[\"a\",2,\"c\"]}"},
		/* A.10, A.11 */
		{"{\"foo\":\"bar\"}",
		 "[{\"op\":\"add\",\"path\":\"/child\",\"value\":{\"grandchild\":{}}}]",
		 "{\"foo\":\"bar\",\"child\":{\"grandchild\":{}}}"},
		{"{\"foo\":\"bar\"}",
		 "[{\"op\":\"add\",\"path\":\"/baz\",\"value\":\"qux\",\"xyz\":123}]",
		 "{\"foo\":\"bar\",\"baz\":\"qux\"}"},
		/* A.14, A.16 */
		{"{\"/\":9,\"~1\":10}", "[{\"op\":\"test\",\"path\":\"/~01\",\"value\":10}]",
		 "{\"/\":9,\"~1\":10}"},
		{"{\"foo\":[\"bar\"]}",
		 "[{\"op\":\"add\",\"path\":\"/foo/-\",\"value\":[\"abc\",\"def\"]}]",
		 "{\"foo\":[\"bar\",[\"abc\",\"def\"]]}"},
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++)
		patch_check(PATCH_JSON, cases[i][0], cases[i][1], cases[i][2]);
	/* A.9 */
	patch_check_refused(PATCH_JSON, "{\"baz\":\"qux\"}",
			    "[{\"op\":\"test\",\"path\":\"/baz\",\"value\":\"bar\"}]", ERR_INVALID,
			    "operation 0: test /baz");
	/* A.12 */
	patch_check_refused(PATCH_JSON, "{\"foo\":\"bar\"}",
			    "[{\"op\":\"add\",\"path\":\"/baz/bat\",\"value\":\"qux\"}]",
			    ERR_INVALID, "path does not exist");
	/* A.13: of two "op" the last counts, and it needs what is not there */
	patch_check_refused(
		PATCH_JSON, "{\"foo\":\"bar\"}",
		"[{\"op\":\"add\",\"path\":\"/baz\",\"value\":\"qux\",\"op\":\"remove\"}]",
		ERR_INVALID, "remove /baz");
	/* A.15 */
	patch_check_refused(PATCH_JSON, "{\"/\":9,\"~1\":10}",
			    "[{\"op\":\"test\",\"path\":\"/~01\",\"value\":\"10\"}]", ERR_INVALID,
			    "another");
}

Test(json_patch, does_what_the_rfc_says_at_the_edges)
{
	static const char *const cases[][3] = {
		{"{\"a\":1}", "[]", "{\"a\":1}"},
		{"{\"a\":1}", "[{\"op\":\"add\",\"path\":\"/a\",\"value\":null}]", "{\"a\":null}"},
		{"{\"a\":null}", "[{\"op\":\"test\",\"path\":\"/a\",\"value\":null}]",
		 "{\"a\":null}"},
		{"{\"a\":1}", "[{\"op\":\"test\",\"path\":\"/a\",\"value\":1.0}]", "{\"a\":1}"},
		{"{\"a\":{\"x\":[1],\"y\":2}}",
		 "[{\"op\":\"test\",\"path\":\"/a\",\"value\":{\"y\":2,\"x\":[1]}}]",
		 "{\"a\":{\"x\":[1],\"y\":2}}"},
		{"{\"a\":1}", "[{\"op\":\"replace\",\"path\":\"\",\"value\":{\"b\":2}}]",
		 "{\"b\":2}"},
		{"{\"a\":1}", "[{\"op\":\"add\",\"path\":\"\",\"value\":{\"b\":2}}]", "{\"b\":2}"},
		{"{\"a\":{\"b\":1}}", "[{\"op\":\"copy\",\"from\":\"/a\",\"path\":\"/a/c\"}]",
		 "{\"a\":{\"b\":1,\"c\":{\"b\":1}}}"},
		{"{\"a\":{\"b\":{\"c\":1}}}",
		 "[{\"op\":\"move\",\"from\":\"/a/b\",\"path\":\"/a\"}]", "{\"a\":{\"c\":1}}"},
		{"{\"a\":1}", "[{\"op\":\"move\",\"from\":\"/a\",\"path\":\"/a\"}]", "{\"a\":1}"},
		{"{\"a\":1}", "[{\"op\":\"copy\",\"from\":\"\",\"path\":\"/b\"}]",
		 "{\"a\":1,\"b\":{\"a\":1}}"},
		{"{\"a\":[1,2]}", "[{\"op\":\"replace\",\"path\":\"/a/1\",\"value\":3}]",
		 "{\"a\":[1,3]}"},
		{"{\"a\":[]}", "[{\"op\":\"add\",\"path\":\"/a/0\",\"value\":3}]", "{\"a\":[3]}"},
		{"{\"a\":[1]}", "[{\"op\":\"add\",\"path\":\"/a/1\",\"value\":3}]",
		 "{\"a\":[1,3]}"},
		{"{\"a\":{\"0\":1,\"-\":2}}",
		 "[{\"op\":\"remove\",\"path\":\"/a/0\"},"
		 "{\"op\":\"remove\",\"path\":\"/a/-\"}]",
		 "{\"a\":{}}"},
		{"{\"\":{\"\":1}}", "[{\"op\":\"replace\",\"path\":\"//\",\"value\":2}]",
		 "{\"\":{\"\":2}}"},
		{"{\"m\":{}}",
		 "[{\"op\":\"add\",\"path\":\"/m/example.com~1gpu\",\"value\":\"x\"}]",
		 "{\"m\":{\"example.com/gpu\":\"x\"}}"},
		{"{\"a\":1}",
		 "[{\"op\":\"remove\",\"path\":\"/a\"},"
		 "{\"op\":\"add\",\"path\":\"/b\",\"value\":2},"
		 "{\"op\":\"test\",\"path\":\"/b\",\"value\":2}]",
		 "{\"b\":2}"},
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++)
		patch_check(PATCH_JSON, cases[i][0], cases[i][1], cases[i][2]);
}

Test(json_patch, refuses_what_cannot_be_done)
{
	static const char *const cases[][3] = {
		{"{}", "[{\"op\":\"remove\",\"path\":\"/a\"}]", "path does not exist"},
		{"{}", "[{\"op\":\"replace\",\"path\":\"/a\",\"value\":1}]", "path does not exist"},
		{"{}", "[{\"op\":\"test\",\"path\":\"/a\",\"value\":null}]", "path does not exist"},
		{"{}", "[{\"op\":\"copy\",\"from\":\"/a\",\"path\":\"/b\"}]",
		 "from does not exist"},
		{"{}", "[{\"op\":\"move\",\"from\":\"/a\",\"path\":\"/b\"}]",
		 "from does not exist"},
		{"{\"a\":{\"b\":1}}", "[{\"op\":\"move\",\"from\":\"/a\",\"path\":\"/a/b/c\"}]",
		 "into itself"},
		{"{\"a\":1}", "[{\"op\":\"move\",\"from\":\"\",\"path\":\"/b\"}]", "into itself"},
		{"{\"a\":[1]}", "[{\"op\":\"add\",\"path\":\"/a/2\",\"value\":1}]", "path"},
		{"{\"a\":[1]}", "[{\"op\":\"add\",\"path\":\"/a/00\",\"value\":1}]", "path"},
		{"{\"a\":[1]}", "[{\"op\":\"add\",\"path\":\"/a/-1\",\"value\":1}]", "path"},
		{"{\"a\":[1]}", "[{\"op\":\"add\",\"path\":\"/a/x\",\"value\":1}]", "path"},
		{"{\"a\":[1]}",
		 "[{\"op\":\"add\",\"path\":\"/a/9999999999999999999\",\"value\":1}]", "path"},
		{"{\"a\":[1]}", "[{\"op\":\"remove\",\"path\":\"/a/-\"}]", "path"},
		{"{\"a\":[1]}", "[{\"op\":\"remove\",\"path\":\"/a/1\"}]", "path"},
		{"{\"a\":[1]}", "[{\"op\":\"replace\",\"path\":\"/a/-\",\"value\":1}]", "path"},
		{"{\"a\":\"s\"}", "[{\"op\":\"add\",\"path\":\"/a/b\",\"value\":1}]", "path"},
		{"{}", "[{\"op\":\"remove\",\"path\":\"\"}]", "path"},
		{"{}", "[{\"op\":\"replace\",\"path\":\"\",\"value\":[]}]", "no object"},
		{"{\"a\":[1,2]}", "[{\"op\":\"test\",\"path\":\"/a\",\"value\":[2,1]}]", "another"},
		{"{\"a\":[1,2]}", "[{\"op\":\"test\",\"path\":\"/a\",\"value\":[1]}]", "another"},
		{"{\"a\":{\"b\":1}}", "[{\"op\":\"test\",\"path\":\"/a\",\"value\":{\"c\":1}}]",
		 "another"},
		{"{\"a\":1}",
		 "[{\"op\":\"remove\",\"path\":\"/a\"},{\"op\":\"remove\",\"path\":\"/a\"}]",
		 "operation 1: remove /a"},
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++)
		patch_check_refused(PATCH_JSON, cases[i][0], cases[i][1], ERR_INVALID, cases[i][2]);
}

Test(json_patch, refuses_what_is_malformed)
{
	static const char *const cases[] = {
		"{}",
		"\"x\"",
		"[1]",
		"[{}]",
		"[{\"op\":\"spam\",\"path\":\"/a\"}]",
		"[{\"op\":1,\"path\":\"/a\"}]",
		"[{\"path\":\"/a\",\"value\":1}]",
		"[{\"op\":\"add\",\"value\":1}]",
		"[{\"op\":\"add\",\"path\":1,\"value\":1}]",
		"[{\"op\":\"add\",\"path\":\"a\",\"value\":1}]",
		"[{\"op\":\"add\",\"path\":\"/a~\",\"value\":1}]",
		"[{\"op\":\"add\",\"path\":\"/a~2\",\"value\":1}]",
		"[{\"op\":\"add\",\"path\":\"/a\"}]",
		"[{\"op\":\"test\",\"path\":\"/a\"}]",
		"[{\"op\":\"copy\",\"path\":\"/a\"}]",
		"[{\"op\":\"move\",\"path\":\"/a\",\"from\":\"b\"}]",
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++)
		patch_check_refused(PATCH_JSON, "{\"a\":1}", cases[i], ERR_BAD_REQUEST, "");
}

/* The JSON patch from a to b, by force: every member is removed or added. */
static void json_difference(const json_t *a, const json_t *b, const char *path, json_t *ops)
{
	const char *key;
	json_t *v;

	json_object_foreach ((json_t *)(uintptr_t)a, key, v) {
		auto_strbuf p = {0};

		strbuf_addf(&p, "%s/", path);
		for (const char *c = key; *c; c++)
			strbuf_adds(&p, *c == '/' ? "~1" : *c == '~' ? "~0" : (char[2]){*c});
		if (!json_object_get(b, key))
			json_array_append_new(ops, json_pack("{s:s,s:s}", "op", "remove", "path",
							     strbuf_str(&p)));
		else if (json_is_object(v) && json_is_object(json_object_get(b, key)))
			json_difference(v, json_object_get(b, key), strbuf_str(&p), ops);
		else
			json_array_append_new(ops, json_pack("{s:s,s:s,s:O}", "op", "replace",
							     "path", strbuf_str(&p), "value",
							     json_object_get(b, key)));
	}
	json_object_foreach ((json_t *)(uintptr_t)b, key, v) {
		auto_strbuf p = {0};

		if (json_object_get(a, key))
			continue;
		strbuf_addf(&p, "%s/", path);
		for (const char *c = key; *c; c++)
			strbuf_adds(&p, *c == '/' ? "~1" : *c == '~' ? "~0" : (char[2]){*c});
		json_array_append_new(ops, json_pack("{s:s,s:s,s:O}", "op", "add", "path",
						     strbuf_str(&p), "value", v));
	}
}

static bool operations_lead_to_other(struct draw *d)
{
	auto_json *a = make_document(d);
	auto_json *b = make_document(d);
	auto_json *ops = json_array();

	json_difference(a, b, "", ops);
	return patch_leads_to(d, PATCH_JSON, a, ops, b);
}

Test(json_patch, applied_differences_give_the_other_document)
{
	property_check(operations_lead_to_other, 500);
}

Test(json_patch, cannot_dig_deeper_by_copying)
{
	auto_json *target = patch_parse("{\"a\":{}}");
	auto_json *ops = json_array();
	json_t *got = NULL;
	struct error err = {0};

	for (int i = 0; i < 7; i++) /* a doubles its depth each time */
		json_array_append_new(ops, json_pack("{s:s,s:s,s:s}", "op", "copy", "from", "/a",
						     "path", "/a/a"));
	cr_expect_eq(patch_apply(PATCH_JSON, target, ops, &got, &err), 0, "%s", err.text);
	json_decref(got);
	got = NULL;
	for (int i = 0; i < 70; i++) {
		char path[256] = "";

		for (int k = 0; k <= i && k < 66; k++)
			memcpy(path + 2 * k, "/a", 3);
		json_array_append_new(
			ops, json_pack("{s:s,s:s,s:{}}", "op", "add", "path", path, "value"));
	}
	cr_expect_eq(patch_apply(PATCH_JSON, target, ops, &got, &err), -1);
	cr_expect_null(got);
}

/* A line of text that would make 2^40 nodes. */
Test(json_patch, cannot_grow_without_bound)
{
	auto_json *target = patch_parse("{\"a\":[1,2,3,4]}");
	auto_json *ops = json_array();
	json_t *got = NULL;
	struct error err = {0};

	for (int i = 0; i < 40; i++) {
		json_array_append_new(
			ops, json_pack("{s:s,s:s,s:s}", "op", "copy", "from", "/a", "path", "/b"));
		json_array_append_new(ops, json_pack("{s:s,s:s,s:s}", "op", "copy", "from", "/b",
						     "path", "/a/-"));
		json_array_append_new(ops, json_pack("{s:s,s:s,s:s}", "op", "copy", "from", "/b",
						     "path", "/a/-"));
	}
	cr_expect_eq(patch_apply(PATCH_JSON, target, ops, &got, &err), -1);
	cr_expect(err.code == ERR_TOO_LARGE || err.code == ERR_BAD_REQUEST, "%s", err.text);
	cr_expect_null(got);
}

Test(json_patch, has_a_greatest_number_of_operations)
{
	auto_json *target = patch_parse("{\"a\":1}");
	auto_json *ops = json_array();
	auto_json *got = NULL;
	json_t *none = NULL;
	struct error err = {0};

	for (int i = 0; i < 10000; i++)
		json_array_append_new(
			ops, json_pack("{s:s,s:s,s:i}", "op", "test", "path", "/a", "value", 1));
	cr_expect_eq(patch_apply(PATCH_JSON, target, ops, &got, &err), 0, "%s", err.text);
	json_array_append(ops, json_array_get(ops, 0));
	cr_expect_eq(patch_apply(PATCH_JSON, target, ops, &none, &err), -1);
	cr_expect_eq(err.code, ERR_TOO_LARGE);
}
