#include "member-agent/join.h"

#include <string.h>

#include "base/encode.h"
#include "base/json.h"
#include "base/log.h"
#include "base/pki.h"

#define POLL_MS  1000
#define CLUSTERS "/apis/federator.dev/v1alpha1/clusters"
#define REQUESTS "/apis/certificates.k8s.io/v1/certificatesigningrequests"
#define SIGNER   "federator.dev/cluster-agent"

struct join {
	struct agent *agent;
	struct http_client *ca_reader; /* reads the hub's CA */
	struct kube *hub;              /* with the bootstrap token */
	struct identity_call *saving;
	struct timer *timer;
	void (*next)(struct join *j); /* after the timer */
	bool told;                    /* the user was told what is waited for */
	void (*done)(struct agent *a);
};

static void ask_cluster(struct join *j);
static void ask_request(struct join *j);

static void on_timer(void *arg)
{
	struct join *j = arg;

	j->next(j);
}

static void later(struct join *j, void (*next)(struct join *j))
{
	j->next = next;
	timer_start(j->timer, POLL_MS);
}

static void give_up(struct join *j, const char *text)
{
	agent_stop(j->agent, 1, text);
}

/* What waiting may cure is tried again; what it cannot ends the process with the hub's words. */
static void failed(struct join *j, const struct kube_answer *a, void (*again)(struct join *j))
{
	if (a->status == 401)
		give_up(j, "the hub does not know this token, or it has expired: fedctl cluster "
			   "token create");
	else if (a->status == 403 || a->status == 422 || a->status == 400)
		give_up(j, a->err.text);
	else {
		log_warn("join", "%s", a->err.text);
		later(j, again);
	}
}

/* --- 4: the certificate --- */

static void on_saved(const struct error *err, void *arg)
{
	struct join *j = arg;

	j->saving = NULL;
	if (err)
		give_up(j, err->text);
	else
		j->done(j->agent);
}

static void save(struct join *j, void (*saved)(const struct error *err, void *arg))
{
	const struct agent *a = j->agent;

	j->saving = identity_save(a->member, a->settings.state, &a->identity, saved, j);
}

static void take_certificate(struct join *j, const char *data)
{
	struct strbuf pem = {0};

	if (base64_decode(&pem, data, strlen(data))) {
		strbuf_finish(&pem);
		give_up(j, "the hub's certificate is not base64");
		return;
	}
	j->agent->identity.cert_pem = strbuf_take(&pem);
	log_info("join", "the hub has accepted cluster %s", j->agent->settings.name);
	save(j, on_saved);
}

static bool is_our_request(const struct join *j, const json_t *request)
{
	const char *data = json_str_at(request, "spec", "request", NULL);
	auto_strbuf pem = {0};

	return data && !base64_decode(&pem, data, strlen(data)) &&
	       !strcmp(strbuf_str(&pem), j->agent->identity.csr_pem);
}

static void on_request_read(const struct kube_answer *a, void *arg)
{
	struct join *j = arg;
	auto_json *request = a->ok ? json_parse(a->body, a->size, NULL, NULL) : NULL;
	const char *certificate = json_str_at(request, "status", "certificate", NULL);

	/* Somebody removed it, perhaps with the Cluster: both are made again. */
	if (a->status == 404) {
		j->told = false;
		later(j, ask_cluster);
		return;
	}
	if (!a->ok) {
		failed(j, a, ask_request);
		return;
	}
	if (!is_our_request(j, request)) {
		give_up(j, "the hub holds a certificate request of another key for this cluster; "
			   "remove it: kubectl delete csr <cluster>");
		return;
	}
	if (certificate) {
		take_certificate(j, certificate);
		return;
	}
	if (!j->told)
		log_info("join", "waits for: fedctl cluster accept %s", j->agent->settings.name);
	j->told = true;
	later(j, ask_request);
}

static void ask_request(struct join *j)
{
	auto_xfree char *path = xasprintf(REQUESTS "/%s", j->agent->settings.name);

	kube_send(j->hub,
		  &(struct kube_request){
			  .method = "GET", .path = path, .done = on_request_read, .arg = j});
}

/* --- 3: the request --- */

static void on_request_made(const struct kube_answer *a, void *arg)
{
	struct join *j = arg;

	if (a->ok || a->err.code == ERR_ALREADY_EXISTS)
		ask_request(j);
	else
		failed(j, a, ask_cluster);
}

static void make_request(struct join *j)
{
	const char *pem = j->agent->identity.csr_pem;
	auto_strbuf encoded = {0};
	auto_xfree char *body = NULL;
	auto_json *tree = NULL;

	base64_encode(&encoded, pem, strlen(pem));
	tree = json_pack("{ss,ss,s{ss},s{ss,ss,s[s]}}", "apiVersion", "certificates.k8s.io/v1",
			 "kind", "CertificateSigningRequest", "metadata", "name",
			 j->agent->settings.name, "spec", "request", encoded.bytes, "signerName",
			 SIGNER, "usages", "client auth");
	body = json_print(tree);
	kube_send(j->hub, &(struct kube_request){.method = "POST",
						 .path = REQUESTS,
						 .body = body,
						 .done = on_request_made,
						 .arg = j});
}

/* --- 2: the Cluster --- */

static void on_key_saved(const struct error *err, void *arg)
{
	struct join *j = arg;

	j->saving = NULL;
	if (err)
		give_up(j, err->text);
	else
		make_request(j);
}

static void take_cluster(struct join *j, const struct kube_answer *a)
{
	auto_json *cluster = json_parse(a->body, a->size, NULL, NULL);
	const char *uid = json_str_at(cluster, "metadata", "uid", NULL);

	if (!uid) {
		give_up(j, "the hub's answer names no uid of the cluster");
		return;
	}
	free(j->agent->identity.cluster_uid);
	j->agent->identity.cluster_uid = xstrdup(uid);
	/* The key is kept before the hub hears of it: a crash must not strand the request. */
	save(j, on_key_saved);
}

static void on_cluster_read(const struct kube_answer *a, void *arg)
{
	struct join *j = arg;

	if (a->ok)
		take_cluster(j, a);
	else
		failed(j, a, ask_cluster);
}

static void on_cluster_made(const struct kube_answer *a, void *arg)
{
	struct join *j = arg;
	auto_xfree char *path = xasprintf(CLUSTERS "/%s", j->agent->settings.name);

	if (a->ok)
		take_cluster(j, a);
	else if (a->err.code == ERR_ALREADY_EXISTS)
		kube_send(j->hub, &(struct kube_request){.method = "GET",
							 .path = path,
							 .done = on_cluster_read,
							 .arg = j});
	else
		failed(j, a, ask_cluster);
}

static void ask_cluster(struct join *j)
{
	auto_json *tree =
		json_pack("{ss,ss,s{ss},s{}}", "apiVersion", "federator.dev/v1alpha1", "kind",
			  "Cluster", "metadata", "name", j->agent->settings.name, "spec");
	auto_xfree char *body = json_print(tree);

	kube_send(j->hub, &(struct kube_request){.method = "POST",
						 .path = CLUSTERS,
						 .body = body,
						 .done = on_cluster_made,
						 .arg = j});
}

/* --- 1: the hub's CA, by its hash or from a file --- */

static int read_token(const struct settings *s, char **ret, struct error *err)
{
	size_t n;

	if (!s->token_file)
		return error_set(err, ERR_BAD_REQUEST,
				 "this member has not joined yet: --token-file is required");
	if (file_read(s->token_file, ret, &n, err))
		return -1;
	(*ret)[strcspn(*ret, " \r\n")] = '\0';
	return 0;
}

static int make_key(struct join *j, struct error *err)
{
	struct identity *id = &j->agent->identity;
	auto_xfree char *user = xasprintf("system:cluster:%s", j->agent->settings.name);

	if (id->key_pem && id->csr_pem)
		return 0;
	free(take_ptr(id->key_pem));
	free(take_ptr(id->csr_pem));
	return pki_make_csr(user, NULL, &id->key_pem, &id->csr_pem, err);
}

static void with_ca(struct join *j)
{
	struct kube_config config = {.server = j->agent->settings.hub,
				     .ca_pem = j->agent->identity.ca_pem};
	auto_xfree char *token = NULL;
	struct error err;

	if (read_token(&j->agent->settings, &token, &err) || make_key(j, &err)) {
		give_up(j, err.text);
		return;
	}
	config.token = token;
	j->hub = agent_connect(j->agent, &config);
	ask_cluster(j);
}

static void ask_ca(struct join *j);

static void on_ca(const struct http_answer *a, void *arg)
{
	struct join *j = arg;
	auto_json *page = a->status == 200 ? json_parse(a->body, a->size, NULL, NULL) : NULL;
	const char *pem = json_str_at(page, "certificate", NULL);
	char hash[72];
	struct error err;

	if (!pem) {
		log_warn("join", "read the hub's CA: %s", a->status ? "not served" : a->err.text);
		later(j, ask_ca);
		return;
	}
	if (pki_cert_hash(pem, hash, &err) || strcmp(hash, j->agent->settings.ca_hash)) {
		give_up(j, "the hub's CA does not have the hash that --ca-hash gives: this is "
			   "another server, or somebody between");
		return;
	}
	j->agent->identity.ca_pem = xstrdup(pem);
	with_ca(j);
}

/* Nothing is told to the hub on this connection: it only reads a certificate, which then must
 * have the hash that the administrator gave. */
static void ask_ca(struct join *j)
{
	struct http_client_config config = {.base_url = j->agent->settings.hub, .insecure = true};

	http_client_destroy(j->ca_reader);
	j->ca_reader = http_client_create(j->agent->loop, &config);
	http_call_start(j->ca_reader, &(struct http_call_spec){.method = "GET",
							       .path = "/ca",
							       .timeout_ms = 10000,
							       .on_done = on_ca,
							       .arg = j});
}

struct join *join_start(struct agent *a, void (*done)(struct agent *a))
{
	struct join *j = xnew0(struct join);
	struct error err;
	size_t n;

	j->agent = a;
	j->done = done;
	j->timer = timer_create_in(a->env, on_timer, j);
	if (!a->identity.ca_pem && a->settings.ca_file &&
	    file_read(a->settings.ca_file, &a->identity.ca_pem, &n, &err)) {
		give_up(j, err.text);
		return j;
	}
	if (a->identity.ca_pem)
		with_ca(j);
	else if (a->settings.ca_hash)
		ask_ca(j);
	else
		give_up(j, "this member has not joined yet: --ca-hash (or --ca-file) is required");
	return j;
}

void join_destroy(struct join *j)
{
	if (!j)
		return;
	timer_destroy(j->timer);
	identity_cancel(j->saving);
	http_client_destroy(j->ca_reader);
	kube_destroy(j->hub);
	free(j);
}
