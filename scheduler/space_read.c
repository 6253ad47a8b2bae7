/*
 * Reading a space: its groups in order, its checksum, its invariants.
 */
#include <stdlib.h>
#include <string.h>

#include "scheduler/saturate.h"
#include "scheduler/space_internal.h"

static int compare_groups(const void *a, const void *b)
{
	const struct shape_group *const *x = a, *const *y = b;

	return group_before(*y, *x) - group_before(*x, *y);
}

struct shape_group **space_groups(const struct space *s, size_t *ret_n)
{
	struct shape_group **list = xcalloc(HASH_COUNT(s->groups), sizeof(struct shape_group *));
	struct shape_group *g, *next;
	size_t n = 0;

	HASH_ITER (hh, s->groups, g, next)
		if (g->count)
			list[n++] = g;
	qsort(list, n, sizeof(struct shape_group *), compare_groups);
	*ret_n = n;
	return list;
}

static void hash_seats(const struct treap_node *t, XXH3_state_t *x)
{
	if (!t)
		return;
	hash_seats(t->left, x);
	XXH3_64bits_update(x, &t->priority, sizeof(t->priority));
	hash_seats(t->right, x);
}

static uint64_t group_checksum(const struct shape_group *g, XXH3_state_t *x)
{
	XXH3_64bits_reset(x);
	XXH3_64bits_update(x, g->key.cls->key, strlen(g->key.cls->key) + 1);
	if (g->key.ports)
		XXH3_64bits_update(x, g->key.ports->ports, g->key.ports->n * sizeof(int32_t));
	XXH3_64bits_update(x, g->vectors, g->stride * sizeof(int64_t));
	XXH3_64bits_update(x, &g->count, sizeof(g->count));
	hash_seats(g->seats, x);
	return XXH3_64bits_digest(x);
}

uint64_t space_checksum(const struct space *s)
{
	XXH3_state_t *x = XXH3_createState();
	uint64_t sum = XXH3_64bits(s->total, s->stride * sizeof(*s->total));
	struct shape_group *g, *next;

	HASH_ITER (hh, s->groups, g, next)
		if (g->count)
			sum += group_checksum(g, x);
	XXH3_freeState(x);
	return sum + (uint64_t)s->nodes;
}

/* --- invariants --------------------------------------------------------------------------- */

struct audit {
	const struct space *space;
	int64_t *total;
	int64_t nodes, groups;
	const struct shape_group *last;
	const char *fault;
};

static int64_t count_seats(const struct treap_node *t, const struct shape_group *g)
{
	const struct seat *s;

	if (!t)
		return 0;
	s = seat_of((struct treap_node *)(uintptr_t)t);
	if (s->group != g)
		return INT32_MIN;
	return 1 + count_seats(t->left, g) + count_seats(t->right, g);
}

static void audit_group(struct audit *a, struct shape_group *g)
{
	if (g->count <= 0)
		a->fault = "an empty group stands in a tree";
	if (a->last && !group_before(a->last, g))
		a->fault = "groups are out of order";
	if (a->space->seated && count_seats(g->seats, g) != g->count)
		a->fault = "count and nodes of a group differ";
	for (uint32_t i = 0; i < g->stride; i++) {
		if (g->vectors[i] < 0)
			a->fault = "a free amount is negative";
		a->total[i] = wrapping_add_mul(a->total[i], g->count, g->vectors[i]);
	}
	a->last = g;
	a->nodes += g->count;
	a->groups++;
}

/* Returns whether the summary of t is at least that of its child. */
static bool covers(struct treap_node *t, struct treap_node *child)
{
	struct shape_group *g = group_of(t), *c;

	if (!child)
		return true;
	c = group_of(child);
	for (uint32_t i = 0; i < g->stride; i++)
		if (group_max(g)[i] < group_max(c)[i])
			return false;
	for (int i = 0; i < BALANCES; i++)
		if (g->balance_below[i] < c->balance_below[i])
			return false;
	return !(c->below & ~g->below) && child->priority <= t->priority;
}

static void audit_tree(struct audit *a, struct treap_node *t)
{
	if (!t)
		return;
	if (!covers(t, t->left) || !covers(t, t->right))
		a->fault = "a summary does not cover what is below";
	audit_tree(a, t->left);
	audit_group(a, group_of(t));
	audit_tree(a, t->right);
}

const char *space_fault(const struct space *s)
{
	auto_xfree int64_t *total = xcalloc(s->stride, sizeof(*total));
	struct audit a = {.space = s, .total = total};
	struct shape_group *g, *next;

	for (size_t i = 0; i < s->n_trees; i++) {
		a.last = NULL;
		audit_tree(&a, s->trees[i]->root);
	}
	HASH_ITER (hh, s->groups, g, next)
		a.groups -= g->count != 0;
	if (a.groups)
		a.fault = "a group with a count stands in no tree";
	if (a.nodes != s->nodes || memcmp(total, s->total, s->stride * sizeof(*total)) != 0)
		a.fault = "the totals are not the sums";
	return a.fault;
}
