#include "member-agent/reporter.h"

#include <string.h>

#include "api/resources.h"
#include "api/views.h"
#include "base/encode.h"
#include "base/json.h"
#include "base/log.h"

#define RETRY_MS 1000

struct reporter {
	struct agent *agent;
	struct kube *leader; /* when another replica leads; NULL: the hub that we know */
	struct kube *former; /* its predecessor, which may be calling us: freed later */
	char *leader_url;
	struct timer *timer;
	struct kube_call *call;
	int64_t sent_ms;
	bool dirty;
	int64_t base; /* seq of the report that the leader holds; 0: none */
	json_t *held; /* its shapes, by their text without the count */
	json_t *held_capacity;
	int64_t sending_seq;
	json_t *sending, *sending_capacity;

	struct timer *summary_timer;
	struct kube_call *summary_call;
	json_t *summary; /* as last written */
	char *version;   /* of the member's apiserver */
};

/* --- free shapes --- */

/* {text of the shape without its count: count} */
static json_t *by_text(const json_t *shapes)
{
	json_t *out = json_object(), *shape;
	size_t i;

	json_array_foreach (shapes, i, shape) {
		auto_json *bare = json_copy(shape);
		auto_xfree char *text = NULL;

		json_object_del(bare, "count");
		text = json_print(bare);
		json_object_set(out, text, json_object_get(shape, "count"));
	}
	return out;
}

static void add_changed(json_t *list, const char *text, json_t *count)
{
	json_t *shape = json_parse(text, strlen(text), NULL, NULL);

	json_object_set(shape, "count", count);
	json_array_append_new(list, shape);
}

/* What is in `now` and not so in `before`, and with count 0 what is gone. */
static json_t *difference(json_t *before, json_t *now)
{
	auto_json *none = json_integer(0);
	json_t *list = json_array(), *count;
	const char *text;

	json_object_foreach (now, text, count)
		if (!json_equal(json_object_get(before, text), count))
			add_changed(list, text, count);
	json_object_foreach (before, text, count)
		if (!json_object_get(now, text))
			add_changed(list, text, none);
	return list;
}

static void send_report(struct reporter *r);
static void send_summary(struct reporter *r);

static void on_timer(void *arg)
{
	send_report(arg);
}

static void forget_held(struct reporter *r)
{
	r->base = 0;
	json_decref(r->held);
	json_decref(r->held_capacity);
	r->held = r->held_capacity = NULL;
}

/* The leader's client may be calling us now; the one before it is not. */
static void drop_leader(struct reporter *r)
{
	if (!r->leader)
		return;
	kube_destroy(r->former);
	r->former = take_ptr(r->leader);
	free(take_ptr(r->leader_url));
}

/* "https://other:7443/apis/..": the leader is there; only the part before the path counts. */
static void follow_leader(struct reporter *r, const char *location)
{
	const char *path = strstr(location, "/apis/");
	auto_xfree char *url =
		path ? xstrndup(location, (size_t)(path - location)) : xstrdup(location);
	struct kube_config config = {.server = url,
				     .ca_pem = r->agent->identity.ca_pem,
				     .cert_pem = r->agent->identity.cert_pem,
				     .key_pem = r->agent->identity.key_pem};

	if (r->leader_url && !strcmp(r->leader_url, url))
		return;
	drop_leader(r);
	r->leader = agent_connect(r->agent, &config);
	r->leader_url = take_ptr(url);
	kube_set_header(r->leader, AGENT_TERM_HEADER, r->agent->term);
}

static void report_failed(struct reporter *r, const struct kube_answer *a)
{
	r->dirty = true;
	forget_held(r);
	if (a->status == 307 && a->location) {
		/* Two that take each other for the leader must not be asked all the time. */
		timer_start(r->timer, r->leader ? REPORT_MS : 1);
		follow_leader(r, a->location);
		return;
	}
	if (a->status == 409) {
		timer_start(r->timer, REPORT_MS);
		return;
	}
	/* It may lead no more, or live no more: the hub that we know tells who does. */
	log_debug("reporter", "%s", a->err.text);
	drop_leader(r);
	timer_start(r->timer, agent_pace_ms(r->agent, RETRY_MS));
}

static void on_reported(const struct kube_answer *a, void *arg)
{
	struct reporter *r = arg;

	r->call = NULL;
	if (agent_is_superseded(a)) {
		agent_deposed(r->agent, a->err.text);
		return;
	}
	if (!a->ok) {
		report_failed(r, a);
		return;
	}
	forget_held(r);
	r->base = r->sending_seq;
	r->held = take_ptr(r->sending);
	r->held_capacity = take_ptr(r->sending_capacity);
	if (r->dirty)
		timer_start(r->timer, REPORT_MS);
}

static json_t *report_tree(struct reporter *r, const struct capacity_report *report)
{
	json_t *tree = json_object();

	r->sending_seq = report->seq;
	json_decref(r->sending);
	json_decref(r->sending_capacity);
	r->sending = by_text(report->shapes);
	r->sending_capacity = json_incref(report->capacity);
	json_set_int(tree, "seq", report->seq);
	json_set_int(tree, "base", r->base);
	json_object_set_new(tree, "shapes",
			    r->base ? difference(r->held, r->sending)
				    : json_incref(report->shapes));
	if (!r->base || !json_equal(r->held_capacity, report->capacity))
		json_object_set(tree, "capacity", report->capacity);
	return tree;
}

static void send_report(struct reporter *r)
{
	auto_xfree char *path = xasprintf("/apis/federator.dev/v1alpha1/clusters/%s/capacity",
					  r->agent->settings.name);
	struct capacity_report report;
	auto_xfree char *body = NULL;
	auto_json *tree = NULL;

	if (r->call || !r->dirty)
		return;
	kube_destroy(take_ptr(r->former));
	report = runner_report(r->agent->runner);
	tree = report_tree(r, &report);
	json_decref(report.shapes);
	json_decref(report.capacity);
	body = json_print(tree);
	r->dirty = false;
	r->sent_ms = env_mono_ms(r->agent->env);
	r->call = kube_send(r->leader ? r->leader : r->agent->hub,
			    &(struct kube_request){.method = "POST",
						   .path = path,
						   .body = body,
						   .timeout_ms = 5000,
						   .done = on_reported,
						   .arg = r});
	send_summary(r);
}

void reporter_changed(struct reporter *r)
{
	int64_t left = r->sent_ms + REPORT_MS - env_mono_ms(r->agent->env);

	r->dirty = true;
	if (!r->call && !timer_active(r->timer))
		timer_start(r->timer, left > 0 ? left : 0);
}

/* --- the summary in Cluster.status --- */

static json_t *total(const json_t *shapes)
{
	struct resource_list sum = {0};
	struct arena arena = {0};
	struct shape *list;
	struct error err;
	json_t *out;
	size_t n;

	if (shapes_parse(&arena, shapes, &list, &n, &err)) {
		arena_finish(&arena);
		return json_object();
	}
	for (size_t i = 0; i < n; i++)
		resource_list_add(&arena, &sum, &list[i].amounts, list[i].count);
	out = resource_list_json(&sum);
	arena_finish(&arena);
	return out;
}

static int64_t count_nodes(const json_t *shapes)
{
	int64_t n = 0;
	json_t *shape;
	size_t i;

	json_array_foreach (shapes, i, shape)
		n += json_int_at(shape, 0, "count", NULL);
	return n;
}

static json_t *summary_tree(struct reporter *r)
{
	struct capacity_report report = runner_report(r->agent->runner);
	json_t *status = json_object();

	json_set_str(status, "version", r->version);
	json_set_str(status, "memberUID", r->agent->member_uid);
	json_set_int(status, "nodes", count_nodes(report.capacity));
	json_set_int(status, "orphans", (int64_t)runner_orphans(r->agent->runner));
	json_object_set_new(status, "allocatable", total(report.capacity));
	json_object_set_new(status, "free", total(report.shapes));
	json_object_set(status, "capacityShapes", report.capacity);
	json_decref(report.shapes);
	json_decref(report.capacity);
	return status;
}

static void on_summary_timer(void *arg)
{
	send_summary(arg);
}

static void on_summary(const struct kube_answer *a, void *arg)
{
	struct reporter *r = arg;

	r->summary_call = NULL;
	if (agent_is_superseded(a)) {
		agent_deposed(r->agent, a->err.text);
		return;
	}
	if (a->ok)
		return;
	log_debug("reporter", "write the cluster's status: %s", a->err.text);
	json_decref(r->summary);
	r->summary = NULL;
	timer_start(r->summary_timer, agent_pace_ms(r->agent, RETRY_MS));
}

static void send_summary(struct reporter *r)
{
	auto_xfree char *path = xasprintf("/apis/federator.dev/v1alpha1/clusters/%s/status",
					  r->agent->settings.name);
	auto_json *status = NULL, *patch = NULL;
	auto_xfree char *body = NULL;

	if (r->summary_call || timer_active(r->summary_timer))
		return;
	status = summary_tree(r);
	if (r->summary && json_equal(status, r->summary))
		return;
	json_decref(r->summary);
	r->summary = json_incref(status);
	patch = json_pack("{sO}", "status", status);
	body = json_print(patch);
	r->summary_call =
		kube_send(r->agent->hub,
			  &(struct kube_request){.method = "PATCH",
						 .path = path,
						 .body = body,
						 .content_type = "application/merge-patch+json",
						 .done = on_summary,
						 .arg = r});
	timer_start(r->summary_timer, SUMMARY_MS);
}

static void on_version(const struct kube_answer *a, void *arg)
{
	struct reporter *r = arg;
	auto_json *tree = a->ok ? json_parse(a->body, a->size, NULL, NULL) : NULL;
	const char *version = json_str_at(tree, "gitVersion", NULL);

	r->call = NULL;
	r->version = version ? xstrdup(version) : NULL;
	reporter_changed(r);
}

static void on_orphans(void *arg)
{
	reporter_changed(arg);
}

struct reporter *reporter_create(struct agent *a)
{
	struct reporter *r = xnew0(struct reporter);

	r->agent = a;
	r->timer = timer_create_in(a->env, on_timer, r);
	r->summary_timer = timer_create_in(a->env, on_summary_timer, r);
	runner_on_orphans(a->runner, on_orphans, r);
	r->call = kube_send(a->member, &(struct kube_request){.method = "GET",
							      .path = "/version",
							      .done = on_version,
							      .arg = r});
	return r;
}

void reporter_destroy(struct reporter *r)
{
	if (!r)
		return;
	if (r->call)
		kube_cancel(r->call);
	if (r->summary_call)
		kube_cancel(r->summary_call);
	kube_destroy(r->leader);
	kube_destroy(r->former);
	timer_destroy(r->timer);
	timer_destroy(r->summary_timer);
	forget_held(r);
	json_decref(r->sending);
	json_decref(r->sending_capacity);
	json_decref(r->summary);
	free(r->leader_url);
	free(r->version);
	free(r);
}
