/*
 * Explaining at level 2: the cluster as one place, and a funnel of its nodes.
 */
#include <stdlib.h>
#include <string.h>

#include "scheduler/site_internal.h"

#include "scheduler/explain_internal.h"

/* Asks for something, not a device, that no node has. */
static bool asks_unknown(const struct site *s, const struct spec *spec)
{
	for (size_t i = 0; i < spec->request.n; i++)
		if (spec->request.items[i].amount > 0 &&
		    !resource_is_extended(spec->request.items[i].name) &&
		    slots_find(&s->model.slots, spec->request.items[i].name) == SLOT_NONE)
			return true;
	return false;
}

/* Amounts above 0 that the vector lacks; devices that an empty node lacks are not counted. */
static bool lacks(const struct site *s, const struct spec *spec, const int64_t *empty,
		  const int64_t *room)
{
	for (size_t i = 0; i < spec->demand.n; i++) {
		const struct demand_item *d = &spec->demand.items[i];

		if (s->model.slots.items[d->slot]->extended && !empty[d->slot])
			continue;
		if (room[d->slot] < d->amount)
			return true;
	}
	return false;
}

/* FILTER_BITs of all that the node fails, each asked for itself. */
static unsigned node_fails(struct site *s, const struct spec *spec, struct site_node *n)
{
	const struct shape_group *empty = n->capacity.group, *now = n->free.group;
	const unsigned arch = FILTER_BIT(FILTER_ARCHITECTURE), labels = FILTER_BIT(FILTER_LABELS);
	const unsigned taints = FILTER_BIT(FILTER_TAINTS);
	enum admission by_labels = spec_judge(spec, n->cls, arch | taints);
	unsigned fails = 0;

	if (spec_judge(spec, n->cls, labels | taints) == ADMIT_NO)
		fails |= arch;
	if (judge_lacks_device(&s->capacity, spec, empty))
		fails |= FILTER_BIT(FILTER_DEVICE);
	if (by_labels == ADMIT_NO ||
	    (by_labels == ADMIT_BY_NODE && !spec_admits_node(spec, s->free.node_value, n)))
		fails |= labels;
	if (spec_repelled_by(spec, n->cls))
		fails |= taints;
	if (asks_unknown(s, spec) || lacks(s, spec, group_free(empty), group_free(empty)))
		fails |= FILTER_BIT(FILTER_CAPACITY);
	else if (lacks(s, spec, group_free(empty), group_free(now)))
		fails |= FILTER_BIT(FILTER_ROOM);
	if (spec->ports && port_set_meets(spec->ports, now->key.ports))
		fails |= FILTER_BIT(FILTER_PORTS);
	return fails;
}

struct funnel {
	int64_t left[FILTERS_N], alone[FILTERS_N];
};

static void fill_funnel(struct site *s, struct spec *spec, struct funnel *ret)
{
	*ret = (struct funnel){0};
	spec_refresh(&s->model, spec);
	for (size_t i = 0; i < s->n_order; i++) {
		unsigned fails = node_fails(s, spec, s->order[i]);

		for (enum filter f = 0; f < FILTERS_N && !(fails & (FILTER_BIT(f + 1) - 1)); f++)
			ret->left[f]++;
		for (enum filter f = 0; f < FILTERS_N; f++)
			ret->alone[f] += fails == FILTER_BIT(f);
	}
}

/* Of the task with the fewest nodes left in the end. */
static void add_funnel(struct site *s, struct explain *e, const struct gang *g)
{
	unsigned asked = explain_asked(g);
	struct funnel least = {.left = {[FILTER_ROOM] = INT64_MAX}}, one;
	size_t task = 0;

	for (size_t i = 0; i < g->form->n_tasks; i++) {
		fill_funnel(s, g->form->variants[0].parts[i].spec, &one);
		if (one.left[FILTER_ROOM] >= least.left[FILTER_ROOM])
			continue;
		least = one;
		task = i;
	}
	if (!g->form->n_tasks)
		return;
	e->funnel_of = g->form->n_tasks > 1
			       ? arena_printf(&e->arena, "Nodes for task %s", g->tasks[task])
			       : "Nodes";
	for (enum filter f = 0; f < FILTERS_N; f++) {
		int64_t before = f ? least.left[f - 1] : (int64_t)s->n_order;

		if (least.left[f] != before || asked & FILTER_BIT(f))
			explain_add_step(e, f, least.left[f], least.alone[f]);
	}
}

static enum wait_code gate_of(const struct site *s, const struct gang *g)
{
	const struct quota_queue *q = quota_find(&s->quotas, g->queue);

	if (!g->pending)
		return WAIT_NONE; /* a hub has decided about its queue */
	if (!q)
		return WAIT_QUEUE_NOT_FOUND;
	if (!q->open)
		return WAIT_QUEUE_CLOSED;
	return quota_allows(q, g->form) ? WAIT_NONE : WAIT_QUOTA;
}

struct explain *site_explain(struct site *s, struct gang *g)
{
	struct judge j = {&s->model, &s->free, &s->capacity, g->form, UINT64_MAX};
	struct explain *e = explain_create(g, 1);
	const struct quota_queue *q = quota_find(&s->quotas, g->queue);

	site_settle(s);
	explain_add_judged(e, g, s->name, &j);
	if (g->pending && q)
		explain_add_quotas(e, q, g);
	add_funnel(s, e, g);
	explain_conclude(
		e, &(struct explain_gates){gate_of(s, g), q, q && quota_covers(q, g->form), NULL},
		e->places[0].verdict != VERDICT_NEVER);
	return e;
}
