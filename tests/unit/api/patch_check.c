#include "patch_check.h"

#include <criterion/criterion.h>
#include <inttypes.h>
#include <string.h>

#include "base/json.h"
#include "random.h"

json_t *patch_parse(const char *text)
{
	struct error err = {0};
	json_t *j = json_parse(text, strlen(text), NULL, &err);

	cr_assert(j, "%s: %s", text, err.text);
	return j;
}

int patch_try(enum patch_type type, const json_t *target, const json_t *patch, json_t **ret,
	      struct error *err)
{
	auto_xfree char *before = json_print(target);
	int r = patch_apply(type, target, patch, ret, err);
	auto_xfree char *after = json_print(target);

	cr_assert_str_eq(before, after);
	return r;
}

void patch_check(enum patch_type type, const char *target, const char *patch, const char *want)
{
	auto_json *t = patch_parse(target);
	auto_json *p = patch_parse(patch);
	auto_json *w = patch_parse(want);
	auto_json *got = NULL;
	auto_xfree char *text = NULL;
	struct error err = {0};

	cr_assert_eq(patch_try(type, t, p, &got, &err), 0, "%s + %s: %s", target, patch, err.text);
	text = json_print(got);
	cr_expect(json_equal(got, w), "%s + %s is %s, not %s", target, patch, text, want);
}

void patch_check_refused(enum patch_type type, const char *target, const char *patch,
			 enum error_code code, const char *text)
{
	auto_json *t = patch_parse(target);
	auto_json *p = patch_parse(patch);
	json_t *got = NULL;
	struct error err = {0};

	cr_expect_eq(patch_try(type, t, p, &got, &err), -1, "%s + %s was taken", target, patch);
	cr_expect_eq(err.code, code, "%s + %s: %d %s", target, patch, err.code, err.text);
	cr_expect(strstr(err.text, text), "%s + %s: %s", target, patch, err.text);
	cr_expect_null(got);
}

/* A tree of few keys and small values, so that two of them have much in common. */
json_t *make_value(struct random *r, int depth)
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

json_t *make_document(struct random *r, int round)
{
	json_t *j = json_object();

	json_object_set_new(j, "x", make_value(r, 1 + 4 * round / ROUNDS));
	json_object_set_new(j, "y", make_value(r, 2 * round / ROUNDS));
	return j;
}

void patch_check_same(const struct random *r, const json_t *got, const json_t *want,
		      const json_t *target, const json_t *patch)
{
	auto_xfree char *g = json_print(got);
	auto_xfree char *w = json_print(want);
	auto_xfree char *t = json_print(target);
	auto_xfree char *p = json_print(patch);

	cr_assert(json_equal(got, want), "seed %" PRIu64 ": %s + %s is %s, not %s", r->seed, t, p,
		  g, w);
}
