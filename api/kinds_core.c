/* Rows of Kubernetes' own kinds. */
#include "api/kinds.h"

static const struct selectable_field event_fields[] = {
	{"involvedObject.kind"},
	{"involvedObject.namespace"},
	{"involvedObject.name"},
	{"involvedObject.uid"},
	{"involvedObject.apiVersion"},
	{"involvedObject.resourceVersion"},
	{"involvedObject.fieldPath"},
	{"reason"},
	{"reportingComponent"},
	{"type"},
	{NULL},
};

static const struct selectable_field event_v1_fields[] = {
	{"regarding.kind"}, {"regarding.namespace"}, {"regarding.name"}, {"regarding.uid"},
	{"reason"},         {"reportingController"}, {"type"},           {NULL},
};

static const struct selectable_field namespace_fields[] = {
	{"status.phase"},
	{NULL},
};

static const struct selectable_field node_fields[] = {
	{"spec.unschedulable"},
	{NULL},
};

static const struct selectable_field pod_fields[] = {
	{"spec.nodeName"},
	{"spec.restartPolicy"},
	{"spec.schedulerName"},
	{"spec.serviceAccountName"},
	{"spec.hostNetwork"},
	{"status.phase"},
	{"status.podIP"},
	{"status.nominatedNodeName"},
	{NULL},
};

static const struct selectable_field secret_fields[] = {
	{"type"},
	{NULL},
};

static const struct selectable_field service_fields[] = {
	{"spec.clusterIP"},
	{"spec.type"},
	{NULL},
};

static const struct selectable_field csr_fields[] = {
	{"spec.signerName"},
	{NULL},
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

const struct kind kind_event = {
	.group = "",
	.version = "v1",
	.plural = "events",
	.singular = "event",
	.name = "Event",
	.list_name = "EventList",
	.short_names = (const char *const[]){"ev", NULL},
	.namespaced = true,
	.core = true,
	.name_wide = true,
	.verbs = VERB_ALL,
	.schema_file = "events.yaml",
	.columns = columns_event,
	.fields = event_fields,
	.validate = event_validate,
};

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
	.fields = namespace_fields,
	.name_rule = NAME_LABEL,
	.set_defaults = namespace_set_defaults,
};

const struct kind kind_node = {
	.group = "",
	.version = "v1",
	.plural = "nodes",
	.singular = "node",
	.name = "Node",
	.list_name = "NodeList",
	.short_names = (const char *const[]){"no", NULL},
	.core = true,
	.has_status = true,
	.verbs = VERB_ALL,
	.schema_file = "nodes.yaml",
	.columns = columns_node,
	.fields = node_fields,
	.set_defaults = node_set_defaults,
	.validate = node_validate,
};

const struct kind kind_pod = {
	.group = "",
	.version = "v1",
	.plural = "pods",
	.singular = "pod",
	.name = "Pod",
	.list_name = "PodList",
	.short_names = (const char *const[]){"po", NULL},
	.categories = (const char *const[]){"all", NULL},
	.namespaced = true,
	.core = true,
	.has_status = true,
	.has_generation = true,
	.verbs = VERB_ALL,
	.schema_file = "pods.yaml",
	.columns = columns_pod,
	.fields = pod_fields,
	.set_defaults = pod_set_defaults,
	.validate = pod_validate,
};

const struct kind kind_secret = {
	.group = "",
	.version = "v1",
	.plural = "secrets",
	.singular = "secret",
	.name = "Secret",
	.list_name = "SecretList",
	.namespaced = true,
	.core = true,
	.verbs = VERB_ALL,
	.schema_file = "secrets.yaml",
	.columns = columns_secret,
	.fields = secret_fields,
	.set_defaults = secret_set_defaults,
	.validate = secret_validate,
};

const struct kind kind_service = {
	.group = "",
	.version = "v1",
	.plural = "services",
	.singular = "service",
	.name = "Service",
	.list_name = "ServiceList",
	.short_names = (const char *const[]){"svc", NULL},
	.categories = (const char *const[]){"all", NULL},
	.namespaced = true,
	.core = true,
	.has_status = true,
	.verbs = VERB_ALL,
	.schema_file = "services.yaml",
	.columns = columns_service,
	.fields = service_fields,
	.name_rule = NAME_LABEL_1035,
	.validate = service_validate,
};

const struct kind kind_csr = {
	.group = "certificates.k8s.io",
	.version = "v1",
	.plural = "certificatesigningrequests",
	.singular = "certificatesigningrequest",
	.name = "CertificateSigningRequest",
	.list_name = "CertificateSigningRequestList",
	.short_names = (const char *const[]){"csr", NULL},
	.core = true,
	.has_status = true,
	.verbs = VERB_ALL,
	.schema_file = "certificates.k8s.io_certificatesigningrequests.yaml",
	.columns = columns_csr,
	.fields = csr_fields,
	.name_rule = NAME_SEGMENT,
	.validate = csr_validate,
};

const struct kind kind_lease = {
	.group = "coordination.k8s.io",
	.version = "v1",
	.plural = "leases",
	.singular = "lease",
	.name = "Lease",
	.list_name = "LeaseList",
	.namespaced = true,
	.core = true,
	.verbs = VERB_ALL,
	.schema_file = "coordination.k8s.io_leases.yaml",
	.columns = columns_lease,
};

const struct kind kind_event_v1 = {
	.group = "events.k8s.io",
	.version = "v1",
	.plural = "events",
	.singular = "event",
	.name = "Event",
	.list_name = "EventList",
	.short_names = (const char *const[]){"ev", NULL},
	.namespaced = true,
	.core = true,
	.name_wide = true,
	.verbs = VERB_ALL,
	.schema_file = "events.k8s.io_events.yaml",
	.columns = columns_event_v1,
	.fields = event_v1_fields,
};

const struct kind kind_priorityclass = {
	.group = "scheduling.k8s.io",
	.version = "v1",
	.plural = "priorityclasses",
	.singular = "priorityclass",
	.name = "PriorityClass",
	.list_name = "PriorityClassList",
	.short_names = (const char *const[]){"pc", NULL},
	.core = true,
	.has_generation = true,
	.verbs = VERB_ALL,
	.schema_file = "scheduling.k8s.io_priorityclasses.yaml",
	.columns = columns_priorityclass,
	.validate = priorityclass_validate,
};
