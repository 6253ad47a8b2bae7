#include <criterion/criterion.h>
#include <string.h>

#include "api/kind.h"
#include "base/json.h"
#include "objects.h"

static void expect_defaulted(const char *group, const char *plural, const char *given,
			     const char *then)
{
	const struct kind *k = kind_find(group, plural);
	auto_json *o = object_from_yaml(given), *want = object_from_yaml(then);
	auto_xfree char *text = NULL;

	kind_default(k, o);
	text = json_print(o);
	cr_expect(json_equal(o, want), "%s gave %s", given, text);
	kind_default(k, o);
	cr_expect(json_equal(o, want), "%s: twice is not once", given);
}

#define JOB "batch.volcano.sh", "jobs"

/* The well-known sample gives no replicas, and limits only. */
Test(defaults, make_the_sample_job_whole)
{
	expect_defaulted(
		JOB,
		"spec:\n"
		"  schedulerName: volcano\n"
		"  minAvailable: 2\n"
		"  tasks:\n"
		"  - {name: task1, template: {spec: {containers: [{name: c, resources: {limits: {cpu: 4}}}]}}}\n"
		"  - {name: task2, template: {spec: {containers: [{name: c}]}}}\n",
		"spec:\n"
		"  schedulerName: volcano\n"
		"  queue: default\n"
		"  minAvailable: 2\n"
		"  maxRetry: 3\n"
		"  tasks:\n"
		"  - {name: task1, replicas: 1, maxRetry: 3, template: {spec: {restartPolicy: Never, "
		"containers: [{name: c, resources: {limits: {cpu: 4}}}]}}}\n"
		"  - {name: task2, replicas: 1, maxRetry: 3, template: {spec: {restartPolicy: Never, "
		"containers: [{name: c}]}}}\n");
}

Test(defaults, keep_what_is_written)
{
	const char *job =
		"spec: {queue: q, schedulerName: s, minAvailable: 1, maxRetry: 0, tasks: ["
		"{name: a, replicas: 0, maxRetry: 0, template: {spec: {restartPolicy: Always}}},"
		"{name: b, replicas: 2, maxRetry: 1, template: {spec: {restartPolicy: "
		"OnFailure}}}]}";

	expect_defaulted(JOB, job, job);
}

Test(defaults, count_min_available_over_tasks)
{
	static const struct {
		const char *tasks;
		int64_t sum;
	} cases[] = {
		{"[{template: {}}]", 1},
		{"[{replicas: 3, template: {}}, {replicas: 4, minAvailable: 2, template: {}}]", 5},
		{"[{replicas: 3, minAvailable: 0, template: {}}]", 0},
		{"[{replicas: 0, template: {}}]", 0},
		{"[{replicas: 9223372036854775807, template: {}}, {replicas: 9223372036854775807}]",
		 2LL * INT32_MAX},
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		auto_json *job = object_from_yaml("{spec: {minAvailable: 0}}");

		object_set(job, "spec.tasks", cases[i].tasks);
		kind_default(kind_find(JOB), job);
		cr_expect_eq(json_int_at(job, -1, "spec", "minAvailable", NULL), cases[i].sum, "%s",
			     cases[i].tasks);
	}
}

Test(defaults, name_tasks_by_their_place)
{
	auto_json *job = object_from_yaml("spec: {tasks: [{template: {}}, {name: w, template: {}}, "
					  "{name: '', template: {}}]}");
	const json_t *tasks = json_at(job, "spec", "tasks", NULL);

	kind_default(kind_find(JOB), job);
	cr_expect_str_eq(json_str_at(json_array_get(tasks, 0), "name", NULL), "default0");
	cr_expect_str_eq(json_str_at(json_array_get(tasks, 1), "name", NULL), "w");
	cr_expect_str_eq(json_str_at(json_array_get(tasks, 2), "name", NULL), "default2");
}

/* Defaults run before anything was checked. */
Test(defaults, bear_any_shape)
{
	static const char *const objects[] = {
		"{}",
		"{spec: 1}",
		"{spec: {tasks: 1}}",
		"{spec: {tasks: [1, a, [], null]}}",
		"{spec: {minAvailable: x, tasks: [{name: 1, replicas: a, template: 1}]}}",
		"{spec: {tasks: [{template: {spec: [1]}}]}, status: 7}",
		"{spec: {containers: [1, {resources: 1}, {resources: {limits: 1}}]}, status: 1}",
		"{spec: {containers: [{resources: {limits: {a: {}}, requests: 1}}]}}",
		"{stringData: 1, data: 2}",
		"{stringData: {a: b}, data: 2}",
		"{stringData: {a: 1}, status: [], metadata: 3}",
		"{status: {capacity: 1}}",
	};

	for (size_t i = 0; i < ARRAY_LEN(objects); i++)
		for (size_t k = 0; k < kinds_count; k++) {
			auto_json *o = object_from_yaml(objects[i]);

			kind_default(kinds[k], o);
			cr_expect(json_is_object(o));
		}
}

Test(defaults, of_other_kinds)
{
	expect_defaulted("scheduling.volcano.sh", "queues", "{}", "{spec: {}}");
	expect_defaulted("federator.dev", "datasets",
			 "{spec: {size: 1Gi}, replicas: [{cluster: a}]}",
			 "{spec: {size: 1Gi}, replicas: [{cluster: a, completeness: '1'}]}");
	expect_defaulted(
		"", "namespaces", "{metadata: {name: a}}",
		"{metadata: {name: a, labels: {kubernetes.io/metadata.name: a}}, spec: {finalizers: "
		"[kubernetes]}, status: {phase: Active}}");
	expect_defaulted("", "secrets", "{stringData: {a: hi, b: ''}, data: {a: AAAA, c: AAAA}}",
			 "{type: Opaque, data: {a: aGk=, b: '', c: AAAA}}");
	expect_defaulted("", "nodes", "{status: {capacity: {cpu: 4}}}",
			 "{spec: {}, status: {capacity: {cpu: 4}, allocatable: {cpu: 4}}}");
	expect_defaulted(
		"", "services", "{spec: {ports: [{port: 80}]}}",
		"{spec: {type: ClusterIP, sessionAffinity: None, ports: [{port: 80, protocol: "
		"TCP}]}}");
	expect_defaulted("scheduling.k8s.io", "priorityclasses", "{value: 5}",
			 "{value: 5, preemptionPolicy: PreemptLowerPriority}");
}

/* As a real API server does, so that both answer with the same pod. */
Test(defaults, let_a_pod_ask_for_its_limits)
{
	auto_json *pod =
		object_from_yaml("spec: {containers: [{resources: {limits: {cpu: 2, memory: 1Gi}, "
				 "requests: {cpu: 1}}}, {}]}");
	const json_t *containers;

	kind_default(kind_find("", "pods"), pod);
	containers = json_at(pod, "spec", "containers", NULL);
	cr_expect_eq(
		json_int_at(json_array_get(containers, 0), 0, "resources", "requests", "cpu", NULL),
		1);
	cr_expect_str_eq(
		json_str_at(json_array_get(containers, 0), "resources", "requests", "memory", NULL),
		"1Gi");
	cr_expect_str_eq(json_str_at(pod, "spec", "restartPolicy", NULL), "Always");
	cr_expect_str_eq(json_str_at(pod, "status", "phase", NULL), "Pending");
	cr_expect_eq(json_int_at(pod, 0, "spec", "terminationGracePeriodSeconds", NULL), 30);
}
