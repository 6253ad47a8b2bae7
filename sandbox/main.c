/* The sandbox process: settings, start, an orderly end. */
#include <string.h>
#include <unistd.h>

#include "base/encode.h"
#include "base/json.h"
#include "base/listen.h"
#include "base/log.h"
#include "base/pki.h"
#include "base/program.h"
#include "sandbox/kubelet.h"
#include "server/stored.h"

struct settings {
	char *state, *listen, *shape;
};

struct process {
	const struct settings *settings;
	struct listen listen;
	struct sandbox sandbox;
	struct server_profile profile;
	json_t *nodes;
	size_t made; /* nodes posted so far */
	char *url;
	bool stopping;
};

#define AT(field) .at = offsetof(struct settings, field)
static const struct flag flags[] = {
	{"state", FLAG_STRING, "DIR", NULL, "keys, admin.kubeconfig and logs", AT(state),
	 .required = true},
	{"listen", FLAG_STRING, "IP:PORT", "127.0.0.1:7451", "where to listen", AT(listen),
	 .mistake = listen_mistake},
	{"shape", FLAG_STRING, "FILE", NULL,
	 "the nodes: {nodes: [{name, count, arch, capacity, labels, taints}]}", AT(shape),
	 .required = true},
};
#undef AT

/* --- kube-system: its uid tells this member from others, also after a restart --- */

static char *member_uid(struct process *p, struct error *err)
{
	auto_xfree char *path = xasprintf("%s/uid", p->settings->state);
	char uid[UUID_SIZE], *text;
	size_t n;

	if (!access(path, F_OK))
		return file_read(path, &text, &n, err) ? NULL : text;
	uuid_make(p->sandbox.env, uid);
	return file_write(path, uid, strlen(uid), 0600, err) ? NULL : xstrdup(uid);
}

static void on_system_made(const struct store_result *result, void *arg)
{
	if (result->outcome != STORE_COMMITTED)
		log_error("sandbox", "make kube-system: %s", result->err.text);
}

static int make_kube_system(struct process *p, struct error *err)
{
	const struct kind *k = sandbox_kind("namespaces");
	auto_xfree char *uid = member_uid(p, err);
	auto_strbuf key = {0}, value = {0};
	auto_json *tree = NULL;

	if (!uid)
		return -1;
	tree = json_pack("{ss,ss,s{ss},s{ss}}", "apiVersion", "v1", "kind", "Namespace", "metadata",
			 "name", "kube-system", "status", "phase", "Active");
	stored_stamp(p->sandbox.env, k, NULL, tree);
	json_set_str(json_object_need(tree, "metadata"), "uid", uid);
	stored_main(k, tree, &value);
	kind_key(k, NULL, "kube-system", &key);
	store_commit(p->sandbox.store,
		     &(struct store_txn){.writes = &(struct store_write){.key = key.bytes,
									 .value = value.bytes,
									 .size = value.size},
					 .n_writes = 1},
		     on_system_made, p);
	return 0;
}

/* --- nodes --- */

static void make_next_node(struct process *p);

static void on_node_made(const json_t *object, const struct error *err, void *arg)
{
	struct process *p = arg;

	if (err)
		log_error("sandbox", "make a node: %s", err->text);
	make_next_node(p);
}

static void make_next_node(struct process *p)
{
	struct server_change change = {.op = SERVER_CREATE, .kind = sandbox_kind("nodes")};

	if (p->stopping)
		return;
	if (p->made == json_array_size(p->nodes)) {
		log_info("sandbox", "serves %s, %zu nodes", p->url, p->made);
		return;
	}
	change.body = json_array_get(p->nodes, p->made++);
	server_change(p->sandbox.server, &change, on_node_made, p);
}

static void on_ready(void *arg)
{
	struct process *p = arg;

	p->sandbox.kubelet = kubelet_create(&p->sandbox);
	make_next_node(p);
}

/* --- start --- */

static void on_cache_ready(void *arg)
{
	log_debug("sandbox", "the cache is loaded");
}

static int open_state(struct process *p, struct error *err)
{
	const char *hosts[] = {p->listen.host, "localhost", "127.0.0.1", NULL};
	auto_xfree char *logs = NULL;

	p->sandbox.dir = xstrdup(p->settings->state);
	logs = xasprintf("%s/logs", p->sandbox.dir);
	p->url = xasprintf("https://%s", p->settings->listen);
	if (state_open(p->sandbox.dir, "sandbox", hosts, p->url,
		       env_wall_ns(p->sandbox.env) / 1000000000, &p->sandbox.state, err))
		return -1;
	return dir_make(logs, 0700, err);
}

static int start_server(struct process *p, struct error *err)
{
	static const struct cache_join joins[] = {
		{STORE_PREFIX "batch.volcano.sh/jobs/",
		 STORE_PREFIX "batch.volcano.sh/jobs.status/"},
		{NULL, NULL},
	};
	struct http_server_config http = {
		.host = p->listen.host,
		.port = p->listen.port,
		.cert_pem = p->sandbox.state.server.cert_pem,
		.key_pem = p->sandbox.state.server.key_pem,
		.client_ca_pem = p->sandbox.state.ca.cert_pem,
	};

	p->sandbox.store = store_memory_create(p->sandbox.loop);
	if (make_kube_system(p, err))
		return -1;
	p->sandbox.cache =
		cache_create(p->sandbox.store, p->sandbox.loop, joins, on_cache_ready, p);
	sandbox_profile(&p->sandbox, &p->profile);
	if (server_create(p->sandbox.loop, &p->profile, p->sandbox.store, p->sandbox.cache, &http,
			  &p->sandbox.server, err))
		return -1;
	server_on_ready(p->sandbox.server, on_ready, p);
	return 0;
}

/* --- end --- */

static void on_server_gone(void *arg)
{
	struct process *p = arg;

	loop_stop(p->sandbox.loop);
}

static void stop(void *arg)
{
	struct process *p = arg;

	if (p->stopping)
		return;
	p->stopping = true;
	kubelet_destroy(take_ptr(p->sandbox.kubelet));
	server_destroy(p->sandbox.server, 1000, on_server_gone, p);
}

/* Also of one that did not come to run. */
static void process_finish(struct process *p)
{
	cache_destroy(p->sandbox.cache);
	store_destroy(p->sandbox.store);
	state_finish(&p->sandbox.state);
	json_decref(p->nodes);
	listen_finish(&p->listen);
	free(p->sandbox.profile_tables);
	free(p->sandbox.dir);
	free(p->url);
	loop_destroy(p->sandbox.loop);
}

static int start(struct process *p, struct error *err)
{
	if (listen_parse(p->settings->listen, &p->listen, err) ||
	    shape_read(p->settings->shape, &p->nodes, err) || open_state(p, err))
		return -1;
	return start_server(p, err);
}

static int run(const void *settings, int *ret_exit_code, struct error *err)
{
	struct process p = {.settings = settings};
	int rc;

	p.sandbox.loop = loop_create();
	p.sandbox.env = loop_env(p.sandbox.loop);
	rc = start(&p, err);
	if (!rc) {
		loop_on_stop_signal(p.sandbox.loop, stop, &p);
		loop_run(p.sandbox.loop);
	}
	process_finish(&p);
	return rc;
}

int main(int argc, char **argv)
{
	static const struct program sandbox = {
		.name = "sandbox",
		.summary = "sandbox --state /tmp/gpu --shape gpu.yaml\n\n"
			   "A member cluster in one process: an API server and a small kubelet.",
		.flags = flags,
		.n_flags = ARRAY_LEN(flags),
		.settings_size = sizeof(struct settings),
		.run = run,
	};

	return program_main(&sandbox, argc, argv);
}
