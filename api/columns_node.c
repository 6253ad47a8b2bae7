/* Columns of Node and Pod, whose cells are read together from several fields. */
#include <string.h>

#include "api/cells.h"

#define ROLE_PREFIX "node-role.kubernetes.io/"

static json_t *node_status(const json_t *node, int64_t now_ns)
{
	const char *ready = json_string_value(cell_condition(node, "Ready", "status"));
	bool cordoned = json_is_true(json_at(node, "spec", "unschedulable", NULL));

	return json_sprintf("%s%s",
			    !ready                   ? "Unknown"
			    : !strcmp(ready, "True") ? "Ready"
						     : "NotReady",
			    cordoned ? ",SchedulingDisabled" : "");
}

static json_t *node_roles(const json_t *node, int64_t now_ns)
{
	const json_t *labels = json_at(node, "metadata", "labels", NULL);
	auto_strbuf text = {0};
	const char *key;
	json_t *value;

	json_object_foreach ((json_t *)(uintptr_t)labels, key, value)
		if (!strncmp(key, ROLE_PREFIX, strlen(ROLE_PREFIX)))
			strbuf_addf(&text, "%s%s", text.size ? "," : "", key + strlen(ROLE_PREFIX));
	return json_string(text.size ? strbuf_str(&text) : "<none>");
}

CELL(node_version, "status", "nodeInfo", "kubeletVersion")
CELL(node_os, "status", "nodeInfo", "osImage")
CELL(node_kernel, "status", "nodeInfo", "kernelVersion")
CELL(node_runtime, "status", "nodeInfo", "containerRuntimeVersion")

static json_t *node_address(const json_t *node, const char *type)
{
	const json_t *addresses = json_at(node, "status", "addresses", NULL);
	size_t i;
	json_t *address;

	json_array_foreach (addresses, i, address) {
		const char *t = json_str_at(address, "type", NULL);

		if (t && !strcmp(t, type))
			return cell_copy(json_object_get(address, "address"));
	}
	return json_string("<none>");
}

static json_t *node_internal_ip(const json_t *node, int64_t now_ns)
{
	return node_address(node, "InternalIP");
}

static json_t *node_external_ip(const json_t *node, int64_t now_ns)
{
	return node_address(node, "ExternalIP");
}

const struct column columns_node[] = {
	{"Status", "string", 0, node_status},
	{"Roles", "string", 0, node_roles},
	COLUMN_AGE,
	{"Version", "string", 0, node_version},
	{"Internal-IP", "string", 1, node_internal_ip},
	{"External-IP", "string", 1, node_external_ip},
	{"OS-Image", "string", 1, node_os},
	{"Kernel-Version", "string", 1, node_kernel},
	{"Container-Runtime", "string", 1, node_runtime},
	{NULL},
};

static json_t *pod_ready(const json_t *pod, int64_t now_ns)
{
	const json_t *statuses = json_at(pod, "status", "containerStatuses", NULL);
	size_t ready = 0, i;
	json_t *status;

	json_array_foreach (statuses, i, status)
		ready += json_is_true(json_object_get(status, "ready"));
	return json_sprintf("%zu/%zu", ready,
			    json_array_size(json_at(pod, "spec", "containers", NULL)));
}

/* Why a container waits or ended: the last one that says so. */
static const char *container_reason(const json_t *pod)
{
	const json_t *statuses = json_at(pod, "status", "containerStatuses", NULL);
	const char *reason = NULL;
	size_t i;
	json_t *status;

	json_array_foreach (statuses, i, status) {
		const json_t *state = json_object_get(status, "state");
		const char *waiting = json_str_at(state, "waiting", "reason", NULL);
		const char *ended = json_str_at(state, "terminated", "reason", NULL);

		if (waiting || ended)
			reason = waiting ? waiting : ended;
	}
	return reason;
}

static json_t *pod_status(const json_t *pod, int64_t now_ns)
{
	const char *phase = json_str_at(pod, "status", "phase", NULL);
	const char *own = json_str_at(pod, "status", "reason", NULL);
	const char *of_container = container_reason(pod);

	if (json_at(pod, "metadata", "deletionTimestamp", NULL))
		return json_string("Terminating");
	if (of_container)
		return json_string(of_container);
	if (own && *own)
		return json_string(own);
	if (json_array_size(json_at(pod, "spec", "schedulingGates", NULL)))
		return json_string("SchedulingGated");
	return json_string(phase ? phase : "Unknown");
}

static json_t *pod_restarts(const json_t *pod, int64_t now_ns)
{
	const json_t *statuses = json_at(pod, "status", "containerStatuses", NULL);
	json_int_t restarts = 0;
	size_t i;
	json_t *status;

	json_array_foreach (statuses, i, status)
		restarts += json_integer_value(json_object_get(status, "restartCount"));
	return json_integer(restarts);
}

static json_t *pod_text(const json_t *pod, const char *part, const char *field)
{
	const char *text = json_str_at(pod, part, field, NULL);

	return json_string(text && *text ? text : "<none>");
}

static json_t *pod_ip(const json_t *pod, int64_t now_ns)
{
	return pod_text(pod, "status", "podIP");
}

static json_t *pod_node(const json_t *pod, int64_t now_ns)
{
	return pod_text(pod, "spec", "nodeName");
}

const struct column columns_pod[] = {
	{"Ready", "string", 0, pod_ready},
	{"Status", "string", 0, pod_status},
	{"Restarts", "integer", 0, pod_restarts},
	COLUMN_AGE,
	{"IP", "string", 1, pod_ip},
	{"Node", "string", 1, pod_node},
	{NULL},
};
