#include "scheduler/judge.h"

#include <stdlib.h>
#include <string.h>

#include "scheduler/allocate.h"
#include "scheduler/saturate.h"

/* --- classes ------------------------------------------------------------------------------ */

bool judge_lacks_device(const struct space *s, const struct spec *spec, const struct shape_group *g)
{
	for (size_t i = 0; i < spec->request.n; i++) {
		const struct resource *r = &spec->request.items[i];
		int slot;

		if (r->amount <= 0 || !resource_is_extended(r->name))
			continue;
		slot = slots_find(&s->model->slots, r->name);
		if (slot == SLOT_NONE || (size_t)slot >= g->stride || !g->vectors[slot])
			return true;
	}
	return false;
}

/* Asks the nodes where the class leaves it open. */
static bool admits_some(struct space *s, const struct spec *spec, const struct shape_group *g,
			unsigned ignore)
{
	enum admission a = spec_judge(spec, g->key.cls, ignore);

	if (a == ADMIT_BY_NODE && s->seated)
		return space_any_seat(s, spec, g);
	return a != ADMIT_NO;
}

enum filter judge_group(struct space *s, const struct spec *spec, const struct shape_group *g)
{
	const unsigned labels = FILTER_BIT(FILTER_LABELS), taints = FILTER_BIT(FILTER_TAINTS);

	if (spec_judge(spec, g->key.cls, labels | taints) == ADMIT_NO)
		return FILTER_ARCHITECTURE;
	if (judge_lacks_device(s, spec, g))
		return FILTER_DEVICE;
	if (!admits_some(s, spec, g, taints))
		return FILTER_LABELS;
	return spec_judge(spec, g->key.cls, 0) == ADMIT_NO ? FILTER_TAINTS : FILTER_CAPACITY;
}

enum filter judge_classes(struct space *s, const struct spec *spec)
{
	enum filter furthest = FILTER_ARCHITECTURE;
	struct shape_group *g, *next;

	if (!s->nodes)
		return FILTER_CAPACITY;
	HASH_ITER (hh, s->groups, g, next) {
		enum filter f = g->count ? judge_group(s, spec, g) : FILTER_ARCHITECTURE;

		if (f > furthest)
			furthest = f;
	}
	return furthest;
}

/* --- variants, with something lifted ------------------------------------------------------ */

/* A copy whose specs lack what is lifted; ended by lifted_finish. */
static void lifted_init(const struct judge *j, const struct form_variant *v, struct lift lift,
			struct form_variant *ret)
{
	*ret = *v;
	ret->parts = xcalloc(j->form->n_tasks, sizeof(*ret->parts));
	for (size_t i = 0; i < j->form->n_tasks; i++) {
		ret->parts[i] = v->parts[i];
		ret->parts[i].spec = spec_variant(j->model, v->parts[i].spec, lift.filters,
						  lift.resources, lift.n_resources);
	}
	ret->order = xcalloc(j->form->n_tasks, sizeof(*ret->order));
	form_order(ret->parts, j->form->n_tasks, ret->order);
}

static void lifted_finish(const struct judge *j, struct form_variant *v)
{
	for (size_t i = 0; i < j->form->n_tasks; i++)
		spec_unref(j->model, v->parts[i].spec);
	free(v->parts);
	free(v->order);
}

static bool fits(struct space *s, const struct form_variant *v, size_t n_tasks)
{
	size_t mark = space_mark(s);
	bool ok = allocate_gang(s, v, n_tasks);

	space_rollback(s, mark);
	return ok;
}

static bool has_ports(const struct judge *j, const struct form_variant *v)
{
	for (size_t i = 0; i < j->form->n_tasks; i++)
		if (v->parts[i].spec->ports)
			return true;
	return false;
}

static bool fits_without_ports(const struct judge *j, const struct form_variant *v)
{
	const struct lift ports = {.filters = FILTER_BIT(FILTER_PORTS)};
	struct form_variant lifted;
	bool ok;

	if (!has_ports(j, v))
		return false;
	lifted_init(j, v, ports, &lifted);
	ok = fits(j->free, &lifted, j->form->n_tasks);
	lifted_finish(j, &lifted);
	return ok;
}

static enum filter first_failed(const struct judge *j, const struct form_variant *v)
{
	enum filter least = FILTER_CAPACITY;

	if (fits(j->free, v, j->form->n_tasks))
		return FILTER_NONE;
	for (size_t i = 0; i < j->form->n_tasks; i++) {
		enum filter f = v->parts[i].replicas ? judge_classes(j->capacity, v->parts[i].spec)
						     : FILTER_CAPACITY;

		if (f < least)
			least = f;
	}
	if (least < FILTER_CAPACITY || !fits(j->capacity, v, j->form->n_tasks))
		return least;
	return fits_without_ports(j, v) ? FILTER_PORTS : FILTER_ROOM;
}

enum filter judge_variant(const struct judge *j, const struct form_variant *v, struct lift lift)
{
	struct form_variant lifted;
	enum filter f;

	if (!lift.filters && !lift.n_resources)
		return first_failed(j, v);
	lifted_init(j, v, lift, &lifted);
	f = first_failed(j, &lifted);
	lifted_finish(j, &lifted);
	return f;
}

enum filter judge_form(const struct judge *j, struct lift lift, size_t *ret_variant)
{
	enum filter furthest = FILTER_READY;
	size_t variant = 0;

	for (size_t i = 0; i < j->form->n_variants && furthest != FILTER_NONE; i++) {
		enum filter f;

		if (!(j->allowed >> i & 1))
			continue;
		f = judge_variant(j, &j->form->variants[i], lift);
		if (f > furthest) {
			furthest = f;
			variant = i;
		}
	}
	*ret_variant = variant;
	return furthest;
}

enum filter judge_capable(const struct judge *j)
{
	struct form_memory *m = form_memory(j->form, j->capacity->id);
	struct judge all = *j;
	size_t variant;

	if (m->judged == j->capacity->growth + 1)
		return m->capable;
	all.free = j->capacity;
	all.allowed = UINT64_MAX;
	m->capable = judge_form(&all, (struct lift){0}, &variant);
	m->judged = j->capacity->growth + 1;
	return m->capable;
}

/* --- in full ------------------------------------------------------------------------------ */

static bool lifts(const struct judge *j, struct lift lift, enum filter past)
{
	size_t variant;

	return judge_form(j, lift, &variant) > past;
}

static void add_short(struct judgement *ret, const char *resource, bool sole)
{
	ret->shorts[ret->n_shorts++] = (struct explain_short){.resource = resource, .sole = sole};
}

/* No resource alone helps: of those that help together, a set of which none can be spared. */
static void find_joint_shorts(const struct judge *j, struct judgement *ret)
{
	const struct form_variant *v = &j->form->variants[ret->variant];
	auto_xfree const char **names = xcalloc(v->total.n, sizeof(char *));
	size_t n = 0;

	for (size_t i = 0; i < v->total.n; i++)
		names[n++] = v->total.items[i].name;
	if (judge_variant(j, v, (struct lift){.resources = names, .n_resources = n}) <= ret->filter)
		return;
	for (size_t i = n; i-- > 0;) {
		const char *tried = names[i];

		names[i] = names[n - 1];
		if (judge_variant(j, v, (struct lift){.resources = names, .n_resources = n - 1}) >
		    ret->filter)
			n--;
		else
			names[i] = tried;
	}
	for (size_t i = 0; i < n; i++)
		add_short(ret, names[i], false);
}

/* Which resources hold it back; for CAPACITY, from fitting when all nodes are empty. */
static void find_shorts(const struct judge *j, struct arena *a, struct judgement *ret)
{
	const struct form_variant *v = &j->form->variants[ret->variant];

	ret->shorts = arena_array(a, struct explain_short, v->total.n + 1);
	for (size_t i = 0; i < v->total.n; i++) {
		const char *name = v->total.items[i].name;
		enum filter f =
			judge_variant(j, v, (struct lift){.resources = &name, .n_resources = 1});

		if (f > ret->filter)
			add_short(ret, name, true);
		if (f == FILTER_NONE)
			ret->sole = true;
	}
	if (!ret->n_shorts)
		find_joint_shorts(j, ret);
}

/* What the largest part that fits gets. */
static void measure(const struct judge *j, struct judgement *ret)
{
	struct space *s = ret->verdict == VERDICT_NEVER ? j->capacity : j->free;
	const struct form_variant *v = &j->form->variants[ret->variant];
	auto_xfree int64_t *placed = xcalloc(j->form->n_tasks, sizeof(*placed));
	size_t mark = space_mark(s);

	ret->pods = v->pods;
	ret->fits = allocate_most(s, v, j->form->n_tasks, placed);
	space_rollback(s, mark);
	for (size_t i = 0; i < ret->n_shorts; i++) {
		struct explain_short *lack = &ret->shorts[i];

		lack->want = resource_list_get(&v->total, lack->resource);
		for (size_t k = 0; k < j->form->n_tasks; k++)
			lack->have = saturating_add(
				lack->have,
				saturating_mul(placed[k],
					       resource_list_get(&v->parts[k].spec->request,
								 lack->resource)));
	}
}

void judge_fully(const struct judge *j, struct arena *a, struct judgement *ret)
{
	struct strbuf text = {.limit = 300};

	*ret = (struct judgement){.detail = ""};
	ret->filter = judge_form(j, (struct lift){0}, &ret->variant);
	ret->pods = ret->fits = j->form->variants[ret->variant].pods;
	if (ret->filter == FILTER_NONE)
		return;
	ret->verdict = ret->filter <= FILTER_CAPACITY ? VERDICT_NEVER : VERDICT_FULL;
	if (ret->filter == FILTER_CAPACITY || ret->filter == FILTER_ROOM)
		find_shorts(j, a, ret);
	else
		ret->sole =
			lifts(j, (struct lift){.filters = FILTER_BIT(ret->filter)}, FILTER_ROOM);
	measure(j, ret);
	judge_say(j, ret, &text);
	ret->detail = arena_strdup(a, strbuf_str(&text));
	strbuf_finish(&text);
}
