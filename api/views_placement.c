/* Placements: what hub and agent say to each other about one attempt of one part. */
#include "api/views_decode.h"
#include "base/json.h"

/* A word of a newer version starts nothing and stops nothing. */
static const char *const desired_words[] = {
	[DESIRED_UNKNOWN] = "",
	[DESIRED_GO] = "Go",
	[DESIRED_RELEASE] = "Release",
};
static const struct names desired_names = {desired_words, ARRAY_LEN(desired_words),
					   DESIRED_UNKNOWN};

static const char *const states[] = {
	[PLACEMENT_NONE] = "",
	[PLACEMENT_CLAIMED] = "Claimed",
	[PLACEMENT_RUNNING] = "Running",
	[PLACEMENT_REFUSED] = "Refused",
	[PLACEMENT_RELEASED] = "Released",
	[PLACEMENT_DONE] = "Done",
	[PLACEMENT_LOST] = "Lost",
};
static const struct names state_names = {states, ARRAY_LEN(states), -1};

const char *placement_state_name(enum placement_state s)
{
	return states[s];
}

static const struct field job_fields[] = {
	FIELD_REQUIRED(placement, job_ns, "namespace", FIELD_STRING),
	FIELD_REQUIRED(placement, job_name, "name", FIELD_STRING),
	FIELD_REQUIRED(placement, job_uid, "uid", FIELD_STRING),
};
static const struct record job_record = RECORD(job_fields);

static void task_init(void *item)
{
	*(struct placement_task *)item = (struct placement_task){.alternative = -1};
}

/* -1 is a legal value here, unlike in every other number. */
static int decode_alternative(struct decoder *d, const json_t *v, const struct path *at, void *into)
{
	struct placement_task *t = into;

	if (!json_is_integer(v) || json_integer_value(v) < -1 || json_integer_value(v) > INT32_MAX)
		return decode_fail(d, at, "must be -1 or the index of an alternative");
	t->alternative = (int32_t)json_integer_value(v);
	return 0;
}

static const struct field task_fields[] = {
	FIELD_REQUIRED(placement_task, name, "name", FIELD_STRING),
	FIELD_REQUIRED(placement_task, replicas, "replicas", FIELD_INT32),
	FIELD_BY("alternative", decode_alternative),
};
static const struct record task_record = {task_fields, ARRAY_LEN(task_fields),
					  sizeof(struct placement_task), task_init};

static const struct field size_fields[] = {
	FIELD_ITEMS(placement, tasks, n_tasks, "tasks", &task_record),
};
static const struct record size_record = RECORD(size_fields);

static const struct field spec_fields[] = {
	{.name = "job", .type = FIELD_OBJECT, .required = true, .record = &job_record},
	FIELD(placement, part, "part", FIELD_INT64),
	FIELD(placement, spec_hash, "specHash", FIELD_STRING),
	FIELD_REQUIRED(placement, generation, "generation", FIELD_INT64),
	FIELD(placement, incarnation, "incarnation", FIELD_INT64),
	FIELD(placement, cluster_uid, "clusterUID", FIELD_STRING),
	FIELD_NAMED(placement, desired, "desired", &desired_names),
	FIELD_NESTED("size", &size_record),
	FIELD(placement, grace_s, "grace", FIELD_INT64),
	FIELD(placement, retries, "retries", FIELD_INT64),
	FIELD(placement, protocol, "protocol", FIELD_INT64),
};
static const struct record spec_record = RECORD(spec_fields);

static const struct field status_fields[] = {
	FIELD_NAMED(placement, state, "state", &state_names),
	FIELD(placement, reason, "reason", FIELD_STRING),
	FIELD(placement, message, "message", FIELD_STRING),
	FIELD(placement, capacity_seq, "capacitySeq", FIELD_INT64),
};
static const struct record status_record = RECORD(status_fields);

static const struct field placement_fields[] = {
	FIELD_MEMBER(placement, meta, "metadata", &meta_record),
	{.name = "spec", .type = FIELD_OBJECT, .required = true, .record = &spec_record},
	FIELD_NESTED("status", &status_record),
};
static const struct record placement_record = RECORD(placement_fields);

int placement_view(const struct doc *doc, struct placement **ret, struct error *err)
{
	auto_free(placement_destroy) struct placement *p = xnew0(struct placement);
	struct decoder d = {.arena = &p->arena, .err = err};

	p->tree = doc_tree(doc);
	meta_init(&p->meta);
	p->spec_hash = p->cluster_uid = p->reason = p->message = "";
	if (record_decode(&d, &placement_record, p->tree, NULL, p) < 0)
		return -1;
	*ret = take_ptr(p);
	return 0;
}

void placement_destroy(struct placement *p)
{
	if (!p)
		return;
	arena_finish(&p->arena);
	json_decref(p->tree);
	free(p);
}
