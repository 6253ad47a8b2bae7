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
	char *told;                   /* what is waited for, as the user was told last */
	char *certificate;            /* of our key, in base64; perhaps of a Cluster of before */
	void (*done)(struct agent *a);
};

static void ask_cluster(struct join *j);
static void ask_request(struct join *j);

static void on_timer(void *arg)
{
	struct join *j = arg;

	j->next(j);
}

/* Tells what is waited for, once as long as it is the same, and goes on with next. */
static void later(struct join *j, const char *what, void (*next)(struct join *j))
{
	if (agent_has_news(&j->told, what))
		log_info("join", "waits: %s", what);
	j->next = next;
	timer_start(j->timer, POLL_MS);
}

static void __attribute__((format(printf, 2, 3))) give_up(struct join *j, const char *fmt, ...)
{
	auto_strbuf text = {0};
	va_list ap;

	va_start(ap, fmt);
	strbuf_vaddf(&text, fmt, ap);
	va_end(ap);
	agent_stop(j->agent, 1, strbuf_str(&text));
}

/* What waiting may cure is tried again; what it cannot ends the process with the hub's words. */
static void failed(struct join *j, const struct kube_answer *a, void (*again)(struct join *j))
{
	const struct settings *s = &j->agent->settings;

	if (a->status == 401)
		give_up(j,
			"the hub at %s does not know the token of --token-file \"%s\", or it has "
			"expired; make one: fedctl cluster token create %s",
			s->hub, s->token_file, s->name);
	else if (a->status == 403 || a->status == 422 || a->status == 400)
		give_up(j, "the hub at %s refuses cluster %s: %s", s->hub, s->name, a->err.text);
	else
		later(j, a->err.text, again);
}

/* --- 4: the certificate --- */

static void on_saved(const struct error *err, void *arg)
{
	struct join *j = arg;

	j->saving = NULL;
	if (err)
		give_up(j, "%s", err->text);
	else
		j->done(j->agent);
}

static void save(struct join *j, void (*saved)(const struct error *err, void *arg))
{
	const struct agent *a = j->agent;

	j->saving = identity_save(a->member, a->settings.state, &a->identity, saved, j);
}

static void take_certificate(struct join *j)
{
	struct strbuf pem = {0};

	if (base64_decode(&pem, j->certificate, strlen(j->certificate))) {
		strbuf_finish(&pem);
		give_up(j, "the hub's certificate is not base64");
		return;
	}
	free(j->agent->identity.cert_pem);
	j->agent->identity.cert_pem = strbuf_take(&pem);
	log_info("join", "the hub has accepted cluster %s", j->agent->settings.name);
	save(j, on_saved);
}

static void await_acceptance(struct join *j)
{
	auto_xfree char *what = agent_awaits_acceptance(j->agent);

	later(j, what, ask_request);
}

static void on_acceptance_read(const struct kube_answer *a, void *arg)
{
	struct join *j = arg;
	auto_json *cluster = a->ok ? json_parse(a->body, a->size, NULL, NULL) : NULL;
	const char *uid = json_str_at(cluster, "metadata", "uid", NULL);

	if (!a->ok && a->status != 404)
		failed(j, a, ask_request);
	else if (!uid || strcmp(uid, j->agent->identity.cluster_uid) != 0)
		later(j, "somebody deleted the Cluster on the hub; it is made again", ask_cluster);
	else if (!json_is_true(json_at(cluster, "spec", "accepted", NULL)))
		await_acceptance(j);
	else
		take_certificate(j);
}

/* A request outlives a Cluster that was deleted, and its certificate is no acceptance of the one
 * that was made after it. */
static void check_acceptance(struct join *j, const char *certificate)
{
	auto_xfree char *path = xasprintf(CLUSTERS "/%s", j->agent->settings.name);

	free(j->certificate);
	j->certificate = xstrdup(certificate);
	kube_send(j->hub,
		  &(struct kube_request){
			  .method = "GET", .path = path, .done = on_acceptance_read, .arg = j});
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
		later(j, "the hub has lost the request to join; it is made again", ask_cluster);
		return;
	}
	if (!a->ok) {
		failed(j, a, ask_request);
		return;
	}
	if (!is_our_request(j, request)) {
		give_up(j,
			"the hub holds a certificate request of another key for cluster %s; remove "
			"it: kubectl delete csr %s",
			j->agent->settings.name, j->agent->settings.name);
		return;
	}
	if (certificate)
		check_acceptance(j, certificate);
	else
		await_acceptance(j);
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
		give_up(j, "%s", err->text);
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

/* "id.secret" */
static bool is_token(const char *text)
{
	size_t id = strcspn(text, ".");

	return id && text[id] && text[id + 1] && !text[strcspn(text, " \t\r\n")];
}

static int read_token(const struct settings *s, char **ret, struct error *err)
{
	auto_xfree char *token = NULL;
	size_t n;

	if (!s->token_file)
		return error_set(err, ERR_BAD_REQUEST,
				 "this member has not joined yet: --token-file is required (fedctl "
				 "cluster token create %s)",
				 s->name);
	if (file_read(s->token_file, &token, &n, err))
		return error_prefix(err, "--token-file");
	token[strcspn(token, "\r\n")] = '\0';
	if (!is_token(token))
		return error_set(err, ERR_BAD_REQUEST,
				 "--token-file: \"%s\" holds no token (one line ID.SECRET, as "
				 "fedctl cluster token create %s prints it)",
				 s->token_file, s->name);
	*ret = take_ptr(token);
	return 0;
}

static int read_ca(const struct settings *s, char **ret, struct error *err)
{
	auto_xfree char *pem = NULL;
	char hash[72];
	size_t n;

	if (file_read(s->ca_file, &pem, &n, err))
		return error_prefix(err, "--ca-file");
	if (pki_cert_hash(pem, hash, NULL))
		return error_set(err, ERR_BAD_REQUEST, "--ca-file: \"%s\" holds no certificate",
				 s->ca_file);
	*ret = take_ptr(pem);
	return 0;
}

int join_check(const struct settings *s, const struct identity *id, struct error *err)
{
	auto_xfree char *token = NULL, *ca = NULL;

	if (id->cert_pem && id->cluster_uid)
		return 0;
	if (read_token(s, &token, err))
		return -1;
	if (!id->ca_pem && !s->ca_file && !s->ca_hash)
		return error_set(err, ERR_BAD_REQUEST,
				 "this member has not joined yet: --ca-hash (or --ca-file) is "
				 "required (on the hub: <state>/pki/ca.hash)");
	return !id->ca_pem && s->ca_file ? read_ca(s, &ca, err) : 0;
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
		give_up(j, "%s", err.text);
		return;
	}
	config.token = token;
	j->hub = agent_connect(j->agent, &config);
	ask_cluster(j);
}

static void ask_ca(struct join *j);

static void take_ca(struct join *j, const char *pem)
{
	const struct settings *s = &j->agent->settings;
	char hash[72];
	struct error err;

	if (pki_cert_hash(pem, hash, &err)) {
		give_up(j, "the CA of the hub at %s cannot be read: %s", s->hub, err.text);
	} else if (strcmp(hash, s->ca_hash) != 0) {
		give_up(j,
			"the CA of the hub at %s has the hash %s and not that of --ca-hash: this "
			"is another server, or somebody between",
			s->hub, hash);
	} else {
		j->agent->identity.ca_pem = xstrdup(pem);
		with_ca(j);
	}
}

static void on_ca(const struct http_answer *a, void *arg)
{
	struct join *j = arg;
	auto_json *page = a->status == 200 ? json_parse(a->body, a->size, NULL, NULL) : NULL;
	const char *pem = json_str_at(page, "certificate", NULL);
	auto_xfree char *wrong = NULL;

	if (pem) {
		take_ca(j, pem);
		return;
	}
	if (a->status)
		wrong = xasprintf("%s/ca answers %d: is this a federator?", j->agent->settings.hub,
				  a->status);
	later(j, wrong ? wrong : a->err.text, ask_ca);
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

	j->agent = a;
	j->done = done;
	j->timer = timer_create_in(a->env, on_timer, j);
	if (!a->identity.ca_pem && a->settings.ca_file &&
	    read_ca(&a->settings, &a->identity.ca_pem, &err))
		give_up(j, "%s", err.text);
	else if (a->identity.ca_pem)
		with_ca(j);
	else
		ask_ca(j);
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
	free(j->told);
	free(j->certificate);
	free(j);
}
