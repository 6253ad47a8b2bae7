#include "lifecycle/record.h"

#include <string.h>

#include "base/encode.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/scan.h"
#include "lifecycle/job_status.h"

/* The record's edges. CLAIM completes the pair on the Placement alone and leaves the record. */
static const struct record_edge_row {
	enum dispatch_phase from;
	enum record_step step;
	enum dispatch_phase to;
} record_edges[] = {
	{DISPATCH_NONE, RECORD_OFFER, DISPATCH_CONFIRMED},
	{DISPATCH_QUEUED, RECORD_OFFER, DISPATCH_CONFIRMED},
	{DISPATCH_CONFIRMED, RECORD_TAKE_BACK, DISPATCH_QUEUED},
	{DISPATCH_CONFIRMED, RECORD_CLAIM, DISPATCH_CONFIRMED},
	{DISPATCH_CONFIRMED, RECORD_ABORT, DISPATCH_RELEASING},
	{DISPATCH_CONFIRMED, RECORD_RUNNING, DISPATCH_RUNNING},
	{DISPATCH_CONFIRMED, RECORD_REFUSED, DISPATCH_QUEUED},
	{DISPATCH_CONFIRMED, RECORD_RELEASED, DISPATCH_QUEUED},
	{DISPATCH_CONFIRMED, RECORD_DONE, DISPATCH_ENDED},
	{DISPATCH_CONFIRMED, RECORD_LOST, DISPATCH_UNCERTAIN},
	{DISPATCH_RUNNING, RECORD_RUNNING, DISPATCH_RUNNING},
	{DISPATCH_RUNNING, RECORD_ABORT, DISPATCH_RELEASING},
	{DISPATCH_RUNNING, RECORD_RELEASED, DISPATCH_QUEUED},
	{DISPATCH_RUNNING, RECORD_DONE, DISPATCH_ENDED},
	{DISPATCH_RUNNING, RECORD_LOST, DISPATCH_UNCERTAIN},
	{DISPATCH_RELEASING, RECORD_RUNNING, DISPATCH_RELEASING},
	{DISPATCH_RELEASING, RECORD_REFUSED, DISPATCH_QUEUED},
	{DISPATCH_RELEASING, RECORD_RELEASED, DISPATCH_QUEUED},
	{DISPATCH_RELEASING, RECORD_DONE, DISPATCH_ENDED},
	{DISPATCH_RELEASING, RECORD_LOST, DISPATCH_UNCERTAIN},
};

bool record_edge(enum dispatch_phase from, enum record_step step, enum dispatch_phase *ret_to)
{
	for (size_t i = 0; i < ARRAY_LEN(record_edges); i++) {
		if (record_edges[i].from != from || record_edges[i].step != step)
			continue;
		*ret_to = record_edges[i].to;
		return true;
	}
	return false;
}

char *record_placement_name(const char *uid, int64_t part, int64_t generation)
{
	return xasprintf("%s-%lld-%lld", uid, (long long)part, (long long)generation);
}

char *record_cluster_namespace(const char *cluster)
{
	return xasprintf("cluster-%s", cluster);
}

int record_spec_hash(const char *job_bytes, size_t n, char out[65])
{
	struct sv spec;

	if (!scan_find((struct sv){job_bytes, n}, &spec, "spec", NULL))
		return -1;
	sha256_hex(spec.p, spec.n, out);
	return 0;
}

enum dispatch_phase record_phase(const json_t *job)
{
	const char *name = json_str_at(job, "status", "dispatch", "phase", NULL);

	for (int p = DISPATCH_QUEUED; name && p <= DISPATCH_UNCERTAIN; p++)
		if (!strcmp(dispatch_phase_name((enum dispatch_phase)p), name))
			return (enum dispatch_phase)p;
	return DISPATCH_NONE;
}

static int take_step(const json_t *job, enum record_step step, enum dispatch_phase *ret_to,
		     struct error *err)
{
	enum dispatch_phase from = record_phase(job);

	if (record_edge(from, step, ret_to))
		return 0;
	return error_set(err, ERR_CONFLICT, "the dispatch record of job %s is %s now",
			 json_str_at(job, "metadata", "name", NULL),
			 from == DISPATCH_NONE ? "new" : dispatch_phase_name(from));
}

/* A copy of the status to write into; a job that was never written about gets the first one. */
static json_t *status_copy(const json_t *job, int64_t now_ns)
{
	const json_t *status = json_at(job, "status", NULL);

	return json_at(status, "conditions", NULL) ? json_deep_copy(status)
						   : record_initial(job, now_ns);
}

static json_t *placement_tasks(const json_t *job, const int32_t *alternatives)
{
	const json_t *tasks = json_at(job, "spec", "tasks", NULL);
	const json_t *list = json_at(job, "spec", "placement", "alternatives", NULL);
	json_t *out = json_array(), *task;
	size_t i;

	json_array_foreach (tasks, i, task) {
		int64_t replicas = json_int_at(task, 1, "replicas", NULL);
		int32_t chosen = alternatives ? alternatives[i] : -1;
		json_t *t = json_object();

		if (chosen >= 0)
			replicas = json_int_at(json_array_get(list, (size_t)chosen), replicas,
					       "replicas", NULL);
		json_set_str(t, "name", json_str_at(task, "name", NULL));
		json_set_int(t, "replicas", replicas);
		if (chosen >= 0)
			json_set_int(t, "alternative", chosen);
		json_array_append_new(out, t);
	}
	return out;
}

static json_t *placement_tree(const json_t *job, const char *spec_hash,
			      const struct record_offer *offer, int64_t generation)
{
	const char *uid = json_str_at(job, "metadata", "uid", NULL);
	auto_xfree char *name = record_placement_name(uid, 0, generation);
	auto_xfree char *ns = record_cluster_namespace(offer->cluster);
	json_t *p = json_object(), *meta, *spec, *ref, *size;

	json_set_str(p, "apiVersion", "federator.dev/v1alpha1");
	json_set_str(p, "kind", "Placement");
	meta = json_object_need(p, "metadata");
	json_set_str(meta, "name", name);
	json_set_str(meta, "namespace", ns);
	spec = json_object_need(p, "spec");
	ref = json_object_need(spec, "job");
	json_set_str(ref, "namespace", json_str_at(job, "metadata", "namespace", NULL));
	json_set_str(ref, "name", json_str_at(job, "metadata", "name", NULL));
	json_set_str(ref, "uid", uid);
	json_set_int(spec, "part", 0);
	json_set_str(spec, "specHash", spec_hash);
	json_set_int(spec, "generation", generation);
	json_set_int(spec, "incarnation", offer->incarnation);
	json_set_str(spec, "clusterUID", offer->cluster_uid);
	json_set_str(spec, "desired", "Go");
	size = json_object_need(spec, "size");
	json_set_int(size, "seq", 1);
	json_object_set_new(size, "tasks", placement_tasks(job, offer->alternatives));
	json_set_int(spec, "retries", json_int_at(job, 0, "status", "dispatch", "retries", NULL));
	json_set_int(spec, "protocol", offer->protocol);
	return p;
}

/* The tasks may be others than those that the decision was about. */
static int check_alternatives(const json_t *job, const struct record_offer *offer,
			      struct error *err)
{
	size_t n = json_array_size(json_at(job, "spec", "tasks", NULL));
	size_t n_list = json_array_size(json_at(job, "spec", "placement", "alternatives", NULL));

	if (offer->n_alternatives && offer->n_alternatives != n)
		return error_set(err, ERR_CONFLICT, "job %s has %zu tasks now, not %zu",
				 json_str_at(job, "metadata", "name", NULL), n,
				 offer->n_alternatives);
	for (size_t i = 0; offer->alternatives && i < n; i++)
		if (offer->alternatives[i] >= 0 && (size_t)offer->alternatives[i] >= n_list)
			return error_set(err, ERR_CONFLICT, "job %s has %zu alternatives now",
					 json_str_at(job, "metadata", "name", NULL), n_list);
	return 0;
}

int record_make_offer(const json_t *job, const char *spec_hash, const struct record_offer *offer,
		      int64_t now_ns, json_t **ret_status, json_t **ret_placement,
		      struct error *err)
{
	int64_t n = json_int_at(job, 0, "status", "dispatch", "n", NULL) + 1;
	int64_t generation = offer->incarnation * (INT64_C(1) << 20) + n;
	json_t *status, *dispatch, *part;
	enum dispatch_phase to;

	if (take_step(job, RECORD_OFFER, &to, err) || check_alternatives(job, offer, err))
		return -1;
	status = status_copy(job, now_ns);
	dispatch = json_object_need(status, "dispatch");
	json_set_str(dispatch, "phase", dispatch_phase_name(to));
	json_set_int(dispatch, "n", n);
	part = json_object();
	json_set_str(part, "cluster", offer->cluster);
	json_set_str(part, "clusterUID", offer->cluster_uid);
	json_set_int(part, "generation", generation);
	json_object_set_new(dispatch, "parts", json_pack("[o]", part));
	json_object_del(dispatch, "capacitySeq");
	job_status_begin_attempt(status, offer->cluster, generation, offer->why, offer->runners_up);
	json_object_del(status, "pending");
	*ret_status = status;
	*ret_placement = placement_tree(job, spec_hash, offer, generation);
	return 0;
}

static const struct {
	const char *state;
	enum record_step step;
} agent_words[] = {
	{"Claimed", RECORD_CLAIM},     {"Running", RECORD_RUNNING}, {"Refused", RECORD_REFUSED},
	{"Released", RECORD_RELEASED}, {"Done", RECORD_DONE},       {"Lost", RECORD_LOST},
};

static int word_of(const json_t *placement, enum record_step *ret, struct error *err)
{
	const char *state = json_str_at(placement, "status", "state", NULL);

	for (size_t i = 0; state && i < ARRAY_LEN(agent_words); i++) {
		if (strcmp(agent_words[i].state, state))
			continue;
		*ret = agent_words[i].step;
		return 0;
	}
	return error_set(err, ERR_INVALID, "status.state: Unsupported value: \"%s\"",
			 state ? state : "");
}

/* An attempt speaks only for itself: a word about an older generation moves nothing. */
static bool is_present_attempt(const json_t *job, const json_t *placement)
{
	const json_t *part = json_array_get(json_at(job, "status", "dispatch", "parts", NULL), 0);
	int64_t g = json_int_at(part, -1, "generation", NULL);

	return g == json_int_at(placement, -2, "spec", "generation", NULL);
}

/* Before the claim an attempt can only be claimed or refused; after it, never refused. */
static int check_order(const json_t *before, enum record_step step, struct error *err)
{
	const char *was = json_str_at(before, "status", "state", NULL);
	bool claimed = was && *was;
	bool opening = step == RECORD_CLAIM || step == RECORD_REFUSED;

	if (claimed != opening)
		return 0;
	return error_set(err, ERR_CONFLICT, "the placement is %s: it cannot be %s",
			 claimed ? was : "not claimed",
			 step == RECORD_CLAIM     ? "claimed"
			 : step == RECORD_REFUSED ? "refused"
						  : "answered");
}

int record_answer(const json_t *job, const json_t *before, const json_t *after, int64_t now_ns,
		  json_t **ret_status, bool *ret_last, struct error *err)
{
	enum record_step step = RECORD_CLAIM;
	enum dispatch_phase to;
	json_t *status;

	if (word_of(after, &step, err) || check_order(before, step, err))
		return -1;
	if (!is_present_attempt(job, after))
		return error_set(err, ERR_CONFLICT, "the job has gone on to another attempt");
	if (take_step(job, step, &to, err))
		return -1;
	if (step == RECORD_CLAIM && strcmp(json_str_at(after, "spec", "desired", NULL), "Go"))
		return error_set(err, ERR_CONFLICT, "the placement is no longer offered");
	*ret_last = step >= RECORD_REFUSED;
	if (step == RECORD_CLAIM) {
		*ret_status = NULL;
		return 0;
	}
	status = status_copy(job, now_ns);
	job_status_apply(status, job, after, step, to, now_ns);
	*ret_status = status;
	return 0;
}

bool record_is_room(const char *reason)
{
	return reason && (!strcmp(reason, "NoRoom") || !strcmp(reason, "NeverFits"));
}

int64_t record_refusals(const json_t *job, const char *cluster)
{
	return json_int_at(job, 0, "status", "dispatch", "refusals", cluster, NULL);
}

int record_take_back(const json_t *job, const char *reason, int64_t now_ns, json_t **ret_status,
		     struct error *err)
{
	enum dispatch_phase to;
	json_t *status;

	if (take_step(job, RECORD_TAKE_BACK, &to, err))
		return -1;
	status = status_copy(job, now_ns);
	job_status_to_queue(status, "TakenBack", NULL, reason, now_ns);
	*ret_status = status;
	return 0;
}

int record_abort(const json_t *job, const json_t *placement, const char *why, int64_t now_ns,
		 json_t **ret_status, json_t **ret_placement, struct error *err)
{
	enum dispatch_phase to;
	json_t *status, *p;

	if (take_step(job, RECORD_ABORT, &to, err))
		return -1;
	status = status_copy(job, now_ns);
	json_set_str(json_object_need(status, "dispatch"), "phase", dispatch_phase_name(to));
	job_status_note_abort(status, why);
	p = json_deep_copy(placement);
	json_set_str(json_object_need(p, "spec"), "desired", "Release");
	*ret_status = status;
	*ret_placement = p;
	return 0;
}

static bool same_str(const json_t *a, const json_t *b, const char *key)
{
	const char *x = json_str_at(a, key, NULL), *y = json_str_at(b, key, NULL);

	return x && y ? !strcmp(x, y) : x == y;
}

json_t *record_set_pending(const json_t *job, const json_t *pending, int64_t now_ns)
{
	const json_t *now = json_at(job, "status", "pending", NULL);
	const json_t *old = json_is_object(now) ? now : NULL; /* a count is no reason */
	char since[TIME_SIZE];
	json_t *status, *p;

	if (!pending && !old)
		return NULL;
	status = status_copy(job, now_ns);
	if (!pending) {
		json_object_del(status, "pending");
		return status;
	}
	p = json_deep_copy(pending);
	time_format(since, now_ns);
	if (old && same_str(old, p, "code") && same_str(old, p, "cluster"))
		json_set_str(p, "since", json_str_at(old, "since", NULL));
	else
		json_set_str(p, "since", since);
	if (old && json_equal(old, p)) {
		json_decref(p);
		json_decref(status);
		return NULL;
	}
	json_object_set_new(status, "pending", p);
	return status;
}

json_t *record_set_unreadable(const json_t *job, const char *why, int64_t now_ns)
{
	const char *phase = json_str_at(job, "status", "dispatch", "phase", NULL);
	bool waits = !phase || !*phase || !strcmp(phase, dispatch_phase_name(DISPATCH_QUEUED));
	auto_json *pending = NULL;
	json_t *status, *state;

	if (waits) {
		pending = json_pack("{ss,ss}", "code", "Invalid", "detail", why);
		return record_set_pending(job, pending, now_ns);
	}
	status = status_copy(job, now_ns);
	state = json_object_need(status, "state");
	json_set_str(state, "reason", "Unreadable");
	json_set_str(state, "message", why);
	if (!json_equal(status, json_at(job, "status", NULL)))
		return status;
	json_decref(status);
	return NULL;
}
