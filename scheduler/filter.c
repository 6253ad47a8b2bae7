#include "scheduler/filter.h"

static const char *const names[FILTERS_N + 1] = {
#define X(name, text) [FILTER_##name] = text,
	FILTERS(X)
#undef X
		[FILTER_NONE] = "",
};

const char *filter_name(enum filter f)
{
	return names[f];
}
