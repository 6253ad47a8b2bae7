#include "scheduler/plugin.h"

const struct plugin *const plugins[] = {
	/* order of gangs */
	&plugin_priority,
	&plugin_submission,
	NULL,
};

int plugins_order(const struct gang *a, const struct gang *b)
{
	int order = 0;

	for (const struct plugin *const *p = plugins; *p && !order; p++)
		if ((*p)->order)
			order = (*p)->order(a, b);
	return order;
}
