/* The nodes of a sandbox, from its shape file. */
#include <string.h>

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

static int add_group(const json_t *group, size_t i, json_t *nodes, struct error *err)
{
	const char *name = json_str_at(group, "name", NULL);
	int64_t count = json_int_at(group, 1, "count", NULL);

	if (!name)
		return error_set(err, ERR_BAD_REQUEST, "nodes[%zu].name: Required value", i);
	if (!json_is_object(json_object_get(group, "capacity")))
		return error_set(err, ERR_BAD_REQUEST, "nodes[%zu].capacity: Required value", i);
	if (count < 0 || (int64_t)json_array_size(nodes) + count > MAX_NODES)
		return error_set(err, ERR_BAD_REQUEST,
				 "nodes[%zu].count: Invalid value: %lld: a sandbox has 0 to %d "
				 "nodes",
				 i, (long long)count, MAX_NODES);
	for (int64_t n = 0; n < count; n++) {
		auto_xfree char *full = xasprintf("%s-%lld", name, (long long)n);

		json_array_append_new(nodes, node_tree(group, full));
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
		return -1;
	if (yaml_parse_all(text, n, &docs, err))
		return error_prefix(err, "%s", path);
	groups = json_object_get(json_array_get(docs, 0), "nodes");
	if (!json_is_array(groups))
		return error_set(err, ERR_BAD_REQUEST, "%s: nodes: Required value", path);
	json_array_foreach (groups, i, group)
		if (add_group(group, i, nodes, err))
			return error_prefix(err, "%s", path);
	*ret_nodes = json_incref(nodes);
	return 0;
}
