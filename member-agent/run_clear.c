/* Ending the pods of a run: always by uid, never by force. */
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "member-agent/runner_internal.h"

/* 404 and 409: it is gone, or another one by now; the watch tells. */
static bool is_settled(const struct kube_answer *a)
{
	return a->ok || a->status == 404 || a->status == 409;
}

static void on_deleted(struct run *run, const struct kube_answer *a, void *arg)
{
	struct place *p = arg;

	if (is_settled(a))
		return;
	if (p)
		p->deleting = false;
	run_retry(run);
}

static char *object_path(const struct podinfo *pod)
{
	return xasprintf("/api/v1/namespaces/%s/pods/%s", pod->ns, pod->name);
}

static void delete_pod(struct run *run, const struct podinfo *pod, struct place *p)
{
	auto_json *body = json_pack("{s{ss}}", "preconditions", "uid", pod->uid);
	auto_xfree char *path = object_path(pod);
	int64_t grace = run->placement ? run->placement->grace_s
			: run->twin    ? run->twin->grace_s
				       : 0;

	if (grace > 0)
		json_set_int(body, "gracePeriodSeconds", grace);
	run_send(run, "DELETE", path, body, NULL, on_deleted, p);
}

void run_withdraw_pod(struct place *p)
{
	if (!p->pod || p->pod->deleted_ns || p->deleting)
		return;
	p->deleting = p->withdrawn = true;
	delete_pod(p->run, p->pod, p);
}

static void on_finalizer_dropped(struct run *run, const struct kube_answer *a, void *arg)
{
	struct place *p = arg;

	if (p)
		p->dropping = false;
	if (!is_settled(a) || a->status == 409)
		run_retry(run);
}

/* Others' finalizers stay; whoever changed them meanwhile makes this a conflict. */
static void drop_finalizer(struct run *run, const struct podinfo *pod, struct place *p)
{
	auto_xfree char *path = object_path(pod);
	auto_xfree char *version = xasprintf("%lld", (long long)pod->version);
	auto_json *patch = json_pack("{s{sssssO}}", "metadata", "uid", pod->uid, "resourceVersion",
				     version, "finalizers", pod->other_finalizers);

	if (p && p->dropping)
		return;
	if (p)
		p->dropping = true;
	run_send(run, "PATCH", path, patch, "application/merge-patch+json", on_finalizer_dropped,
		 p);
}

static bool is_wanted(const struct place *p, enum clear what)
{
	struct slot s = place_slot(p);
	bool old = s.restart != p->run->memory.retries;

	switch (what) {
	case CLEAR_OLD:
		return old;
	case CLEAR_LOST:
		return !old && s.state == SLOT_LOST;
	case CLEAR_LIVE:
		return old || s.state == SLOT_PENDING || s.state == SLOT_RUNNING ||
		       s.state == SLOT_LOST;
	case CLEAR_ALL:
		return true;
	}
	return false;
}

static void clear_place(struct run *run, struct place *p, enum clear what)
{
	if (!p->pod) {
		p->vanished = p->latched = false;
		run_poke(run);
		return;
	}
	if (!p->pod->deleted_ns && !p->deleting)
		delete_pod(run, p->pod, p);
	p->deleting = true;
	p->withdrawn = p->withdrawn || what == CLEAR_LOST;
	if (p->pod->deleted_ns && p->pod->has_finalizer && place_has_ended(p))
		drop_finalizer(run, p->pod, p);
}

static void clear_strays(struct run *run, enum clear what)
{
	for (size_t i = 0; i < run->n_strays; i++) {
		const struct podinfo *pod = run->strays[i];
		bool ended = podinfo_has_ended(pod);

		if (!pod->deleted_ns && (what == CLEAR_ALL || !ended))
			delete_pod(run, pod, NULL);
		else if (pod->deleted_ns && pod->has_finalizer && ended)
			drop_finalizer(run, pod, NULL);
	}
}

void run_clear_pods(struct run *run, enum clear what)
{
	for (size_t i = 0; i < run->n_places; i++) {
		struct place *p = run->places[i];

		if (is_wanted(p, what))
			clear_place(run, p, what);
	}
	if (what == CLEAR_ALL || what == CLEAR_LIVE)
		clear_strays(run, what);
}

bool run_drop_finalizers(struct run *run)
{
	bool held = false;

	for (size_t i = 0; i < run->n_places; i++) {
		struct place *p = run->places[i];

		if (!p->pod || !p->pod->has_finalizer || !place_has_ended(p))
			continue;
		drop_finalizer(run, p->pod, p);
		held = true;
	}
	return held;
}
