#include "scheduler/load.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/strbuf.h"

static char *load_key(const struct resource_list *request, const struct port_set *ports)
{
	struct strbuf b = {0};

	for (size_t i = 0; i < request->n; i++)
		if (request->items[i].amount > 0)
			strbuf_addf(&b, "%s=%" PRId64 "\n", request->items[i].name,
				    request->items[i].amount);
	for (size_t i = 0; ports && i < ports->n; i++)
		strbuf_addf(&b, ":%" PRId32, ports->ports[i]);
	return strbuf_take(&b);
}

struct load *load_intern(struct model *m, const struct resource_list *request, const int32_t *ports,
			 size_t n_ports)
{
	struct port_set *set = port_set_intern(&m->port_sets, ports, n_ports);
	char *key = load_key(request, set);
	struct load *l;

	HASH_FIND_STR(m->loads, key, l);
	if (l) {
		free(key);
		port_set_unref(&m->port_sets, set);
		return load_ref(l);
	}
	l = xnew0(struct load);
	l->key = key;
	l->ports = set;
	resource_list_add(&l->arena, &l->request, request, 1);
	HASH_ADD_KEYPTR(hh, m->loads, l->key, strlen(l->key), l);
	return load_ref(l);
}

struct load *load_of_spec(struct model *m, struct spec *s)
{
	if (!s->load)
		s->load = load_intern(m, &s->request, s->ports ? s->ports->ports : NULL,
				      s->ports ? s->ports->n : 0);
	return s->load;
}

struct load *load_ref(struct load *l)
{
	l->refs++;
	return l;
}

void load_unref(struct model *m, struct load *l)
{
	if (!l || --l->refs)
		return;
	HASH_DEL(m->loads, l);
	port_set_unref(&m->port_sets, l->ports);
	demand_finish(&l->demand);
	arena_finish(&l->arena);
	free(l->key);
	free(l);
}

const struct demand *load_demand(struct load *l, const struct model *m)
{
	if (l->slots_seen != m->slots.n) {
		demand_finish(&l->demand);
		demand_init(&l->demand, &m->slots, &l->request);
		l->slots_seen = m->slots.n;
	}
	return &l->demand;
}
