#include "fedctl/manifest.h"

#include <criterion/criterion.h>
#include <string.h>

#include "base/json.h"

static int add(struct manifests *m, const char *text, const char *ns, bool given, struct error *err)
{
	return manifests_add(m, "f.yaml", text, strlen(text), ns, given, err);
}

#define JOB(name) "apiVersion: batch.volcano.sh/v1alpha1\nkind: Job\nmetadata:\n  name: " name "\n"

Test(manifest, splits_documents_in_their_order)
{
	struct manifests m = {0};
	struct error err;

	cr_assert_eq(add(&m,
			 "# a comment\n---\napiVersion: federator.dev/v1alpha1\nkind: DataSet\n"
			 "metadata: {name: d}\n---\n\n---\n" JOB("x") "---\n" JOB("y"),
			 "ml", false, &err),
		     0);
	cr_assert_eq(m.n, 3);
	cr_expect_str_eq(m.items[0].kind->name, "DataSet");
	cr_expect_null(m.items[0].ns, "a DataSet has no namespace");
	cr_expect_str_eq(m.items[1].name, "x");
	cr_expect_str_eq(m.items[1].ns, "ml");
	cr_expect_str_eq(m.items[2].name, "y");
	manifests_finish(&m);
}

Test(manifest, takes_lists_apart_and_reads_json)
{
	struct manifests m = {0};
	struct error err;

	cr_assert_eq(
		add(&m,
		    "{\"apiVersion\":\"v1\",\"kind\":\"List\",\"items\":[{\"apiVersion\":\"v1\","
		    "\"kind\":\"ConfigMap\",\"metadata\":{\"name\":\"a\"}},{\"apiVersion\":\"v1\","
		    "\"kind\":\"Secret\",\"metadata\":{\"generateName\":\"b-\"}}]}",
		    "default", false, &err),
		0, "%s", err.text);
	cr_assert_eq(m.n, 2);
	cr_expect_str_eq(m.items[0].kind->plural, "configmaps");
	cr_expect_null(m.items[1].name);
	manifests_finish(&m);
}

Test(manifest, finds_a_job_that_is_there_twice)
{
	static const char elsewhere[] = JOB("x") "  namespace: film\n";
	struct manifests m = {0};
	struct error err;

	cr_assert_eq(add(&m, JOB("x"), "ml", false, &err), 0);
	cr_assert_eq(add(&m, elsewhere, "ml", false, &err), 0);
	cr_expect_eq(manifests_check_twice(&m, &err), 0, "two namespaces");
	cr_assert_eq(manifests_add(&m, "g.yaml", elsewhere, strlen(elsewhere), "ml", false, &err),
		     0);
	cr_expect_eq(manifests_check_twice(&m, &err), -1);
	cr_expect_str_eq(err.text, "job \"x\" is there twice: in f.yaml and in g.yaml");
	manifests_finish(&m);
}

Test(manifest, lets_a_document_name_its_namespace)
{
	static const char text[] = JOB("x") "  namespace: film\n";
	struct manifests m = {0};
	struct error err;

	cr_assert_eq(add(&m, text, "default", false, &err), 0);
	cr_expect_str_eq(m.items[0].ns, "film");
	cr_assert_eq(add(&m, text, "film", true, &err), 0);
	cr_assert_eq(add(&m, text, "ml", true, &err), -1);
	cr_expect_str_eq(err.text, "f.yaml: document 1: namespace is \"film\", -n says \"ml\"");
	cr_expect_eq(m.n, 2);
	manifests_finish(&m);
}

Test(manifest, says_which_document_is_wrong_and_keeps_none_of_them)
{
	static const struct {
		const char *text, *error;
	} cases[] = {
		{JOB("x") "---\nkind: Job\n", "f.yaml: document 2: apiVersion is missing"},
		{JOB("x") "---\napiVersion: v1\n", "f.yaml: document 2: kind is missing"},
		{JOB("x") "---\n- a\n", "f.yaml: document 2: is no object"},
		{"apiVersion: v1\nkind: Jbo\nmetadata: {name: x}\n",
		 "f.yaml: document 1: kind \"Jbo\" is not known; did you mean \"Job\"?"},
		{"apiVersion: batch/v1\nkind: Job\nmetadata: {name: x}\n",
		 "f.yaml: document 1: kind Job of \"batch/v1\" is not known; it is served as "
		 "\"batch.volcano.sh/v1alpha1\""},
		{JOB("x") "  namespace: ../film\n",
		 "f.yaml: document 1: namespace \"../film\" must consist of lower case letters, "
		 "digits and '-', and begin and end with a letter or digit"},
		{"apiVersion: v1\nkind: Secret\n",
		 "f.yaml: document 1: secret has no metadata.name"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct manifests m = {0};
		struct error err = {0};

		cr_assert_eq(add(&m, cases[i].text, "default", false, &err), -1, "%zu", i);
		cr_expect_str_eq(err.text, cases[i].error, "%zu: %s", i, err.text);
		cr_expect_eq(m.n, 0);
		manifests_finish(&m);
	}
}

Test(manifest, names_the_place_of_malformed_yaml)
{
	struct manifests m = {0};
	struct error err;

	cr_assert_eq(add(&m, "a: [1\nb: 2\n", "default", false, &err), -1);
	cr_expect(!strncmp(err.text, "f.yaml: line ", 13), "%s", err.text);
	manifests_finish(&m);
}
