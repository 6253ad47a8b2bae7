/* Queues and data sets. */
#include <string.h>

#include "api/views_decode.h"
#include "base/json.h"
#include "base/scan.h"

static int decode_closed(struct decoder *d, const json_t *v, const struct path *at, void *into)
{
	struct queue *q = into;

	if (!json_is_boolean(v))
		return decode_fail(d, at, "must be true or false");
	q->open = !json_is_true(v);
	return 0;
}

static int decode_capability(struct decoder *d, const json_t *v, const struct path *at, void *into)
{
	struct queue *q = into;

	if (resource_list_parse(d->arena, v, &q->capability, d->err) < 0)
		return decode_prefix(d, at);
	q->has_capability = q->capability.n > 0;
	return 0;
}

static const struct field queue_spec_fields[] = {
	FIELD_BY("capability", decode_capability),
	FIELD_BY("closed", decode_closed),
};
static const struct record queue_spec_record = RECORD(queue_spec_fields);

static const struct field queue_status_fields[] = {
	FIELD(queue, state, "state", FIELD_STRING),
};
static const struct record queue_status_record = RECORD(queue_status_fields);

static const struct field queue_fields[] = {
	FIELD_MEMBER(queue, meta, "metadata", &meta_record),
	FIELD_NESTED("spec", &queue_spec_record),
	FIELD_NESTED("status", &queue_status_record),
};
static const struct record queue_record = RECORD(queue_fields);

int queue_view(const struct doc *doc, struct queue **ret, struct error *err)
{
	auto_free(queue_destroy) struct queue *q = xnew0(struct queue);
	struct decoder d = {.arena = &q->arena, .err = err};
	auto_json *tree = doc_tree(doc);

	meta_init(&q->meta);
	q->open = true;
	q->state = "";
	if (record_decode(&d, &queue_record, tree, NULL, q) < 0)
		return -1;
	*ret = take_ptr(q);
	return 0;
}

bool queue_is_open(const struct doc *d)
{
	struct sv closed;

	return !scan_find((struct sv){d->bytes, d->size}, &closed, "spec", "closed", NULL) ||
	       !sv_eq(closed, "true");
}

void queue_destroy(struct queue *q)
{
	if (!q)
		return;
	arena_finish(&q->arena);
	free(q);
}

static void replica_init(void *item)
{
	*(struct dataset_replica *)item =
		(struct dataset_replica){.cluster = "", .completeness_millionths = 1000000};
}

static const struct field replica_fields[] = {
	FIELD_REQUIRED(dataset_replica, cluster, "cluster", FIELD_STRING),
	FIELD(dataset_replica, completeness_millionths, "completeness", FIELD_MILLIONTHS),
};
static const struct record replica_record = {replica_fields, ARRAY_LEN(replica_fields),
					     sizeof(struct dataset_replica), replica_init};

static const struct field dataset_spec_fields[] = {
	FIELD(dataset, size_bytes, "size", FIELD_WHOLE),
};
static const struct record dataset_spec_record = RECORD(dataset_spec_fields);

static const struct field dataset_fields[] = {
	FIELD_MEMBER(dataset, meta, "metadata", &meta_record),
	FIELD_NESTED("spec", &dataset_spec_record),
	FIELD_ITEMS(dataset, replicas, n_replicas, "replicas", &replica_record),
};
static const struct record dataset_record = RECORD(dataset_fields);

int dataset_view(const struct doc *doc, struct dataset **ret, struct error *err)
{
	auto_free(dataset_destroy) struct dataset *s = xnew0(struct dataset);
	struct decoder d = {.arena = &s->arena, .err = err};
	auto_json *tree = doc_tree(doc);

	meta_init(&s->meta);
	if (record_decode(&d, &dataset_record, tree, NULL, s) < 0)
		return -1;
	*ret = take_ptr(s);
	return 0;
}

void dataset_destroy(struct dataset *d)
{
	if (!d)
		return;
	arena_finish(&d->arena);
	free(d);
}
