/* Columns of Kubernetes' own kinds. */
#include "api/cells.h"

CELL(namespace_status, "status", "phase")

const struct column columns_namespace[] = {
	{"Status", "string", 0, namespace_status},
	COLUMN_AGE,
	{NULL},
};

static json_t *configmap_data(const json_t *configmap, int64_t now_ns)
{
	return json_integer((json_int_t)(json_object_size(json_at(configmap, "data", NULL)) +
					 json_object_size(json_at(configmap, "binaryData", NULL))));
}

const struct column columns_configmap[] = {
	{"Data", "integer", 0, configmap_data},
	COLUMN_AGE,
	{NULL},
};
