#include "scheduler/plugin.h"

const struct plugin *const plugins[] = {
	/* order of gangs */
	&plugin_priority,
	&plugin_submission,
	/* filters of clusters */
	&plugin_ready,
	&plugin_cordon,
	&plugin_report,
	&plugin_namespace,
	&plugin_taints,
	&plugin_selector,
	&plugin_backoff,
	/* preferences among clusters */
	&plugin_locality,
	&plugin_alternatives,
	&plugin_waste,
	&plugin_spread,
	&plugin_by_name,
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
