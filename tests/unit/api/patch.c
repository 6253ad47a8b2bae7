#include "api/patch.h"

#include <criterion/criterion.h>
#include <string.h>

#include "base/json.h"
#include "patch_check.h"

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

		patch_check(PATCH_MERGE, target, patch, want);
		if (cases[i][0][0] == '{' && cases[i][1][0] == '{')
			patch_check(PATCH_MERGE, cases[i][0], cases[i][1], cases[i][2]);
	}
	/* the one where null replaces the whole */
	patch_check(PATCH_MERGE, "{\"x\":{\"a\":\"foo\"}}", "{\"x\":null}", "{}");
}

Test(merge_patch, keeps_the_order_of_what_is_there)
{
	auto_json *t = patch_parse("{\"a\":1,\"b\":2,\"c\":3}");
	auto_json *p = patch_parse("{\"b\":9,\"d\":4,\"a\":8}");
	auto_json *got = NULL;
	auto_xfree char *text = NULL;

	cr_assert_eq(patch_apply(PATCH_MERGE, t, p, &got, NULL), 0);
	text = json_print(got);
	cr_expect_str_eq(text, "{\"a\":8,\"b\":9,\"c\":3,\"d\":4}");
}

Test(merge_patch, must_be_an_object)
{
	patch_check_refused(PATCH_MERGE, "{}", "[{\"op\":\"add\"}]", ERR_BAD_REQUEST, "object");
	patch_check_refused(PATCH_MERGE, "{}", "\"x\"", ERR_BAD_REQUEST, "object");
	patch_check_refused(PATCH_MERGE, "{}", "null", ERR_BAD_REQUEST, "object");
	patch_check_refused(PATCH_STRATEGIC, "{}", "[]", ERR_BAD_REQUEST, "object");
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

static bool merges_to_other(struct draw *d)
{
	auto_json *a = make_document(d);
	auto_json *b = make_document(d);
	auto_json *patch = merge_difference(a, b);

	return patch_leads_to(d, PATCH_MERGE, a, patch, b);
}

Test(merge_patch, applied_differences_give_the_other_document)
{
	property_check(merges_to_other, 500);
}

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
	auto_json *target = patch_parse("{}");
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
