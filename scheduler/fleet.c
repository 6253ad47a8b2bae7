/*
 * Clusters of a fleet and what they report. Jobs are in fleet_jobs.c, decisions in fleet_decide.c.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "scheduler/fleet_internal.h"
#include "scheduler/saturate.h"

struct fleet *fleet_create(void)
{
	struct fleet *f = xnew0(struct fleet);

	model_init(&f->model);
	f->version = 1;
	return f;
}

static void event(struct fleet *f)
{
	assert(!f->session.open);
	f->version++;
}

uint64_t fleet_version(const struct fleet *f)
{
	return f->version;
}

/* --- clusters ----------------------------------------------------------------------------- */

struct fleet_cluster *fleet_need_cluster(struct fleet *f, const char *name)
{
	struct fleet_cluster *c;

	HASH_FIND_STR(f->clusters, name, c);
	if (c)
		return c;
	c = xnew0(struct fleet_cluster);
	c->name = xstrdup(name);
	space_init(&c->free, &f->model, false);
	space_init(&c->capacity, &f->model, false);
	HASH_ADD_KEYPTR(hh, f->clusters, c->name, strlen(c->name), c);
	return c;
}

static size_t order_place(const struct fleet *f, const char *name)
{
	size_t low = 0, high = f->n_order;

	while (low < high) {
		size_t mid = (low + high) / 2;

		if (strcmp(f->order[mid]->name, name) < 0)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

/* Puts the cluster into the order, or takes it out. */
static void set_considered(struct fleet *f, struct fleet_cluster *c, bool considered)
{
	size_t at = order_place(f, c->name);
	bool there = at < f->n_order && f->order[at] == c;

	if (considered == there)
		return;
	if (there) {
		memmove(f->order + at, f->order + at + 1,
			(f->n_order - at - 1) * sizeof(*f->order));
		f->n_order--;
		return;
	}
	GROW(f->order, f->n_order, f->cap_order);
	memmove(f->order + at + 1, f->order + at, (f->n_order - at) * sizeof(*f->order));
	f->order[at] = c;
	f->n_order++;
}

static void copy_labels(struct fleet_cluster *c, const struct meta *m)
{
	c->labels = arena_array(&c->arena, struct label, m->n_labels + 1);
	c->n_labels = m->n_labels;
	for (size_t i = 0; i < m->n_labels; i++)
		c->labels[i] = (struct label){arena_strdup(&c->arena, m->labels[i].key),
					      arena_strdup(&c->arena, m->labels[i].value)};
}

/* A cordon is a filter of its own: no job tolerates it. */
static void copy_taints(struct fleet_cluster *c, const json_t *list)
{
	struct taint *all;
	size_t n;

	taints_copy(&c->arena, list, &all, &n);
	c->taints = all;
	c->n_taints = 0;
	for (size_t i = 0; i < n; i++)
		if (strcmp(all[i].key, CLUSTER_CORDON_TAINT) != 0)
			c->taints[c->n_taints++] = all[i];
}

static void copy_namespaces(struct fleet_cluster *c, const json_t *list)
{
	size_t i;
	json_t *ns;

	c->any_namespace = !list;
	c->namespaces = arena_array(&c->arena, const char *, json_array_size(list) + 1);
	c->n_namespaces = 0;
	json_array_foreach (list, i, ns)
		if (json_is_string(ns))
			c->namespaces[c->n_namespaces++] =
				arena_strdup(&c->arena, json_string_value(ns));
}

/* --- shapes ------------------------------------------------------------------------------- */

static void intern_slots(struct fleet *f, const struct shape *shapes, size_t n)
{
	for (size_t i = 0; i < n; i++)
		for (size_t k = 0; k < shapes[i].amounts.n; k++)
			slots_intern(&f->model.slots, shapes[i].amounts.items[k].name);
}

static struct shape_group *shape_to_group(struct fleet *f, struct space *s,
					  const struct shape *shape)
{
	auto_xfree int64_t *amounts = xcalloc(s->stride, sizeof(*amounts));
	struct arena scratch = {0};
	struct taint *taints;
	struct node_class *cls;
	struct shape_group *g;
	size_t n_taints;

	taints_parse(&scratch, shape->taints, &taints, &n_taints);
	cls = node_class_intern(&f->model.classes, shape->labels, shape->n_labels, taints,
				n_taints);
	for (size_t i = 0; i < shape->amounts.n; i++) {
		int slot = slots_find(&f->model.slots, shape->amounts.items[i].name);

		if (slot != SLOT_NONE && shape->amounts.items[i].amount > 0)
			amounts[slot] = shape->amounts.items[i].amount < AMOUNT_MAX
						? shape->amounts.items[i].amount
						: AMOUNT_MAX;
	}
	g = space_group(s, cls, NULL, amounts, s->stride);
	node_class_unref(&f->model.classes, cls);
	arena_finish(&scratch);
	return g;
}

static void clear_groups(struct space *s)
{
	auto_xfree struct shape_group **groups = NULL;
	size_t n;

	groups = space_groups(s, &n);
	for (size_t i = 0; i < n; i++)
		space_add(s, groups[i], -groups[i]->count);
}

/* Counts replace those that are there; equal shapes in one full list add up. True when the room is
 * another than before. */
static bool apply_shapes(struct fleet *f, struct space *s, bool full, const struct shape *shapes,
			 size_t n)
{
	uint64_t before;
	bool changed = false;

	intern_slots(f, shapes, n);
	space_widen(s, f->model.slots.n);
	before = full ? space_checksum(s) : 0;
	if (full)
		clear_groups(s);
	for (size_t i = 0; i < n; i++) {
		struct shape_group *g = shape_to_group(f, s, &shapes[i]);
		int64_t count = shapes[i].count > 0 ? shapes[i].count : 0;

		if (count > COUNT_MAX)
			count = COUNT_MAX;
		changed |= count != g->count;
		space_add(s, g, full ? count : count - g->count);
	}
	s->growth++;
	return full ? space_checksum(s) != before : changed;
}

/* A Cluster's status is written again with its heartbeat: what did not change is not news. */
static void apply_capacity(struct fleet *f, struct fleet_cluster *c, const struct cluster *from)
{
	uint64_t growth = c->capacity.growth;

	if (!apply_shapes(f, &c->capacity, true, from->capacity, from->n_capacity))
		c->capacity.growth = growth;
}

void fleet_cluster_set(struct fleet *f, const struct cluster *from)
{
	struct fleet_cluster *c = fleet_need_cluster(f, from->meta.name);

	event(f);
	arena_finish(&c->arena);
	copy_labels(c, &from->meta);
	copy_taints(c, from->taints);
	copy_namespaces(c, json_at(from->tree, "spec", "namespaces", NULL));
	c->known = true;
	c->accepted = from->accepted;
	c->ready = from->ready;
	c->cordoned = from->cordoned;
	c->has_capacity = from->reported;
	if (from->reported)
		apply_capacity(f, c, from);
	set_considered(f, c, from->accepted);
}

bool fleet_report(struct fleet *f, const char *cluster, int64_t capacity_seq, bool full,
		  const struct shape *shapes, size_t n)
{
	struct fleet_cluster *c = fleet_need_cluster(f, cluster);

	event(f);
	if (capacity_seq < c->capacity_seq || (!full && !c->has_free))
		return false;
	space_rollback(&c->free, 0);
	/* What an earlier leader held is not known: the first report is other room. */
	if (apply_shapes(f, &c->free, full, shapes, n) || !c->has_free)
		c->room_seq = capacity_seq;
	c->has_free = true;
	c->capacity_seq = capacity_seq;
	debits_expire(f, c);
	debits_replay(f, c, 0);
	return true;
}

static void drop_free(struct fleet_cluster *c)
{
	space_rollback(&c->free, 0);
	clear_groups(&c->free);
	c->has_free = false;
}

static void cluster_destroy_all(struct fleet *f, struct fleet_cluster *c)
{
	HASH_DEL(f->clusters, c);
	space_rollback(&c->free, 0);
	debits_finish(f, c);
	space_finish(&c->free);
	space_finish(&c->capacity);
	arena_finish(&c->arena);
	free(c->name);
	free(c);
}

/* Its attempts may still be open, so the record stays; what it had is forgotten. */
void fleet_cluster_remove(struct fleet *f, const char *name)
{
	struct fleet_cluster *c;

	event(f);
	HASH_FIND_STR(f->clusters, name, c);
	if (!c)
		return;
	set_considered(f, c, false);
	drop_free(c);
	clear_groups(&c->capacity);
	debits_replay(f, c, 0);
	c->known = c->accepted = c->has_capacity = false;
	c->capacity_seq = c->room_seq = 0;
}

/* --- queues ------------------------------------------------------------------------------- */

void fleet_queue_set(struct fleet *f, const struct queue *q)
{
	assert(!f->session.open);
	if (quota_set(&f->quotas, q)) /* its status is written often, and is no news */
		f->version++;
}

void fleet_queue_remove(struct fleet *f, const char *name)
{
	event(f);
	quota_remove(&f->quotas, name);
}

/* --- the end, and reading ----------------------------------------------------------------- */

void fleet_destroy(struct fleet *f)
{
	struct fleet_cluster *c, *next;

	if (!f)
		return;
	fleet_jobs_finish(f);
	fleet_datasets_finish(f);
	HASH_ITER (hh, f->clusters, c, next)
		cluster_destroy_all(f, c);
	quotas_finish(&f->quotas);
	fleet_resume_finish(f);
	arena_finish(&f->session.arena);
	model_finish(&f->model);
	free(f->order);
	free(f);
}

uint64_t fleet_checksum(const struct fleet *f)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < f->n_order; i++)
		sum = sum * 31 + space_checksum(&f->order[i]->free) +
		      3 * space_checksum(&f->order[i]->capacity);
	return sum;
}

const char *fleet_fault(const struct fleet *f)
{
	const char *fault = NULL;

	for (size_t i = 0; i < f->n_order && !fault; i++) {
		fault = space_fault(&f->order[i]->free);
		if (!fault)
			fault = space_fault(&f->order[i]->capacity);
	}
	return fault;
}
