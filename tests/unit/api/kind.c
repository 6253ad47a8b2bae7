#include "api/kind.h"

#include <criterion/criterion.h>
#include <string.h>

#include "base/mem.h"

Test(kind, is_found_by_each_of_its_names)
{
	static const struct {
		const char *typed, *group, *plural, *api_version, *name;
	} cases[] = {
		{"jobs", "batch.volcano.sh", "jobs", "batch.volcano.sh/v1alpha1", "Job"},
		{"vcjob", "batch.volcano.sh", "jobs", "batch.volcano.sh/v1alpha1", "Job"},
		{"vj", "batch.volcano.sh", "jobs", "batch.volcano.sh/v1alpha1", "Job"},
		{"job.batch.volcano.sh", "batch.volcano.sh", "jobs", "batch.volcano.sh/v1alpha1",
		 "Job"},
		{"q", "scheduling.volcano.sh", "queues", "scheduling.volcano.sh/v1beta1", "Queue"},
		{"cl", "federator.dev", "clusters", "federator.dev/v1alpha1", "Cluster"},
		{"pl", "federator.dev", "placements", "federator.dev/v1alpha1", "Placement"},
		{"ds", "federator.dev", "datasets", "federator.dev/v1alpha1", "DataSet"},
		{"ns", "", "namespaces", "v1", "Namespace"},
		{"cm", "", "configmaps", "v1", "ConfigMap"},
		{"secret", "", "secrets", "v1", "Secret"},
		{"ev", "", "events", "v1", "Event"},
		{"events.events.k8s.io", "events.k8s.io", "events", "events.k8s.io/v1", "Event"},
		{"lease", "coordination.k8s.io", "leases", "coordination.k8s.io/v1", "Lease"},
		{"pc", "scheduling.k8s.io", "priorityclasses", "scheduling.k8s.io/v1",
		 "PriorityClass"},
		{"csr", "certificates.k8s.io", "certificatesigningrequests",
		 "certificates.k8s.io/v1", "CertificateSigningRequest"},
		{"no", "", "nodes", "v1", "Node"},
		{"po", "", "pods", "v1", "Pod"},
		{"svc", "", "services", "v1", "Service"},
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		const struct kind *k = kind_find(cases[i].group, cases[i].plural);
		auto_strbuf version = {0};

		cr_assert(k, "%s", cases[i].typed);
		cr_expect_eq(kind_find_typed(cases[i].typed), k, "%s", cases[i].typed);
		cr_expect_eq(kind_find_by_name(cases[i].api_version, cases[i].name), k, "%s",
			     cases[i].name);
		kind_api_version(k, &version);
		cr_expect_str_eq(strbuf_str(&version), cases[i].api_version);
	}
}

Test(kind, is_not_found_by_what_only_looks_like_it)
{
	cr_expect_null(kind_find("", "jobs"));
	cr_expect_null(kind_find("batch", "jobs"));
	cr_expect_null(kind_find_by_name("batch.volcano.sh/v1", "Job"));
	cr_expect_null(kind_find_by_name("batch.volcano.sh", "Job"));
	cr_expect_null(kind_find_by_name("v1", "Job"));
	cr_expect_null(kind_find_by_name("v1", "serviceaccount"));
	cr_expect_null(kind_find_typed("job.batch"));
	cr_expect_null(kind_find_typed("jobsx"));
	cr_expect_null(kind_find_typed("job."));
	cr_expect_null(kind_find_typed(""));
	cr_expect_null(kind_find_typed("persistentvolumeclaims"));
}

Test(kind, names_keys_and_paths)
{
	static const struct {
		const char *typed, *ns, *name, *key, *path;
	} cases[] = {
		{"vcjob", "ml", "a", "/federator/batch.volcano.sh/jobs/ml/a",
		 "/apis/batch.volcano.sh/v1alpha1/namespaces/ml/jobs/a"},
		{"vcjob", "ml", NULL, "/federator/batch.volcano.sh/jobs/ml/",
		 "/apis/batch.volcano.sh/v1alpha1/namespaces/ml/jobs"},
		{"vcjob", NULL, NULL, "/federator/batch.volcano.sh/jobs/",
		 "/apis/batch.volcano.sh/v1alpha1/jobs"},
		{"cm", "ml", "a", "/federator/core/configmaps/ml/a",
		 "/api/v1/namespaces/ml/configmaps/a"},
		{"ns", NULL, "ml", "/federator/core/namespaces/ml", "/api/v1/namespaces/ml"},
		{"cl", "", "gpu", "/federator/federator.dev/clusters/gpu",
		 "/apis/federator.dev/v1alpha1/clusters/gpu"},
		{"cl", NULL, NULL, "/federator/federator.dev/clusters/",
		 "/apis/federator.dev/v1alpha1/clusters"},
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		const struct kind *k = kind_find_typed(cases[i].typed);
		auto_strbuf key = {0}, path = {0};

		kind_key(k, cases[i].ns, cases[i].name, &key);
		kind_path(k, cases[i].ns, cases[i].name, &path);
		cr_expect_str_eq(strbuf_str(&key), cases[i].key);
		cr_expect_str_eq(strbuf_str(&path), cases[i].path);
	}
}

/* The key of a status must not lie below the prefix of its kind, or lists would show it. */
Test(kind, keeps_the_key_of_a_status_apart)
{
	const struct kind *k = kind_find_typed("vcjob");
	auto_strbuf prefix = {0}, status = {0};

	kind_key(k, NULL, NULL, &prefix);
	kind_status_key(k, "ml", "a", &status);
	cr_expect(k->split_status);
	cr_expect_str_eq(strbuf_str(&status), "/federator/batch.volcano.sh/jobs.status/ml/a");
	cr_expect(strncmp(strbuf_str(&status), strbuf_str(&prefix), prefix.size) != 0);
}

Test(kind, names_resources_as_error_texts_do)
{
	auto_strbuf job = {0}, configmap = {0};

	kind_resource_name(kind_find_typed("vcjob"), &job);
	kind_resource_name(kind_find_typed("cm"), &configmap);
	cr_expect_str_eq(strbuf_str(&job), "jobs.batch.volcano.sh");
	cr_expect_str_eq(strbuf_str(&configmap), "configmaps");
}

Test(kind, compiles_a_schema_once)
{
	for (size_t i = 0; i < kinds_count; i++) {
		const struct schema *s = kind_schema(kinds[i]);

		cr_expect(s);
		cr_expect_eq(kind_schema(kinds[i]), s, "%s", kinds[i]->name);
	}
}

Test(kind, gives_its_crd_as_written)
{
	size_t size = 0;
	const char *text = kind_crd_yaml(kind_find_typed("pl"), &size);

	cr_assert(text);
	cr_expect_eq(strlen(text), size);
	cr_expect(strstr(text, "kind: CustomResourceDefinition\n"));
	cr_expect(strstr(text, "\n  name: placements.federator.dev\n"));
}
