/*
 * Making explanations: what both levels share. The renderers are in explain_text.c and
 * explain_json.c.
 */
#include "scheduler/explain.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "api/quantity.h"
#include "scheduler/explain_internal.h"
#include "scheduler/saturate.h"

const char *wait_code_name(enum wait_code c)
{
	static const char *const names[] = {
#define X(name, code, text) [WAIT_##name] = code,
		WAIT_CODES(X)
#undef X
	};

	return names[c];
}

const char *verdict_name(enum verdict v)
{
	static const char *const names[] = {[VERDICT_FITS] = "fits",
					    [VERDICT_FULL] = "full",
					    [VERDICT_NEVER] = "never fits",
					    [VERDICT_EXCLUDED] = "excluded"};

	return names[v];
}

void explain_bytes(int64_t bytes, struct strbuf *out)
{
	static const char units[] = "KMGTPE";
	int64_t whole = bytes, rest = 0;
	int unit = -1;

	if (bytes < 1024) {
		strbuf_addf(out, "%" PRId64 " B", bytes);
		return;
	}
	for (; whole >= 1024; unit++) {
		rest = whole % 1024;
		whole /= 1024;
	}
	if (rest * 10 / 1024)
		strbuf_addf(out, "%" PRId64 ".%" PRId64 "%ci", whole, rest * 10 / 1024,
			    units[unit]);
	else
		strbuf_addf(out, "%" PRId64 "%ci", whole, units[unit]);
}

void explain_amount(const char *resource, int64_t amount, struct strbuf *out)
{
	if (!strcmp(resource, "memory"))
		explain_bytes(amount, out);
	else
		resource_format(resource, amount, out);
}

void explain_destroy(struct explain *e)
{
	if (!e)
		return;
	arena_finish(&e->arena);
	free(e);
}

struct explain *explain_create(const struct gang *g, size_t n_places)
{
	struct explain *e = xnew0(struct explain);
	struct arena *a = &e->arena;

	e->uid = arena_strdup(a, g->uid);
	e->ns = arena_strdup(a, g->ns);
	e->name = arena_strdup(a, g->name);
	e->queue = arena_strdup(a, g->queue);
	e->priority = g->priority;
	e->submitted_ns = g->submitted.ns;
	e->pods = g->form->variants[0].pods;
	e->detail = e->remedy = e->funnel_of = "";
	e->places = arena_array(a, struct explain_place, n_places + 1);
	e->steps = arena_array(a, struct explain_step, FILTERS_N);
	e->has_data = g->n_datasets != 0;
	return e;
}

void explain_add_quotas(struct explain *e, const struct quota_queue *q, const struct gang *g)
{
	const struct resource_list *total = &g->form->variants[0].total;
	struct quota_excess x;

	e->quotas = arena_array(&e->arena, struct explain_quota, total->n + 1);
	while (quota_excess(q, total, e->n_quotas, &x))
		e->quotas[e->n_quotas++] = (struct explain_quota){
			arena_strdup(&e->arena, x.resource), x.capability, x.used, x.needs};
}

/* --- places ------------------------------------------------------------------------------- */

/* Which alternatives this is about; "" when there is no choice. */
static const char *variant_text(struct arena *a, const struct gang *g, size_t variant)
{
	struct strbuf b = {.limit = 200};
	const char *text;

	for (size_t i = 0; g->form->n_variants > 1 && i < g->form->n_tasks; i++) {
		int32_t alternative = g->form->variants[variant].parts[i].alternative;

		if (alternative >= 0)
			strbuf_addf(&b, "%s%s: alternative %" PRId32, b.size ? ", " : "",
				    g->tasks[i], alternative + 1);
	}
	text = arena_strdup(a, strbuf_str(&b));
	strbuf_finish(&b);
	return text;
}

void explain_add_judged(struct explain *e, const struct gang *g, const char *name,
			const struct judge *j)
{
	struct explain_place *p = &e->places[e->n_places++];
	struct judgement what;

	judge_fully(j, &e->arena, &what);
	p->name = arena_strdup(&e->arena, name);
	p->verdict = what.verdict;
	p->filter = what.filter;
	p->detail = what.detail;
	p->sole = what.sole;
	p->shorts = what.shorts;
	p->n_shorts = what.n_shorts;
	for (size_t i = 0; i < p->n_shorts; i++)
		p->shorts[i].resource = arena_strdup(&e->arena, p->shorts[i].resource);
	p->fits = what.fits;
	p->pods = what.pods;
	p->variant = variant_text(&e->arena, g, what.variant);
}

/* --- funnel ------------------------------------------------------------------------------- */

static unsigned asked_by_spec(const struct spec *s)
{
	unsigned asked = s->n_any ? FILTER_BIT(FILTER_LABELS) : 0;

	for (size_t i = 0; i < s->all.n; i++)
		asked |= FILTER_BIT(s->all.rules[i].architecture ? FILTER_ARCHITECTURE
								 : FILTER_LABELS);
	for (size_t i = 0; i < s->request.n; i++)
		if (resource_is_extended(s->request.items[i].name))
			asked |= FILTER_BIT(FILTER_DEVICE);
	if (s->ports)
		asked |= FILTER_BIT(FILTER_PORTS);
	return asked;
}

unsigned explain_asked(const struct gang *g)
{
	unsigned asked = FILTER_BIT(FILTER_CAPACITY) | FILTER_BIT(FILTER_ROOM);

	if (!selector_is_empty(g->cluster_selector))
		asked |= FILTER_BIT(FILTER_SELECTOR);
	if (g->n_tolerations)
		asked |= FILTER_BIT(FILTER_CLUSTER_TAINTS);
	for (size_t i = 0; i < g->form->n_tasks; i++)
		asked |= asked_by_spec(g->form->variants[0].parts[i].spec);
	return asked;
}

void explain_add_step(struct explain *e, enum filter f, int64_t left, int64_t alone)
{
	e->steps[e->n_steps++] = (struct explain_step){f, left, alone};
}

/* --- conclusion --------------------------------------------------------------------------- */

static bool any_verdict(const struct explain *e, enum verdict v)
{
	for (size_t i = 0; i < e->n_places; i++)
		if (e->places[i].verdict == v)
			return true;
	return false;
}

static enum wait_code code_of_places(const struct explain *e, bool any_capable)
{
	if (any_verdict(e, VERDICT_FITS))
		return WAIT_NONE;
	if (any_verdict(e, VERDICT_FULL))
		return WAIT_NO_ROOM;
	return any_capable || !e->n_places ? WAIT_NO_CLUSTER : WAIT_NO_CAPABLE_CLUSTER;
}

static void say_quota(const struct explain *e, struct strbuf *detail, struct strbuf *remedy)
{
	strbuf_addf(detail, "quota of %s: ", e->queue);
	for (size_t i = 0; i < e->n_quotas; i++) {
		const struct explain_quota *q = &e->quotas[i];

		strbuf_addf(detail, "%s%s ", i ? ", " : "", q->resource);
		explain_amount(q->resource, q->used, detail);
		strbuf_adds(detail, " of ");
		explain_amount(q->resource, q->capability, detail);
		strbuf_adds(detail, " used, needs ");
		explain_amount(q->resource, q->needs, detail);
		strbuf_addf(remedy, "%s", i ? ", and when " : "It starts when ");
		if (q->needs <= q->capability) {
			explain_amount(q->resource,
				       saturating_add(q->used, q->needs) - q->capability, remedy);
			strbuf_addf(remedy, " %s come back to %s, or ", q->resource, e->queue);
		}
		strbuf_addf(remedy, "its capability of %s becomes ", q->resource);
		explain_amount(q->resource, saturating_add(q->used, q->needs), remedy);
	}
	strbuf_addc(remedy, '.');
}

/* The place that is nearest to holding it, among those with this verdict. */
static const struct explain_place *nearest(const struct explain *e, enum verdict v)
{
	const struct explain_place *best = NULL;

	for (size_t i = 0; i < e->n_places; i++) {
		const struct explain_place *p = &e->places[i];

		if (p->verdict == v &&
		    (!best || (__int128)p->fits * best->pods > (__int128)best->fits * p->pods))
			best = p;
	}
	return best;
}

/* Tasks that ask for it may all fit and crowd others out: then there are no numbers to give. */
void explain_write_short(const struct explain_short *s, struct strbuf *out)
{
	strbuf_adds(out, s->resource);
	if (s->have >= s->want)
		return;
	strbuf_adds(out, ": ");
	explain_amount(s->resource, s->have, out);
	strbuf_adds(out, " of ");
	explain_amount(s->resource, s->want, out);
}

static void say_shorts(const struct explain_place *p, struct strbuf *out)
{
	for (size_t i = 0; i < p->n_shorts; i++) {
		strbuf_adds(out, i ? ", " : "; short of ");
		explain_write_short(&p->shorts[i], out);
	}
}

static void say_room(const struct explain *e, struct strbuf *detail, struct strbuf *remedy)
{
	const struct explain_place *p = nearest(e, VERDICT_FULL);

	strbuf_addf(detail, "gang: largest room is %" PRId64 " of %" PRId64 " tasks, in %s",
		    p->fits, p->pods, p->name);
	if (p->filter == FILTER_PORTS)
		strbuf_addf(detail, "; %s", p->detail);
	say_shorts(p, detail);
	strbuf_addf(remedy, "It starts when %s has room for %" PRId64 " more.", p->name,
		    p->pods - p->fits);
}

static void say_places(const struct explain *e, struct strbuf *detail)
{
	struct arena scratch = {0};
	struct reason *reasons = arena_array(&scratch, struct reason, e->n_places + 1);

	for (size_t i = 0; i < e->n_places; i++)
		reasons[i] = (struct reason){e->places[i].name, e->places[i].detail};
	if (e->n_places)
		reasons_write(reasons, e->n_places, detail);
	else
		strbuf_adds(detail, "no cluster has joined");
	arena_finish(&scratch);
}

static void say_code(const struct explain *e, enum wait_code code, const char *missing_dataset,
		     struct strbuf *detail, struct strbuf *remedy)
{
	switch (code) {
	case WAIT_NONE:
		break;
	case WAIT_DATASET_NOT_FOUND:
		strbuf_addf(detail, "data set %s does not exist", missing_dataset);
		break;
	case WAIT_QUEUE_NOT_FOUND:
		strbuf_addf(detail, "queue %s does not exist", e->queue);
		break;
	case WAIT_QUEUE_CLOSED:
		strbuf_addf(detail, "queue %s is closed", e->queue);
		strbuf_adds(remedy, "It starts when the queue is opened.");
		break;
	case WAIT_QUOTA:
		say_quota(e, detail, remedy);
		break;
	case WAIT_NO_ROOM:
		say_room(e, detail, remedy);
		break;
	case WAIT_NO_CLUSTER:
		say_places(e, detail);
		break;
	case WAIT_NO_CAPABLE_CLUSTER:
		say_places(e, detail);
		strbuf_adds(remedy, "It starts when nodes that can hold it join.");
		break;
	}
}

static struct explain_gate say_gate(struct explain *e, enum wait_code code,
				    const char *missing_dataset)
{
	struct strbuf detail = {.limit = 400}, remedy = {.limit = 300};
	struct explain_gate gate = {.code = code};

	say_code(e, code, missing_dataset, &detail, &remedy);
	gate.detail = arena_strdup(&e->arena, strbuf_str(&detail));
	gate.remedy = arena_strdup(&e->arena, strbuf_str(&remedy));
	strbuf_finish(&detail);
	strbuf_finish(&remedy);
	return gate;
}

/* Behind the first. Without a queue there is none that could be closed or used up. */
static void add_others(struct explain *e, const struct explain_gates *g)
{
	const struct quota_queue *q = g->queue;
	bool shut[] = {
		[WAIT_QUEUE_NOT_FOUND] = !q,
		[WAIT_QUEUE_CLOSED] = q && !q->open,
		[WAIT_QUOTA] = q && !g->covers,
		[WAIT_NO_CLUSTER] = !e->n_places,
	};

	e->others = arena_array(&e->arena, struct explain_gate, ARRAY_LEN(shut));
	for (enum wait_code c = g->first + 1; g->first && c < ARRAY_LEN(shut); c++)
		if (shut[c])
			e->others[e->n_others++] = say_gate(e, c, NULL);
}

/* Were the code's reason lifted alone, would it start? */
static bool is_sole(const struct explain *e, enum wait_code gate)
{
	if (gate == WAIT_QUOTA || gate == WAIT_QUEUE_CLOSED || gate == WAIT_DATASET_NOT_FOUND)
		return any_verdict(e, VERDICT_FITS) && !e->n_others;
	for (size_t i = 0; i < e->n_places; i++)
		if (e->places[i].sole)
			return gate == WAIT_NONE;
	return false;
}

void explain_conclude(struct explain *e, const struct explain_gates *gates, bool any_capable)
{
	enum wait_code gate = gates->first;
	struct explain_gate said;

	e->code = gate == WAIT_NONE ? code_of_places(e, any_capable) : gate;
	add_others(e, gates);
	e->sole = is_sole(e, gate);
	said = say_gate(e, e->code, gates->missing_dataset);
	e->detail = said.detail;
	e->remedy = said.remedy;
}
