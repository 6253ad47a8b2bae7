/*
 * Defaults of a Job that its schema cannot say: names of tasks, minAvailable, restartPolicy.
 * Limits that stand in for absent requests are not written: the member's apiserver does that.
 */
#include <stdio.h>
#include <string.h>

#include "api/kinds.h"
#include "base/json.h"

static void name_task(json_t *task, size_t i)
{
	const char *name = json_str_at(task, "name", NULL);
	char made[32];

	if (json_object_get(task, "name") && (!name || *name))
		return;
	snprintf(made, sizeof(made), "default%zu", i);
	json_set_str(task, "name", made);
}

/* With Kubernetes' own default, Always, a training that has finished would begin again. */
static void default_restart_policy(json_t *task)
{
	json_t *spec = json_object_get(json_object_get(task, "template"), "spec");

	if (json_is_object(spec) && !json_object_get(spec, "restartPolicy"))
		json_set_str(spec, "restartPolicy", "Never");
}

/* Counts beyond all bounds are cut: the schema refuses them later. */
static int64_t task_min_available(const json_t *task)
{
	int64_t n = json_int_at(task, json_int_at(task, 1, "replicas", NULL), "minAvailable", NULL);

	return n < 0 ? 0 : n > INT32_MAX ? INT32_MAX : n;
}

static bool wants_min_available(const json_t *spec)
{
	const json_t *v = json_object_get(spec, "minAvailable");

	return !v || (json_is_integer(v) && !json_integer_value(v));
}

void job_set_defaults(json_t *job)
{
	json_t *spec = json_object_get(job, "spec"), *task;
	int64_t sum = 0;
	size_t i;

	json_array_foreach (json_object_get(spec, "tasks"), i, task) {
		if (!json_is_object(task))
			return;
		name_task(task, i);
		default_restart_policy(task);
		sum += task_min_available(task);
	}
	if (json_is_object(spec) && wants_min_available(spec))
		json_set_int(spec, "minAvailable", sum);
}
