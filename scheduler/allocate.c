#include "scheduler/allocate.h"

#include <stdlib.h>

/* Places up to n pods; fills a node before the next, which is what one by one comes to. */
static int64_t place(struct space *s, struct spec *spec, int64_t n, int32_t part)
{
	int64_t left = n;

	spec_refresh(s->model, spec);
	while (left > 0) {
		struct seat *seat = NULL;
		struct shape_group *g = space_find(s, spec, &seat);
		int64_t each, nodes;

		if (!g)
			break;
		each = demand_count(&spec->demand, group_free(g), g->stride, left);
		if (spec->ports)
			each = 1;
		nodes = seat ? 1 : left / each;
		if (nodes > g->count)
			nodes = g->count;
		space_take(s, g, seat, nodes, each, spec, part);
		left -= nodes * each;
	}
	return n - left;
}

static bool place_all(struct space *s, const struct form_variant *v, size_t n_tasks,
		      const int32_t *order)
{
	size_t mark = space_mark(s);

	for (size_t i = 0; i < n_tasks; i++) {
		const struct form_part *p = &v->parts[order[i]];

		if (place(s, p->spec, p->replicas, order[i]) < p->replicas) {
			space_rollback(s, mark);
			return false;
		}
	}
	return true;
}

/* --- the second try: the pickiest task first ---------------------------------------------- */

struct picky {
	int64_t nodes; /* that admit it */
	int32_t task, place;
};

static int compare_picky(const void *a, const void *b)
{
	const struct picky *x = a, *y = b;

	if (x->nodes != y->nodes)
		return x->nodes < y->nodes ? -1 : 1;
	return x->place - y->place;
}

/* By class only: amounts change from try to try. */
static int64_t count_nodes(const struct space *s, const struct spec *spec)
{
	struct shape_group *g, *next;
	int64_t n = 0;

	HASH_ITER (hh, s->groups, g, next)
		if (g->count && spec_admission(spec, g->key.cls) != ADMIT_NO)
			n += g->count;
	return n;
}

static bool place_picky(struct space *s, const struct form_variant *v, size_t n_tasks)
{
	auto_xfree struct picky *list = xcalloc(n_tasks, sizeof(*list));
	auto_xfree int32_t *order = xcalloc(n_tasks, sizeof(*order));

	for (size_t i = 0; i < n_tasks; i++) {
		struct spec *spec = v->parts[v->order[i]].spec;

		spec_refresh(s->model, spec);
		list[i] = (struct picky){count_nodes(s, spec), v->order[i], (int32_t)i};
	}
	qsort(list, n_tasks, sizeof(*list), compare_picky);
	for (size_t i = 0; i < n_tasks; i++)
		order[i] = list[i].task;
	return place_all(s, v, n_tasks, order);
}

bool allocate_gang(struct space *s, const struct form_variant *v, size_t n_tasks)
{
	return place_all(s, v, n_tasks, v->order) || (n_tasks > 1 && place_picky(s, v, n_tasks));
}

int64_t allocate_most(struct space *s, const struct form_variant *v, size_t n_tasks,
		      int64_t *placed)
{
	int64_t pods = 0;

	for (size_t i = 0; i < n_tasks; i++) {
		const struct form_part *p = &v->parts[v->order[i]];
		int64_t n = place(s, p->spec, p->replicas, v->order[i]);

		if (placed)
			placed[v->order[i]] = n;
		pods += n;
	}
	return pods;
}
