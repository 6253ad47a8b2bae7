#include "api/patch.h"

#include <criterion/criterion.h>
#include <inttypes.h>
#include <string.h>

#include "base/json.h"
#include "random.h"

static json_t *parse(const char *text)
{
	struct error err = {0};
	json_t *j = json_parse(text, strlen(text), NULL, &err);

	cr_assert(j, "%s: %s", text, err.text);
	return j;
}

/* Whatever happens, the target stays as it was. */
static int apply(enum patch_type type, const json_t *target, const json_t *patch, json_t **ret,
		 struct error *err)
{
	auto_xfree char *before = json_print(target);
	int r = patch_apply(type, target, patch, ret, err);
	auto_xfree char *after = json_print(target);

	cr_assert_str_eq(before, after);
	return r;
}

static void check(enum patch_type type, const char *target, const char *patch, const char *want)
{
	auto_json *t = parse(target);
	auto_json *p = parse(patch);
	auto_json *w = parse(want);
	auto_json *got = NULL;
	auto_xfree char *text = NULL;
	struct error err = {0};

	cr_assert_eq(apply(type, t, p, &got, &err), 0, "%s + %s: %s", target, patch, err.text);
	text = json_print(got);
	cr_expect(json_equal(got, w), "%s + %s is %s, not %s", target, patch, text, want);
}

static void check_refused(enum patch_type type, const char *target, const char *patch,
			  enum error_code code, const char *text)
{
	auto_json *t = parse(target);
	auto_json *p = parse(patch);
	json_t *got = NULL;
	struct error err = {0};

	cr_expect_eq(apply(type, t, p, &got, &err), -1, "%s + %s was taken", target, patch);
	cr_expect_eq(err.code, code, "%s + %s: %d %s", target, patch, err.code, err.text);
	cr_expect(strstr(err.text, text), "%s + %s: %s", target, patch, err.text);
	cr_expect_null(got);
}

/* --- types ------------------------------------------------------------------------------------ */

Test(patch, knows_its_media_types)
{
	static const struct kind core = {.core = true}, custom = {.core = false};
	static const struct {
		const char *media_type;
		int type; /* -1: none */
		bool core_only;
	} cases[] = {
		{"application/merge-patch+json", PATCH_MERGE, false},
		{"application/json-patch+json", PATCH_JSON, false},
		{"application/strategic-merge-patch+json", PATCH_STRATEGIC, true},
		{"application/merge-patch+json; charset=utf-8", PATCH_MERGE, false},
		{"Application/Merge-Patch+JSON;charset=utf-8", PATCH_MERGE, false},
		{"application/apply-patch+yaml", -1, false},
		{"application/json", -1, false},
		{"application/merge-patch+jsonx", -1, false},
		{"", -1, false},
		{NULL, -1, false},
	};

	for (size_t i = 0; i < 2 * ARRAY_LEN(cases); i++) {
		const struct kind *k = i % 2 ? &core : &custom;
		bool taken = cases[i / 2].type >= 0 && (k->core || !cases[i / 2].core_only);
		enum patch_type type = 99;
		struct error err = {0};
		int r = patch_type_parse(cases[i / 2].media_type, k, &type, &err);

		cr_expect_eq(r, taken ? 0 : -1, "%s", cases[i / 2].media_type);
		cr_expect_eq(type, taken ? (enum patch_type)cases[i / 2].type : 99);
		if (taken)
			continue;
		cr_expect_eq(err.code, ERR_UNSUPPORTED_MEDIA);
		cr_expect(strstr(err.text, "accepted media types include: application/json-patch"));
		cr_expect_eq(!!strstr(err.text, "strategic"), k->core);
	}
}

/* --- merge patch ---------------------------------------------------------------------------------
 */

/* RFC 7386, appendix A. What stands for a whole document there stands for a member here, because
 * what is patched are objects. */
Test(merge_patch, passes_the_cases_of_the_rfc)
{
	static const char *const cases[][3] = {
		{"{\"a\":\"b\"}", "{\"a\":\"c\"}", "{\"a\":\"c\"}"},
		{"{\"a\":\"b\"}", "{\"b\":\"c\"}", "{\"a\":\"b\",\"b\":\"c\"}"},
		{"{\"a\":\"b\"}", "{\"a\":null}", "{}"},
		{"{\"a\":\"b\",\"b\":\"c\"}", "{\"a\":null}", "{\"b\":\"c\"}"},
		{"{\"a\":[\"b\"]}", "{\"a\":\"c\"}", "{\"a\":\"c\"}"},
		{"{\"a\":\"c\"}", "{\"a\":[\"b\"]}", "{\"a\":[\"b\"]}"},
		{"{\"a\":{\"b\":\"c\"}}", "{\"a\":{\"b\":\"d\",\"c\":null}}",
		 "{\"a\":{\"b\":\"d\"}}"},
		{"{\"a\":[{\"b\":\"c\"}]}", "{\"a\":[1]}", "{\"a\":[1]}"},
		{"[\"a\",\"b\"]", "[\"c\",\"d\"]", "[\"c\",\"d\"]"},
		{"{\"a\":\"b\"}", "[\"c\"]", "[\"c\"]"},
		{"{\"a\":\"foo\"}", "\"bar\"", "\"bar\""},
		{"{\"e\":null}", "{\"a\":1}", "{\"e\":null,\"a\":1}"},
		{"[1,2]", "{\"a\":\"b\",\"c\":null}", "{\"a\":\"b\"}"},
		{"{}", "{\"a\":{\"bb\":{\"ccc\":null}}}", "{\"a\":{\"bb\":{}}}"},
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		auto_xfree char *target = xasprintf("{\"x\":%s}", cases[i][0]);
		auto_xfree char *patch = xasprintf("{\"x\":%s}", cases[i][1]);
		auto_xfree char *want = xasprintf("{\"x\":%s}", cases[i][2]);

		check(PATCH_MERGE, target, patch, want);
		if (cases[i][0][0] == '{' && cases[i][1][0] == '{')
			check(PATCH_MERGE, cases[i][0], cases[i][1], cases[i][2]);
	}
	/* the one where null replaces the whole */
	check(PATCH_MERGE, "{\"x\":{\"a\":\"foo\"}}", "{\"x\":null}", "{}");
}

Test(merge_patch, keeps_the_order_of_what_is_there)
{
	auto_json *t = parse("{\"a\":1,\"b\":2,\"c\":3}");
	auto_json *p = parse("{\"b\":9,\"d\":4,\"a\":8}");
	auto_json *got = NULL;
	auto_xfree char *text = NULL;

	cr_assert_eq(patch_apply(PATCH_MERGE, t, p, &got, NULL), 0);
	text = json_print(got);
	cr_expect_str_eq(text, "{\"a\":8,\"b\":9,\"c\":3,\"d\":4}");
}

Test(merge_patch, must_be_an_object)
{
	check_refused(PATCH_MERGE, "{}", "[{\"op\":\"add\"}]", ERR_BAD_REQUEST, "object");
	check_refused(PATCH_MERGE, "{}", "\"x\"", ERR_BAD_REQUEST, "object");
	check_refused(PATCH_MERGE, "{}", "null", ERR_BAD_REQUEST, "object");
	check_refused(PATCH_STRATEGIC, "{}", "[]", ERR_BAD_REQUEST, "object");
}

/* A tree of few keys and small values, so that two of them have much in common. */
static json_t *make_value(struct random *r, int depth)
{
	static const char *const keys[] = {"a", "b", "c/d", "e~f", ""};
	json_t *j;
	int n = (int)random_below(r, 4);

	switch (depth ? random_below(r, 5) : 2 + random_below(r, 3)) {
	case 0:
		j = json_object();
		while (n--)
			json_object_set_new(j, keys[random_below(r, 5)], make_value(r, depth - 1));
		return j;
	case 1:
		j = json_array();
		while (n--)
			json_array_append_new(j, make_value(r, depth - 1));
		return j;
	case 2:
		return json_integer((json_int_t)random_below(r, 3));
	case 3:
		return json_string("s");
	default:
		return json_true();
	}
}

/* Small ones come in the first of the rounds, so that what fails first is small. */
#define ROUNDS 500

static json_t *make_document(struct random *r, int round)
{
	json_t *j = json_object();

	json_object_set_new(j, "x", make_value(r, 1 + 4 * round / ROUNDS));
	json_object_set_new(j, "y", make_value(r, 2 * round / ROUNDS));
	return j;
}

static void check_same(const struct random *r, const json_t *got, const json_t *want,
		       const json_t *target, const json_t *patch)
{
	auto_xfree char *g = json_print(got);
	auto_xfree char *w = json_print(want);
	auto_xfree char *t = json_print(target);
	auto_xfree char *p = json_print(patch);

	cr_assert(json_equal(got, want), "seed %" PRIu64 ": %s + %s is %s, not %s", r->seed, t, p,
		  g, w);
}

/* The merge patch from a to b, by the definition. */
static json_t *merge_difference(const json_t *a, const json_t *b)
{
	json_t *d = json_object();
	const char *key;
	json_t *v;

	json_object_foreach ((json_t *)(uintptr_t)a, key, v)
		if (!json_object_get(b, key))
			json_object_set_new(d, key, json_null());
	json_object_foreach ((json_t *)(uintptr_t)b, key, v) {
		const json_t *old = json_object_get(a, key);

		if (json_is_object(old) && json_is_object(v))
			json_object_set_new(d, key, merge_difference(old, v));
		else if (!old || !json_equal(old, v))
			json_object_set(d, key, v);
	}
	return d;
}

Test(merge_patch, applied_differences_give_the_other_document)
{
	struct random r = random_seeded();

	for (int i = 0; i < ROUNDS; i++) {
		auto_json *a = make_document(&r, i);
		auto_json *b = make_document(&r, i);
		auto_json *d = merge_difference(a, b);
		auto_json *got = NULL;

		cr_assert_eq(apply(PATCH_MERGE, a, d, &got, NULL), 0);
		check_same(&r, got, b, a, d);
	}
}

/* --- JSON patch ------------------------------------------------------------------------------- */

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
		check(PATCH_JSON, cases[i][0], cases[i][1], cases[i][2]);
	/* A.9 */
	check_refused(PATCH_JSON, "{\"baz\":\"qux\"}",
		      "[{\"op\":\"test\",\"path\":\"/baz\",\"value\":\"bar\"}]", ERR_INVALID,
		      "operation 0: test /baz");
	/* A.12 */
	check_refused(PATCH_JSON, "{\"foo\":\"bar\"}",
		      "[{\"op\":\"add\",\"path\":\"/baz/bat\",\"value\":\"qux\"}]", ERR_INVALID,
		      "path does not exist");
	/* A.13: of two "op" the last counts, and it needs what is not there */
	check_refused(PATCH_JSON, "{\"foo\":\"bar\"}",
		      "[{\"op\":\"add\",\"path\":\"/baz\",\"value\":\"qux\",\"op\":\"remove\"}]",
		      ERR_INVALID, "remove /baz");
	/* A.15 */
	check_refused(PATCH_JSON, "{\"/\":9,\"~1\":10}",
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
		check(PATCH_JSON, cases[i][0], cases[i][1], cases[i][2]);
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
		check_refused(PATCH_JSON, cases[i][0], cases[i][1], ERR_INVALID, cases[i][2]);
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
		check_refused(PATCH_JSON, "{\"a\":1}", cases[i], ERR_BAD_REQUEST, "");
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

Test(json_patch, applied_differences_give_the_other_document)
{
	struct random r = random_seeded();

	for (int i = 0; i < ROUNDS; i++) {
		auto_json *a = make_document(&r, i);
		auto_json *b = make_document(&r, i);
		auto_json *ops = json_array();
		auto_json *got = NULL;
		struct error err = {0};

		json_difference(a, b, "", ops);
		cr_assert_eq(apply(PATCH_JSON, a, ops, &got, &err), 0, "seed %" PRIu64 ": %s",
			     r.seed, err.text);
		check_same(&r, got, b, a, ops);
	}
}

/* --- strategic merge patch -----------------------------------------------------------------------
 */

#define POD(spec)                                                                                  \
	"{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"p\"},\"spec\":" spec "}"

Test(strategic_patch, merges_objects_and_deletes_by_null)
{
	check(PATCH_STRATEGIC, "{\"kind\":\"ConfigMap\",\"data\":{\"a\":\"1\",\"b\":\"2\"}}",
	      "{\"data\":{\"a\":null,\"c\":\"3\",\"d\":null},\"immutable\":true}",
	      "{\"kind\":\"ConfigMap\",\"data\":{\"b\":\"2\",\"c\":\"3\"},\"immutable\":true}");
	check(PATCH_STRATEGIC, "{\"kind\":\"ConfigMap\"}",
	      "{\"data\":{\"a\":null,\"b\":{\"c\":null,\"d\":1}}}",
	      "{\"kind\":\"ConfigMap\",\"data\":{\"b\":{\"d\":1}}}");
	check(PATCH_STRATEGIC, "{\"a\":\"text\"}", "{\"a\":{\"b\":1}}", "{\"a\":{\"b\":1}}");
	check(PATCH_STRATEGIC, "{\"a\":{\"b\":1}}", "{\"a\":[1]}", "{\"a\":[1]}");
}

Test(strategic_patch, merges_lists_by_their_keys)
{
	/* a container by name, its ports by containerPort, its env by name */
	check(PATCH_STRATEGIC,
	      POD("{\"containers\":[{\"name\":\"a\",\"image\":\"x:1\",\"env\":[{\"name\":\"E\","
		  "\"value\":\"1\"}],\"ports\":[{\"containerPort\":80}]},{\"name\":\"b\"}]}"),
	      "{\"spec\":{\"containers\":[{\"name\":\"a\",\"image\":\"x:2\",\"env\":[{\"name\":\"F\","
	      "\"value\":\"2\"}],\"ports\":[{\"containerPort\":80,\"name\":\"http\"}]}]}}",
	      POD("{\"containers\":[{\"name\":\"a\",\"image\":\"x:2\",\"env\":[{\"name\":\"F\","
		  "\"value\":\"2\"},{\"name\":\"E\",\"value\":\"1\"}],\"ports\":[{\"containerPort\":"
		  "80,\"name\":\"http\"}]},{\"name\":\"b\"}]}"));
	/* a Service's ports go by port, not by containerPort */
	check(PATCH_STRATEGIC,
	      "{\"kind\":\"Service\",\"spec\":{\"ports\":[{\"port\":80,\"name\":\"a\"},"
	      "{\"port\":81}]}}",
	      "{\"spec\":{\"ports\":[{\"port\":80,\"name\":\"b\"}]}}",
	      "{\"kind\":\"Service\",\"spec\":{\"ports\":[{\"port\":80,\"name\":\"b\"},"
	      "{\"port\":81}]}}");
	/* owners by uid, of every kind */
	check(PATCH_STRATEGIC,
	      "{\"kind\":\"Secret\",\"metadata\":{\"ownerReferences\":[{\"uid\":\"1\",\"name\":\"a\"}]}}",
	      "{\"metadata\":{\"ownerReferences\":[{\"uid\":\"2\"},{\"uid\":\"1\",\"kind\":\"K\"}]}}",
	      "{\"kind\":\"Secret\",\"metadata\":{\"ownerReferences\":[{\"uid\":\"2\"},"
	      "{\"uid\":\"1\",\"name\":\"a\",\"kind\":\"K\"}]}}");
	/* conditions of a Node by type; those of a CertificateSigningRequest have no key */
	check(PATCH_STRATEGIC,
	      "{\"kind\":\"Node\",\"status\":{\"conditions\":[{\"type\":\"Ready\",\"status\":\"True\"},"
	      "{\"type\":\"X\"}]}}",
	      "{\"status\":{\"conditions\":[{\"type\":\"Ready\",\"status\":\"False\"}]}}",
	      "{\"kind\":\"Node\",\"status\":{\"conditions\":[{\"type\":\"Ready\",\"status\":\"False\"},"
	      "{\"type\":\"X\"}]}}");
	check(PATCH_STRATEGIC,
	      "{\"kind\":\"CertificateSigningRequest\",\"status\":{\"conditions\":[{\"type\":\"A\"}]}}",
	      "{\"status\":{\"conditions\":[{\"type\":\"B\"}]}}",
	      "{\"kind\":\"CertificateSigningRequest\",\"status\":{\"conditions\":[{\"type\":\"B\"}]}}");
}

Test(strategic_patch, knows_the_key_of_every_merged_list_of_a_pod)
{
	static const char *const lists[][2] = {
		{"containers", "name"},
		{"initContainers", "name"},
		{"ephemeralContainers", "name"},
		{"volumes", "name"},
		{"imagePullSecrets", "name"},
		{"hostAliases", "ip"},
		{"topologySpreadConstraints", "topologyKey"},
		{"schedulingGates", "name"},
		{"resourceClaims", "name"},
	};
	static const char *const inner[][2] = {
		{"ports", "containerPort"},
		{"env", "name"},
		{"volumeMounts", "mountPath"},
		{"volumeDevices", "devicePath"},
	};

	for (size_t i = 0; i < ARRAY_LEN(lists); i++) {
		const char *l = lists[i][0], *k = lists[i][1];
		auto_xfree char *old = xasprintf(POD("{\"%s\":[{\"%s\":\"1\",\"o\":1}]}"), l, k);
		auto_xfree char *patch =
			xasprintf("{\"spec\":{\"%s\":[{\"%s\":\"1\",\"n\":2}]}}", l, k);
		auto_xfree char *want =
			xasprintf(POD("{\"%s\":[{\"%s\":\"1\",\"o\":1,\"n\":2}]}"), l, k);

		check(PATCH_STRATEGIC, old, patch, want);
	}
	for (size_t i = 0; i < 3 * ARRAY_LEN(inner); i++) {
		const char *c = lists[i / ARRAY_LEN(inner)][0];
		const char *l = inner[i % ARRAY_LEN(inner)][0], *k = inner[i % ARRAY_LEN(inner)][1];
		auto_xfree char *old = xasprintf(
			POD("{\"%s\":[{\"name\":\"c\",\"%s\":[{\"%s\":1,\"o\":1}]}]}"), c, l, k);
		auto_xfree char *patch = xasprintf(
			"{\"spec\":{\"%s\":[{\"name\":\"c\",\"%s\":[{\"%s\":1,\"n\":2}]}]}}", c, l,
			k);
		auto_xfree char *want = xasprintf(
			POD("{\"%s\":[{\"name\":\"c\",\"%s\":[{\"%s\":1,\"o\":1,\"n\":2}]}]}"), c,
			l, k);

		check(PATCH_STRATEGIC, old, patch, want);
	}
	/* tolerations have no key: the list is one value */
	check(PATCH_STRATEGIC, POD("{\"tolerations\":[{\"key\":\"a\"},{\"key\":\"b\"}]}"),
	      "{\"spec\":{\"tolerations\":[{\"key\":\"a\",\"operator\":\"Exists\"}]}}",
	      POD("{\"tolerations\":[{\"key\":\"a\",\"operator\":\"Exists\"}]}"));
}

Test(strategic_patch, deletes_and_replaces_elements)
{
	static const char pod[] =
		POD("{\"containers\":[{\"name\":\"a\"},{\"name\":\"b\"},{\"name\":\"c\"}]}");

	check(PATCH_STRATEGIC, pod,
	      "{\"spec\":{\"containers\":[{\"$patch\":\"delete\",\"name\":\"b\"}]}}",
	      POD("{\"containers\":[{\"name\":\"a\"},{\"name\":\"c\"}]}"));
	check(PATCH_STRATEGIC, pod,
	      "{\"spec\":{\"containers\":[{\"$patch\":\"delete\",\"name\":\"none\"}]}}", pod);
	check(PATCH_STRATEGIC, pod,
	      "{\"spec\":{\"containers\":[{\"name\":\"d\"},{\"$patch\":\"replace\"}]}}",
	      POD("{\"containers\":[{\"name\":\"d\"}]}"));
	check(PATCH_STRATEGIC, pod, "{\"spec\":{\"containers\":[{\"$patch\":\"replace\"}]}}",
	      POD("{\"containers\":[]}"));
	check(PATCH_STRATEGIC, pod, "{\"spec\":{\"containers\":null}}", POD("{}"));
	/* a port of a Service, as kubectl writes it */
	check(PATCH_STRATEGIC,
	      "{\"kind\":\"Service\",\"spec\":{\"ports\":[{\"port\":80},{\"port\":81}]}}",
	      "{\"spec\":{\"$setElementOrder/ports\":[{\"port\":80}],\"ports\":[{\"$patch\":\"delete\","
	      "\"port\":81}]}}",
	      "{\"kind\":\"Service\",\"spec\":{\"ports\":[{\"port\":80}]}}");
	/* new in the target: nothing is left of the directives */
	check(PATCH_STRATEGIC, POD("{}"),
	      "{\"spec\":{\"containers\":[{\"$patch\":\"delete\",\"name\":\"b\"},{\"name\":\"a\","
	      "\"x\":null,\"env\":[{\"$patch\":\"delete\",\"name\":\"E\"}]}]}}",
	      POD("{\"containers\":[{\"name\":\"a\",\"env\":[]}]}"));
}

Test(strategic_patch, deletes_and_replaces_objects)
{
	check(PATCH_STRATEGIC, "{\"a\":{\"b\":1,\"c\":2}}",
	      "{\"a\":{\"$patch\":\"replace\",\"d\":3,\"e\":null}}", "{\"a\":{\"d\":3}}");
	check(PATCH_STRATEGIC, "{\"a\":{\"b\":1}}", "{\"a\":{\"$patch\":\"delete\"}}",
	      "{\"a\":{}}");
	check(PATCH_STRATEGIC, "{\"b\":1}", "{\"a\":{\"$patch\":\"delete\"}}", "{\"b\":1}");
}

Test(strategic_patch, retains_only_the_keys_it_names)
{
	check(PATCH_STRATEGIC,
	      POD("{\"volumes\":[{\"name\":\"v\",\"emptyDir\":{\"medium\":\"Memory\"}}]}"),
	      "{\"spec\":{\"volumes\":[{\"$retainKeys\":[\"name\",\"configMap\"],\"name\":\"v\","
	      "\"configMap\":{\"name\":\"c\"},\"emptyDir\":null}]}}",
	      POD("{\"volumes\":[{\"name\":\"v\",\"configMap\":{\"name\":\"c\"}}]}"));
	check(PATCH_STRATEGIC, "{\"a\":{\"x\":1,\"y\":2}}",
	      "{\"a\":{\"$retainKeys\":[\"y\",\"z\"],\"z\":3}}", "{\"a\":{\"y\":2,\"z\":3}}");
	check_refused(PATCH_STRATEGIC, "{\"a\":{\"x\":1}}",
		      "{\"a\":{\"$retainKeys\":[\"x\"],\"z\":3}}", ERR_BAD_REQUEST, "\"z\"");
	check_refused(PATCH_STRATEGIC, "{\"a\":{\"x\":1}}", "{\"a\":{\"$retainKeys\":\"x\"}}",
		      ERR_BAD_REQUEST, "$retainKeys");
}

#define FINALIZERS(list) "{\"kind\":\"Secret\",\"metadata\":{\"finalizers\":" list "}}"

Test(strategic_patch, merges_and_deletes_plain_values)
{
	check(PATCH_STRATEGIC, FINALIZERS("[\"a\",\"b\"]"),
	      "{\"metadata\":{\"finalizers\":[\"c\",\"a\"]}}", FINALIZERS("[\"c\",\"a\",\"b\"]"));
	check(PATCH_STRATEGIC, FINALIZERS("[\"a\",\"b\",\"c\"]"),
	      "{\"metadata\":{\"$deleteFromPrimitiveList/finalizers\":[\"b\"]}}",
	      FINALIZERS("[\"a\",\"c\"]"));
	check(PATCH_STRATEGIC, FINALIZERS("[\"a\",\"b\"]"),
	      "{\"metadata\":{\"$deleteFromPrimitiveList/finalizers\":[\"b\"],"
	      "\"$setElementOrder/finalizers\":[\"c\",\"a\"],\"finalizers\":[\"c\"]}}",
	      FINALIZERS("[\"c\",\"a\"]"));
	check(PATCH_STRATEGIC, "{\"kind\":\"Secret\",\"metadata\":{}}",
	      "{\"metadata\":{\"$deleteFromPrimitiveList/finalizers\":[\"b\"],"
	      "\"$setElementOrder/finalizers\":[\"a\"]}}",
	      "{\"kind\":\"Secret\",\"metadata\":{}}");
	check(PATCH_STRATEGIC, FINALIZERS("[\"a\"]"), "{\"metadata\":{\"finalizers\":null}}",
	      "{\"kind\":\"Secret\",\"metadata\":{}}");
	/* of a list that is replaced, values can be deleted too */
	check(PATCH_STRATEGIC, "{\"kind\":\"X\",\"list\":[\"a\",\"b\"]}",
	      "{\"$deleteFromPrimitiveList/list\":[\"a\"],\"$setElementOrder/list\":[\"b\"]}",
	      "{\"kind\":\"X\",\"list\":[\"b\"]}");
}

Test(strategic_patch, puts_elements_in_the_order_it_names)
{
	static const char pod[] =
		POD("{\"containers\":[{\"name\":\"a\"},{\"name\":\"b\"},{\"name\":\"c\"}]}");

	check(PATCH_STRATEGIC, pod,
	      "{\"spec\":{\"$setElementOrder/containers\":[{\"name\":\"c\"},{\"name\":\"b\"},"
	      "{\"name\":\"a\"}]}}",
	      POD("{\"containers\":[{\"name\":\"c\"},{\"name\":\"b\"},{\"name\":\"a\"}]}"));
	/* what only the server has stays before what it stood before */
	check(PATCH_STRATEGIC, pod,
	      "{\"spec\":{\"$setElementOrder/containers\":[{\"name\":\"d\"},{\"name\":\"b\"},"
	      "{\"name\":\"a\"}],\"containers\":[{\"name\":\"d\"}]}}",
	      POD("{\"containers\":[{\"name\":\"d\"},{\"name\":\"b\"},{\"name\":\"a\"},"
		  "{\"name\":\"c\"}]}"));
	check(PATCH_STRATEGIC, pod,
	      "{\"spec\":{\"$setElementOrder/containers\":[{\"name\":\"c\"},{\"name\":\"d\"}],"
	      "\"containers\":[{\"name\":\"d\"}]}}",
	      POD("{\"containers\":[{\"name\":\"a\"},{\"name\":\"b\"},{\"name\":\"c\"},"
		  "{\"name\":\"d\"}]}"));
}

Test(strategic_patch, refuses_what_is_malformed)
{
	static const char pod[] = POD("{\"containers\":[{\"name\":\"a\"}]}");
	static const char *const cases[] = {
		"{\"$patch\":\"merge\"}",
		"{\"$patch\":1}",
		"{\"spec\":{\"$patch\":\"remove\"}}",
		"{\"spec\":{\"containers\":[{\"image\":\"x\"}]}}",
		"{\"spec\":{\"containers\":[\"a\"]}}",
		"{\"spec\":{\"containers\":[null]}}",
		"{\"spec\":{\"containers\":[{\"$patch\":\"delete\"}]}}",
		"{\"spec\":{\"containers\":[{\"$patch\":\"merge\",\"name\":\"a\"}]}}",
		"{\"spec\":{\"$setElementOrder/containers\":{},\"containers\":[]}}",
		"{\"spec\":{\"$setElementOrder/containers\":\"a\"}}",
		"{\"metadata\":{\"$deleteFromPrimitiveList/finalizers\":\"a\"}}",
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++)
		check_refused(PATCH_STRATEGIC, pod, cases[i], ERR_BAD_REQUEST, "");
	/* the whole object is deleted: nothing is left to store, but that is not for a patch to say
	 */
	check(PATCH_STRATEGIC, pod, "{\"$patch\":\"delete\"}", "{}");
}

static json_t *make_elements(struct random *r)
{
	static const char *const names[] = {"a", "b", "c", "d", "e"};
	json_t *list = json_array();
	unsigned used = 0;

	for (int n = (int)random_below(r, 6); n > 0; n--) {
		size_t i = random_below(r, 5);

		if (used & 1u << i)
			continue;
		used |= 1u << i;
		json_array_append_new(
			list, json_pack("{s:s,s:o}", "name", names[i], "v", make_value(r, 1)));
	}
	return list;
}

static json_t *element_named(const json_t *list, const char *name)
{
	size_t i;
	json_t *v;

	json_array_foreach (list, i, v)
		if (!strcmp(json_str_at(v, "name", NULL), name))
			return v;
	return NULL;
}

/* What kubectl apply sends to lead list a to list b: an order, what is new or other, deletions. */
static json_t *list_difference(const json_t *a, const json_t *b)
{
	json_t *order = json_array(), *elements = json_array();
	size_t i;
	json_t *v;

	json_array_foreach (b, i, v) {
		const char *name = json_str_at(v, "name", NULL);
		const json_t *old = element_named(a, name);

		json_array_append_new(order, json_pack("{s:s}", "name", name));
		if (!old || !json_equal(old, v))
			json_array_append(elements, v);
	}
	json_array_foreach (a, i, v)
		if (!element_named(b, json_str_at(v, "name", NULL)))
			json_array_append_new(elements,
					      json_pack("{s:s,s:s}", "$patch", "delete", "name",
							json_str_at(v, "name", NULL)));
	return json_pack("{s:{s:o,s:o}}", "spec", "$setElementOrder/containers", order,
			 "containers", elements);
}

Test(strategic_patch, applied_differences_give_the_other_list)
{
	struct random r = random_seeded();

	for (int i = 0; i < ROUNDS; i++) {
		auto_json *a = make_elements(&r);
		auto_json *b = make_elements(&r);
		auto_json *target =
			json_pack("{s:s,s:{s:O}}", "kind", "Pod", "spec", "containers", a);
		auto_json *patch = NULL;
		auto_json *got = NULL;
		struct error err = {0};
		size_t k;
		json_t *v;

		/* values that are objects merge, so let them differ in type only */
		json_array_foreach (a, k, v)
			json_object_set_new(v, "v", json_integer((json_int_t)random_below(&r, 3)));
		patch = list_difference(a, b);
		cr_assert_eq(apply(PATCH_STRATEGIC, target, patch, &got, &err), 0, "%s", err.text);
		check_same(&r, json_at(got, "spec", "containers", NULL), b, a, patch);
	}
}

/* --- limits ----------------------------------------------------------------------------------- */

static json_t *nested(size_t depth)
{
	json_t *j = json_object();

	for (size_t i = 1; i < depth; i++) {
		json_t *up = json_object();

		json_object_set_new(up, "a", j);
		j = up;
	}
	return j;
}

Test(patch, bounds_the_depth_of_patches_and_results)
{
	auto_json *target = parse("{}");
	auto_json *deepest = nested(JSON_MAX_DEPTH);
	auto_json *deeper = nested(JSON_MAX_DEPTH + 1);
	auto_json *got = NULL;
	struct error err = {0};

	cr_expect_eq(patch_apply(PATCH_MERGE, target, deepest, &got, &err), 0, "%s", err.text);
	for (int type = PATCH_MERGE; type <= PATCH_STRATEGIC; type++) {
		json_t *none = NULL;

		cr_expect_eq(patch_apply(type, target, deeper, &none, &err), -1);
		cr_expect_eq(err.code, ERR_BAD_REQUEST);
		cr_expect_null(none);
	}
}

Test(json_patch, cannot_dig_deeper_by_copying)
{
	auto_json *target = parse("{\"a\":{}}");
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
	auto_json *target = parse("{\"a\":[1,2,3,4]}");
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
	auto_json *target = parse("{\"a\":1}");
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

/* Lists that are merged are searched: two of 50,000 would take minutes. */
Test(strategic_patch, cannot_search_without_bound)
{
	auto_json *list = json_array();
	auto_json *target = NULL;
	auto_json *patch = NULL;
	json_t *got = NULL;
	struct error err = {0};

	for (int i = 0; i < 20000; i++) {
		char name[24];

		snprintf(name, sizeof(name), "n%d", i);
		json_array_append_new(list, json_pack("{s:s}", "name", name));
	}
	target = json_pack("{s:s,s:{s:O}}", "kind", "Pod", "spec", "containers", list);
	patch = json_pack("{s:{s:O}}", "spec", "containers", list);
	cr_expect_eq(patch_apply(PATCH_STRATEGIC, target, patch, &got, &err), -1);
	cr_expect_eq(err.code, ERR_TOO_LARGE, "%s", err.text);
	cr_expect_null(got);
}
