/*
 * Loads: what a pod takes on its node, interned, since most pods of a cluster are alike.
 */
#ifndef SCHEDULER_LOAD_H
#define SCHEDULER_LOAD_H

#include "scheduler/model.h"

struct load {
	size_t refs;
	char *key;
	struct arena arena;
	struct resource_list request;
	struct demand demand;
	size_t slots_seen; /* when demand was made */
	struct port_set *ports;
	UT_hash_handle hh;
};

/* Takes a reference for the caller. */
struct load *load_intern(struct model *m, const struct resource_list *request, const int32_t *ports,
			 size_t n_ports);
/* What a pod of the spec takes; made once, held by the spec. */
struct load *load_of_spec(struct model *m, struct spec *s);
struct load *load_ref(struct load *l);
void load_unref(struct model *m, struct load *l); /* NULL: nothing */
/* Its demand by the slots that there are now. */
const struct demand *load_demand(struct load *l, const struct model *m);

#endif
