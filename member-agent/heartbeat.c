#include "member-agent/heartbeat.h"

#include "base/encode.h"
#include "base/json.h"
#include "base/log.h"
#include "member-agent/reporter.h"

#define NAME     "agent"
#define RETRY_MS 2000

struct heartbeat {
	struct agent *agent;
	struct timer *timer;
	struct kube_call *call;
	bool exists;
};

static void beat(struct heartbeat *h);

static void on_timer(void *arg)
{
	beat(arg);
}

static void on_answer(const struct kube_answer *a, void *arg)
{
	struct heartbeat *h = arg;

	h->call = NULL;
	if (agent_is_superseded(a)) {
		agent_deposed(h->agent, a->err.text);
		return;
	}
	if (a->status == 404 || a->err.code == ERR_ALREADY_EXISTS) {
		h->exists = a->status != 404;
		timer_start(h->timer, RETRY_MS / 10);
		return;
	}
	if (!a->ok)
		log_debug("heartbeat", "%s", a->err.text);
	if (a->ok)
		agent_cluster_there(h->agent);
	else if (agent_is_told(a, "ClusterUnknown"))
		agent_cluster_gone(h->agent);
	h->exists = h->exists || a->ok;
	/* Another replica may lead by now; an empty difference makes it ask for all. */
	if (a->ok && h->agent->reporter)
		reporter_changed(h->agent->reporter);
	timer_start(h->timer, a->ok ? HEARTBEAT_MS : agent_pace_ms(h->agent, RETRY_MS));
}

static void beat(struct heartbeat *h)
{
	const char *cluster = h->agent->settings.name;
	auto_xfree char *leases =
		xasprintf("/apis/coordination.k8s.io/v1/namespaces/cluster-%s/leases", cluster);
	auto_xfree char *path = xasprintf("%s/" NAME, leases), *body = NULL;
	auto_json *lease = NULL;
	char now[TIME_SIZE];

	time_format_micro(now, env_wall_ns(h->agent->env));
	lease = json_pack("{ss,ss,s{ss},s{ss,si,ss}}", "apiVersion", "coordination.k8s.io/v1",
			  "kind", "Lease", "metadata", "name", NAME, "spec", "holderIdentity",
			  cluster, "leaseDurationSeconds", 40, "renewTime", now);
	body = json_print(lease);
	h->call =
		kube_send(h->agent->hub,
			  &(struct kube_request){
				  .method = h->exists ? "PATCH" : "POST",
				  .path = h->exists ? path : leases,
				  .body = body,
				  .content_type = h->exists ? "application/merge-patch+json" : NULL,
				  .timeout_ms = HEARTBEAT_MS / 2,
				  .done = on_answer,
				  .arg = h});
}

struct heartbeat *heartbeat_create(struct agent *a)
{
	struct heartbeat *h = xnew0(struct heartbeat);

	h->agent = a;
	h->timer = timer_create_in(a->env, on_timer, h);
	beat(h);
	return h;
}

void heartbeat_destroy(struct heartbeat *h)
{
	if (!h)
		return;
	if (h->call)
		kube_cancel(h->call);
	timer_destroy(h->timer);
	free(h);
}
