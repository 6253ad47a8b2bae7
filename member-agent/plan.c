#include "member-agent/plan.h"

#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "member-agent/runner_internal.h"
#include "member-agent/volumes.h"

void refusal_finish(struct refusal *r)
{
	json_decref(take_ptr(r->nearest_miss));
}

void refusal_set(struct refusal *r, const char *reason, const char *fmt, ...)
{
	va_list ap;

	snprintf(r->reason, sizeof(r->reason), "%s", reason);
	va_start(ap, fmt);
	vsnprintf(r->message, sizeof(r->message), fmt, ap);
	va_end(ap);
}

/* --- the job as the core is to see it --- */

static json_t *task_tree(const struct runner *r, const struct twin *t, size_t task,
			 const json_t *spec)
{
	json_t *out = json_object(), *pod_spec = json_deep_copy(spec);

	volumes_bind_nodes(r, t->job_ns, pod_spec);
	json_set_str(out, "name", t->tasks[task].name);
	json_set_int(out, "replicas", t->tasks[task].replicas);
	json_set_int(out, "minAvailable", t->tasks[task].min_available);
	json_object_set_new(json_object_need(out, "template"), "spec", pod_spec);
	return out;
}

static json_t *job_tree(const struct runner *r, const struct twin *t, json_t *const *specs)
{
	json_t *job = json_pack("{ssss}", "apiVersion", "batch.volcano.sh/v1alpha1", "kind", "Job");
	json_t *meta = json_object_need(job, "metadata"), *spec = json_object_need(job, "spec");
	json_t *tasks = json_array();

	json_set_str(meta, "name", t->job_name);
	json_set_str(meta, "namespace", t->job_ns);
	json_set_str(meta, "uid", t->job_uid);
	json_set_str(spec, "queue", t->queue);
	json_set_int(spec, "minAvailable", t->min_available);
	json_object_set_new(spec, "tasks", tasks);
	for (size_t i = 0; i < t->n_tasks; i++)
		json_array_append_new(tasks, task_tree(r, t, i, specs[i]));
	return job;
}

static struct gang *make_gang(struct runner *r, const struct twin *t, json_t *const *specs,
			      struct refusal *ret_why)
{
	auto_json *tree = job_tree(r, t, specs);
	auto_free(job_destroy) struct job *job = NULL;
	struct gang *gang;
	struct error err;

	if (job_view_tree(tree, &job, &err) ||
	    site_gang_create(r->site, job, 0, NULL, &gang, &err)) {
		refusal_set(ret_why, "Unsupported", "%s", err.text);
		return NULL;
	}
	return gang;
}

/* --- why not --- */

static const struct explain_short *main_short(const struct explain_place *p)
{
	for (size_t i = 0; i < p->n_shorts; i++)
		if (p->shorts[i].sole)
			return &p->shorts[i];
	return p->n_shorts ? &p->shorts[0] : NULL;
}

static json_t *nearest_miss(const struct runner *r, const struct explain *e)
{
	const struct explain_place *p = e->n_places ? &e->places[0] : NULL;
	const struct explain_short *s = p ? main_short(p) : NULL;
	json_t *miss = json_object();

	json_set_str(miss, "cluster", r->cluster);
	json_set_str(miss, "detail", p ? p->detail : e->detail);
	if (p) {
		json_set_int(miss, "pods", p->pods);
		json_set_int(miss, "fits", p->fits);
	}
	if (s) {
		auto_strbuf have = {0}, want = {0};

		resource_format(s->resource, s->have, &have);
		resource_format(s->resource, s->want, &want);
		json_set_str(miss, "resource", s->resource);
		json_set_str(miss, "have", strbuf_str(&have));
		json_set_str(miss, "want", strbuf_str(&want));
	}
	return miss;
}

static void say_no_room(struct runner *r, struct gang *gang, struct refusal *ret_why)
{
	auto_free(explain_destroy) struct explain *e = site_explain(r->site, gang);
	const struct explain_place *p = e->n_places ? &e->places[0] : NULL;
	bool later = !p || p->verdict == VERDICT_FULL || p->verdict == VERDICT_FITS;

	refusal_set(ret_why, later ? "NoRoom" : "NeverFits", "%s", p ? p->detail : e->detail);
	ret_why->lasting = !later && p->filter != FILTER_TAINTS;
	ret_why->nearest_miss = nearest_miss(r, e);
}

struct site_placement *plan_make(struct runner *r, const struct twin *t, json_t *const *specs,
				 const struct site_pod *pods, size_t n, struct refusal *ret_why)
{
	struct gang *gang = make_gang(r, t, specs, ret_why);
	struct site_placement *placement;

	if (!gang)
		return NULL;
	placement = pods ? site_place_some(r->site, gang, pods, n) : site_place(r->site, gang);
	if (!placement)
		say_no_room(r, gang, ret_why);
	site_gang_destroy(r->site, gang);
	if (placement)
		placement->gang = NULL;
	return placement;
}
