/* Queue, Cluster, DataSet and Placement beyond their schemas. */
#include <string.h>

#include "api/kinds.h"
#include "api/pod_rules.h"
#include "api/quantity.h"
#include "base/json.h"

void queue_validate(const json_t *queue, const json_t *old, struct causes *causes)
{
	const json_t *capability = json_at(queue, "spec", "capability", NULL);

	if (!old || !json_equal(capability, json_at(old, "spec", "capability", NULL)))
		queue_amounts_check(capability, PATH_FIELD(PATH_FIELD(NULL, "spec"), "capability"),
				    causes);
}

static bool same_taint(const json_t *a, const json_t *b)
{
	return json_equal(json_object_get(a, "key"), json_object_get(b, "key")) &&
	       json_equal(json_object_get(a, "effect"), json_object_get(b, "effect"));
}

void cluster_validate(const json_t *cluster, const json_t *old, struct causes *causes)
{
	const json_t *taints = json_at(cluster, "spec", "taints", NULL);
	const struct path *at = PATH_FIELD(PATH_FIELD(NULL, "spec"), "taints");

	for (size_t i = 0; i < json_array_size(taints) && causes->n < CAUSES_ENOUGH; i++) {
		const json_t *taint = json_array_get(taints, i);

		for (size_t j = 0; j < i; j++) {
			if (!same_taint(taint, json_array_get(taints, j)))
				continue;
			causes_add_at(causes, CAUSE_DUPLICATE, PATH_FIELD(PATH_INDEX(at, i), "key"),
				      json_object_get(taint, "key"), "%s", "");
			break;
		}
	}
}

static void check_replica(const json_t *replicas, size_t i, const struct path *at, struct causes *c)
{
	const json_t *replica = json_array_get(replicas, i);
	const json_t *cluster = json_object_get(replica, "cluster");
	const json_t *part = json_object_get(replica, "completeness");
	struct quantity q = {0};

	if (!quantity_parse_json(part, &q, NULL) && q.nano > quantity_from_value(1).nano)
		causes_add_at(c, CAUSE_INVALID, PATH_FIELD(at, "completeness"), part,
			      "is more than 1");
	for (size_t j = 0; j < i; j++) {
		if (!json_equal(cluster, json_object_get(json_array_get(replicas, j), "cluster")))
			continue;
		causes_add_at(c, CAUSE_DUPLICATE, PATH_FIELD(at, "cluster"), cluster, "%s", "");
		return;
	}
}

void dataset_validate(const json_t *dataset, const json_t *old, struct causes *causes)
{
	const json_t *replicas = json_object_get(dataset, "replicas");
	const struct path *at = PATH_FIELD(NULL, "replicas");

	for (size_t i = 0; i < json_array_size(replicas) && causes->n < CAUSES_ENOUGH; i++)
		check_replica(replicas, i, PATH_INDEX(at, i), causes);
}
