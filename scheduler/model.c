#include "scheduler/model.h"

#include <assert.h>
#include <stdlib.h>

void model_init(struct model *m)
{
	*m = (struct model){0};
	slots_init(&m->slots);
}

void model_finish(struct model *m)
{
	assert(!m->forms && !m->specs && !m->loads && !m->port_sets);
	free(m->specs_by_id);
	node_classes_finish(&m->classes);
	slots_finish(&m->slots);
}
