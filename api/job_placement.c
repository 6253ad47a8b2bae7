/* spec.placement of a Job: which clusters, which data, which other hardware. */
#include <string.h>

#include "api/job_rules.h"
#include "api/names.h"
#include "api/pod_rules.h"
#include "api/quantity.h"
#include "api/views.h"
#include "base/json.h"

static const json_t *find_task(const json_t *spec, const char *name)
{
	const json_t *tasks = json_object_get(spec, "tasks");
	size_t i;
	json_t *task;

	json_array_foreach (tasks, i, task) {
		const char *n = json_str_at(task, "name", NULL);

		if (n && !strcmp(n, name))
			return task;
	}
	return NULL;
}

static struct quantity speed_of(const json_t *alternative)
{
	struct quantity q = quantity_from_value(1);

	quantity_parse_json(json_object_get(alternative, "speed"), &q, NULL);
	return q;
}

/* The alternative before this one in the list of the same task, or NULL. */
static const json_t *one_before(const json_t *list, size_t i, const char *task)
{
	while (i--) {
		const json_t *a = json_array_get(list, i);

		if (!strcmp(json_str_at(a, "task", NULL), task))
			return a;
	}
	return NULL;
}

static void check_speed(const json_t *list, size_t i, const struct path *at, struct causes *c)
{
	const json_t *a = json_array_get(list, i);
	const json_t *before = one_before(list, i, json_str_at(a, "task", NULL));
	const json_t *speed = json_object_get(a, "speed");
	struct quantity q = speed_of(a);

	if (q.nano <= 0 || q.nano > quantity_from_value(1).nano)
		causes_add_at(c, CAUSE_INVALID, at, speed, "must be above 0 and at most 1");
	else if (before && q.nano > speed_of(before).nano)
		causes_add_at(
			c, CAUSE_INVALID, at, speed,
			"is more than that of the task's alternative before it: the best comes "
			"first");
}

static void check_label_keys(const json_t *labels, const struct path *at, struct causes *c)
{
	const char *key;
	json_t *value;

	json_object_foreach ((json_t *)(uintptr_t)labels, key, value)
		if (!qualified_name_ok(key) && c->n < CAUSES_ENOUGH)
			causes_add_at(c, CAUSE_INVALID, PATH_KEY(at, key), NULL,
				      "must be a name such as app or example.com/app");
}

static void check_alternative(const json_t *spec, const json_t *list, size_t i,
			      const struct path *at, struct causes *c)
{
	const json_t *a = json_array_get(list, i);
	const char *name = json_str_at(a, "task", NULL);
	const json_t *task = find_task(spec, name);
	int64_t replicas = json_int_at(a, INT64_MAX, "replicas", NULL);

	if (!task)
		causes_add_at(c, CAUSE_NOT_FOUND, PATH_FIELD(at, "task"),
			      json_object_get(a, "task"), "no task has this name");
	if (json_int_at(task, 0, "minAvailable", NULL) > replicas)
		causes_add_at(c, CAUSE_INVALID, PATH_FIELD(at, "replicas"),
			      json_object_get(a, "replicas"),
			      "is less than the task's minAvailable of %lld",
			      (long long)json_int_at(task, 0, "minAvailable", NULL));
	container_amounts_check(json_object_get(a, "resources"), PATH_FIELD(at, "resources"), c);
	check_label_keys(json_object_get(a, "nodeSelector"), PATH_FIELD(at, "nodeSelector"), c);
	check_speed(list, i, PATH_FIELD(at, "speed"), c);
}

static void check_datasets(const json_t *datasets, const struct path *at, struct causes *c)
{
	for (size_t i = 0; i < json_array_size(datasets) && c->n < CAUSES_ENOUGH; i++) {
		const json_t *name = json_object_get(json_array_get(datasets, i), "name");

		for (size_t j = 0; j < i; j++) {
			if (!json_equal(name, json_object_get(json_array_get(datasets, j), "name")))
				continue;
			causes_add_at(c, CAUSE_DUPLICATE, PATH_FIELD(PATH_INDEX(at, i), "name"),
				      name, "%s", "");
			break;
		}
	}
}

static void check_tolerations(const json_t *list, const struct path *at, struct causes *c)
{
	for (size_t i = 0; i < json_array_size(list) && c->n < CAUSES_ENOUGH; i++) {
		const json_t *t = json_array_get(list, i);
		const char *key = json_str_at(t, "key", NULL);

		toleration_check(t, PATH_INDEX(at, i), c);
		if (key && !strcmp(key, CLUSTER_CORDON_TAINT))
			causes_add_at(c, CAUSE_FORBIDDEN, PATH_FIELD(PATH_INDEX(at, i), "key"),
				      NULL, "a cordon keeps all new jobs away");
	}
}

void job_check_placement(const json_t *spec, const struct path *at, struct causes *c)
{
	const json_t *placement = json_object_get(spec, "placement");
	const json_t *selector = json_object_get(placement, "clusterSelector");
	const json_t *list = json_object_get(placement, "alternatives");
	const struct path *here = PATH_FIELD(at, "placement");
	const struct path *at_selector = PATH_FIELD(here, "clusterSelector");

	check_label_keys(json_object_get(selector, "matchLabels"),
			 PATH_FIELD(at_selector, "matchLabels"), c);
	expressions_check(json_object_get(selector, "matchExpressions"),
			  PATH_FIELD(at_selector, "matchExpressions"), c);
	check_tolerations(json_object_get(placement, "tolerations"),
			  PATH_FIELD(here, "tolerations"), c);
	check_datasets(json_object_get(placement, "datasets"), PATH_FIELD(here, "datasets"), c);
	for (size_t i = 0; i < json_array_size(list) && c->n < CAUSES_ENOUGH; i++)
		check_alternative(spec, list, i, PATH_INDEX(PATH_FIELD(here, "alternatives"), i),
				  c);
}
