/* Once a cluster has a job, its spec is what runs there, so it cannot change any more. */
#include <string.h>

#include "api/job_rules.h"
#include "base/json.h"

#define CHANGES_SHOWN 5

struct comparison {
	const char *phase;
	struct causes *causes;
	size_t found;
};

static void compare(struct comparison *x, const json_t *now, const json_t *was,
		    const struct path *at);

static void compare_objects(struct comparison *x, const json_t *now, const json_t *was,
			    const struct path *at)
{
	const char *key;
	json_t *value;

	json_object_foreach ((json_t *)(uintptr_t)now, key, value)
		compare(x, value, json_object_get(was, key), PATH_FIELD(at, key));
	json_object_foreach ((json_t *)(uintptr_t)was, key, value)
		if (!json_object_get(now, key))
			compare(x, NULL, value, PATH_FIELD(at, key));
}

static void compare_arrays(struct comparison *x, const json_t *now, const json_t *was,
			   const struct path *at)
{
	for (size_t i = 0; i < json_array_size(now); i++)
		compare(x, json_array_get(now, i), json_array_get(was, i), PATH_INDEX(at, i));
}

static void compare(struct comparison *x, const json_t *now, const json_t *was,
		    const struct path *at)
{
	if (x->found == CHANGES_SHOWN || json_equal(now, was))
		return;
	if (json_is_object(now) && json_is_object(was)) {
		compare_objects(x, now, was, at);
	} else if (json_array_size(now) && json_array_size(now) == json_array_size(was)) {
		compare_arrays(x, now, was, at);
	} else {
		x->found++;
		causes_add_at(x->causes, CAUSE_FORBIDDEN, at, NULL,
			      "cannot change once the job was given to a cluster (it is %s)",
			      x->phase);
	}
}

void job_check_frozen(const json_t *job, const json_t *old, struct causes *c)
{
	const char *phase = json_str_at(old, "status", "dispatch", "phase", NULL);
	struct comparison x = {.phase = phase, .causes = c};

	if (!phase || !*phase || !strcmp(phase, "Queued"))
		return;
	compare(&x, json_object_get(job, "spec"), json_object_get(old, "spec"),
		PATH_FIELD(NULL, "spec"));
}
