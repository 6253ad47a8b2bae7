#include "patch_check.h"

#include <criterion/criterion.h>
#include <string.h>

#include "base/json.h"

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
json_t *make_value(struct draw *d, int depth)
{
	static const char *const keys[] = {"a", "b", "c/d", "e~f", ""};
	json_t *j;
	int n;

	switch (draw_below(d, depth ? 5 : 3)) {
	case 0:
		return json_true();
	case 1:
		return json_integer((json_int_t)draw_below(d, 3));
	case 2:
		return json_string("s");
	case 3:
		j = json_array();
		for (n = (int)draw_below(d, 4); n; n--)
			json_array_append_new(j, make_value(d, depth - 1));
		return j;
	default:
		j = json_object();
		for (n = (int)draw_below(d, 4); n; n--)
			json_object_set_new(j, keys[draw_below(d, 5)], make_value(d, depth - 1));
		return j;
	}
}

json_t *make_document(struct draw *d)
{
	json_t *j = json_object();

	json_object_set_new(j, "x", make_value(d, 5));
	json_object_set_new(j, "y", make_value(d, 2));
	return j;
}

bool patch_leads_to(struct draw *d, enum patch_type type, const json_t *target, const json_t *patch,
		    const json_t *want)
{
	auto_xfree char *t = json_print(target);
	auto_xfree char *p = json_print(patch);
	auto_xfree char *w = json_print(want);
	auto_xfree char *g = NULL;
	auto_json *got = NULL;
	struct error err = {0};

	if (patch_try(type, target, patch, &got, &err))
		return draw_fail(d, "%s + %s: %s", t, p, err.text);
	g = json_print(got);
	return json_equal(got, want) || draw_fail(d, "%s + %s is %s, not %s", t, p, g, w);
}
