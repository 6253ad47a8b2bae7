/*
 * Amounts of named resources: cpu in milli, everything else (bytes, devices, pods) in whole units.
 */
#ifndef API_RESOURCES_H
#define API_RESOURCES_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/mem.h"
#include "base/strbuf.h"

struct resource {
	const char *name; /* "cpu", "nvidia.com/gpu" */
	int64_t amount;
};

#define RESOURCE_NAMES_MAX 256 /* of one object, and of one pod: inserts cost the length */

/* Sorted by name, each once. Strings and items live in the arena given when it was made. */
struct resource_list {
	struct resource *items;
	size_t n;
};

/* {"cpu": "4", "memory": "8Gi"}; absent is empty. Negative or malformed amounts: INVALID, and the
 * text begins with the resource's name. */
int resource_list_parse(struct arena *a, const json_t *object, struct resource_list *ret,
			struct error *err);
json_t *resource_list_json(const struct resource_list *l);
int64_t resource_list_get(const struct resource_list *l, const char *name); /* 0 when absent */
bool resource_list_has(const struct resource_list *l, const char *name);
void resource_list_set(struct arena *a, struct resource_list *l, const char *name, int64_t amount);
/* to += l * times, saturating. What `to` lacks is added; a is the arena of `to`. */
void resource_list_add(struct arena *a, struct resource_list *to, const struct resource_list *l,
		       int64_t times);
/* Of every name the greater amount. */
void resource_list_max(struct arena *a, struct resource_list *to, const struct resource_list *l);

/* One amount as a person reads it: "1500m" of cpu, "40Gi" of memory, "8". */
void resource_format(const char *name, int64_t amount, struct strbuf *out);

/* What one pod takes on a node: containers + sidecars, init containers in their order, pod-level
 * resources, overhead, and 1 of "pods"; limits stand in for absent requests
 * as kubelet and kube-scheduler count. INVALID names the path within the spec. */
int pod_request(struct arena *a, const json_t *pod_spec, struct resource_list *ret,
		struct error *err);
/* The same for a pod that runs: per container the greatest of spec, status.resources and
 * status.allocatedResources, without the spec where a resize was found infeasible. */
int pod_request_running(struct arena *a, const json_t *pod_spec, const json_t *pod_status,
			struct resource_list *ret, struct error *err);

#endif
