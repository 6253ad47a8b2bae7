/* DELETE: at once or by a timestamp, its options, whole collections. */
#include "fixture.h"

static int64_t pod_grace(const json_t *object, int64_t asked)
{
	if (!*text_at(object, "spec", "nodeName", NULL))
		return 0;
	return asked >= 0 ? asked
			  : json_int_at(object, 30, "spec", "terminationGracePeriodSeconds", NULL);
}

static void make(struct fixture *f, const char *name, const char *meta)
{
	auto_answer a = call(f, "POST", CONFIGS, config_body(name, meta));

	cr_assert_eq(a.status, 201, "%s", a.body);
}

Test(delete, answers_success_and_the_object_is_gone)
{
	struct fixture *f = fixture_create(NULL);
	auto_answer made = call(f, "POST", JOBS, job_body("j", ""));
	auto_answer a = call(f, "DELETE", JOBS "/j",
			     "{\"propagationPolicy\":\"Background\",\"kind\":\"DeleteOptions\","
			     "\"apiVersion\":\"v1\"}");
	auto_answer got = call(f, "GET", JOBS "/j", NULL),
		    again = call(f, "DELETE", JOBS "/j", NULL);

	expect_status(&a, 200);
	cr_expect_str_eq(at(&a, "kind"), "Status");
	cr_expect_str_eq(at(&a, "status"), "Success");
	cr_expect_str_eq(at(&a, "details", "name"), "j");
	cr_expect_str_eq(at(&a, "details", "kind"), "jobs");
	cr_expect_str_eq(at(&a, "details", "group"), "batch.volcano.sh");
	cr_expect_str_eq(at(&a, "details", "uid"), at(&made, "metadata", "uid"));
	expect_status(&got, 404);
	expect_failure(&again, 404, "NotFound", "jobs.batch.volcano.sh \"j\" not found");
	fixture_destroy(f);
}

/* Both keys of a Job go, or the next one of its name would inherit the status. */
Test(delete, takes_the_status_that_lies_apart_too)
{
	struct fixture *f = fixture_create(NULL);
	auto_answer made = call(f, "POST", JOBS, job_body("j", ""));
	auto_answer status =
		patch(f, JOBS "/j/status", "merge-patch+json", "{\"status\":{\"running\":1}}");
	auto_answer gone = call(f, "DELETE", JOBS "/j", NULL);
	auto_answer next = call(f, "POST", JOBS, job_body("j", ""));
	auto_answer got = call(f, "GET", JOBS "/j", NULL);

	expect_status(&made, 201);
	expect_status(&status, 200);
	expect_status(&gone, 200);
	expect_status(&next, 201);
	cr_expect_not(json_object_get(got.json, "status"), "%s", got.body);
	cr_expect_str_neq(at(&next, "metadata", "uid"), at(&made, "metadata", "uid"));
	fixture_destroy(f);
}

static const struct {
	const char *path, *body;
	int code;
	const char *reason, *text;
} refusals[] = {
	{CONFIGS "/a", "{\"preconditions\":{\"uid\":\"x\"}}", 409, "Conflict",
	 "the UID in the precondition (x) does not match the UID in record"},
	{CONFIGS "/a", "{\"preconditions\":{\"resourceVersion\":\"1\"}}", 409, "Conflict",
	 "the ResourceVersion in the precondition (1) does not match"},
	{CONFIGS "/a", "{\"propagationPolicy\":\"Foreground\"}", 422, "Invalid",
	 "propagationPolicy"},
	{CONFIGS "/a?propagationPolicy=Orphan", NULL, 422, "Invalid", "propagationPolicy"},
	{CONFIGS "/a", "{\"orphanDependents\":true}", 422, "Invalid", "orphanDependents"},
	{CONFIGS "/a", "{\"orphanDependents\":false,\"propagationPolicy\":\"Background\"}", 422,
	 "Invalid", "cannot be both set"},
	{CONFIGS "/a", "{\"gracePeriodSeconds\":\"1\"}", 400, "BadRequest", "gracePeriodSeconds"},
	{CONFIGS "/a?gracePeriodSeconds=soon", NULL, 400, "BadRequest", "gracePeriodSeconds"},
	{CONFIGS "/a", "{\"preconditions\":\"x\"}", 400, "BadRequest", "preconditions"},
	{CONFIGS "/a", "{\"kind\":\"Job\"}", 400, "BadRequest", "DeleteOptions"},
	{CONFIGS "/a", "{\"dryRun\":[\"Some\"]}", 422, "Invalid", "dryRun"},
	{CONFIGS "/a", "[]", 400, "BadRequest", "DeleteOptions"},
	{CONFIGS "/a", "{", 400, "BadRequest", ""},
	{"/api/v1/namespaces/default", NULL, 403, "Forbidden",
	 "namespaces \"default\" is forbidden: this namespace may not be deleted"},
};

Test(delete, refuses_what_cannot_be_done_as_asked)
{
	struct fixture *f = fixture_create(NULL);

	make(f, "a", "");
	for (size_t i = 0; i < ARRAY_LEN(refusals); i++) {
		auto_answer a = call(f, "DELETE", refusals[i].path, refusals[i].body);

		expect_failure(&a, refusals[i].code, refusals[i].reason, refusals[i].text);
	}
	{
		auto_answer still = call(f, "GET", CONFIGS "/a", NULL);

		cr_expect_eq(still.status, 200);
	}
	fixture_destroy(f);
}

Test(delete, dry_run_by_body_or_query_deletes_nothing)
{
	struct fixture *f = fixture_create(NULL);

	make(f, "a", "");
	{
		auto_answer body = call(f, "DELETE", CONFIGS "/a", "{\"dryRun\":[\"All\"]}");
		auto_answer query = call(f, "DELETE", CONFIGS "/a?dryRun=All", NULL);
		auto_answer still = call(f, "GET", CONFIGS "/a", NULL);

		expect_status(&body, 200);
		expect_status(&query, 200);
		expect_status(&still, 200);
		cr_expect_not(json_at(still.json, "metadata", "deletionTimestamp", NULL));
	}
	fixture_destroy(f);
}

Test(delete, of_a_dying_object_changes_nothing)
{
	struct fixture *f = fixture_create(NULL);

	make(f, "a", "\"finalizers\":[\"example.com/x\"]");
	{
		auto_answer one = call(f, "DELETE", CONFIGS "/a", NULL);
		auto_answer two = call(f, "DELETE", CONFIGS "/a", NULL);

		expect_status(&one, 200);
		cr_expect_str_eq(at(&one, "kind"), "ConfigMap");
		cr_expect(json_equal(one.json, two.json), "%s\n%s", one.body, two.body);
	}
	fixture_destroy(f);
}

static struct fixture *fixture_with_grace(void)
{
	struct server_profile profile = {.namespaces = (const char *const[]){"default", NULL}};
	static struct server_kind rows[64];

	memcpy(rows, all_kinds(&profile.n_kinds), sizeof(rows));
	for (size_t i = 0; i < profile.n_kinds; i++)
		if (!strcmp(rows[i].kind->plural, "pods"))
			rows[i].grace_s = pod_grace;
	profile.kinds = rows;
	return fixture_create(&profile);
}

#define PODS "/api/v1/namespaces/default/pods"

static void make_pod(struct fixture *f, const char *name, const char *node)
{
	auto_xfree char *body = xasprintf(
		"{\"metadata\":{\"name\":\"%s\"},\"spec\":{%s\"containers\":[{\"name\":\"c\","
		"\"image\":\"i\"}]}}",
		name, node);
	auto_answer a = call(f, "POST", PODS, body);

	cr_assert_eq(a.status, 201, "%s", a.body);
}

Test(delete, leaves_a_grace_period_where_the_kind_has_one)
{
	struct fixture *f = fixture_with_grace();

	make_pod(f, "free", "");
	make_pod(f, "bound", "\"nodeName\":\"n\",");
	{
		auto_answer freed = call(f, "DELETE", PODS "/free", NULL);
		auto_answer first = call(f, "DELETE", PODS "/bound", NULL);
		auto_answer longer =
			call(f, "DELETE", PODS "/bound", "{\"gracePeriodSeconds\":60}");
		auto_answer shorter =
			call(f, "DELETE", PODS "/bound", "{\"gracePeriodSeconds\":5}");
		auto_answer touched = patch(f, PODS "/bound", "merge-patch+json",
					    "{\"metadata\":{\"labels\":{\"a\":\"b\"}}}");
		auto_answer now = call(f, "DELETE", PODS "/bound?gracePeriodSeconds=0", NULL);
		auto_answer gone = call(f, "GET", PODS "/bound", NULL);

		cr_expect_str_eq(at(&freed, "kind"), "Status");
		cr_expect_str_eq(at(&first, "kind"), "Pod");
		cr_expect_eq(
			json_int_at(first.json, 0, "metadata", "deletionGracePeriodSeconds", NULL),
			30);
		cr_expect(*at(&first, "metadata", "deletionTimestamp"));
		cr_expect_eq(
			json_int_at(longer.json, 0, "metadata", "deletionGracePeriodSeconds", NULL),
			30);
		cr_expect_eq(json_int_at(shorter.json, 0, "metadata", "deletionGracePeriodSeconds",
					 NULL),
			     5);
		expect_status(&touched, 200);
		cr_expect_str_eq(at(&now, "kind"), "Status");
		expect_status(&gone, 404);
	}
	fixture_destroy(f);
}

Test(delete, of_a_collection_takes_what_the_selectors_mean)
{
	struct fixture *f = fixture_create(NULL);

	make(f, "a", "\"labels\":{\"x\":\"y\"}");
	make(f, "b", "\"labels\":{\"x\":\"y\"},\"finalizers\":[\"example.com/x\"]");
	make(f, "c", "");
	{
		auto_answer dry = call(f, "DELETE", CONFIGS "?dryRun=All", NULL);
		auto_answer a = call(f, "DELETE", CONFIGS "?labelSelector=x%3Dy", NULL);
		auto_answer rest = call(f, "GET", CONFIGS, NULL);
		auto_answer bad = call(f, "DELETE", CONFIGS "?labelSelector=x%20y", NULL);
		auto_answer wide = call(f, "DELETE", "/api/v1/configmaps", NULL);
		const json_t *items = json_object_get(rest.json, "items");

		expect_status(&dry, 200);
		cr_expect_eq(json_array_size(json_object_get(dry.json, "items")), 3);
		expect_status(&a, 200);
		cr_expect_str_eq(at(&a, "kind"), "ConfigMapList");
		cr_expect_eq(json_array_size(json_object_get(a.json, "items")), 2);
		cr_expect_eq(json_array_size(items), 2);
		cr_expect(
			*text_at(json_array_get(items, 0), "metadata", "deletionTimestamp", NULL));
		cr_expect_str_eq(text_at(json_array_get(items, 1), "metadata", "name", NULL), "c");
		expect_status(&bad, 400);
		expect_status(&wide, 405);
	}
	fixture_destroy(f);
}
