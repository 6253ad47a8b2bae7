#include "scheduler/quota.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "scheduler/saturate.h"

static struct quota_queue *need(struct quotas *q, const char *name)
{
	struct quota_queue *found;

	HASH_FIND_STR(q->by_name, name, found);
	if (found)
		return found;
	found = xnew0(struct quota_queue);
	found->name = xstrdup(name);
	HASH_ADD_KEYPTR(hh, q->by_name, found->name, strlen(found->name), found);
	return found;
}

static void free_tallies(struct quota_tally *t, size_t n)
{
	for (size_t i = 0; i < n; i++)
		free(t[i].name);
	free(t);
}

static void clear_capability(struct quota_queue *q)
{
	free_tallies(q->capability, q->n_capability);
	q->capability = NULL;
	q->n_capability = 0;
	q->has_capability = false;
}

static bool is_the_same(const struct quota_queue *q, const struct queue *queue)
{
	if (!q->known || q->open != queue->open || q->has_capability != queue->has_capability ||
	    q->n_capability != queue->capability.n)
		return false;
	for (size_t i = 0; i < q->n_capability; i++)
		if (strcmp(q->capability[i].name, queue->capability.items[i].name) != 0 ||
		    q->capability[i].amount != queue->capability.items[i].amount)
			return false;
	return true;
}

bool quota_set(struct quotas *q, const struct queue *queue)
{
	struct quota_queue *to = need(q, queue->meta.name);

	if (is_the_same(to, queue))
		return false;
	clear_capability(to);
	to->known = true;
	to->open = queue->open;
	to->has_capability = queue->has_capability;
	to->capability = xcalloc(queue->capability.n, sizeof(*to->capability));
	to->n_capability = queue->capability.n;
	for (size_t i = 0; i < queue->capability.n; i++)
		to->capability[i] = (struct quota_tally){xstrdup(queue->capability.items[i].name),
							 queue->capability.items[i].amount};
	return true;
}

void quota_remove(struct quotas *q, const char *name)
{
	struct quota_queue *found;

	HASH_FIND_STR(q->by_name, name, found);
	if (!found)
		return;
	clear_capability(found);
	found->known = found->open = false;
}

void quotas_finish(struct quotas *q)
{
	struct quota_queue *queue, *next;

	HASH_ITER (hh, q->by_name, queue, next) {
		HASH_DEL(q->by_name, queue);
		clear_capability(queue);
		free_tallies(queue->used, queue->n_used);
		free(queue->name);
		free(queue);
	}
}

const struct quota_queue *quota_find(const struct quotas *q, const char *name)
{
	struct quota_queue *found;

	HASH_FIND_STR(q->by_name, name, found);
	return found && found->known ? found : NULL;
}

static struct quota_tally *tally(struct quota_queue *q, const char *name)
{
	for (size_t i = 0; i < q->n_used; i++)
		if (!strcmp(q->used[i].name, name))
			return &q->used[i];
	GROW(q->used, q->n_used, q->cap_used);
	q->used[q->n_used] = (struct quota_tally){xstrdup(name), 0};
	return &q->used[q->n_used++];
}

static int64_t used_of(const struct quota_queue *q, const char *name)
{
	for (size_t i = 0; i < q->n_used; i++)
		if (!strcmp(q->used[i].name, name))
			return q->used[i].amount;
	return 0;
}

void quota_charge(struct quotas *q, const char *queue, const struct resource_list *total,
		  int64_t times)
{
	struct quota_queue *to = need(q, queue);

	for (size_t i = 0; i < total->n; i++) {
		struct quota_tally *t = tally(to, total->items[i].name);

		t->amount = wrapping_add_mul(t->amount, times, total->items[i].amount);
	}
}

/* What asks for nothing of a resource is not held back by it, even when the ceiling was lowered. */
bool quota_excess(const struct quota_queue *q, const struct resource_list *total, size_t i,
		  struct quota_excess *ret)
{
	for (size_t k = 0; q->has_capability && k < q->n_capability; k++) {
		const struct quota_tally *c = &q->capability[k];
		int64_t needs = resource_list_get(total, c->name);
		int64_t used = used_of(q, c->name);

		if (needs <= 0 || needs <= c->amount - used || i--)
			continue;
		*ret = (struct quota_excess){c->name, c->amount, used, needs};
		return true;
	}
	return false;
}

uint64_t quota_covers(const struct quota_queue *q, const struct form *f)
{
	struct quota_excess e;
	uint64_t covered = 0;

	if (!q->has_capability)
		return UINT64_MAX;
	for (size_t i = 0; i < f->n_variants; i++)
		if (!quota_excess(q, &f->variants[i].total, 0, &e))
			covered |= UINT64_C(1) << i;
	return covered;
}

uint64_t quota_allows(const struct quota_queue *q, const struct form *f)
{
	return q && q->open ? quota_covers(q, f) : 0;
}
