/* Jobs as the code sees them, with the defaults of what a user may leave out. */
#include <string.h>

#include "api/views_decode.h"
#include "base/json.h"

static const char *const dispatch_phases[] = {
	[DISPATCH_NONE] = "",
	[DISPATCH_QUEUED] = "Queued",
	[DISPATCH_CONFIRMED] = "Confirmed",
	[DISPATCH_RUNNING] = "Running",
	[DISPATCH_RELEASING] = "Releasing",
	[DISPATCH_ENDED] = "Ended",
	[DISPATCH_UNCERTAIN] = "Uncertain",
};
/* An unknown phase was written by a newer version: nothing may be concluded from it. */
static const struct names dispatch_phase_names = {dispatch_phases, ARRAY_LEN(dispatch_phases), -1};

const char *dispatch_phase_name(enum dispatch_phase p)
{
	return dispatch_phases[p];
}

static int decode_request(struct decoder *d, const json_t *v, const struct path *at, void *into)
{
	struct job_task *t = into;

	t->template_ = v;
	if (pod_request(d->arena, json_at(v, "spec", NULL), &t->request, d->err) < 0)
		return decode_prefix(d, PATH_FIELD(at, "spec"));
	return 0;
}

static void task_init(void *item)
{
	*(struct job_task *)item =
		(struct job_task){.replicas = 1, .min_available = -1, .max_retry = 3};
}

static const struct field task_fields[] = {
	FIELD(job_task, name, "name", FIELD_STRING),
	FIELD(job_task, replicas, "replicas", FIELD_INT32),
	FIELD(job_task, min_available, "minAvailable", FIELD_INT32),
	FIELD(job_task, max_retry, "maxRetry", FIELD_INT32),
	FIELD_BY("template", decode_request),
};
static const struct record task_record = {task_fields, ARRAY_LEN(task_fields),
					  sizeof(struct job_task), task_init};

static const struct field plugin_fields[] = {
	FIELD(job, plugin_env, "env", FIELD_KEY),
	FIELD(job, plugin_svc, "svc", FIELD_KEY),
};
static const struct record plugins_record = RECORD(plugin_fields);

static void alternative_init(void *item)
{
	*(struct job_alternative *)item = (struct job_alternative){.task = "", .replicas = -1};
}

static const struct field alternative_fields[] = {
	FIELD_REQUIRED(job_alternative, task, "task", FIELD_STRING),
	FIELD(job_alternative, resources, "resources", FIELD_RESOURCES),
	FIELD_COUNTED(job_alternative, node_selector, n_node_selector, "nodeSelector",
		      FIELD_LABELS),
	FIELD(job_alternative, replicas, "replicas", FIELD_INT32),
};
static const struct record alternative_record = {alternative_fields, ARRAY_LEN(alternative_fields),
						 sizeof(struct job_alternative), alternative_init};

static const struct field dataset_fields[] = {
	FIELD_REQUIRED(job_dataset, name, "name", FIELD_STRING),
};
static const struct record dataset_record = {dataset_fields, ARRAY_LEN(dataset_fields),
					     sizeof(struct job_dataset), NULL};

static int decode_selector(struct decoder *d, const json_t *v, const struct path *at, void *into)
{
	struct job *j = into;

	return selector_from_object(v, &j->cluster_selector, d->err) < 0 ? decode_prefix(d, at) : 0;
}

static const struct field placement_fields[] = {
	FIELD_BY("clusterSelector", decode_selector),
	FIELD(job, tolerations, "tolerations", FIELD_TREE),
	FIELD_ITEMS(job, alternatives, n_alternatives, "alternatives", &alternative_record),
	FIELD_ITEMS(job, datasets, n_datasets, "datasets", &dataset_record),
};
static const struct record placement_record = RECORD(placement_fields);

static const struct field spec_fields[] = {
	FIELD(job, queue, "queue", FIELD_STRING),
	FIELD(job, priority_class, "priorityClassName", FIELD_STRING),
	FIELD(job, min_available, "minAvailable", FIELD_INT32),
	FIELD(job, min_success, "minSuccess", FIELD_INT32),
	FIELD(job, max_retry, "maxRetry", FIELD_INT32),
	FIELD(job, ttl_s, "ttlSecondsAfterFinished", FIELD_INT64),
	FIELD_ITEMS(job, tasks, n_tasks, "tasks", &task_record),
	FIELD_NESTED("plugins", &plugins_record),
	FIELD_NESTED("placement", &placement_record),
};
static const struct record spec_record = RECORD(spec_fields);

static const struct field part_fields[] = {
	FIELD_REQUIRED(dispatch, cluster, "cluster", FIELD_STRING),
	FIELD(dispatch, cluster_uid, "clusterUID", FIELD_STRING),
	FIELD_REQUIRED(dispatch, generation, "generation", FIELD_INT64),
};
static const struct record part_record = RECORD(part_fields);

/* More parts than one belong to a version that spreads jobs: to read them as one would be wrong. */
static int decode_parts(struct decoder *d, const json_t *v, const struct path *at, void *into)
{
	if (!json_is_array(v))
		return decode_fail(d, at, "must be an array");
	if (json_array_size(v) > 1)
		return decode_fail(d, at, "has %zu parts, this version knows one",
				   json_array_size(v));
	if (!json_array_size(v))
		return 0;
	return record_decode(d, &part_record, json_array_get(v, 0), PATH_INDEX(at, 0), into);
}

static const struct field dispatch_fields[] = {
	FIELD_NAMED(dispatch, phase, "phase", &dispatch_phase_names),
	FIELD(dispatch, n, "n", FIELD_INT64),
	FIELD(dispatch, retries, "retries", FIELD_INT32),
	FIELD_BY("parts", decode_parts),
};
static const struct record dispatch_record = RECORD(dispatch_fields);

static const struct field state_fields[] = {
	FIELD(job, phase, "phase", FIELD_STRING),
	FIELD(job, phase_since_ns, "lastTransitionTime", FIELD_TIME),
};
static const struct record state_record = RECORD(state_fields);

static const struct field status_fields[] = {
	FIELD_MEMBER(job, dispatch, "dispatch", &dispatch_record),
	FIELD_NESTED("state", &state_record),
};
static const struct record status_record = RECORD(status_fields);

static const struct field job_fields[] = {
	FIELD_MEMBER(job, meta, "metadata", &meta_record),
	FIELD_NESTED("spec", &spec_record),
	FIELD_NESTED("status", &status_record),
};
static const struct record job_record = RECORD(job_fields);

static void set_initial(struct job *j)
{
	meta_init(&j->meta);
	j->queue = "default";
	j->priority_class = j->phase = "";
	j->min_success = -1;
	j->max_retry = 3;
	j->ttl_s = -1;
}

/* What depends on other fields: names by index, minAvailable (0 is absent, as in Volcano) by sum.
 */
static int finish(struct decoder *d, struct job *j)
{
	int64_t sum = 0;

	for (size_t i = 0; i < j->n_tasks; i++) {
		struct job_task *t = &j->tasks[i];

		if (!t->name || !*t->name)
			t->name = arena_printf(d->arena, "default%zu", i);
		if (t->min_available < 0)
			t->min_available = t->replicas;
		sum += t->min_available;
	}
	if (sum > INT32_MAX)
		return decode_fail(d, PATH_FIELD(PATH_FIELD(NULL, "spec"), "tasks"),
				   "more than %d pods", INT32_MAX);
	if (!j->min_available)
		j->min_available = (int32_t)sum;
	return j->cluster_selector ? 0 : selector_from_object(NULL, &j->cluster_selector, d->err);
}

int job_view_tree(const json_t *tree, struct job **ret, struct error *err)
{
	auto_free(job_destroy) struct job *j = xnew0(struct job);
	struct decoder d = {.arena = &j->arena, .err = err};

	j->tree = json_incref((json_t *)(uintptr_t)tree);
	set_initial(j);
	if (record_decode(&d, &job_record, tree, NULL, j) < 0 || finish(&d, j) < 0)
		return -1;
	*ret = take_ptr(j);
	return 0;
}

int job_view(const struct doc *d, struct job **ret, struct error *err)
{
	auto_json *tree = doc_tree(d);

	if (job_view_tree(tree, ret, err))
		return -1;
	(*ret)->meta.created_revision = d->create_revision;
	return 0;
}

void job_destroy(struct job *j)
{
	if (!j)
		return;
	selector_destroy(j->cluster_selector);
	arena_finish(&j->arena);
	json_decref(j->tree);
	free(j);
}
