/*
 * Why a form does not fit into one cluster, briefly.
 */
#include <stdlib.h>
#include <string.h>

#include "scheduler/allocate.h"
#include "scheduler/fleet_internal.h"

struct judge fleet_judge(struct fleet *f, struct fleet_cluster *c, struct form *form,
			 uint64_t allowed)
{
	return (struct judge){&f->model, &c->free, &c->capacity, form, allowed};
}

/* In words; kept until the capacity changes. */
static const char *why_incapable(const struct judge *j, struct form_memory *m)
{
	struct judgement what = {.filter = m->capable, .verdict = VERDICT_NEVER};
	struct strbuf text = {.limit = 200};
	struct judge empty = *j;
	size_t mark = space_mark(j->capacity);

	empty.free = j->capacity;
	judge_form(&empty, (struct lift){0}, &what.variant);
	what.pods = j->form->variants[what.variant].pods;
	what.fits = allocate_most(j->capacity, &j->form->variants[what.variant], j->form->n_tasks,
				  NULL);
	space_rollback(j->capacity, mark);
	judge_say(&empty, &what, &text);
	free(m->why);
	m->why = strbuf_take(&text);
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
