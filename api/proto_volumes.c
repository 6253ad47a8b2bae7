/* Field tables of the volumes of a Pod. */
#include "api/proto_table.h"

static const struct proto_field host_path_volume_source[] = {
	{1, "path", P_STRING | P_KEEP},
	{2, "type", P_STRING | P_KEEP},
	P_END,
};

static const struct proto_field empty_dir_volume_source[] = {
	{1, "medium", P_STRING},
	{2, "sizeLimit", P_QUANTITY | P_KEEP},
	P_END,
};

static const struct proto_field gce_persistent_disk_volume_source[] = {
	{1, "pdName", P_STRING | P_KEEP},
	{2, "fsType", P_STRING},
	{3, "partition", P_INT},
	{4, "readOnly", P_BOOL},
	P_END,
};

static const struct proto_field aws_elastic_block_store_volume_source[] = {
	{1, "volumeID", P_STRING | P_KEEP},
	{2, "fsType", P_STRING},
	{3, "partition", P_INT},
	{4, "readOnly", P_BOOL},
	P_END,
};

static const struct proto_field git_repo_volume_source[] = {
	{1, "repository", P_STRING | P_KEEP},
	{2, "revision", P_STRING},
	{3, "directory", P_STRING},
	P_END,
};

static const struct proto_field key_to_path[] = {
	{1, "key", P_STRING | P_KEEP},
	{2, "path", P_STRING | P_KEEP},
	{3, "mode", P_INT | P_KEEP},
	P_END,
};

static const struct proto_field secret_volume_source[] = {
	{1, "secretName", P_STRING},
	{2, "items", P_MESSAGE | P_LIST, key_to_path},
	{3, "defaultMode", P_INT | P_KEEP},
	{4, "optional", P_BOOL | P_KEEP},
	P_END,
};

static const struct proto_field nfs_volume_source[] = {
	{1, "server", P_STRING | P_KEEP},
	{2, "path", P_STRING | P_KEEP},
	{3, "readOnly", P_BOOL},
	P_END,
};

static const struct proto_field iscsi_volume_source[] = {
	{1, "targetPortal", P_STRING | P_KEEP},
	{2, "iqn", P_STRING | P_KEEP},
	{3, "lun", P_INT | P_KEEP},
	{4, "iscsiInterface", P_STRING},
	{5, "fsType", P_STRING},
	{6, "readOnly", P_BOOL},
	{7, "portals", P_STRING | P_LIST},
	{8, "chapAuthDiscovery", P_BOOL},
	{11, "chapAuthSession", P_BOOL},
	{10, "secretRef", P_MESSAGE | P_KEEP, proto_local_object_reference},
	{12, "initiatorName", P_STRING | P_KEEP},
	P_END,
};

static const struct proto_field glusterfs_volume_source[] = {
	{1, "endpoints", P_STRING | P_KEEP},
	{2, "path", P_STRING | P_KEEP},
	{3, "readOnly", P_BOOL},
	P_END,
};

static const struct proto_field persistent_volume_claim_volume_source[] = {
	{1, "claimName", P_STRING | P_KEEP},
	{2, "readOnly", P_BOOL},
	P_END,
};

static const struct proto_field rbd_volume_source[] = {
	{1, "monitors", P_STRING | P_LIST},
	{2, "image", P_STRING | P_KEEP},
	{3, "fsType", P_STRING},
	{4, "pool", P_STRING},
	{5, "user", P_STRING},
	{6, "keyring", P_STRING},
	{7, "secretRef", P_MESSAGE | P_KEEP, proto_local_object_reference},
	{8, "readOnly", P_BOOL},
	P_END,
};

static const struct proto_field flex_volume_source[] = {
	{1, "driver", P_STRING | P_KEEP},
	{2, "fsType", P_STRING},
	{3, "secretRef", P_MESSAGE | P_KEEP, proto_local_object_reference},
	{4, "readOnly", P_BOOL},
	{5, "options", P_STRING | P_MAP},
	P_END,
};

static const struct proto_field cinder_volume_source[] = {
	{1, "volumeID", P_STRING | P_KEEP},
	{2, "fsType", P_STRING},
	{3, "readOnly", P_BOOL},
	{4, "secretRef", P_MESSAGE | P_KEEP, proto_local_object_reference},
	P_END,
};

static const struct proto_field ceph_fs_volume_source[] = {
	{1, "monitors", P_STRING | P_LIST},
	{2, "path", P_STRING},
	{3, "user", P_STRING},
	{4, "secretFile", P_STRING},
	{5, "secretRef", P_MESSAGE | P_KEEP, proto_local_object_reference},
	{6, "readOnly", P_BOOL},
	P_END,
};

static const struct proto_field flocker_volume_source[] = {
	{1, "datasetName", P_STRING},
	{2, "datasetUUID", P_STRING},
	P_END,
};

const struct proto_field proto_object_field_selector[] = {
	{1, "apiVersion", P_STRING},
	{2, "fieldPath", P_STRING | P_KEEP},
	P_END,
};

const struct proto_field proto_resource_field_selector[] = {
	{1, "containerName", P_STRING},
	{2, "resource", P_STRING | P_KEEP},
	{3, "divisor", P_QUANTITY},
	P_END,
};

static const struct proto_field downward_api_volume_file[] = {
	{1, "path", P_STRING | P_KEEP},
	{2, "fieldRef", P_MESSAGE | P_KEEP, proto_object_field_selector},
	{3, "resourceFieldRef", P_MESSAGE | P_KEEP, proto_resource_field_selector},
	{4, "mode", P_INT | P_KEEP},
	P_END,
};

static const struct proto_field downward_api_volume_source[] = {
	{1, "items", P_MESSAGE | P_LIST, downward_api_volume_file},
	{2, "defaultMode", P_INT | P_KEEP},
	P_END,
};

static const struct proto_field fc_volume_source[] = {
	{1, "targetWWNs", P_STRING | P_LIST},
	{2, "lun", P_INT | P_KEEP},
	{3, "fsType", P_STRING},
	{4, "readOnly", P_BOOL},
	{5, "wwids", P_STRING | P_LIST},
	P_END,
};

static const struct proto_field azure_file_volume_source[] = {
	{1, "secretName", P_STRING | P_KEEP},
	{2, "shareName", P_STRING | P_KEEP},
	{3, "readOnly", P_BOOL},
	P_END,
};

static const struct proto_field config_map_volume_source[] = {
	{1, "", P_MESSAGE | P_INLINE, proto_local_object_reference},
	{2, "items", P_MESSAGE | P_LIST, key_to_path},
	{3, "defaultMode", P_INT | P_KEEP},
	{4, "optional", P_BOOL | P_KEEP},
	P_END,
};

static const struct proto_field vsphere_virtual_disk_volume_source[] = {
	{1, "volumePath", P_STRING | P_KEEP},
	{2, "fsType", P_STRING},
	{3, "storagePolicyName", P_STRING},
	{4, "storagePolicyID", P_STRING},
	P_END,
};

static const struct proto_field quobyte_volume_source[] = {
	{1, "registry", P_STRING | P_KEEP},
	{2, "volume", P_STRING | P_KEEP},
	{3, "readOnly", P_BOOL},
	{4, "user", P_STRING},
	{5, "group", P_STRING},
	{6, "tenant", P_STRING},
	P_END,
};

static const struct proto_field azure_disk_volume_source[] = {
	{1, "diskName", P_STRING | P_KEEP},
	{2, "diskURI", P_STRING | P_KEEP},
	{3, "cachingMode", P_STRING | P_KEEP},
	{4, "fsType", P_STRING | P_KEEP},
	{5, "readOnly", P_BOOL | P_KEEP},
	{6, "kind", P_STRING | P_KEEP},
	P_END,
};

static const struct proto_field photon_persistent_disk_volume_source[] = {
	{1, "pdID", P_STRING | P_KEEP},
	{2, "fsType", P_STRING},
	P_END,
};

static const struct proto_field secret_projection[] = {
	{1, "", P_MESSAGE | P_INLINE, proto_local_object_reference},
	{2, "items", P_MESSAGE | P_LIST, key_to_path},
	{4, "optional", P_BOOL | P_KEEP},
	P_END,
};

static const struct proto_field downward_api_projection[] = {
	{1, "items", P_MESSAGE | P_LIST, downward_api_volume_file},
	P_END,
};

static const struct proto_field config_map_projection[] = {
	{1, "", P_MESSAGE | P_INLINE, proto_local_object_reference},
	{2, "items", P_MESSAGE | P_LIST, key_to_path},
	{4, "optional", P_BOOL | P_KEEP},
	P_END,
};

static const struct proto_field service_account_token_projection[] = {
	{1, "audience", P_STRING},
	{2, "expirationSeconds", P_INT | P_KEEP},
	{3, "path", P_STRING | P_KEEP},
	P_END,
};

static const struct proto_field cluster_trust_bundle_projection[] = {
	{1, "name", P_STRING | P_KEEP},
	{2, "signerName", P_STRING | P_KEEP},
	{3, "labelSelector", P_MESSAGE | P_KEEP, proto_label_selector},
	{5, "optional", P_BOOL | P_KEEP},
	{4, "path", P_STRING | P_KEEP},
	P_END,
};

static const struct proto_field pod_certificate_projection[] = {
	{1, "signerName", P_STRING},
	{2, "keyType", P_STRING},
	{3, "maxExpirationSeconds", P_INT | P_KEEP},
	{4, "credentialBundlePath", P_STRING},
	{5, "keyPath", P_STRING},
	{6, "certificateChainPath", P_STRING},
	{7, "userAnnotations", P_STRING | P_MAP},
	P_END,
};

static const struct proto_field volume_projection[] = {
	{1, "secret", P_MESSAGE | P_KEEP, secret_projection},
	{2, "downwardAPI", P_MESSAGE | P_KEEP, downward_api_projection},
	{3, "configMap", P_MESSAGE | P_KEEP, config_map_projection},
	{4, "serviceAccountToken", P_MESSAGE | P_KEEP, service_account_token_projection},
	{5, "clusterTrustBundle", P_MESSAGE | P_KEEP, cluster_trust_bundle_projection},
	{6, "podCertificate", P_MESSAGE | P_KEEP, pod_certificate_projection},
	P_END,
};

static const struct proto_field projected_volume_source[] = {
	{1, "sources", P_MESSAGE | P_LIST, volume_projection},
	{2, "defaultMode", P_INT | P_KEEP},
	P_END,
};

static const struct proto_field portworx_volume_source[] = {
	{1, "volumeID", P_STRING | P_KEEP},
	{2, "fsType", P_STRING},
	{3, "readOnly", P_BOOL},
	P_END,
};

static const struct proto_field scale_io_volume_source[] = {
	{1, "gateway", P_STRING | P_KEEP},
	{2, "system", P_STRING | P_KEEP},
	{3, "secretRef", P_MESSAGE | P_KEEP, proto_local_object_reference},
	{4, "sslEnabled", P_BOOL},
	{5, "protectionDomain", P_STRING},
	{6, "storagePool", P_STRING},
	{7, "storageMode", P_STRING},
	{8, "volumeName", P_STRING},
	{9, "fsType", P_STRING},
	{10, "readOnly", P_BOOL},
	P_END,
};

static const struct proto_field storage_os_volume_source[] = {
	{1, "volumeName", P_STRING},
	{2, "volumeNamespace", P_STRING},
	{3, "fsType", P_STRING},
	{4, "readOnly", P_BOOL},
	{5, "secretRef", P_MESSAGE | P_KEEP, proto_local_object_reference},
	P_END,
};

static const struct proto_field csi_volume_source[] = {
	{1, "driver", P_STRING | P_KEEP},
	{2, "readOnly", P_BOOL | P_KEEP},
	{3, "fsType", P_STRING | P_KEEP},
	{4, "volumeAttributes", P_STRING | P_MAP},
	{5, "nodePublishSecretRef", P_MESSAGE | P_KEEP, proto_local_object_reference},
	P_END,
};

static const struct proto_field volume_resource_requirements[] = {
	{1, "limits", P_QUANTITY | P_MAP},
	{2, "requests", P_QUANTITY | P_MAP},
	P_END,
};

static const struct proto_field persistent_volume_claim_spec[] = {
	{1, "accessModes", P_STRING | P_LIST},
	{4, "selector", P_MESSAGE | P_KEEP, proto_label_selector},
	{2, "resources", P_MESSAGE, volume_resource_requirements},
	{3, "volumeName", P_STRING},
	{5, "storageClassName", P_STRING | P_KEEP},
	{6, "volumeMode", P_STRING | P_KEEP},
	{7, "dataSource", P_MESSAGE | P_KEEP, proto_typed_local_object_reference},
	{8, "dataSourceRef", P_MESSAGE | P_KEEP, proto_typed_object_reference},
	{9, "volumeAttributesClassName", P_STRING | P_KEEP},
	P_END,
};

static const struct proto_field persistent_volume_claim_template[] = {
	{1, "metadata", P_MESSAGE, proto_object_meta},
	{2, "spec", P_MESSAGE | P_KEEP, persistent_volume_claim_spec},
	P_END,
};

static const struct proto_field ephemeral_volume_source[] = {
	{1, "volumeClaimTemplate", P_MESSAGE | P_KEEP, persistent_volume_claim_template},
	P_END,
};

static const struct proto_field image_volume_source[] = {
	{1, "reference", P_STRING},
	{2, "pullPolicy", P_STRING},
	P_END,
};

static const struct proto_field volume_source[] = {
	{1, "hostPath", P_MESSAGE | P_KEEP, host_path_volume_source},
	{2, "emptyDir", P_MESSAGE | P_KEEP, empty_dir_volume_source},
	{3, "gcePersistentDisk", P_MESSAGE | P_KEEP, gce_persistent_disk_volume_source},
	{4, "awsElasticBlockStore", P_MESSAGE | P_KEEP, aws_elastic_block_store_volume_source},
	{5, "gitRepo", P_MESSAGE | P_KEEP, git_repo_volume_source},
	{6, "secret", P_MESSAGE | P_KEEP, secret_volume_source},
	{7, "nfs", P_MESSAGE | P_KEEP, nfs_volume_source},
	{8, "iscsi", P_MESSAGE | P_KEEP, iscsi_volume_source},
	{9, "glusterfs", P_MESSAGE | P_KEEP, glusterfs_volume_source},
	{10, "persistentVolumeClaim", P_MESSAGE | P_KEEP, persistent_volume_claim_volume_source},
	{11, "rbd", P_MESSAGE | P_KEEP, rbd_volume_source},
	{12, "flexVolume", P_MESSAGE | P_KEEP, flex_volume_source},
	{13, "cinder", P_MESSAGE | P_KEEP, cinder_volume_source},
	{14, "cephfs", P_MESSAGE | P_KEEP, ceph_fs_volume_source},
	{15, "flocker", P_MESSAGE | P_KEEP, flocker_volume_source},
	{16, "downwardAPI", P_MESSAGE | P_KEEP, downward_api_volume_source},
	{17, "fc", P_MESSAGE | P_KEEP, fc_volume_source},
	{18, "azureFile", P_MESSAGE | P_KEEP, azure_file_volume_source},
	{19, "configMap", P_MESSAGE | P_KEEP, config_map_volume_source},
	{20, "vsphereVolume", P_MESSAGE | P_KEEP, vsphere_virtual_disk_volume_source},
	{21, "quobyte", P_MESSAGE | P_KEEP, quobyte_volume_source},
	{22, "azureDisk", P_MESSAGE | P_KEEP, azure_disk_volume_source},
	{23, "photonPersistentDisk", P_MESSAGE | P_KEEP, photon_persistent_disk_volume_source},
	{26, "projected", P_MESSAGE | P_KEEP, projected_volume_source},
	{24, "portworxVolume", P_MESSAGE | P_KEEP, portworx_volume_source},
	{25, "scaleIO", P_MESSAGE | P_KEEP, scale_io_volume_source},
	{27, "storageos", P_MESSAGE | P_KEEP, storage_os_volume_source},
	{28, "csi", P_MESSAGE | P_KEEP, csi_volume_source},
	{29, "ephemeral", P_MESSAGE | P_KEEP, ephemeral_volume_source},
	{30, "image", P_MESSAGE | P_KEEP, image_volume_source},
	P_END,
};

const struct proto_field proto_volume[] = {
	{1, "name", P_STRING | P_KEEP},
	{2, "", P_MESSAGE | P_INLINE, volume_source},
	P_END,
};
