/* PUT and PATCH: versions, generation, the two halves of an object, the end of a dying one. */
#include "fixture.h"

static char *text_of(const json_t *j)
{
	return json_dumps(j, 0);
}

static void make_job(struct fixture *f, const char *name, const char *meta)
{
	auto_answer a = call(f, "POST", JOBS, job_body(name, meta));

	cr_assert_eq(a.status, 201, "%s", a.body);
}

Test(update, replaces_by_version_and_counts_the_generation)
{
	struct fixture *f = fixture_create(NULL);

	make_job(f, "a", "");
	{
		auto_answer got = call(f, "GET", JOBS "/a", NULL);
		auto_xfree char *old = text_of(got.json);

		json_set_int(json_object_get(got.json, "spec"), "maxRetry", 7);
		{
			auto_xfree char *changed = text_of(got.json);
			auto_answer a = call(f, "PUT", JOBS "/a", changed);
			auto_answer stale = call(f, "PUT", JOBS "/a", old);

			expect_status(&a, 200);
			cr_expect_eq(json_int_at(a.json, 0, "metadata", "generation", NULL), 2);
			cr_expect_str_neq(at(&a, "metadata", "resourceVersion"),
					  at(&got, "metadata", "resourceVersion"));
			expect_failure(
				&stale, 409, "Conflict",
				"Operation cannot be fulfilled on jobs.batch.volcano.sh \"a\": "
				"the object has been modified; please apply your changes to the "
				"latest version and try again");
		}
	}
	fixture_destroy(f);
}

Test(update, without_a_version_only_core_kinds_are_replaced)
{
	struct fixture *f = fixture_create(NULL);
	auto_answer made = call(f, "POST", CONFIGS, config_body("c", ""));
	auto_answer config = call(f, "PUT", CONFIGS "/c",
				  "{\"metadata\":{\"name\":\"c\"},\"data\":{\"k\":\"w\"}}");

	make_job(f, "a", "");
	{
		auto_answer job = call(f, "PUT", JOBS "/a", job_body("a", ""));

		expect_status(&made, 201);
		expect_status(&config, 200);
		cr_expect_str_eq(at(&config, "data", "k"), "w");
		cr_expect_str_eq(at(&config, "metadata", "uid"), at(&made, "metadata", "uid"));
		expect_failure(&job, 422, "Invalid", "must be specified for an update");
	}
	fixture_destroy(f);
}

static const struct {
	const char *path, *body;
	int code;
	const char *reason, *text;
} refusals[] = {
	{CONFIGS "/x", "{\"metadata\":{\"name\":\"x\"}}", 404, "NotFound",
	 "configmaps \"x\" not found"},
	{CONFIGS "/c", "{\"metadata\":{\"name\":\"d\"}}", 400, "BadRequest",
	 "the name of the object (d) does not match the name on the URL (c)"},
	{CONFIGS "/c", "{\"metadata\":{}}", 400, "BadRequest", "name must be provided"},
	{CONFIGS "/c", "{\"metadata\":{\"name\":\"c\",\"uid\":\"other\"}}", 409, "Conflict", "uid"},
	{CONFIGS "/c", "{\"metadata\":{\"name\":\"c\",\"resourceVersion\":\"1\"}}", 409, "Conflict",
	 "the object has been modified"},
	{CONFIGS "/c", "{\"metadata\":{\"name\":\"c\"},\"data\":7}", 422, "Invalid", "data"},
	{CONFIGS "/c?fieldValidation=Strict", "{\"metadata\":{\"name\":\"c\"},\"bogus\":7}", 400,
	 "BadRequest", "strict decoding error: unknown field \"bogus\""},
	{CONFIGS, "{}", 405, "MethodNotAllowed", ""},
};

Test(update, refuses_with_the_reason)
{
	struct fixture *f = fixture_create(NULL);
	auto_answer made = call(f, "POST", CONFIGS, config_body("c", ""));

	for (size_t i = 0; i < ARRAY_LEN(refusals); i++) {
		auto_answer a = call(f, "PUT", refusals[i].path, refusals[i].body);

		expect_failure(&a, refusals[i].code, refusals[i].reason, refusals[i].text);
	}
	{
		auto_answer got = call(f, "GET", CONFIGS "/c", NULL);

		cr_expect(json_equal(got.json, made.json));
	}
	fixture_destroy(f);
}

Test(update, changing_nothing_keeps_the_version)
{
	struct fixture *f = fixture_create(NULL);

	make_job(f, "a", "");
	{
		auto_answer before = call(f, "GET", JOBS "/a", NULL);
		auto_xfree char *body = text_of(before.json);
		auto_answer put = call(f, "PUT", JOBS "/a", body);
		auto_answer empty = patch(f, JOBS "/a", "merge-patch+json", "{}");
		auto_answer same = patch(f, JOBS "/a", "merge-patch+json",
					 "{\"spec\":{\"queue\":\"default\"}}");

		cr_expect(json_equal(put.json, before.json), "%s", put.body);
		cr_expect(json_equal(empty.json, before.json), "%s", empty.body);
		cr_expect(json_equal(same.json, before.json), "%s", same.body);
	}
	fixture_destroy(f);
}

Test(update, main_path_leaves_status_and_status_path_the_rest)
{
	static const char *const paths[] = {QUEUES "/q", JOBS "/j"};
	struct fixture *f = fixture_create(NULL);
	auto_answer q = call(f, "POST", QUEUES, "{\"metadata\":{\"name\":\"q\"}}");

	expect_status(&q, 201);
	make_job(f, "j", "");
	for (size_t i = 0; i < ARRAY_LEN(paths); i++) {
		const char *field = i ? "minAvailable" : "closed";
		auto_xfree char *status_path = xasprintf("%s/status", paths[i]);
		auto_xfree char *both =
			xasprintf("{\"metadata\":{\"labels\":{\"a\":\"b\"}},\"spec\":{"
				  "\"%s\":0},\"status\":{\"running\":5}}",
				  field);
		auto_answer main = patch(f, paths[i], "merge-patch+json",
					 "{\"metadata\":{\"labels\":{\"m\":\"n\"}},\"status\":{"
					 "\"running\":9}}");
		auto_answer status = patch(f, status_path, "merge-patch+json", both);
		auto_answer got = call(f, "GET", paths[i], NULL);
		auto_answer by_path = call(f, "GET", status_path, NULL);

		expect_status(&main, 200);
		cr_expect_eq(json_int_at(main.json, -1, "status", "running", NULL), -1, "%s",
			     main.body);
		expect_status(&status, 200);
		cr_expect_eq(json_int_at(status.json, 0, "status", "running", NULL), 5, "%s",
			     status.body);
		cr_expect_neq(json_int_at(status.json, -1, "spec", field, NULL), 0);
		cr_expect_str_eq(at(&status, "metadata", "labels", "m"), "n");
		cr_expect_str_empty(at(&status, "metadata", "labels", "a"));
		cr_expect_eq(json_int_at(status.json, 0, "metadata", "generation", NULL), 1);
		cr_expect(json_equal(got.json, status.json), "%s\n%s", got.body, status.body);
		cr_expect(json_equal(by_path.json, got.json));
	}
	fixture_destroy(f);
}

/* The status of a Job lies apart, and still one version counts both halves. */
Test(update, a_named_version_covers_both_halves)
{
	struct fixture *f = fixture_create(NULL);

	make_job(f, "j", "");
	{
		auto_answer before = call(f, "GET", JOBS "/j", NULL);
		auto_answer status = patch(f, JOBS "/j/status", "merge-patch+json",
					   "{\"status\":{\"running\":1}}");
		auto_xfree char *stale = xasprintf(
			"{\"metadata\":{\"resourceVersion\":\"%s\",\"labels\":{\"a\":\"b\"}}}",
			at(&before, "metadata", "resourceVersion"));
		auto_xfree char *fresh = xasprintf(
			"{\"metadata\":{\"resourceVersion\":\"%s\",\"labels\":{\"a\":\"b\"}}}",
			at(&status, "metadata", "resourceVersion"));
		auto_answer refused = patch(f, JOBS "/j", "merge-patch+json", stale);
		auto_answer taken = patch(f, JOBS "/j", "merge-patch+json", fresh);

		expect_failure(&refused, 409, "Conflict", "the object has been modified");
		expect_status(&taken, 200);
		cr_expect_eq(json_int_at(taken.json, 0, "status", "running", NULL), 1);
	}
	fixture_destroy(f);
}

Test(update, patches_by_every_type_the_kind_has)
{
	struct fixture *f = fixture_create(NULL);
	auto_answer made = call(f, "POST", CONFIGS, config_body("c", ""));
	auto_answer merge =
		patch(f, CONFIGS "/c", "merge-patch+json", "{\"data\":{\"a\":\"1\",\"k\":null}}");
	auto_answer json = patch(f, CONFIGS "/c", "json-patch+json",
				 "[{\"op\":\"test\",\"path\":\"/data/a\",\"value\":\"1\"},"
				 "{\"op\":\"add\",\"path\":\"/data/b\",\"value\":\"2\"}]");
	auto_answer strategic = patch(f, CONFIGS "/c", "strategic-merge-patch+json",
				      "{\"metadata\":{\"labels\":{\"x\":\"y\"}}}");
	auto_answer failed = patch(f, CONFIGS "/c", "json-patch+json",
				   "[{\"op\":\"test\",\"path\":\"/data/a\",\"value\":\"9\"}]");
	auto_answer broken = patch(f, CONFIGS "/c", "merge-patch+json", "{");
	auto_answer apply = patch(f, CONFIGS "/c", "apply-patch+yaml", "{}");
	auto_answer none = call_full(f, &(struct call){"PATCH", CONFIGS "/c", "{}", .type = ""});

	expect_status(&made, 201);
	expect_status(&merge, 200);
	cr_expect_str_empty(at(&merge, "data", "k"));
	expect_status(&json, 200);
	cr_expect_str_eq(at(&json, "data", "b"), "2");
	expect_status(&strategic, 200);
	cr_expect_str_eq(at(&strategic, "metadata", "labels", "x"), "y");
	expect_status(&failed, 422);
	expect_failure(&broken, 400, "BadRequest", "");
	expect_failure(&apply, 415, "UnsupportedMediaType", "accepted media types include");
	expect_failure(&none, 415, "UnsupportedMediaType", "");
	make_job(f, "j", "");
	{
		auto_answer job = patch(f, JOBS "/j", "strategic-merge-patch+json", "{}");

		expect_failure(&job, 415, "UnsupportedMediaType", "");
	}
	fixture_destroy(f);
}

Test(update, a_patch_with_unknown_fields_by_field_validation)
{
	struct fixture *f = fixture_create(NULL);

	make_job(f, "j", "");
	{
		auto_answer strict = patch(f, JOBS "/j?fieldValidation=Strict", "merge-patch+json",
					   "{\"spec\":{\"bogus\":1}}");
		auto_answer warn =
			patch(f, JOBS "/j", "merge-patch+json", "{\"spec\":{\"bogus\":1}}");
		const json_t *cause =
			json_array_get(json_at(strict.json, "details", "causes", NULL), 0);

		expect_failure(
			&strict, 422, "Invalid",
			" \"\" is invalid: patch: Invalid value: \"<object>\": strict decoding "
			"error: unknown field \"spec.bogus\"");
		cr_expect_str_eq(text_at(cause, "field", NULL), "patch");
		expect_status(&warn, 200);
		cr_expect(strstr(header_of(&warn, "Warning"), "unknown field \\\"spec.bogus\\\""));
		cr_expect_not(json_at(warn.json, "spec", "bogus", NULL));
	}
	fixture_destroy(f);
}

Test(update, nobody_changes_what_only_the_server_knows)
{
	struct fixture *f = fixture_create(NULL);

	make_job(f, "j", "");
	{
		auto_answer before = call(f, "GET", JOBS "/j", NULL);
		auto_answer a =
			patch(f, JOBS "/j", "merge-patch+json",
			      "{\"metadata\":{\"creationTimestamp\":\"2001-01-01T00:00:00Z\","
			      "\"generation\":99,\"deletionTimestamp\":\"2001-01-01T00:00:00Z\"}}");
		auto_answer renamed =
			patch(f, JOBS "/j", "merge-patch+json", "{\"metadata\":{\"name\":\"k\"}}");
		auto_answer moved = patch(f, JOBS "/j", "merge-patch+json",
					  "{\"metadata\":{\"namespace\":\"k\"}}");

		cr_expect(json_equal(a.json, before.json), "%s", a.body);
		expect_status(&renamed, 400);
		expect_status(&moved, 400);
	}
	fixture_destroy(f);
}

Test(update, the_last_finalizer_of_a_dying_object_ends_it)
{
	struct fixture *f = fixture_create(NULL);

	make_job(f, "j", "\"finalizers\":[\"example.com/a\",\"example.com/b\"]");
	{
		auto_answer dying = call(f, "DELETE", JOBS "/j", NULL);
		auto_answer added = patch(f, JOBS "/j", "merge-patch+json",
					  "{\"metadata\":{\"finalizers\":[\"example.com/a\","
					  "\"example.com/b\",\"example.com/c\"]}}");
		auto_answer one = patch(f, JOBS "/j", "merge-patch+json",
					"{\"metadata\":{\"finalizers\":[\"example.com/a\"]}}");
		auto_answer still = call(f, "GET", JOBS "/j", NULL);
		auto_answer last = patch(f, JOBS "/j", "merge-patch+json",
					 "{\"metadata\":{\"finalizers\":null}}");
		auto_answer gone = call(f, "GET", JOBS "/j", NULL);

		expect_status(&dying, 200);
		cr_expect(*at(&dying, "metadata", "deletionTimestamp"));
		cr_expect_eq(
			json_int_at(dying.json, -1, "metadata", "deletionGracePeriodSeconds", NULL),
			0);
		cr_expect_eq(json_int_at(dying.json, 0, "metadata", "generation", NULL), 2);
		expect_failure(&added, 422, "Invalid",
			       "no new finalizers can be added if the object is being deleted");
		expect_status(&one, 200);
		expect_status(&still, 200);
		expect_status(&last, 200);
		expect_status(&gone, 404);
	}
	fixture_destroy(f);
}

Test(update, dry_run_changes_nothing)
{
	struct fixture *f = fixture_create(NULL);

	make_job(f, "j", "");
	{
		auto_answer before = call(f, "GET", JOBS "/j", NULL);
		auto_answer dry = patch(f, JOBS "/j?dryRun=All", "merge-patch+json",
					"{\"spec\":{\"maxRetry\":7}}");
		auto_answer after = call(f, "GET", JOBS "/j", NULL);

		expect_status(&dry, 200);
		cr_expect_eq(json_int_at(dry.json, -1, "spec", "maxRetry", NULL), 7);
		cr_expect_eq(json_int_at(dry.json, 0, "metadata", "generation", NULL), 2);
		cr_expect(json_equal(before.json, after.json));
	}
	fixture_destroy(f);
}

Test(update, folds_secrets_in_patches_too)
{
	struct fixture *f = fixture_create(NULL);
	const char *path = "/api/v1/namespaces/default/secrets";
	auto_answer made = call(f, "POST", path,
				"{\"metadata\":{\"name\":\"s\"},\"stringData\":{\"a\":\"a\"}}");
	auto_answer a = patch(f, "/api/v1/namespaces/default/secrets/s", "merge-patch+json",
			      "{\"stringData\":{\"b\":\"bb\"}}");

	expect_status(&made, 201);
	cr_expect_str_eq(at(&a, "data", "a"), "YQ==");
	cr_expect_str_eq(at(&a, "data", "b"), "YmI=");
	cr_expect_not(json_object_get(a.json, "stringData"));
	fixture_destroy(f);
}
