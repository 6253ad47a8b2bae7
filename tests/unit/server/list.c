/* Lists: consistent, in pages, selected, and what a version asks of them. */
#include "fixture.h"

static void make_configs(struct fixture *f, int n)
{
	char name[20], meta[80];

	for (int i = 0; i < n; i++) {
		snprintf(name, sizeof(name), "c%03d", i);
		snprintf(meta, sizeof(meta), "\"labels\":{\"n\":\"%d\",\"even\":\"%s\"}", i,
			 i % 2 ? "no" : "yes");
		{
			auto_answer a = call(f, "POST", CONFIGS, config_body(name, meta));

			cr_assert_eq(a.status, 201, "%s", a.body);
		}
	}
}

static size_t items_of(const struct answer *a)
{
	return json_array_size(json_object_get(a->json, "items"));
}

static const char *name_at(const struct answer *a, size_t i)
{
	return text_at(json_array_get(json_object_get(a->json, "items"), i), "metadata", "name",
		       NULL);
}

Test(list, has_kind_version_and_items_in_the_order_of_names)
{
	struct fixture *f = fixture_create(NULL);
	auto_answer empty = call(f, "GET", CONFIGS, NULL);

	make_configs(f, 3);
	{
		auto_answer a = call(f, "GET", CONFIGS, NULL);
		auto_answer all = call(f, "GET", "/api/v1/configmaps", NULL);
		auto_answer other = call(f, "GET", "/api/v1/namespaces/defaul/configmaps", NULL);

		cr_expect_str_eq(at(&empty, "kind"), "ConfigMapList");
		cr_expect_eq(items_of(&empty), 0);
		cr_expect(json_is_array(json_object_get(empty.json, "items")));
		cr_expect_eq(items_of(&a), 3);
		cr_expect_str_eq(name_at(&a, 0), "c000");
		cr_expect_str_eq(name_at(&a, 2), "c002");
		cr_expect(strtoll(at(&a, "metadata", "resourceVersion"), NULL, 10) > 0);
		cr_expect_eq(items_of(&all), 3);
		cr_expect_eq(items_of(&other), 0);
	}
	fixture_destroy(f);
}

Test(list, pages_give_each_object_once_whatever_comes_and_goes_between)
{
	struct fixture *f = fixture_create(NULL);
	char path[400];

	make_configs(f, 6);
	{
		auto_answer one = call(f, "GET", CONFIGS "?limit=2", NULL);
		auto_answer gone = call(f, "DELETE", CONFIGS "/c000", NULL);
		auto_answer more = call(f, "POST", CONFIGS, config_body("a-before", ""));
		auto_answer last = call(f, "DELETE", CONFIGS "/c001", NULL);

		cr_expect_eq(items_of(&one), 2);
		cr_expect_eq(json_int_at(one.json, 0, "metadata", "remainingItemCount", NULL), 4);
		expect_status(&gone, 200);
		expect_status(&more, 201);
		expect_status(&last, 200);
		snprintf(path, sizeof(path), CONFIGS "?limit=3&continue=%s",
			 at(&one, "metadata", "continue"));
		{
			auto_answer two = call(f, "GET", path, NULL);

			cr_expect_eq(items_of(&two), 3);
			cr_expect_str_eq(name_at(&two, 0), "c002");
			cr_expect_str_eq(at(&two, "metadata", "resourceVersion"),
					 at(&one, "metadata", "resourceVersion"));
			snprintf(path, sizeof(path), CONFIGS "?limit=3&continue=%s",
				 at(&two, "metadata", "continue"));
		}
		{
			auto_answer three = call(f, "GET", path, NULL);

			cr_expect_eq(items_of(&three), 1);
			cr_expect_str_eq(name_at(&three, 0), "c005");
			cr_expect_str_empty(at(&three, "metadata", "continue"));
		}
	}
	fixture_destroy(f);
}

Test(list, limit_is_ignored_where_any_version_will_do)
{
	struct fixture *f = fixture_create(NULL);

	make_configs(f, 3);
	{
		auto_answer a = call(f, "GET", CONFIGS "?limit=1&resourceVersion=0", NULL);

		cr_expect_eq(items_of(&a), 3);
		cr_expect_str_empty(at(&a, "metadata", "continue"));
	}
	fixture_destroy(f);
}

static const struct {
	const char *query;
	size_t n;
} selections[] = {
	{"labelSelector=even%3Dyes", 3},
	{"labelSelector=even", 5},
	{"labelSelector=!even", 0},
	{"labelSelector=n%20in%20(1,2),even%3Dno", 1},
	{"labelSelector=even!%3Dyes", 2},
	{"fieldSelector=metadata.name%3Dc001", 1},
	{"fieldSelector=metadata.name!%3Dc001", 4},
	{"fieldSelector=metadata.namespace%3Ddefault,metadata.name%3Dc002", 1},
	{"fieldSelector=metadata.namespace%3Dother", 0},
	{"fieldSelector=metadata.name%3Dc00", 0},
	{"fieldSelector=metadata.name%3Dc001&labelSelector=even%3Dyes", 0},
};

Test(list, selects_by_labels_and_fields)
{
	struct fixture *f = fixture_create(NULL);
	char path[200];

	make_configs(f, 5);
	for (size_t i = 0; i < ARRAY_LEN(selections); i++) {
		snprintf(path, sizeof(path), CONFIGS "?%s", selections[i].query);
		{
			auto_answer a = call(f, "GET", path, NULL);

			cr_expect_eq(items_of(&a), selections[i].n, "%s: %s", path, a.body);
		}
		snprintf(path, sizeof(path), "/api/v1/configmaps?%s", selections[i].query);
		{
			auto_answer a = call(f, "GET", path, NULL);

			cr_expect_eq(items_of(&a), selections[i].n, "%s: %s", path, a.body);
		}
	}
	fixture_destroy(f);
}

Test(list, selects_by_fields_of_the_kind)
{
	struct fixture *f = fixture_create(NULL);
	const char *events = "/api/v1/namespaces/default/events";
	const char *body = "{\"metadata\":{\"name\":\"%s\"},\"involvedObject\":{\"kind\":\"Job\","
			   "\"name\":\"%s\",\"namespace\":\"default\"},\"reason\":\"R\","
			   "\"message\":\"m\",\"type\":\"Normal\"}";
	char one[400], two[400];

	snprintf(one, sizeof(one), body, "one", "a");
	snprintf(two, sizeof(two), body, "two", "b");
	{
		auto_answer a = call(f, "POST", events, one), b = call(f, "POST", events, two);
		auto_answer got = call(f, "GET",
				       "/api/v1/namespaces/default/events?fieldSelector="
				       "involvedObject.kind%3DJob,involvedObject.name%3Db",
				       NULL);

		cr_expect_eq(a.status, 201, "%s", a.body);
		cr_expect_eq(b.status, 201, "%s", b.body);
		cr_expect_eq(items_of(&got), 1);
		cr_expect_str_eq(name_at(&got, 0), "two");
	}
	fixture_destroy(f);
}

static const struct {
	const char *query;
	int code;
	const char *reason, *text;
} refusals[] = {
	{"labelSelector=a%20b", 400, "BadRequest", ""},
	{"fieldSelector=spec.color%3Dred", 400, "BadRequest",
	 "field label not supported: spec.color"},
	{"fieldSelector=metadata.name", 400, "BadRequest", ""},
	{"limit=many", 400, "BadRequest", "limit"},
	{"timeoutSeconds=long", 400, "BadRequest", "timeoutSeconds"},
	{"sendInitialEvents=false", 422, "Invalid", "sendInitialEvents is forbidden for list"},
	{"resourceVersion=abc", 400, "BadRequest", "resourceVersion"},
	{"resourceVersion=-5", 400, "BadRequest", "resourceVersion"},
	{"resourceVersionMatch=Exact", 422, "Invalid",
	 "resourceVersionMatch is forbidden unless resourceVersion is provided"},
	{"resourceVersion=0&resourceVersionMatch=Exact", 422, "Invalid", "is forbidden"},
	{"resourceVersion=5&resourceVersionMatch=Newer", 422, "Invalid", "Unsupported value"},
	{"continue=x&resourceVersionMatch=NotOlderThan", 422, "Invalid",
	 "is forbidden when continue"},
	{"continue=x&resourceVersion=1024", 400, "BadRequest",
	 "specifying resource version is not allowed when using continue"},
	{"continue=notbase64", 400, "BadRequest", "continue key is not valid"},
	{"continue=YWJj", 400, "BadRequest", "continue key is not valid"},
};

Test(list, refuses_what_makes_no_sense)
{
	struct fixture *f = fixture_create(NULL);
	char path[200];

	for (size_t i = 0; i < ARRAY_LEN(refusals); i++) {
		snprintf(path, sizeof(path), CONFIGS "?%s", refusals[i].query);
		{
			auto_answer a = call(f, "GET", path, NULL);

			expect_failure(&a, refusals[i].code, refusals[i].reason, refusals[i].text);
		}
	}
	fixture_destroy(f);
}

Test(list, exact_is_served_at_its_version_only)
{
	struct fixture *f = fixture_create(NULL);
	auto_answer first = call(f, "GET", CONFIGS, NULL);
	char path[200];

	snprintf(path, sizeof(path), CONFIGS "?resourceVersion=%s&resourceVersionMatch=Exact",
		 at(&first, "metadata", "resourceVersion"));
	{
		auto_answer now = call(f, "GET", path, NULL);
		auto_answer made = call(f, "POST", CONFIGS, config_body("a", ""));
		auto_answer late = call(f, "GET", path, NULL);

		expect_status(&now, 200);
		expect_status(&made, 201);
		expect_failure(&late, 410, "Expired", "too old");
	}
	fixture_destroy(f);
}

Test(list, a_version_that_does_not_come_is_504_after_three_seconds)
{
	struct fixture *f = fixture_create(NULL);
	auto_answer list = call(f, "GET", CONFIGS "?resourceVersion=99999999", NULL);
	const json_t *cause = json_array_get(json_at(list.json, "details", "causes", NULL), 0);

	expect_failure(&list, 504, "Timeout", "Too large resource version: 99999999");
	cr_expect_str_eq(text_at(cause, "reason", NULL), "ResourceVersionTooLarge");
	cr_expect_eq(json_int_at(list.json, 0, "details", "retryAfterSeconds", NULL), 1);
	cr_expect_str_eq(header_of(&list, "Retry-After"), "1");
	fixture_destroy(f);
}

/* The cache is held back, so that it shows what was before the write. */
Test(list, never_shows_an_older_view_than_the_store_or_the_request_has)
{
	struct fixture *f = fixture_create(NULL);
	auto_answer old = call(f, "GET", CONFIGS, NULL);
	char path[200];

	cr_expect_eq(old.status, 200);

	fixture_hold_back(f, true);
	{
		auto_answer made = call(f, "POST", CONFIGS, config_body("a", ""));
		auto_answer any = call(f, "GET", CONFIGS "?resourceVersion=0", NULL);
		auto_answer consistent = call(f, "GET", CONFIGS, NULL);
		auto_answer one = call(f, "GET", CONFIGS "/a", NULL);

		expect_status(&made, 201);
		cr_expect_eq(items_of(&any), 0);
		expect_failure(&consistent, 503, "ServiceUnavailable", "");
		cr_expect_str_eq(header_of(&consistent, "Retry-After"), "1");
		expect_status(&one, 503);
		snprintf(path, sizeof(path), CONFIGS "?resourceVersion=%s",
			 at(&made, "metadata", "resourceVersion"));
	}
	{
		auto_answer named = call(f, "GET", path, NULL);

		expect_failure(&named, 504, "Timeout", "Too large resource version");
	}
	fixture_hold_back(f, false);
	{
		auto_answer named = call(f, "GET", path, NULL);

		cr_expect_eq(items_of(&named), 1);
	}
	fixture_destroy(f);
}

Test(list, large_lists_arrive_whole)
{
	struct fixture *f = fixture_create(NULL);
	auto_xfree char *fill = xmalloc(200001);
	char meta[8];

	memset(fill, 'x', 200000);
	fill[200000] = '\0';
	for (int i = 0; i < 8; i++) {
		auto_xfree char *body = xasprintf(
			"{\"metadata\":{\"name\":\"l%d\"},\"data\":{\"k\":\"%s\"}}", i, fill);
		auto_answer a = call(f, "POST", CONFIGS, body);

		cr_assert_eq(a.status, 201);
	}
	snprintf(meta, sizeof(meta), "l7");
	{
		auto_answer all = call(f, "GET", CONFIGS, NULL);

		auto_answer table = call_full(
			f,
			&(struct call){"GET", CONFIGS "?includeObject=Object",
				       .accept = "application/json;as=Table;v=v1;g=meta.k8s.io"});

		cr_expect_eq(items_of(&all), 8);
		cr_expect_eq(json_array_size(json_object_get(table.json, "rows")), 8);
		cr_expect_str_eq(name_at(&all, 7), meta);
		cr_expect_eq(strlen(text_at(json_array_get(json_object_get(all.json, "items"), 3),
					    "data", "k", NULL)),
			     200000);
	}
	fixture_destroy(f);
}

Test(list, is_a_table_of_rows)
{
	struct fixture *f = fixture_create(NULL);
	auto_answer made = call(f, "POST", JOBS, job_body("a", ""));
	auto_answer a = call_full(
		f, &(struct call){"GET", JOBS "?limit=500",
				  .accept = "application/json;as=Table;v=v1;g=meta.k8s.io"});
	const json_t *columns = json_object_get(a.json, "columnDefinitions");
	const json_t *cells =
		json_object_get(json_array_get(json_object_get(a.json, "rows"), 0), "cells");

	expect_status(&made, 201);
	cr_expect_eq(json_array_size(json_object_get(a.json, "rows")), 1);
	cr_expect_eq(json_array_size(columns), json_array_size(cells));
	cr_expect_str_eq(json_string_value(json_array_get(cells, 0)), "a");
	cr_expect(json_array_size(columns) > 3);
	fixture_destroy(f);
}

#define MANY 20050 /* more than one turn of the loop looks at */

static void ignore_result(const struct store_result *result, void *arg)
{
}

static void store_many(struct fixture *f, void *arg)
{
	for (int i = 0; i < MANY; i++) {
		auto_xfree char *key = xasprintf("/federator/core/configmaps/default/m%05d", i);
		auto_xfree char *value = xasprintf(
			"{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":{\"name\":\"m%05d\","
			"\"namespace\":\"default\",\"labels\":{\"last\":\"%s\"}}}",
			i, i % 1000 == 999 || i == MANY - 1 ? "yes" : "no");
		const struct store_write write = {
			.key = key, .value = value, .size = strlen(value)};

		store_commit(fixture_store(f), &(struct store_txn){.writes = &write, .n_writes = 1},
			     ignore_result, NULL);
	}
}

Test(list, finds_all_of_very_many)
{
	struct fixture *f = fixture_create(NULL);

	fixture_run(f, store_many, NULL);
	{
		auto_answer all = call(f, "GET", CONFIGS, NULL);
		auto_answer some = call(f, "GET", CONFIGS "?labelSelector=last%3Dyes", NULL);
		auto_answer page =
			call(f, "GET", CONFIGS "?labelSelector=last%3Dyes&limit=20", NULL);

		cr_expect_eq(items_of(&all), MANY);
		cr_expect_str_eq(name_at(&all, MANY - 1), "m20049");
		cr_expect_eq(items_of(&some), 21);
		cr_expect_str_eq(name_at(&some, 20), "m20049");
		cr_expect_eq(items_of(&page), 20);
		cr_expect(*at(&page, "metadata", "continue"));
	}
	fixture_destroy(f);
}
