/* The files that shapes come from: whole, described, in step with the kind table and the views. */
#include <criterion/criterion.h>
#include <string.h>

#include "api/kind.h"
#include "api/schema.h"
#include "base/json.h"
#include "objects.h"

static json_t *crd_of(const struct kind *k)
{
	size_t size;

	return object_from_yaml(kind_crd_yaml(k, &size));
}

static bool same_words(const char *const *words, const json_t *array)
{
	size_t n = 0;

	for (; words && words[n]; n++) {
		const char *word = json_string_value(json_array_get(array, n));

		if (!word || strcmp(word, words[n]))
			return false;
	}
	return n == json_array_size(array);
}

Test(crds, agree_with_the_kind_table)
{
	for (size_t i = 0; i < kinds_count; i++) {
		const struct kind *k = kinds[i];
		auto_json *crd = crd_of(k);
		const json_t *spec = json_at(crd, "spec", NULL);
		const json_t *names = json_at(spec, "names", NULL);
		const json_t *version = json_array_get(json_at(spec, "versions", NULL), 0);

		cr_expect_str_eq(json_str_at(spec, "group", NULL), k->group);
		cr_expect_str_eq(json_str_at(version, "name", NULL), k->version, "%s", k->name);
		cr_expect_str_eq(json_str_at(names, "kind", NULL), k->name);
		cr_expect_str_eq(json_str_at(names, "listKind", NULL), k->list_name);
		cr_expect_str_eq(json_str_at(names, "plural", NULL), k->plural);
		cr_expect_str_eq(json_str_at(names, "singular", NULL), k->singular);
		cr_expect(same_words(k->short_names, json_at(names, "shortNames", NULL)), "%s",
			  k->name);
		cr_expect(same_words(k->categories, json_at(names, "categories", NULL)), "%s",
			  k->name);
		cr_expect_str_eq(json_str_at(spec, "scope", NULL),
				 k->namespaced ? "Namespaced" : "Cluster");
		cr_expect_eq(json_at(version, "subresources", "status", NULL) != NULL,
			     k->has_status, "%s", k->name);
		cr_expect_eq(k->core, strncmp(k->schema_file, "federator.dev_", 14) &&
					      !strstr(k->schema_file, ".volcano.sh_"));
	}
}

/* What kubectl shows of a real API server with the CRD is what it shows of ours. */
Test(crds, print_the_columns_of_the_kind_table)
{
	for (size_t i = 0; i < kinds_count; i++) {
		const struct kind *k = kinds[i];
		auto_json *crd = crd_of(k);
		const json_t *version = json_array_get(json_at(crd, "spec", "versions", NULL), 0);
		const json_t *columns = json_at(version, "additionalPrinterColumns", NULL);
		size_t n = 0;

		for (; !k->core && k->columns[n].name; n++) {
			const json_t *c = json_array_get(columns, n);
			const char *name = json_str_at(c, "name", NULL);

			cr_assert(name, "%s lacks column %s", k->name, k->columns[n].name);
			cr_expect_str_eq(name, k->columns[n].name);
			cr_expect_str_eq(json_str_at(c, "type", NULL), k->columns[n].type);
			cr_expect_eq(json_int_at(c, 0, "priority", NULL), k->columns[n].priority);
		}
		cr_expect_eq(n, json_array_size(columns), "%s", k->name);
	}
}

static void check_described(const char *kind, const char *at, const json_t *schema)
{
	const json_t *properties = json_object_get(schema, "properties");
	const json_t *items = json_object_get(schema, "items");
	const json_t *additional = json_object_get(schema, "additionalProperties");
	const char *text = json_str_at(schema, "description", NULL), *key;
	json_t *value;

	cr_expect(text && strlen(text) > 5 && text[strlen(text) - 1] == '.', "%s: %s", kind, at);
	json_object_foreach ((json_t *)(uintptr_t)properties, key, value) {
		auto_xfree char *below = xasprintf("%s.%s", at, key);

		check_described(kind, below, value);
	}
	if (items)
		check_described(kind, at, items);
	if (additional)
		check_described(kind, at, additional);
}

Test(crds, describe_every_field)
{
	for (size_t i = 0; i < kinds_count; i++) {
		auto_json *schema = schema_openapi(kind_schema(kinds[i]));

		check_described(kinds[i]->name, "", schema);
	}
}

/* A schema of metadata inside a template would make real API servers drop the pods' labels. */
Test(crds, keep_templates_whole)
{
	auto_json *job = object_from_yaml(
		"apiVersion: batch.volcano.sh/v1alpha1\n"
		"kind: Job\n"
		"metadata: {name: a}\n"
		"spec:\n"
		"  tasks:\n"
		"  - template:\n"
		"      metadata: {labels: {a: b}, annotations: {c: d}}\n"
		"      spec: {containers: [{name: a, image: b, novel: {x: [1]}}]}\n"
		"      other: true\n");
	auto_json *before = json_deep_copy(job);
	auto_json *placement =
		object_from_yaml("spec: {work: {tasks: [{template: {metadata: {a: b}}}]}}");
	auto_json *placement_before = json_deep_copy(placement);

	schema_prune(kind_schema(kind_find("batch.volcano.sh", "jobs")), job, NULL, NULL);
	cr_expect(json_equal(job, before));
	schema_prune(kind_schema(kind_find("federator.dev", "placements")), placement, NULL, NULL);
	cr_expect(json_equal(placement, placement_before));
}

/* Each field of each view (api/views.h): where it lies, and as what. */
static const struct {
	const char *kind, *path, *type;
} view_fields[] = {
	{"Job", "metadata.name", "string"},
	{"Job", "metadata.namespace", "string"},
	{"Job", "metadata.uid", "string"},
	{"Job", "metadata.resourceVersion", "string"},
	{"Job", "metadata.generation", "integer"},
	{"Job", "metadata.creationTimestamp", "string"},
	{"Job", "metadata.deletionTimestamp", "string"},
	{"Job", "metadata.labels[]", "string"},
	{"Job", "metadata.annotations[]", "string"},
	{"Job", "metadata.finalizers[]", "string"},
	{"Job", "metadata.ownerReferences[].uid", "string"},
	{"Job", "metadata.ownerReferences[].controller", "boolean"},
	{"Job", "spec.queue", "string"},
	{"Job", "spec.priorityClassName", "string"},
	{"Job", "spec.schedulerName", "string"},
	{"Job", "spec.minAvailable", "integer"},
	{"Job", "spec.minSuccess", "integer"},
	{"Job", "spec.maxRetry", "integer"},
	{"Job", "spec.ttlSecondsAfterFinished", "integer"},
	{"Job", "spec.tasks[].name", "string"},
	{"Job", "spec.tasks[].replicas", "integer"},
	{"Job", "spec.tasks[].minAvailable", "integer"},
	{"Job", "spec.tasks[].maxRetry", "integer"},
	{"Job", "spec.tasks[].template", "object"},
	{"Job", "spec.plugins", "object"},
	{"Job", "spec.placement.clusterSelector.matchLabels[]", "string"},
	{"Job", "spec.placement.clusterSelector.matchExpressions[].key", "string"},
	{"Job", "spec.placement.clusterSelector.matchExpressions[].operator", "string"},
	{"Job", "spec.placement.clusterSelector.matchExpressions[].values[]", "string"},
	{"Job", "spec.placement.tolerations", "array"},
	{"Job", "spec.placement.alternatives[].task", "string"},
	{"Job", "spec.placement.alternatives[].resources[]", "int-or-string"},
	{"Job", "spec.placement.alternatives[].nodeSelector[]", "string"},
	{"Job", "spec.placement.alternatives[].speed", "string"},
	{"Job", "spec.placement.alternatives[].replicas", "integer"},
	{"Job", "spec.placement.datasets[].name", "string"},
	{"Job", "status.dispatch.phase", "string"},
	{"Job", "status.dispatch.n", "integer"},
	{"Job", "status.dispatch.retries", "integer"},
	{"Job", "status.dispatch.parts[].cluster", "string"},
	{"Job", "status.dispatch.parts[].clusterUID", "string"},
	{"Job", "status.dispatch.parts[].generation", "integer"},
	{"Job", "status.state.phase", "string"},
	{"Job", "status.state.lastTransitionTime", "string"},
	{"Queue", "spec.closed", "boolean"},
	{"Queue", "spec.capability[]", "int-or-string"},
	{"Queue", "status.state", "string"},
	{"Cluster", "spec.accepted", "boolean"},
	{"Cluster", "spec.taints[].key", "string"},
	{"Cluster", "spec.taints[].effect", "string"},
	{"Cluster", "status.conditions[].type", "string"},
	{"Cluster", "status.conditions[].status", "string"},
	{"Cluster", "status.capacityShapes[].labels[]", "string"},
	{"Cluster", "status.capacityShapes[].taints[].key", "string"},
	{"Cluster", "status.capacityShapes[].amounts[]", "int-or-string"},
	{"Cluster", "status.capacityShapes[].count", "integer"},
	{"Placement", "spec.job.namespace", "string"},
	{"Placement", "spec.job.name", "string"},
	{"Placement", "spec.job.uid", "string"},
	{"Placement", "spec.specHash", "string"},
	{"Placement", "spec.clusterUID", "string"},
	{"Placement", "spec.part", "integer"},
	{"Placement", "spec.generation", "integer"},
	{"Placement", "spec.incarnation", "integer"},
	{"Placement", "spec.desired", "string"},
	{"Placement", "spec.grace", "integer"},
	{"Placement", "spec.retries", "integer"},
	{"Placement", "spec.protocol", "integer"},
	{"Placement", "spec.size.tasks[].name", "string"},
	{"Placement", "spec.size.tasks[].alternative", "integer"},
	{"Placement", "spec.size.tasks[].replicas", "integer"},
	{"Placement", "status.state", "string"},
	{"Placement", "status.reason", "string"},
	{"Placement", "status.message", "string"},
	{"Placement", "status.retries", "integer"},
	{"Placement", "status.capacitySeq", "integer"},
	{"DataSet", "spec.size", "int-or-string"},
	{"DataSet", "replicas[].cluster", "string"},
	{"DataSet", "replicas[].completeness", "string"},
	{"Node", "spec.unschedulable", "boolean"},
	{"Node", "spec.taints", "array"},
	{"Node", "status.conditions[].type", "string"},
	{"Node", "status.allocatable[]", "quantity"},
	{"Pod", "spec.nodeName", "string"},
	{"Pod", "spec.containers[].ports[].hostPort", "integer"},
	{"Pod", "spec.containers[].resources.requests[]", "quantity"},
	{"Pod", "spec.hostNetwork", "boolean"},
	{"Pod", "spec.overhead[]", "quantity"},
	{"Pod", "status.phase", "string"},
	{"Pod", "status.reason", "string"},
	{"Pod", "status.message", "string"},
	{"Pod", "status.nominatedNodeName", "string"},
	{"Pod", "status.conditions[].type", "string"},
	{"Pod", "status.containerStatuses[].restartCount", "integer"},
	{"Pod", "status.initContainerStatuses[].restartCount", "integer"},
};

Test(crds, hold_every_field_of_the_views)
{
	for (size_t i = 0; i < ARRAY_LEN(view_fields); i++) {
		const struct kind *k = NULL;
		const char *type = NULL;

		for (size_t j = 0; j < kinds_count; j++)
			if (!strcmp(kinds[j]->name, view_fields[i].kind))
				k = kinds[j];
		cr_assert(k);
		cr_expect(schema_lookup(kind_schema(k), view_fields[i].path, &type), "%s %s",
			  view_fields[i].kind, view_fields[i].path);
		cr_expect(type && !strcmp(type, view_fields[i].type), "%s %s is %s",
			  view_fields[i].kind, view_fields[i].path, type ? type : "not there");
	}
}

/* A field without effect is not served: Volcano has these, we do not yet. */
Test(crds, do_not_have_what_has_no_effect)
{
	static const struct {
		const char *group, *plural, *path;
	} fields[] = {
		{"batch.volcano.sh", "jobs", "spec.policies"},
		{"batch.volcano.sh", "jobs", "spec.volumes"},
		{"batch.volcano.sh", "jobs", "spec.networkTopology"},
		{"batch.volcano.sh", "jobs", "spec.tasks[].policies"},
		{"batch.volcano.sh", "jobs", "spec.tasks[].dependsOn"},
		{"batch.volcano.sh", "jobs", "spec.tasks[].topologyPolicy"},
		{"batch.volcano.sh", "jobs", "spec.tasks[].partitionPolicy"},
		{"batch.volcano.sh", "jobs", "spec.placement.span"},
		{"batch.volcano.sh", "jobs", "spec.placement.onClusterLost"},
		{"batch.volcano.sh", "jobs", "spec.placement.timeValue"},
		{"scheduling.volcano.sh", "queues", "spec.parent"},
		{"scheduling.volcano.sh", "queues", "spec.guarantee"},
		{"scheduling.volcano.sh", "queues", "spec.deserved"},
		{"scheduling.volcano.sh", "queues", "spec.reclaimable"},
	};
	const char *type;

	for (size_t i = 0; i < ARRAY_LEN(fields); i++)
		cr_expect_not(
			schema_lookup(kind_schema(kind_find(fields[i].group, fields[i].plural)),
				      fields[i].path, &type),
			"%s", fields[i].path);
}
