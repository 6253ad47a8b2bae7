/* Field tables of the containers of a Pod, and of their status. */
#include "api/proto_table.h"

static const struct proto_field container_port[] = {
	{1, "name", P_STRING},     {2, "hostPort", P_INT},  {3, "containerPort", P_INT | P_KEEP},
	{4, "protocol", P_STRING}, {5, "hostIP", P_STRING}, P_END,
};

static const struct proto_field config_map_env_source[] = {
	{1, "", P_MESSAGE | P_INLINE, proto_local_object_reference},
	{2, "optional", P_BOOL | P_KEEP},
	P_END,
};

static const struct proto_field secret_env_source[] = {
	{1, "", P_MESSAGE | P_INLINE, proto_local_object_reference},
	{2, "optional", P_BOOL | P_KEEP},
	P_END,
};

static const struct proto_field env_from_source[] = {
	{1, "prefix", P_STRING},
	{2, "configMapRef", P_MESSAGE | P_KEEP, config_map_env_source},
	{3, "secretRef", P_MESSAGE | P_KEEP, secret_env_source},
	P_END,
};

static const struct proto_field secret_key_selector[] = {
	{1, "", P_MESSAGE | P_INLINE, proto_local_object_reference},
	{2, "key", P_STRING | P_KEEP},
	{3, "optional", P_BOOL | P_KEEP},
	P_END,
};

static const struct proto_field file_key_selector[] = {
	{1, "volumeName", P_STRING | P_KEEP},
	{2, "path", P_STRING | P_KEEP},
	{3, "key", P_STRING | P_KEEP},
	{4, "optional", P_BOOL | P_KEEP},
	P_END,
};

static const struct proto_field env_var_source[] = {
	{1, "fieldRef", P_MESSAGE | P_KEEP, proto_object_field_selector},
	{2, "resourceFieldRef", P_MESSAGE | P_KEEP, proto_resource_field_selector},
	{3, "configMapKeyRef", P_MESSAGE | P_KEEP, proto_config_map_key_selector},
	{4, "secretKeyRef", P_MESSAGE | P_KEEP, secret_key_selector},
	{5, "fileKeyRef", P_MESSAGE | P_KEEP, file_key_selector},
	P_END,
};

static const struct proto_field env_var[] = {
	{1, "name", P_STRING | P_KEEP},
	{2, "value", P_STRING},
	{3, "valueFrom", P_MESSAGE | P_KEEP, env_var_source},
	P_END,
};

static const struct proto_field resource_claim[] = {
	{1, "name", P_STRING | P_KEEP},
	{2, "request", P_STRING},
	P_END,
};

const struct proto_field proto_resource_requirements[] = {
	{1, "limits", P_QUANTITY | P_MAP},
	{2, "requests", P_QUANTITY | P_MAP},
	{3, "claims", P_MESSAGE | P_LIST, resource_claim},
	P_END,
};

static const struct proto_field container_resize_policy[] = {
	{1, "resourceName", P_STRING | P_KEEP},
	{2, "restartPolicy", P_STRING | P_KEEP},
	P_END,
};

static const struct proto_field container_restart_rule_on_exit_codes[] = {
	{1, "operator", P_STRING},
	{2, "values", P_INT | P_LIST},
	P_END,
};

static const struct proto_field container_restart_rule[] = {
	{1, "action", P_STRING},
	{2, "exitCodes", P_MESSAGE | P_KEEP, container_restart_rule_on_exit_codes},
	P_END,
};

static const struct proto_field volume_mount[] = {
	{1, "name", P_STRING | P_KEEP},
	{2, "readOnly", P_BOOL},
	{7, "recursiveReadOnly", P_STRING | P_KEEP},
	{3, "mountPath", P_STRING | P_KEEP},
	{4, "subPath", P_STRING},
	{5, "mountPropagation", P_STRING | P_KEEP},
	{6, "subPathExpr", P_STRING},
	P_END,
};

static const struct proto_field volume_device[] = {
	{1, "name", P_STRING | P_KEEP},
	{2, "devicePath", P_STRING | P_KEEP},
	P_END,
};

static const struct proto_field exec_action[] = {
	{1, "command", P_STRING | P_LIST},
	P_END,
};

static const struct proto_field http_header[] = {
	{1, "name", P_STRING | P_KEEP},
	{2, "value", P_STRING | P_KEEP},
	P_END,
};

static const struct proto_field http_get_action[] = {
	{1, "path", P_STRING},
	{2, "port", P_INT_OR_STRING | P_KEEP},
	{3, "host", P_STRING},
	{4, "scheme", P_STRING},
	{5, "httpHeaders", P_MESSAGE | P_LIST, http_header},
	P_END,
};

static const struct proto_field tcp_socket_action[] = {
	{1, "port", P_INT_OR_STRING | P_KEEP},
	{2, "host", P_STRING},
	P_END,
};

static const struct proto_field grpc_action[] = {
	{1, "port", P_INT | P_KEEP},
	{2, "service", P_STRING | P_KEEP},
	P_END,
};

static const struct proto_field probe_handler[] = {
	{1, "exec", P_MESSAGE | P_KEEP, exec_action},
	{2, "httpGet", P_MESSAGE | P_KEEP, http_get_action},
	{3, "tcpSocket", P_MESSAGE | P_KEEP, tcp_socket_action},
	{4, "grpc", P_MESSAGE | P_KEEP, grpc_action},
	P_END,
};

static const struct proto_field probe[] = {
	{1, "", P_MESSAGE | P_INLINE, probe_handler},
	{2, "initialDelaySeconds", P_INT},
	{3, "timeoutSeconds", P_INT},
	{4, "periodSeconds", P_INT},
	{5, "successThreshold", P_INT},
	{6, "failureThreshold", P_INT},
	{7, "terminationGracePeriodSeconds", P_INT | P_KEEP},
	P_END,
};

static const struct proto_field sleep_action[] = {
	{1, "seconds", P_INT | P_KEEP},
	P_END,
};

static const struct proto_field lifecycle_handler[] = {
	{1, "exec", P_MESSAGE | P_KEEP, exec_action},
	{2, "httpGet", P_MESSAGE | P_KEEP, http_get_action},
	{3, "tcpSocket", P_MESSAGE | P_KEEP, tcp_socket_action},
	{4, "sleep", P_MESSAGE | P_KEEP, sleep_action},
	P_END,
};

static const struct proto_field lifecycle[] = {
	{1, "postStart", P_MESSAGE | P_KEEP, lifecycle_handler},
	{2, "preStop", P_MESSAGE | P_KEEP, lifecycle_handler},
	{3, "stopSignal", P_STRING | P_KEEP},
	P_END,
};

static const struct proto_field capabilities[] = {
	{1, "add", P_STRING | P_LIST},
	{2, "drop", P_STRING | P_LIST},
	P_END,
};

const struct proto_field proto_se_linux_options[] = {
	{1, "user", P_STRING},
	{2, "role", P_STRING},
	{3, "type", P_STRING},
	{4, "level", P_STRING},
	P_END,
};

const struct proto_field proto_windows_security_context_options[] = {
	{1, "gmsaCredentialSpecName", P_STRING | P_KEEP},
	{2, "gmsaCredentialSpec", P_STRING | P_KEEP},
	{3, "runAsUserName", P_STRING | P_KEEP},
	{4, "hostProcess", P_BOOL | P_KEEP},
	P_END,
};

const struct proto_field proto_seccomp_profile[] = {
	{1, "type", P_STRING | P_KEEP},
	{2, "localhostProfile", P_STRING | P_KEEP},
	P_END,
};

const struct proto_field proto_app_armor_profile[] = {
	{1, "type", P_STRING | P_KEEP},
	{2, "localhostProfile", P_STRING | P_KEEP},
	P_END,
};

static const struct proto_field security_context[] = {
	{1, "capabilities", P_MESSAGE | P_KEEP, capabilities},
	{2, "privileged", P_BOOL | P_KEEP},
	{3, "seLinuxOptions", P_MESSAGE | P_KEEP, proto_se_linux_options},
	{10, "windowsOptions", P_MESSAGE | P_KEEP, proto_windows_security_context_options},
	{4, "runAsUser", P_INT | P_KEEP},
	{8, "runAsGroup", P_INT | P_KEEP},
	{5, "runAsNonRoot", P_BOOL | P_KEEP},
	{6, "readOnlyRootFilesystem", P_BOOL | P_KEEP},
	{7, "allowPrivilegeEscalation", P_BOOL | P_KEEP},
	{9, "procMount", P_STRING | P_KEEP},
	{11, "seccompProfile", P_MESSAGE | P_KEEP, proto_seccomp_profile},
	{12, "appArmorProfile", P_MESSAGE | P_KEEP, proto_app_armor_profile},
	P_END,
};

const struct proto_field proto_container[] = {
	{1, "name", P_STRING | P_KEEP},
	{2, "image", P_STRING},
	{3, "command", P_STRING | P_LIST},
	{4, "args", P_STRING | P_LIST},
	{5, "workingDir", P_STRING},
	{6, "ports", P_MESSAGE | P_LIST, container_port},
	{19, "envFrom", P_MESSAGE | P_LIST, env_from_source},
	{7, "env", P_MESSAGE | P_LIST, env_var},
	{8, "resources", P_MESSAGE, proto_resource_requirements},
	{23, "resizePolicy", P_MESSAGE | P_LIST, container_resize_policy},
	{24, "restartPolicy", P_STRING | P_KEEP},
	{25, "restartPolicyRules", P_MESSAGE | P_LIST, container_restart_rule},
	{9, "volumeMounts", P_MESSAGE | P_LIST, volume_mount},
	{21, "volumeDevices", P_MESSAGE | P_LIST, volume_device},
	{10, "livenessProbe", P_MESSAGE | P_KEEP, probe},
	{11, "readinessProbe", P_MESSAGE | P_KEEP, probe},
	{22, "startupProbe", P_MESSAGE | P_KEEP, probe},
	{12, "lifecycle", P_MESSAGE | P_KEEP, lifecycle},
	{13, "terminationMessagePath", P_STRING},
	{20, "terminationMessagePolicy", P_STRING},
	{14, "imagePullPolicy", P_STRING},
	{15, "securityContext", P_MESSAGE | P_KEEP, security_context},
	{16, "stdin", P_BOOL},
	{17, "stdinOnce", P_BOOL},
	{18, "tty", P_BOOL},
	P_END,
};

const struct proto_field proto_ephemeral_container[] = {
	{1, "", P_MESSAGE | P_INLINE, proto_container},
	{2, "targetContainerName", P_STRING},
	P_END,
};

static const struct proto_field container_state_waiting[] = {
	{1, "reason", P_STRING},
	{2, "message", P_STRING},
	P_END,
};

static const struct proto_field container_state_running[] = {
	{1, "startedAt", P_TIME},
	P_END,
};

static const struct proto_field container_state_terminated[] = {
	{1, "exitCode", P_INT | P_KEEP}, {2, "signal", P_INT},
	{3, "reason", P_STRING},         {4, "message", P_STRING},
	{5, "startedAt", P_TIME},        {6, "finishedAt", P_TIME},
	{7, "containerID", P_STRING},    P_END,
};

static const struct proto_field container_state[] = {
	{1, "waiting", P_MESSAGE | P_KEEP, container_state_waiting},
	{2, "running", P_MESSAGE | P_KEEP, container_state_running},
	{3, "terminated", P_MESSAGE | P_KEEP, container_state_terminated},
	P_END,
};

static const struct proto_field image_volume_status[] = {
	{1, "imageRef", P_STRING},
	P_END,
};

static const struct proto_field volume_status[] = {
	{1, "image", P_MESSAGE | P_KEEP, image_volume_status},
	P_END,
};

static const struct proto_field volume_mount_status[] = {
	{1, "name", P_STRING | P_KEEP},
	{2, "mountPath", P_STRING | P_KEEP},
	{3, "readOnly", P_BOOL},
	{4, "recursiveReadOnly", P_STRING | P_KEEP},
	{5, "volumeStatus", P_MESSAGE | P_KEEP, volume_status},
	P_END,
};

static const struct proto_field linux_container_user[] = {
	{1, "uid", P_INT | P_KEEP},
	{2, "gid", P_INT | P_KEEP},
	{3, "supplementalGroups", P_INT | P_LIST},
	P_END,
};

static const struct proto_field container_user[] = {
	{1, "linux", P_MESSAGE | P_KEEP, linux_container_user},
	P_END,
};

static const struct proto_field resource_health[] = {
	{1, "resourceID", P_STRING | P_KEEP},
	{2, "health", P_STRING},
	{6, "message", P_STRING | P_KEEP},
	P_END,
};

static const struct proto_field resource_status[] = {
	{1, "name", P_STRING | P_KEEP},
	{2, "resources", P_MESSAGE | P_LIST, resource_health},
	P_END,
};

const struct proto_field proto_container_status[] = {
	{1, "name", P_STRING | P_KEEP},
	{2, "state", P_MESSAGE, container_state},
	{3, "lastState", P_MESSAGE, container_state},
	{4, "ready", P_BOOL | P_KEEP},
	{5, "restartCount", P_INT | P_KEEP},
	{6, "image", P_STRING | P_KEEP},
	{7, "imageID", P_STRING | P_KEEP},
	{8, "containerID", P_STRING},
	{9, "started", P_BOOL | P_KEEP},
	{10, "allocatedResources", P_QUANTITY | P_MAP},
	{11, "resources", P_MESSAGE | P_KEEP, proto_resource_requirements},
	{12, "volumeMounts", P_MESSAGE | P_LIST, volume_mount_status},
	{13, "user", P_MESSAGE | P_KEEP, container_user},
	{14, "allocatedResourcesStatus", P_MESSAGE | P_LIST, resource_status},
	{15, "stopSignal", P_STRING | P_KEEP},
	P_END,
};
