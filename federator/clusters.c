#include "federator/clusters.h"

#include <string.h>

#include "api/views.h"
#include "base/encode.h"
#include "base/json.h"
#include "base/log.h"
#include "base/map.h"
#include "base/pki.h"
#include "federator/placer.h"
#include "lifecycle/record.h"

#define RETRY_MS   1000
#define BACKDATE_S 300
#define DAY_S      INT64_C(86400)

/* What this leader has heard of a cluster. A new one takes its predecessor's word until a heartbeat
 * comes, or none for CLUSTER_SILENCE_MS. */
enum hearing { NOT_YET, HEARD, SILENT };

struct member {
	UT_hash_handle hh;
	struct clusters *owner;
	char *name;
	struct doc *doc; /* the Cluster; NULL when only its Lease is known */
	enum hearing hearing;
	int64_t since_ms;     /* the last heartbeat came, or when we began to listen */
	int64_t heartbeat_ns; /* when that heartbeat was sent, by the agent's clock; 0: none known
			       */
	bool has_namespace;
	bool writing;
	struct timer *timer;
};

struct clusters {
	struct hub *hub;
	struct member *members;
};

static void member_act(struct member *m);

static void on_member_timer(void *arg)
{
	member_act(arg);
}

static struct member *member_need(struct clusters *c, const char *name)
{
	struct member *m;

	HASH_FIND(hh, c->members, name, strlen(name), m);
	if (m)
		return m;
	m = xnew0(struct member);
	m->owner = c;
	m->name = xstrdup(name);
	m->since_ms = env_mono_ms(c->hub->env);
	m->timer = timer_create_in(c->hub->env, on_member_timer, m);
	HASH_ADD_KEYPTR(hh, c->members, m->name, strlen(m->name), m);
	return m;
}

static void member_free(struct member *m)
{
	HASH_DEL(m->owner->members, m);
	timer_destroy(m->timer);
	doc_unref(m->doc);
	free(m->name);
	free(m);
}

/* --- writes; their outcomes come back by name, since a member may be gone by then --- */

struct outcome_of {
	struct clusters *clusters;
	char *name;
};

static void on_written(const json_t *object, const struct error *err, void *arg)
{
	struct outcome_of *o = arg;
	struct member *m;

	HASH_FIND(hh, o->clusters->members, o->name, strlen(o->name), m);
	if (m) {
		m->writing = false;
		if (err && err->code != ERR_ALREADY_EXISTS && err->code != ERR_CONFLICT)
			log_warn("clusters", "%s: %s", m->name, err->text);
		timer_start(m->timer, err ? RETRY_MS : 1);
	}
	free(o->name);
	free(o);
}

static void member_write(struct member *m, const struct server_change *change)
{
	struct outcome_of *o = xnew0(struct outcome_of);

	o->clusters = m->owner;
	o->name = xstrdup(m->name);
	m->writing = true;
	server_change(m->owner->hub->server, change, on_written, o);
}

/* --- the cluster's namespace on the hub --- */

static bool make_namespace(struct member *m)
{
	auto_xfree char *ns = record_cluster_namespace(m->name);
	struct server_change change = {.op = SERVER_CREATE, .kind = hub_kind("namespaces")};
	auto_json *body = NULL;

	if (m->has_namespace || hub_get(m->owner->hub, change.kind, NULL, ns)) {
		m->has_namespace = true;
		return false;
	}
	body = json_pack("{ss,ss,s{ss}}", "apiVersion", "v1", "kind", "Namespace", "metadata",
			 "name", ns);
	change.body = body;
	member_write(m, &change);
	return true;
}

/* --- certificates --- */

static int sign(struct member *m, const json_t *request, char **ret_cert, struct error *err)
{
	const char *text = json_str_at(request, "spec", "request", NULL);
	auto_xfree char *user = xasprintf("system:cluster:%s", m->name);
	int64_t now_s = env_wall_ns(m->owner->hub->env) / 1000000000;
	struct pki_identity id = {0};
	auto_strbuf pem = {0};
	bool mine;

	if (!text || base64_decode(&pem, text, strlen(text)) || pki_read_csr(pem.bytes, &id, err))
		return error_set(err, ERR_INVALID, "request of cluster %s: not readable", m->name);
	mine = !strcmp(id.user, user) && !id.groups[0];
	pki_identity_finish(&id);
	if (!mine)
		return error_set(err, ERR_INVALID, "request of cluster %s: not for %s", m->name,
				 user);
	return pki_sign_csr(&m->owner->hub->state.ca, pem.bytes, now_s - BACKDATE_S,
			    now_s + CLUSTER_CERT_DAYS * DAY_S, ret_cert, err);
}

/* A request that was answered has no more use; the certificate is with the member. */
static bool remove_request(struct member *m, const json_t *request)
{
	const char *created = json_str_at(request, "metadata", "creationTimestamp", NULL);
	struct server_change change = {.op = SERVER_DELETE,
				       .kind = hub_kind("certificatesigningrequests"),
				       .name = m->name,
				       .grace_s = -1};
	int64_t created_ns;

	if (!created || time_parse(created, &created_ns) ||
	    env_wall_ns(m->owner->hub->env) - created_ns < CLUSTER_REQUEST_KEEP_MS * 1000000)
		return false;
	member_write(m, &change);
	return true;
}

static bool sign_request(struct member *m)
{
	struct server_change change = {.op = SERVER_UPDATE,
				       .kind = hub_kind("certificatesigningrequests"),
				       .name = m->name,
				       .subresource = "status",
				       .patch = PATCH_MERGE};
	auto_json *request = hub_tree(m->owner->hub, change.kind, NULL, m->name), *body = NULL;
	const char *signer = json_str_at(request, "spec", "signerName", NULL);
	auto_xfree char *cert = NULL;
	auto_strbuf encoded = {0};
	struct error err;

	if (!request || !signer || strcmp(signer, CLUSTER_SIGNER))
		return false;
	if (json_str_at(request, "status", "certificate", NULL))
		return remove_request(m, request);
	if (sign(m, request, &cert, &err)) {
		log_warn("clusters", "%s", err.text);
		return false;
	}
	base64_encode(&encoded, cert, strlen(cert));
	body = json_pack("{s{ss,s[{ss,ss,ss}]}}", "status", "certificate", encoded.bytes,
			 "conditions", "type", "Approved", "status", "True", "reason",
			 "ClusterAccepted");
	change.body = body;
	member_write(m, &change);
	return true;
}

/* --- conditions --- */

/* What the leader says of a cluster, in the order of its list. */
struct condition {
	const char *type, *status, *reason, *message;
};

static const json_t *find_condition(const json_t *cluster, const char *type)
{
	const json_t *list = json_at(cluster, "status", "conditions", NULL), *c;
	size_t i;

	json_array_foreach (list, i, c)
		if (!strcmp(json_str_at(c, "type", NULL), type))
			return c;
	return NULL;
}

static bool says_so_already(const json_t *cluster, const struct condition *c)
{
	const char *status = json_str_at(find_condition(cluster, c->type), "status", NULL);

	/* What was never True need not be said to be False. */
	return status ? !strcmp(status, c->status) : !strcmp(c->status, "False");
}

static json_t *condition_tree(const json_t *cluster, const struct condition *c, int64_t now_ns)
{
	const json_t *old = find_condition(cluster, c->type);
	const char *since = json_str_at(old, "lastTransitionTime", NULL);
	char now[TIME_SIZE];

	time_format(now, now_ns);
	return json_pack("{ss,ss,ss,ss,ss}", "type", c->type, "status", c->status, "reason",
			 c->reason, "message", c->message, "lastTransitionTime",
			 since && says_so_already(cluster, c) ? since : now);
}

/* Conditions, and of a cluster that fell silent its last heartbeat: while it is heard, that is
 * every ten seconds another one, which its Lease tells. */
static json_t *status_patch(const struct member *m, const json_t *cluster, json_t *conditions)
{
	json_t *patch = json_pack("{s{ss},s{sO}}", "metadata", "resourceVersion",
				  json_str_at(cluster, "metadata", "resourceVersion", NULL),
				  "status", "conditions", conditions);
	json_t *status = json_object_get(patch, "status");
	char sent[TIME_SIZE];

	time_format(sent, m->heartbeat_ns);
	json_object_set_new(status, "lastHeartbeat",
			    m->hearing == SILENT && m->heartbeat_ns ? json_string(sent)
								    : json_null());
	return patch;
}

static void say_conditions(struct member *m, const json_t *cluster)
{
	bool heard = m->hearing == HEARD;
	bool orphans = json_int_at(cluster, 0, "status", "orphans", NULL) > 0;
	const struct condition said[] = {
		{"Ready", heard ? "True" : "False", heard ? "Heard" : "Silent",
		 heard ? "its agent is heard" : "no heartbeat for 40 s"},
		{"Orphans", orphans ? "True" : "False", orphans ? "UnknownAttempts" : "None",
		 orphans ? "attempts live there that the federator knows nothing of; see the "
			   "events in that cluster"
			 : "all attempts there are known"},
	};
	struct server_change change = {.op = SERVER_UPDATE,
				       .kind = hub_kind("clusters"),
				       .name = m->name,
				       .subresource = "status",
				       .patch = PATCH_MERGE};
	auto_json *conditions = json_array(), *body = NULL;
	bool news = false;

	for (size_t i = 0; i < ARRAY_LEN(said); i++) {
		news = news || !says_so_already(cluster, &said[i]);
		json_array_append_new(conditions, condition_tree(cluster, &said[i],
								 env_wall_ns(m->owner->hub->env)));
	}
	if (!news)
		return;
	body = status_patch(m, cluster, conditions);
	change.body = body;
	member_write(m, &change);
}

static void watch_silence(struct member *m)
{
	int64_t left = m->since_ms + CLUSTER_SILENCE_MS - env_mono_ms(m->owner->hub->env);

	if (m->hearing != SILENT && left > 0)
		timer_start(m->timer, left);
	else
		m->hearing = SILENT;
}

static void member_act(struct member *m)
{
	auto_free(cluster_destroy) struct cluster *view = NULL;
	auto_json *tree = NULL;
	struct error err;

	if (m->writing || !m->doc || !hub_leads(m->owner->hub, NULL))
		return;
	if (cluster_view(m->doc, &view, &err)) {
		log_error("clusters", "%s: %s", m->name, err.text);
		return;
	}
	watch_silence(m);
	placer_cluster_heard(m->owner->hub->placer, m->name,
			     m->hearing == HEARD || (m->hearing == NOT_YET && view->ready));
	if (!view->accepted || make_namespace(m) || sign_request(m) || m->hearing == NOT_YET)
		return;
	tree = doc_tree(m->doc);
	say_conditions(m, tree);
}

/* --- events --- */

static char *name_of(const struct doc *doc)
{
	return xstrdup(strrchr(doc->key, '/') + 1);
}

void clusters_changed(struct hub *hub, struct doc *doc, struct doc *prev)
{
	auto_xfree char *name = name_of(doc ? doc : prev);
	struct member *m = member_need(hub->clusters, name);

	if (!doc) {
		member_free(m);
		return;
	}
	doc_unref(m->doc);
	m->doc = doc_ref(doc);
	member_act(m);
}

void clusters_request_changed(struct hub *hub, struct doc *doc, struct doc *prev)
{
	auto_xfree char *name = name_of(doc ? doc : prev);
	struct member *m;

	HASH_FIND(hh, hub->clusters->members, name, strlen(name), m);
	if (m)
		member_act(m);
}

/* ".../leases/cluster-<name>/agent": the cluster's name, or NULL; the caller's. */
static char *heartbeat_of(const char *key)
{
	const char *name = strrchr(key, '/'), *ns = name - 1;

	while (*ns != '/')
		ns--;
	if (strcmp(name + 1, CLUSTER_LEASE) || strncmp(ns + 1, "cluster-", 8))
		return NULL;
	return xstrndup(ns + 9, (size_t)(name - ns - 9));
}

/* Of a Lease that is there when we begin to lead only its time tells how old it is. */
static bool is_heartbeat(const struct hub *hub, const struct doc *prev, int64_t sent_ns)
{
	return prev || !sent_ns ||
	       env_wall_ns(hub->env) - sent_ns < CLUSTER_SILENCE_MS * INT64_C(1000000);
}

void clusters_lease_changed(struct hub *hub, struct doc *doc, struct doc *prev)
{
	auto_xfree char *name = heartbeat_of(doc ? doc->key : prev->key);
	auto_json *lease = doc ? doc_tree(doc) : NULL;
	const char *renewed = json_str_at(lease, "spec", "renewTime", NULL);
	int64_t sent_ns = 0;
	struct member *m;

	if (!name || !doc)
		return;
	m = member_need(hub->clusters, name);
	if (renewed && !time_parse(renewed, &sent_ns))
		m->heartbeat_ns = sent_ns;
	if (is_heartbeat(hub, prev, sent_ns)) {
		m->hearing = HEARD;
		m->since_ms = env_mono_ms(hub->env);
	}
	member_act(m);
}

void clusters_follow(struct hub *hub)
{
	struct member *m, *tmp;

	HASH_ITER (hh, hub->clusters->members, m, tmp)
		member_free(m);
}

struct clusters *clusters_create(struct hub *hub)
{
	struct clusters *c = xnew0(struct clusters);

	c->hub = hub;
	return c;
}

void clusters_destroy(struct clusters *c)
{
	struct member *m, *tmp;

	if (!c)
		return;
	HASH_ITER (hh, c->members, m, tmp)
		member_free(m);
	free(c);
}
