/*
 * Explanations for programs: what explain_text says and more; amounts as quantities.
 */
#include "base/json.h"
#include "scheduler/explain_internal.h"

static void set_amount(json_t *j, const char *key, const char *resource, int64_t amount)
{
	auto_strbuf text = {0};

	resource_format(resource, amount, &text);
	json_set_str(j, key, strbuf_str(&text));
}

static json_t *shorts_json(const struct explain_place *p)
{
	json_t *array = json_array();

	for (size_t i = 0; i < p->n_shorts; i++) {
		const struct explain_short *s = &p->shorts[i];
		json_t *j = json_object();

		json_set_str(j, "resource", s->resource);
		set_amount(j, "have", s->resource, s->have);
		set_amount(j, "want", s->resource, s->want);
		json_object_set_new(j, "sole", json_boolean(s->sole));
		json_array_append_new(array, j);
	}
	return array;
}

static json_t *place_json(const struct explain *e, const struct explain_place *p)
{
	json_t *j = json_object();

	json_set_str(j, "cluster", p->name);
	json_set_str(j, "verdict", verdict_name(p->verdict));
	if (p->verdict != VERDICT_FITS) {
		json_set_str(j, "filter", filter_name(p->filter));
		json_set_str(j, "detail", p->detail);
		json_object_set_new(j, "sole", json_boolean(p->sole));
	}
	if (p->n_shorts)
		json_object_set_new(j, "shortOf", shorts_json(p));
	json_set_int(j, "tasksThatFit", p->fits);
	json_set_int(j, "tasks", p->pods);
	if (e->has_data)
		json_set_int(j, "bytesToMove", p->bytes);
	if (*p->variant)
		json_set_str(j, "alternatives", p->variant);
	return j;
}

static json_t *quotas_json(const struct explain *e)
{
	json_t *array = json_array();

	for (size_t i = 0; i < e->n_quotas; i++) {
		const struct explain_quota *q = &e->quotas[i];
		json_t *j = json_object();

		json_set_str(j, "resource", q->resource);
		set_amount(j, "capability", q->resource, q->capability);
		set_amount(j, "used", q->resource, q->used);
		set_amount(j, "needs", q->resource, q->needs);
		json_array_append_new(array, j);
	}
	return array;
}

static json_t *others_json(const struct explain *e)
{
	json_t *array = json_array();

	for (size_t i = 0; i < e->n_others; i++) {
		json_t *j = json_object();

		json_set_str(j, "code", wait_code_name(e->others[i].code));
		json_set_str(j, "detail", e->others[i].detail);
		json_set_str(j, "remedy", e->others[i].remedy);
		json_array_append_new(array, j);
	}
	return array;
}

static json_t *steps_json(const struct explain *e)
{
	json_t *array = json_array();

	for (size_t i = 0; i < e->n_steps; i++) {
		json_t *j = json_object();

		json_set_str(j, "filter", filter_name(e->steps[i].filter));
		json_set_int(j, "left", e->steps[i].left);
		json_set_int(j, "liftedAlone", e->steps[i].alone);
		json_array_append_new(array, j);
	}
	return array;
}

static void set_reasons(json_t *j, const struct explain *e)
{
	json_t *places = json_array();

	json_set_str(j, "code", wait_code_name(e->code));
	json_set_str(j, "detail", e->detail);
	json_set_str(j, "remedy", e->remedy);
	json_object_set_new(j, "sole", json_boolean(e->sole));
	if (e->n_others)
		json_object_set_new(j, "also", others_json(e));
	if (e->n_quotas)
		json_object_set_new(j, "quota", quotas_json(e));
	for (size_t i = 0; i < e->n_places; i++)
		json_array_append_new(places, place_json(e, &e->places[i]));
	json_object_set_new(j, "clusters", places);
	json_set_str(j, "funnelOf", e->funnel_of);
	json_object_set_new(j, "funnel", steps_json(e));
}

json_t *explain_json(const struct explain *e)
{
	json_t *j = json_object();

	json_set_str(j, "job", e->name);
	json_set_str(j, "namespace", e->ns);
	json_set_str(j, "uid", e->uid);
	json_set_str(j, "queue", e->queue);
	json_set_int(j, "priority", e->priority);
	json_set_int(j, "tasks", e->pods);
	if (e->placed)
		json_set_str(j, "placed", e->placed);
	else
		set_reasons(j, e);
	return j;
}

/* Of several resources that are short the first stands for all: explain has them. */
static json_t *miss_json(const struct explain_place *p)
{
	const struct explain_short *s = p->n_shorts ? &p->shorts[0] : NULL;
	json_t *miss = json_object();

	json_set_str(miss, "cluster", p->name);
	json_set_int(miss, "pods", p->pods);
	json_set_int(miss, "fits", p->fits);
	json_set_str(miss, "detail", p->detail);
	if (!s)
		return miss;
	json_set_str(miss, "resource", s->resource);
	set_amount(miss, "have", s->resource, s->have);
	set_amount(miss, "want", s->resource, s->want);
	return miss;
}

json_t *explain_pending_json(const struct explain *e, const struct explain_place *miss)
{
	json_t *pending = json_object();

	json_set_str(pending, "code", wait_code_name(e->code));
	json_set_str(pending, "detail", e->detail);
	if (!miss)
		return pending;
	json_set_str(pending, "cluster", miss->name);
	json_object_set_new(pending, "nearestMiss", miss_json(miss));
	return pending;
}
