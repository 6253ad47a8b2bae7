/*
 * Finding the group that a pod goes to.
 */
#include <assert.h>
#include <string.h>

#include "scheduler/space_internal.h"

struct search {
	struct space *space;
	struct spec *spec;
	int64_t extended, leftover; /* groups before this place are known not to hold the spec */
	struct seat *seat;          /* found, when not every node of the group will do */
};

static struct seat *find_seat(struct space *s, const struct spec *spec, struct treap_node *t)
{
	struct seat *found;

	if (!t)
		return NULL;
	found = find_seat(s, spec, t->left);
	if (found)
		return found;
	if (spec_admits_node(spec, s->node_value, seat_of(t)->owner))
		return seat_of(t);
	return find_seat(s, spec, t->right);
}

bool space_any_seat(struct space *s, const struct spec *spec, const struct shape_group *g)
{
	return find_seat(s, spec, g->seats) != NULL;
}

bool space_holds(struct space *s, const struct spec *spec, const struct shape_group *g,
		 struct seat **ret_seat)
{
	enum admission a = spec_admission(spec, g->key.cls);
	struct seat *seat = NULL;

	if (a == ADMIT_NO || !demand_fits(&spec->demand, g->vectors, g->stride))
		return false;
	if (spec->ports && port_set_meets(spec->ports, g->key.ports))
		return false;
	if (a == ADMIT_BY_NODE && s->seated) {
		seat = find_seat(s, spec, g->seats);
		if (!seat)
			return false;
	}
	*ret_seat = seat;
	return true;
}

static bool stands_before(const struct shape_group *g, int64_t extended, int64_t leftover)
{
	return g->extended < extended || (g->extended == extended && g->leftover < leftover);
}

/* Whether a group below g may hold the spec. */
static inline bool is_promising(struct shape_group *g, const struct spec *spec)
{
	if (!(g->below & spec->mask))
		return false;
	for (int i = 0; i < BALANCES; i++)
		if (g->balance_below[i] < spec->demand.balance[i])
			return false;
	return demand_fits(&spec->demand, group_max(g), g->stride);
}

static struct shape_group *first_from(struct search *q, struct treap_node *t)
{
	struct shape_group *g, *found;

	if (!t)
		return NULL;
	g = group_of(t);
	if (!is_promising(g, q->spec))
		return NULL;
	if (!stands_before(g, q->extended, q->leftover)) {
		found = first_from(q, t->left);
		if (found)
			return found;
		if (space_holds(q->space, q->spec, g, &q->seat))
			return g;
	}
	return first_from(q, t->right);
}

/* --- cursors ------------------------------------------------------------------------------ */

static struct space_cursor *cursor_of(struct space_tree *t, const struct spec *spec)
{
	struct space_cursor *c;
	size_t want = (size_t)spec->id + 1;

	if (t->n_cursors < want) {
		size_t n = want + want / 2;

		t->cursors = xrealloc(t->cursors, n, sizeof(*c));
		memset(t->cursors + t->n_cursors, 0, (n - t->n_cursors) * sizeof(*c));
		t->n_cursors = n;
	}
	c = &t->cursors[spec->id];
	if (c->serial != spec->serial || t->insertions - c->seen > SPACE_RECENT)
		*c = (struct space_cursor){spec->serial, t->insertions, INT64_MIN, INT64_MIN};
	return c;
}

/* Moves the cursor back to the first group that was inserted since and holds the spec. */
static void catch_up(struct space *s, const struct space_tree *t, struct space_cursor *c,
		     const struct spec *spec)
{
	struct seat *seat;

	for (; c->seen < t->insertions; c->seen++) {
		const struct shape_group *g = t->recent[c->seen % SPACE_RECENT];

		if (!g || !g->count || !stands_before(g, c->extended, c->leftover) ||
		    !space_holds(s, spec, g, &seat))
			continue;
		c->extended = g->extended;
		c->leftover = g->leftover;
	}
}

static struct shape_group *find_in(struct search *q, struct space_tree *t)
{
	struct space_cursor *c;
	struct shape_group *g;

	/* By node: whether a group holds the spec changes with its nodes, which no cursor sees. */
	if (q->spec->id < 0 || (q->spec->by_node && q->space->seated)) {
		q->extended = q->leftover = INT64_MIN;
		return first_from(q, t->root);
	}
	c = cursor_of(t, q->spec);
	catch_up(q->space, t, c, q->spec);
	if (c->extended == INT64_MAX)
		return NULL;
	q->extended = c->extended;
	q->leftover = c->leftover;
	g = first_from(q, t->root);
	c->extended = g ? g->extended : INT64_MAX;
	c->leftover = g ? g->leftover : INT64_MAX;
	return g;
}

struct shape_group *space_find(struct space *s, struct spec *spec, struct seat **ret_seat)
{
	struct shape_group *best = NULL;
	int best_unasked = 65;

	assert(spec->classes_seen == s->model->classes.last_serial);
	for (size_t i = 0; i < s->n_trees; i++) {
		struct space_tree *t = s->trees[i];
		int unasked = __builtin_popcountll(t->kinds & ~spec->demand.extended);
		struct search q = {.space = s, .spec = spec};
		struct shape_group *g;

		if (unasked > best_unasked || (spec->demand.extended & ~t->kinds))
			continue;
		g = find_in(&q, t);
		if (!g || (unasked == best_unasked && !group_before(g, best)))
			continue;
		best = g;
		best_unasked = unasked;
		*ret_seat = q.seat;
	}
	return best;
}
