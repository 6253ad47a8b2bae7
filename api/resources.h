/*
 * Amounts of named resources: cpu in milli, everything else (bytes, devices, pods) in whole units.
 */
#ifndef API_RESOURCES_H
#define API_RESOURCES_H

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/mem.h"
#include "base/strbuf.h"

struct resource {
	const char *name; /* "cpu", "nvidia.com/gpu" */
	int64_t amount;
};

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
void resource_list_add(struct arena *a, struct resource_list *to, const struct resource_list *l,
		       int64_t times);

/* One amount as a person reads it: "1500m" of cpu, "40Gi" of memory, "8". */
void resource_format(const char *name, int64_t amount, struct strbuf *out);

/* What one pod takes on a node: containers + sidecars, init containers in their order, pod-level
 * resources, overhead, and 1 of "pods"; limits stand in for absent requests
 * (facts/member-cluster.md section B, "Effective request"). */
int pod_request(struct arena *a, const json_t *pod_spec, struct resource_list *ret,
		struct error *err);

#endif
