/*
 * Who may do what, until roles are served: the fixed rules of design document 2. Masters all;
 * users their Jobs, ConfigMaps and Secrets; an agent and a joining member what their own cluster
 * needs. What the owner table gives to one writer is refused to all others, masters included.
 */
#include <string.h>

#include "api/references.h"
#include "base/encode.h"
#include "base/json.h"
#include "federator/hub.h"
#include "lifecycle/record.h"

#define AGENT_PREFIX   "system:cluster:"
#define JOINING_PREFIX "system:bootstrap:"
#define TOKEN_PREFIX   "bootstrap-token-"

static const char *after_prefix(const char *s, const char *prefix)
{
	size_t n = strlen(prefix);

	return s && !strncmp(s, prefix, n) && s[n] ? s + n : NULL;
}

const char *hub_agent_cluster(const struct server_user *user)
{
	return user ? after_prefix(user->name, AGENT_PREFIX) : NULL;
}

const char *hub_joining_cluster(const struct server_user *user)
{
	return user ? after_prefix(user->name, JOINING_PREFIX) : NULL;
}

static bool in_group(const struct server_user *user, const char *group)
{
	for (size_t i = 0; user->groups && user->groups[i]; i++)
		if (!strcmp(user->groups[i], group))
			return true;
	return false;
}

static bool is_one_of(const char *s, const char *const *list)
{
	for (; *list; list++)
		if (!strcmp(s, *list))
			return true;
	return false;
}

static bool reads(const struct server_request *r)
{
	static const char *const verbs[] = {"get", "list", "watch", NULL};

	return is_one_of(r->verb, verbs);
}

static bool is_kind(const struct server_request *r, const char *plural)
{
	return !strcmp(r->kind->plural, plural);
}

static bool deny(struct strbuf *why, const char *text)
{
	strbuf_adds(why, text);
	return false;
}

/* --- the owner table --- */

static bool is_own_cluster_namespace(const char *ns, const char *cluster)
{
	const char *of = ns ? after_prefix(ns, "cluster-") : NULL;

	return of && cluster && !strcmp(of, cluster);
}

static bool is_agent_route(const struct server_request *r)
{
	static const char *const routes[] = {"hello", "capacity", "requests", "answers", NULL};

	return is_kind(r, "clusters") && is_one_of(r->subresource, routes);
}

/* True when nobody but the owner may do this, and the user is not the owner. */
static bool owner_forbids(const struct server_request *r, struct strbuf *why)
{
	const char *agent = hub_agent_cluster(r->user);
	bool status = !strcmp(r->subresource, "status");

	if (is_agent_route(r))
		return !(agent && r->name && !strcmp(agent, r->name)) &&
		       !deny(why, "this is between a cluster's agent and the federator");
	if (reads(r))
		return false;
	if (is_kind(r, "placements") && !status)
		return !deny(why, "placements are written by the federator alone");
	if (is_kind(r, "placements"))
		return !is_own_cluster_namespace(r->ns, agent) &&
		       !deny(why, "a placement's status is written by its cluster's agent alone");
	if (is_kind(r, "clusters") && status)
		return !(agent && r->name && !strcmp(agent, r->name)) &&
		       !deny(why, "a cluster's status is written by its agent alone");
	if (is_kind(r, "queues") && status)
		return !deny(why, "a queue's status is written by the federator alone");
	if (is_kind(r, "namespaces") && r->name && strncmp(r->verb, "create", 6) &&
	    (!strcmp(r->name, HUB_NAMESPACE) || after_prefix(r->name, "cluster-")))
		return !strcmp(r->verb, "delete") &&
		       !deny(why, "the federator keeps its state in this namespace");
	return false;
}

/* --- users --- */

static bool user_may(const struct server_request *r)
{
	static const char *const own[] = {"jobs", "configmaps", "secrets", NULL};
	static const char *const wide[] = {"queues", "clusters", "datasets", NULL};

	if (!r->kind->namespaced)
		return reads(r) && is_one_of(r->kind->plural, wide);
	if (!r->ns)
		return reads(r) && (is_kind(r, "jobs") || is_kind(r, "placements"));
	if (!strcmp(r->ns, HUB_NAMESPACE))
		return false;
	return reads(r) || is_one_of(r->kind->plural, own);
}

/* --- agents --- */

static bool take_first(struct doc *doc, void *arg)
{
	*(bool *)arg = true;
	return false;
}

/* One of the cluster's Placements is of this uid: their names begin with it. */
static bool has_placement(const struct hub *hub, const char *cluster, const char *uid)
{
	auto_xfree char *ns = record_cluster_namespace(cluster);
	auto_strbuf prefix = {0};
	bool found = false;

	kind_key(hub_kind("placements"), ns, NULL, &prefix);
	strbuf_addf(&prefix, "%s-", uid);
	cache_each(hub->cache, prefix.bytes, NULL, take_first, &found);
	return found;
}

/* The Job, if one of the cluster's Placements names it; the caller's, else NULL. */
static json_t *named_job(const struct hub *hub, const char *cluster, const char *ns,
			 const char *name)
{
	json_t *job = name ? hub_tree(hub, hub_kind("jobs"), ns, name) : NULL;

	if (job && has_placement(hub, cluster, json_str_at(job, "metadata", "uid", NULL)))
		return job;
	json_decref(job);
	return NULL;
}

/* An agent that asks for a ConfigMap or Secret names the Job that it needs it for. */
static bool job_needs(const struct hub *hub, const struct server_request *r, const char *cluster)
{
	const char *job_name = exchange_header(r->x, "Federator-Job");
	auto_json *job = named_job(hub, cluster, r->ns, job_name);

	return job &&
	       job_refers_to(job, is_kind(r, "secrets") ? REFERENCE_SECRET : REFERENCE_CONFIGMAP,
			     r->name);
}

static bool agent_may_own_cluster(const struct server_request *r, const char *cluster)
{
	if (!r->name || strcmp(r->name, cluster))
		return false;
	return is_agent_route(r) || !strcmp(r->verb, "get") || !strcmp(r->subresource, "status");
}

static bool agent_may(const struct hub *hub, const struct server_request *r, const char *cluster)
{
	if (is_kind(r, "clusters"))
		return agent_may_own_cluster(r, cluster);
	if (is_kind(r, "placements"))
		return is_own_cluster_namespace(r->ns, cluster) &&
		       (reads(r) || !strcmp(r->subresource, "status"));
	if (is_kind(r, "leases"))
		return is_own_cluster_namespace(r->ns, cluster);
	if (strcmp(r->verb, "get") || *r->subresource || !r->ns || !r->name)
		return false;
	if (is_kind(r, "jobs")) {
		auto_json *job = named_job(hub, cluster, r->ns, r->name);

		return job != NULL;
	}
	if (is_kind(r, "secrets") || is_kind(r, "configmaps"))
		return r->x && job_needs(hub, r, cluster);
	return false;
}

/* A joining member creates its Cluster and its request, and reads both: admit.c looks at names. */
static bool joining_may(const struct server_request *r, const char *cluster)
{
	bool mine = r->name && !strcmp(r->name, cluster);

	if (*r->subresource)
		return false;
	if (!is_kind(r, "clusters") && !is_kind(r, "certificatesigningrequests"))
		return false;
	return !strcmp(r->verb, "create") || (!strcmp(r->verb, "get") && mine);
}

bool hub_authorize(const struct server_request *r, struct strbuf *why, void *arg)
{
	const struct hub *hub = arg;
	const char *agent = hub_agent_cluster(r->user);
	const char *joining = hub_joining_cluster(r->user);

	if (owner_forbids(r, why))
		return false;
	if (agent)
		return agent_may(hub, r, agent);
	if (joining)
		return joining_may(r, joining);
	return in_group(r->user, "system:masters") || user_may(r);
}

/* --- bootstrap tokens --- */

/* A member of Secret.data as text; the caller's, NULL when absent or not base64. */
static char *secret_text(const json_t *secret, const char *key)
{
	const char *data = json_str_at(secret, "data", key, NULL);
	struct strbuf text = {0};

	if (!data || base64_decode(&text, data, strlen(data))) {
		strbuf_finish(&text);
		return NULL;
	}
	return strbuf_take(&text);
}

/* In constant time: a token must not be guessed byte by byte. */
static bool same_text(const char *a, const char *b)
{
	size_t n = strlen(a);
	unsigned char different = 0;

	if (n != strlen(b))
		return false;
	for (size_t i = 0; i < n; i++)
		different |= (unsigned char)(a[i] ^ b[i]);
	return !different;
}

static bool token_is_good(const struct hub *hub, const json_t *secret, const char *given)
{
	auto_xfree char *stored = secret_text(secret, "token-secret");
	auto_xfree char *until = secret_text(secret, "expiration");
	int64_t until_ns;

	if (!stored || !until || time_parse(until, &until_ns))
		return false;
	return until_ns > env_wall_ns(hub->env) && same_text(stored, given);
}

int hub_token(const char *token, struct arena *a, struct server_user *ret, void *arg)
{
	static const char *const groups[] = {"system:bootstrappers", NULL};
	const struct hub *hub = arg;
	const char *dot = strchr(token, '.');
	auto_xfree char *name = NULL, *cluster = NULL;
	auto_json *secret = NULL;

	if (!dot || dot == token)
		return -1;
	name = xasprintf(TOKEN_PREFIX "%.*s", (int)(dot - token), token);
	if (strchr(name, '/'))
		return -1;
	secret = hub_tree(hub, hub_kind("secrets"), HUB_NAMESPACE, name);
	cluster = secret ? secret_text(secret, "cluster") : NULL;
	if (!cluster || !token_is_good(hub, secret, dot + 1))
		return -1;
	ret->name = arena_printf(a, JOINING_PREFIX "%s", cluster);
	ret->groups = groups;
	return 0;
}
