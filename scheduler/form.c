#include "scheduler/form.h"

#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/strbuf.h"
#include "scheduler/saturate.h"

/* What one task may run as. */
struct options {
	struct form_part *parts;
	size_t n;
};

/* --- options of a task -------------------------------------------------------------------- */

static int make_option(struct model *m, const struct job *job, size_t task, int32_t alternative,
		       struct form_part *ret, struct error *err)
{
	const struct job_task *t = &job->tasks[task];
	const struct job_alternative *alt =
		alternative >= 0 ? &job->alternatives[alternative] : NULL;
	struct arena scratch = {0};
	struct resource_list request = {0};
	int rc;

	resource_list_add(&scratch, &request, &t->request, 1);
	for (size_t i = 0; alt && i < alt->resources.n; i++)
		resource_list_set(&scratch, &request, alt->resources.items[i].name,
				  alt->resources.items[i].amount);
	rc = spec_intern(m, json_at(t->template_, "spec", NULL), &request,
			 alt ? alt->node_selector : NULL, alt ? alt->n_node_selector : 0,
			 &ret->spec, err);
	arena_finish(&scratch);
	if (rc < 0)
		return error_prefix(err, "spec.tasks[%zu].template.spec", task);
	ret->alternative = alternative;
	ret->replicas = alt && alt->replicas >= 0 ? alt->replicas : t->replicas;
	if (ret->replicas < 0)
		ret->replicas = 0;
	return 0;
}

static bool allowed(const struct job *job, size_t task, const int32_t *choices, int32_t alternative)
{
	if (choices)
		return choices[task] == alternative;
	return !strcmp(job->alternatives[alternative].task, job->tasks[task].name);
}

static void drop_options(struct model *m, struct options *o, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		for (size_t k = 0; k < o[i].n; k++)
			spec_unref(m, o[i].parts[k].spec);
		free(o[i].parts);
	}
	free(o);
}

static int task_options(struct model *m, const struct job *job, size_t task, const int32_t *choices,
			struct options *o, struct error *err)
{
	o->parts = xcalloc(job->n_alternatives + 1, sizeof(*o->parts));
	for (size_t i = 0; i < job->n_alternatives; i++) {
		if (!allowed(job, task, choices, (int32_t)i))
			continue;
		if (make_option(m, job, task, (int32_t)i, &o->parts[o->n], err) < 0)
			return -1;
		o->n++;
	}
	if (o->n)
		return 0;
	if (make_option(m, job, task, -1, &o->parts[0], err) < 0)
		return -1;
	o->n = 1;
	return 0;
}

static struct options *job_options(struct model *m, const struct job *job, const int32_t *choices,
				   struct error *err)
{
	struct options *o = xcalloc(job->n_tasks, sizeof(*o));

	for (size_t i = 0; i < job->n_tasks; i++) {
		if (task_options(m, job, i, choices, &o[i], err) < 0) {
			drop_options(m, o, job->n_tasks);
			return NULL;
		}
	}
	return o;
}

/* --- variants ----------------------------------------------------------------------------- */

struct walk {
	struct form *form;
	const struct options *options;
	size_t *chosen; /* by task */
	size_t *rest;   /* greatest sum of places of this task and those after it */
};

struct pod_size {
	int64_t extended, leftover;
	int32_t task;
};

static int compare_sizes(const void *a, const void *b)
{
	const struct pod_size *x = a, *y = b;

	if (x->extended != y->extended)
		return x->extended > y->extended ? -1 : 1;
	if (x->leftover != y->leftover)
		return x->leftover > y->leftover ? -1 : 1;
	return x->task - y->task;
}

static struct pod_size size_of(const struct spec *s, int32_t task)
{
	struct pod_size size = {.task = task};

	for (size_t i = 0; i < s->request.n; i++)
		if (resource_is_extended(s->request.items[i].name))
			size.extended = saturating_add(size.extended, s->request.items[i].amount);
	size.leftover = saturating_add(resource_list_get(&s->request, "cpu"),
				       resource_list_get(&s->request, "memory") >> 22);
	return size;
}

void form_order(const struct form_part *parts, size_t n, int32_t *ret_order)
{
	auto_xfree struct pod_size *sizes = xcalloc(n, sizeof(*sizes));

	for (size_t i = 0; i < n; i++)
		sizes[i] = size_of(parts[i].spec, (int32_t)i);
	qsort(sizes, n, sizeof(*sizes), compare_sizes);
	for (size_t i = 0; i < n; i++)
		ret_order[i] = sizes[i].task;
}

static void add_variant(const struct walk *w)
{
	struct form *f = w->form;
	struct form_variant *v = &f->variants[f->n_variants++];

	v->parts = arena_array(&f->arena, struct form_part, f->n_tasks);
	for (size_t i = 0; i < f->n_tasks; i++) {
		struct form_part *p = &v->parts[i];

		*p = w->options[i].parts[w->chosen[i]];
		p->spec->refs++;
		v->rank += (int64_t)w->chosen[i];
		v->pods += p->replicas;
		resource_list_add(&f->arena, &v->total, &p->spec->request, p->replicas);
	}
	v->order = arena_array(&f->arena, int32_t, f->n_tasks);
	form_order(v->parts, f->n_tasks, v->order);
}

/* All choices of task and those after it whose places sum up to `sum`, first tasks best first. */
static void walk_sum(struct walk *w, size_t task, size_t sum)
{
	if (w->form->n_variants == FORM_VARIANTS_MAX || sum > w->rest[task])
		return;
	if (task == w->form->n_tasks) {
		add_variant(w);
		return;
	}
	for (size_t i = 0; i < w->options[task].n && i <= sum; i++) {
		w->chosen[task] = i;
		walk_sum(w, task + 1, sum - i);
	}
}

static void make_variants(struct form *f, const struct options *options)
{
	auto_xfree size_t *chosen = xcalloc(f->n_tasks, sizeof(*chosen));
	auto_xfree size_t *rest = xcalloc(f->n_tasks + 1, sizeof(*rest));
	struct walk w = {f, options, chosen, rest};

	f->variants = arena_array(&f->arena, struct form_variant, FORM_VARIANTS_MAX);
	for (size_t i = f->n_tasks; i > 0; i--)
		rest[i - 1] = rest[i] + options[i - 1].n - 1;
	for (size_t sum = 0; sum <= rest[0]; sum++)
		walk_sum(&w, 0, sum);
}

/* --- forms -------------------------------------------------------------------------------- */

static char *form_key(const struct options *o, size_t n_tasks)
{
	struct strbuf b = {0};

	for (size_t i = 0; i < n_tasks; i++) {
		for (size_t k = 0; k < o[i].n; k++) {
			strbuf_addi(&b, (int64_t)o[i].parts[k].spec->serial);
			strbuf_addc(&b, 'x');
			strbuf_addi(&b, o[i].parts[k].replicas);
			strbuf_addc(&b, '@');
			strbuf_addi(&b, o[i].parts[k].alternative);
			strbuf_addc(&b, ',');
		}
		strbuf_addc(&b, ';');
	}
	return strbuf_take(&b);
}

static struct form *form_create(struct model *m, const struct options *o, size_t n_tasks,
				char *take_key)
{
	struct form *f = xnew0(struct form);

	f->key = take_key;
	f->n_tasks = n_tasks;
	make_variants(f, o);
	HASH_ADD_KEYPTR(hh, m->forms, f->key, strlen(f->key), f);
	return f;
}

int form_intern(struct model *m, const struct job *job, const int32_t *choices, struct form **ret,
		struct error *err)
{
	struct options *o = job_options(m, job, choices, err);
	auto_xfree char *key = NULL;
	struct form *f;

	if (!o)
		return -1;
	key = form_key(o, job->n_tasks);
	HASH_FIND_STR(m->forms, key, f);
	if (!f)
		f = form_create(m, o, job->n_tasks, take_ptr(key));
	drop_options(m, o, job->n_tasks);
	*ret = form_ref(f);
	return 0;
}

struct form *form_ref(struct form *f)
{
	f->refs++;
	return f;
}

void form_unref(struct model *m, struct form *f)
{
	if (!f || --f->refs)
		return;
	HASH_DEL(m->forms, f);
	for (size_t i = 0; i < f->n_variants; i++)
		for (size_t k = 0; k < f->n_tasks; k++)
			spec_unref(m, f->variants[i].parts[k].spec);
	for (size_t i = 0; i < f->n_memories; i++)
		free(f->memories[i].why);
	arena_finish(&f->arena);
	free(f->memories);
	free(f->key);
	free(f);
}

struct form_memory *form_memory(struct form *f, int space_id)
{
	size_t want = (size_t)space_id + 1;

	if (f->n_memories < want) {
		size_t n = want + want / 2;

		f->memories = xrealloc(f->memories, n, sizeof(*f->memories));
		memset(f->memories + f->n_memories, 0, (n - f->n_memories) * sizeof(*f->memories));
		f->n_memories = n;
	}
	return &f->memories[space_id];
}
