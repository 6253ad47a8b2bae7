/* Explanations as text and JSON; what they say is in cases and soundness. */
#include "scheduler/explain.h"

#include <criterion/criterion.h>
#include <string.h>

#include "scheduler/explain_internal.h"
#include "world.h"

Test(explain, bytes_as_people_write_them)
{
	static const struct {
		int64_t bytes;
		const char *text;
	} table[] = {
		{0, "0 B"},
		{1023, "1023 B"},
		{1024, "1Ki"},
		{1536, "1.5Ki"},
		{INT64_C(40) << 30, "40Gi"},
		{(INT64_C(1) << 40) + (INT64_C(205) << 30), "1.2Ti"},
		{INT64_C(2) << 40, "2Ti"},
		{INT64_MAX, "7.9Ei"},
	};

	for (size_t i = 0; i < ARRAY_LEN(table); i++) {
		auto_strbuf b = {0};

		explain_bytes(table[i].bytes, &b);
		cr_expect_str_eq(strbuf_str(&b), table[i].text);
	}
}

Test(explain, clusters_with_the_same_reason_are_named_together)
{
	static const struct reason r[] = {{"a", "x"}, {"b", "y"}, {"c", "x"}, {"d", "x"},
					  {"e", "x"}, {"f", "x"}, {"g", "x"}, {"h", "1"},
					  {"i", "2"}, {"j", "3"}, {"k", "1"}};
	auto_strbuf few = {0}, many = {0};

	reasons_write(r, 3, &few);
	cr_expect_str_eq(strbuf_str(&few), "a, c: x; b: y");
	reasons_write(r, ARRAY_LEN(r), &many);
	cr_expect_str_eq(strbuf_str(&many),
			 "a, c, d, e, f and 1 more: x; b: y; h, k: 1; i: 2; and other reasons");
}

static struct explain *explain_one(const char *cluster, const char *job_yaml)
{
	struct fleet *f = fleet_create();
	auto_json *j = world_yaml(cluster), *qj = world_yaml("{name: default}");
	auto_free(queue_destroy) struct queue *q = world_queue(qj);
	auto_free(job_destroy) struct job *job = world_job_yaml(job_yaml);
	struct explain *e;
	struct error err;

	fleet_queue_set(f, q);
	world_add_cluster(f, j);
	cr_assert_eq(fleet_submit(f, job, 3, 1, &err), 0);
	e = fleet_explain(f, "j", 0);
	fleet_destroy(f);
	return e;
}

Test(explain, times_are_relative_and_in_the_readers_zone)
{
	static const struct {
		int64_t waited_s;
		int32_t offset_s;
		const char *text;
	} table[] = {
		{5, 0, "j waits since 14:02 (5 s). "},
		{41 * 60, 3600, "j waits since 15:02 (41 min). "},
		{3 * 3600, -15 * 3600, "j waits since 23:02 (3 h). "},
		{72 * 3600, 10 * 3600, "j waits since 00:02 (3 d). "},
		{-5, 0, "j waits since 14:02 (0 s). "},
	};
	auto_free(explain_destroy) struct explain *e =
		explain_one("{name: a, nodes: [{allocatable: {cpu: 1}}]}",
			    "{name: j, submitted: 50520, tasks: [{name: m, requests: {cpu: 1}}]}");

	for (size_t i = 0; i < ARRAY_LEN(table); i++) {
		auto_strbuf b = {0};

		explain_text(e, (50520 + table[i].waited_s) * SECOND, table[i].offset_s, &b);
		cr_expect(!strncmp(strbuf_str(&b), table[i].text, strlen(table[i].text)), "%s",
			  strbuf_str(&b));
		cr_expect(strstr(strbuf_str(&b), "Nothing holds it back"));
	}
}

/* However long names and reasons are, the table stays within 100 columns. */
Test(explain, tables_fit_100_columns)
{
	auto_free(explain_destroy) struct explain *e = explain_one(
		"{name: a-cluster-with-a-name-of-32-chars, nodes: [{allocatable: {cpu: 1}}]}",
		"{name: j, tasks: [{name: m, requests: {cpu: 1, "
		"a-very-long-vendor-domain.example.com/a-device-with-a-very-long-name: 1, "
		"another-long-vendor-domain.example.com/also-a-device-with-a-long-name: 1}}]}");
	auto_strbuf b = {0};
	size_t width = 0;

	explain_text(e, 0, 0, &b);
	for (const char *line = strstr(strbuf_str(&b), "\nCLUSTER") + 1; *line != '\n';
	     line += strcspn(line, "\n") + 1)
		width = strcspn(line, "\n") > width ? strcspn(line, "\n") : width;
	cr_expect(width > 80 && width <= 100, "%zu columns:\n%s", width, strbuf_str(&b));
	cr_expect(strstr(strbuf_str(&b), "...\n"));
}

Test(explain, json_says_it_all)
{
	auto_free(explain_destroy) struct explain *e = explain_one(
		"{name: a, nodes: [{count: 2, allocatable: {cpu: 4}, free: {cpu: 1500m}}]}",
		"{name: j, tasks: [{name: m, replicas: 3, requests: {cpu: 1}}]}");
	auto_json *got = explain_json(e);
	auto_json *wanted = world_yaml(
		"{job: j, namespace: default, uid: j, queue: default, priority: 3, tasks: 3, "
		"code: NoRoom, detail: \"gang: largest room is 2 of 3 tasks, in a; short of cpu: 2 of "
		"3\", remedy: It starts when a has room for 1 more., sole: true, clusters: [{cluster: a, "
		"verdict: full, filter: room, detail: room for 2 of 3 tasks, sole: true, shortOf: "
		"[{resource: cpu, have: \"2\", want: \"3\", sole: true}], tasksThatFit: 2, tasks: 3}], "
		"funnelOf: Clusters, funnel: [{filter: capacity, left: 1, liftedAlone: 0}, {filter: room, "
		"left: 0, liftedAlone: 1}]}");
	auto_xfree char *text = json_dumps(got, 0);

	cr_expect(json_equal(got, wanted), "%s", text);
}
