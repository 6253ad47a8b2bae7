/* The agent process: settings, the order of a start, an orderly end. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "api/meta.h"
#include "base/http_client.h"
#include "base/json.h"
#include "base/log.h"
#include "base/program.h"
#include "member-agent/agent.h"
#include "member-agent/election.h"
#include "member-agent/heartbeat.h"
#include "member-agent/join.h"
#include "member-agent/link.h"
#include "member-agent/reporter.h"
#include "member-agent/requests.h"
#include "member-agent/standalone.h"

#define RETRY_MS    1000
#define HASH_PREFIX "sha256:"

struct process {
	struct agent agent;
	struct timer *timer;
	char *told; /* why the start is tried again, as it was said last */
	char *why;  /* it ends with an exit code: its last words */
	bool stopping;
	enum election_before before;
	bool shut_in; /* at the end: a predecessor's writes may be under way */
};

static struct process *process_of(struct agent *a)
{
	return container_of(a, struct process, agent);
}

/* --- settings --- */

static const char *cluster_mistake(const char *text)
{
	return name_mistake(NAME_CLUSTER, text);
}

static const char *hub_mistake(const char *text)
{
	const char *mistake = http_url_mistake(text);

	if (mistake)
		return mistake;
	return strncmp(text, "https://", 8) ? "does not begin with https://" : NULL;
}

static const char *hash_mistake(const char *text)
{
	size_t prefix = strlen(HASH_PREFIX);
	bool fits = strlen(text) == prefix + 64 && !strncmp(text, HASH_PREFIX, prefix) &&
		    strspn(text + prefix, "0123456789abcdef") == 64;

	return fits ? NULL
		    : "is not " HASH_PREFIX " and 64 hexadecimal digits, as in the hub's "
		      "pki/ca.hash";
}

static const char *job_mistake(const char *text)
{
	const char *slash = strchr(text, '/');

	return slash && slash != text && slash[1] && !strchr(slash + 1, '/') ? NULL
									     : "is not NS/JOB";
}

#define AT(field) .at = offsetof(struct settings, field)
static const struct flag flags[] = {
	{"name", FLAG_STRING, "NAME", NULL, "of this cluster on the hub", AT(name),
	 .mistake = cluster_mistake, .required = true},
	{"hub", FLAG_STRING, "URL", "https://127.0.0.1:7443", "the federator", AT(hub),
	 .mistake = hub_mistake},
	{"token-file", FLAG_STRING, "FILE", NULL,
	 "bootstrap token, to join: fedctl cluster token create NAME", AT(token_file)},
	{"ca-hash", FLAG_STRING, HASH_PREFIX "HEX", NULL, "of the hub's CA, to join", AT(ca_hash),
	 .mistake = hash_mistake},
	{"ca-file", FLAG_STRING, "FILE", NULL, "the hub's CA, instead of its hash", AT(ca_file)},
	{"kubeconfig", FLAG_STRING, "FILE", NULL, "of this cluster; without it, the pod's own",
	 AT(kubeconfig)},
	{"state", FLAG_STRING, "DIR", NULL,
	 "where the identity is kept; without it, the Secret federator-system/member-agent",
	 AT(state)},
	{"shutout-wait", FLAG_DURATION, "TIME", "30s",
	 "after a predecessor that did not leave cleanly, before any last word",
	 AT(shutout_wait_ms)},
	{"keep-pods", FLAG_DURATION, "TIME", "10m", "ended pods stay so long, for logs",
	 AT(keep_pods_ms)},
	{"journal-keep", FLAG_DURATION, "TIME", "168h", "outcomes stay so long",
	 AT(journal_keep_ms)},
	{"standalone", FLAG_BOOL, "", "false", "run this cluster's own jobs, without a hub",
	 AT(standalone)},
	{"beside-volcano", FLAG_BOOL, "", "false",
	 "standalone: only jobs with schedulerName: federator; so it is anyway where Volcano's "
	 "PodGroup is served",
	 AT(beside_volcano)},
	{"explain", FLAG_STRING, "NS/JOB", NULL, "standalone: print how a job stands, and end",
	 AT(explain), .mistake = job_mistake},
};
#undef AT

/* A folder is read at once. */
struct reading {
	struct identity identity;
	bool failed;
	struct error err;
};

static void on_read(struct identity *take_id, const struct error *err, void *arg)
{
	struct reading *r = arg;

	r->identity = *take_id;
	r->failed = err != NULL;
	if (err)
		r->err = *err;
}

static int check_joining(const struct settings *s, struct error *err)
{
	struct reading r = {.failed = false};
	int rc = -1;

	identity_load(NULL, s->state, on_read, &r);
	if (r.failed)
		*err = r.err;
	else
		rc = join_check(s, &r.identity, err);
	identity_finish(&r.identity);
	return rc;
}

static int check_settings(const void *settings, struct error *err)
{
	const struct settings *s = settings;

	if (s->explain && !s->standalone)
		return error_set(err, ERR_BAD_REQUEST,
				 "--explain needs --standalone; with a hub: fedctl explain job/%s",
				 strchr(s->explain, '/') + 1);
	if (s->beside_volcano && !s->standalone)
		return error_set(err, ERR_BAD_REQUEST, "--beside-volcano needs --standalone");
	/* Where the identity is a Secret, only that says whether there is anything to join. */
	return s->standalone || !s->state ? 0 : check_joining(s, err);
}

/* --- the end --- */

static void on_left(void *arg)
{
	struct agent *a = arg;

	loop_stop(a->loop);
}

/* Nothing of this process may be under way when it says that it has left. */
static void end_parts(struct agent *a)
{
	requests_destroy(take_ptr(a->requests));
	reporter_destroy(take_ptr(a->reporter));
	heartbeat_destroy(take_ptr(a->heartbeat));
	identity_cancel(take_ptr(a->loading));
	join_destroy(take_ptr(a->join));
	standalone_stop(a->standalone);
	runner_destroy(take_ptr(a->runner));
	link_destroy(take_ptr(a->link));
	standalone_destroy(take_ptr(a->standalone));
}

/* What was not answered may be carried out for W yet: a successor has to wait as long. So it has
 * for what our predecessor may have left, as long as we had to. */
static bool leaves_cleanly(struct agent *a, bool shut_in)
{
	int64_t lost = kube_lost_ms(a->member);

	return !shut_in &&
	       (lost == INT64_MIN || env_mono_ms(a->env) - lost > a->settings.shutout_wait_ms);
}

static void on_settled(void *arg)
{
	struct agent *a = arg;
	bool clean = leaves_cleanly(a, process_of(a)->shut_in);

	if (!clean)
		log_info("agent",
			 "leaves while writes may be under way: the next one says no last word for "
			 "%lld s",
			 (long long)a->settings.shutout_wait_ms / 1000);
	election_leave(a->election, clean, on_left, a);
}

static void end_later(void *arg)
{
	struct agent *a = arg;
	struct process *p = process_of(a);
	bool held = a->election && election_is_held(a->election);

	p->shut_in = a->runner ? runner_is_shut_in(a->runner) : p->before != ELECTION_BEFORE_CLEAN;
	if (held)
		kube_settle(a->member, on_settled, a);
	end_parts(a);
	if (!held)
		loop_stop(a->loop);
}

void agent_stop(struct agent *a, int exit_code, const char *why)
{
	struct process *p = process_of(a);

	if (p->stopping)
		return;
	p->stopping = true;
	a->exit_code = exit_code;
	p->why = exit_code ? xstrdup(why) : NULL;
	loop_defer(a->loop, end_later, a);
}

/* At once and without a word: whatever is still queued in this process must not be sent. */
void agent_deposed(struct agent *a, const char *why)
{
	log_error("agent", "leaves: %s", why);
	_exit(4);
}

/* --- the start, in order --- */

static void on_capacity(void *arg)
{
	struct agent *a = arg;

	if (a->reporter)
		reporter_changed(a->reporter);
	if (a->standalone)
		standalone_capacity_changed(a->standalone);
}

static void on_up(struct agent *a)
{
	a->heartbeat = heartbeat_create(a);
	a->reporter = reporter_create(a);
	a->requests = requests_create(a);
	link_start_placements(a->link);
}

static void on_runner_ready(void *arg)
{
	struct agent *a = arg;

	log_info("agent", "has seen all of its cluster");
	if (a->standalone)
		standalone_begin(a->standalone);
	else
		link_say_hello(a->link);
}

static void start_runner(struct agent *a, struct owner *owner)
{
	struct process *p = process_of(a);
	struct runner_config config = {
		.cluster = a->settings.name,
		.own_namespace = AGENT_NAMESPACE,
		.shutout_wait_ms = a->settings.shutout_wait_ms,
		.keep_pods_ms = a->settings.keep_pods_ms,
		.journal_keep_ms = a->settings.journal_keep_ms,
		.predecessor_left_cleanly = p->before == ELECTION_BEFORE_CLEAN,
		.predecessor_unknown = p->before == ELECTION_BEFORE_NONE,
	};

	a->runner = runner_create(a->env, a->member, owner, &config, on_capacity, a);
	runner_on_ready(a->runner, on_runner_ready, a);
}

struct kube *agent_connect(struct agent *a, const struct kube_config *config)
{
	return kube_create(a->loop, config);
}

static void start_linked(struct agent *a)
{
	struct kube_config hub = {.server = a->settings.hub,
				  .ca_pem = a->identity.ca_pem,
				  .cert_pem = a->identity.cert_pem,
				  .key_pem = a->identity.key_pem};

	a->hub = agent_connect(a, &hub);
	a->link = link_create(a, on_up);
	start_runner(a, link_owner(a->link));
}

static void start_alone(struct agent *a)
{
	a->standalone = standalone_create(a, a->settings.beside_volcano, a->settings.explain);
	start_runner(a, standalone_owner(a->standalone));
}

static void on_elected(struct agent *a, enum election_before before)
{
	process_of(a)->before = before;
	if (a->settings.standalone)
		start_alone(a);
	else if (a->identity.cert_pem && a->identity.cluster_uid)
		start_linked(a);
	else
		a->join = join_start(a, start_linked);
}

static void on_identity(struct identity *take_id, const struct error *err, void *arg)
{
	struct agent *a = arg;
	struct error wrong;

	a->loading = NULL;
	if (err) {
		agent_stop(a, 1, err->text);
		return;
	}
	a->identity = *take_id;
	if (join_check(&a->settings, &a->identity, &wrong)) {
		agent_stop(a, 1, wrong.text);
		return;
	}
	a->election = election_start(a, on_elected);
}

static void load_identity(struct agent *a)
{
	a->loading = identity_load(a->member, a->settings.state, on_identity, a);
}

/* Said once, as long as the reason stays the same. */
static void start_later(struct agent *a, const char *what, const char *why)
{
	struct process *p = process_of(a);

	if (!p->told || strcmp(p->told, why) != 0)
		log_warn("agent", "%s: %s; goes on trying", what, why);
	free(p->told);
	p->told = xstrdup(why);
	timer_start(p->timer, RETRY_MS);
}

static void on_namespace(const struct kube_answer *answer, void *arg)
{
	struct agent *a = arg;

	if (answer->ok || answer->err.code == ERR_ALREADY_EXISTS) {
		if (a->settings.standalone)
			a->election = election_start(a, on_elected);
		else
			load_identity(a);
		return;
	}
	start_later(a, "make namespace " AGENT_NAMESPACE " in this cluster", answer->err.text);
}

static void on_kube_system(const struct kube_answer *answer, void *arg)
{
	static const char body[] = "{\"apiVersion\":\"v1\",\"kind\":\"Namespace\",\"metadata\":{"
				   "\"name\":\"" AGENT_NAMESPACE "\"}}";
	struct agent *a = arg;
	auto_json *tree = answer->ok ? json_parse(answer->body, answer->size, NULL, NULL) : NULL;
	const char *uid = json_str_at(tree, "metadata", "uid", NULL);

	if (!uid) {
		start_later(a, "read namespace kube-system of this cluster",
			    answer->ok ? "it has no metadata.uid" : answer->err.text);
		return;
	}
	free(a->member_uid);
	a->member_uid = xstrdup(uid);
	/* A question writes nothing: whoever holds the Lease goes on. */
	if (a->settings.explain) {
		start_alone(a);
		return;
	}
	kube_send(a->member, &(struct kube_request){.method = "POST",
						    .path = "/api/v1/namespaces",
						    .body = body,
						    .done = on_namespace,
						    .arg = a});
}

static void start(void *arg)
{
	struct agent *a = arg;

	kube_send(a->member, &(struct kube_request){.method = "GET",
						    .path = "/api/v1/namespaces/kube-system",
						    .done = on_kube_system,
						    .arg = a});
}

static void on_signal(void *arg)
{
	agent_stop(arg, 0, "signal");
}

static int open_member(struct agent *a, struct error *err)
{
	struct kube_config config;
	int rc = a->settings.kubeconfig
			 ? kube_config_read(a->settings.kubeconfig, NULL, &config, err)
			 : kube_config_in_cluster(&config, err);

	if (rc)
		return -1;
	a->member = kube_create(a->loop, &config);
	kube_config_finish(&config);
	return 0;
}

static void agent_finish(struct agent *a)
{
	end_parts(a);
	election_free(a->election);
	kube_destroy(a->hub);
	kube_destroy(a->member);
	identity_finish(&a->identity);
	free(a->member_uid);
	free(a->hub_cluster);
	free(a->term);
	loop_destroy(a->loop);
}

static int run(const void *settings, int *ret_exit_code, struct error *err)
{
	struct process p = {.agent.settings = *(const struct settings *)settings};
	struct agent *a = &p.agent;
	int rc;

	a->loop = loop_create();
	a->env = loop_env(a->loop);
	loop_on_stop_signal(a->loop, on_signal, a);
	rc = open_member(a, err);
	if (!rc) {
		p.timer = timer_create_in(a->env, start, a);
		start(a);
		loop_run(a->loop);
		timer_destroy(p.timer);
		*ret_exit_code = a->exit_code;
	}
	agent_finish(a);
	if (p.why)
		fprintf(stderr, "member-agent: %s\n", p.why);
	free(p.why);
	free(p.told);
	return rc;
}

int main(int argc, char **argv)
{
	static const struct program agent = {
		.name = "member-agent",
		.summary = "member-agent --name gpu --hub https://hub:7443 --token-file T "
			   "--ca-hash " HASH_PREFIX "...\n\n"
			   "Runs the jobs that a federator gives to this cluster.",
		.flags = flags,
		.n_flags = ARRAY_LEN(flags),
		.settings_size = sizeof(struct settings),
		.check = check_settings,
		.run = run,
	};

	return program_main(&agent, argc, argv);
}
