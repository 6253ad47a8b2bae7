/* Discovery as clients read it: legacy lists, both aggregated forms, what lies beside them. */
#include "fixture.h"

#define AGGREGATED(v) "application/json;g=apidiscovery.k8s.io;v=" v ";as=APIGroupDiscoveryList"

static void on_log(struct server_request *r, void *arg)
{
}

static const json_t *find(const json_t *array, const char *key, const char *value)
{
	size_t i;
	json_t *item;

	json_array_foreach ((json_t *)(uintptr_t)array, i, item)
		if (!strcmp(text_at(item, key, NULL), value))
			return item;
	return NULL;
}

static bool has_text(const json_t *array, const char *text)
{
	size_t i;
	json_t *item;

	json_array_foreach ((json_t *)(uintptr_t)array, i, item)
		if (!strcmp(json_string_value(item), text))
			return true;
	return false;
}

Test(discovery, lists_groups_and_resources_in_the_legacy_form)
{
	struct fixture *f = fixture_create(NULL);
	auto_answer api = call(f, "GET", "/api", NULL), apis = call(f, "GET", "/apis/", NULL);
	auto_answer core = call(f, "GET", "/api/v1", NULL);
	auto_answer batch = call(f, "GET", "/apis/batch.volcano.sh/v1alpha1/", NULL);
	auto_answer group = call(f, "GET", "/apis/batch.volcano.sh", NULL);
	const json_t *jobs, *status;

	expect_status(&api, 200);
	cr_expect_str_eq(at(&api, "kind"), "APIVersions");
	cr_expect(has_text(json_object_get(api.json, "versions"), "v1"));
	cr_expect_str_eq(at(&apis, "kind"), "APIGroupList");
	cr_expect(find(json_object_get(apis.json, "groups"), "name", "batch.volcano.sh"));
	cr_expect_not(find(json_object_get(apis.json, "groups"), "name", ""));
	cr_expect_str_eq(at(&core, "groupVersion"), "v1");
	cr_expect(find(json_object_get(core.json, "resources"), "name", "configmaps"));
	cr_expect_str_eq(at(&group, "kind"), "APIGroup");
	cr_expect_str_eq(at(&group, "preferredVersion", "groupVersion"),
			 "batch.volcano.sh/v1alpha1");
	jobs = find(json_object_get(batch.json, "resources"), "name", "jobs");
	cr_assert(jobs);
	cr_expect_str_eq(text_at(jobs, "kind", NULL), "Job");
	cr_expect_str_eq(text_at(jobs, "singularName", NULL), "job");
	cr_expect(json_is_true(json_object_get(jobs, "namespaced")));
	cr_expect(has_text(json_object_get(jobs, "verbs"), "watch"));
	cr_expect(has_text(json_object_get(jobs, "shortNames"), "vcjob"));
	status = find(json_object_get(batch.json, "resources"), "name", "jobs/status");
	cr_assert(status);
	cr_expect(has_text(json_object_get(status, "verbs"), "patch"));
	cr_expect_not(has_text(json_object_get(status, "verbs"), "delete"));
	fixture_destroy(f);
}

static void check_aggregated(struct fixture *f, const char *accept, const char *type,
			     const char *api_version)
{
	auto_answer a = call_full(f, &(struct call){"GET", "/apis", .accept = accept});
	const json_t *group = find(json_object_get(a.json, "items"), "metadata", "");
	const json_t *versions, *jobs;

	expect_status(&a, 200);
	cr_expect_str_eq(header_of(&a, "Content-Type"), type);
	cr_expect_str_eq(at(&a, "kind"), "APIGroupDiscoveryList");
	cr_expect_str_eq(at(&a, "apiVersion"), api_version);
	for (size_t i = 0; i < json_array_size(json_object_get(a.json, "items")); i++) {
		group = json_array_get(json_object_get(a.json, "items"), i);
		if (!strcmp(text_at(group, "metadata", "name", NULL), "batch.volcano.sh"))
			break;
	}
	versions = json_object_get(group, "versions");
	jobs = find(json_object_get(json_array_get(versions, 0), "resources"), "resource", "jobs");
	cr_assert(jobs);
	cr_expect_str_eq(text_at(jobs, "responseKind", "kind", NULL), "Job");
	cr_expect_str_eq(text_at(jobs, "responseKind", "group", NULL), "batch.volcano.sh");
	cr_expect_str_eq(text_at(jobs, "scope", NULL), "Namespaced");
	cr_expect(find(json_object_get(jobs, "subresources"), "subresource", "status"));
}

Test(discovery, answers_the_aggregated_forms_by_accept)
{
	struct fixture *f = fixture_create(NULL);
	auto_answer core = call_full(f, &(struct call){"GET", "/api", .accept = AGGREGATED("v2")});

	check_aggregated(f, AGGREGATED("v2") "," AGGREGATED("v2beta1") ",application/json",
			 AGGREGATED("v2"), "apidiscovery.k8s.io/v2");
	check_aggregated(f, AGGREGATED("v2beta1") ", application/json", AGGREGATED("v2beta1"),
			 "apidiscovery.k8s.io/v2beta1");
	cr_expect_eq(json_array_size(json_object_get(core.json, "items")), 1);
	fixture_destroy(f);
}

Test(discovery, shows_the_profile_s_routes_and_verbs)
{
	const struct server_kind kinds_row[] = {
		{.kind = kind_find("", "namespaces")},
		{.kind = kind_find("", "configmaps"), .verbs = VERB_GET | VERB_LIST},
	};
	const struct server_route routes[] = {
		{"GET", kinds_row[1].kind, "log", NULL, on_log},
		{"POST", kinds_row[1].kind, "log", NULL, on_log},
	};
	const struct server_profile profile = {
		.kinds = kinds_row, .n_kinds = 2, .routes = routes, .n_routes = 2};
	struct fixture *f = fixture_create(&profile);
	auto_answer core = call(f, "GET", "/api/v1", NULL);
	auto_answer refused = call(f, "POST", CONFIGS, config_body("a", ""));
	auto_answer absent = call(f, "GET", JOBS, NULL);
	auto_answer put = call(f, "PUT", CONFIGS "/a/log", "{}");
	const json_t *resources = json_object_get(core.json, "resources");
	const json_t *log = find(resources, "name", "configmaps/log");

	cr_assert(log);
	cr_expect(has_text(json_object_get(log, "verbs"), "get"));
	cr_expect(has_text(json_object_get(log, "verbs"), "create"));
	cr_expect_eq(
		json_array_size(json_object_get(find(resources, "name", "configmaps"), "verbs")),
		2);
	expect_failure(&refused, 405, "MethodNotAllowed", "does not allow this method");
	expect_failure(&put, 405, "MethodNotAllowed", "does not allow this method");
	expect_status(&absent, 404);
	fixture_destroy(f);
}

Test(discovery, says_not_modified_to_who_knows_the_answer)
{
	struct fixture *f = fixture_create(NULL);
	auto_answer first = call(f, "GET", "/apis", NULL);
	char header[200];
	struct call again = {"GET", "/apis", .header = header};

	snprintf(header, sizeof(header), "If-None-Match: %s", header_of(&first, "ETag"));
	cr_assert(strlen(header_of(&first, "ETag")) > 10);
	{
		auto_answer second = call_full(f, &again);

		expect_status(&second, 304);
		cr_expect_str_empty(second.body);
	}
	fixture_destroy(f);
}

Test(discovery, tells_version_and_health_to_everybody)
{
	struct fixture *f = fixture_create(NULL);
	auto_answer version = call_full(f, &(struct call){"GET", "/version/", .nobody = true});
	auto_answer ready = call_full(f, &(struct call){"GET", "/readyz?verbose", .nobody = true});
	auto_answer apis = call_full(f, &(struct call){"GET", "/apis", .nobody = true});

	expect_status(&version, 200);
	cr_expect_str_eq(at(&version, "gitVersion"), "v1.36.0");
	cr_expect_str_eq(at(&version, "minor"), "36");
	expect_status(&ready, 200);
	cr_expect_str_eq(ready.body, "ok");
	expect_failure(&apis, 401, "Unauthorized", "Unauthorized");
	fixture_destroy(f);
}

Test(discovery, shows_the_ca_to_everybody_where_the_profile_has_one)
{
	const struct server_profile with = {.ca_pem = "-----BEGIN"};
	struct fixture *f = fixture_create(&with), *without = fixture_create(NULL);
	auto_answer a = call_full(f, &(struct call){"GET", "/ca", .nobody = true});
	auto_answer none = call_full(without, &(struct call){"GET", "/ca"});

	expect_status(&a, 200);
	cr_expect_str_eq(at(&a, "certificate"), "-----BEGIN");
	expect_status(&none, 404);
	fixture_destroy(f);
	fixture_destroy(without);
}

Test(discovery, has_plain_text_for_paths_that_are_none)
{
	static const char *const paths[] = {
		"/nothing",
		"/openapi/v2",
		"/apis/batch.volcano.sh/v9/jobs",
		"/a/b/c/d/e/f/g/h/i/j/k/l/m/n",
		"//apis",
	};
	struct fixture *f = fixture_create(NULL);

	for (size_t i = 0; i < ARRAY_LEN(paths); i++) {
		auto_answer a = call(f, "GET", paths[i], NULL);

		cr_expect_eq(a.status, 404, "%s: %d", paths[i], a.status);
		cr_expect_str_eq(a.body, "404 page not found\n", "%s", paths[i]);
	}
	fixture_destroy(f);
}

/* kubectl prints the message; its informers and its `get a,b` look at the reason. */
Test(discovery, has_a_status_for_resources_that_a_version_does_not_have)
{
	static const char *const paths[] = {
		"/api/v1/nothing",
		"/api/v1/namespaces/default/nothing/a",
		"/api/v1/namespaces/default//configmaps",
		"/apis/batch.volcano.sh/v1alpha1/nothing",
		"/apis/batch.volcano.sh/v1alpha1/namespaces/default/jobs/a/nothing",
		"/apis/batch.volcano.sh/v1alpha1/namespaces/default/jobs/a/status/b/c/d/e/f",
		"/apis/batch.volcano.sh/v1alpha1/jobs/a",
		"/apis/scheduling.volcano.sh/v1beta1/namespaces/default/queues/a",
	};
	struct fixture *f = fixture_create(NULL);

	for (size_t i = 0; i < ARRAY_LEN(paths); i++) {
		auto_answer a = call(f, "GET", paths[i], NULL);
		auto_answer unknown = call_full(
			f, &(struct call){.method = "GET", .path = paths[i], .nobody = true});

		expect_failure(&a, 404, "NotFound",
			       "the server could not find the requested resource");
		cr_expect_null(json_at(a.json, "details", "name", NULL));
		cr_expect_eq(unknown.status, 401, "%s", paths[i]);
	}
	fixture_destroy(f);
}

Test(discovery, lists_what_there_is_to_ask_for)
{
	struct fixture *f = fixture_create(NULL);
	auto_answer a = call(f, "GET", "/", NULL);
	const json_t *paths = json_object_get(a.json, "paths"), *path;
	size_t i, found = 0;

	json_array_foreach (paths, i, path) {
		auto_answer page = call(f, "GET", json_string_value(path), NULL);

		cr_expect_eq(page.status, 200, "%s", json_string_value(path));
		found += !strcmp(json_string_value(path), "/apis/batch.volcano.sh/v1alpha1");
	}
	cr_expect_eq(found, 1);
	fixture_destroy(f);
}
