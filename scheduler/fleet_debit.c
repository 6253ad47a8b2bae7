/*
 * Debits: room of attempts that no report contains yet. Each is a stretch of its cluster's undo
 * log, in the order of the array.
 */
#include <stdlib.h>
#include <string.h>

#include "scheduler/allocate.h"
#include "scheduler/fleet_internal.h"

static void debit_finish(struct fleet *f, struct debit *d)
{
	form_unref(&f->model, d->form);
	free(d->uid);
}

struct debit debit_make(const struct fleet_job *job, size_t variant, int64_t capacity_seq)
{
	return (struct debit){.uid = xstrdup(job->gang->uid),
			      .generation = job->generation,
			      .form = form_ref(job->gang->form),
			      .variant = variant,
			      .priority = job->gang->priority,
			      .submitted = job->gang->submitted,
			      .capacity_seq = capacity_seq};
}

/* The order in which gangs are decided on. */
static int compare_debits(const void *a, const void *b)
{
	const struct debit *x = a, *y = b;
	int order;

	if (x->priority != y->priority)
		return x->priority > y->priority ? -1 : 1;
	order = submission_order(x->submitted, y->submitted);
	return order ? order : strcmp(x->uid, y->uid);
}

/* As much as the report leaves room for: what is missing, the agent will refuse. */
void debits_replay(struct fleet *f, struct fleet_cluster *c, size_t from)
{
	for (size_t i = from; i < c->n_debits; i++) {
		struct debit *d = &c->debits[i];

		d->mark = space_mark(&c->free);
		allocate_most(&c->free, &d->form->variants[d->variant], d->form->n_tasks, NULL);
	}
}

static void remove_at(struct fleet *f, struct fleet_cluster *c, size_t i)
{
	space_rollback(&c->free, c->debits[i].mark);
	debit_finish(f, &c->debits[i]);
	memmove(c->debits + i, c->debits + i + 1, (c->n_debits - i - 1) * sizeof(*c->debits));
	c->n_debits--;
	debits_replay(f, c, i);
	c->free.growth++;
}

void debit_append(struct fleet_cluster *c, struct debit d)
{
	GROW(c->debits, c->n_debits, c->cap_debits);
	c->debits[c->n_debits++] = d;
}

void debit_add(struct fleet *f, struct fleet_cluster *c, struct debit d)
{
	size_t at = 0;

	while (at < c->n_debits && compare_debits(&c->debits[at], &d) < 0)
		at++;
	if (at < c->n_debits)
		space_rollback(&c->free, c->debits[at].mark);
	GROW(c->debits, c->n_debits, c->cap_debits);
	memmove(c->debits + at + 1, c->debits + at, (c->n_debits - at) * sizeof(*c->debits));
	c->debits[at] = d;
	c->n_debits++;
	debits_replay(f, c, at);
}

void debits_expire(struct fleet *f, struct fleet_cluster *c)
{
	size_t kept = 0;

	for (size_t i = 0; i < c->n_debits; i++) {
		struct debit *d = &c->debits[i];

		if (d->capacity_seq && d->capacity_seq <= c->capacity_seq)
			debit_finish(f, d);
		else
			c->debits[kept++] = *d;
	}
	c->n_debits = kept;
	if (kept)
		qsort(c->debits, kept, sizeof(*c->debits), compare_debits);
}

void debits_finish(struct fleet *f, struct fleet_cluster *c)
{
	for (size_t i = 0; i < c->n_debits; i++)
		debit_finish(f, &c->debits[i]);
	free(c->debits);
	c->debits = NULL;
	c->n_debits = c->cap_debits = 0;
}

static bool debit_find(struct fleet *f, const char *uid, int64_t generation,
		       struct fleet_cluster **ret, size_t *ret_i)
{
	struct fleet_cluster *c, *next;

	HASH_ITER (hh, f->clusters, c, next) {
		for (size_t i = 0; i < c->n_debits; i++) {
			if (c->debits[i].generation != generation ||
			    strcmp(c->debits[i].uid, uid) != 0)
				continue;
			*ret = c;
			*ret_i = i;
			return true;
		}
	}
	return false;
}

bool debit_settle(struct fleet *f, const char *uid, int64_t generation, int64_t capacity_seq)
{
	struct fleet_cluster *c;
	struct debit *d;
	size_t i;

	if (!debit_find(f, uid, generation, &c, &i))
		return false;
	d = &c->debits[i];
	if (!d->capacity_seq)
		d->capacity_seq = capacity_seq;
	if (!c->has_free || d->capacity_seq > c->capacity_seq)
		return false;
	remove_at(f, c, i);
	return true;
}

void debit_cancel(struct fleet *f, const char *uid, int64_t generation)
{
	struct fleet_cluster *c;
	size_t i;

	if (debit_find(f, uid, generation, &c, &i))
		remove_at(f, c, i);
}
