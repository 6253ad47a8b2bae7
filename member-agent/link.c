#include "member-agent/link.h"

#include <string.h>

#include "base/json.h"
#include "base/list.h"
#include "base/log.h"
#include "base/pki.h"
#include "kube/informer.h"

#define RETRY_BASE_MS 500
#define RETRY_MAX_MS  15000
#define WRITE_MS      10000
#define ACCEPT_MS     1000 /* as often as joining asks: a person waits for it */

struct link {
	struct owner owner;
	struct agent *agent;
	struct informer *placements;
	struct kube_call *hello; /* under way; NULL: none */
	struct timer *timer;
	unsigned tries;
	char *told;            /* why hello is said again, as the user was told last */
	int64_t hello_version; /* of the hub when it heard us: no older view is believed */
	int64_t incarnation;
	struct list calls; /* of owner_ops under way */
	void (*up)(struct agent *a);
};

static struct link *link_of(struct owner *o)
{
	return container_of(o, struct link, owner);
}

static void saw_version(struct link *l, int64_t version)
{
	if (version > l->agent->hub_version)
		l->agent->hub_version = version;
}

/* --- hello --- */

static void say_hello(struct link *l);

static void on_timer(void *arg)
{
	say_hello(arg);
}

/* The hub went back in time: its store was restored. Nothing is started, ended or forgotten until
 * a person has looked. */
static bool went_back(struct link *l, int64_t version)
{
	if (version >= l->agent->hub_version)
		return false;
	log_error(
		"link",
		"the hub is at version %lld, and was at %lld before: its store went back; nothing "
		"is started or forgotten; restore a newer backup of it, or delete the Cluster "
		"there and join anew",
		(long long)version, (long long)l->agent->hub_version);
	return true;
}

/* The CA tells one hub from another; it outlives a Cluster there. */
static void set_identity(struct link *l)
{
	const struct agent *a = l->agent;
	auto_xfree char *hub = NULL;
	char hash[72];

	if (a->identity.ca_pem && !pki_cert_hash(a->identity.ca_pem, hash, NULL))
		hub = xasprintf("%s/%s", hash, a->settings.name);
	runner_set_identity(a->runner, a->identity.cluster_uid, hub, l->incarnation);
}

static void hello_later(struct link *l)
{
	timer_start(l->timer,
		    env_backoff_ms(l->agent->env, l->tries++, RETRY_BASE_MS, RETRY_MAX_MS));
}

/* With a certificate of before its Cluster was deleted, or accepted no longer. */
static void await_acceptance(struct link *l)
{
	auto_xfree char *what = agent_awaits_acceptance(l->agent);

	if (agent_has_news(&l->told, what))
		log_info("link", "waits: %s", what);
	timer_start(l->timer, ACCEPT_MS);
}

static void hello_refused(struct link *l, const struct kube_answer *a)
{
	if (agent_is_told(a, "NotAccepted")) {
		await_acceptance(l);
	} else if (agent_is_told(a, "ClusterUnknown")) {
		agent_cluster_gone(l->agent);
		timer_start(l->timer, AGENT_FORGOTTEN_MS);
	} else if (a->status == 403 || a->status == 422) {
		agent_stop(l->agent, 1, a->err.text);
	} else {
		if (agent_has_news(&l->told, a->err.text))
			log_warn("link", "hello: %s", a->err.text);
		hello_later(l);
	}
}

static void on_hello(const struct kube_answer *a, void *arg)
{
	struct link *l = arg;
	auto_json *body = a->ok ? json_parse(a->body, a->size, NULL, NULL) : NULL;
	const char *version = json_str_at(body, "revision", NULL);
	int64_t term = json_int_at(body, 0, "term", NULL);

	l->hello = NULL;
	if (!a->ok) {
		hello_refused(l, a);
		return;
	}
	if (!version || !term || went_back(l, strtoll(version, NULL, 10))) {
		hello_later(l);
		return;
	}
	agent_cluster_there(l->agent);
	l->hello_version = strtoll(version, NULL, 10);
	l->incarnation = json_int_at(body, 0, "incarnation", NULL);
	saw_version(l, l->hello_version);
	free(l->agent->term);
	l->agent->term = xasprintf("%s.%lld", l->agent->identity.cluster_uid, (long long)term);
	kube_set_header(l->agent->hub, AGENT_TERM_HEADER, l->agent->term);
	runner_set_term(l->agent->runner, term);
	set_identity(l);
	log_info("link", "speaks for cluster %s in term %lld", l->agent->settings.name,
		 (long long)term);
	l->up(l->agent);
}

static void say_hello(struct link *l)
{
	struct agent *a = l->agent;
	auto_xfree char *path =
		xasprintf("/apis/federator.dev/v1alpha1/clusters/%s/hello", a->settings.name);
	auto_xfree char *body = NULL;
	auto_json *tree = NULL;
	char seen[24];

	snprintf(seen, sizeof(seen), "%lld", (long long)a->hub_version);
	tree = json_pack("{ss,ss,ss,s[i]}", "clusterUID", a->identity.cluster_uid, "memberUID",
			 a->member_uid, "revision", seen, "protocols", AGENT_PROTOCOL);
	body = json_print(tree);
	l->hello = kube_send(a->hub, &(struct kube_request){.method = "POST",
							    .path = path,
							    .body = body,
							    .timeout_ms = WRITE_MS,
							    .done = on_hello,
							    .arg = l});
}

/* Versions that were seen as another Cluster are of another hub, or of one that a person has
 * looked at since. */
static void begin_versions(struct agent *a)
{
	if (a->hub_cluster && !strcmp(a->hub_cluster, a->identity.cluster_uid))
		return;
	if (a->hub_cluster)
		a->hub_version = 0;
	free(a->hub_cluster);
	a->hub_cluster = xstrdup(a->identity.cluster_uid);
}

void link_say_hello(struct link *l)
{
	begin_versions(l->agent);
	say_hello(l);
}

/* --- Placements --- */

static void on_placement(struct doc *doc, struct doc *prev, void *arg)
{
	struct link *l = arg;

	if (doc)
		saw_version(l, doc->version);
	runner_placement_changed(l->agent->runner, doc, prev);
}

static void on_synced(void *arg)
{
	struct link *l = arg;

	runner_placements_synced(l->agent->runner);
}

static void on_health(bool ok, const struct error *err, void *arg)
{
	if (ok)
		log_info("link", "the hub answers");
	else
		log_warn("link", "watch placements: %s", err->text);
}

void link_start_placements(struct link *l)
{
	auto_xfree char *path =
		xasprintf("/apis/federator.dev/v1alpha1/namespaces/cluster-%s/placements",
			  l->agent->settings.name);
	struct informer_config config = {
		.path = path,
		.min_version = l->hello_version,
		.changed = on_placement,
		.synced = on_synced,
		.health = on_health,
		.arg = l,
	};

	l->placements = informer_create(l->agent->hub, l->agent->env, &config);
}

/* --- the owner's table --- */

struct owner_call {
	struct list_node node;
	struct link *link;
	struct kube_call *call;
	bool last_word;
	void (*said)(enum owner_reply reply, struct doc *now, const struct error *err, void *arg);
	void (*job)(struct doc *job, const struct error *err, void *arg);
	void (*object)(const json_t *object, const struct error *err, void *arg);
	void *arg;
};

static struct owner_call *call_create(struct link *l, void *arg)
{
	struct owner_call *c = xnew0(struct owner_call);

	c->link = l;
	c->arg = arg;
	list_push_back(&l->calls, &c->node);
	return c;
}

static void call_free(struct owner_call *c)
{
	list_remove(&c->node);
	free(c);
}

static struct doc *answered_doc(const struct kube_answer *a, const char *key)
{
	auto_json *tree = json_parse(a->body, a->size, NULL, NULL);
	const char *version = json_str_at(tree, "metadata", "resourceVersion", NULL);
	struct doc *doc;

	if (!version)
		return NULL;
	doc = doc_create(key, a->body, a->size);
	doc->version = strtoll(version, NULL, 10);
	return doc;
}

/* A conflict and a miss are answers; everything else is not known, and said again. */
static enum owner_reply reply_of(const struct kube_answer *a)
{
	if (a->ok)
		return OWNER_OK;
	if (a->err.code == ERR_CONFLICT)
		return OWNER_CHANGED;
	return a->status == 404 ? OWNER_GONE : OWNER_LATER;
}

static void on_said(const struct kube_answer *a, void *arg)
{
	struct owner_call *c = arg;
	struct link *l = c->link;
	enum owner_reply reply = reply_of(a);
	auto_free(doc_unref) struct doc *now = NULL;

	if (agent_is_superseded(a)) {
		call_free(c);
		agent_deposed(l->agent, a->err.text);
		return;
	}
	if (reply == OWNER_OK && !c->last_word)
		now = answered_doc(a, "placement");
	if (now)
		saw_version(l, now->version);
	c->said(reply, now, a->ok ? NULL : &a->err, c->arg);
	call_free(c);
}

static bool is_last_word(const json_t *status)
{
	static const char *const words[] = {"Refused", "Released", "Done", "Lost"};
	const char *state = json_str_at(status, "state", NULL);

	for (size_t i = 0; state && i < ARRAY_LEN(words); i++)
		if (!strcmp(words[i], state))
			return true;
	return false;
}

static void link_say(struct owner *o, const struct doc *placement, const json_t *status,
		     void (*done)(enum owner_reply reply, struct doc *now, const struct error *err,
				  void *arg),
		     void *arg)
{
	struct link *l = link_of(o);
	struct owner_call *c = call_create(l, arg);
	auto_json *tree = doc_tree(placement);
	auto_xfree char *body = NULL;
	auto_xfree char *path =
		xasprintf("/apis/federator.dev/v1alpha1/namespaces/cluster-%s/placements/%s/status",
			  l->agent->settings.name, json_str_at(tree, "metadata", "name", NULL));

	json_object_set(tree, "status", (json_t *)(uintptr_t)status);
	body = json_print(tree);
	c->said = done;
	c->last_word = is_last_word(status);
	c->call = kube_send(l->agent->hub, &(struct kube_request){.method = "PUT",
								  .path = path,
								  .body = body,
								  .timeout_ms = WRITE_MS,
								  .done = on_said,
								  .arg = c});
}

static void on_job(const struct kube_answer *a, void *arg)
{
	struct owner_call *c = arg;
	auto_free(doc_unref) struct doc *job = a->ok ? answered_doc(a, "job") : NULL;

	c->job(job, a->ok ? NULL : &a->err, c->arg);
	call_free(c);
}

static void link_read_job(struct owner *o, const struct placement *p,
			  void (*done)(struct doc *job, const struct error *err, void *arg),
			  void *arg)
{
	struct link *l = link_of(o);
	struct owner_call *c = call_create(l, arg);
	auto_xfree char *path = xasprintf("/apis/batch.volcano.sh/v1alpha1/namespaces/%s/jobs/%s"
					  "?resourceVersion=%lld"
					  "&resourceVersionMatch=NotOlderThan",
					  p->job_ns, p->job_name, (long long)p->meta.version);

	c->job = done;
	c->call = kube_send(
		l->agent->hub,
		&(struct kube_request){.method = "GET", .path = path, .done = on_job, .arg = c});
}

static void on_object_answer(const struct kube_answer *a, void *arg)
{
	struct owner_call *c = arg;
	auto_json *object = a->ok ? json_parse(a->body, a->size, NULL, NULL) : NULL;

	c->object(object, a->ok ? NULL : &a->err, c->arg);
	call_free(c);
}

static void link_read_object(struct owner *o, const struct placement *p, const char *path,
			     void (*done)(const json_t *object, const struct error *err, void *arg),
			     void *arg)
{
	struct link *l = link_of(o);
	struct owner_call *c = call_create(l, arg);
	auto_xfree char *header = xasprintf("Federator-Job: %s", p->job_name);
	auto_xfree char *fresh =
		xasprintf("%s?resourceVersion=%lld&resourceVersionMatch=NotOlderThan", path,
			  (long long)p->meta.version);
	const char *headers[] = {header, NULL};

	c->object = done;
	c->call = kube_send(l->agent->hub, &(struct kube_request){.method = "GET",
								  .path = fresh,
								  .headers = headers,
								  .done = on_object_answer,
								  .arg = c});
}

static bool link_is_absent(struct owner *o, const char *placement_name, int64_t claim_version)
{
	struct link *l = link_of(o);
	auto_xfree char *ns = xasprintf("cluster-%s", l->agent->settings.name);

	return l->placements && informer_is_synced(l->placements) &&
	       informer_version(l->placements) >= claim_version &&
	       !informer_get(l->placements, ns, placement_name);
}

static void link_forget_calls(struct owner *o, void *arg)
{
	struct link *l = link_of(o);
	struct owner_call *c, *tmp;

	list_for_each_safe (c, tmp, &l->calls, node) {
		if (c->arg != arg)
			continue;
		kube_cancel(c->call);
		call_free(c);
	}
}

static const struct owner_ops link_ops = {
	.say = link_say,
	.read_job = link_read_job,
	.read_object = link_read_object,
	.is_absent = link_is_absent,
	.forget_calls = link_forget_calls,
};

/* --- life --- */

struct owner *link_owner(struct link *l)
{
	return &l->owner;
}

struct link *link_create(struct agent *a, void (*up)(struct agent *a))
{
	struct link *l = xnew0(struct link);

	l->owner.ops = &link_ops;
	l->agent = a;
	l->up = up;
	l->timer = timer_create_in(a->env, on_timer, l);
	list_init(&l->calls);
	return l;
}

void link_destroy(struct link *l)
{
	struct owner_call *c, *tmp;

	if (!l)
		return;
	informer_destroy(l->placements);
	if (l->hello)
		kube_cancel(l->hello);
	list_for_each_safe (c, tmp, &l->calls, node) {
		kube_cancel(c->call);
		call_free(c);
	}
	timer_destroy(l->timer);
	free(l->told);
	free(l);
}
