/*
 * The dictionary that the spaces of one process share.
 */
#ifndef SCHEDULER_MODEL_H
#define SCHEDULER_MODEL_H

#include "scheduler/node_class.h"
#include "scheduler/port_set.h"
#include "scheduler/slots.h"
#include "scheduler/spec.h"

struct model {
	struct slots slots;
	struct node_classes classes;
	struct port_set *port_sets;
	struct spec *specs; /* by key */
	struct spec **specs_by_id;
	size_t n_specs, cap_specs; /* ids handed out so far */
	uint64_t spec_serial;      /* the last one */
	struct form *forms;        /* by key */
	struct load *loads;        /* by key */
	int spaces;                /* numbers handed out so far */
};

void model_init(struct model *m);
void model_finish(struct model *m); /* after all that was interned has been given back */

#endif
