#include "api/resources.h"

#include <criterion/criterion.h>
#include <string.h>

#include "base/json.h"

static json_t *parse(const char *text)
{
	struct error err = {0};
	json_t *j = json_parse(text, strlen(text), NULL, &err);

	cr_assert(j, "%s: %s", text, err.text);
	return j;
}

static struct resource_list list_of(struct arena *a, const char *text)
{
	auto_json *j = parse(text);
	struct resource_list l = {0};
	struct error err = {0};

	cr_assert_eq(resource_list_parse(a, j, &l, &err), 0, "%s: %s", text, err.text);
	return l;
}

static void check_list(const struct resource_list *l, const char *want)
{
	auto_json *j = resource_list_json(l);
	auto_xfree char *text = json_print(j);

	cr_expect_str_eq(text, want);
}

Test(resources, counts_cpu_in_milli_and_the_rest_in_units)
{
	struct arena a = {0};
	struct resource_list l = list_of(&a, "{\"memory\":\"8Gi\",\"nvidia.com/gpu\":2,"
					     "\"cpu\":\"1500m\",\"ephemeral-storage\":\"1500m\"}");

	cr_expect_eq(l.n, 4);
	for (size_t i = 1; i < l.n; i++)
		cr_expect_lt(strcmp(l.items[i - 1].name, l.items[i].name), 0);
	cr_expect_eq(resource_list_get(&l, "cpu"), 1500);
	cr_expect_eq(resource_list_get(&l, "memory"), 8589934592);
	cr_expect_eq(resource_list_get(&l, "nvidia.com/gpu"), 2);
	cr_expect_eq(resource_list_get(&l, "ephemeral-storage"), 2);
	cr_expect_eq(resource_list_get(&l, "pods"), 0);
	cr_expect(!resource_list_has(&l, "pods"));
	l = list_of(&a, "{\"cpu\":0.5}");
	cr_expect_eq(resource_list_get(&l, "cpu"), 500);
	l = list_of(&a, "{}");
	cr_expect_eq(l.n, 0);
	arena_finish(&a);
}

Test(resources, takes_an_absent_object_as_empty)
{
	struct arena a = {0};
	struct resource_list l = {.n = 7};
	auto_json *null = json_null();

	cr_expect_eq(resource_list_parse(&a, NULL, &l, NULL), 0);
	cr_expect_eq(l.n, 0);
	cr_expect_eq(resource_list_parse(&a, null, &l, NULL), 0);
	arena_finish(&a);
}

Test(resources, names_the_resource_that_is_wrong)
{
	static const struct {
		const char *json, *begins;
	} cases[] = {
		{"{\"cpu\":\"1\",\"memory\":\"8Gib\"}", "memory: "},
		{"{\"cpu\":\"-1\"}", "cpu: "},
		{"{\"nvidia.com/gpu\":true}", "nvidia.com/gpu: "},
		{"{\"cpu\":{}}", "cpu: "},
		{"[]", "resource amounts"},
		{"\"cpu\"", "resource amounts"},
	};
	struct arena a = {0};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		auto_json *j = json_loads(cases[i].json, JSON_DECODE_ANY, NULL);
		struct resource_list l = {.n = 7};
		struct error err = {0};

		cr_expect_eq(resource_list_parse(&a, j, &l, &err), -1, "%s", cases[i].json);
		cr_expect_eq(err.code, ERR_INVALID);
		cr_expect(!strncmp(err.text, cases[i].begins, strlen(cases[i].begins)), "%s",
			  err.text);
		cr_expect_eq(l.n, 7);
	}
	arena_finish(&a);
}

static json_t *many_names(size_t n)
{
	json_t *j = json_object();

	for (size_t i = 0; i < n; i++) {
		char name[40];

		snprintf(name, sizeof(name), "example.com/r%zu", i);
		json_object_set_new(j, name, json_integer(1));
	}
	return j;
}

Test(resources, bounds_the_number_of_names)
{
	auto_json *most = many_names(RESOURCE_NAMES_MAX);
	auto_json *more = many_names(RESOURCE_NAMES_MAX + 1);
	struct arena a = {0};
	struct resource_list l = {0};
	struct error err = {0};

	cr_expect_eq(resource_list_parse(&a, most, &l, &err), 0);
	cr_expect_eq(resource_list_parse(&a, more, &l, &err), -1);
	cr_expect(strstr(err.text, "257"), "%s", err.text);
	arena_finish(&a);
}

Test(resources, adds_subtracts_and_saturates)
{
	struct arena a = {0};
	struct resource_list sum = list_of(&a, "{\"cpu\":1,\"b\":5}");
	struct resource_list l = list_of(&a, "{\"a\":1,\"cpu\":\"500m\",\"z\":3}");

	resource_list_add(&a, &sum, &l, 4);
	check_list(&sum, "{\"a\":\"4\",\"b\":\"5\",\"cpu\":\"3\",\"z\":\"12\"}");
	resource_list_add(&a, &sum, &l, -5);
	check_list(&sum, "{\"a\":\"-1\",\"b\":\"5\",\"cpu\":\"500m\",\"z\":\"-3\"}");
	check_list(&l, "{\"a\":\"1\",\"cpu\":\"500m\",\"z\":\"3\"}");
	resource_list_add(&a, &sum, &l, INT64_MAX);
	resource_list_add(&a, &sum, &l, INT64_MAX);
	cr_expect_eq(resource_list_get(&sum, "z"), INT64_MAX);
	cr_expect_eq(resource_list_get(&sum, "cpu"), INT64_MAX);
	resource_list_add(&a, &sum, &l, INT64_MIN);
	resource_list_add(&a, &sum, &l, INT64_MIN);
	cr_expect_eq(resource_list_get(&sum, "z"), INT64_MIN);
	arena_finish(&a);
}

Test(resources, takes_the_greater_of_each_name)
{
	struct arena a = {0};
	struct resource_list to = list_of(&a, "{\"a\":1,\"b\":5}");
	struct resource_list l = list_of(&a, "{\"a\":3,\"b\":2,\"c\":1}");

	resource_list_max(&a, &to, &l);
	check_list(&to, "{\"a\":\"3\",\"b\":\"5\",\"c\":\"1\"}");
	resource_list_set(&a, &to, "a", 0);
	cr_expect_eq(resource_list_get(&to, "a"), 0);
	cr_expect(resource_list_has(&to, "a"));
	arena_finish(&a);
}

Test(resources, prints_amounts_as_people_read_them)
{
	static const struct {
		const char *name;
		int64_t amount;
		const char *text;
	} cases[] = {
		{"cpu", 1500, "1500m"},
		{"cpu", 4000, "4"},
		{"memory", 42949672960, "40Gi"},
		{"memory", 1000, "1k"},
		{"ephemeral-storage", 1048576, "1Mi"},
		{"hugepages-2Mi", 4194304, "4Mi"},
		{"storage", 1099511627776, "1Ti"},
		{"nvidia.com/gpu", 8, "8"},
		{"pods", 110, "110"},
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		auto_strbuf out = {0};

		resource_format(cases[i].name, cases[i].amount, &out);
		cr_expect_str_eq(strbuf_str(&out), cases[i].text, "%s", cases[i].name);
	}
}

/* --- what a pod takes ------------------------------------------------------------------- */

static void check_request(const char *spec, const char *want)
{
	auto_json *j = parse(spec);
	struct arena a = {0};
	struct resource_list l = {0};
	struct error err = {0};

	cr_assert_eq(pod_request(&a, j, &l, &err), 0, "%s: %s", spec, err.text);
	check_list(&l, want);
	arena_finish(&a);
}

#define REQUESTS(r) "{\"resources\":{\"requests\":" r "}}"
#define SIDECAR(r)  "{\"restartPolicy\":\"Always\",\"resources\":{\"requests\":" r "}}"

Test(pod_request, sums_containers_and_adds_the_pod_itself)
{
	check_request("{}", "{\"pods\":\"1\"}");
	check_request(
		"{\"containers\":[" REQUESTS("{\"cpu\":\"500m\",\"memory\":\"1Gi\"}") "," REQUESTS(
			"{\"cpu\":1,\"nvidia.com/gpu\":2}") ",{\"name\":\"none\"}]}",
		"{\"cpu\":\"1500m\",\"memory\":\"1Gi\",\"nvidia.com/gpu\":\"2\","
		"\"pods\":\"1\"}");
}

Test(pod_request, lets_limits_stand_in_for_absent_requests)
{
	check_request("{\"containers\":[{\"resources\":{\"limits\":{\"cpu\":4,\"memory\":\"8Gi\","
		      "\"nvidia.com/gpu\":1},\"requests\":{\"cpu\":1}}}]}",
		      "{\"cpu\":\"1\",\"memory\":\"8Gi\",\"nvidia.com/gpu\":\"1\",\"pods\":\"1\"}");
	/* a written 0 is a request */
	check_request("{\"containers\":[{\"resources\":{\"limits\":{\"cpu\":4},"
		      "\"requests\":{\"cpu\":0}}}]}",
		      "{\"cpu\":\"0\",\"pods\":\"1\"}");
}

Test(pod_request, runs_init_containers_one_by_one)
{
	/* the largest of them, not their sum */
	check_request(
		"{\"containers\":[" REQUESTS(
			"{\"cpu\":1,\"memory\":\"4Gi\"}") "],"
							  "\"initContainers\":[" REQUESTS("{\"cpu\":3}") "," REQUESTS(
								  "{\"cpu\":2,"
								  "\"memory\":\"1Gi\"}") "]}",
		"{\"cpu\":\"3\",\"memory\":\"4Gi\",\"pods\":\"1\"}");
}

Test(pod_request, keeps_sidecars_for_the_whole_life)
{
	/* 1 + 1 beside each other; the init container after the sidecar needs 1 + 3 */
	check_request("{\"containers\":[" REQUESTS("{\"cpu\":1}") "],\"initContainers\":[" SIDECAR(
			      "{\"cpu\":1}") "," REQUESTS("{\"cpu\":3}") "]}",
		      "{\"cpu\":\"4\",\"pods\":\"1\"}");
	/* before the sidecar it runs alone: 3; afterwards 1 + 1 */
	check_request("{\"containers\":[" REQUESTS("{\"cpu\":1}") "],\"initContainers\":[" REQUESTS(
			      "{\"cpu\":3}") "," SIDECAR("{\"cpu\":1}") "]}",
		      "{\"cpu\":\"3\",\"pods\":\"1\"}");
	check_request(
		"{\"containers\":[" REQUESTS("{\"cpu\":4}") "],\"initContainers\":[" SIDECAR(
			"{\"cpu\":1}") "," SIDECAR("{\"cpu\":2}") "," REQUESTS("{\"cpu\":\"500m\"}") "]}",
		"{\"cpu\":\"7\",\"pods\":\"1\"}");
}

Test(pod_request, lets_the_pod_level_replace_what_it_may_set)
{
	/* cpu and memory of the pod win over the containers' sum, devices cannot be set there */
	check_request(
		"{\"containers\":[" REQUESTS(
			"{\"cpu\":1,\"nvidia.com/gpu\":1}") "],"
							    "\"resources\":{\"requests\":{\"cpu\":3,\"memory\":\"2Gi\","
							    "\"nvidia.com/gpu\":9}}}",
		"{\"cpu\":\"3\",\"memory\":\"2Gi\",\"nvidia.com/gpu\":\"1\",\"pods\":\"1\"}");
	/* a pod-level limit counts only where no container asks */
	check_request(
		"{\"containers\":[" REQUESTS(
			"{\"cpu\":1}") "],"
				       "\"resources\":{\"limits\":{\"cpu\":3,\"memory\":\"2Gi\"}}}",
		"{\"cpu\":\"1\",\"memory\":\"2Gi\",\"pods\":\"1\"}");
	/* huge pages cannot be overcommitted */
	check_request(
		"{\"containers\":[" REQUESTS(
			"{\"hugepages-2Mi\":\"2Mi\"}") "],"
						       "\"resources\":{\"limits\":{\"hugepages-2Mi\":\"8Mi\"}}}",
		"{\"hugepages-2Mi\":\"8Mi\",\"pods\":\"1\"}");
}

Test(pod_request, adds_overhead_last)
{
	check_request(
		"{\"containers\":[" REQUESTS(
			"{\"cpu\":1}") "],\"resources\":{\"requests\":"
				       "{\"cpu\":2}},\"overhead\":{\"cpu\":\"250m\",\"memory\":\"64Mi\"}}",
		"{\"cpu\":\"2250m\",\"memory\":\"64Mi\",\"pods\":\"1\"}");
}

Test(pod_request, names_the_path_of_what_is_wrong)
{
	static const struct {
		const char *spec, *text;
	} cases[] = {
		{"{\"containers\":[{}," REQUESTS("{\"cpu\":\"x\"}") "]}",
		 "containers[1]: resources.requests: cpu: "},
		{"{\"initContainers\":[{\"resources\":{\"limits\":{\"memory\":\"-1\"}}}]}",
		 "initContainers[0]: resources.limits: memory: "},
		{"{\"overhead\":{\"cpu\":\"x\"}}", "overhead: cpu: "},
		{"{\"resources\":{\"requests\":{\"cpu\":\"x\"}}}", "resources: cpu: "},
	};
	struct arena a = {0};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		auto_json *j = parse(cases[i].spec);
		struct resource_list l = {.n = 7};
		struct error err = {0};

		cr_expect_eq(pod_request(&a, j, &l, &err), -1);
		cr_expect(!strncmp(err.text, cases[i].text, strlen(cases[i].text)), "%s", err.text);
		cr_expect_eq(l.n, 7);
	}
	arena_finish(&a);
}

Test(pod_request, bounds_the_names_of_all_containers_together)
{
	auto_json *spec = json_object();
	json_t *containers = json_array(), *requests = many_names(200);
	struct arena a = {0};
	struct resource_list l = {0};
	struct error err = {0};

	json_object_set_new(spec, "containers", containers);
	json_array_append_new(containers,
			      json_pack("{s:{s:O}}", "resources", "requests", requests));
	json_array_append_new(containers,
			      json_pack("{s:{s:O}}", "resources", "requests", requests));
	cr_expect_eq(pod_request(&a, spec, &l, &err), 0, "%s", err.text);
	cr_expect_eq(l.n, 201);
	json_decref(requests);
	requests = json_object();
	for (int i = 0; i < 200; i++) {
		char name[40];

		snprintf(name, sizeof(name), "other%d", i);
		json_object_set_new(requests, name, json_integer(1));
	}
	json_array_append_new(containers,
			      json_pack("{s:{s:o}}", "resources", "requests", requests));
	cr_expect_eq(pod_request(&a, spec, &l, &err), -1);
	arena_finish(&a);
}

static void check_running(const char *spec, const char *status, const char *want)
{
	auto_json *s = parse(spec);
	auto_json *t = parse(status);
	struct arena a = {0};
	struct resource_list l = {0};
	struct error err = {0};

	cr_assert_eq(pod_request_running(&a, s, t, &l, &err), 0, "%s", err.text);
	check_list(&l, want);
	arena_finish(&a);
}

#define ONE_CONTAINER                                                                              \
	"{\"containers\":[{\"name\":\"c\",\"resources\":{\"requests\":{\"cpu\":2,\"memory\":"      \
	"\"1Gi\"}}}]}"

Test(pod_request, takes_the_greatest_of_spec_and_status_of_a_running_pod)
{
	/* shrinking: the kubelet has not let go yet */
	check_running(ONE_CONTAINER,
		      "{\"containerStatuses\":[{\"name\":\"c\",\"resources\":{\"requests\":"
		      "{\"cpu\":3,\"memory\":\"512Mi\"}},\"allocatedResources\":{\"cpu\":4}}]}",
		      "{\"cpu\":\"4\",\"memory\":\"1Gi\",\"pods\":\"1\"}");
	/* a status without resources says nothing */
	check_running(
		ONE_CONTAINER,
		"{\"containerStatuses\":[{\"name\":\"c\",\"allocatedResources\":{\"cpu\":4}}]}",
		"{\"cpu\":\"2\",\"memory\":\"1Gi\",\"pods\":\"1\"}");
	/* nor does that of another container */
	check_running(ONE_CONTAINER,
		      "{\"containerStatuses\":[{\"name\":\"d\",\"resources\":{\"requests\":"
		      "{\"cpu\":9}}}]}",
		      "{\"cpu\":\"2\",\"memory\":\"1Gi\",\"pods\":\"1\"}");
}

Test(pod_request, forgets_the_spec_of_a_resize_that_cannot_be)
{
	check_running(ONE_CONTAINER,
		      "{\"conditions\":[{\"type\":\"PodResizePending\",\"status\":\"True\","
		      "\"reason\":\"Infeasible\"}],\"containerStatuses\":[{\"name\":\"c\","
		      "\"resources\":{\"requests\":{\"cpu\":1}},"
		      "\"allocatedResources\":{\"cpu\":1,\"memory\":\"512Mi\"}}]}",
		      "{\"cpu\":\"1\",\"memory\":\"512Mi\",\"pods\":\"1\"}");
	check_running(ONE_CONTAINER,
		      "{\"conditions\":[{\"type\":\"PodResizePending\",\"status\":\"True\","
		      "\"reason\":\"Deferred\"}],\"containerStatuses\":[{\"name\":\"c\","
		      "\"resources\":{\"requests\":{\"cpu\":1}}}]}",
		      "{\"cpu\":\"2\",\"memory\":\"1Gi\",\"pods\":\"1\"}");
}

Test(pod_request, counts_running_sidecars_by_their_status)
{
	check_running(
		"{\"containers\":[" REQUESTS(
			"{\"cpu\":1}") "],\"initContainers\":[{\"name\":"
				       "\"s\",\"restartPolicy\":\"Always\",\"resources\":{\"requests\":{\"cpu\":1}}},"
				       "{\"name\":\"i\",\"resources\":{\"requests\":{\"cpu\":1}}}]}",
		"{\"initContainerStatuses\":[{\"name\":\"s\",\"resources\":{\"requests\":"
		"{\"cpu\":3}}},{\"name\":\"i\",\"resources\":{\"requests\":{\"cpu\":50}}}]}",
		"{\"cpu\":\"4\",\"pods\":\"1\"}");
}
