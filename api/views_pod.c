/* Pods as their cluster knows them: where, how far, what they take. */
#include <string.h>

#include "api/views_decode.h"
#include "base/json.h"

static const char *const phases[] = {
	[POD_PENDING] = "Pending", [POD_RUNNING] = "Running", [POD_SUCCEEDED] = "Succeeded",
	[POD_FAILED] = "Failed",   [POD_UNKNOWN] = "Unknown",
};
static const struct names phase_names = {phases, ARRAY_LEN(phases), POD_UNKNOWN};

static int32_t port_number(const json_t *port, bool host_network)
{
	int64_t n = json_int_at(port, 0, "hostPort", NULL);

	if (!n && host_network)
		n = json_int_at(port, 0, "containerPort", NULL);
	return n > 0 && n <= UINT16_MAX ? (int32_t)n : 0;
}

/* Appends the host ports of one container; ports has room for all of them. */
static void add_ports(struct pod *p, const json_t *container, bool host_network)
{
	const json_t *ports = json_at(container, "ports", NULL);
	size_t i;
	json_t *port;

	json_array_foreach (ports, i, port) {
		int32_t n = port_number(port, host_network);

		if (n)
			p->host_ports[p->n_host_ports++] = n;
	}
}

static size_t count_ports(const json_t *containers)
{
	size_t i, n = 0;
	json_t *c;

	json_array_foreach (containers, i, c)
		n += json_array_size(json_at(c, "ports", NULL));
	return n;
}

/* Of containers and sidecars: what holds a port for as long as the pod lives. */
static void collect_ports(struct arena *a, struct pod *p, const json_t *spec)
{
	const json_t *containers = json_at(spec, "containers", NULL);
	const json_t *init = json_at(spec, "initContainers", NULL);
	bool host_network = json_is_true(json_at(spec, "hostNetwork", NULL));
	size_t i;
	json_t *c;

	p->host_ports = arena_array(a, int32_t, count_ports(containers) + count_ports(init));
	json_array_foreach (containers, i, c)
		add_ports(p, c, host_network);
	json_array_foreach (init, i, c) {
		const char *policy = json_str_at(c, "restartPolicy", NULL);

		if (policy && !strcmp(policy, "Always"))
			add_ports(p, c, host_network);
	}
}

static int32_t add_restarts(int32_t sum, int64_t n)
{
	return n <= 0 ? sum : n > INT32_MAX - sum ? INT32_MAX : sum + (int32_t)n;
}

static int decode_statuses(struct decoder *d, const json_t *v, const struct path *at, void *into)
{
	struct pod *p = into;
	size_t i;
	json_t *s;

	if (!json_is_array(v))
		return decode_fail(d, at, "must be an array");
	json_array_foreach (v, i, s) {
		p->restarts = add_restarts(p->restarts, json_int_at(s, 0, "restartCount", NULL));
		if (p->exit_code < 0)
			p->exit_code = (int32_t)json_int_at(s, -1, "state", "terminated",
							    "exitCode", NULL);
	}
	return 0;
}

/* Init containers have exit codes too, but they say nothing about the end of the pod's work. */
static int decode_init_statuses(struct decoder *d, const json_t *v, const struct path *at,
				void *into)
{
	struct pod *p = into;
	int32_t exit_code = p->exit_code;

	if (decode_statuses(d, v, at, into) < 0)
		return -1;
	p->exit_code = exit_code;
	return 0;
}

static const struct field spec_fields[] = {
	FIELD(pod, node, "nodeName", FIELD_STRING),
};
static const struct record spec_record = RECORD(spec_fields);

static const struct field status_fields[] = {
	FIELD_NAMED(pod, phase, "phase", &phase_names),
	FIELD(pod, reason, "reason", FIELD_STRING),
	FIELD(pod, message, "message", FIELD_STRING),
	FIELD(pod, nominated_node, "nominatedNodeName", FIELD_STRING),
	FIELD_TRUE(pod, disrupted, "DisruptionTarget"),
	FIELD_BY("containerStatuses", decode_statuses),
	FIELD_BY("initContainerStatuses", decode_init_statuses),
};
static const struct record status_record = RECORD(status_fields);

static const struct field pod_fields[] = {
	FIELD_MEMBER(pod, meta, "metadata", &meta_record),
	FIELD_NESTED("spec", &spec_record),
	FIELD_NESTED("status", &status_record),
};
static const struct record pod_record = RECORD(pod_fields);

/* An empty name is no name. */
static const char *none_if_empty(const char *s)
{
	return s && *s ? s : NULL;
}

static int decode_pod(struct decoder *d, struct pod *p)
{
	const json_t *spec = json_at(p->tree, "spec", NULL);

	if (record_decode(d, &pod_record, p->tree, NULL, p) < 0)
		return -1;
	p->node = none_if_empty(p->node);
	p->nominated_node = none_if_empty(p->nominated_node);
	collect_ports(d->arena, p, spec);
	if (p->phase == POD_SUCCEEDED || p->phase == POD_FAILED)
		return 0;
	if (pod_request_running(d->arena, spec, json_at(p->tree, "status", NULL), &p->request,
				d->err) < 0)
		return decode_prefix(d, PATH_FIELD(NULL, "spec"));
	return 0;
}

int pod_view(const struct doc *doc, struct pod **ret, struct error *err)
{
	auto_free(pod_destroy) struct pod *p = xnew0(struct pod);
	struct decoder d = {.arena = &p->arena, .err = err};

	p->tree = doc_tree(doc);
	meta_init(&p->meta);
	p->exit_code = -1;
	if (decode_pod(&d, p) < 0)
		return -1;
	*ret = take_ptr(p);
	return 0;
}

void pod_destroy(struct pod *p)
{
	if (!p)
		return;
	arena_finish(&p->arena);
	json_decref(p->tree);
	free(p);
}
