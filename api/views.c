/* What every view has: metadata. */
#include "api/views.h"

#include <string.h>

#include "api/views_decode.h"
#include "base/json.h"

static const char *const no_strings[] = {NULL};

/* The uid of the owner that has controller: true. */
static int decode_owner(struct decoder *d, const json_t *v, const struct path *at, void *into)
{
	struct meta *m = into;
	size_t i;
	json_t *owner;

	if (!json_is_array(v))
		return decode_fail(d, at, "must be an array");
	json_array_foreach (v, i, owner) {
		if (!json_is_true(json_object_get(owner, "controller")))
			continue;
		m->owner_uid = arena_strdup(d->arena, json_str_at(owner, "uid", NULL));
	}
	return 0;
}

static const struct field meta_fields[] = {
	FIELD(meta, ns, "namespace", FIELD_STRING),
	FIELD(meta, name, "name", FIELD_STRING),
	FIELD(meta, uid, "uid", FIELD_STRING),
	FIELD(meta, version, "resourceVersion", FIELD_DECIMAL),
	FIELD(meta, generation, "generation", FIELD_INT64),
	FIELD(meta, created_ns, "creationTimestamp", FIELD_TIME),
	FIELD(meta, deleted_ns, "deletionTimestamp", FIELD_TIME),
	FIELD_COUNTED(meta, labels, n_labels, "labels", FIELD_LABELS),
	FIELD_COUNTED(meta, annotations, n_annotations, "annotations", FIELD_LABELS),
	FIELD(meta, finalizers, "finalizers", FIELD_STRINGS),
	FIELD_BY("ownerReferences", decode_owner),
};
const struct record meta_record = RECORD(meta_fields);

void meta_init(struct meta *m)
{
	*m = (struct meta){.ns = "", .name = "", .uid = "", .finalizers = no_strings};
}

static const char *label_value(const struct label *labels, size_t n, const char *key)
{
	for (size_t i = 0; i < n; i++)
		if (!strcmp(labels[i].key, key))
			return labels[i].value;
	return NULL;
}

const char *meta_label(const struct meta *m, const char *key)
{
	return label_value(m->labels, m->n_labels, key);
}

const char *meta_annotation(const struct meta *m, const char *key)
{
	return label_value(m->annotations, m->n_annotations, key);
}

bool meta_has_finalizer(const struct meta *m, const char *name)
{
	for (const char *const *f = m->finalizers; *f; f++)
		if (!strcmp(*f, name))
			return true;
	return false;
}
