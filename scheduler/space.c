/*
 * Groups, their trees and the undo log. The search is in space_search.c.
 */
#include "scheduler/space.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "scheduler/saturate.h"
#include "scheduler/space_internal.h"

#define EMPTY_MAX 4096 /* groups that are kept for coming back */

_Static_assert(offsetof(struct shape_group, vectors) ==
		       offsetof(struct shape_group, key) + sizeof(struct group_key),
	       "key and vector are hashed as one");

/* --- order -------------------------------------------------------------------------------- */

static int compare_content(const struct shape_group *a, const struct shape_group *b)
{
	for (uint32_t i = 0; i < a->stride; i++)
		if (a->vectors[i] != b->vectors[i])
			return a->vectors[i] < b->vectors[i] ? -1 : 1;
	if (a->key.cls != b->key.cls)
		return strcmp(a->key.cls->key, b->key.cls->key);
	return port_set_compare(a->key.ports, b->key.ports);
}

bool group_before(const struct shape_group *a, const struct shape_group *b)
{
	if (a->extended != b->extended)
		return a->extended < b->extended;
	if (a->leftover != b->leftover)
		return a->leftover < b->leftover;
	return compare_content(a, b) < 0;
}

static inline bool node_before(const struct treap_node *a, const struct treap_node *b)
{
	return group_before(group_of((struct treap_node *)(uintptr_t)a),
			    group_of((struct treap_node *)(uintptr_t)b));
}

static inline void raise_by_child(struct shape_group *g, struct treap_node *child)
{
	struct shape_group *c;
	int64_t *max = group_max(g);
	const int64_t *other;

	if (!child)
		return;
	c = group_of(child);
	other = group_max(c);
	for (uint32_t i = 0; i < g->stride; i++)
		max[i] = max[i] > other[i] ? max[i] : other[i];
	for (int i = 0; i < BALANCES; i++)
		if (g->balance_below[i] < c->balance_below[i])
			g->balance_below[i] = c->balance_below[i];
	g->below |= c->below;
}

static inline void summarize(struct treap_node *n)
{
	struct shape_group *g = group_of(n);

	memcpy(group_max(g), g->vectors, g->stride * sizeof(*g->vectors));
	memcpy(g->balance_below, g->balance, sizeof(g->balance));
	g->below = g->key.cls->bit;
	raise_by_child(g, n->left);
	raise_by_child(g, n->right);
}

DEFINE_TREAP(group_tree, node_before, summarize)

static inline bool seat_before(const struct treap_node *a, const struct treap_node *b)
{
	const struct seat *x = seat_of((struct treap_node *)(uintptr_t)a);
	const struct seat *y = seat_of((struct treap_node *)(uintptr_t)b);

	return *x->rank < *y->rank;
}

static inline void no_summary(struct treap_node *n)
{
}

DEFINE_TREAP(seat_tree, seat_before, no_summary)

/* --- groups ------------------------------------------------------------------------------- */

static size_t key_size(const struct space *s)
{
	return sizeof(struct group_key) + s->stride * sizeof(int64_t);
}

static struct shape_group *group_alloc(const struct space *s)
{
	struct shape_group *g = xcalloc(1, sizeof(*g) + 2 * s->stride * sizeof(int64_t));

	g->stride = s->stride;
	return g;
}

static void set_order(const struct space *s, struct shape_group *g)
{
	for (uint32_t i = 0; i < s->stride && i < s->model->slots.n; i++)
		if (s->model->slots.items[i]->extended)
			g->extended += g->vectors[i];
	g->leftover = g->vectors[SLOT_CPU] + (g->vectors[SLOT_MEMORY] >> 22);
	balance_set(g->balance, g->vectors[SLOT_CPU], g->vectors[SLOT_MEMORY]);
}

/* The group with the content of s->probe. */
static struct shape_group *find_or_make(struct space *s)
{
	size_t size = key_size(s);
	struct shape_group *g;
	unsigned hash;

	HASH_VALUE(&s->probe->key, size, hash);
	HASH_FIND_BYHASHVALUE(hh, s->groups, &s->probe->key, size, hash, g);
	if (g)
		return g;
	g = group_alloc(s);
	memcpy(&g->key, &s->probe->key, size);
	g->link.priority = XXH3_64bits_withSeed(&g->key, size, map_seed());
	g->key.cls->refs++;
	port_set_ref(g->key.ports);
	set_order(s, g);
	HASH_ADD_KEYPTR_BYHASHVALUE(hh, s->groups, &g->key, size, hash, g);
	s->n_empty++;
	return g;
}

struct shape_group *space_group(struct space *s, struct node_class *cls, struct port_set *ports,
				const int64_t *amounts, size_t n)
{
	int64_t *to = s->probe->vectors;

	assert(n <= s->stride);
	s->probe->key = (struct group_key){cls, ports};
	memset(to, 0, s->stride * sizeof(*to));
	memcpy(to, amounts, n * sizeof(*to));
	return find_or_make(s);
}

static void group_free_all(struct space *s, struct shape_group *g)
{
	HASH_DEL(s->groups, g);
	port_set_unref(&s->model->port_sets, g->key.ports);
	node_class_unref(&s->model->classes, g->key.cls);
	free(g);
}

/* --- trees -------------------------------------------------------------------------------- */

static uint64_t kinds_of(const struct space *s, const struct shape_group *g)
{
	uint64_t kinds = 0;

	for (uint32_t i = SLOTS_FIXED; i < s->stride && i < s->model->slots.n; i++)
		if (g->vectors[i] > 0 && s->model->slots.items[i]->extended)
			kinds |= UINT64_C(1) << (i & 63);
	return kinds;
}

static struct space_tree *tree_for(struct space *s, uint64_t kinds)
{
	for (size_t i = 0; i < s->n_trees; i++)
		if (s->trees[i]->kinds == kinds)
			return s->trees[i];
	GROW(s->trees, s->n_trees, s->cap_trees);
	s->trees[s->n_trees] = xnew0(struct space_tree);
	s->trees[s->n_trees]->kinds = kinds;
	return s->trees[s->n_trees++];
}

static void tree_destroy(struct space_tree *t)
{
	free(t->cursors);
	free(t);
}

static void plant(struct space *s, struct shape_group *g)
{
	struct space_tree *t = tree_for(s, kinds_of(s, g));

	g->tree = t;
	t->root = group_tree_insert(t->root, &g->link);
	t->recent[t->insertions++ % SPACE_RECENT] = g;
	s->n_empty--;
}

static void uproot(struct space *s, struct shape_group *g)
{
	g->tree->root = group_tree_remove(g->tree->root, &g->link);
	g->tree = NULL;
	s->n_empty++;
}

/* Everything that counts nodes but the totals. */
static void change_count(struct space *s, struct shape_group *g, int64_t n)
{
	g->count += n;
	assert(g->count >= 0);
	if (g->count && !g->tree)
		plant(s, g);
	else if (!g->count && g->tree)
		uproot(s, g);
}

static void forget_recent(struct space *s, const struct shape_group *g)
{
	for (size_t i = 0; i < s->n_trees; i++)
		for (size_t k = 0; k < SPACE_RECENT; k++)
			if (s->trees[i]->recent[k] == g)
				s->trees[i]->recent[k] = NULL;
}

static void sweep(struct space *s)
{
	struct shape_group *g, *next;

	if (s->n_empty <= EMPTY_MAX)
		return;
	HASH_ITER (hh, s->groups, g, next) {
		if (g->count || g->pins)
			continue;
		forget_recent(s, g);
		group_free_all(s, g);
		s->n_empty--;
	}
}

/* --- life --------------------------------------------------------------------------------- */

void space_init(struct space *s, struct model *m, bool seated)
{
	*s = (struct space){.model = m, .id = m->spaces++, .seated = seated};
	s->stride = (uint32_t)slots_stride(m->slots.n);
	s->probe = group_alloc(s);
	s->total = xcalloc(s->stride, sizeof(*s->total));
}

void space_finish(struct space *s)
{
	struct shape_group *g, *next;

	space_cut(s);
	HASH_ITER (hh, s->groups, g, next) {
		assert(!g->seats);
		group_free_all(s, g);
	}
	for (size_t i = 0; i < s->n_trees; i++)
		tree_destroy(s->trees[i]);
	free(s->trees);
	free(s->log);
	free(s->total);
	free(s->probe);
	*s = (struct space){0};
}

/* --- events ------------------------------------------------------------------------------- */

static void add_total(struct space *s, const struct shape_group *g, int64_t n)
{
	for (uint32_t i = 0; i < s->stride; i++)
		s->total[i] = wrapping_add_mul(s->total[i], n, g->vectors[i]);
	s->nodes += n;
}

void space_add(struct space *s, struct shape_group *g, int64_t n)
{
	assert(!s->n_log && !s->seated);
	add_total(s, g, n);
	change_count(s, g, n);
	sweep(s);
}

void space_seat(struct space *s, struct seat *seat, struct shape_group *g)
{
	assert(!s->n_log && s->seated && !seat->group);
	add_total(s, g, 1);
	change_count(s, g, 1);
	seat->group = g;
	g->seats = seat_tree_insert(g->seats, &seat->link);
}

void space_unseat(struct space *s, struct seat *seat)
{
	struct shape_group *g = seat->group;

	assert(!s->n_log && s->seated);
	if (!g)
		return;
	g->seats = seat_tree_remove(g->seats, &seat->link);
	seat->group = NULL;
	add_total(s, g, -1);
	change_count(s, g, -1);
	sweep(s);
}

/* From a space that is being rebuilt wider. */
static void transplant(struct space *s, struct shape_group *g)
{
	struct shape_group *to = space_group(s, g->key.cls, g->key.ports, g->vectors, g->stride);

	while (g->seats) {
		struct seat *seat = seat_of(g->seats);

		g->seats = seat_tree_remove(g->seats, &seat->link);
		to->seats = seat_tree_insert(to->seats, &seat->link);
		seat->group = to;
	}
	change_count(s, to, g->count);
}

static void widen_vectors(struct space *s, size_t n_slots)
{
	uint32_t before = s->stride;

	s->stride = (uint32_t)slots_stride(n_slots);
	s->total = xrealloc(s->total, s->stride, sizeof(*s->total));
	memset(s->total + before, 0, (s->stride - before) * sizeof(*s->total));
	free(s->probe);
	s->probe = group_alloc(s);
}

void space_widen(struct space *s, size_t n_slots)
{
	struct space old = *s;
	struct shape_group *g, *next;

	assert(!s->n_log);
	if (n_slots <= s->stride)
		return;
	widen_vectors(s, n_slots);
	s->groups = NULL;
	s->trees = NULL;
	s->n_trees = s->cap_trees = s->n_empty = 0;
	s->growth++;
	HASH_ITER (hh, old.groups, g, next) {
		transplant(s, g);
		group_free_all(&old, g);
	}
	for (size_t i = 0; i < old.n_trees; i++)
		tree_destroy(old.trees[i]);
	free(old.trees);
}

/* --- decisions ---------------------------------------------------------------------------- */

/* The group of a node of g once the pods are on it. */
static struct shape_group *group_after(struct space *s, const struct shape_group *g, int64_t pods,
				       const struct spec *spec)
{
	struct port_set *ports = NULL;
	struct shape_group *to;

	memcpy(&s->probe->key, &g->key, key_size(s));
	for (size_t i = 0; i < spec->demand.n; i++)
		s->probe->vectors[spec->demand.items[i].slot] -=
			pods * spec->demand.items[i].amount;
	if (spec->ports) {
		ports = port_set_union(&s->model->port_sets, g->key.ports, spec->ports);
		s->probe->key.ports = ports;
	}
	to = find_or_make(s);
	port_set_unref(&s->model->port_sets, ports);
	return to;
}

static void change_total(struct space *s, const struct spec *spec, int64_t pods)
{
	for (size_t i = 0; i < spec->demand.n; i++) {
		int64_t *total = &s->total[spec->demand.items[i].slot];

		*total = wrapping_add_mul(*total, -pods, spec->demand.items[i].amount);
	}
}

static void shift(struct space *s, struct shape_group *from, struct shape_group *to, int64_t n,
		  struct seat *seat)
{
	if (from == to)
		return;
	if (seat) {
		from->seats = seat_tree_remove(from->seats, &seat->link);
		to->seats = seat_tree_insert(to->seats, &seat->link);
		seat->group = to;
	}
	change_count(s, from, -n);
	change_count(s, to, n);
}

static void record(struct space *s, struct move m)
{
	GROW(s->log, s->n_log, s->cap_log);
	s->log[s->n_log++] = m;
	m.from->pins++;
	m.to->pins++;
}

void space_take(struct space *s, struct shape_group *g, struct seat *seat, int64_t n, int64_t pods,
		struct spec *spec, int32_t part)
{
	struct shape_group *to = group_after(s, g, pods, spec);

	assert(n > 0 && n <= g->count && (!seat || n == 1));
	change_total(s, spec, n * pods);
	if (!s->seated) {
		record(s, (struct move){g, to, NULL, n, pods, spec, part});
		shift(s, g, to, n, NULL);
		return;
	}
	for (; n > 0; n--) {
		struct seat *one = seat ? seat : seat_of(treap_first(g->seats));

		record(s, (struct move){g, to, one, 1, pods, spec, part});
		shift(s, g, to, 1, one);
	}
}

void space_rollback(struct space *s, size_t mark)
{
	while (s->n_log > mark) {
		struct move *m = &s->log[--s->n_log];

		shift(s, m->to, m->from, m->n, m->seat);
		change_total(s, m->spec, -m->n * m->pods);
		m->from->pins--;
		m->to->pins--;
	}
}

void space_cut(struct space *s)
{
	for (size_t i = 0; i < s->n_log; i++) {
		s->log[i].from->pins--;
		s->log[i].to->pins--;
	}
	s->n_log = 0;
	sweep(s);
}
