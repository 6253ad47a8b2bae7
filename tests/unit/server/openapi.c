/* OpenAPI v3: enough for apply, diff and explain, with addresses that may be kept for ever. */
#include "fixture.h"

Test(openapi, index_names_each_group_version_by_its_hash)
{
	struct fixture *f = fixture_create(NULL);
	auto_answer index = call(f, "GET", "/openapi/v3?timeout=32s", NULL);
	const char *url =
		at(&index, "paths", "apis/batch.volcano.sh/v1alpha1", "serverRelativeURL");
	auto_answer document = call(f, "GET", url, NULL);

	expect_status(&index, 200);
	cr_assert(strstr(url, "/openapi/v3/apis/batch.volcano.sh/v1alpha1?hash="));
	cr_expect(*at(&index, "paths", "api/v1", "serverRelativeURL"));
	expect_status(&document, 200);
	cr_expect(strstr(header_of(&document, "Cache-Control"), "immutable"));
	fixture_destroy(f);
}

/* True when the PATCH operation of the path names that query parameter. */
static bool patch_takes(const json_t *operation, const char *name)
{
	size_t i;
	json_t *parameter;

	json_array_foreach (json_object_get(operation, "parameters"), i, parameter)
		if (!strcmp(text_at(parameter, "name", NULL), name) &&
		    !strcmp(text_at(parameter, "in", NULL), "query"))
			return true;
	return false;
}

Test(openapi, documents_tell_how_to_patch)
{
	struct fixture *f = fixture_create(NULL);
	auto_answer jobs = call(f, "GET", "/openapi/v3/apis/batch.volcano.sh/v1alpha1", NULL);
	auto_answer core = call(f, "GET", "/openapi/v3/api/v1", NULL);
	const json_t *job = json_at(jobs.json, "paths",
				    "/apis/batch.volcano.sh/v1alpha1/namespaces/{namespace}/jobs/"
				    "{name}",
				    "patch", NULL);
	const json_t *config =
		json_at(core.json, "paths", "/api/v1/namespaces/{namespace}/configmaps/{name}",
			"patch", NULL);
	const char *strategic = "application/strategic-merge-patch+json";

	cr_assert(job);
	cr_expect(patch_takes(job, "fieldValidation"));
	cr_expect(patch_takes(job, "dryRun"));
	cr_expect_str_eq(text_at(job, "x-kubernetes-group-version-kind", "kind", NULL), "Job");
	cr_expect_not(json_at(job, "requestBody", "content", strategic, NULL));
	cr_expect(json_at(config, "requestBody", "content", strategic, NULL));
	fixture_destroy(f);
}

Test(openapi, components_hold_every_kind_by_its_name)
{
	struct fixture *f = fixture_create(NULL);
	auto_answer jobs = call(f, "GET", "/openapi/v3/apis/batch.volcano.sh/v1alpha1", NULL);
	const json_t *schemas = json_at(jobs.json, "components", "schemas", NULL);
	const json_t *job = json_object_get(schemas, "sh.volcano.batch.v1alpha1.Job");
	const json_t *gvk =
		json_array_get(json_object_get(job, "x-kubernetes-group-version-kind"), 0);

	cr_assert(job);
	cr_expect_str_eq(text_at(gvk, "group", NULL), "batch.volcano.sh");
	cr_expect_str_eq(text_at(gvk, "kind", NULL), "Job");
	cr_expect_str_eq(
		text_at(job, "properties", "spec", "properties", "minAvailable", "type", NULL),
		"integer");
	cr_expect(*text_at(job, "properties", "spec", "description", NULL));
	cr_expect(json_object_get(schemas, "sh.volcano.batch.v1alpha1.JobList"));
	fixture_destroy(f);
}
