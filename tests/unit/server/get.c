/* One object, as JSON and as a table's row. */
#include "fixture.h"

#define TABLE                                                                                      \
	"application/json;as=Table;v=v1;g=meta.k8s.io,application/json;as=Table;v=v1beta1;"        \
	"g=meta.k8s.io,application/json"

Test(get, absent_is_404_with_details)
{
	struct fixture *f = fixture_create(NULL);
	auto_answer a = call(f, "GET", JOBS "/x", NULL);

	expect_failure(&a, 404, "NotFound", "jobs.batch.volcano.sh \"x\" not found");
	cr_expect_str_eq(at(&a, "details", "name"), "x");
	cr_expect_str_eq(at(&a, "details", "kind"), "jobs");
	cr_expect_str_eq(at(&a, "status"), "Failure");
	cr_expect_str_eq(at(&a, "apiVersion"), "v1");
	cr_expect_eq(json_int_at(a.json, 0, "code", NULL), 404);
	fixture_destroy(f);
}

Test(get, is_a_row_for_who_wants_a_table)
{
	struct fixture *f = fixture_create(NULL);
	auto_answer made = call(f, "POST", CONFIGS, config_body("a", ""));
	auto_answer a = call_full(f, &(struct call){"GET", CONFIGS "/a", .accept = TABLE});
	const json_t *row = json_array_get(json_object_get(a.json, "rows"), 0);
	const json_t *column = json_array_get(json_object_get(a.json, "columnDefinitions"), 0);

	expect_status(&a, 200);
	cr_expect_str_eq(at(&a, "kind"), "Table");
	cr_expect_str_eq(at(&a, "apiVersion"), "meta.k8s.io/v1");
	cr_expect_str_eq(at(&a, "metadata", "resourceVersion"),
			 at(&made, "metadata", "resourceVersion"));
	cr_expect_str_eq(text_at(column, "name", NULL), "Name");
	cr_expect_str_eq(json_string_value(json_array_get(json_object_get(row, "cells"), 0)), "a");
	cr_expect_str_eq(text_at(row, "object", "kind", NULL), "PartialObjectMetadata");
	cr_expect_str_eq(text_at(row, "object", "metadata", "uid", NULL),
			 at(&made, "metadata", "uid"));
	fixture_destroy(f);
}

Test(get, includes_the_object_or_nothing_in_a_row)
{
	struct fixture *f = fixture_create(NULL);
	auto_answer made = call(f, "POST", CONFIGS, config_body("a", ""));
	auto_answer object = call_full(
		f, &(struct call){"GET", CONFIGS "/a?includeObject=Object", .accept = TABLE});
	auto_answer none = call_full(
		f, &(struct call){"GET", CONFIGS "/a?includeObject=None", .accept = TABLE});
	auto_answer bad = call_full(
		f, &(struct call){"GET", CONFIGS "/a?includeObject=All", .accept = TABLE});
	const json_t *rows = json_object_get(object.json, "rows");

	expect_status(&made, 201);
	cr_expect_str_eq(text_at(json_array_get(rows, 0), "object", "data", "k", NULL), "v");
	cr_expect(json_is_null(
		json_object_get(json_array_get(json_object_get(none.json, "rows"), 0), "object")));
	expect_failure(&bad, 400, "BadRequest", "includeObject");
	fixture_destroy(f);
}

Test(get, takes_what_it_can_give_from_accept)
{
	static const struct {
		const char *accept;
		int status;
		const char *kind;
	} cases[] = {
		{"application/json, */*", 200, "ConfigMap"},
		{"*/*", 200, "ConfigMap"},
		{"application/vnd.kubernetes.protobuf,application/json", 200, "ConfigMap"},
		{"application/vnd.kubernetes.protobuf, */*", 200, "ConfigMap"},
		{"application/json;as=Table;v=v1beta1;g=meta.k8s.io", 200, "Table"},
		{"application/json; as=Table; v=v1; g=meta.k8s.io , application/json", 200,
		 "Table"},
		{"application/vnd.kubernetes.protobuf;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,"
		 "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json",
		 200, "ConfigMap"},
		{"application/json;as=Chair;v=v1;g=meta.k8s.io", 406, "Status"},
		{"application/vnd.kubernetes.protobuf", 406, "Status"},
		{"text/html", 406, "Status"},
	};
	struct fixture *f = fixture_create(NULL);
	auto_answer made = call(f, "POST", CONFIGS, config_body("a", ""));

	expect_status(&made, 201);
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		auto_answer a = call_full(
			f, &(struct call){"GET", CONFIGS "/a", .accept = cases[i].accept});

		cr_expect_eq(a.status, cases[i].status, "%s: %d", cases[i].accept, a.status);
		cr_expect_str_eq(at(&a, "kind"), cases[i].kind, "%s", cases[i].accept);
		cr_expect_str_eq(header_of(&a, "Content-Type"), "application/json");
	}
	fixture_destroy(f);
}
