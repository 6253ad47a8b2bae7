/* Field tables of the Pod. */
#include "api/proto_table.h"

static const struct proto_field sysctl[] = {
	{1, "name", P_STRING | P_KEEP},
	{2, "value", P_STRING | P_KEEP},
	P_END,
};

static const struct proto_field pod_security_context[] = {
	{1, "seLinuxOptions", P_MESSAGE | P_KEEP, proto_se_linux_options},
	{8, "windowsOptions", P_MESSAGE | P_KEEP, proto_windows_security_context_options},
	{2, "runAsUser", P_INT | P_KEEP},
	{6, "runAsGroup", P_INT | P_KEEP},
	{3, "runAsNonRoot", P_BOOL | P_KEEP},
	{4, "supplementalGroups", P_INT | P_LIST},
	{12, "supplementalGroupsPolicy", P_STRING | P_KEEP},
	{5, "fsGroup", P_INT | P_KEEP},
	{7, "sysctls", P_MESSAGE | P_LIST, sysctl},
	{9, "fsGroupChangePolicy", P_STRING | P_KEEP},
	{10, "seccompProfile", P_MESSAGE | P_KEEP, proto_seccomp_profile},
	{11, "appArmorProfile", P_MESSAGE | P_KEEP, proto_app_armor_profile},
	{13, "seLinuxChangePolicy", P_STRING | P_KEEP},
	P_END,
};

static const struct proto_field node_selector_requirement[] = {
	{1, "key", P_STRING | P_KEEP},
	{2, "operator", P_STRING | P_KEEP},
	{3, "values", P_STRING | P_LIST},
	P_END,
};

static const struct proto_field node_selector_term[] = {
	{1, "matchExpressions", P_MESSAGE | P_LIST, node_selector_requirement},
	{2, "matchFields", P_MESSAGE | P_LIST, node_selector_requirement},
	P_END,
};

static const struct proto_field node_selector[] = {
	{1, "nodeSelectorTerms", P_MESSAGE | P_LIST, node_selector_term},
	P_END,
};

static const struct proto_field preferred_scheduling_term[] = {
	{1, "weight", P_INT | P_KEEP},
	{2, "preference", P_MESSAGE | P_KEEP, node_selector_term},
	P_END,
};

static const struct proto_field node_affinity[] = {
	{1, "requiredDuringSchedulingIgnoredDuringExecution", P_MESSAGE | P_KEEP, node_selector},
	{2, "preferredDuringSchedulingIgnoredDuringExecution", P_MESSAGE | P_LIST,
	 preferred_scheduling_term},
	P_END,
};

static const struct proto_field pod_affinity_term[] = {
	{1, "labelSelector", P_MESSAGE | P_KEEP, proto_label_selector},
	{2, "namespaces", P_STRING | P_LIST},
	{3, "topologyKey", P_STRING | P_KEEP},
	{4, "namespaceSelector", P_MESSAGE | P_KEEP, proto_label_selector},
	{5, "matchLabelKeys", P_STRING | P_LIST},
	{6, "mismatchLabelKeys", P_STRING | P_LIST},
	P_END,
};

static const struct proto_field weighted_pod_affinity_term[] = {
	{1, "weight", P_INT | P_KEEP},
	{2, "podAffinityTerm", P_MESSAGE | P_KEEP, pod_affinity_term},
	P_END,
};

static const struct proto_field pod_affinity[] = {
	{1, "requiredDuringSchedulingIgnoredDuringExecution", P_MESSAGE | P_LIST,
	 pod_affinity_term},
	{2, "preferredDuringSchedulingIgnoredDuringExecution", P_MESSAGE | P_LIST,
	 weighted_pod_affinity_term},
	P_END,
};

static const struct proto_field pod_anti_affinity[] = {
	{1, "requiredDuringSchedulingIgnoredDuringExecution", P_MESSAGE | P_LIST,
	 pod_affinity_term},
	{2, "preferredDuringSchedulingIgnoredDuringExecution", P_MESSAGE | P_LIST,
	 weighted_pod_affinity_term},
	P_END,
};

static const struct proto_field affinity[] = {
	{1, "nodeAffinity", P_MESSAGE | P_KEEP, node_affinity},
	{2, "podAffinity", P_MESSAGE | P_KEEP, pod_affinity},
	{3, "podAntiAffinity", P_MESSAGE | P_KEEP, pod_anti_affinity},
	P_END,
};

static const struct proto_field toleration[] = {
	{1, "key", P_STRING},
	{2, "operator", P_STRING},
	{3, "value", P_STRING},
	{4, "effect", P_STRING},
	{5, "tolerationSeconds", P_INT | P_KEEP},
	P_END,
};

static const struct proto_field host_alias[] = {
	{1, "ip", P_STRING | P_KEEP},
	{2, "hostnames", P_STRING | P_LIST},
	P_END,
};

static const struct proto_field pod_dns_config_option[] = {
	{1, "name", P_STRING},
	{2, "value", P_STRING | P_KEEP},
	P_END,
};

static const struct proto_field pod_dns_config[] = {
	{1, "nameservers", P_STRING | P_LIST},
	{2, "searches", P_STRING | P_LIST},
	{3, "options", P_MESSAGE | P_LIST, pod_dns_config_option},
	P_END,
};

static const struct proto_field pod_readiness_gate[] = {
	{1, "conditionType", P_STRING | P_KEEP},
	P_END,
};

static const struct proto_field topology_spread_constraint[] = {
	{1, "maxSkew", P_INT | P_KEEP},
	{2, "topologyKey", P_STRING | P_KEEP},
	{3, "whenUnsatisfiable", P_STRING | P_KEEP},
	{4, "labelSelector", P_MESSAGE | P_KEEP, proto_label_selector},
	{5, "minDomains", P_INT | P_KEEP},
	{6, "nodeAffinityPolicy", P_STRING | P_KEEP},
	{7, "nodeTaintsPolicy", P_STRING | P_KEEP},
	{8, "matchLabelKeys", P_STRING | P_LIST},
	P_END,
};

static const struct proto_field pod_os[] = {
	{1, "name", P_STRING | P_KEEP},
	P_END,
};

static const struct proto_field pod_scheduling_gate[] = {
	{1, "name", P_STRING | P_KEEP},
	P_END,
};

static const struct proto_field pod_resource_claim[] = {
	{1, "name", P_STRING | P_KEEP},
	{3, "resourceClaimName", P_STRING | P_KEEP},
	{4, "resourceClaimTemplateName", P_STRING | P_KEEP},
	P_END,
};

static const struct proto_field pod_scheduling_group[] = {
	{1, "podGroupName", P_STRING | P_KEEP},
	P_END,
};

static const struct proto_field pod_spec[] = {
	{1, "volumes", P_MESSAGE | P_LIST, proto_volume},
	{20, "initContainers", P_MESSAGE | P_LIST, proto_container},
	{2, "containers", P_MESSAGE | P_LIST, proto_container},
	{34, "ephemeralContainers", P_MESSAGE | P_LIST, proto_ephemeral_container},
	{3, "restartPolicy", P_STRING},
	{4, "terminationGracePeriodSeconds", P_INT | P_KEEP},
	{5, "activeDeadlineSeconds", P_INT | P_KEEP},
	{6, "dnsPolicy", P_STRING},
	{7, "nodeSelector", P_STRING | P_MAP},
	{8, "serviceAccountName", P_STRING},
	{9, "serviceAccount", P_STRING},
	{21, "automountServiceAccountToken", P_BOOL | P_KEEP},
	{10, "nodeName", P_STRING},
	{11, "hostNetwork", P_BOOL},
	{12, "hostPID", P_BOOL},
	{13, "hostIPC", P_BOOL},
	{27, "shareProcessNamespace", P_BOOL | P_KEEP},
	{14, "securityContext", P_MESSAGE | P_KEEP, pod_security_context},
	{15, "imagePullSecrets", P_MESSAGE | P_LIST, proto_local_object_reference},
	{16, "hostname", P_STRING},
	{17, "subdomain", P_STRING},
	{18, "affinity", P_MESSAGE | P_KEEP, affinity},
	{19, "schedulerName", P_STRING},
	{22, "tolerations", P_MESSAGE | P_LIST, toleration},
	{23, "hostAliases", P_MESSAGE | P_LIST, host_alias},
	{24, "priorityClassName", P_STRING},
	{25, "priority", P_INT | P_KEEP},
	{26, "dnsConfig", P_MESSAGE | P_KEEP, pod_dns_config},
	{28, "readinessGates", P_MESSAGE | P_LIST, pod_readiness_gate},
	{29, "runtimeClassName", P_STRING | P_KEEP},
	{30, "enableServiceLinks", P_BOOL | P_KEEP},
	{31, "preemptionPolicy", P_STRING | P_KEEP},
	{32, "overhead", P_QUANTITY | P_MAP},
	{33, "topologySpreadConstraints", P_MESSAGE | P_LIST, topology_spread_constraint},
	{35, "setHostnameAsFQDN", P_BOOL | P_KEEP},
	{36, "os", P_MESSAGE | P_KEEP, pod_os},
	{37, "hostUsers", P_BOOL | P_KEEP},
	{38, "schedulingGates", P_MESSAGE | P_LIST, pod_scheduling_gate},
	{39, "resourceClaims", P_MESSAGE | P_LIST, pod_resource_claim},
	{40, "resources", P_MESSAGE | P_KEEP, proto_resource_requirements},
	{41, "hostnameOverride", P_STRING | P_KEEP},
	{43, "schedulingGroup", P_MESSAGE | P_KEEP, pod_scheduling_group},
	P_END,
};

static const struct proto_field pod_condition[] = {
	{1, "type", P_STRING | P_KEEP},    {7, "observedGeneration", P_INT},
	{2, "status", P_STRING | P_KEEP},  {3, "lastProbeTime", P_TIME},
	{4, "lastTransitionTime", P_TIME}, {5, "reason", P_STRING},
	{6, "message", P_STRING},          P_END,
};

static const struct proto_field host_ip[] = {
	{1, "ip", P_STRING | P_KEEP},
	P_END,
};

static const struct proto_field pod_ip[] = {
	{1, "ip", P_STRING | P_KEEP},
	P_END,
};

static const struct proto_field pod_resource_claim_status[] = {
	{1, "name", P_STRING | P_KEEP},
	{2, "resourceClaimName", P_STRING | P_KEEP},
	P_END,
};

static const struct proto_field container_extended_resource_request[] = {
	{1, "containerName", P_STRING | P_KEEP},
	{2, "resourceName", P_STRING | P_KEEP},
	{3, "requestName", P_STRING | P_KEEP},
	P_END,
};

static const struct proto_field pod_extended_resource_claim_status[] = {
	{1, "requestMappings", P_MESSAGE | P_LIST, container_extended_resource_request},
	{2, "resourceClaimName", P_STRING | P_KEEP},
	P_END,
};

static const struct proto_field node_allocatable_resource_claim_status[] = {
	{1, "resourceClaimName", P_STRING | P_KEEP},
	{2, "containers", P_STRING | P_LIST},
	{3, "resources", P_QUANTITY | P_MAP},
	P_END,
};

static const struct proto_field pod_status[] = {
	{17, "observedGeneration", P_INT},
	{1, "phase", P_STRING},
	{2, "conditions", P_MESSAGE | P_LIST, pod_condition},
	{3, "message", P_STRING},
	{4, "reason", P_STRING},
	{11, "nominatedNodeName", P_STRING},
	{5, "hostIP", P_STRING},
	{16, "hostIPs", P_MESSAGE | P_LIST, host_ip},
	{6, "podIP", P_STRING},
	{12, "podIPs", P_MESSAGE | P_LIST, pod_ip},
	{7, "startTime", P_TIME | P_KEEP},
	{10, "initContainerStatuses", P_MESSAGE | P_LIST, proto_container_status},
	{8, "containerStatuses", P_MESSAGE | P_LIST, proto_container_status},
	{9, "qosClass", P_STRING},
	{13, "ephemeralContainerStatuses", P_MESSAGE | P_LIST, proto_container_status},
	{14, "resize", P_STRING},
	{15, "resourceClaimStatuses", P_MESSAGE | P_LIST, pod_resource_claim_status},
	{18, "extendedResourceClaimStatus", P_MESSAGE | P_KEEP, pod_extended_resource_claim_status},
	{19, "allocatedResources", P_QUANTITY | P_MAP},
	{20, "resources", P_MESSAGE | P_KEEP, proto_resource_requirements},
	{21, "nodeAllocatableResourceClaimStatuses", P_MESSAGE | P_LIST,
	 node_allocatable_resource_claim_status},
	P_END,
};

const struct proto_field proto_pod[] = {
	{1, "metadata", P_MESSAGE, proto_object_meta},
	{2, "spec", P_MESSAGE, pod_spec},
	{3, "status", P_MESSAGE, pod_status},
	P_END,
};
