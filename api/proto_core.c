/* Field tables of the small kinds: what is not a Pod. */
#include "api/proto_table.h"

static const struct proto_field namespace_spec[] = {
	{1, "finalizers", P_STRING | P_LIST},
	P_END,
};

static const struct proto_field namespace_condition[] = {
	{1, "type", P_STRING | P_KEEP},    {2, "status", P_STRING | P_KEEP},
	{4, "lastTransitionTime", P_TIME}, {5, "reason", P_STRING},
	{6, "message", P_STRING},          P_END,
};

static const struct proto_field namespace_status[] = {
	{1, "phase", P_STRING},
	{2, "conditions", P_MESSAGE | P_LIST, namespace_condition},
	P_END,
};

const struct proto_field proto_namespace[] = {
	{1, "metadata", P_MESSAGE, proto_object_meta},
	{2, "spec", P_MESSAGE, namespace_spec},
	{3, "status", P_MESSAGE, namespace_status},
	P_END,
};

const struct proto_field proto_config_map[] = {
	{1, "metadata", P_MESSAGE, proto_object_meta},
	{4, "immutable", P_BOOL | P_KEEP},
	{2, "data", P_STRING | P_MAP},
	{3, "binaryData", P_BYTES | P_MAP},
	P_END,
};

const struct proto_field proto_secret[] = {
	{1, "metadata", P_MESSAGE, proto_object_meta},
	{5, "immutable", P_BOOL | P_KEEP},
	{2, "data", P_BYTES | P_MAP},
	{4, "stringData", P_STRING | P_MAP},
	{3, "type", P_STRING},
	P_END,
};

static const struct proto_field event_source[] = {
	{1, "component", P_STRING},
	{2, "host", P_STRING},
	P_END,
};

static const struct proto_field event_series[] = {
	{1, "count", P_INT},
	{2, "lastObservedTime", P_MICRO_TIME},
	P_END,
};

const struct proto_field proto_event[] = {
	{1, "metadata", P_MESSAGE | P_KEEP, proto_object_meta},
	{2, "involvedObject", P_MESSAGE | P_KEEP, proto_object_reference},
	{3, "reason", P_STRING},
	{4, "message", P_STRING},
	{5, "source", P_MESSAGE, event_source},
	{6, "firstTimestamp", P_TIME},
	{7, "lastTimestamp", P_TIME},
	{8, "count", P_INT},
	{9, "type", P_STRING},
	{10, "eventTime", P_MICRO_TIME},
	{11, "series", P_MESSAGE | P_KEEP, event_series},
	{12, "action", P_STRING},
	{13, "related", P_MESSAGE | P_KEEP, proto_object_reference},
	{14, "reportingComponent", P_STRING | P_KEEP},
	{15, "reportingInstance", P_STRING | P_KEEP},
	P_END,
};

static const struct proto_field service_port[] = {
	{1, "name", P_STRING},
	{2, "protocol", P_STRING},
	{6, "appProtocol", P_STRING | P_KEEP},
	{3, "port", P_INT | P_KEEP},
	{4, "targetPort", P_INT_OR_STRING},
	{5, "nodePort", P_INT},
	P_END,
};

static const struct proto_field client_ip_config[] = {
	{1, "timeoutSeconds", P_INT | P_KEEP},
	P_END,
};

static const struct proto_field session_affinity_config[] = {
	{1, "clientIP", P_MESSAGE | P_KEEP, client_ip_config},
	P_END,
};

static const struct proto_field service_spec[] = {
	{1, "ports", P_MESSAGE | P_LIST, service_port},
	{2, "selector", P_STRING | P_MAP},
	{3, "clusterIP", P_STRING},
	{18, "clusterIPs", P_STRING | P_LIST},
	{4, "type", P_STRING},
	{5, "externalIPs", P_STRING | P_LIST},
	{7, "sessionAffinity", P_STRING},
	{8, "loadBalancerIP", P_STRING},
	{9, "loadBalancerSourceRanges", P_STRING | P_LIST},
	{10, "externalName", P_STRING},
	{11, "externalTrafficPolicy", P_STRING},
	{12, "healthCheckNodePort", P_INT},
	{13, "publishNotReadyAddresses", P_BOOL},
	{14, "sessionAffinityConfig", P_MESSAGE | P_KEEP, session_affinity_config},
	{19, "ipFamilies", P_STRING | P_LIST},
	{17, "ipFamilyPolicy", P_STRING | P_KEEP},
	{20, "allocateLoadBalancerNodePorts", P_BOOL | P_KEEP},
	{21, "loadBalancerClass", P_STRING | P_KEEP},
	{22, "internalTrafficPolicy", P_STRING | P_KEEP},
	{23, "trafficDistribution", P_STRING | P_KEEP},
	P_END,
};

static const struct proto_field port_status[] = {
	{1, "port", P_INT | P_KEEP},
	{2, "protocol", P_STRING | P_KEEP},
	{3, "error", P_STRING | P_KEEP},
	P_END,
};

static const struct proto_field load_balancer_ingress[] = {
	{1, "ip", P_STRING},
	{2, "hostname", P_STRING},
	{3, "ipMode", P_STRING | P_KEEP},
	{4, "ports", P_MESSAGE | P_LIST, port_status},
	P_END,
};

static const struct proto_field load_balancer_status[] = {
	{1, "ingress", P_MESSAGE | P_LIST, load_balancer_ingress},
	P_END,
};

static const struct proto_field service_status[] = {
	{1, "loadBalancer", P_MESSAGE, load_balancer_status},
	{2, "conditions", P_MESSAGE | P_LIST, proto_condition},
	P_END,
};

const struct proto_field proto_service[] = {
	{1, "metadata", P_MESSAGE, proto_object_meta},
	{2, "spec", P_MESSAGE, service_spec},
	{3, "status", P_MESSAGE, service_status},
	P_END,
};

const struct proto_field proto_binding[] = {
	{1, "metadata", P_MESSAGE, proto_object_meta},
	{2, "target", P_MESSAGE | P_KEEP, proto_object_reference},
	P_END,
};

static const struct proto_field lease_spec[] = {
	{1, "holderIdentity", P_STRING | P_KEEP},  {2, "leaseDurationSeconds", P_INT | P_KEEP},
	{3, "acquireTime", P_MICRO_TIME | P_KEEP}, {4, "renewTime", P_MICRO_TIME | P_KEEP},
	{5, "leaseTransitions", P_INT | P_KEEP},   {6, "strategy", P_STRING | P_KEEP},
	{7, "preferredHolder", P_STRING | P_KEEP}, P_END,
};

const struct proto_field proto_lease[] = {
	{1, "metadata", P_MESSAGE, proto_object_meta},
	{2, "spec", P_MESSAGE, lease_spec},
	P_END,
};

static const struct proto_field events_event_series[] = {
	{1, "count", P_INT | P_KEEP},
	{2, "lastObservedTime", P_MICRO_TIME | P_KEEP},
	P_END,
};

const struct proto_field proto_events_event[] = {
	{1, "metadata", P_MESSAGE | P_KEEP, proto_object_meta},
	{2, "eventTime", P_MICRO_TIME | P_KEEP},
	{3, "series", P_MESSAGE | P_KEEP, events_event_series},
	{4, "reportingController", P_STRING},
	{5, "reportingInstance", P_STRING},
	{6, "action", P_STRING},
	{7, "reason", P_STRING},
	{8, "regarding", P_MESSAGE, proto_object_reference},
	{9, "related", P_MESSAGE | P_KEEP, proto_object_reference},
	{10, "note", P_STRING},
	{11, "type", P_STRING},
	{12, "deprecatedSource", P_MESSAGE, event_source},
	{13, "deprecatedFirstTimestamp", P_TIME},
	{14, "deprecatedLastTimestamp", P_TIME},
	{15, "deprecatedCount", P_INT},
	P_END,
};

const struct proto_field proto_priority_class[] = {
	{1, "metadata", P_MESSAGE, proto_object_meta},
	{2, "value", P_INT | P_KEEP},
	{3, "globalDefault", P_BOOL},
	{4, "description", P_STRING},
	{5, "preemptionPolicy", P_STRING | P_KEEP},
	P_END,
};

static const struct proto_field certificate_signing_request_spec[] = {
	{1, "request", P_BYTES | P_KEEP},
	{7, "signerName", P_STRING | P_KEEP},
	{8, "expirationSeconds", P_INT | P_KEEP},
	{5, "usages", P_STRING | P_LIST},
	{2, "username", P_STRING},
	{3, "uid", P_STRING},
	{4, "groups", P_STRING | P_LIST},
	{6, "extra", P_STRINGS | P_MAP},
	P_END,
};

static const struct proto_field certificate_signing_request_condition[] = {
	{1, "type", P_STRING | P_KEEP},
	{6, "status", P_STRING | P_KEEP},
	{2, "reason", P_STRING},
	{3, "message", P_STRING},
	{4, "lastUpdateTime", P_TIME},
	{5, "lastTransitionTime", P_TIME},
	P_END,
};

static const struct proto_field certificate_signing_request_status[] = {
	{1, "conditions", P_MESSAGE | P_LIST, certificate_signing_request_condition},
	{2, "certificate", P_BYTES},
	P_END,
};

const struct proto_field proto_certificate_signing_request[] = {
	{1, "metadata", P_MESSAGE, proto_object_meta},
	{2, "spec", P_MESSAGE | P_KEEP, certificate_signing_request_spec},
	{3, "status", P_MESSAGE, certificate_signing_request_status},
	P_END,
};
