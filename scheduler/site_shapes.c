/*
 * What the hub is told: shapes of empty nodes and of what is free.
 */
#include <stdlib.h>
#include <string.h>

#include "scheduler/site_internal.h"

/* Groups that differ in used ports only are one row: the hub is not told of ports. */
struct shape_row {
	struct node_class *cls;
	const int64_t *amounts;
	uint32_t stride;
	int64_t count;
};

/* The last report, to tell what changed since. Holds its classes; amounts are in the arena. */
struct shape_report {
	struct arena arena;
	struct shape_row *rows; /* sorted */
	size_t n;
};

static int64_t amount_at(const struct shape_row *r, uint32_t i)
{
	return i < r->stride ? r->amounts[i] : 0;
}

static int compare_rows(const void *a, const void *b)
{
	const struct shape_row *x = a, *y = b;

	for (uint32_t i = 0; i < x->stride || i < y->stride; i++)
		if (amount_at(x, i) != amount_at(y, i))
			return amount_at(x, i) < amount_at(y, i) ? -1 : 1;
	return x->cls == y->cls ? 0 : strcmp(x->cls->key, y->cls->key);
}

/* Adds up rows that are equal; returns how many are left. */
static size_t merge_rows(struct shape_row *rows, size_t n)
{
	size_t kept = 0;

	qsort(rows, n, sizeof(*rows), compare_rows);
	for (size_t i = 0; i < n; i++) {
		if (kept && !compare_rows(&rows[kept - 1], &rows[i]))
			rows[kept - 1].count += rows[i].count;
		else
			rows[kept++] = rows[i];
	}
	return kept;
}

/* To a ladder of 2^bits steps per doubling. */
static int64_t round_amount(int64_t v, int bits, bool up)
{
	int length = 64 - __builtin_clzll((unsigned long long)v | 1);
	int drop = length - 1 - bits;
	int64_t low;

	if (drop <= 0)
		return v;
	low = v >> drop << drop;
	return up && low < v && low <= INT64_MAX - (INT64_C(1) << drop) ? low + (INT64_C(1) << drop)
									: low;
}

static void round_row(struct arena *a, struct shape_row *r, int bits, bool up)
{
	int64_t *rounded = arena_array(a, int64_t, r->stride);

	for (uint32_t i = 0; i < r->stride; i++)
		rounded[i] = round_amount(r->amounts[i], bits, up);
	r->amounts = rounded;
}

static struct shape_row *read_rows(const struct space *s, struct arena *a, size_t *ret_n)
{
	auto_xfree struct shape_group **groups = space_groups(s, ret_n);
	struct shape_row *rows = arena_array(a, struct shape_row, *ret_n + 1);

	for (size_t i = 0; i < *ret_n; i++)
		rows[i] = (struct shape_row){groups[i]->key.cls, group_free(groups[i]), s->stride,
					     groups[i]->count};
	*ret_n = merge_rows(rows, *ret_n);
	return rows;
}

/* Coarser and coarser until there are few enough, or no coarser; returns how many are left. */
static size_t round_rows(struct arena *a, struct shape_row *rows, size_t n, bool up)
{
	for (int bits = 4; n > SITE_SHAPES_MAX && bits >= 0; bits--) {
		for (size_t i = 0; i < n; i++)
			round_row(a, &rows[i], bits, up);
		n = merge_rows(rows, n);
	}
	return n;
}

static int compare_resources(const void *a, const void *b)
{
	const struct resource *x = a, *y = b;

	return strcmp(x->name, y->name);
}

static void add_shape(const struct site *s, struct arena *a, const struct shape_row *r,
		      int64_t count, struct site_shapes *to)
{
	struct shape *shape = &to->items[to->n++];

	*shape = (struct shape){.labels = r->cls->labels,
				.n_labels = r->cls->n_labels,
				.taints = r->cls->taints_json,
				.count = count};
	shape->amounts.items = arena_array(a, struct resource, r->stride + 1);
	for (uint32_t i = 0; i < r->stride; i++)
		if (r->amounts[i])
			shape->amounts.items[shape->amounts.n++] =
				(struct resource){s->model.slots.items[i]->name, r->amounts[i]};
	qsort(shape->amounts.items, shape->amounts.n, sizeof(struct resource), compare_resources);
}

void site_capacity(struct site *s, struct arena *a, struct site_shapes *ret)
{
	struct shape_row *rows;
	size_t n;

	site_settle(s);
	rows = read_rows(&s->capacity, a, &n);
	*ret = (struct site_shapes){.full = true, .rounded = n > SITE_SHAPES_MAX};
	n = round_rows(a, rows, n, true);
	ret->items = arena_array(a, struct shape, n + 1);
	for (size_t i = 0; i < n; i++)
		add_shape(s, a, &rows[i], rows[i].count, ret);
}

/* --- free shapes -------------------------------------------------------------------------- */

void site_report_forget(struct site *s)
{
	struct shape_report *r = s->report;

	if (!r)
		return;
	for (size_t i = 0; i < r->n; i++)
		node_class_unref(&s->model.classes, r->rows[i].cls);
	arena_finish(&r->arena);
	free(r);
	s->report = NULL;
}

static struct shape_report *report_create(struct site *s, bool *ret_rounded)
{
	struct shape_report *r = xnew0(struct shape_report);

	r->rows = read_rows(&s->free, &r->arena, &r->n);
	*ret_rounded = r->n > SITE_SHAPES_MAX;
	r->n = round_rows(&r->arena, r->rows, r->n, false);
	for (size_t i = 0; i < r->n; i++) {
		int64_t *own = arena_array(&r->arena, int64_t, r->rows[i].stride);

		memcpy(own, r->rows[i].amounts, r->rows[i].stride * sizeof(*own));
		r->rows[i].amounts = own;
		r->rows[i].cls->refs++;
	}
	return r;
}

static void add_changes(const struct site *s, struct arena *a, const struct shape_report *old,
			const struct shape_report *new, struct site_shapes *ret)
{
	size_t i = 0, k = 0;

	while (i < old->n || k < new->n) {
		int order = i == old->n   ? 1
			    : k == new->n ? -1
					  : compare_rows(&old->rows[i], &new->rows[k]);

		if (order < 0)
			add_shape(s, a, &old->rows[i], 0, ret);
		else if (order > 0 || old->rows[i].count != new->rows[k].count)
			add_shape(s, a, &new->rows[k], new->rows[k].count, ret);
		i += order <= 0;
		k += order >= 0;
	}
}

void site_report(struct site *s, bool full, struct arena *a, struct site_shapes *ret)
{
	static const struct shape_report nothing = {0};
	const struct shape_report *old;
	struct shape_report *new;

	site_settle(s);
	*ret = (struct site_shapes){.full = full || !s->report};
	new = report_create(s, &ret->rounded);
	old = ret->full ? &nothing : s->report;
	ret->items = arena_array(a, struct shape, old->n + new->n + 1);
	add_changes(s, a, old, new, ret);
	site_report_forget(s);
	s->report = new;
}
