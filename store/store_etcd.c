/*
 * The store in etcd, by its gRPC API: its endpoints, leases and compaction, and what is known of
 * its revision.
 */
#include <assert.h>

#include "store/etcd.h"

#define TROUBLE_MS 1000

void etcd_request_init(struct etcd *e, struct etcd_request *r, void *arg,
		       void (*destroy)(struct etcd_request *r))
{
	r->etcd = e;
	r->arg = arg;
	r->destroy = destroy;
	list_push_back(&e->requests, &r->link);
}

void etcd_request_answered(struct etcd_request *r)
{
	list_remove(&r->link);
}

static void requests_drop(struct etcd *e, const void *arg)
{
	struct etcd_request *r, *next;

	list_for_each_safe (r, next, &e->requests, link) {
		if (arg && r->arg != arg)
			continue;
		etcd_call_cancel(r->call);
		list_remove(&r->link);
		r->destroy(r);
	}
}

/* --- leases and compaction --- */

struct simple_request {
	struct etcd_request request;
	void (*granted)(int64_t lease, const struct error *err, void *arg);
	void (*kept)(bool alive, const struct error *err, void *arg);
	void (*ended)(const struct error *err, void *arg); /* revocation, compaction */
	enum error_code fine; /* a refusal for this reason is what was wanted */
};

static void simple_destroy(struct etcd_request *request)
{
	free(container_of(request, struct simple_request, request));
}

static void simple_answer(struct simple_request *r, struct sv message, const struct error *err)
{
	int64_t number = 0;
	struct error bad;

	if (!err && r->granted && etcd_read_lease(message, &number, &bad))
		err = &bad;
	if (!err && r->kept && etcd_read_keepalive(message, &number, &bad))
		err = &bad;
	etcd_request_answered(&r->request);
	if (r->granted)
		r->granted(number, err, r->request.arg);
	if (r->kept)
		r->kept(number > 0, err, r->request.arg);
	if (r->ended)
		r->ended(err, r->request.arg);
	simple_destroy(&r->request);
}

static void on_simple(enum etcd_verdict verdict, struct sv message, const struct error *err,
		      void *arg)
{
	struct simple_request *r = arg;

	r->request.call = NULL;
	if (verdict == ETCD_REFUSED && r->ended && err->code == r->fine)
		err = NULL;
	simple_answer(r, message, err);
}

static void simple_start(struct store *s, const struct simple_request *from, const char *method,
			 struct strbuf *message, void *arg)
{
	struct simple_request *r = xnew0(struct simple_request);

	*r = *from;
	etcd_request_init(etcd_of(s), &r->request, arg, simple_destroy);
	r->request.call = etcd_call_start(etcd_of(s), &(struct etcd_call_spec){.method = method,
									       .message = message,
									       .repeatable = true,
									       .done = on_simple,
									       .arg = r});
}

static void etcd_lease_grant(struct store *s, int64_t ttl_s,
			     void (*done)(int64_t lease, const struct error *err, void *arg),
			     void *arg)
{
	struct strbuf message = {0};

	etcd_write_lease_grant(&message, ttl_s);
	simple_start(s, &(struct simple_request){.granted = done}, "/etcdserverpb.Lease/LeaseGrant",
		     &message, arg);
}

static void etcd_lease_keep(struct store *s, int64_t lease,
			    void (*done)(bool alive, const struct error *err, void *arg), void *arg)
{
	struct strbuf message = {0};

	etcd_write_lease_id(&message, lease);
	simple_start(s, &(struct simple_request){.kept = done},
		     "/etcdserverpb.Lease/LeaseKeepAlive", &message, arg);
}

static void etcd_lease_revoke(struct store *s, int64_t lease,
			      void (*done)(const struct error *err, void *arg), void *arg)
{
	struct strbuf message = {0};

	etcd_write_lease_id(&message, lease);
	simple_start(s, &(struct simple_request){.ended = done, .fine = ERR_NOT_FOUND},
		     "/etcdserverpb.Lease/LeaseRevoke", &message, arg);
}

static void etcd_compact(struct store *s, int64_t revision,
			 void (*done)(const struct error *err, void *arg), void *arg)
{
	struct strbuf message = {0};

	etcd_write_compaction(&message, revision);
	simple_start(s, &(struct simple_request){.ended = done, .fine = ERR_EXPIRED},
		     "/etcdserverpb.KV/Compact", &message, arg);
}

/* --- the revision --- */

void etcd_revision_told(struct etcd *e, int64_t revision, int64_t asked)
{
	if (revision < asked) {
		e->revision = revision;
		etcd_watches_expire(e);
	} else if (revision > e->revision) {
		e->revision = revision;
	}
}

static const struct error *etcd_trouble(struct store *s)
{
	const struct etcd *e = etcd_of(s);

	if (!e->trouble_since_ms || env_mono_ms(e->env) - e->trouble_since_ms < TROUBLE_MS)
		return NULL;
	return &e->trouble;
}

/* --- life --- */

static void etcd_forget(struct store *s, const void *arg)
{
	struct etcd *e = etcd_of(s);

	assert(arg);
	requests_drop(e, arg);
	etcd_commits_forget(e, arg);
	later_forget(e->later, arg);
}

static void etcd_destroy(struct store *s)
{
	struct etcd *e = etcd_of(s);

	etcd_watches_finish(e);
	requests_drop(e, NULL);
	etcd_commits_finish(e);
	assert(list_empty(&e->calls));
	later_destroy(e->later);
	for (size_t i = 0; i < e->n_endpoints; i++) {
		grpc_client_destroy(e->endpoints[i].client);
		free(e->endpoints[i].url);
	}
	free(e->endpoints);
	envelope_packer_destroy(e->packer);
	free(e);
}

static const struct store_ops etcd_ops = {
	.commit = etcd_commit,
	.range = etcd_range,
	.watch = etcd_watch,
	.unwatch = etcd_unwatch,
	.lease_grant = etcd_lease_grant,
	.lease_keep = etcd_lease_keep,
	.lease_revoke = etcd_lease_revoke,
	.compact = etcd_compact,
	.trouble = etcd_trouble,
	.forget = etcd_forget,
	.destroy = etcd_destroy,
};

static int endpoints_add(struct etcd *e, const char *url, const struct store_etcd_config *config,
			 struct error *err)
{
	const struct grpc_client_config peer = {.url = url,
						.ca_pem = config->ca_pem,
						.cert_pem = config->cert_pem,
						.key_pem = config->key_pem};
	struct grpc_client *client = grpc_client_create(e->loop, &peer, err);

	if (!client)
		return error_prefix(err, "etcd at %s", url);
	e->endpoints = xrealloc(e->endpoints, e->n_endpoints + 1, sizeof(*e->endpoints));
	e->endpoints[e->n_endpoints++] =
		(struct etcd_endpoint){.url = xstrdup(url), .client = client};
	return 0;
}

static int endpoints_create(struct etcd *e, const struct store_etcd_config *config,
			    struct error *err)
{
	const char *at = config->endpoints;

	while (*at) {
		size_t n = strcspn(at, ",");
		auto_xfree char *url = xstrndup(at, n);

		if (n && endpoints_add(e, url, config, err))
			return -1;
		at += n + (at[n] == ',');
	}
	assert(e->n_endpoints);
	return 0;
}

struct store *store_etcd_create(struct loop *loop, const struct store_etcd_config *config,
				struct error *err)
{
	struct etcd *e = xnew0(struct etcd);

	e->store.ops = &etcd_ops;
	e->loop = loop;
	e->env = loop_env(loop);
	e->later = later_create(loop);
	e->packer = envelope_packer_create();
	list_init(&e->calls);
	list_init(&e->requests);
	list_init(&e->watches);
	e->expiry.run = etcd_watches_run_expired;
	etcd_commits_init(e);
	if (!endpoints_create(e, config, err))
		return &e->store;
	etcd_destroy(&e->store);
	return NULL;
}
