/*
 * Nodes: from events to classes and groups. Pods are in site_pods.c, decisions in site_place.c.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "scheduler/saturate.h"
#include "scheduler/site_internal.h"

#define RANK_STEP (UINT64_C(1) << 32)

static const char *node_value(const char *key, void *owner)
{
	const struct site_node *n = owner;

	if (!strcmp(key, FIELD_NODE_NAME))
		return n->name;
	for (size_t i = 0; i < n->n_labels; i++)
		if (!strcmp(n->labels[i].key, key))
			return n->labels[i].value;
	return NULL;
}

struct site *site_create(const char *name)
{
	struct site *s = xnew0(struct site);

	s->name = xstrdup(name);
	model_init(&s->model);
	space_init(&s->free, &s->model, true);
	space_init(&s->capacity, &s->model, true);
	s->free.node_value = s->capacity.node_value = node_value;
	list_init(&s->dirty);
	return s;
}

/* --- order of nodes ----------------------------------------------------------------------- */

/* Where the name stands, or would stand. */
static size_t order_place(const struct site *s, const char *name)
{
	size_t low = 0, high = s->n_order;

	while (low < high) {
		size_t mid = (low + high) / 2;

		if (strcmp(s->order[mid]->name, name) < 0)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

/* Trees are ordered by rank and stay so: new ranks, same order. */
static void spread_ranks(struct site *s)
{
	for (size_t i = 0; i < s->n_order; i++)
		s->order[i]->rank = (i + 1) * RANK_STEP;
}

static void order_add(struct site *s, struct site_node *n)
{
	size_t at = order_place(s, n->name);
	uint64_t before, after;

	GROW(s->order, s->n_order, s->cap_order);
	memmove(s->order + at + 1, s->order + at, (s->n_order - at) * sizeof(*s->order));
	s->order[at] = n;
	s->n_order++;
	before = at ? s->order[at - 1]->rank : 0;
	after = at + 1 < s->n_order ? s->order[at + 1]->rank : before + 2 * RANK_STEP;
	n->rank = before + (after - before) / 2;
	if (after - before < 2)
		spread_ranks(s);
}

static void order_remove(struct site *s, const struct site_node *n)
{
	size_t at = order_place(s, n->name);

	assert(s->order[at] == n);
	memmove(s->order + at, s->order + at + 1, (s->n_order - at - 1) * sizeof(*s->order));
	s->n_order--;
}

/* --- life of a node ----------------------------------------------------------------------- */

struct site_node *site_need_node(struct site *s, const char *name)
{
	struct site_node *n;

	HASH_FIND_STR(s->nodes, name, n);
	if (n)
		return n;
	n = xnew0(struct site_node);
	n->name = xstrdup(name);
	n->free.owner = n->capacity.owner = n;
	n->free.rank = n->capacity.rank = &n->rank;
	n->free.link.priority = n->capacity.link.priority =
		XXH3_64bits_withSeed(name, strlen(name), map_seed());
	list_init(&n->tenants);
	HASH_ADD_KEYPTR(hh, s->nodes, n->name, strlen(n->name), n);
	return n;
}

void site_touch(struct site *s, struct site_node *n)
{
	s->events++;
	if (!n->present || list_linked(&n->dirty_link))
		return;
	list_push_back(&s->dirty, &n->dirty_link);
}

static void leave_spaces(struct site *s, struct site_node *n)
{
	space_unseat(&s->free, &n->free);
	space_unseat(&s->capacity, &n->capacity);
	node_class_unref(&s->model.classes, n->cls);
	n->cls = NULL;
}

/* Forgets what the node's object said. */
static void clear_node(struct site *s, struct site_node *n)
{
	census_count(&s->census, n->labels, n->n_labels, -1);
	s->census_dirty = true;
	free(n->allocatable);
	n->allocatable = NULL;
	n->labels = NULL;
	n->n_labels = n->n_taints = n->n_allocatable = 0;
	arena_finish(&n->arena);
}

void site_drop_if_unused(struct site *s, struct site_node *n)
{
	if (n->present || !list_empty(&n->tenants))
		return;
	HASH_DEL(s->nodes, n);
	free(n->name);
	free(n);
}

void site_node_remove(struct site *s, const char *name)
{
	struct site_node *n;

	HASH_FIND_STR(s->nodes, name, n);
	if (!n || !n->present)
		return;
	list_remove(&n->dirty_link);
	leave_spaces(s, n);
	clear_node(s, n);
	order_remove(s, n);
	n->present = false;
	s->events++;
	site_drop_if_unused(s, n);
}

static void add_taint(struct site_node *n, const char *key)
{
	for (size_t i = 0; i < n->n_taints; i++)
		if (!strcmp(n->taints[i].key, key))
			return;
	n->taints[n->n_taints++] = (struct taint){key, "", "NoSchedule"};
}

/* What the node controller says by taints is believed without them too. */
static void copy_taints(struct site_node *n, const struct node *from)
{
	struct taint *taints;
	size_t count;

	taints_copy(&n->arena, from->taints, &taints, &count);
	n->taints = arena_array(&n->arena, struct taint, count + 2);
	for (size_t i = 0; i < count; i++)
		n->taints[n->n_taints++] = taints[i];
	if (from->unschedulable)
		add_taint(n, TAINT_UNSCHEDULABLE);
	if (!from->ready)
		add_taint(n, TAINT_NOT_READY);
}

static void copy_labels(struct site *s, struct site_node *n, const struct node *from)
{
	n->labels = arena_array(&n->arena, struct label, from->meta.n_labels + 1);
	for (size_t i = 0; i < from->meta.n_labels; i++)
		n->labels[i] = (struct label){arena_strdup(&n->arena, from->meta.labels[i].key),
					      arena_strdup(&n->arena, from->meta.labels[i].value)};
	n->n_labels = from->meta.n_labels;
	census_count(&s->census, n->labels, n->n_labels, 1);
	s->census_dirty = true;
}

static void copy_allocatable(struct site *s, struct site_node *n, const struct resource_list *l)
{
	for (size_t i = 0; i < l->n; i++)
		slots_intern(&s->model.slots, l->items[i].name);
	n->n_allocatable = s->model.slots.n;
	n->allocatable = xcalloc(n->n_allocatable, sizeof(*n->allocatable));
	for (size_t i = 0; i < l->n; i++) {
		int slot = slots_find(&s->model.slots, l->items[i].name);

		if (slot != SLOT_NONE && l->items[i].amount > 0)
			n->allocatable[slot] =
				l->items[i].amount < AMOUNT_MAX ? l->items[i].amount : AMOUNT_MAX;
	}
}

void site_node_set(struct site *s, const struct node *from)
{
	struct site_node *n = site_need_node(s, from->meta.name);

	if (n->present)
		clear_node(s, n);
	copy_labels(s, n, from);
	copy_taints(n, from);
	copy_allocatable(s, n, &from->allocatable);
	if (!n->present)
		order_add(s, n);
	n->present = true;
	node_class_unref(&s->model.classes, n->cls);
	n->cls = NULL;
	site_touch(s, n);
}

/* --- settling ----------------------------------------------------------------------------- */

static void set_class(struct site *s, struct site_node *n)
{
	auto_xfree struct label *labels = xcalloc(n->n_labels, sizeof(*labels));
	struct node_class *before = n->cls;

	for (size_t i = 0; i < n->n_labels; i++)
		labels[i] =
			(struct label){n->labels[i].key, census_value(&s->census, &n->labels[i])};
	n->cls = node_class_intern(&s->model.classes, labels, n->n_labels, n->taints, n->n_taints);
	node_class_unref(&s->model.classes, before);
}

static bool shrinks(const struct shape_group *from, const struct shape_group *to)
{
	if (!from || from->key.cls != to->key.cls ||
	    (from->key.ports && from->key.ports != to->key.ports))
		return false;
	for (uint32_t i = 0; i < to->stride; i++)
		if (to->vectors[i] > from->vectors[i])
			return false;
	return true;
}

static void move_seat(struct space *sp, struct seat *seat, struct shape_group *to)
{
	if (seat->group == to)
		return;
	if (!shrinks(seat->group, to))
		sp->growth++;
	space_unseat(sp, seat);
	space_seat(sp, seat, to);
}

static struct port_set *used_ports(struct site *s, const struct site_node *n)
{
	struct port_set *ports = NULL;
	const struct tenant *t;

	list_for_each (t, &n->tenants, on_node) {
		struct port_set *both = port_set_union(&s->model.port_sets, ports, t->load->ports);

		port_set_unref(&s->model.port_sets, ports);
		ports = both;
	}
	return ports;
}

/* Amounts that are used beyond the allocatable leave 0. */
static void take(int64_t *left, int64_t amount)
{
	*left = *left > amount ? *left - amount : 0;
}

static void subtract_tenants(struct site *s, const struct site_node *n, int64_t *left)
{
	const struct tenant *t;

	list_for_each (t, &n->tenants, on_node) {
		const struct demand *d = load_demand(t->load, &s->model);

		for (size_t i = 0; i < d->n; i++)
			if ((size_t)d->items[i].slot < n->n_allocatable)
				take(&left[d->items[i].slot], d->items[i].amount);
	}
}

static void settle_node(struct site *s, struct site_node *n)
{
	auto_xfree int64_t *left = xcalloc(n->n_allocatable, sizeof(*left));
	struct port_set *ports = used_ports(s, n);

	if (!n->cls)
		set_class(s, n);
	memcpy(left, n->allocatable, n->n_allocatable * sizeof(*left));
	subtract_tenants(s, n, left);
	move_seat(&s->capacity, &n->capacity,
		  space_group(&s->capacity, n->cls, NULL, n->allocatable, n->n_allocatable));
	move_seat(&s->free, &n->free, space_group(&s->free, n->cls, ports, left, n->n_allocatable));
	port_set_unref(&s->model.port_sets, ports);
}

static void settle_nodes(struct site *s)
{
	struct site_node *n, *next;

	list_for_each_safe (n, next, &s->dirty, dirty_link) {
		list_remove(&n->dirty_link);
		settle_node(s, n);
	}
}

static void refer_term(struct site *s, const struct spec_term *t)
{
	for (size_t i = 0; i < t->n; i++)
		if (t->rules[i].selector)
			census_refer(&s->census, t->rules[i].key);
}

/* All of them when there may be new keys, else those that came since. */
static void refer_specs(struct site *s)
{
	for (size_t i = 0; i < s->model.n_specs; i++) {
		const struct spec *spec = s->model.specs_by_id[i];

		if (!spec || (!s->census_dirty && spec->serial <= s->specs_seen))
			continue;
		refer_term(s, &spec->all);
		for (size_t k = 0; k < spec->n_any; k++)
			refer_term(s, &spec->any[k]);
	}
	s->specs_seen = s->model.spec_serial;
}

static void reclass_all(struct site *s)
{
	for (size_t i = 0; i < s->n_order; i++) {
		set_class(s, s->order[i]);
		site_touch(s, s->order[i]);
	}
}

/* Classes of nodes that are there; emptied groups keep others alive for a while. */
static size_t count_classes(const struct site *s)
{
	auto_xfree bool *seen = xcalloc(s->model.classes.n, sizeof(*seen));
	size_t n = 0;

	for (size_t i = 0; i < s->n_order; i++) {
		n += !seen[s->order[i]->cls->id];
		seen[s->order[i]->cls->id] = true;
	}
	return n;
}

static bool too_many_classes(const struct site *s)
{
	return !s->census.strict && s->model.classes.live > CENSUS_CLASSES_MAX &&
	       count_classes(s) > CENSUS_CLASSES_MAX;
}

void site_settle(struct site *s)
{
	space_widen(&s->free, s->model.slots.n);
	space_widen(&s->capacity, s->model.slots.n);
	if (s->census_dirty || s->specs_seen != s->model.spec_serial) {
		refer_specs(s);
		if (census_update(&s->census))
			reclass_all(s);
		s->census_dirty = false;
	}
	settle_nodes(s);
	if (too_many_classes(s)) {
		s->census.strict = true;
		if (census_update(&s->census))
			reclass_all(s);
		settle_nodes(s);
	}
}

/* --- the end ------------------------------------------------------------------------------ */

void site_destroy(struct site *s)
{
	struct site_node *n, *next;

	if (!s)
		return;
	site_pods_finish(s);
	site_report_forget(s);
	HASH_ITER (hh, s->nodes, n, next)
		if (n->present)
			site_node_remove(s, n->name);
	space_finish(&s->free);
	space_finish(&s->capacity);
	quotas_finish(&s->quotas);
	census_finish(&s->census);
	model_finish(&s->model);
	free(s->order);
	free(s->name);
	free(s);
}

uint64_t site_checksum(struct site *s)
{
	site_settle(s);
	return space_checksum(&s->free) ^ (space_checksum(&s->capacity) * 3);
}

static bool node_drifted(struct site *s, struct site_node *n)
{
	struct shape_group *before = n->free.group;

	settle_node(s, n);
	return n->free.group != before;
}

const char *site_fault(struct site *s)
{
	const char *fault;

	site_settle(s);
	for (size_t i = 0; i < s->n_order; i++)
		if (node_drifted(s, s->order[i]))
			return "a node's group is not what stands on it";
	fault = space_fault(&s->free);
	return fault ? fault : space_fault(&s->capacity);
}
