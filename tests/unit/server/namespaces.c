/* Namespaces: born active, emptied before they go, and nothing is born in one that dies. */
#include "fixture.h"

#define NAMESPACES "/api/v1/namespaces"

static void make_namespace(struct fixture *f, const char *name)
{
	auto_xfree char *body = xasprintf("{\"metadata\":{\"name\":\"%s\"}}", name);
	auto_answer a = call(f, "POST", NAMESPACES, body);

	cr_assert_eq(a.status, 201, "%s", a.body);
}

/* Waits up to 5 s until the path answers with that status. */
static bool becomes(struct fixture *f, const char *path, int status)
{
	for (int i = 0; i < 250; i++) {
		auto_answer a = call(f, "GET", path, NULL);

		if (a.status == status)
			return true;
		usleep(20000);
	}
	return false;
}

Test(namespaces, are_active_and_carry_their_name_as_label)
{
	struct fixture *f = fixture_create(NULL);
	auto_answer a = call(f, "GET", NAMESPACES "/default", NULL);

	expect_status(&a, 200);
	cr_expect_str_eq(at(&a, "status", "phase"), "Active");
	cr_expect_str_eq(at(&a, "metadata", "labels", "kubernetes.io/metadata.name"), "default");
	fixture_destroy(f);
}

Test(namespaces, go_with_all_that_is_in_them)
{
	struct fixture *f = fixture_create(NULL);

	make_namespace(f, "x");
	make_namespace(f, "xy");
	{
		auto_answer one =
			call(f, "POST", "/api/v1/namespaces/x/configmaps", config_body("a", ""));
		auto_answer two =
			call(f, "POST", "/apis/batch.volcano.sh/v1alpha1/namespaces/x/jobs",
			     job_body("j", ""));
		auto_answer other =
			call(f, "POST", "/api/v1/namespaces/xy/configmaps", config_body("a", ""));
		auto_answer gone = call(f, "DELETE", NAMESPACES "/x", NULL);

		expect_status(&one, 201);
		expect_status(&two, 201);
		expect_status(&other, 201);
		expect_status(&gone, 200);
		cr_expect_str_eq(at(&gone, "kind"), "Namespace");
		cr_expect_str_eq(at(&gone, "status", "phase"), "Terminating");
		cr_expect(*at(&gone, "metadata", "deletionTimestamp"));
	}
	cr_expect(becomes(f, NAMESPACES "/x", 404));
	{
		auto_answer jobs = call(f, "GET", "/apis/batch.volcano.sh/v1alpha1/jobs", NULL);
		auto_answer configs = call(f, "GET", "/api/v1/configmaps", NULL);

		cr_expect_eq(json_array_size(json_object_get(jobs.json, "items")), 0);
		cr_expect_eq(json_array_size(json_object_get(configs.json, "items")), 1);
	}
	fixture_destroy(f);
}

Test(namespaces, wait_for_finalizers_and_take_nothing_new)
{
	const char *configs = "/api/v1/namespaces/x/configmaps";
	struct fixture *f = fixture_create(NULL);

	make_namespace(f, "x");
	{
		auto_answer held = call(f, "POST", configs,
					config_body("a", "\"finalizers\":[\"example.com/x\"]"));
		auto_answer gone = call(f, "DELETE", NAMESPACES "/x", NULL);
		auto_answer late = call(f, "POST", configs, config_body("b", ""));
		auto_answer touched = patch(f, NAMESPACES "/x", "merge-patch+json",
					    "{\"metadata\":{\"labels\":{\"a\":\"b\"}}}");
		const json_t *cause =
			json_array_get(json_at(late.json, "details", "causes", NULL), 0);

		expect_status(&held, 201);
		expect_status(&gone, 200);
		expect_failure(&late, 403, "Forbidden",
			       "unable to create new content in namespace x because it is being "
			       "terminated");
		cr_expect_str_eq(text_at(cause, "reason", NULL), "NamespaceTerminating");
		expect_status(&touched, 200);
	}
	usleep(200000);
	{
		auto_answer still = call(f, "GET", NAMESPACES "/x", NULL);
		auto_answer held = call(f, "GET", "/api/v1/namespaces/x/configmaps/a", NULL);
		auto_answer freed = patch(f, "/api/v1/namespaces/x/configmaps/a",
					  "merge-patch+json", "{\"metadata\":{\"finalizers\":[]}}");

		expect_status(&still, 200);
		cr_expect(*at(&held, "metadata", "deletionTimestamp"));
		expect_status(&freed, 200);
	}
	cr_expect(becomes(f, NAMESPACES "/x", 404));
	fixture_destroy(f);
}

/* A replica that has not seen the deletion yet must not create in it either. */
Test(namespaces, a_stale_view_creates_nothing_in_a_dying_one)
{
	struct fixture *f = fixture_create(NULL);

	make_namespace(f, "x");
	{
		auto_answer seen = call(f, "GET", NAMESPACES "/x", NULL);

		expect_status(&seen, 200);
	}
	fixture_hold_back(f, true);
	{
		auto_answer gone = call(f, "DELETE", NAMESPACES "/x", NULL);
		auto_answer late =
			call(f, "POST", "/api/v1/namespaces/x/configmaps", config_body("b", ""));

		expect_status(&gone, 200);
		cr_expect(late.status >= 400, "%s", late.body);
	}
	fixture_hold_back(f, false);
	cr_expect(becomes(f, NAMESPACES "/x", 404));
	fixture_destroy(f);
}
