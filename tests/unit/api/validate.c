#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "objects.h"

struct edit {
	const char *path, *value;
};

/* The sample job with up to three edits: exactly these lines. */
static void expect_job(const struct edit *edits, const char *lines)
{
	auto_json *job = sample_job();
	auto_xfree char *found = NULL;

	for (size_t i = 0; i < 3 && edits[i].path; i++)
		object_set(job, edits[i].path, edits[i].value);
	found = object_mistakes(job, NULL);
	cr_expect_str_eq(found, lines, "%s: %s: %s", edits[0].path, edits[0].value, found);
}

Test(validate, takes_good_jobs)
{
	static const struct edit edits[][3] = {
		{{"spec.queue", "ml"}},
		{{"spec.minAvailable", "0"}},
		{{"spec.minAvailable", "1"}, {"spec.minSuccess", "1"}},
		{{"spec.maxRetry", "0"}, {"spec.ttlSecondsAfterFinished", "0"}},
		{{"spec.priorityClassName", "high"}},
		{{"spec.plugins", "{env: [], svc: []}"}},
		{{"spec.plugins",
		  "{svc: [--disable-network-policy, -publish-not-ready-addresses=true, "
		  "--inject-hosts-env=false]}"}},
		{{"spec.tasks[0].replicas", "0"}},
		{{"spec.tasks[0].replicas", "10000"}},
		{{"spec.tasks[0].template.spec.restartPolicy", "OnFailure"}},
		{{"spec.tasks[0].template.spec.containers[0].resources",
		  "{requests: {cpu: 0.5, memory: 1Gi}, limits: {cpu: 500m, nvidia.com/gpu: 1}}"}},
		{{"spec.tasks[0].template.spec.tolerations",
		  "[{operator: Exists}, {key: a, value: b, effect: NoSchedule}]"}},
		{{"spec.tasks[0].template.metadata", "{labels: {a: b}, creationTimestamp: null}"}},
		{{"spec.tasks[0].template.spec.anything", "{novel: [1, null, {a: 2.5}]}"}},
		{{"spec.tasks[0].template.spec.schedulingGates", "[]"}},
		{{"spec.tasks[0].template.spec.topologySpreadConstraints",
		  "[{maxSkew: 1, topologyKey: zone, whenUnsatisfiable: ScheduleAnyway}]"}},
		{{"spec.placement",
		  "{clusterSelector: {matchLabels: {region: eu}, matchExpressions: "
		  "[{key: gpu, operator: Exists}, {key: a, operator: In, values: [b]}]}}"}},
		{{"spec.placement", "{datasets: [{name: imagenet, mode: Stream}, {name: other}]}"}},
		{{"spec.placement",
		  "{alternatives: ["
		  "{task: worker, resources: {nvidia.com/gpu: 8}, nodeSelector: {gpu: h100}, speed: '1'},"
		  "{task: worker, resources: {nvidia.com/gpu: 8}, speed: '0.45', replicas: 4},"
		  "{task: worker, speed: '0.45'}]}"}},
	};

	for (size_t i = 0; i < ARRAY_LEN(edits); i++)
		expect_job(edits[i], "");
}

Test(validate, names_the_field_of_a_bad_job)
{
	static const struct {
		struct edit edits[3];
		const char *lines;
	} cases[] = {
		{{{"spec.tasks", "[]"}},
		 "spec.tasks: Invalid value: 0: must have at least 1 item\n"},
		{{{"spec.tasks", NULL}}, "spec.tasks: Required value\n"},
		{{{"spec", NULL}}, "spec: Required value\n"},
		{{{"spec.tasks[0].replicas", "-1"}},
		 "spec.tasks[0].replicas: Invalid value: -1: is less than 0\n"},
		{{{"spec.tasks[0].replicas", "10001"}},
		 "spec.tasks[0].replicas: Invalid value: 10001: is more than 10000\n"},
		{{{"spec.tasks[0].replicas", "three"}},
		 "spec.tasks[0].replicas: Invalid value: \"three\": must be an integer\n"},
		{{{"spec.tasks[0].name", "Worker"}},
		 "spec.tasks[0].name: Invalid value: \"Worker\": must consist of lower case letters, digits "
		 "and '-', and begin and end with a letter or digit\n"},
		{{{"spec.tasks[0].minAvailable", "4"}, {"spec.minAvailable", "3"}},
		 "spec.tasks[0].minAvailable: Invalid value: 4: is more than the task's 3 replicas\n"},
		{{{"spec.minAvailable", "4"}},
		 "spec.minAvailable: Invalid value: 4: is more than the 3 pods of all tasks\n"},
		{{{"spec.minSuccess", "0"}}, "spec.minSuccess: Invalid value: 0: is less than 1\n"},
		{{{"spec.maxRetry", "-1"}}, "spec.maxRetry: Invalid value: -1: is less than 0\n"},
		{{{"spec.tasks[1]",
		   "{name: worker, template: {spec: {containers: [{name: a, image: b}]}}}"}},
		 "spec.tasks[1].name: Duplicate value: \"worker\"\n"},
		{{{"spec.plugins", "{ssh: []}"}},
		 "spec.plugins: Unsupported value: \"ssh\": supported values: \"env\", \"svc\"\n"},
		{{{"spec.plugins", "{env: [--x]}"}},
		 "spec.plugins[env][0]: Unsupported value: \"--x\": the plugin has no arguments\n"},
		{{{"spec.plugins", "{svc: [--inject-hosts-env, --disable-network-policy=false]}"}},
		 "spec.plugins[svc][1]: Unsupported value: \"--disable-network-policy=false\": supported "
		 "values: \"--publish-not-ready-addresses\", \"--inject-hosts-env\", "
		 "\"--disable-network-policy\"\n"},
		{{{"spec.plugins", "{svc: [inject-hosts-env]}"}},
		 "spec.plugins[svc][0]: Unsupported value: \"inject-hosts-env\": supported "
		 "values: \"--publish-not-ready-addresses\", \"--inject-hosts-env\", "
		 "\"--disable-network-policy\"\n"},
		{{{"spec.plugins", "{svc: []}"}, {"metadata.name", "1.x"}},
		 "metadata.name: Invalid value: \"1.x\": with plugin svc it must consist of lower case "
		 "letters, digits and '-', and begin and end with a letter or digit, the first one a "
		 "letter\n"},
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++)
		expect_job(cases[i].edits, cases[i].lines);
}

Test(validate, limits_the_number_of_tasks)
{
	auto_json *job = sample_job();
	auto_xfree char *good = NULL, *bad = NULL;

	for (size_t i = 1; i < 64; i++) {
		auto_xfree char *path = xasprintf("spec.tasks[%zu]", i);

		object_set(job, path, "{template: {spec: {containers: [{name: a, image: b}]}}}");
	}
	good = object_mistakes(job, NULL);
	cr_expect_str_eq(good, "");
	object_set(job, "spec.tasks[64]",
		   "{template: {spec: {containers: [{name: a, image: b}]}}}");
	bad = object_mistakes(job, NULL);
	cr_expect_str_eq(bad, "spec.tasks: Too many: 65: must have at most 64 items\n");
}

/* <job>-<task>-<index>: 63 characters pass, 64 do not, and the last index decides. */
Test(validate, prints_the_pod_name_that_is_too_long)
{
	static const char name[] =
		"abcdefghijabcdefghijabcdefghijabcdefghijabcdefghijabcd"; /* 54 */
	auto_json *job = sample_job();
	auto_xfree char *good = NULL, *bad = NULL, *alternative = NULL;

	cr_assert_eq(strlen(name), 54u);
	object_set(job, "metadata.name", name);
	good = object_mistakes(job, NULL);
	cr_expect_str_eq(good, "");
	object_set(job, "spec.tasks[0].replicas", "11");
	bad = object_mistakes(job, NULL);
	cr_expect_str_eq(
		bad,
		"spec.tasks[0].name: Invalid value: \"worker\": the pod's name "
		"\"abcdefghijabcdefghijabcdefghijabcdefghijabcdefghijabcd-worker-10\" would have "
		"64 characters, at most 63 are allowed\n");
	object_set(job, "spec.tasks[0].replicas", "3");
	object_set(job, "spec.placement", "{alternatives: [{task: worker, replicas: 11}]}");
	alternative = object_mistakes(job, NULL);
	cr_expect(strstr(alternative, "-worker-10\" would have 64 characters"), "%s", alternative);
}

#define SPEC "spec.tasks[0].template.spec"

static const struct {
	struct edit edits[3];
	const char *lines;
} template_cases[] = {
	{{{"spec.tasks[0].template", NULL}}, "spec.tasks[0].template: Required value\n"},
	{{{"spec.tasks[0].template", "{}"}}, SPEC ": Required value\n"},
	{{{SPEC, "[]"}}, SPEC ": Invalid value: \"array\": must be an object\n"},
	{{{SPEC ".containers", NULL}}, SPEC ".containers: Required value\n"},
	{{{SPEC ".containers", "[]"}},
	 SPEC ".containers: Invalid value: 0: must have at least 1 item\n"},
	{{{SPEC ".containers[0].name", NULL}}, SPEC ".containers[0].name: Required value\n"},
	{{{SPEC ".containers[0].image", NULL}}, SPEC ".containers[0].image: Required value\n"},
	{{{SPEC ".containers[0].image", "''"}},
	 SPEC ".containers[0].image: Invalid value: \"\": must have at least 1 character\n"},
	{{{SPEC ".initContainers", "[{name: main, image: b}]"}},
	 SPEC ".containers[0].name: Duplicate value: \"main\"\n"},
	{{{SPEC ".containers[0].resources", "{requests: {cpu: 4x}}"}},
	 SPEC
	 ".containers[0].resources.requests[cpu]: Invalid value: \"4x\": must be an amount such "
	 "as 500m, 4 or 8Gi, not below 0\n"},
	{{{SPEC ".containers[0].resources", "{requests: {cpu: -1}}"}},
	 SPEC ".containers[0].resources.requests[cpu]: Invalid value: -1: is less than 0\n"},
	{{{SPEC ".containers[0].resources", "{requests: {cpu: 2}, limits: {cpu: 1500m}}"}},
	 SPEC ".containers[0].resources.requests[cpu]: Invalid value: 2: is more than the limit of "
	      "\"1500m\"\n"},
	{{{SPEC ".containers[0].resources", "{limits: {nvidia.com/gpu: 1.5}}"}},
	 SPEC
	 ".containers[0].resources.limits[nvidia.com/gpu]: Invalid value: 1.5: must be a whole "
	 "number\n"},
	{{{SPEC ".containers[0].resources", "{requests: {nvidia.com/gpu: 1}}"}},
	 SPEC ".containers[0].resources.limits[nvidia.com/gpu]: Required value: must equal the "
	      "request\n"},
	{{{SPEC ".containers[0].resources", "{requests: {a b: 1}}"}},
	 SPEC
	 ".containers[0].resources.requests[a b]: Invalid value: must be a name such as cpu or "
	 "example.com/device\n"},
	{{{SPEC ".containers[0].resources", "{limits: {gpu: 1}}"}},
	 SPEC
	 ".containers[0].resources.limits[gpu]: Invalid value: must be cpu, memory, "
	 "ephemeral-storage, hugepages-<size>, or a name with a domain such as nvidia.com/gpu\n"},
	{{{SPEC ".affinity",
	   "{nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: "
	   "[{matchExpressions: [{key: a, operator: In, values: ['b c']}]}]}}}"}},
	 SPEC
	 ".affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution."
	 "nodeSelectorTerms[0].matchExpressions[0].values[0]: Invalid value: \"b c\": must be the "
	 "value of a label, of at most 63 characters\n"},
	{{{SPEC ".containers[0].ports", "[{containerPort: 0}]"}},
	 SPEC ".containers[0].ports[0].containerPort: Invalid value: 0: is less than 1\n"},
	{{{SPEC ".restartPolicy", "Sometimes"}},
	 SPEC ".restartPolicy: Unsupported value: \"Sometimes\": supported values: \"Always\", "
	      "\"OnFailure\", \"Never\"\n"},
	{{{SPEC ".nodeSelector", "{gpu: 100}"}},
	 SPEC ".nodeSelector[gpu]: Invalid value: 100: must be a string\n"},
	{{{SPEC ".tolerations", "[{key: a, operator: Like}]"}},
	 SPEC
	 ".tolerations[0].operator: Unsupported value: \"Like\": supported values: \"Exists\", "
	 "\"Equal\"\n"},
	{{{SPEC ".tolerations", "[{value: a}]"}},
	 SPEC ".tolerations[0].operator: Invalid value: must be Exists where key is absent\n"},
	{{{SPEC ".tolerations", "[{key: a, operator: Exists, tolerationSeconds: 3}]"}},
	 SPEC ".tolerations[0].effect: Invalid value: must be NoExecute where tolerationSeconds is "
	      "given\n"},
	{{{SPEC ".affinity",
	   "{nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: "
	   "[{matchExpressions: [{key: a, operator: Gt, values: [x]}]}]}}}"}},
	 SPEC
	 ".affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution."
	 "nodeSelectorTerms[0].matchExpressions[0].values: Invalid value: \"array\": operator Gt "
	 "needs one whole number\n"},
	{{{SPEC ".nodeName", "n1"}},
	 SPEC ".nodeName: Forbidden: the node is chosen by the scheduler; use nodeSelector\n"},
	{{{SPEC ".schedulingGates", "[{name: a}]"}},
	 SPEC
	 ".schedulingGates: Forbidden: pods are created on their node, so that no gate can hold "
	 "them\n"},
	{{{SPEC ".resourceClaims", "[{name: a, resourceClaimName: b}]"}},
	 SPEC
	 ".resourceClaims: Forbidden: claims of dynamic resource allocation are not supported\n"},
	{{{SPEC ".affinity", "{podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: "
			     "[{topologyKey: zone}]}}"}},
	 SPEC
	 ".affinity.podAntiAffinity.requiredDuringSchedulingIgnoredDuringExecution: Forbidden: "
	 "affinity to pods is not supported; use nodeAffinity\n"},
	{{{SPEC ".topologySpreadConstraints", "[{maxSkew: 1, topologyKey: zone}]"}},
	 SPEC
	 ".topologySpreadConstraints: Forbidden: spreading is not supported; whenUnsatisfiable "
	 "may be ScheduleAnyway\n"},
	{{{"spec.tasks[0].template.metadata", "{labels: {a: 1}}"}},
	 "spec.tasks[0].template.metadata.labels[a]: Invalid value: 1: must be a string\n"},
	{{{"spec.tasks[0].template.metadata", "{labels: {a: 'b c'}}"}},
	 "spec.tasks[0].template.metadata.labels[a]: Invalid value: \"b c\": must consist of letters, "
	 "digits, '-', '_' and '.', and begin and end with a letter or digit\n"},
	{{{"spec.tasks[0].template.metadata", "7"}},
	 "spec.tasks[0].template.metadata: Invalid value: 7: must be an object\n"},
};

Test(validate, checks_templates_where_schedulers_read_them)
{
	for (size_t i = 0; i < ARRAY_LEN(template_cases); i++)
		expect_job(template_cases[i].edits, template_cases[i].lines);
}

/* {x: {x: ...}}, of so many levels; the caller's. */
static json_t *nested(int levels)
{
	json_t *value = json_object();

	for (int i = 1; i < levels; i++)
		value = json_pack("{so}", "x", value);
	return value;
}

/* It lies behind six levels of a list, which may have 64. */
Test(validate, limits_the_levels_of_a_template)
{
	const int container = 4;

	for (int levels = 58; levels <= 59; levels++) {
		auto_json *job = sample_job();
		auto_xfree char *lines = NULL;
		json_t *task = json_array_get(json_at(job, "spec", "tasks", NULL), 0);
		json_t *c =
			json_array_get(json_at(task, "template", "spec", "containers", NULL), 0);

		json_object_set_new(c, "x", nested(levels - container));
		lines = object_mistakes(job, NULL);
		cr_expect_str_eq(lines, levels == 58 ? ""
						     : "spec.tasks[0].template: Invalid value: is "
						       "nested deeper than 58 levels\n");
	}
}

#define PLACEMENT "spec.placement"

Test(validate, checks_wishes_about_clusters)
{
	static const struct {
		const char *placement, *lines;
	} cases[] = {
		{"{clusterSelector: {matchExpressions: [{key: a, operator: In}]}}", PLACEMENT
		 ".clusterSelector.matchExpressions[0].values: Required value: operator In needs "
		 "values\n"},
		{"{clusterSelector: {matchExpressions: [{key: a, operator: Exists, values: [b]}]}}",
		 PLACEMENT
		 ".clusterSelector.matchExpressions[0].values: Forbidden: operator Exists takes no "
		 "values\n"},
		{"{clusterSelector: {matchExpressions: [{key: a, operator: Gt, values: ['1']}]}}",
		 PLACEMENT
		 ".clusterSelector.matchExpressions[0].operator: Unsupported value: \"Gt\": "
		 "supported values: \"In\", \"NotIn\", \"Exists\", \"DoesNotExist\"\n"},
		{"{clusterSelector: {matchLabels: {'a b': c}}}", PLACEMENT
		 ".clusterSelector.matchLabels[a b]: Invalid value: must be a name such as app or "
		 "example.com/app\n"},
		{"{tolerations: [{key: a, operator: Exists}, {key: b, value: c, effect: NoSchedule}, "
		 "{operator: Exists}]}",
		 ""},
		{"{tolerations: [{key: a, operator: Exists, effect: NoExecute}]}", PLACEMENT
		 ".tolerations[0].effect: Unsupported value: \"NoExecute\": supported values: "
		 "\"\", \"NoSchedule\"\n"},
		{"{tolerations: [{key: a, operator: Exists}, {value: b}]}", PLACEMENT
		 ".tolerations[1].operator: Invalid value: must be Exists where key is absent\n"},
		{"{tolerations: [{key: a, operator: Exists, value: b}]}", PLACEMENT
		 ".tolerations[0].value: Invalid value: \"b\": operator Exists takes no value\n"},
		{"{tolerations: [{key: federator.dev/cordoned, operator: Exists}]}",
		 PLACEMENT ".tolerations[0].key: Forbidden: a cordon keeps all new jobs away\n"},
		{"{datasets: [{name: d, mode: Stage}]}", PLACEMENT
		 ".datasets[0].mode: Unsupported value: \"Stage\": supported values: \"Stream\"\n"},
		{"{datasets: [{name: d}, {name: e}, {name: d}]}",
		 PLACEMENT ".datasets[2].name: Duplicate value: \"d\"\n"},
		{"{alternatives: [{task: nobody}]}",
		 PLACEMENT ".alternatives[0].task: Not found: \"nobody\": no task has this name\n"},
		{"{alternatives: [{task: worker, speed: '1.5'}]}", PLACEMENT
		 ".alternatives[0].speed: Invalid value: \"1.5\": must be above 0 and at most 1\n"},
		{"{alternatives: [{task: worker, speed: '0'}]}", PLACEMENT
		 ".alternatives[0].speed: Invalid value: \"0\": must be above 0 and at most 1\n"},
		{"{alternatives: [{task: worker, speed: 0.5}]}",
		 PLACEMENT ".alternatives[0].speed: Invalid value: 0.5: must be a string\n"},
		{"{alternatives: [{task: worker, speed: '0.5'}, {task: worker, speed: '0.51'}]}",
		 PLACEMENT
		 ".alternatives[1].speed: Invalid value: \"0.51\": is more than that of the task's "
		 "alternative before it: the best comes first\n"},
		{"{alternatives: [{task: worker, resources: {cpu: '-1'}}]}", PLACEMENT
		 ".alternatives[0].resources[cpu]: Invalid value: \"-1\": must be an amount such as "
		 "500m, 4 or 8Gi, not below 0\n"},
		{"{alternatives: [{task: worker, replicas: 0}]}",
		 PLACEMENT ".alternatives[0].replicas: Invalid value: 0: is less than 1\n"},
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++)
		expect_job((const struct edit[3]){{PLACEMENT, cases[i].placement}}, cases[i].lines);
}

/* Speeds are compared within a task only. */
Test(validate, lets_each_task_have_its_own_speeds)
{
	static const struct edit edits[3] = {
		{"spec.tasks[1]",
		 "{name: ps, template: {spec: {containers: [{name: a, image: b}]}}}"},
		{"spec.placement",
		 "{alternatives: [{task: worker, speed: '0.5'}, {task: ps, speed: '1'}, "
		 "{task: worker, speed: '0.5'}]}"},
	};

	expect_job(edits, "");
}

static void expect_change(const char *phase, const struct edit *edit, const char *lines)
{
	auto_json *old = sample_job(), *job = NULL;
	auto_xfree char *first = object_mistakes(old, NULL), *found = NULL;

	cr_assert_str_eq(first, "");
	if (phase) {
		auto_xfree char *status = xasprintf("{dispatch: {phase: %s}}", phase);

		object_set(old, "status", status);
	}
	job = json_deep_copy(old);
	object_set(job, edit->path, edit->value);
	found = object_mistakes(job, old);
	cr_expect_str_eq(found, lines, "%s in %s", edit->path, phase ? phase : "no phase");
}

Test(validate, freezes_the_spec_once_a_cluster_has_the_job)
{
	static const char *const given[] = {"Confirmed", "Running", "Releasing", "Ended",
					    "Uncertain"};
	static const struct edit free_edits[] = {
		{"metadata.labels", "{a: b}"},
		{"metadata.annotations", "{a: b}"},
		{"status.running", "3"},
	};
	static const struct edit edit = {"spec.tasks[0].replicas", "4"};

	expect_change(NULL, &edit, "");
	expect_change("Queued", &edit, "");
	for (size_t i = 0; i < ARRAY_LEN(given); i++) {
		auto_xfree char *lines = xasprintf(
			"spec.tasks[0].replicas: Forbidden: cannot change once the job was given "
			"to a cluster (it is %s)\n",
			given[i]);

		expect_change(given[i], &edit, lines);
		for (size_t f = 0; f < ARRAY_LEN(free_edits); f++)
			expect_change(given[i], &free_edits[f], "");
	}
}

Test(validate, names_each_frozen_field_that_changed)
{
	static const struct {
		struct edit edit;
		const char *field;
	} cases[] = {
		{{"spec.queue", "other"}, "spec.queue"},
		{{"spec.maxRetry", "9"}, "spec.maxRetry"},
		{{"spec.ttlSecondsAfterFinished", "9"}, "spec.ttlSecondsAfterFinished"},
		{{"spec.tasks[0].template.spec.containers[0].image", "other"},
		 "spec.tasks[0].template.spec.containers[0].image"},
		{{"spec.tasks[1]",
		  "{name: b, template: {spec: {containers: [{name: a, image: b}]}}}"},
		 "spec.tasks"},
		{{"spec.tasks[0].template.spec.nodeSelector", "{a: b}"},
		 "spec.tasks[0].template.spec.nodeSelector"},
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		auto_xfree char *line = xasprintf(
			"%s: Forbidden: cannot change once the job was given to a cluster (it is "
			"Running)\n",
			cases[i].field);

		expect_change("Running", &cases[i].edit, line);
	}
}

/* What was taken once must not keep people from labelling it later. */
Test(validate, does_not_judge_an_unchanged_spec_again)
{
	auto_json *old = sample_job();
	auto_json *job = NULL;
	auto_xfree char *before = NULL, *after = NULL;

	object_set(old, "spec.tasks[0].template.spec.nodeName", "n1");
	before = object_mistakes(old, NULL);
	cr_expect(strstr(before, "nodeName"));
	job = json_deep_copy(old);
	object_set(job, "metadata.labels", "{a: b}");
	after = object_mistakes(job, old);
	cr_expect_str_eq(after, "");
}
