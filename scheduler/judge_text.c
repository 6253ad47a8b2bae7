/*
 * Judgements in words: short, without the cluster's name, true of the nodes as they are.
 */
#include <inttypes.h>
#include <string.h>

#include "api/resources.h"
#include "scheduler/judge.h"

/* The first task, in the order of placing, that fails the filter of classes. */
static const struct spec *culprit(const struct judge *j, const struct judgement *what)
{
	const struct form_variant *v = &j->form->variants[what->variant];

	for (size_t i = 0; i < j->form->n_tasks; i++) {
		const struct form_part *p = &v->parts[v->order[i]];

		if (p->replicas && judge_classes(j->capacity, p->spec) == what->filter)
			return p->spec;
	}
	return v->parts[v->order[0]].spec;
}

static void say_architecture(const struct judge *j, const struct spec *s, struct strbuf *out)
{
	for (size_t i = 0; i < s->all.n; i++) {
		if (!s->all.rules[i].architecture)
			continue;
		strbuf_addf(out, "no node has %s", s->all.rules[i].text);
		return;
	}
	strbuf_adds(out, "no node has the required architecture");
}

static bool some_node_has(const struct space *s, const char *resource)
{
	int slot = slots_find(&s->model->slots, resource);
	struct shape_group *g, *next;

	HASH_ITER (hh, s->groups, g, next)
		if (g->count && slot != SLOT_NONE && (size_t)slot < g->stride && g->vectors[slot])
			return true;
	return false;
}

/* The devices that no node has, or all of them when only the combination is missing. */
static void say_device(const struct judge *j, const struct spec *s, struct strbuf *out)
{
	size_t missing = 0, named = 0;

	for (size_t i = 0; i < s->request.n; i++)
		missing += resource_is_extended(s->request.items[i].name) &&
			   !some_node_has(j->capacity, s->request.items[i].name);
	strbuf_adds(out, missing ? "no node has " : "no such node has ");
	for (size_t i = 0; i < s->request.n; i++) {
		const char *name = s->request.items[i].name;

		if (!resource_is_extended(name) || (missing && some_node_has(j->capacity, name)))
			continue;
		strbuf_addf(out, "%s%s", named++ ? " and " : "", name);
	}
}

static const char *class_value(const char *key, void *arg)
{
	const struct node_class *const *c = arg;

	return node_class_label(*c, key);
}

static bool some_node_meets(const struct space *s, const struct spec_rule *r)
{
	struct shape_group *g, *next;

	if (!r->selector)
		return true;
	HASH_ITER (hh, s->groups, g, next) {
		const char *value = node_class_label(g->key.cls, r->key);

		if (g->count && ((value && !strcmp(value, LABEL_BY_NODE)) ||
				 selector_match_fn(r->selector, class_value, &g->key.cls)))
			return true;
	}
	return false;
}

static void say_labels(const struct judge *j, const struct spec *s, struct strbuf *out)
{
	size_t named = 0;

	for (size_t i = 0; i < s->all.n; i++)
		if (!some_node_meets(j->capacity, &s->all.rules[i]))
			strbuf_addf(out, "%s%s", named++ ? " or " : "no node has ",
				    s->all.rules[i].text);
	if (named)
		return;
	if (!s->all.n && s->n_any == 1 && s->any[0].n == 1) {
		strbuf_addf(out, "no such node has %s", s->any[0].rules[0].text);
		return;
	}
	strbuf_adds(out, s->all.n ? "no such node has " : "no such node matches the node affinity");
	for (size_t i = 0; i < s->all.n; i++)
		strbuf_addf(out, "%s%s", i ? ", " : "", s->all.rules[i].text);
}

/* Of the least class by content, so that the same nodes always give the same words. */
static void say_taints(const struct judge *j, const struct spec *s, struct strbuf *out)
{
	const struct node_class *least = NULL;
	const struct taint *t;
	struct shape_group *g, *next;

	HASH_ITER (hh, j->capacity->groups, g, next)
		if (g->count && judge_group(j->capacity, s, g) == FILTER_TAINTS &&
		    (!least || strcmp(g->key.cls->key, least->key) < 0))
			least = g->key.cls;
	t = least ? spec_repelled_by(s, least) : NULL;
	if (t)
		taint_say(t, out);
}

/* --- amounts ------------------------------------------------------------------------------ */

static int64_t largest(const struct judge *j, const struct spec *s, const char *resource)
{
	int slot = slots_find(&j->model->slots, resource);
	struct shape_group *g, *next;
	int64_t most = 0;

	HASH_ITER (hh, j->capacity->groups, g, next)
		if (g->count && slot != SLOT_NONE && (size_t)slot < g->stride &&
		    judge_group(j->capacity, s, g) == FILTER_CAPACITY && g->vectors[slot] > most)
			most = g->vectors[slot];
	return most;
}

static void say_amounts(const char *resource, int64_t have, int64_t want, struct strbuf *out)
{
	strbuf_addf(out, "%s ", resource);
	resource_format(resource, have, out);
	strbuf_adds(out, " of ");
	resource_format(resource, want, out);
}

/* Resources of one pod that are more than any admissible node has; returns how many. */
static size_t say_too_large(const struct judge *j, const struct spec *s, struct strbuf *out)
{
	size_t n = 0;

	for (size_t i = 0; i < s->request.n; i++) {
		const struct resource *r = &s->request.items[i];
		int64_t most = largest(j, s, r->name);

		if (r->amount <= most)
			continue;
		strbuf_adds(out, n++ ? ", " : "the largest node has ");
		say_amounts(r->name, most, r->amount, out);
	}
	return n;
}

/* Of the gang as a whole. Tasks that ask for it may all fit and crowd others out: then there are no
 * numbers to give. */
static void say_shorts(const struct judgement *what, struct strbuf *out)
{
	for (size_t i = 0; i < what->n_shorts; i++) {
		const struct explain_short *s = &what->shorts[i];

		strbuf_adds(out, i ? ", " : " (");
		if (s->have < s->want)
			say_amounts(s->resource, s->have, s->want, out);
		else
			strbuf_adds(out, s->resource);
	}
	strbuf_adds(out, what->n_shorts ? ")" : "");
}

static void say_capacity(const struct judge *j, const struct judgement *what, struct strbuf *out)
{
	const struct form_variant *v = &j->form->variants[what->variant];

	if (!j->capacity->nodes) {
		strbuf_adds(out, "it has no nodes");
		return;
	}
	for (size_t i = 0; i < j->form->n_tasks; i++)
		if (v->parts[i].replicas && say_too_large(j, v->parts[i].spec, out))
			return;
	strbuf_addf(out, "holds %" PRId64 " of %" PRId64 " tasks when empty", what->fits,
		    what->pods);
	say_shorts(what, out);
	for (size_t i = 0; i < j->form->n_tasks; i++) {
		if (!v->parts[i].spec->ports)
			continue;
		strbuf_adds(out, ", one per node for its host ports");
		return;
	}
}

static void say_ports(const struct judge *j, const struct judgement *what, struct strbuf *out)
{
	const struct form_variant *v = &j->form->variants[what->variant];
	size_t named = 0;

	for (size_t i = 0; i < j->form->n_tasks; i++) {
		const struct port_set *p = v->parts[i].spec->ports;

		for (size_t k = 0; p && k < p->n; k++)
			strbuf_addf(out, "%s%" PRId32, named++ ? ", " : "host port ", p->ports[k]);
	}
	strbuf_adds(out, " is taken on nodes with room");
}

void judge_say(const struct judge *j, const struct judgement *what, struct strbuf *out)
{
	switch (what->filter) {
	case FILTER_ARCHITECTURE:
		say_architecture(j, culprit(j, what), out);
		break;
	case FILTER_DEVICE:
		say_device(j, culprit(j, what), out);
		break;
	case FILTER_LABELS:
		say_labels(j, culprit(j, what), out);
		break;
	case FILTER_TAINTS:
		say_taints(j, culprit(j, what), out);
		break;
	case FILTER_CAPACITY:
		say_capacity(j, what, out);
		break;
	case FILTER_PORTS:
		say_ports(j, what, out);
		break;
	case FILTER_ROOM:
		strbuf_addf(out, "room for %" PRId64 " of %" PRId64 " tasks", what->fits,
			    what->pods);
		break;
	default:
		break;
	}
}
