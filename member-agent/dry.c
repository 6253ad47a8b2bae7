#include "member-agent/dry.h"

#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "member-agent/runner_internal.h"
#include "member-agent/template.h"

#define ACCOUNT_TRIES 12 /* the account of a new namespace comes a moment after it */

/* An answer that is kept. */
struct dry_answer {
	UT_hash_handle hh;
	char *key; /* "ns\n" + the template */
	json_t *spec;
};

struct dry_run {
	struct runner *runner;
	const struct twin *twin;
	json_t **specs;
	size_t next;
	unsigned tries;
	int64_t denied_ms; /* boot time, since; 0: not denied */
	struct kube_call *call;
	struct timer *timer;
	dry_done done;
	void *arg;
};

/* --- answers --- */

static void answer_drop(struct runner *r, struct dry_answer *a)
{
	HASH_DEL(r->dry, a);
	free(a->key);
	json_decref(a->spec);
	free(a);
}

void dry_forget(struct runner *r, const char *ns)
{
	size_t n = ns ? strlen(ns) : 0;
	struct dry_answer *a, *tmp;

	HASH_ITER (hh, r->dry, a, tmp)
		if (!ns || (!strncmp(a->key, ns, n) && a->key[n] == '\n'))
			answer_drop(r, a);
}

static char *answer_key(const struct twin *t, size_t task)
{
	auto_xfree char *template_ = json_print(t->tasks[task].template_);

	return xasprintf("%s\n%d%d%s", t->job_ns, t->plugin_env, t->plugin_svc, template_);
}

static void answer_keep(struct runner *r, const struct twin *t, size_t task, json_t *spec)
{
	auto_xfree char *key = answer_key(t, task);
	struct dry_answer *a;

	HASH_FIND_STR(r->dry, key, a);
	if (a)
		return;
	a = xnew0(struct dry_answer);
	a->key = take_ptr(key);
	a->spec = json_incref(spec);
	HASH_ADD_KEYPTR(hh, r->dry, a->key, strlen(a->key), a);
}

struct quota_search {
	const char *ns;
	size_t n;
	bool found;
};

static void look_for_quota(struct doc *doc, void *arg)
{
	struct quota_search *s = arg;

	s->found = s->found || (!strncmp(doc->key, s->ns, s->n) && doc->key[s->n] == '/');
}

/* What a quota has left changes with every pod: there each gang asks anew. */
static bool has_quota(const struct runner *r, const char *ns)
{
	struct quota_search s = {.ns = ns, .n = strlen(ns)};

	informer_each(r->informers[KIND_QUOTAS], look_for_quota, &s);
	return s.found;
}

static json_t *answer_find(struct runner *r, const struct twin *t, size_t task)
{
	auto_xfree char *key = answer_key(t, task);
	struct dry_answer *a;

	if (has_quota(r, t->job_ns))
		return NULL;
	HASH_FIND_STR(r->dry, key, a);
	return a ? json_incref(a->spec) : NULL;
}

/* --- asking --- */

void dry_run_cancel(struct dry_run *d)
{
	if (!d)
		return;
	kube_cancel(d->call);
	timer_destroy(d->timer);
	for (size_t i = 0; d->specs && i < d->twin->n_tasks; i++)
		json_decref(d->specs[i]);
	free(d->specs);
	free(d);
}

/* People know the pod without what we put behind its name. */
static void cut_dry_name(struct error *err)
{
	char *at = strstr(err->text, "-dry-");
	size_t n = strlen("-dry-") + 8;

	if (at && strlen(at) >= n)
		memmove(at, at + n, strlen(at + n) + 1);
}

static void finish(struct dry_run *d, const struct error *err)
{
	json_t **specs = err ? NULL : take_ptr(d->specs);
	struct error kept = err ? *err : (struct error){0};
	dry_done done = d->done;
	void *arg = d->arg;

	cut_dry_name(&kept);
	dry_run_cancel(d);
	done(specs, &kept, arg);
}

static void ask_next(struct dry_run *d);

static void on_timer(void *arg)
{
	ask_next(arg);
}

static bool is_passing(struct dry_run *d, const struct kube_answer *a)
{
	if (a->status == 409 || answer_is_transient(a))
		return true;
	if (error_is_denied(&a->err))
		return !denial_lasts(d->runner->env, &d->denied_ms);
	return a->status == 403 && d->tries < ACCOUNT_TRIES &&
	       (strstr(a->err.text, "service account") || strstr(a->err.text, "serviceaccount"));
}

static void on_answer(const struct kube_answer *a, void *arg)
{
	auto_json *pod = a->ok ? json_parse_foreign(a->body, a->size, NULL) : NULL;
	json_t *spec = json_object_get(pod, "spec");
	struct dry_run *d = arg;

	d->call = NULL;
	if (a->ok && spec) {
		answer_keep(d->runner, d->twin, d->next, spec);
		d->specs[d->next++] = json_incref(spec);
		d->tries = 0;
		d->denied_ms = 0;
		ask_next(d);
		return;
	}
	if (!a->ok && !is_passing(d, a)) {
		finish(d, &a->err);
		return;
	}
	timer_start(d->timer, env_backoff_ms(d->runner->env, d->tries++, 50,
					     d->denied_ms ? DENIED_RETRY_MS : RETRY_MAX_MS));
}

/* A name that nobody has: the answer must not depend on who holds the pod's own. */
static void set_dry_name(struct dry_run *d, json_t *pod)
{
	const char *name = json_str_at(pod, "metadata", "name", NULL);
	auto_xfree char *dry = xasprintf("%.40s-dry-%08llx", name,
					 (unsigned long long)(uint32_t)env_random(d->runner->env));

	json_set_str(json_object_get(pod, "metadata"), "name", dry);
}

static void ask(struct dry_run *d)
{
	struct pod_order order = {.twin = d->twin, .task = d->next};
	auto_json *pod = pod_make(&order);
	auto_xfree char *pods = pods_path(d->twin->job_ns);
	auto_xfree char *path = xasprintf("%s?dryRun=All", pods), *body = NULL;
	struct kube_request request = {.method = "POST", .path = path, .done = on_answer, .arg = d};

	set_dry_name(d, pod);
	request.body = body = json_print(pod);
	d->call = kube_send(d->runner->member, &request);
}

static void ask_next(struct dry_run *d)
{
	while (d->next < d->twin->n_tasks) {
		json_t *known = answer_find(d->runner, d->twin, d->next);

		if (!known) {
			ask(d);
			return;
		}
		d->specs[d->next++] = known;
	}
	finish(d, NULL);
}

struct dry_run *dry_run_start(struct runner *r, const struct twin *t, dry_done done, void *arg)
{
	struct dry_run *d = xnew0(struct dry_run);

	d->runner = r;
	d->twin = t;
	d->specs = xcalloc(t->n_tasks + 1, sizeof(*d->specs));
	d->done = done;
	d->arg = arg;
	d->timer = timer_create_in(r->env, on_timer, d);
	timer_start(d->timer, 0);
	return d;
}
