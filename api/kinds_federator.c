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
};
