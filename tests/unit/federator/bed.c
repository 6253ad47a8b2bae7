#include "bed.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <uv.h>

#include "base/json.h"
#include "base/yaml.h"
#include "federator/clusters.h"
#include "federator/controllers.h"
#include "federator/jobs.h"
#include "federator/placer.h"
#include "federator/queues.h"
#include "federator/tunnel.h"
#include "lifecycle/record.h"

#define WAIT_MS 10000

struct bed {
	struct hub hub;
	struct server_profile profile;
	bool ready, ended;
	char dir[32];
};

void bed_fate(struct bed *b, enum fate fate)
{
	faulty_set_fate(b->hub.store, fate);
}

void bed_break(struct bed *b, const char *part_of_key)
{
	faulty_break(b->hub.store, part_of_key);
}

void bed_release(struct bed *b)
{
	faulty_release(b->hub.store);
}

int bed_offers(const struct bed *b)
{
	return faulty_offers(b->hub.store);
}

void bed_trace(struct bed *b, struct strbuf *ret)
{
	faulty_trace(b->hub.store, ret);
}

/* --- the hub ------------------------------------------------------------------------------- */

struct hub *bed_hub(struct bed *b)
{
	return &b->hub;
}

/* Turns the loop until *flag, at most so long. */
static bool turn(struct bed *b, bool (*is)(struct bed *b, const void *arg), const void *arg,
		 int64_t ms)
{
	int64_t end = uv_hrtime() / 1000000 + (uint64_t)ms;

	while (!is(b, arg)) {
		if ((int64_t)(uv_hrtime() / 1000000) >= end)
			return false;
		uv_run(loop_uv(b->hub.loop), UV_RUN_NOWAIT);
		usleep(200);
	}
	return true;
}

static bool never(struct bed *b, const void *arg)
{
	return false;
}

void bed_sleep(struct bed *b, int64_t ms)
{
	turn(b, never, NULL, ms);
}

static void set_flag(void *arg)
{
	*(bool *)arg = true;
}

static bool flag_is_set(struct bed *b, const void *arg)
{
	return *(const bool *)arg;
}

static void on_elected(void *arg)
{
	struct bed *b = arg;

	controllers_lead(b->hub.controllers);
	b->ready = true;
}

static void on_deposed(void *arg)
{
}

static void on_cache_ready(void *arg)
{
}

static void start_server(struct bed *b)
{
	const char *hosts[] = {"127.0.0.1", NULL};
	struct http_server_config http = {.host = "127.0.0.1"};
	struct error err;
	bool ready = false;

	snprintf(b->dir, sizeof(b->dir), "/tmp/hub-bed-XXXXXX");
	cr_assert(mkdtemp(b->dir));
	cr_assert_eq(state_open(b->dir, "hub", hosts, "https://127.0.0.1",
				env_wall_ns(b->hub.env) / 1000000000, &b->hub.state, &err),
		     0, "%s", err.text);
	http.cert_pem = b->hub.state.server.cert_pem;
	http.key_pem = b->hub.state.server.key_pem;
	http.client_ca_pem = b->hub.state.ca.cert_pem;
	hub_profile(&b->hub, &b->profile);
	cr_assert_eq(server_create(b->hub.loop, &b->profile, b->hub.store, b->hub.cache, &http,
				   &b->hub.server, &err),
		     0, "%s", err.text);
	server_on_ready(b->hub.server, set_flag, &ready);
	cr_assert(turn(b, flag_is_set, &ready, WAIT_MS));
}

static struct bed *create(bool behind)
{
	static const struct cache_join joins[] = {
		{STORE_PREFIX "batch.volcano.sh/jobs/",
		 STORE_PREFIX "batch.volcano.sh/jobs.status/",
		 "{\"state\":{\"phase\":\"Pending\"}}"},
		{NULL},
	};
	struct bed *b = xnew0(struct bed);
	struct hub *h = &b->hub;

	h->loop = loop_create();
	h->env = loop_env(h->loop);
	h->store = faulty_create(store_memory_create(h->loop), h->env);
	h->cache = cache_create(h->store, h->loop, joins, on_cache_ready, b);
	h->placer = placer_create(h);
	h->jobs = jobs_create(h);
	h->clusters = clusters_create(h);
	h->queues = queues_create(h);
	h->tunnel = tunnel_create(h);
	h->controllers = controllers_create(h);
	start_server(b);
	bed_put(b, "queues", "{metadata: {name: default, uid: q0}, spec: {}}");
	bed_sleep(b, 5);
	if (behind)
		cache_hold_back(h->cache, true);
	h->election =
		election_create(h->store, h->loop, "leader", "bed", 30,
				&(struct election_callbacks){
					.elected = on_elected, .deposed = on_deposed, .arg = b});
	cr_assert(turn(b, flag_is_set, &b->ready, WAIT_MS));
	return b;
}

static bool leads(struct bed *b, const void *arg)
{
	return controllers_lead_now(b->hub.controllers);
}

struct bed *bed_create(void)
{
	struct bed *b = create(false);

	cr_assert(turn(b, leads, NULL, WAIT_MS));
	return b;
}

struct bed *bed_create_behind(void)
{
	return create(true);
}

void bed_show(struct bed *b)
{
	cache_hold_back(b->hub.cache, false);
	cr_assert(turn(b, leads, NULL, WAIT_MS));
}

void bed_lead_anew(struct bed *b)
{
	controllers_follow(b->hub.controllers);
	controllers_lead(b->hub.controllers);
	cr_assert(turn(b, leads, NULL, WAIT_MS));
}

static void on_resigned(void *arg)
{
	struct bed *b = arg;

	b->hub.election = NULL;
	server_destroy(b->hub.server, 0, set_flag, &b->ended);
}

static void remove_dir(const char *dir)
{
	auto_xfree char *command = xasprintf("rm -r %s", dir);

	cr_expect_eq(system(command), 0);
}

void bed_destroy(struct bed *b)
{
	controllers_follow(b->hub.controllers);
	election_destroy(b->hub.election, on_resigned, b);
	cr_assert(turn(b, flag_is_set, &b->ended, WAIT_MS));
	cache_destroy(b->hub.cache);
	b->hub.cache = NULL;
	controllers_destroy(b->hub.controllers);
	tunnel_destroy(b->hub.tunnel);
	faulty_destroy(b->hub.store);
	jobs_destroy(b->hub.jobs);
	clusters_destroy(b->hub.clusters);
	queues_destroy(b->hub.queues);
	placer_destroy(b->hub.placer);
	state_finish(&b->hub.state);
	free(b->hub.profile_tables);
	loop_destroy(b->hub.loop);
	remove_dir(b->dir);
	free(b);
}

/* --- objects ------------------------------------------------------------------------------- */

static json_t *from_yaml(const char *text)
{
	auto_json *docs = NULL;
	struct error err;

	cr_assert_eq(yaml_parse_all(text, strlen(text), &docs, &err), 0, "%s: %s", text, err.text);
	return json_incref(json_array_get(docs, 0));
}

struct put {
	bool done, committed;
};

static void on_put(const struct store_result *result, void *arg)
{
	struct put *p = arg;

	p->done = true;
	p->committed = result->outcome == STORE_COMMITTED;
}

static void put_key(struct bed *b, const char *key, const json_t *value)
{
	auto_xfree char *text = json_print(value);
	struct store_write w = {.key = key, .value = text, .size = strlen(text)};
	struct put p = {0};

	store_commit(faulty_real(b->hub.store), &(struct store_txn){.writes = &w, .n_writes = 1},
		     on_put, &p);
	cr_assert(turn(b, flag_is_set, &p.done, WAIT_MS));
	cr_assert(p.committed);
}

void bed_put_in(struct bed *b, const char *plural, const char *ns, const char *yaml)
{
	const struct kind *k = hub_kind(plural);
	auto_json *j = from_yaml(yaml), *ordered = json_object(), *status = NULL;
	const char *name = json_str_at(j, "metadata", "name", NULL);
	auto_strbuf key = {0}, status_key = {0}, version = {0};
	json_t *meta = json_object_get(j, "metadata");

	strbuf_addf(&version, "%s%s%s", k->group, *k->group ? "/" : "", k->version);
	json_set_str(ordered, "apiVersion", strbuf_str(&version));
	json_set_str(ordered, "kind", k->name);
	json_object_set(ordered, "metadata", meta);
	json_set_str(meta, "creationTimestamp", "2026-01-01T00:00:00Z");
	if (ns)
		json_set_str(meta, "namespace", ns);
	kind_key(k, ns, name, &key);
	if (k->split_status && json_object_get(j, "status")) {
		status = json_incref(json_object_get(j, "status"));
		json_object_del(j, "status");
		kind_status_key(k, ns, name, &status_key);
		put_key(b, status_key.bytes, status);
	}
	json_object_update_missing(ordered, j);
	put_key(b, key.bytes, ordered);
}

void bed_put(struct bed *b, const char *plural, const char *yaml)
{
	bed_put_in(b, plural, hub_kind(plural)->namespaced ? "default" : NULL, yaml);
}

void bed_cluster(struct bed *b, const char *name)
{
	auto_xfree char *yaml = xasprintf(
		"{metadata: {name: %s, uid: uid-%s}, spec: {accepted: true}}", name, name);

	auto_xfree char *ns = record_cluster_namespace(name);

	bed_put(b, "clusters", yaml);
	bed_put_in(b, "leases", ns, "{metadata: {name: agent, uid: l0}, spec: {}}");
	bed_sleep(b, 20);
}

void bed_report(struct bed *b, const char *cluster, int64_t seq, int64_t nodes)
{
	auto_xfree char *yaml =
		xasprintf("{seq: %lld, base: 0,"
			  " shapes: [{labels: {}, amounts: {cpu: '4', pods: '110'}, count: %lld}],"
			  " capacity: [{labels: {}, amounts: {cpu: '4', pods: '110'}, count: 9}]}",
			  (long long)seq, (long long)nodes);
	auto_json *report = from_yaml(yaml);
	struct error err;

	cr_assert_eq(placer_report(b->hub.placer, cluster, report, &err), 0, "%s", err.text);
}

json_t *bed_job(struct bed *b, const char *job)
{
	return hub_tree(&b->hub, hub_kind("jobs"), "default", job);
}

json_t *bed_placement(struct bed *b, const char *job)
{
	auto_json *j = bed_job(b, job);
	const json_t *part = json_array_get(json_at(j, "status", "dispatch", "parts", NULL), 0);
	auto_xfree char *ns = xasprintf("cluster-%s", json_str_at(part, "cluster", NULL));
	auto_xfree char *name = record_placement_name(json_str_at(j, "metadata", "uid", NULL), 0,
						      json_int_at(part, 0, "generation", NULL));

	return hub_tree(&b->hub, hub_kind("placements"), ns, name);
}

const char *bed_phase(struct bed *b, const char *job)
{
	static char phase[32];
	auto_json *j = bed_job(b, job);
	const char *now = json_str_at(j, "status", "dispatch", "phase", NULL);

	snprintf(phase, sizeof(phase), "%s", now ? now : "");
	return phase;
}

struct wanted {
	const char *job, *text;
};

static bool has_phase(struct bed *b, const void *arg)
{
	const struct wanted *w = arg;

	return !strcmp(bed_phase(b, w->job), w->text);
}

static bool has_pending(struct bed *b, const void *arg)
{
	const struct wanted *w = arg;
	auto_json *j = bed_job(b, w->job);
	const char *code = json_str_at(j, "status", "pending", "code", NULL);

	return code && !strcmp(code, w->text);
}

static bool has_detail(struct bed *b, const void *arg)
{
	const struct wanted *w = arg;
	auto_json *j = bed_job(b, w->job);
	const char *detail = json_str_at(j, "status", "pending", "detail", NULL);

	return detail && strstr(detail, w->text);
}

void bed_wait_phase(struct bed *b, const char *job, const char *phase)
{
	cr_assert(turn(b, has_phase, &(struct wanted){job, phase}, WAIT_MS), "%s is %s, not %s",
		  job, bed_phase(b, job), phase);
}

void bed_wait_pending(struct bed *b, const char *job, const char *code)
{
	cr_assert(turn(b, has_pending, &(struct wanted){job, code}, WAIT_MS), "%s is not %s", job,
		  code);
}

void bed_wait_detail(struct bed *b, const char *job, const char *text)
{
	bool said = turn(b, has_detail, &(struct wanted){job, text}, WAIT_MS);
	auto_json *j = bed_job(b, job);
	const char *detail = json_str_at(j, "status", "pending", "detail", NULL);

	cr_assert(said, "%s says: %s; not: %s", job, detail ? detail : "nothing", text);
}
