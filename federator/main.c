/* The federator process: settings, start, signals, an orderly end. */
#include <string.h>
#include <unistd.h>

#include "base/http_client.h"
#include "base/json.h"
#include "base/listen.h"
#include "base/log.h"
#include "base/program.h"
#include "federator/clusters.h"
#include "federator/compactor.h"
#include "federator/controllers.h"
#include "federator/jobs.h"
#include "federator/lag.h"
#include "federator/outage.h"
#include "federator/placer.h"
#include "federator/queues.h"
#include "federator/tunnel.h"

#define LEADER_TTL_S 10
#define DRAIN_MS     5000

struct settings {
	char *state, *listen, *url, *store, *etcd, *etcd_ca, *etcd_cert, *etcd_key;
};

struct process {
	const struct settings *settings;
	struct listen listen;
	struct hub hub;
	struct server_profile profile;
	struct compactor *compactor;
	struct lag *lag;
	struct outage *outage;
	bool stopping;
};

#define AT(field) .at = offsetof(struct settings, field)
static const struct flag flags[] = {
	{"state", FLAG_STRING, "DIR", NULL,
	 "keys, certificates and admin.kubeconfig ($XDG_STATE_HOME/federator, or "
	 "/var/lib/federator as root)",
	 AT(state)},
	{"listen", FLAG_STRING, "IP:PORT", "127.0.0.1:7443", "where to listen", AT(listen),
	 .mistake = listen_mistake},
	{"url", FLAG_STRING, "URL", NULL, "where others reach this replica", AT(url),
	 .mistake = http_url_mistake},
	{"store", FLAG_CHOICE, "etcd|memory", "etcd", "where objects are kept", AT(store)},
	{"etcd", FLAG_STRING, "URLS", "http://127.0.0.1:7479", "etcd's client URLs", AT(etcd),
	 .mistake = http_urls_mistake},
	{"etcd-ca-file", FLAG_STRING, "FILE", NULL, "CA of etcd's certificates", AT(etcd_ca)},
	{"etcd-cert-file", FLAG_STRING, "FILE", NULL, "our certificate for etcd", AT(etcd_cert)},
	{"etcd-key-file", FLAG_STRING, "FILE", NULL, "its key", AT(etcd_key)},
};
#undef AT

static int check_settings(const void *settings, struct error *err)
{
	const struct settings *s = settings;

	if (!s->etcd_cert != !s->etcd_key)
		return error_set(err, ERR_BAD_REQUEST, "--%s needs --%s too",
				 s->etcd_cert ? "etcd-cert-file" : "etcd-key-file",
				 s->etcd_cert ? "etcd-key-file" : "etcd-cert-file");
	return 0;
}

static char *default_state(void)
{
	const char *xdg = getenv("XDG_STATE_HOME"), *home = getenv("HOME");

	if (xdg && *xdg)
		return xasprintf("%s/federator", xdg);
	if (geteuid() == 0)
		return xstrdup("/var/lib/federator");
	return xasprintf("%s/.local/state/federator", home ? home : ".");
}

/* --- store --- */

static int read_optional(const char *flag, const char *path, char **ret, struct error *err)
{
	size_t n;

	return path && file_read(path, ret, &n, err) ? error_prefix(err, "--%s", flag) : 0;
}

static int open_etcd(struct process *p, struct error *err)
{
	const struct settings *s = p->settings;
	auto_xfree char *ca = NULL, *cert = NULL, *key = NULL;

	if (read_optional("etcd-ca-file", s->etcd_ca, &ca, err) ||
	    read_optional("etcd-cert-file", s->etcd_cert, &cert, err) ||
	    read_optional("etcd-key-file", s->etcd_key, &key, err))
		return -1;
	p->hub.store = store_etcd_create(p->hub.loop,
					 &(struct store_etcd_config){
						 .endpoints = s->etcd,
						 .ca_pem = ca,
						 .cert_pem = cert,
						 .key_pem = key,
					 },
					 err);
	return p->hub.store ? 0 : -1;
}

static int open_store(struct process *p, struct error *err)
{
	if (!strcmp(p->settings->store, "etcd"))
		return open_etcd(p, err);
	p->hub.store = store_memory_create(p->hub.loop);
	return 0;
}

/* --- leading --- */

static void on_elected(void *arg)
{
	struct process *p = arg;

	log_info("federator", "leads");
	controllers_lead(p->hub.controllers);
}

static void on_deposed(void *arg)
{
	struct process *p = arg;

	log_warn("federator", "leads no longer");
	controllers_follow(p->hub.controllers);
}

static void on_queue_made(const json_t *object, const struct error *err, void *arg)
{
	if (err && err->code != ERR_ALREADY_EXISTS)
		log_warn("federator", "make the queue \"default\": %s", err->text);
}

static void make_default_queue(struct process *p)
{
	struct server_change change = {.op = SERVER_CREATE, .kind = hub_kind("queues")};
	auto_json *body = NULL;

	if (hub_get(&p->hub, change.kind, NULL, "default"))
		return;
	body = json_pack("{ss,ss,s{ss},s{}}", "apiVersion", "scheduling.volcano.sh/v1beta1", "kind",
			 "Queue", "metadata", "name", "default", "spec");
	change.body = body;
	server_change(p->hub.server, &change, on_queue_made, p);
}

static void on_ready(void *arg)
{
	struct process *p = arg;

	make_default_queue(p);
	p->hub.election =
		election_create(p->hub.store, p->hub.loop, "leader", p->hub.url, LEADER_TTL_S,
				&(struct election_callbacks){
					.elected = on_elected, .deposed = on_deposed, .arg = p});
	p->compactor = compactor_create(&p->hub);
	log_info("federator", "serves %s", p->hub.url);
}

/* --- start --- */

static int start_server(struct process *p, struct error *err)
{
	struct http_server_config http = {
		.host = p->listen.host,
		.port = p->listen.port,
		.cert_pem = p->hub.state.server.cert_pem,
		.key_pem = p->hub.state.server.key_pem,
		.client_ca_pem = p->hub.state.ca.cert_pem,
	};

	hub_profile(&p->hub, &p->profile);
	if (server_create(p->hub.loop, &p->profile, p->hub.store, p->hub.cache, &http,
			  &p->hub.server, err))
		return -1;
	server_on_ready(p->hub.server, on_ready, p);
	return 0;
}

static void on_cache_ready(void *arg)
{
	log_debug("federator", "the cache is loaded");
}

static void make_parts(struct process *p)
{
	/* A submission writes the Job alone; the first status comes with its first offer. */
	static const struct cache_join joins[] = {
		{STORE_PREFIX "batch.volcano.sh/jobs/",
		 STORE_PREFIX "batch.volcano.sh/jobs.status/",
		 "{\"state\":{\"phase\":\"Pending\"}}"},
		{NULL},
	};

	p->hub.cache = cache_create(p->hub.store, p->hub.loop, joins, on_cache_ready, p);
	p->lag = lag_create(p->hub.loop, p->hub.cache);
	p->outage = outage_create(p->hub.loop, p->hub.store);
	p->hub.placer = placer_create(&p->hub);
	p->hub.jobs = jobs_create(&p->hub);
	p->hub.clusters = clusters_create(&p->hub);
	p->hub.queues = queues_create(&p->hub);
	p->hub.tunnel = tunnel_create(&p->hub);
	p->hub.controllers = controllers_create(&p->hub);
}

static int open_state(struct process *p, struct error *err)
{
	const struct settings *s = p->settings;
	auto_xfree char *dir = s->state ? xstrdup(s->state) : default_state();
	char hostname[256] = "localhost";
	const char *hosts[] = {p->listen.host, "localhost", "127.0.0.1", hostname, NULL};

	gethostname(hostname, sizeof(hostname) - 1);
	p->hub.url = s->url ? xstrdup(s->url) : xasprintf("https://%s", s->listen);
	return state_open(dir, "federator", hosts, p->hub.url, env_wall_ns(p->hub.env) / 1000000000,
			  &p->hub.state, err);
}

/* --- end --- */

static void on_server_gone(void *arg)
{
	struct process *p = arg;

	loop_stop(p->hub.loop);
}

static void on_resigned(void *arg)
{
	struct process *p = arg;

	p->hub.election = NULL;
	if (p->hub.server)
		server_destroy(p->hub.server, DRAIN_MS, on_server_gone, p);
	else
		on_server_gone(p);
}

static void stop(void *arg)
{
	struct process *p = arg;

	if (p->stopping)
		return;
	p->stopping = true;
	log_info("federator", "stops");
	controllers_follow(p->hub.controllers);
	if (p->hub.election)
		election_destroy(p->hub.election, on_resigned, p);
	else
		on_resigned(p);
}

/* Also of one that did not come to run. */
static void process_finish(struct process *p)
{
	lag_destroy(p->lag);
	outage_destroy(p->outage);
	cache_destroy(take_ptr(p->hub.cache));
	compactor_destroy(p->compactor);
	controllers_destroy(p->hub.controllers);
	tunnel_destroy(p->hub.tunnel);
	store_destroy(p->hub.store);
	jobs_destroy(p->hub.jobs);
	clusters_destroy(p->hub.clusters);
	queues_destroy(p->hub.queues);
	placer_destroy(p->hub.placer);
	state_finish(&p->hub.state);
	listen_finish(&p->listen);
	free(p->hub.url);
	free(p->hub.profile_tables);
	loop_destroy(p->hub.loop);
}

static int start(struct process *p, struct error *err)
{
	if (listen_parse(p->settings->listen, &p->listen, err) || open_store(p, err) ||
	    open_state(p, err))
		return -1;
	make_parts(p);
	return start_server(p, err);
}

static int run(const void *settings, int *ret_exit_code, struct error *err)
{
	struct process p = {.settings = settings};
	int rc;

	p.hub.loop = loop_create();
	p.hub.env = loop_env(p.hub.loop);
	rc = start(&p, err);
	if (!rc) {
		loop_on_stop_signal(p.hub.loop, stop, &p);
		loop_run(p.hub.loop);
	}
	process_finish(&p);
	return rc;
}

int main(int argc, char **argv)
{
	static const struct program federator = {
		.name = "federator",
		.summary = "federator --etcd http://127.0.0.1:7479\n\n"
			   "The hub of a federation of Kubernetes clusters for batch jobs.",
		.flags = flags,
		.n_flags = ARRAY_LEN(flags),
		.settings_size = sizeof(struct settings),
		.check = check_settings,
		.run = run,
	};

	return program_main(&federator, argc, argv);
}
