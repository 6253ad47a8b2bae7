/* Rows of Kubernetes' own kinds. */
#include "api/kinds.h"

const struct kind kind_namespace = {
	.group = "",
	.version = "v1",
	.plural = "namespaces",
	.singular = "namespace",
	.name = "Namespace",
	.list_name = "NamespaceList",
	.short_names = (const char *const[]){"ns", NULL},
	.core = true,
	.has_status = true,
	.verbs = VERB_ALL & ~VERB_DELETECOLLECTION,
	.schema_file = "namespaces.yaml",
	.columns = columns_namespace,
	.name_rule = NAME_LABEL,
};

const struct kind kind_configmap = {
	.group = "",
	.version = "v1",
	.plural = "configmaps",
	.singular = "configmap",
	.name = "ConfigMap",
	.list_name = "ConfigMapList",
	.short_names = (const char *const[]){"cm", NULL},
	.namespaced = true,
	.core = true,
	.verbs = VERB_ALL,
	.schema_file = "configmaps.yaml",
	.columns = columns_configmap,
	.validate = configmap_validate,
};
