/* The nodes of a sandbox, from its shape file. */
#include <string.h>

#include "api/status.h"
#include "base/closest.h"
#include "base/json.h"
#include "base/pki.h"
#include "base/yaml.h"
#include "sandbox/sandbox.h"

#define MAX_NODES 10000

static json_t *node_conditions(void)
{
	return json_pack("[{ss,ss,ss,ss}]", "type", "Ready", "status", "True", "reason",
			 "KubeletReady", "message", "the sandbox runs");
}

static json_t *node_labels(const json_t *group, const char *name, const char *arch)
{
	const json_t *given = json_object_get(group, "labels");
	json_t *labels = given ? json_deep_copy(given) : json_object();

	json_set_str(labels, "kubernetes.io/hostname", name);
	json_set_str(labels, "kubernetes.io/os", "linux");
	json_set_str(labels, "kubernetes.io/arch", arch);
	return labels;
}

static json_t *node_tree(const json_t *group, const char *name)
{
	const char *arch = json_str_at(group, "arch", NULL);
	const json_t *taints = json_object_get(group, "taints");
	json_t *node = json_object(), *meta, *spec, *status, *capacity;

	if (!arch)
		arch = "amd64";
	json_set_str(node, "apiVersion", "v1");
	json_set_str(node, "kind", "Node");
	meta = json_object_need(node, "metadata");
	json_set_str(meta, "name", name);
	json_object_set_new(meta, "labels", node_labels(group, name, arch));
	spec = json_object_need(node, "spec");
	if (taints)
		json_object_set_new(spec, "taints", json_deep_copy(taints));
	status = json_object_need(node, "status");
	capacity = json_deep_copy(json_object_get(group, "capacity"));
	if (!json_object_get(capacity, "pods"))
		json_set_str(capacity, "pods", "110");
	json_object_set_new(status, "capacity", capacity);
	json_object_set_new(status, "allocatable", json_deep_copy(capacity));
	json_object_set_new(status, "conditions", node_conditions());
	json_object_set_new(status, "nodeInfo",
			    json_pack("{ss,ss,ss}", "architecture", arch, "operatingSystem",
				      "linux", "kubeletVersion", "v1.36.0-sandbox"));
	return node;
}

/* --- what people may write --- */

static const struct field {
	const char *name;
	json_type type;
	const char *wanted;
	bool required;
} fields[] = {
	{"name", JSON_STRING, "a text", true},
	{"count", JSON_INTEGER, "a whole number", false},
	{"arch", JSON_STRING, "a text", false},
	{"capacity", JSON_OBJECT, "amounts by their resource", true},
	{"labels", JSON_OBJECT, "texts by their name", false},
	{"taints", JSON_ARRAY, "a list", false},
};

static int check_known(const json_t *group, struct error *err)
{
	const char *key;
	json_t *value;

	json_object_foreach ((json_t *)(uintptr_t)group, key, value) {
		struct closest c;
		size_t i = 0;

		closest_init(&c, key, strlen(key));
		for (; i < ARRAY_LEN(fields) && strcmp(fields[i].name, key) != 0; i++)
			closest_offer(&c, fields[i].name);
		if (i == ARRAY_LEN(fields))
			return error_set(err, ERR_BAD_REQUEST, "%s: unknown field%s%s%s", key,
					 c.best ? "; did you mean \"" : "", c.best ? c.best : "",
					 c.best ? "\"?" : "");
	}
	return 0;
}

static int check_fields(const json_t *group, struct error *err)
{
	if (!json_is_object(group))
		return error_set(err, ERR_BAD_REQUEST, "is no mapping of fields to values");
	for (size_t i = 0; i < ARRAY_LEN(fields); i++) {
		const json_t *value = json_object_get(group, fields[i].name);

		if (value && json_typeof(value) != fields[i].type)
			return error_set(err, ERR_BAD_REQUEST, "%s: must be %s", fields[i].name,
					 fields[i].wanted);
		if (!value && fields[i].required)
			return error_set(err, ERR_BAD_REQUEST, "%s: Required value",
					 fields[i].name);
	}
	return check_known(group, err);
}

/* By the rules of the API; what is below status there is at the top here. */
static int check_node(const json_t *node, struct error *err)
{
	const struct kind *k = sandbox_kind("nodes");
	struct causes causes = {0};
	int rc = 0;

	kind_validate(k, node, NULL, &causes);
	if (causes.n) {
		const char *dot = strchr(causes.items[0].field, '.');

		rc = error_set(err, ERR_BAD_REQUEST, "%s: %s",
			       dot ? dot + 1 : causes.items[0].field, causes.items[0].message);
	}
	causes_finish(&causes);
	return rc;
}

static int add_group(const json_t *group, json_t *nodes, struct error *err)
{
	const char *name = json_str_at(group, "name", NULL);
	int64_t count = json_int_at(group, 1, "count", NULL);

	if (check_fields(group, err))
		return -1;
	if (count < 0 || count > MAX_NODES || (int64_t)json_array_size(nodes) + count > MAX_NODES)
		return error_set(err, ERR_BAD_REQUEST, "count: %lld: a sandbox has 0 to %d nodes",
				 (long long)count, MAX_NODES);
	for (int64_t n = 0; n < count; n++) {
		auto_xfree char *full = xasprintf("%s-%lld", name, (long long)n);
		json_t *node = node_tree(group, full);

		json_array_append_new(nodes, node);
		if (!n && check_node(node, err))
			return -1;
	}
	return 0;
}

int shape_read(const char *path, json_t **ret_nodes, struct error *err)
{
	auto_json *docs = NULL, *nodes = json_array();
	auto_xfree char *text = NULL;
	const json_t *groups;
	json_t *group;
	size_t n, i;

	if (file_read(path, &text, &n, err))
		return error_prefix(err, "--shape");
	if (yaml_parse_all(text, n, &docs, err))
		return error_prefix(err, "%s", path);
	groups = json_object_get(json_array_get(docs, 0), "nodes");
	if (!json_is_array(groups))
		return error_set(err, ERR_BAD_REQUEST, "%s: nodes: Required value", path);
	json_array_foreach (groups, i, group)
		if (add_group(group, nodes, err))
			return error_prefix(err, "%s: nodes[%zu]", path, i);
	*ret_nodes = json_incref(nodes);
	return 0;
}
