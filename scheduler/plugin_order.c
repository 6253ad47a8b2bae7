/* The order of gangs: priority, then submission, then uid. */
#include <string.h>

#include "scheduler/plugin.h"

static int by_priority(const struct gang *a, const struct gang *b)
{
	return (a->priority < b->priority) - (a->priority > b->priority);
}

const struct plugin plugin_priority = {.name = "priority", .order = by_priority};

static int by_submission(const struct gang *a, const struct gang *b)
{
	int order = submission_order(a->submitted, b->submitted);

	return order ? order : strcmp(a->uid, b->uid);
}

const struct plugin plugin_submission = {.name = "submission", .order = by_submission};
