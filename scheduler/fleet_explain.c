/*
 * Explaining at level 1, and asking whether a job can fit at all.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "scheduler/fleet_internal.h"

/* --- explain ------------------------------------------------------------------------------ */

struct inquiry {
	struct fleet *fleet;
	struct fleet_job *job;
	struct explain *e;
	bool any_capable;
};

static void add_excluded(struct inquiry *q, const struct cluster_question *c,
			 const struct plugin *by, const struct judge *j)
{
	struct explain_place *p = &q->e->places[q->e->n_places++];
	struct strbuf text = {.limit = 200};
	size_t variant;

	by->why(c, &text);
	*p = (struct explain_place){.name = arena_strdup(&q->e->arena, c->cluster->name),
				    .verdict = VERDICT_EXCLUDED,
				    .filter = by->filter,
				    .detail = arena_strdup(&q->e->arena, strbuf_str(&text)),
				    .pods = q->e->pods,
				    .variant = ""};
	p->sole = !fleet_filter(c, by->filter) &&
		  judge_form(j, (struct lift){0}, &variant) == FILTER_NONE;
	strbuf_finish(&text);
}

static void add_cluster(struct inquiry *q, struct fleet_cluster *c, int64_t now_ns)
{
	struct cluster_question question = {q->fleet, q->job, c, now_ns};
	const struct plugin *by = fleet_filter(&question, FILTER_NONE);
	const struct gang *g = q->job->gang;
	struct judge j = fleet_judge(q->fleet, c, g->form, UINT64_MAX);

	q->any_capable |= c->has_capacity && judge_capable(&j) == FILTER_NONE;
	if (by)
		add_excluded(q, &question, by, &j);
	else
		explain_add_judged(q->e, g, c->name, &j);
	q->e->places[q->e->n_places - 1].bytes = fleet_bytes_missing(q->fleet, g, c->name);
}

/* A place that fails a filter has passed all those before it. */
static void add_funnel(struct explain *e, const struct gang *g)
{
	unsigned asked = explain_asked(g);

	e->funnel_of = "Clusters";
	for (enum filter f = 0; f < FILTERS_N; f++) {
		int64_t left = 0, alone = 0, failed = 0;

		for (size_t i = 0; i < e->n_places; i++) {
			left += e->places[i].filter > f;
			failed += e->places[i].filter == f;
			alone += e->places[i].filter == f && e->places[i].sole;
		}
		if (failed || asked & FILTER_BIT(f))
			explain_add_step(e, f, left, alone);
	}
}

static const char *missing_dataset(const struct fleet *f, const struct gang *g)
{
	for (size_t i = 0; i < g->n_datasets; i++)
		if (!fleet_dataset_find(f, g->datasets[i]))
			return g->datasets[i];
	return NULL;
}

struct explain *fleet_explain(struct fleet *f, const char *uid, int64_t now_ns)
{
	struct fleet_job *job = fleet_job_find(f, uid);
	struct inquiry q = {f, job, NULL, false};
	const struct quota_queue *queue;
	enum wait_code gate;
	uint64_t allowed;

	if (!job)
		return NULL;
	q.e = explain_create(job->gang, f->n_order);
	if (job->placed) {
		q.e->placed = arena_strdup(&q.e->arena, job->placed->name);
		return q.e;
	}
	gate = fleet_gate(f, job->gang, &allowed);
	queue = quota_find(&f->quotas, job->gang->queue);
	if (queue)
		explain_add_quotas(q.e, queue, job->gang);
	for (size_t i = 0; i < f->n_order; i++)
		add_cluster(&q, f->order[i], now_ns);
	add_funnel(q.e, job->gang);
	explain_conclude(q.e,
			 &(struct explain_gates){gate, queue,
						 queue && quota_covers(queue, job->gang->form),
						 missing_dataset(f, job->gang)},
			 q.any_capable);
	return q.e;
}

/* --- could it ever fit -------------------------------------------------------------------- */

struct survey {
	struct fleet *fleet;
	struct gang *gang;
	struct reason *reasons;
	size_t n, selected, reported, capable;
};

static bool is_eligible(const struct cluster_question *q)
{
	return plugin_namespace.passes(q) && plugin_selector.passes(q);
}

static void ask_cluster(struct survey *s, struct fleet_job *job, struct fleet_cluster *c)
{
	struct cluster_question q = {s->fleet, job, c, 0};
	struct judge j = fleet_judge(s->fleet, c, s->gang->form, UINT64_MAX);

	if (!is_eligible(&q))
		return;
	s->selected++;
	if (!c->has_capacity)
		return;
	s->reported++;
	if (judge_capable(&j) == FILTER_NONE)
		s->capable++;
	else
		s->reasons[s->n++] = (struct reason){
			c->name, fleet_why_not(s->fleet, c, s->gang->form, UINT64_MAX)};
}

/* What all say, when it is that no node has something; NULL otherwise. */
static const char *missing_everywhere(const struct survey *s)
{
	static const char lead[] = "no node has ";

	for (size_t i = 0; i < s->n; i++)
		if (strncmp(s->reasons[i].text, lead, sizeof(lead) - 1) != 0 ||
		    strcmp(s->reasons[i].text, s->reasons[0].text) != 0)
			return NULL;
	return s->n ? s->reasons[0].text + sizeof(lead) - 1 : NULL;
}

static void say_survey(const struct survey *s, enum fleet_fit fit, struct strbuf *out)
{
	const char *missing = missing_everywhere(s);

	if (!s->fleet->n_order) {
		strbuf_adds(out, "no cluster has joined; the job waits");
		return;
	}
	if (!s->selected) {
		strbuf_addf(out, "no cluster takes it (namespace %s%s%s); the job waits",
			    s->gang->ns, *s->gang->selector_text ? ", clusterSelector " : "",
			    s->gang->selector_text);
		return;
	}
	if (fit == FLEET_NEVER_FITS)
		strbuf_addf(out, "fits into no cluster, even when all are empty: ");
	else if (missing)
		strbuf_addf(out, "no cluster that has reported has %s", missing);
	else
		strbuf_adds(out, "no cluster that has reported can hold it");
	if (fit == FLEET_NO_CAPABLE)
		strbuf_addf(out, " (%zu of %zu reported); the job waits", s->reported, s->selected);
	if (fit == FLEET_NO_CAPABLE && !missing && s->n)
		strbuf_adds(out, ": ");
	if (fit == FLEET_NEVER_FITS || !missing)
		reasons_write(s->reasons, s->n, out);
}

static enum fleet_fit survey_result(const struct survey *s)
{
	if (s->capable)
		return FLEET_MAY_FIT;
	return s->selected && s->selected == s->reported ? FLEET_NEVER_FITS : FLEET_NO_CAPABLE;
}

int fleet_fits(struct fleet *f, const struct job *job, enum fleet_fit *ret, struct strbuf *text,
	       struct error *err)
{
	auto_xfree struct reason *reasons = xcalloc(f->n_order, sizeof(*reasons));
	struct survey s = {.fleet = f, .reasons = reasons};
	struct fleet_job asked = {0};

	if (gang_create(&f->model, job, 0, NULL, &s.gang, err) < 0)
		return -1;
	asked.gang = s.gang;
	for (size_t i = 0; i < f->n_order; i++)
		ask_cluster(&s, &asked, f->order[i]);
	*ret = survey_result(&s);
	if (*ret != FLEET_MAY_FIT)
		say_survey(&s, *ret, text);
	gang_destroy(&f->model, s.gang);
	return 0;
}
