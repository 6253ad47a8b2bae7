/* What the cluster has, in shapes; and why jobs wait here. */
#include <stdlib.h>
#include <string.h>

#include "member-agent/runner_internal.h"

#define EXPLAINS_MAX 1000

struct capacity_report runner_report(struct runner *r)
{
	struct capacity_report report = {.seq = (r->term << 32) + ++r->reports};
	struct arena arena = {0};
	struct site_shapes shapes;

	site_report(r->site, true, &arena, &shapes);
	report.shapes = shapes_json(shapes.items, shapes.n);
	site_capacity(r->site, &arena, &shapes);
	report.capacity = shapes_json(shapes.items, shapes.n);
	arena_finish(&arena);
	return report;
}

struct kept_explain {
	struct list_node node; /* the oldest first */
	char *job_uid;
	json_t *text;
};

static void explain_drop(struct kept_explain *e)
{
	list_remove(&e->node);
	free(e->job_uid);
	json_decref(e->text);
	free(e);
}

static struct kept_explain *explain_find(struct runner *r, const char *job_uid)
{
	struct kept_explain *e;

	list_for_each (e, &r->explains, node)
		if (!strcmp(e->job_uid, job_uid))
			return e;
	return NULL;
}

void explain_keep(struct runner *r, const char *job_uid, json_t *take)
{
	struct kept_explain *e = explain_find(r, job_uid);

	if (e) {
		explain_drop(e);
		r->n_explains--;
	}
	e = xnew0(struct kept_explain);
	e->job_uid = xstrdup(job_uid);
	e->text = take;
	list_push_back(&r->explains, &e->node);
	if (++r->n_explains <= EXPLAINS_MAX)
		return;
	explain_drop(list_entry(list_first(&r->explains), struct kept_explain, node));
	r->n_explains--;
}

json_t *runner_explain(struct runner *r, const char *job_uid)
{
	struct kept_explain *e = explain_find(r, job_uid);

	return e ? json_incref(e->text) : NULL;
}

void explains_destroy(struct runner *r)
{
	struct kept_explain *e, *tmp;

	list_for_each_safe (e, tmp, &r->explains, node)
		explain_drop(e);
}
