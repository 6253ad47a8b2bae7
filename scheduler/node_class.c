#include "scheduler/node_class.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/strbuf.h"

static int compare_labels(const void *a, const void *b)
{
	const struct label *x = a, *y = b;

	return strcmp(x->key, y->key);
}

static int compare_taints(const void *a, const void *b)
{
	const struct taint *x = a, *y = b;
	int order = strcmp(x->key, y->key);

	if (!order)
		order = strcmp(x->value, y->value);
	return order ? order : strcmp(x->effect, y->effect);
}

static void copy_labels(struct node_class *c, const struct label *labels, size_t n)
{
	c->labels = arena_array(&c->arena, struct label, n + 1);
	for (size_t i = 0; i < n; i++) {
		size_t at = 0;

		while (at < c->n_labels && strcmp(c->labels[at].key, labels[i].key) != 0)
			at++;
		c->labels[at].key = arena_strdup(&c->arena, labels[i].key);
		c->labels[at].value = arena_strdup(&c->arena, labels[i].value);
		if (at == c->n_labels)
			c->n_labels++;
	}
	qsort(c->labels, c->n_labels, sizeof(*c->labels), compare_labels);
}

static void copy_taints(struct node_class *c, const struct taint *taints, size_t n)
{
	struct taint *sorted = arena_array(&c->arena, struct taint, n + 1);

	for (size_t i = 0; i < n; i++) {
		sorted[i].key = arena_strdup(&c->arena, taints[i].key);
		sorted[i].value = arena_strdup(&c->arena, taints[i].value);
		sorted[i].effect = arena_strdup(&c->arena, taints[i].effect);
	}
	qsort(sorted, n, sizeof(*sorted), compare_taints);
	for (size_t i = 0; i < n; i++)
		if (!c->n_taints || compare_taints(&sorted[c->n_taints - 1], &sorted[i]) != 0)
			sorted[c->n_taints++] = sorted[i];
	c->taints = sorted;
}

/* Newlines cannot stand in labels and taints, so that equal texts mean equal content. */
static char *content_key(const struct node_class *c)
{
	struct strbuf b = {0};

	for (size_t i = 0; i < c->n_labels; i++)
		strbuf_addf(&b, "%s=%s\n", c->labels[i].key, c->labels[i].value);
	for (size_t i = 0; i < c->n_taints; i++)
		strbuf_addf(&b, "\n%s=%s:%s", c->taints[i].key, c->taints[i].value,
			    c->taints[i].effect);
	return strbuf_take(&b);
}

static json_t *taints_json(const struct node_class *c)
{
	json_t *array = c->n_taints ? json_array() : NULL;

	for (size_t i = 0; i < c->n_taints; i++) {
		json_t *t = json_object();

		json_set_str(t, "key", c->taints[i].key);
		if (*c->taints[i].value)
			json_set_str(t, "value", c->taints[i].value);
		json_set_str(t, "effect", c->taints[i].effect);
		json_array_append_new(array, t);
	}
	return array;
}

static void class_destroy(struct node_class *c)
{
	json_decref(c->taints_json);
	arena_finish(&c->arena);
	free(c->key);
	free(c);
}

static size_t take_id(struct node_classes *all)
{
	for (size_t id = 0; all->live < all->n && id < all->n; id++)
		if (!all->by_id[id])
			return id;
	GROW(all->by_id, all->n, all->cap);
	return all->n++;
}

static void add(struct node_classes *all, struct node_class *c)
{
	size_t id = take_id(all);

	all->by_id[id] = c;
	all->live++;
	c->id = (int)id;
	c->serial = ++all->last_serial;
	c->bit = UINT64_C(1) << (id & 63);
	c->taints_json = taints_json(c);
	HASH_ADD_KEYPTR(hh, all->by_key, c->key, strlen(c->key), c);
}

struct node_class *node_class_intern(struct node_classes *all, const struct label *labels,
				     size_t n_labels, const struct taint *taints, size_t n_taints)
{
	struct node_class *c = xnew0(struct node_class), *found;

	copy_labels(c, labels, n_labels);
	copy_taints(c, taints, n_taints);
	c->key = content_key(c);
	HASH_FIND_STR(all->by_key, c->key, found);
	if (found) {
		class_destroy(c);
		c = found;
	} else {
		add(all, c);
	}
	c->refs++;
	return c;
}

void node_class_unref(struct node_classes *all, struct node_class *c)
{
	if (!c || --c->refs)
		return;
	HASH_DEL(all->by_key, c);
	all->by_id[c->id] = NULL;
	all->live--;
	class_destroy(c);
}

void node_classes_finish(struct node_classes *all)
{
	assert(!all->live);
	free(all->by_id);
	*all = (struct node_classes){0};
}

const char *node_class_label(const struct node_class *c, const char *key)
{
	const struct label wanted = {key, NULL};
	const struct label *found;

	found = bsearch(&wanted, c->labels, c->n_labels, sizeof(*c->labels), compare_labels);
	return found ? found->value : NULL;
}
