/* Columns of the kinds that a federation adds; their CRD files say the same. */
#include "api/cells.h"

CELL(job_status, "status", "state", "phase")
CELL(job_min_available, "spec", "minAvailable")
CELL(job_running, "status", "running")
CELL(job_queue, "spec", "queue")

static json_t *job_cluster(const json_t *job, int64_t now_ns)
{
	const json_t *parts = json_at(job, "status", "dispatch", "parts", NULL);

	return cell_string(json_str_at(json_array_get(parts, 0), "cluster", NULL));
}

const struct column columns_job[] = {
	{"Status", "string", 0, job_status},
	{"MinAvailable", "integer", 0, job_min_available},
	{"Running", "integer", 0, job_running},
	{"Cluster", "string", 0, job_cluster},
	COLUMN_AGE,
	{"Queue", "string", 1, job_queue},
	{NULL},
};

CELL(queue_state, "status", "state")
CELL(queue_running, "status", "running")
CELL(queue_waiting, "status", "pending")

const struct column columns_queue[] = {
	{"State", "string", 0, queue_state},
	{"Running", "integer", 0, queue_running},
	{"Waiting", "integer", 0, queue_waiting},
	COLUMN_AGE,
	{NULL},
};

CELL(cluster_accepted, "spec", "accepted")
CELL(cluster_nodes, "status", "nodes")
CELL(cluster_version, "status", "version")

/* The keys of all; a CRD could show no more than the first. */
static json_t *cluster_taints(const json_t *cluster, int64_t now_ns)
{
	const json_t *taints = json_at(cluster, "spec", "taints", NULL);
	auto_strbuf keys = {0};
	size_t i;
	json_t *taint;

	json_array_foreach (taints, i, taint)
		strbuf_addf(&keys, "%s%s", i ? " " : "", json_str_at(taint, "key", NULL));
	return keys.size ? json_string(strbuf_str(&keys)) : json_null();
}

static json_t *cluster_ready(const json_t *cluster, int64_t now_ns)
{
	return cell_copy(cell_condition(cluster, "Ready", "status"));
}

const struct column columns_cluster[] = {
	{"Accepted", "boolean", 0, cluster_accepted},
	{"Ready", "string", 0, cluster_ready},
	{"Taints", "string", 0, cluster_taints},
	{"Nodes", "integer", 0, cluster_nodes},
	{"Version", "string", 0, cluster_version},
	COLUMN_AGE,
	{NULL},
};

CELL(placement_job, "spec", "job", "name")
CELL(placement_generation, "spec", "generation")
CELL(placement_desired, "spec", "desired")
CELL(placement_state, "status", "state")
CELL(placement_reason, "status", "reason")
CELL(placement_nodes, "status", "nodes")

const struct column columns_placement[] = {
	{"Job", "string", 0, placement_job},
	{"Generation", "integer", 0, placement_generation},
	{"Desired", "string", 0, placement_desired},
	{"State", "string", 0, placement_state},
	{"Reason", "string", 0, placement_reason},
	COLUMN_AGE,
	{"Nodes", "string", 1, placement_nodes},
	{NULL},
};

CELL(dataset_size, "spec", "size")
CELL(dataset_version, "spec", "version")

const struct column columns_dataset[] = {
	{"Size", "string", 0, dataset_size},
	{"Version", "string", 0, dataset_version},
	COLUMN_AGE,
	{NULL},
};
