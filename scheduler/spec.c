/*
 * Judging classes and nodes by specs. How a spec is read from a pod is in spec_parse.c.
 */
#include "scheduler/spec.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "scheduler/load.h"
#include "scheduler/model.h"

const struct taint *spec_repelled_by(const struct spec *s, const struct node_class *c)
{
	return taints_repel(c->taints, c->n_taints, s->tolerations, s->n_tolerations);
}

static const char *class_value(const char *key, void *arg)
{
	const struct node_class *const *c = arg;

	return node_class_label(*c, key);
}

static enum admission judge_rule(const struct spec_rule *r, const struct node_class *c,
				 unsigned ignore)
{
	const char *value;

	if (ignore & FILTER_BIT(r->architecture ? FILTER_ARCHITECTURE : FILTER_LABELS))
		return ADMIT_YES;
	if (!r->selector)
		return ADMIT_BY_NODE;
	value = node_class_label(c, r->key);
	if (value && !strcmp(value, LABEL_BY_NODE))
		return ADMIT_BY_NODE;
	return selector_match_fn(r->selector, class_value, &c) ? ADMIT_YES : ADMIT_NO;
}

static enum admission judge_term(const struct spec_term *t, const struct node_class *c,
				 unsigned ignore)
{
	enum admission least = ADMIT_YES;

	for (size_t i = 0; i < t->n && least != ADMIT_NO; i++) {
		enum admission a = judge_rule(&t->rules[i], c, ignore);

		if (a < least)
			least = a;
	}
	return least;
}

enum admission spec_judge(const struct spec *s, const struct node_class *c, unsigned ignore)
{
	enum admission all, any = s->n_any ? ADMIT_NO : ADMIT_YES;

	ignore |= s->ignore;
	if (!(ignore & FILTER_BIT(FILTER_TAINTS)) && spec_repelled_by(s, c))
		return ADMIT_NO;
	all = judge_term(&s->all, c, ignore);
	for (size_t i = 0; i < s->n_any && any != ADMIT_YES; i++) {
		enum admission a = judge_term(&s->any[i], c, ignore);

		if (a > any)
			any = a;
	}
	return all < any ? all : any;
}

static bool name_meets(const struct spec_rule *r, const char *name)
{
	for (size_t i = 0; name && i < r->n_names; i++)
		if (!strcmp(name, r->names[i]))
			return !r->except;
	return r->except;
}

static bool node_meets(const struct spec *s, const struct spec_term *t,
		       const char *(*get)(const char *key, void *arg), void *arg)
{
	for (size_t i = 0; i < t->n; i++) {
		const struct spec_rule *r = &t->rules[i];

		if (s->ignore & FILTER_BIT(r->architecture ? FILTER_ARCHITECTURE : FILTER_LABELS))
			continue;
		if (r->selector ? !selector_match_fn(r->selector, get, arg)
				: !name_meets(r, get(FIELD_NODE_NAME, arg)))
			return false;
	}
	return true;
}

bool spec_admits_node(const struct spec *s, const char *(*get)(const char *key, void *arg),
		      void *arg)
{
	bool any = !s->n_any;

	for (size_t i = 0; i < s->n_any && !any; i++)
		any = node_meets(s, &s->any[i], get, arg);
	return any && node_meets(s, &s->all, get, arg);
}

static void refresh_demand(struct model *m, struct spec *s)
{
	bool settled = s->slots_seen && !s->demand.unknown;

	if (settled || s->slots_seen == m->slots.n)
		return;
	demand_finish(&s->demand);
	demand_init(&s->demand, &m->slots, &s->request);
	s->slots_seen = m->slots.n;
}

static void judge_into(struct spec *s, const struct node_class *c)
{
	enum admission a = spec_judge(s, c, 0);

	s->verdicts[c->id] = (unsigned char)a;
	if (a != ADMIT_NO)
		s->mask |= c->bit;
	if (a == ADMIT_BY_NODE)
		s->by_node = true;
}

void spec_refresh(struct model *m, struct spec *s)
{
	const struct node_classes *all = &m->classes;

	refresh_demand(m, s);
	if (s->classes_seen == all->last_serial)
		return;
	if (s->n_verdicts < all->n) {
		s->verdicts = xrealloc(s->verdicts, all->cap, sizeof(*s->verdicts));
		s->n_verdicts = all->cap;
	}
	for (size_t i = 0; i < all->n; i++)
		if (all->by_id[i] && all->by_id[i]->serial > s->classes_seen)
			judge_into(s, all->by_id[i]);
	s->classes_seen = all->last_serial;
}

static bool is_among(const char *name, const char *const *names, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (!strcmp(names[i], name))
			return true;
	return false;
}

static void copy_request(struct spec *s, const struct resource_list *from, bool devices,
			 const char *const *without, size_t n_without)
{
	s->request.items = arena_array(&s->arena, struct resource, from->n + 1);
	for (size_t i = 0; i < from->n; i++) {
		const struct resource *r = &from->items[i];

		if ((devices || !resource_is_extended(r->name)) &&
		    !is_among(r->name, without, n_without))
			s->request.items[s->request.n++] = *r;
	}
}

struct spec *spec_variant(struct model *m, const struct spec *base, unsigned ignore,
			  const char *const *without, size_t n_without)
{
	struct spec *s = xnew0(struct spec);

	s->id = -1;
	s->refs = 1;
	s->base = base;
	s->ignore = base->ignore | ignore;
	s->all = base->all;
	s->any = base->any;
	s->n_any = base->n_any;
	s->tolerations = base->tolerations;
	s->n_tolerations = base->n_tolerations;
	if (!(s->ignore & FILTER_BIT(FILTER_PORTS)))
		s->ports = port_set_ref(base->ports);
	copy_request(s, &base->request, !(ignore & FILTER_BIT(FILTER_DEVICE)), without, n_without);
	spec_refresh(m, s);
	return s;
}

static void destroy_rules(struct spec_term *t)
{
	for (size_t i = 0; i < t->n; i++) {
		selector_destroy(t->rules[i].selector);
		free(t->rules[i].text);
	}
}

void spec_unref(struct model *m, struct spec *s)
{
	if (!s || --s->refs)
		return;
	if (s->id >= 0) {
		HASH_DEL(m->specs, s);
		m->specs_by_id[s->id] = NULL;
	}
	if (!s->base) {
		destroy_rules(&s->all);
		for (size_t i = 0; i < s->n_any; i++)
			destroy_rules(&s->any[i]);
	}
	load_unref(m, s->load);
	port_set_unref(&m->port_sets, s->ports);
	demand_finish(&s->demand);
	arena_finish(&s->arena);
	free(s->verdicts);
	free(s->key);
	free(s);
}
