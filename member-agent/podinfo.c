#include "member-agent/podinfo.h"

#include <stdlib.h>
#include <string.h>

#include "base/encode.h"
#include "base/json.h"
#include "lifecycle/record.h"
#include "member-agent/names.h"

#define NS_PER_S   INT64_C(1000000000)
#define TWIN_GROUP "federator.dev"

static char *dup_or_null(const char *s)
{
	return s ? xstrdup(s) : NULL;
}

static int64_t label_number(const struct meta *m, const char *key, int64_t otherwise)
{
	const char *text = meta_label(m, key);
	char *end;
	int64_t n;

	if (!text || !*text)
		return otherwise;
	n = strtoll(text, &end, 10);
	return *end ? otherwise : n;
}

/* "federator.dev/v1alpha1", whatever the version. */
static bool is_twin_reference(const json_t *owner, const char *name)
{
	const char *group = json_str_at(owner, "apiVersion", NULL);
	const char *kind = json_str_at(owner, "kind", NULL);
	const char *of = json_str_at(owner, "name", NULL);

	return json_is_true(json_object_get(owner, "controller")) && group && kind && of &&
	       !strncmp(group, TWIN_GROUP "/", strlen(TWIN_GROUP "/")) &&
	       !strcmp(kind, "Placement") && !strcmp(of, name);
}

static bool is_controlled_by(const struct pod *p, const char *twin)
{
	const json_t *owners = json_at(p->tree, "metadata", "ownerReferences", NULL);
	json_t *o;
	size_t i;

	json_array_foreach (owners, i, o)
		if (is_twin_reference(o, twin))
			return true;
	return false;
}

char *attempt_name_of(const struct pod *p)
{
	const char *uid = meta_label(&p->meta, LABEL_UID);
	int64_t part = label_number(&p->meta, LABEL_PART, -1);
	int64_t generation = label_number(&p->meta, LABEL_GENERATION, -1);
	auto_xfree char *name = NULL;

	if (!uid || part < 0 || generation < 0)
		return NULL;
	name = record_placement_name(uid, part, generation);
	return is_controlled_by(p, name) ? take_ptr(name) : NULL;
}

static int64_t last_end(const json_t *status)
{
	int64_t last = 0, at;
	json_t *c;
	size_t i;

	json_array_foreach (json_at(status, "containerStatuses", NULL), i, c) {
		const char *t = json_str_at(c, "state", "terminated", "finishedAt", NULL);

		if (t && !time_parse(t, &at) && at > last)
			last = at;
	}
	return last;
}

struct podinfo *podinfo_create(const struct pod *p)
{
	auto_xfree char *attempt = attempt_name_of(p);
	const char *task = meta_label(&p->meta, LABEL_TASK);
	struct podinfo *i;

	if (!attempt || !task)
		return NULL;
	i = xnew0(struct podinfo);
	i->ns = xstrdup(p->meta.ns);
	i->name = xstrdup(p->meta.name);
	i->uid = xstrdup(p->meta.uid ? p->meta.uid : "");
	i->node = dup_or_null(p->node);
	i->task = xstrdup(task);
	i->reason = dup_or_null(p->reason);
	i->message = dup_or_null(p->message);
	i->version = p->meta.version;
	i->restart = label_number(&p->meta, LABEL_RESTART, 0);
	i->index = (int32_t)label_number(&p->meta, LABEL_TASK_INDEX, -1);
	i->deleted_ns = p->meta.deleted_ns;
	i->grace_s = json_int_at(p->tree, -1, "metadata", "deletionGracePeriodSeconds", NULL);
	i->finished_ns = last_end(json_at(p->tree, "status", NULL));
	i->exit_code = p->exit_code;
	i->restarts = p->restarts;
	i->phase = p->phase;
	i->disrupted = p->disrupted;
	i->has_finalizer = meta_has_finalizer(&p->meta, FINALIZER_OUTCOME);
	i->other_finalizers = json_array();
	for (size_t k = 0; p->meta.finalizers && p->meta.finalizers[k]; k++)
		if (strcmp(p->meta.finalizers[k], FINALIZER_OUTCOME))
			json_array_append_new(i->other_finalizers,
					      json_string(p->meta.finalizers[k]));
	return i;
}

void podinfo_destroy(struct podinfo *i)
{
	if (!i)
		return;
	free(i->ns);
	free(i->name);
	free(i->uid);
	free(i->node);
	free(i->task);
	free(i->reason);
	free(i->message);
	json_decref(i->other_finalizers);
	free(i);
}

static bool is_terminal(const struct podinfo *i)
{
	return i->phase == POD_SUCCEEDED || i->phase == POD_FAILED;
}

bool podinfo_has_ended(const struct podinfo *i)
{
	return is_terminal(i) || (i->deleted_ns && i->grace_s == 0);
}

/* Reasons of the platform, not of the program in the pod. */
static bool is_platform_reason(const char *reason)
{
	static const char *const reasons[] = {
		"Evicted",      "NodeAffinity",    "NodePorts",  "UnexpectedAdmissionError",
		"NodeLost",     "NodeShutdown",    "Terminated", "Preempting",
		"NodeNotReady", "TaintToleration",
	};

	if (!reason)
		return false;
	if (!strncmp(reason, "OutOf", strlen("OutOf")))
		return true;
	for (size_t i = 0; i < ARRAY_LEN(reasons); i++)
		if (!strcmp(reasons[i], reason))
			return true;
	return false;
}

/* Times have a resolution of a second: an end in the second of the deletion was its work. */
static bool failed_before_deletion(const struct podinfo *i)
{
	int64_t grace = i->grace_s > 0 ? i->grace_s : 0;

	return i->finished_ns && i->finished_ns / NS_PER_S < i->deleted_ns / NS_PER_S - grace;
}

static enum slot_state failed_state(const struct podinfo *i)
{
	if (i->disrupted || is_platform_reason(i->reason))
		return SLOT_LOST;
	if (i->deleted_ns && !failed_before_deletion(i))
		return SLOT_LOST;
	return SLOT_FAILED;
}

static enum slot_state state_of(const struct podinfo *i, bool node_gone)
{
	if (i->phase == POD_SUCCEEDED)
		return SLOT_SUCCEEDED;
	if (i->phase == POD_FAILED)
		return failed_state(i);
	if (node_gone || (i->deleted_ns && i->grace_s == 0))
		return SLOT_LOST;
	return i->phase == POD_RUNNING ? SLOT_RUNNING : SLOT_PENDING;
}

struct slot podinfo_slot(const struct podinfo *i, bool node_gone)
{
	return (struct slot){
		.state = state_of(i, node_gone),
		.terminating = i->deleted_ns != 0,
		.restart = i->restart,
		.exit_code = i->exit_code,
		.container_restarts = i->restarts,
		.reason = i->reason       ? i->reason
			  : node_gone     ? "NodeGone"
			  : i->deleted_ns ? "Deleted"
					  : NULL,
		.message = i->message,
	};
}
