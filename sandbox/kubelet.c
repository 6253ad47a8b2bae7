#include "sandbox/kubelet.h"

#include <stdio.h>
#include <string.h>

#include "base/encode.h"
#include "base/json.h"
#include "base/log.h"
#include "sandbox/kubelet_internal.h"
#include "sandbox/process.h"

#define NO_NODE_MS     40000 /* a pod on a node that is not there is collected, as by pod GC */
#define RETRY_MS       200
#define RESTART_MS     100 /* before the first restart of a container; doubled each time */
#define RESTART_MAX_MS 10000

static void pod_write(struct pod_entry *e);

static struct pod_entry *pod_find(const struct kubelet *k, const char *uid)
{
	struct pod_entry *e;

	HASH_FIND(hh, k->pods, uid, strlen(uid), e);
	return e;
}

static void pod_free(struct pod_entry *e)
{
	HASH_DEL(e->kubelet->pods, e);
	if (e->run)
		e->runtime->free(e->run);
	timer_destroy(e->timer);
	json_decref(e->tree);
	arena_finish(&e->arena);
	free(e->uid);
	free(e->ns);
	free(e->name);
	free(e->node);
	free(e);
}

/* --- writes: one at a time a pod, each the whole status, so that none overtakes another --- */

struct written {
	struct kubelet *kubelet;
	char *uid;
};

static void on_written(const json_t *object, const struct error *err, void *arg)
{
	struct written *w = arg;
	struct pod_entry *e = pod_find(w->kubelet, w->uid);

	if (e) {
		e->writing = false;
		if (err && err->code != ERR_NOT_FOUND) {
			log_debug("kubelet", "%s/%s: %s", e->ns, e->name, err->text);
			e->dirty = true;
			timer_start(e->timer, RETRY_MS);
		} else if (e->dirty || e->remove) {
			pod_write(e);
		}
	}
	free(w->uid);
	free(w);
}

static void pod_write(struct pod_entry *e)
{
	struct server_change change = {.kind = sandbox_kind("pods"),
				       .ns = e->ns,
				       .name = e->name,
				       .uid = e->uid,
				       .patch = PATCH_MERGE};
	auto_json *body = NULL;
	struct written *w;

	if (e->writing)
		return;
	if (e->dirty) {
		change.op = SERVER_UPDATE;
		change.subresource = "status";
		body = json_pack("{s{ss},so}", "metadata", "uid", e->uid, "status",
				 kubelet_status(e));
		change.body = body;
	} else {
		change.op = SERVER_DELETE;
		e->remove = false;
	}
	e->dirty = false;
	e->writing = true;
	w = xnew0(struct written);
	w->kubelet = e->kubelet;
	w->uid = xstrdup(e->uid);
	server_change(e->kubelet->sandbox->server, &change, on_written, w);
}

static void pod_report(struct pod_entry *e)
{
	e->dirty = true;
	pod_write(e);
}

/* --- a pod's life --- */

static void pod_start(struct pod_entry *e);

static bool restarts_after(const struct pod_entry *e, int exit_code)
{
	const char *policy = json_str_at(e->tree, "spec", "restartPolicy", NULL);

	if (e->state == POD_IS_STOPPING || !policy || !strcmp(policy, "Never"))
		return false;
	return !strcmp(policy, "Always") || exit_code;
}

/* Backs off as a kubelet does, on a scale of its own: a container that fails at once must not
 * become a storm of processes. */
static void restart_later(struct pod_entry *e)
{
	int64_t wait = RESTART_MS;

	for (int i = 0; i < e->restarts && wait < RESTART_MAX_MS; i++)
		wait *= 2;
	e->restarts++;
	e->restart_due = true;
	pod_report(e);
	timer_start(e->timer, wait < RESTART_MAX_MS ? wait : RESTART_MAX_MS);
}

static void on_ended(int exit_code, void *arg)
{
	struct pod_entry *e = arg;

	e->runtime->free(take_ptr(e->run));
	e->exit_code = exit_code;
	e->ended_ns = env_wall_ns(e->kubelet->sandbox->env);
	if (restarts_after(e, exit_code)) {
		restart_later(e);
		return;
	}
	e->remove = e->state == POD_IS_STOPPING;
	e->state = POD_IS_ENDED;
	pod_report(e);
}

static void pod_refuse(struct pod_entry *e, const char *reason, const char *message)
{
	if (reason) {
		snprintf(e->reason, sizeof(e->reason), "%s", reason);
		snprintf(e->message, sizeof(e->message), "%.*s", (int)sizeof(e->message) - 1,
			 message);
	}
	e->ended_ns = env_wall_ns(e->kubelet->sandbox->env);
	e->state = POD_IS_ENDED;
	pod_report(e);
}

static void pod_start(struct pod_entry *e)
{
	struct error err;

	e->started_ns = env_wall_ns(e->kubelet->sandbox->env);
	e->run = e->runtime->start(e->kubelet->sandbox, e->tree, on_ended, e, &err);
	if (!e->run) {
		pod_refuse(e, "CannotStart", err.text);
		return;
	}
	e->state = POD_IS_RUNNING;
	pod_report(e);
}

static struct doc *node_doc(const struct kubelet *k, const char *name)
{
	auto_strbuf key = {0};

	kind_key(sandbox_kind("nodes"), NULL, name, &key);
	return cache_get(k->sandbox->cache, key.bytes);
}

static void pod_admit(struct pod_entry *e)
{
	struct doc *doc = node_doc(e->kubelet, e->node);
	auto_free(node_destroy) struct node *node = NULL;
	struct error err;

	if (!doc || node_view(doc, &node, &err)) {
		timer_start(e->timer, NO_NODE_MS);
		return;
	}
	e->started_ns = env_wall_ns(e->kubelet->sandbox->env);
	if (pod_request(&e->arena, json_object_get(e->tree, "spec"), &e->request, &err))
		pod_refuse(e, "UnexpectedAdmissionError", err.text);
	else if (!kubelet_admits(e, node))
		pod_refuse(e, NULL, NULL);
	else
		pod_start(e);
}

/* Deleted: what runs is asked to end within its grace; what does not, goes. */
static void pod_delete(struct pod_entry *e)
{
	int64_t grace = json_int_at(e->tree, 0, "metadata", "deletionGracePeriodSeconds", NULL);

	if (e->state == POD_IS_STOPPING)
		return;
	if (e->run) {
		e->state = POD_IS_STOPPING;
		e->runtime->stop(e->run, grace);
		return;
	}
	e->restart_due = false;
	if (e->state == POD_IS_RUNNING)
		e->state = POD_IS_ENDED; /* between two runs */
	e->remove = true;
	pod_write(e);
}

static void on_pod_timer(void *arg)
{
	struct pod_entry *e = arg;

	if (e->restart_due && !e->run && e->state == POD_IS_RUNNING) {
		e->restart_due = false;
		pod_start(e);
		return;
	}
	if (e->dirty) {
		pod_write(e);
		return;
	}
	if (e->state != POD_IS_NEW)
		return;
	if (node_doc(e->kubelet, e->node)) {
		pod_admit(e);
		return;
	}
	e->remove = true;
	pod_write(e);
}

static bool already_ended(const json_t *pod)
{
	const char *phase = json_str_at(pod, "status", "phase", NULL);

	return phase && (!strcmp(phase, "Succeeded") || !strcmp(phase, "Failed"));
}

static struct pod_entry *pod_create(struct kubelet *k, const json_t *pod, const char *node)
{
	struct pod_entry *e = xnew0(struct pod_entry);

	e->kubelet = k;
	e->uid = xstrdup(json_str_at(pod, "metadata", "uid", NULL));
	e->ns = xstrdup(json_str_at(pod, "metadata", "namespace", NULL));
	e->name = xstrdup(json_str_at(pod, "metadata", "name", NULL));
	e->node = xstrdup(node);
	e->runtime = process_is_wanted(pod) ? &runtime_process : &runtime_simulated;
	e->timer = timer_create_in(k->sandbox->env, on_pod_timer, e);
	HASH_ADD_KEYPTR(hh, k->pods, e->uid, strlen(e->uid), e);
	return e;
}

static void pod_seen(struct kubelet *k, struct doc *doc)
{
	auto_json *tree = doc_tree(doc);
	const char *node = json_str_at(tree, "spec", "nodeName", NULL);
	struct pod_entry *e = pod_find(k, json_str_at(tree, "metadata", "uid", NULL));
	bool is_new = !e;

	if (!node || !*node)
		return;
	if (!e)
		e = pod_create(k, tree, node);
	json_decref(e->tree);
	e->tree = json_incref(tree);
	if (is_new && already_ended(tree))
		e->state = POD_IS_ENDED;
	if (json_at(tree, "metadata", "deletionTimestamp", NULL))
		pod_delete(e);
	else if (is_new && e->state == POD_IS_NEW)
		pod_admit(e);
}

static void pod_gone(struct kubelet *k, struct doc *doc)
{
	auto_json *tree = doc_tree(doc);
	const char *uid = json_str_at(tree, "metadata", "uid", NULL);
	auto_xfree char *log = runtime_log_path(k->sandbox, uid);
	struct pod_entry *e = pod_find(k, uid);

	if (e)
		pod_free(e);
	remove(log);
}

/* --- following the cache --- */

static void on_event(const struct cache_event *event, void *arg)
{
	if (event->type == CACHE_DELETED)
		pod_gone(arg, event->doc);
	else
		pod_seen(arg, event->doc);
}

static bool see_one(struct doc *doc, void *arg)
{
	pod_seen(arg, doc);
	return true;
}

static void follow(struct kubelet *k);

static void on_watch_ended(const struct error *err, void *arg)
{
	struct kubelet *k = arg;

	k->watch = NULL;
	follow(k);
}

static void follow(struct kubelet *k)
{
	auto_strbuf prefix = {0};
	struct error err;

	kind_key(sandbox_kind("pods"), NULL, NULL, &prefix);
	k->watch = cache_watch(k->sandbox->cache, prefix.bytes, cache_version(k->sandbox->cache),
			       on_event, on_watch_ended, k, &err);
	cache_each(k->sandbox->cache, prefix.bytes, NULL, see_one, k);
}

struct kubelet *kubelet_create(struct sandbox *s)
{
	struct kubelet *k = xnew0(struct kubelet);

	k->sandbox = s;
	follow(k);
	return k;
}

void kubelet_destroy(struct kubelet *k)
{
	struct pod_entry *e, *tmp;

	if (!k)
		return;
	if (k->watch)
		cache_unwatch(k->watch);
	HASH_ITER (hh, k->pods, e, tmp)
		pod_free(e);
	free(k);
}

bool kubelet_runs(const struct kubelet *k, const char *pod_uid)
{
	const struct pod_entry *e = k ? pod_find(k, pod_uid) : NULL; /* NULL: it has stopped */

	return e && e->run;
}
