#include "member-agent/election.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/encode.h"
#include "base/json.h"
#include "base/log.h"

#define LEASES      "/apis/coordination.k8s.io/v1/namespaces/" AGENT_NAMESPACE "/leases"
#define LEASE       LEASES "/member-agent"
#define LEASE_NAME  AGENT_NAMESPACE "/member-agent"
#define KUBE_SYSTEM "/api/v1/namespaces/kube-system"
#define HUB_VERSION "federator.dev/hub-version"
#define HUB_CLUSTER "federator.dev/hub-cluster"  /* the Cluster's uid there */
#define LEFT_CUT    "federator.dev/left-unclean" /* writes of the last holder may be under way */
#define WRITE_MS    5000

struct election {
	struct agent *agent;
	char *identity;
	json_t *lease;   /* as last read or written; NULL: not there */
	int64_t seen_ms; /* when its renewTime was first seen: expiry is on our own clock */
	char *seen_renew;
	bool held;
	char *waits_for;      /* the holder that was told of in the log; NULL: none */
	struct error trouble; /* of the last renewal */
	bool gone;            /* the Lease was deleted under us: nothing is written any more */
	enum election_before before;
	bool in_doubt; /* whether the lease as we know it is still the one that is there */
	bool leaving, leave_sent, leaves_cleanly;
	int64_t renewed_ms; /* when the last renewal that succeeded was sent */
	int64_t sent_ms;
	struct kube_call *call;
	struct timer *timer;
	void (*elected)(struct agent *a, enum election_before before);
	void (*left)(void *arg);
	void *left_arg;
};

static void election_read(struct election *e);
static void election_write(struct election *e);

/* Somebody else may hold it by now: another counts the same time from a later moment. */
static bool is_stale(const struct election *e)
{
	return env_mono_ms(e->agent->env) - e->renewed_ms > ELECTION_LEASE_S * 1000;
}

static void depose_stale(struct election *e)
{
	char why[sizeof(e->trouble.text) + 100];

	snprintf(why, sizeof(why), "the Lease " LEASE_NAME " was not renewed for %d s%s%s",
		 ELECTION_LEASE_S, e->trouble.text[0] ? ": " : "; this process stood still",
		 e->trouble.text);
	agent_deposed(e->agent, why);
}

/* Before each write into the member: this process may have stood still since it last looked. */
static bool may_write(void *arg)
{
	struct election *e = arg;

	if (e->gone)
		return false;
	if (!e->held || !is_stale(e))
		return true;
	depose_stale(e);
	return false;
}

static void on_timer(void *arg)
{
	struct election *e = arg;

	if (e->held && !e->in_doubt)
		election_write(e);
	else
		election_read(e);
}

static bool has_holder(const struct election *e)
{
	const char *holder = json_str_at(e->lease, "spec", "holderIdentity", NULL);

	return holder && *holder;
}

static bool is_ours(const struct election *e)
{
	const char *holder = json_str_at(e->lease, "spec", "holderIdentity", NULL);

	return holder && !strcmp(holder, e->identity);
}

static void note_how_left(const struct election *e, json_t *meta)
{
	json_t *notes = json_object_need(meta, "annotations");

	if (e->leave_sent && !e->leaves_cleanly)
		json_set_str(notes, LEFT_CUT, "true");
	else
		json_object_del(notes, LEFT_CUT);
}

static json_t *lease_tree(const struct election *e)
{
	json_t *lease = e->lease ? json_deep_copy(e->lease) : json_object(), *meta, *spec;
	int64_t now = env_wall_ns(e->agent->env);
	char text[TIME_SIZE];

	json_set_str(lease, "apiVersion", "coordination.k8s.io/v1");
	json_set_str(lease, "kind", "Lease");
	meta = json_object_need(lease, "metadata");
	json_set_str(meta, "name", "member-agent");
	json_set_str(meta, "namespace", AGENT_NAMESPACE);
	if (e->agent->hub_version) {
		char version[24];

		snprintf(version, sizeof(version), "%lld", (long long)e->agent->hub_version);
		json_set_str(json_object_need(meta, "annotations"), HUB_VERSION, version);
		json_set_str(json_object_need(meta, "annotations"), HUB_CLUSTER,
			     e->agent->hub_cluster);
	}
	note_how_left(e, meta);
	spec = json_object_need(lease, "spec");
	json_set_str(spec, "holderIdentity", e->leave_sent ? "" : e->identity);
	json_set_int(spec, "leaseDurationSeconds", ELECTION_LEASE_S);
	time_format_micro(text, now);
	json_set_str(spec, "renewTime", text);
	if (!e->held)
		json_set_str(spec, "acquireTime", text);
	return lease;
}

static void take_lease(struct election *e, const struct kube_answer *a)
{
	json_decref(e->lease);
	e->lease = json_parse(a->body, a->size, NULL, NULL);
}

static void read_hub(struct agent *a, const json_t *notes)
{
	const char *version = json_str_at(notes, HUB_VERSION, NULL);
	const char *cluster = json_str_at(notes, HUB_CLUSTER, NULL);

	if (!version)
		return;
	a->hub_version = strtoll(version, NULL, 10);
	free(a->hub_cluster);
	a->hub_cluster = cluster ? xstrdup(cluster) : NULL;
}

static void become_holder(struct election *e)
{
	e->held = true;
	read_hub(e->agent, json_at(e->lease, "metadata", "annotations", NULL));
	if (e->waits_for)
		log_info("election", "takes over from %s", e->waits_for);
	log_info("election", "holds the Lease " LEASE_NAME " as %s", e->identity);
	e->elected(e->agent, e->before);
}

/* --- a Lease that is gone --- */

static void say_what_became_of_it(const struct election *e, const char *uid, char *out, size_t n)
{
	const char *known = e->agent->member_uid;

	if (!uid || !known || !strcmp(uid, known))
		snprintf(out, n,
			 "the Lease " LEASE_NAME " is gone: somebody deleted it, or the cluster "
			 "began anew and empty, as a sandbox does when it is started again; "
			 "started again, the agent goes on");
	else
		snprintf(out, n,
			 "the cluster is another one by now: its kube-system has uid %.40s, and "
			 "had %.40s; with a hub, delete the Cluster there and join anew",
			 uid, known);
}

static void on_kube_system(const struct kube_answer *a, void *arg)
{
	auto_json *tree = a->ok ? json_parse(a->body, a->size, NULL, NULL) : NULL;
	struct election *e = arg;
	char why[400];

	e->call = NULL;
	say_what_became_of_it(e, json_str_at(tree, "metadata", "uid", NULL), why, sizeof(why));
	agent_deposed(e->agent, why);
}

/* Who ends must say why, and whether starting again helps depends on which cluster this is. */
static void lease_is_gone(struct election *e)
{
	e->gone = true;
	e->call = kube_send(e->agent->member, &(struct kube_request){.method = "GET",
								     .path = KUBE_SYSTEM,
								     .timeout_ms = WRITE_MS,
								     .done = on_kube_system,
								     .arg = e});
}

/* Our last renewal may be so old that somebody else holds it. A conflict may be with a renewal of
 * our own whose answer was lost. */
static void check_lost(struct election *e, const struct kube_answer *a)
{
	e->in_doubt = a->err.code == ERR_CONFLICT;
	e->trouble = a->err;
	if (a->err.code == ERR_NOT_FOUND)
		lease_is_gone(e);
	else if (is_stale(e))
		depose_stale(e);
	else
		timer_start(e->timer, e->in_doubt ? 1 : ELECTION_RENEW_MS / 4);
}

/* What was sent too long ago is worth nothing, though it succeeded. */
static void take_renewal(struct election *e)
{
	e->renewed_ms = e->sent_ms;
	e->trouble.text[0] = '\0';
	if (is_stale(e) && e->held) {
		depose_stale(e);
		return;
	}
	timer_start(e->timer, is_stale(e) ? 1 : ELECTION_RENEW_MS);
	if (!e->held && !is_stale(e))
		become_holder(e);
}

static void leave_now(struct election *e)
{
	e->leave_sent = true;
	election_write(e);
}

static void on_written(const struct kube_answer *a, void *arg)
{
	struct election *e = arg;

	e->call = NULL;
	if (e->leave_sent) {
		e->left(e->left_arg);
		return;
	}
	if (a->ok)
		take_lease(e, a);
	if (e->leaving) {
		leave_now(e);
	} else if (a->ok) {
		take_renewal(e);
	} else if (e->held) {
		check_lost(e, a);
	} else {
		timer_start(e->timer, 1000);
	}
}

static void election_write(struct election *e)
{
	auto_json *lease = lease_tree(e);
	auto_xfree char *body = json_print(lease);

	e->sent_ms = env_mono_ms(e->agent->env);
	e->call = kube_send(e->agent->member,
			    &(struct kube_request){.method = e->lease ? "PUT" : "POST",
						   .path = e->lease ? LEASE : LEASES,
						   .body = body,
						   .timeout_ms = WRITE_MS,
						   .done = on_written,
						   .arg = e});
}

static int64_t lasts_s(const struct election *e)
{
	return json_int_at(e->lease, ELECTION_LEASE_S, "spec", "leaseDurationSeconds", NULL);
}

/* Expired on our own clock: its renewTime has not changed for as long as it lasts. */
static bool is_expired(struct election *e)
{
	const char *renew = json_str_at(e->lease, "spec", "renewTime", NULL);
	int64_t now = env_mono_ms(e->agent->env);

	if (!e->seen_renew || strcmp(e->seen_renew, renew ? renew : "")) {
		free(e->seen_renew);
		e->seen_renew = xstrdup(renew ? renew : "");
		e->seen_ms = now;
	}
	return now - e->seen_ms > lasts_s(e) * 1000;
}

static void wait_for_holder(struct election *e)
{
	const char *holder = json_str_at(e->lease, "spec", "holderIdentity", NULL);

	timer_start(e->timer, 1000);
	if (e->waits_for && !strcmp(e->waits_for, holder))
		return;
	free(e->waits_for);
	e->waits_for = xstrdup(holder);
	log_info("election",
		 "waits: agent %s holds the Lease " LEASE_NAME
		 "; takes over when that leaves or is silent for %lld s",
		 holder, (long long)lasts_s(e));
}

/* Read while we hold it. */
static void settle_doubt(struct election *e)
{
	e->in_doubt = false;
	if (!e->lease)
		lease_is_gone(e);
	else if (is_ours(e))
		election_write(e);
	else
		agent_deposed(e->agent, "another agent holds the Lease " LEASE_NAME);
}

static enum election_before how_left(const struct election *e)
{
	if (!e->lease)
		return ELECTION_BEFORE_NONE;
	if (has_holder(e) || json_str_at(e->lease, "metadata", "annotations", LEFT_CUT, NULL))
		return ELECTION_BEFORE_CUT;
	return ELECTION_BEFORE_CLEAN;
}

static void see_holder(struct election *e)
{
	if (is_ours(e)) {
		/* Taken already: the answer was lost. */
		e->renewed_ms = e->sent_ms;
		if (is_stale(e)) {
			election_write(e);
			return;
		}
		timer_start(e->timer, ELECTION_RENEW_MS);
		become_holder(e);
		return;
	}
	e->before = how_left(e);
	if (!has_holder(e) || is_expired(e))
		election_write(e);
	else
		wait_for_holder(e);
}

static void on_read(const struct kube_answer *a, void *arg)
{
	struct election *e = arg;

	e->call = NULL;
	if (!a->ok && a->status != 404) {
		log_warn("election", "read the lease: %s", a->err.text);
		if (e->leaving)
			leave_now(e);
		else if (e->held)
			check_lost(e, a);
		else
			timer_start(e->timer, 1000);
		return;
	}
	json_decref(e->lease);
	e->lease = a->ok ? json_parse(a->body, a->size, NULL, NULL) : NULL;
	if (e->held)
		settle_doubt(e);
	else
		see_holder(e);
}

static void election_read(struct election *e)
{
	e->call = kube_send(e->agent->member, &(struct kube_request){.method = "GET",
								     .path = LEASE,
								     .timeout_ms = WRITE_MS,
								     .done = on_read,
								     .arg = e});
}

struct election *election_start(struct agent *a,
				void (*elected)(struct agent *a, enum election_before before))
{
	struct election *e = xnew0(struct election);
	char host[128] = "agent", uid[UUID_SIZE];

	gethostname(host, sizeof(host) - 1);
	uuid_make(a->env, uid);
	e->agent = a;
	e->identity = xasprintf("%s_%d_%.8s", host, (int)getpid(), uid);
	e->elected = elected;
	e->timer = timer_create_in(a->env, on_timer, e);
	kube_set_gate(a->member, may_write, e);
	election_read(e);
	return e;
}

bool election_is_held(const struct election *e)
{
	return e->held;
}

void election_leave(struct election *e, bool clean, void (*done)(void *arg), void *arg)
{
	timer_stop(e->timer);
	if (!e->held) {
		if (e->call)
			kube_cancel(take_ptr(e->call));
		done(arg);
		return;
	}
	e->leaving = true;
	e->leaves_cleanly = clean;
	e->left = done;
	e->left_arg = arg;
	/* A renewal under way would make this write a conflict. */
	if (!e->call)
		leave_now(e);
}

void election_free(struct election *e)
{
	if (!e)
		return;
	kube_set_gate(e->agent->member, NULL, NULL);
	if (e->call)
		kube_cancel(e->call);
	timer_destroy(e->timer);
	json_decref(e->lease);
	free(e->seen_renew);
	free(e->waits_for);
	free(e->identity);
	free(e);
}
