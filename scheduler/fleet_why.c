/*
 * Why a form does not fit into one cluster, briefly.
 */
#include <stdlib.h>

#include "scheduler/fleet_internal.h"

struct judge fleet_judge(struct fleet *f, struct fleet_cluster *c, struct form *form,
			 uint64_t allowed)
{
	return (struct judge){&f->model, &c->free, &c->capacity, form, allowed};
}

/* In words, of the cluster as if it were empty; kept until the capacity changes. */
static const char *why_incapable(const struct judge *j, struct form_memory *m)
{
	struct judge empty = *j;
	struct arena scratch = {0};
	struct judgement what;

	empty.free = j->capacity;
	judge_fully(&empty, &scratch, &what);
	free(m->why);
	m->why = xstrdup(what.detail);
	arena_finish(&scratch);
	return m->why;
}

const char *fleet_why_not(struct fleet *f, struct fleet_cluster *c, struct form *form,
			  uint64_t allowed)
{
	struct judge j = fleet_judge(f, c, form, allowed);
	struct form_memory *m = form_memory(form, c->capacity.id);
	bool kept = m->judged == c->capacity.growth + 1 && m->why;

	if (judge_capable(&j) == FILTER_NONE)
		return "full";
	return kept ? m->why : why_incapable(&j, m);
}
