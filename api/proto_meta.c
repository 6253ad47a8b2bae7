/* Field tables of what objects share: metadata, references, selectors, delete options. */
#include "api/proto_table.h"

static const struct proto_field preconditions[] = {
	{1, "uid", P_STRING | P_KEEP},
	{2, "resourceVersion", P_STRING | P_KEEP},
	P_END,
};

const struct proto_field proto_delete_options[] = {
	{1, "gracePeriodSeconds", P_INT | P_KEEP},
	{2, "preconditions", P_MESSAGE | P_KEEP, preconditions},
	{3, "orphanDependents", P_BOOL | P_KEEP},
	{4, "propagationPolicy", P_STRING | P_KEEP},
	{5, "dryRun", P_STRING | P_LIST},
	{6, "ignoreStoreReadErrorWithClusterBreakingPotential", P_BOOL | P_KEEP},
	P_END,
};

static const struct proto_field owner_reference[] = {
	{5, "apiVersion", P_STRING | P_KEEP},
	{1, "kind", P_STRING | P_KEEP},
	{3, "name", P_STRING | P_KEEP},
	{4, "uid", P_STRING | P_KEEP},
	{6, "controller", P_BOOL | P_KEEP},
	{7, "blockOwnerDeletion", P_BOOL | P_KEEP},
	P_END,
};

const struct proto_field proto_object_meta[] = {
	{1, "name", P_STRING},
	{2, "generateName", P_STRING},
	{3, "namespace", P_STRING},
	{5, "uid", P_STRING},
	{6, "resourceVersion", P_STRING},
	{7, "generation", P_INT},
	{8, "creationTimestamp", P_TIME},
	{9, "deletionTimestamp", P_TIME | P_KEEP},
	{10, "deletionGracePeriodSeconds", P_INT | P_KEEP},
	{11, "labels", P_STRING | P_MAP},
	{12, "annotations", P_STRING | P_MAP},
	{13, "ownerReferences", P_MESSAGE | P_LIST, owner_reference},
	{14, "finalizers", P_STRING | P_LIST},
	P_END,
};

const struct proto_field proto_object_reference[] = {
	{1, "kind", P_STRING},       {2, "namespace", P_STRING},
	{3, "name", P_STRING},       {4, "uid", P_STRING},
	{5, "apiVersion", P_STRING}, {6, "resourceVersion", P_STRING},
	{7, "fieldPath", P_STRING},  P_END,
};

const struct proto_field proto_condition[] = {
	{1, "type", P_STRING | P_KEEP},
	{2, "status", P_STRING | P_KEEP},
	{3, "observedGeneration", P_INT},
	{4, "lastTransitionTime", P_TIME | P_KEEP},
	{5, "reason", P_STRING | P_KEEP},
	{6, "message", P_STRING | P_KEEP},
	P_END,
};

const struct proto_field proto_local_object_reference[] = {
	{1, "name", P_STRING},
	P_END,
};

static const struct proto_field label_selector_requirement[] = {
	{1, "key", P_STRING | P_KEEP},
	{2, "operator", P_STRING | P_KEEP},
	{3, "values", P_STRING | P_LIST},
	P_END,
};

const struct proto_field proto_label_selector[] = {
	{1, "matchLabels", P_STRING | P_MAP},
	{2, "matchExpressions", P_MESSAGE | P_LIST, label_selector_requirement},
	P_END,
};

const struct proto_field proto_typed_local_object_reference[] = {
	{1, "apiGroup", P_STRING | P_KEEP},
	{2, "kind", P_STRING | P_KEEP},
	{3, "name", P_STRING | P_KEEP},
	P_END,
};

const struct proto_field proto_typed_object_reference[] = {
	{1, "apiGroup", P_STRING | P_KEEP},
	{2, "kind", P_STRING | P_KEEP},
	{3, "name", P_STRING | P_KEEP},
	{4, "namespace", P_STRING | P_KEEP},
	P_END,
};

const struct proto_field proto_config_map_key_selector[] = {
	{1, "", P_MESSAGE | P_INLINE, proto_local_object_reference},
	{2, "key", P_STRING | P_KEEP},
	{3, "optional", P_BOOL | P_KEEP},
	P_END,
};
