/* Clusters, the shapes that they report, and nodes. */
#include <string.h>

#include "api/views_decode.h"
#include "base/json.h"

static void shape_init(void *item)
{
	*(struct shape *)item = (struct shape){.count = 1};
}

static int decode_taints(struct decoder *d, const json_t *v, const struct path *at, void *into)
{
	struct shape *s = into;

	if (!json_is_array(v))
		return decode_fail(d, at, "must be an array");
	s->taints = v;
	return 0;
}

static const struct field shape_fields[] = {
	FIELD_COUNTED(shape, labels, n_labels, "labels", FIELD_LABELS),
	FIELD_BY("taints", decode_taints),
	FIELD(shape, amounts, "amounts", FIELD_RESOURCES),
	FIELD_REQUIRED(shape, count, "count", FIELD_INT64),
};
static const struct record shape_record = {shape_fields, ARRAY_LEN(shape_fields),
					   sizeof(struct shape), shape_init};

int shapes_parse(struct arena *a, const json_t *array, struct shape **ret, size_t *ret_n,
		 struct error *err)
{
	struct decoder d = {.arena = a, .err = err};

	return records_decode(&d, &shape_record, array, NULL, ret, ret_n);
}

static json_t *shape_json(const struct shape *s)
{
	json_t *j = json_object();
	json_t *labels = json_object();

	for (size_t i = 0; i < s->n_labels; i++)
		json_object_set_new(labels, s->labels[i].key, json_string(s->labels[i].value));
	json_object_set_new(j, "labels", labels);
	if (s->taints && json_array_size(s->taints))
		json_object_set_new(j, "taints", json_deep_copy(s->taints));
	json_object_set_new(j, "amounts", resource_list_json(&s->amounts));
	json_object_set_new(j, "count", json_integer(s->count));
	return j;
}

json_t *shapes_json(const struct shape *shapes, size_t n)
{
	json_t *array = json_array();

	for (size_t i = 0; i < n; i++)
		json_array_append_new(array, shape_json(&shapes[i]));
	return array;
}

static bool is_taint(const json_t *taint, const char *key, const char *effect)
{
	const char *k = json_str_at(taint, "key", NULL);
	const char *e = json_str_at(taint, "effect", NULL);

	return k && e && !strcmp(k, key) && !strcmp(e, effect);
}

static int decode_cluster_taints(struct decoder *d, const json_t *v, const struct path *at,
				 void *into)
{
	struct cluster *c = into;
	size_t i;
	json_t *taint;

	if (!json_is_array(v))
		return decode_fail(d, at, "must be an array");
	c->taints = v;
	json_array_foreach (v, i, taint) {
		if (is_taint(taint, CLUSTER_CORDON_TAINT, "NoSchedule"))
			c->cordoned = true;
	}
	return 0;
}

static int decode_capacity(struct decoder *d, const json_t *v, const struct path *at, void *into)
{
	struct cluster *c = into;

	if (records_decode(d, &shape_record, v, at, &c->capacity, &c->n_capacity) < 0)
		return -1;
	c->reported = true;
	return 0;
}

static const struct field cluster_spec_fields[] = {
	FIELD(cluster, accepted, "accepted", FIELD_BOOL),
	FIELD_BY("taints", decode_cluster_taints),
};
static const struct record cluster_spec_record = RECORD(cluster_spec_fields);

static const struct field cluster_status_fields[] = {
	FIELD_TRUE(cluster, ready, "Ready"),
	FIELD_BY("capacityShapes", decode_capacity),
};
static const struct record cluster_status_record = RECORD(cluster_status_fields);

static const struct field cluster_fields[] = {
	FIELD_MEMBER(cluster, meta, "metadata", &meta_record),
	FIELD_NESTED("spec", &cluster_spec_record),
	FIELD_NESTED("status", &cluster_status_record),
};
static const struct record cluster_record = RECORD(cluster_fields);

int cluster_view(const struct doc *doc, struct cluster **ret, struct error *err)
{
	auto_free(cluster_destroy) struct cluster *c = xnew0(struct cluster);
	struct decoder d = {.arena = &c->arena, .err = err};

	c->tree = doc_tree(doc);
	meta_init(&c->meta);
	if (record_decode(&d, &cluster_record, c->tree, NULL, c) < 0)
		return -1;
	*ret = take_ptr(c);
	return 0;
}

void cluster_destroy(struct cluster *c)
{
	if (!c)
		return;
	arena_finish(&c->arena);
	json_decref(c->tree);
	free(c);
}

static const struct field node_spec_fields[] = {
	FIELD(node, unschedulable, "unschedulable", FIELD_BOOL),
	FIELD(node, taints, "taints", FIELD_TREE),
};
static const struct record node_spec_record = RECORD(node_spec_fields);

static const struct field node_status_fields[] = {
	FIELD_TRUE(node, ready, "Ready"),
	FIELD(node, allocatable, "allocatable", FIELD_RESOURCES),
};
static const struct record node_status_record = RECORD(node_status_fields);

static const struct field node_fields[] = {
	FIELD_MEMBER(node, meta, "metadata", &meta_record),
	FIELD_NESTED("spec", &node_spec_record),
	FIELD_NESTED("status", &node_status_record),
};
static const struct record node_record = RECORD(node_fields);

int node_view(const struct doc *doc, struct node **ret, struct error *err)
{
	auto_free(node_destroy) struct node *n = xnew0(struct node);
	struct decoder d = {.arena = &n->arena, .err = err};

	n->tree = doc_tree(doc);
	meta_init(&n->meta);
	if (record_decode(&d, &node_record, n->tree, NULL, n) < 0)
		return -1;
	*ret = take_ptr(n);
	return 0;
}

void node_destroy(struct node *n)
{
	if (!n)
		return;
	arena_finish(&n->arena);
	json_decref(n->tree);
	free(n);
}
