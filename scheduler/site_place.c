/*
 * Deciding at level 2: gangs onto nodes.
 */
#include <stdlib.h>
#include <string.h>

#include "scheduler/allocate.h"
#include "scheduler/site_internal.h"

int site_gang_create(struct site *s, const struct job *job, int32_t priority,
		     const int32_t *choices, struct gang **ret, struct error *err)
{
	return gang_create(&s->model, job, priority, choices, ret, err);
}

static void charge(struct site *s, struct gang *g, int variant)
{
	s->events++;
	if (g->charged >= 0)
		quota_charge(&s->quotas, g->queue, &g->form->variants[g->charged].total, -1);
	g->charged = variant;
	if (variant >= 0)
		quota_charge(&s->quotas, g->queue, &g->form->variants[variant].total, 1);
}

void site_gang_destroy(struct site *s, struct gang *g)
{
	if (!g)
		return;
	site_withdraw(s, g);
	charge(s, g, -1);
	gang_destroy(&s->model, g);
}

/* --- from takings to pods ----------------------------------------------------------------- */

struct writer {
	struct site *site;
	struct site_placement *to;
	const struct form_variant *variant;
	const struct site_pod *only; /* which indices to give; NULL: 0, 1, ... */
	size_t n_only;
	int32_t *next; /* by task: how many were given */
};

/* One block: a placement is made for every gang, most of them small. */
static struct site_placement *placement_create(const struct site *s, struct gang *g,
					       const struct form_variant *v, char **ret_names)
{
	size_t n = g->form->n_tasks, names = 0;
	struct site_placement *p;

	for (size_t i = 0; i < s->free.n_log; i++) {
		const struct site_node *node = s->free.log[i].seat->owner;

		names += strlen(node->name) + 1;
	}
	p = xcalloc(1, sizeof(*p) + (size_t)v->pods * sizeof(*p->pods) +
			       2 * n * sizeof(*p->replicas) + names);
	p->gang = g;
	p->n_tasks = n;
	p->pods = (struct site_pod *)(p + 1);
	p->alternatives = (int32_t *)(p->pods + v->pods);
	p->replicas = p->alternatives + n;
	*ret_names = (char *)(p->replicas + n);
	for (size_t i = 0; i < n; i++) {
		p->alternatives[i] = v->parts[i].alternative;
		p->replicas[i] = v->parts[i].replicas;
	}
	return p;
}

void site_placement_destroy(struct site_placement *p)
{
	free(p);
}

static int32_t next_index(struct writer *w, int32_t task)
{
	int32_t nth = w->next[task]++;

	if (!w->only)
		return nth;
	for (size_t i = 0; i < w->n_only; i++)
		if (w->only[i].task == task && !nth--)
			return w->only[i].index;
	return -1; /* not reached: as many were placed as were asked for */
}

/* node_name: in the block of the placement. */
static void write_pod(struct writer *w, struct site_node *n, int32_t task, const char *node_name)
{
	const struct gang *g = w->to->gang;
	struct load *load = load_of_spec(&w->site->model, w->variant->parts[task].spec);
	struct site_pod pod = {task, next_index(w, task), node_name};
	struct site_key key = {g->uid, g->tasks[task], pod.index};

	site_book_load(w->site, &key, n, load_ref(load));
	w->to->pods[w->to->n_pods++] = pod;
}

static int compare_pods(const void *a, const void *b)
{
	const struct site_pod *x = a, *y = b;

	if (x->task != y->task)
		return x->task < y->task ? -1 : 1;
	return (x->index > y->index) - (x->index < y->index);
}

/* The seats stand already where the bookings put them, so no node is touched. */
static void write_moves(struct writer *w, char *names)
{
	const struct space *sp = &w->site->free;

	for (size_t i = 0; i < sp->n_log; i++) {
		struct site_node *n = sp->log[i].seat->owner;
		size_t size = strlen(n->name) + 1;

		memcpy(names, n->name, size);
		for (int64_t k = 0; k < sp->log[i].pods; k++)
			write_pod(w, n, sp->log[i].part, names);
		names += size;
	}
	if (w->to->n_pods > 1)
		qsort(w->to->pods, w->to->n_pods, sizeof(*w->to->pods), compare_pods);
}

static struct site_placement *keep(struct site *s, struct gang *g, const struct form_variant *v,
				   const struct site_pod *only, size_t n_only)
{
	auto_xfree int32_t *next = xcalloc(g->form->n_tasks, sizeof(*next));
	struct writer w = {s, NULL, v, only, n_only, next};
	char *names;

	w.to = placement_create(s, g, v, &names);
	write_moves(&w, names);
	space_cut(&s->free);
	return w.to;
}

/* --- deciding ----------------------------------------------------------------------------- */

/* The best variant among the allowed that fits; -1 and nothing changed when none does. */
static int allocate_best(struct site *s, struct form *f, uint64_t allowed)
{
	struct form_memory *m = form_memory(f, s->free.id);

	if (m->full == s->free.growth + 1)
		return -1;
	for (size_t i = 0; i < f->n_variants; i++)
		if (allowed >> i & 1 && allocate_gang(&s->free, &f->variants[i], f->n_tasks))
			return (int)i;
	if ((allowed & form_all(f)) == form_all(f))
		m->full = s->free.growth + 1;
	return -1;
}

struct site_placement *site_place(struct site *s, struct gang *g)
{
	int variant;

	site_settle(s);
	variant = allocate_best(s, g->form, UINT64_MAX);
	return variant < 0 ? NULL : keep(s, g, &g->form->variants[variant], NULL, 0);
}

/* The chosen variant, cut down to what is asked for. */
static struct form_variant reduced(const struct gang *g, const struct site_pod *pods, size_t n,
				   struct form_part *parts)
{
	struct form_variant v = g->form->variants[0];

	memcpy(parts, v.parts, g->form->n_tasks * sizeof(*parts));
	v.parts = parts;
	v.pods = (int64_t)n;
	for (size_t i = 0; i < g->form->n_tasks; i++)
		parts[i].replicas = 0;
	for (size_t i = 0; i < n; i++)
		parts[pods[i].task].replicas++;
	return v;
}

struct site_placement *site_place_some(struct site *s, struct gang *g, const struct site_pod *pods,
				       size_t n)
{
	auto_xfree struct form_part *parts = xcalloc(g->form->n_tasks, sizeof(*parts));
	struct form_variant v = reduced(g, pods, n, parts);

	site_settle(s);
	return allocate_gang(&s->free, &v, g->form->n_tasks) ? keep(s, g, &v, pods, n) : NULL;
}

/* --- alone -------------------------------------------------------------------------------- */

void site_queue_set(struct site *s, const struct queue *q)
{
	quota_set(&s->quotas, q);
	s->events++;
}

void site_queue_remove(struct site *s, const char *name)
{
	quota_remove(&s->quotas, name);
}

void site_submit(struct site *s, struct gang *g)
{
	s->events++;
	if (!g->pending)
		pending_add(&s->pending, g);
}

void site_withdraw(struct site *s, struct gang *g)
{
	s->events++;
	pending_remove(&s->pending, g);
}

void site_adopt(struct site *s, struct gang *g, const int32_t *choices)
{
	pending_remove(&s->pending, g);
	charge(s, g, gang_variant(g, choices));
}

/* Until the next event there is only less room, so gangs that were passed over stay so. */
struct site_placement *site_next(struct site *s)
{
	const struct gang *from = s->events == s->resume_events ? s->resume : NULL;
	struct site_placement *placed = NULL;
	struct gang *g;

	site_settle(s);
	while (!placed && (g = pending_next(&s->pending, from, UINT64_MAX))) {
		uint64_t allowed = quota_allows(quota_find(&s->quotas, g->queue), g->form);
		int variant = allowed ? allocate_best(s, g->form, allowed) : -1;

		from = g;
		if (variant < 0)
			continue;
		pending_remove(&s->pending, g);
		charge(s, g, variant);
		placed = keep(s, g, &g->form->variants[variant], NULL, 0);
	}
	s->resume = from;
	s->resume_events = s->events;
	return placed;
}
