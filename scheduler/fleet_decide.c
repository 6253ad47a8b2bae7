/*
 * Deciding at level 1: one pass over the waiting jobs, a cluster for each that fits somewhere.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "scheduler/allocate.h"
#include "scheduler/fleet_internal.h"
#include "scheduler/saturate.h"

/* --- what comes before clusters ----------------------------------------------------------- */

enum wait_code fleet_gate(const struct fleet *f, const struct gang *g, uint64_t *ret_allowed)
{
	const struct quota_queue *q = quota_find(&f->quotas, g->queue);

	*ret_allowed = q ? quota_allows(q, g->form) : 0;
	for (size_t i = 0; i < g->n_datasets; i++)
		if (!fleet_dataset_find(f, g->datasets[i]))
			return WAIT_DATASET_NOT_FOUND;
	if (!q)
		return WAIT_QUEUE_NOT_FOUND;
	if (!q->open)
		return WAIT_QUEUE_CLOSED;
	return *ret_allowed ? WAIT_NONE : WAIT_QUOTA;
}

const struct plugin *fleet_filter(const struct cluster_question *q, enum filter skip)
{
	for (const struct plugin *const *p = plugins; *p; p++)
		if ((*p)->passes && (*p)->filter != skip && !(*p)->passes(q))
			return *p;
	return NULL;
}

/* --- what an option is worth -------------------------------------------------------------- */

static int64_t unasked_units(const struct space *s, const struct shape_group *g, uint64_t asked)
{
	int64_t units = 0;

	for (uint32_t i = SLOTS_FIXED; i < s->stride && i < s->model->slots.n; i++)
		if (s->model->slots.items[i]->extended && !(asked >> (i & 63) & 1))
			units += group_free(g)[i];
	return units;
}

/* On the nodes that were taken since the mark, each counted once, as it is now. */
static int64_t count_waste(struct space *s, size_t mark, const struct form_variant *v,
			   size_t n_tasks)
{
	uint64_t asked = 0;
	int64_t waste = 0;

	for (size_t i = 0; i < n_tasks; i++)
		asked |= v->parts[i].spec->demand.extended;
	for (size_t i = mark; i < s->n_log; i++) {
		struct move *m = &s->log[i];

		m->from->touched -= m->from->touched < m->n ? m->from->touched : m->n;
		m->to->touched += m->n;
	}
	for (size_t i = mark; i < s->n_log; i++) {
		struct shape_group *g = s->log[i].to;

		waste = saturating_add(waste,
				       saturating_mul(g->touched, unasked_units(s, g, asked)));
		g->touched = 0;
	}
	return waste;
}

/* The resource of which the gang takes the largest share of the cluster. */
static void measure_dominant(struct cluster_option *o, const struct form_variant *v)
{
	const struct fleet_cluster *c = o->cluster;
	int64_t part = 0, whole = 1;

	o->capacity = 1;
	for (size_t i = 0; i < v->total.n; i++) {
		int slot = slots_find(&c->free.model->slots, v->total.items[i].name);
		int64_t total;

		if (slot == SLOT_NONE || slot == SLOT_PODS || (size_t)slot >= c->capacity.stride ||
		    (size_t)slot >= c->free.stride)
			continue;
		total = c->capacity.total[slot];
		if (!total || (__int128)v->total.items[i].amount * whole <= (__int128)part * total)
			continue;
		part = v->total.items[i].amount;
		whole = o->capacity = total;
		o->free = c->free.total[slot];
	}
}

static int compare_options(const void *a, const void *b)
{
	int order = 0;

	for (const struct plugin *const *p = plugins; *p && !order; p++)
		if ((*p)->prefer)
			order = (*p)->prefer(a, b);
	return order;
}

/* --- one job ------------------------------------------------------------------------------ */

struct contest {
	struct fleet *fleet;
	struct fleet_job *job;
	uint64_t allowed;
	struct cluster_option *options; /* where it fits */
	size_t n;
	struct fleet_cluster *leader; /* of the best option, whose takings are still in its log */
	struct cluster_option best;
	size_t mark;
	bool looked; /* at some room that was not known to be too small */
};

/* The first allowed variant that fits stays in the log; -1 when none does. */
static int try_variants(struct contest *k, struct fleet_cluster *c)
{
	struct form *form = k->job->gang->form;
	struct form_memory *m = form_memory(form, c->free.id);

	if (m->full == c->free.growth + 1)
		return -1;
	k->looked = true;
	for (size_t i = 0; i < form->n_variants; i++)
		if (k->allowed >> i & 1 &&
		    allocate_gang(&c->free, &form->variants[i], form->n_tasks))
			return (int)i;
	if ((k->allowed & form_all(form)) == form_all(form))
		m->full = c->free.growth + 1;
	return -1;
}

static void enter(struct contest *k, struct fleet_cluster *c)
{
	struct form *form = k->job->gang->form;
	size_t mark = space_mark(&c->free);
	int variant = try_variants(k, c);
	struct cluster_option o = {.cluster = c, .name = c->name, .variant = (size_t)variant};

	if (variant < 0)
		return;
	o.bytes = fleet_bytes_missing(k->fleet, k->job->gang, c->name);
	o.waste = count_waste(&c->free, mark, &form->variants[variant], form->n_tasks);
	measure_dominant(&o, &form->variants[variant]);
	k->options[k->n++] = o;
	if (k->leader && compare_options(&k->best, &o) < 0) {
		space_rollback(&c->free, mark);
		return;
	}
	if (k->leader)
		space_rollback(&k->leader->free, k->mark);
	k->leader = c;
	k->best = o;
	k->mark = mark;
}

static void run_contest(struct contest *k)
{
	struct fleet *f = k->fleet;

	for (size_t i = 0; i < f->n_order; i++) {
		struct cluster_question q = {f, k->job, f->order[i], f->session.now_ns};

		if (!fleet_filter(&q, FILTER_NONE))
			enter(k, f->order[i]);
	}
	qsort(k->options, k->n, sizeof(*k->options), compare_options);
}

/* --- saying why --------------------------------------------------------------------------- */

static void say_choice(const struct contest *k, struct strbuf *out)
{
	for (const struct plugin *const *p = plugins; *p; p++) {
		if (!(*p)->prefer || !(*p)->prefer(&k->options[0], &k->options[1]))
			continue;
		(*p)->say(&k->options[0], &k->options[1], k->n, k->fleet->n_order, out);
		return;
	}
}

/* Why the clusters other than `except` do not take it, as one of the allowed variants. */
static void say_others(const struct contest *k, const struct fleet_cluster *except,
		       uint64_t allowed, struct strbuf *out)
{
	struct fleet *f = k->fleet;
	struct arena scratch = {0};
	struct reason *reasons = arena_array(&scratch, struct reason, f->n_order + 1);
	size_t n = 0;

	for (size_t i = 0; i < f->n_order; i++) {
		struct cluster_question q = {f, k->job, f->order[i], f->session.now_ns};
		const struct plugin *p = fleet_filter(&q, FILTER_NONE);
		struct strbuf text = {.limit = 200};

		if (f->order[i] == except)
			continue;
		if (p)
			p->why(&q, &text);
		else
			strbuf_adds(&text,
				    fleet_why_not(f, f->order[i], k->job->gang->form, allowed));
		reasons[n++] = (struct reason){f->order[i]->name,
					       arena_strdup(&scratch, strbuf_str(&text))};
		strbuf_finish(&text);
	}
	reasons_write(reasons, n, out);
	arena_finish(&scratch);
}

/* A better alternative was not taken: where it stands, unless it would have fitted elsewhere. */
static void say_better_variant(const struct contest *k, struct strbuf *out)
{
	for (size_t i = 0; i < k->n; i++)
		if (k->options[i].variant < k->best.variant)
			return;
	strbuf_addf(out, "%salternative %zu: none before it fits now", out->size ? "; " : "",
		    k->best.variant + 1);
}

static const char *say_why(struct contest *k)
{
	struct arena *a = &k->fleet->session.arena;
	struct strbuf text = {.limit = 500};
	const char *why;

	if (k->n > 1)
		say_choice(k, &text);
	else if (k->fleet->n_order > 1)
		say_others(k, k->leader, k->allowed, &text);
	else
		strbuf_adds(&text, "the only cluster");
	if (k->best.variant)
		say_better_variant(k, &text);
	why = arena_strdup(a, strbuf_str(&text));
	strbuf_finish(&text);
	return why;
}

static const char *say_lost(struct arena *a, const struct cluster_option *won,
			    const struct cluster_option *lost)
{
	struct strbuf text = {.limit = 200};
	const char *why = "";

	for (const struct plugin *const *p = plugins; *p; p++) {
		if (!(*p)->prefer || !(*p)->prefer(won, lost))
			continue;
		(*p)->say_lost(lost, &text);
		why = arena_strdup(a, strbuf_str(&text));
		break;
	}
	strbuf_finish(&text);
	return why;
}

/* --- the decision ------------------------------------------------------------------------- */

static const struct fleet_choice *copy_choices(struct arena *a, const struct gang *g,
					       size_t variant)
{
	struct fleet_choice *to = arena_array(a, struct fleet_choice, g->form->n_tasks + 1);

	for (size_t i = 0; i < g->form->n_tasks; i++) {
		const struct form_part *p = &g->form->variants[variant].parts[i];

		to[i] = (struct fleet_choice){g->tasks[i], p->alternative, p->replicas};
	}
	return to;
}

static void fill_decision(struct contest *k, struct fleet_decision *ret)
{
	const struct gang *g = k->job->gang;
	struct arena *a = &k->fleet->session.arena;

	ret->cluster = k->leader->name;
	ret->why = say_why(k);
	ret->choices = copy_choices(a, g, k->best.variant);
	ret->n_choices = g->form->n_tasks;
	for (size_t i = 1; i < k->n && i <= FLEET_RUNNERS_UP; i++)
		ret->runners_up[ret->n_runners_up++] = (struct fleet_runner_up){
			k->options[i].name, say_lost(a, &k->options[0], &k->options[i])};
}

static void carry_out(struct contest *k)
{
	struct fleet *f = k->fleet;
	struct debit d = debit_make(k->job, k->best.variant, 0);

	d.mark = k->mark;
	debit_append(k->leader, d);
	pending_remove(&f->pending, k->job->gang);
	fleet_charge(f, k->job, (int)k->best.variant);
	k->job->placed = k->leader;
	k->job->decided_seq = k->leader->capacity_seq;
	f->version++;
}

static enum wait_code wait_code_now(struct fleet *f, struct fleet_job *job)
{
	bool any_full = false, any_capable = false;

	for (size_t i = 0; i < f->n_order; i++) {
		struct cluster_question q = {f, job, f->order[i], f->session.now_ns};
		struct judge j = fleet_judge(f, f->order[i], job->gang->form, UINT64_MAX);
		bool capable = f->order[i]->has_capacity && judge_capable(&j) == FILTER_NONE;

		any_capable |= capable;
		any_full |= capable && !fleet_filter(&q, FILTER_NONE);
	}
	return any_full                     ? WAIT_NO_ROOM
	       : any_capable || !f->n_order ? WAIT_NO_CLUSTER
					    : WAIT_NO_CAPABLE_CLUSTER;
}

static void init_decision(const struct fleet_job *job, struct fleet_decision *ret)
{
	*ret = (struct fleet_decision){.uid = job->gang->uid,
				       .ns = job->gang->ns,
				       .name = job->gang->name,
				       .generation = job->generation};
}

/* True when there is something to say about the job. */
static bool decide(struct fleet *f, struct fleet_job *job, struct fleet_decision *ret)
{
	struct contest k = {.fleet = f, .job = job};
	enum wait_code wait = fleet_gate(f, job->gang, &k.allowed);
	bool news;

	init_decision(job, ret);
	if (wait == WAIT_NONE) {
		k.options = arena_array(&f->session.arena, struct cluster_option, f->n_order + 1);
		run_contest(&k);
		if (k.leader) {
			fill_decision(&k, ret);
			carry_out(&k);
			return true;
		}
		wait = wait_code_now(f, job);
	}
	ret->wait = wait;
	news = !job->asked || k.looked || wait != job->said;
	job->asked = true;
	job->said = wait;
	if (!job->n_backoffs) /* a refusal may run out without an event */
		pending_seen(&f->pending, job->gang, f->version);
	return news;
}

/* --- turns -------------------------------------------------------------------------------- */

void fleet_resume_finish(struct fleet *f)
{
	free(f->resume.key.uid);
	f->resume.key = (struct gang){0};
	f->resume.set = false;
}

static void stop_at(struct fleet *f, const struct gang *g)
{
	struct gang key = {.priority = g->priority, .submitted = g->submitted};

	/* A turn from the top that did not get as far leaves the rest its place. */
	if (f->resume.set && f->resume.from_top && plugins_order(g, &f->resume.key) < 0)
		return;
	key.uid = xstrdup(g->uid);
	fleet_resume_finish(f);
	f->resume.set = true;
	f->resume.key = key;
}

void fleet_session_begin(struct fleet *f, int64_t now_ns)
{
	bool news = f->resume.submitted || f->version != f->resume.version;

	assert(!f->session.open);
	f->resume.from_top = !f->resume.set || (news && !f->resume.from_top);
	f->session.open = true;
	f->session.now_ns = now_ns;
	f->session.after = f->resume.from_top ? NULL : &f->resume.key;
	f->session.wrapped = f->session.over = false;
}

/* Behind the last one; at the end, what stands before the place where the session began. */
static struct gang *next_gang(struct fleet *f)
{
	struct gang *g = pending_next(&f->pending, f->session.after, f->version);

	if (!g && !f->resume.from_top && !f->session.wrapped) {
		f->session.wrapped = true;
		g = pending_next(&f->pending, NULL, f->version);
	}
	return g && f->session.wrapped && plugins_order(&f->resume.key, g) < 0 ? NULL : g;
}

bool fleet_session_next(struct fleet *f, struct fleet_decision *ret)
{
	struct gang *g;

	assert(f->session.open);
	while ((g = next_gang(f))) {
		f->session.after = g;
		arena_finish(&f->session.arena);
		if (decide(f, g->owner, ret))
			return true;
	}
	f->session.over = true;
	return false;
}

void fleet_session_end(struct fleet *f)
{
	assert(f->session.open);
	if (f->session.over)
		fleet_resume_finish(f);
	else if (f->session.after && f->session.after != &f->resume.key)
		stop_at(f, f->session.after);
	f->session.open = false;
	f->session.after = NULL;
	f->resume.version = f->version;
	f->resume.submitted = false;
	arena_finish(&f->session.arena);
}
