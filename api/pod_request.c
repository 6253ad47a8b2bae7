/*
 * What a pod takes on its node, by the rules of kubelet and kube-scheduler. What is not here:
 * whether it fits (scheduler/).
 */
#include <string.h>

#include "api/resources.h"
#include "base/json.h"

struct context {
	struct arena *arena;
	const json_t *spec, *status; /* status NULL: the pod does not run yet */
	bool resize_infeasible;
	struct error *err;
};

/* Resources that spec.resources may set for the whole pod. */
static bool is_pod_level(const char *name)
{
	return !strcmp(name, "cpu") || !strcmp(name, "memory") ||
	       !strncmp(name, "hugepages-", strlen("hugepages-"));
}

static bool is_overcommitable(const char *name)
{
	return strncmp(name, "hugepages-", strlen("hugepages-")) != 0;
}

static int too_many_names(const struct context *x)
{
	return error_set(x->err, ERR_INVALID, "a pod asks for at most %d different resources",
			 RESOURCE_NAMES_MAX);
}

static bool find_resize_infeasible(const json_t *status)
{
	const json_t *conditions = json_at(status, "conditions", NULL);
	size_t i;
	json_t *c;

	json_array_foreach (conditions, i, c) {
		const char *type = json_str_at(c, "type", NULL);
		const char *reason = json_str_at(c, "reason", NULL);

		if (type && !strcmp(type, "PodResizePending"))
			return reason && !strcmp(reason, "Infeasible");
	}
	return false;
}

static bool is_sidecar(const json_t *container)
{
	const char *policy = json_str_at(container, "restartPolicy", NULL);

	return policy && !strcmp(policy, "Always");
}

static const json_t *find_status(const struct context *x, const char *list, const json_t *container)
{
	const json_t *statuses = json_at(x->status, list, NULL);
	const char *name = json_str_at(container, "name", NULL);
	size_t i;
	json_t *s;

	json_array_foreach (statuses, i, s) {
		const char *n = json_str_at(s, "name", NULL);

		if (n && name && !strcmp(n, name))
			return s;
	}
	return NULL;
}

/* Requests, and limits where a request is absent. */
static int read_spec(const struct context *x, const json_t *container, struct resource_list *ret)
{
	struct resource_list requests = {0}, limits = {0};

	if (resource_list_parse(x->arena, json_at(container, "resources", "requests", NULL),
				&requests, x->err) < 0)
		return error_prefix(x->err, "resources.requests");
	if (resource_list_parse(x->arena, json_at(container, "resources", "limits", NULL), &limits,
				x->err) < 0)
		return error_prefix(x->err, "resources.limits");
	for (size_t i = 0; i < requests.n; i++)
		resource_list_set(x->arena, &limits, requests.items[i].name,
				  requests.items[i].amount);
	*ret = limits;
	return 0;
}

/* What the kubelet says that it gave and will give, against what the spec wants. */
static int apply_status(const struct context *x, const json_t *status, struct resource_list *l)
{
	struct resource_list actuated = {0}, allocated = {0};

	if (!json_at(status, "resources", NULL))
		return 0;
	if (resource_list_parse(x->arena, json_at(status, "resources", "requests", NULL), &actuated,
				x->err) < 0 ||
	    resource_list_parse(x->arena, json_at(status, "allocatedResources", NULL), &allocated,
				x->err) < 0)
		return error_prefix(x->err, "status");
	if (x->resize_infeasible)
		*l = (struct resource_list){0};
	resource_list_max(x->arena, l, &actuated);
	resource_list_max(x->arena, l, &allocated);
	return 0;
}

static int read_container(const struct context *x, const json_t *container, const char *statuses,
			  struct resource_list *ret)
{
	struct resource_list l = {0};
	const json_t *status;

	if (read_spec(x, container, &l) < 0)
		return -1;
	if (l.n > RESOURCE_NAMES_MAX)
		return too_many_names(x);
	status = statuses ? find_status(x, statuses, container) : NULL;
	if (status && apply_status(x, status, &l) < 0)
		return -1;
	*ret = l;
	return 0;
}

static int add_containers(const struct context *x, struct resource_list *sum)
{
	const json_t *containers = json_at(x->spec, "containers", NULL);
	size_t i;
	json_t *c;

	json_array_foreach (containers, i, c) {
		struct resource_list l = {0};

		if (read_container(x, c, "containerStatuses", &l) < 0)
			return error_prefix(x->err, "containers[%zu]", i);
		resource_list_add(x->arena, sum, &l, 1);
		if (sum->n > RESOURCE_NAMES_MAX)
			return too_many_names(x);
	}
	return 0;
}

/* Sidecars go on beside the containers; every other init container runs alone but for the
 * sidecars before it. */
static int add_init_containers(const struct context *x, struct resource_list *sum,
			       struct resource_list *ret_peak)
{
	const json_t *containers = json_at(x->spec, "initContainers", NULL);
	struct resource_list sidecars = {0};
	size_t i;
	json_t *c;

	json_array_foreach (containers, i, c) {
		bool sidecar = is_sidecar(c);
		struct resource_list l = {0};

		if (read_container(x, c, sidecar ? "initContainerStatuses" : NULL, &l) < 0)
			return error_prefix(x->err, "initContainers[%zu]", i);
		if (sidecar) {
			resource_list_add(x->arena, sum, &l, 1);
			resource_list_add(x->arena, &sidecars, &l, 1);
			resource_list_max(x->arena, ret_peak, &sidecars);
		} else {
			resource_list_add(x->arena, &l, &sidecars, 1);
			resource_list_max(x->arena, ret_peak, &l);
		}
		if (ret_peak->n > RESOURCE_NAMES_MAX)
			return too_many_names(x);
	}
	return 0;
}

/* A pod-level limit without a request asks for what the containers ask for, else for itself. */
static void default_pod_level(const struct context *x, const struct resource_list *limits,
			      const struct resource_list *sum, struct resource_list *requests)
{
	for (size_t i = 0; i < limits->n; i++) {
		const struct resource *r = &limits->items[i];

		if (resource_list_has(requests, r->name))
			continue;
		if (is_overcommitable(r->name) && resource_list_has(sum, r->name))
			continue;
		resource_list_set(x->arena, requests, r->name, r->amount);
	}
}

static int apply_pod_level(const struct context *x, struct resource_list *sum)
{
	const json_t *resources = json_at(x->spec, "resources", NULL);
	struct resource_list requests = {0}, limits = {0};

	if (resource_list_parse(x->arena, json_at(resources, "requests", NULL), &requests, x->err) <
		    0 ||
	    resource_list_parse(x->arena, json_at(resources, "limits", NULL), &limits, x->err) < 0)
		return error_prefix(x->err, "resources");
	default_pod_level(x, &limits, sum, &requests);
	if (x->status && apply_status(x, x->status, &requests) < 0)
		return -1;
	for (size_t i = 0; i < requests.n; i++)
		if (is_pod_level(requests.items[i].name))
			resource_list_set(x->arena, sum, requests.items[i].name,
					  requests.items[i].amount);
	return 0;
}

static int add_overhead(const struct context *x, struct resource_list *sum)
{
	struct resource_list overhead = {0};

	if (resource_list_parse(x->arena, json_at(x->spec, "overhead", NULL), &overhead, x->err) <
	    0)
		return error_prefix(x->err, "overhead");
	resource_list_add(x->arena, sum, &overhead, 1);
	return 0;
}

int pod_request_running(struct arena *a, const json_t *pod_spec, const json_t *pod_status,
			struct resource_list *ret, struct error *err)
{
	struct context x = {.arena = a, .spec = pod_spec, .status = pod_status, .err = err};
	struct resource_list sum = {0}, peak = {0};

	x.resize_infeasible = find_resize_infeasible(pod_status);
	if (add_containers(&x, &sum) < 0 || add_init_containers(&x, &sum, &peak) < 0)
		return -1;
	resource_list_max(a, &sum, &peak);
	if (json_is_object(json_at(pod_spec, "resources", NULL)) && apply_pod_level(&x, &sum) < 0)
		return -1;
	if (add_overhead(&x, &sum) < 0)
		return -1;
	resource_list_set(a, &sum, "pods", 1);
	*ret = sum;
	return 0;
}

int pod_request(struct arena *a, const json_t *pod_spec, struct resource_list *ret,
		struct error *err)
{
	return pod_request_running(a, pod_spec, NULL, ret, err);
}
