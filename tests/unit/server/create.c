/* POST: what the server adds, what it refuses, what a body may be. */
#include "fixture.h"

Test(create, stamps_what_only_the_server_knows)
{
	struct fixture *f = fixture_create(NULL);
	auto_answer a =
		call(f, "POST", JOBS,
		     job_body("a", "\"uid\":\"mine\",\"generation\":7,\"deletionTimestamp\":"
				   "\"2026-01-01T00:00:00Z\",\"managedFields\":[]"));
	auto_answer got = call(f, "GET", JOBS "/a", NULL);

	expect_status(&a, 201);
	cr_expect_eq(strlen(at(&a, "metadata", "uid")), 36);
	cr_expect_eq(strlen(at(&a, "metadata", "creationTimestamp")), 20);
	cr_expect_str_eq(at(&a, "metadata", "namespace"), "default");
	cr_expect_eq(json_int_at(a.json, 0, "metadata", "generation", NULL), 1);
	cr_expect_not(json_at(a.json, "metadata", "deletionTimestamp", NULL));
	cr_expect_not(json_at(a.json, "metadata", "managedFields", NULL));
	cr_expect_str_eq(at(&a, "metadata", "resourceVersion"),
			 at(&got, "metadata", "resourceVersion"));
	cr_expect(json_equal(a.json, got.json), "%s\n%s", a.body, got.body);
	fixture_destroy(f);
}

Test(create, drops_status_and_sets_defaults)
{
	struct fixture *f = fixture_create(NULL);
	auto_answer q = call(f, "POST", QUEUES,
			     "{\"apiVersion\":\"scheduling.volcano.sh/v1beta1\",\"kind\":\"Queue\","
			     "\"metadata\":{\"name\":\"q\"},\"status\":{\"state\":\"Closed\"}}");
	auto_answer j = call(f, "POST", JOBS, job_body("j", ""));

	expect_status(&q, 201);
	cr_expect_not(json_object_get(q.json, "status"), "%s", q.body);
	cr_expect_eq(json_int_at(j.json, -1, "spec", "maxRetry", NULL), 3);
	fixture_destroy(f);
}

Test(create, makes_a_name_from_its_beginning)
{
	struct fixture *f = fixture_create(NULL);
	const char *body = "{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\","
			   "\"metadata\":{\"generateName\":\"g-\"}}";
	auto_answer one = call(f, "POST", CONFIGS, body), two = call(f, "POST", CONFIGS, body);

	expect_status(&one, 201);
	expect_status(&two, 201);
	cr_expect_eq(strlen(at(&one, "metadata", "name")), 7);
	cr_expect_eq(strncmp(at(&one, "metadata", "name"), "g-", 2), 0);
	cr_expect_str_neq(at(&one, "metadata", "name"), at(&two, "metadata", "name"));
	fixture_destroy(f);
}

static const struct refusal {
	const char *path, *body;
	int code;
	const char *reason, *text;
} refusals[] = {
	{JOBS, "{\"metadata\":{\"name\":\"a\"}", 400, "BadRequest", ""},
	{JOBS, "[]", 400, "BadRequest", "must be a JSON object"},
	{JOBS, "{\"metadata\":7}", 400, "BadRequest", "metadata must be an object"},
	{CONFIGS, "{\"apiVersion\":\"v2\",\"kind\":\"ConfigMap\",\"metadata\":{\"name\":\"a\"}}",
	 400, "BadRequest",
	 "API version in the data (v2) does not match the expected API version (v1)"},
	{CONFIGS, "{\"apiVersion\":\"v1\",\"kind\":\"Secret\",\"metadata\":{\"name\":\"a\"}}", 400,
	 "BadRequest", "kind in the data (Secret)"},
	{CONFIGS, "{\"metadata\":{\"name\":\"a\",\"namespace\":\"other\"}}", 400, "BadRequest",
	 "the namespace of the provided object does not match the namespace sent on the request"},
	{CONFIGS, "{\"metadata\":{\"name\":7}}", 400, "BadRequest",
	 "metadata.name must be a string"},
	{CONFIGS, "{\"metadata\":{}}", 422, "Invalid",
	 "metadata.name: Required value: name or generateName is required"},
	{CONFIGS, "{\"metadata\":{\"name\":\"A_b\"}}", 422, "Invalid",
	 "ConfigMap \"A_b\" is invalid: metadata.name: Invalid value: \"A_b\""},
	{CONFIGS, "{\"metadata\":{\"name\":\"a\",\"labels\":{\"x\":\"-\"}}}", 422, "Invalid",
	 "metadata.labels"},
	{CONFIGS, "{\"metadata\":{\"name\":\"a\",\"resourceVersion\":\"5\"}}", 500, "",
	 "resourceVersion should not be set on objects to be created"},
	{"/api/v1/namespaces/absent/configmaps", "{\"metadata\":{\"name\":\"a\"}}", 404, "NotFound",
	 "namespaces \"absent\" not found"},
	{"/api/v1/configmaps", "{\"metadata\":{\"name\":\"a\"}}", 405, "MethodNotAllowed", ""},
	{CONFIGS "/a", "{\"metadata\":{\"name\":\"a\"}}", 405, "MethodNotAllowed", ""},
	{CONFIGS "?dryRun=Some", "{\"metadata\":{\"name\":\"a\"}}", 422, "Invalid", "dryRun"},
	{CONFIGS "?dryRun=", "{\"metadata\":{\"name\":\"a\"}}", 422, "Invalid",
	 "CreateOptions.meta.k8s.io \"\" is invalid: dryRun: Unsupported value: [\"\"]"},
	{CONFIGS "?fieldValidation=Maybe", "{\"metadata\":{\"name\":\"a\"}}", 422, "Invalid",
	 "fieldValidation"},
	{CONFIGS "?fieldManager=%07", "{\"metadata\":{\"name\":\"a\"}}", 422, "Invalid",
	 "fieldManager: Invalid value"},
	{CONFIGS "?timeout=soon", "{\"metadata\":{\"name\":\"a\"}}", 400, "BadRequest",
	 "timeout: Invalid value: \"soon\""},
};

Test(create, refuses_with_the_reason_and_stores_nothing)
{
	struct fixture *f = fixture_create(NULL);

	for (size_t i = 0; i < ARRAY_LEN(refusals); i++) {
		auto_answer a = call(f, "POST", refusals[i].path, refusals[i].body);

		expect_failure(&a, refusals[i].code, refusals[i].reason, refusals[i].text);
	}
	{
		auto_answer configs = call(f, "GET", "/api/v1/configmaps", NULL);
		auto_answer jobs = call(f, "GET", JOBS, NULL);

		cr_expect_eq(json_array_size(json_object_get(configs.json, "items")), 0);
		cr_expect_eq(json_array_size(json_object_get(jobs.json, "items")), 0);
	}
	fixture_destroy(f);
}

Test(create, says_which_fields_are_wrong)
{
	struct fixture *f = fixture_create(NULL);
	auto_answer a =
		call(f, "POST", JOBS,
		     "{\"metadata\":{\"name\":\"a\"},\"spec\":{\"minAvailable\":\"many\","
		     "\"tasks\":[{\"name\":\"t\",\"replicas\":-1,\"template\":{\"spec\":{}}}]}}");
	const json_t *causes = json_at(a.json, "details", "causes", NULL);

	expect_failure(&a, 422, "Invalid", "Job.batch.volcano.sh \"a\" is invalid: ");
	cr_expect_str_eq(at(&a, "details", "kind"), "Job");
	cr_expect_str_eq(at(&a, "details", "name"), "a");
	cr_expect(json_array_size(causes) >= 2, "%s", a.body);
	cr_expect(strstr(a.body, "spec.tasks[0].replicas"));
	cr_expect(strstr(a.body, "spec.minAvailable"));
	fixture_destroy(f);
}

Test(create, the_second_of_one_name_already_exists)
{
	struct fixture *f = fixture_create(NULL);
	auto_answer a = call(f, "POST", JOBS, job_body("a", ""));
	auto_answer b = call(f, "POST", JOBS, job_body("a", ""));

	expect_status(&a, 201);
	expect_failure(&b, 409, "AlreadyExists", "jobs.batch.volcano.sh \"a\" already exists");
	cr_expect_str_eq(at(&b, "details", "kind"), "jobs");
	cr_expect_str_eq(at(&b, "details", "group"), "batch.volcano.sh");
	fixture_destroy(f);
}

Test(create, unknown_and_double_fields_by_field_validation)
{
	const char *body = "{\"metadata\":{\"name\":\"%s\"},\"bogus\":1,\"data\":{\"a\":\"b\"},"
			   "\"data\":{\"a\":\"c\"}}";
	struct fixture *f = fixture_create(NULL);
	char one[200], two[200];

	snprintf(one, sizeof(one), body, "one");
	snprintf(two, sizeof(two), body, "two");
	{
		auto_answer strict = call(f, "POST", CONFIGS "?fieldValidation=Strict", one);
		auto_answer warn = call(f, "POST", CONFIGS, one);
		auto_answer ignore = call(f, "POST", CONFIGS "?fieldValidation=Ignore", two);

		expect_failure(
			&strict, 400, "BadRequest",
			"ConfigMap in version \"v1\" cannot be handled as a ConfigMap: strict "
			"decoding error: unknown field \"bogus\", duplicate field \"data\"");
		expect_status(&warn, 201);
		cr_expect_not(json_object_get(warn.json, "bogus"));
		cr_expect_str_eq(at(&warn, "data", "a"), "c");
		cr_expect(strstr(warn.headers, "Warning: 299 - \"unknown field \\\"bogus\\\"\""),
			  "%s", warn.headers);
		cr_expect(strstr(warn.headers, "duplicate field \\\"data\\\""));
		expect_status(&ignore, 201);
		cr_expect_str_empty(header_of(&ignore, "Warning"));
	}
	fixture_destroy(f);
}

Test(create, dry_run_answers_and_stores_nothing)
{
	struct fixture *f = fixture_create(NULL);
	auto_answer dry = call(f, "POST", JOBS "?dryRun=All", job_body("a", ""));
	auto_answer got = call(f, "GET", JOBS "/a", NULL);
	auto_answer bad = call(f, "POST", JOBS "?dryRun=All", "{\"metadata\":{\"name\":\"B\"}}");

	expect_status(&dry, 201);
	cr_expect(*at(&dry, "metadata", "uid"));
	cr_expect_str_empty(at(&dry, "metadata", "resourceVersion"));
	expect_failure(&got, 404, "NotFound", "jobs.batch.volcano.sh \"a\" not found");
	expect_status(&bad, 422);
	fixture_destroy(f);
}

Test(create, takes_json_without_a_type_and_yaml)
{
	struct fixture *f = fixture_create(NULL);
	auto_answer plain =
		call_full(f, &(struct call){"POST", CONFIGS, config_body("a", ""), .type = ""});
	auto_answer yaml = call_full(f, &(struct call){"POST", CONFIGS,
						       "metadata:\n  name: b\ndata:\n  k: 'yes'\n",
						       .type = "application/yaml"});
	auto_answer cbor =
		call_full(f, &(struct call){"POST", CONFIGS, "x", .type = "application/cbor"});

	expect_status(&plain, 201);
	expect_status(&yaml, 201);
	cr_expect_str_eq(at(&yaml, "data", "k"), "yes");
	expect_failure(&cbor, 415, "UnsupportedMediaType",
		       "the body of the request was in an unknown format");
	fixture_destroy(f);
}

static char *filled(const char *before, size_t n, char fill, const char *after)
{
	char *s = xmalloc(n + 1);

	memset(s, fill, n);
	s[n] = '\0';
	{
		char *all = xasprintf("%s%s%s", before, s, after);

		free(s);
		return all;
	}
}

Test(create, bounds_what_it_reads_and_stores)
{
	struct fixture *f = fixture_create(NULL);
	auto_xfree char *large =
		filled("{\"metadata\":{\"name\":\"a\"},\"data\":{\"k\":\"", 1030000, 'x',
		       "\",\"l\":\"\"},\"binaryData\":{\"m\":\"AAAAAAAAAAAAAAAAAAAAA"
		       "AAAAAAAAAAAAAAAAAAAAAAA\"}}");
	auto_xfree char *huge =
		filled("{\"metadata\":{\"name\":\"a\"},\"data\":{\"k\":\"", 3300000, 'x', "\"}}");
	auto_xfree char *deep = filled("{\"metadata\":{\"name\":\"a\"},\"data\":", 100, '[', "");
	auto_xfree char *annotated = filled(
		"{\"metadata\":{\"name\":\"a\",\"annotations\":{\"x\":\"", 300000, 'x', "\"}}}");
	auto_answer a = call(f, "POST", CONFIGS, huge), b = call(f, "POST", CONFIGS, deep);
	auto_answer c = call(f, "POST", CONFIGS, annotated);
	auto_answer d = call(f, "POST", CONFIGS, "{\"metadata\":{\"name\":\"\xff\"}}");
	auto_answer e = call(f, "POST", CONFIGS, large);

	expect_failure(&a, 413, "RequestEntityTooLarge", "at most 3145728 are read");
	expect_failure(&b, 400, "BadRequest", "");
	expect_status(&c, 422);
	expect_failure(&d, 400, "BadRequest", "");
	expect_status(&e, 201);
	fixture_destroy(f);
}

Test(create, an_object_over_a_mebibyte_is_413)
{
	struct fixture *f = fixture_create(NULL);
	auto_xfree char *args = filled("", 1100000, 'x', "");
	auto_xfree char *job = xasprintf(
		"{\"metadata\":{\"name\":\"a\"},\"spec\":{\"tasks\":[{\"name\":\"t\",\"template\":{"
		"\"spec\":{\"containers\":[{\"name\":\"c\",\"image\":\"i\",\"args\":[\"%s\"]}]}}}]}}",
		args);
	auto_answer a = call(f, "POST", JOBS, job);

	expect_failure(&a, 413, "RequestEntityTooLarge", "1048576");
	fixture_destroy(f);
}

Test(create, folds_the_texts_of_a_secret)
{
	struct fixture *f = fixture_create(NULL);
	auto_answer a = call(f, "POST", "/api/v1/namespaces/default/secrets",
			     "{\"metadata\":{\"name\":\"s\"},\"data\":{\"a\":\"YQ==\"},"
			     "\"stringData\":{\"b\":\"bb\"}}");

	expect_status(&a, 201);
	cr_expect_str_eq(at(&a, "data", "a"), "YQ==");
	cr_expect_str_eq(at(&a, "data", "b"), "YmI=");
	cr_expect_not(json_object_get(a.json, "stringData"));
	fixture_destroy(f);
}
