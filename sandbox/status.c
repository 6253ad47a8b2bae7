/* A pod's status in the words of a kubelet. */
#include <string.h>

#include "base/encode.h"
#include "base/json.h"
#include "sandbox/kubelet_internal.h"

static const char *phase_of(const struct pod_entry *e)
{
	if (e->state == POD_IS_NEW)
		return "Pending";
	if (e->state != POD_IS_ENDED)
		return "Running";
	return e->reason[0] || e->exit_code ? "Failed" : "Succeeded";
}

static json_t *container_state(const struct pod_entry *e)
{
	char started[TIME_SIZE], ended[TIME_SIZE];

	time_format(started, e->started_ns);
	time_format(ended, e->ended_ns);
	if (e->state != POD_IS_ENDED)
		return json_pack("{s{ss}}", "running", "startedAt", started);
	return json_pack("{s{si,ss,ss,ss}}", "terminated", "exitCode", e->exit_code, "reason",
			 e->exit_code ? "Error" : "Completed", "startedAt", started, "finishedAt",
			 ended);
}

static json_t *container_statuses(const struct pod_entry *e)
{
	const json_t *containers = json_at(e->tree, "spec", "containers", NULL), *c;
	json_t *list = json_array();
	bool runs = e->state == POD_IS_RUNNING || e->state == POD_IS_STOPPING;
	size_t i;

	json_array_foreach (containers, i, c) {
		const char *image = json_str_at(c, "image", NULL);

		json_array_append_new(list,
				      json_pack("{ss,ss,ss,sb,sb,si,so,s{}}", "name",
						json_str_at(c, "name", NULL), "image",
						image ? image : "", "imageID", "", "ready", runs,
						"started", runs, "restartCount", e->restarts,
						"state", container_state(e), "lastState"));
	}
	return list;
}

static json_t *condition(const char *type, bool is, const char *since)
{
	return json_pack("{ss,ss,ss}", "type", type, "status", is ? "True" : "False",
			 "lastTransitionTime", since);
}

json_t *kubelet_status(const struct pod_entry *e)
{
	json_t *status = json_object();
	bool runs = e->state == POD_IS_RUNNING || e->state == POD_IS_STOPPING;
	char started[TIME_SIZE];

	time_format(started, e->started_ns);
	json_set_str(status, "phase", phase_of(e));
	json_set_str(status, "startTime", started);
	if (e->reason[0]) {
		json_set_str(status, "reason", e->reason);
		json_set_str(status, "message", e->message);
		return status;
	}
	json_set_str(status, "hostIP", "127.0.0.1");
	json_set_str(status, "podIP", "127.0.0.1");
	json_object_set_new(status, "conditions",
			    json_pack("[o,o,o,o]", condition("PodScheduled", true, started),
				      condition("Initialized", true, started),
				      condition("ContainersReady", runs, started),
				      condition("Ready", runs, started)));
	json_object_set_new(status, "containerStatuses", container_statuses(e));
	return status;
}
