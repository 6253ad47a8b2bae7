/* What standalone reads from and writes into trees. Pure. */
#include <string.h>

#include "base/encode.h"
#include "base/json.h"
#include "lifecycle/record.h"
#include "member-agent/names.h"
#include "member-agent/standalone_internal.h"

#define EVENT_MESSAGE_MAX 1000

static const char *dispatch_of(const json_t *job)
{
	const char *phase = json_str_at(job, "status", "dispatch", "phase", NULL);

	return phase ? phase : "";
}

static bool is_one_of(const char *word, const char *const *words)
{
	for (; *words; words++)
		if (!strcmp(word, *words))
			return true;
	return false;
}

static const char *state_of(const json_t *job)
{
	const char *phase = json_str_at(job, "status", "state", "phase", NULL);

	return phase ? phase : "";
}

bool job_has_ended(const json_t *job)
{
	static const char *const over[] = {"Completed", "Failed", "Aborted", "Terminated", NULL};
	const char *dispatch = dispatch_of(job);

	if (*dispatch)
		return !strcmp(dispatch, "Ended") || !strcmp(dispatch, "Uncertain");
	return is_one_of(state_of(job), over);
}

bool job_is_strange(const json_t *job)
{
	static const char *const begun[] = {"Running",    "Restarting",  "Aborting",
					    "Completing", "Terminating", NULL};

	return !*dispatch_of(job) && is_one_of(state_of(job), begun);
}

int64_t job_open_generation(const json_t *job)
{
	static const char *const open[] = {"Confirmed", "Running", "Releasing", NULL};
	const json_t *parts = json_at(job, "status", "dispatch", "parts", NULL);

	if (!is_one_of(dispatch_of(job), open))
		return 0;
	return json_int_at(json_array_get(parts, 0), 0, "generation", NULL);
}

bool job_leaves_open(const json_t *job, const json_t *twin)
{
	int64_t n = json_int_at(job, 0, "status", "dispatch", "n", NULL);
	int64_t open = job_open_generation(job);
	int64_t g = json_int_at(twin, 0, "spec", "generation", NULL);

	if (job_has_ended(job))
		return false;
	return twin ? g > n || g == open : open > 0;
}

/* --- writing --- */

json_t *status_for_volcano(const json_t *status)
{
	json_t *out = json_deep_copy(status);
	json_t *pending = json_object_get(out, "pending"), *state;

	json_object_del(out, "dispatch");
	if (!json_is_object(pending))
		return out;
	state = json_object_need(out, "state");
	json_set_str(state, "reason", json_str_at(pending, "code", NULL));
	json_set_str(state, "message", json_str_at(pending, "detail", NULL));
	json_object_del(out, "pending");
	return out;
}

json_t *status_patch(int64_t version, const json_t *status)
{
	auto_xfree char *text = xasprintf("%lld", (long long)version);

	return json_pack("[{ssssss}{sssssO}]", "op", "replace", "path", "/metadata/resourceVersion",
			 "value", text, "op", "add", "path", "/status", "value", status);
}

/* There is one cluster, so what it lacks says more than that no cluster has it. */
json_t *pending_of_explain(const struct explain *e)
{
	const struct explain_place *place = e->n_places ? &e->places[0] : NULL;
	bool misses = place && place->verdict != VERDICT_FITS;

	return explain_pending_json(e, misses ? place : NULL);
}

json_t *pending_of_refusal(const char *cluster, const json_t *placement_status)
{
	const json_t *miss = json_at(placement_status, "nearestMiss", NULL);
	json_t *pending = json_object();

	json_set_str(pending, "code", json_str_at(placement_status, "reason", NULL));
	json_set_str(pending, "cluster", cluster);
	json_set_str(pending, "detail", json_str_at(placement_status, "message", NULL));
	if (miss)
		json_object_set_new(pending, "nearestMiss", json_deep_copy(miss));
	return pending;
}

/* At most n bytes, and no half character. */
static size_t cut_at(const char *text, size_t n)
{
	size_t at = 0, len, size = strlen(text);

	while (at < size && (len = utf8_length(text + at, size - at)) && at + len <= n)
		at += len;
	return at;
}

json_t *job_event(const json_t *job, const char *type, const char *reason, const char *message,
		  int64_t now_ns)
{
	const char *name = json_str_at(job, "metadata", "name", NULL);
	const char *ns = json_str_at(job, "metadata", "namespace", NULL);
	auto_xfree char *text = xstrndup(message, cut_at(message, EVENT_MESSAGE_MAX));
	char now[TIME_SIZE];

	time_format(now, now_ns);
	return json_pack(
		"{ssss s{ssss} s{ssssssssss} ssssssssss si s{ss} ss}", "apiVersion", "v1", "kind",
		"Event", "metadata", "generateName", "job.", "namespace", ns, "involvedObject",
		"apiVersion", "batch.volcano.sh/v1alpha1", "kind", "Job", "namespace", ns, "name",
		name, "uid", json_str_at(job, "metadata", "uid", NULL), "type", type, "reason",
		reason, "message", text, "firstTimestamp", now, "lastTimestamp", now, "count", 1,
		"source", "component", SCHEDULER_NAME, "reportingComponent", SCHEDULER_NAME);
}
