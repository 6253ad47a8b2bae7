/* Rows of the kinds that a federation adds: Volcano's and our own. */
#include "api/kinds.h"

const struct kind kind_job = {
	.group = "batch.volcano.sh",
	.version = "v1alpha1",
	.plural = "jobs",
	.singular = "job",
	.name = "Job",
	.list_name = "JobList",
	.short_names = (const char *const[]){"vcjob", "vj", NULL},
	.categories = (const char *const[]){"all", NULL},
	.namespaced = true,
	.has_status = true,
	.split_status = true,
	.has_generation = true,
	.verbs = VERB_ALL,
	.schema_file = "batch.volcano.sh_jobs.yaml",
	.columns = columns_job,
	.set_defaults = job_set_defaults,
	.validate = job_validate,
};

const struct kind kind_queue = {
	.group = "scheduling.volcano.sh",
	.version = "v1beta1",
	.plural = "queues",
	.singular = "queue",
	.name = "Queue",
	.list_name = "QueueList",
	.short_names = (const char *const[]){"q", NULL},
	.has_status = true,
	.has_generation = true,
	.verbs = VERB_ALL,
	.schema_file = "scheduling.volcano.sh_queues.yaml",
	.columns = columns_queue,
	.validate = queue_validate,
};

const struct kind kind_cluster = {
	.group = "federator.dev",
	.version = "v1alpha1",
	.plural = "clusters",
	.singular = "cluster",
	.name = "Cluster",
	.list_name = "ClusterList",
	.short_names = (const char *const[]){"cl", NULL},
	.has_status = true,
	.has_generation = true,
	.verbs = VERB_ALL,
	.schema_file = "federator.dev_clusters.yaml",
	.columns = columns_cluster,
	.name_rule = NAME_CLUSTER,
	.validate = cluster_validate,
};

const struct kind kind_dataset = {
	.group = "federator.dev",
	.version = "v1alpha1",
	.plural = "datasets",
	.singular = "dataset",
	.name = "DataSet",
	.list_name = "DataSetList",
	.short_names = (const char *const[]){"ds", NULL},
	.has_generation = true,
	.verbs = VERB_ALL,
	.schema_file = "federator.dev_datasets.yaml",
	.columns = columns_dataset,
	.validate = dataset_validate,
};

const struct kind kind_placement = {
	.group = "federator.dev",
	.version = "v1alpha1",
	.plural = "placements",
	.singular = "placement",
	.name = "Placement",
	.list_name = "PlacementList",
	.short_names = (const char *const[]){"pl", NULL},
	.namespaced = true,
	.has_status = true,
	.has_generation = true,
	.verbs = VERB_ALL,
	.schema_file = "federator.dev_placements.yaml",
	.columns = columns_placement,
};
