/* describe: all that is known of an object, for reading. */
#include <ctype.h>
#include <string.h>

#include "base/encode.h"
#include "base/json.h"
#include "base/yaml.h"
#include "fedctl/commands.h"
#include "fedctl/jobs.h"
#include "fedctl/output.h"
#include "fedctl/session.h"
#include "fedctl/table.h"
#include "fedctl/targets.h"

#define LABEL 14 /* columns of what stands before a value */

struct page {
	struct session *session;
	struct strbuf out;
	int64_t now_ns;
};

static void line(struct page *p, const char *label, const char *value)
{
	if (!value || !*value)
		return;
	strbuf_addf(&p->out, "%-*s ", LABEL, label);
	clean_text(value, &p->out);
	strbuf_addc(&p->out, '\n');
}

static void __attribute__((format(printf, 3, 4)))
linef(struct page *p, const char *label, const char *fmt, ...)
{
	auto_strbuf text = {0};
	va_list ap;

	va_start(ap, fmt);
	strbuf_vaddf(&text, fmt, ap);
	va_end(ap);
	line(p, label, strbuf_str(&text));
}

/* "2026-11-29T14:02:00Z (41m ago)" */
static void line_time(struct page *p, const char *label, int64_t ns)
{
	char text[TIME_SIZE], ago[TIME_SIZE];

	if (!ns)
		return;
	time_format(text, ns);
	duration_format(ago, time_between(ns, p->now_ns));
	linef(p, label, "%s (%s ago)", text, ago);
}

static void lines_map(struct page *p, const char *label, const json_t *map)
{
	const char *key;
	json_t *value;

	json_object_foreach ((json_t *)(uintptr_t)map, key, value) {
		linef(p, label, "%s=%s", key,
		      json_is_string(value) ? json_string_value(value) : "");
		label = "";
	}
}

static void heading(struct page *p, const char *text)
{
	strbuf_addf(&p->out, "\n%s\n", text);
}

static void add_table(struct page *p, struct table *t)
{
	auto_strbuf text = {0};

	table_write(t, output_width(), colors_on(stdout), &text);
	strbuf_adds(&p->out, strbuf_str(&text));
}

static const char *since(struct page *p, struct arena *a, const char *time)
{
	char text[TIME_SIZE];
	int64_t ns;

	if (!time || time_parse(time, &ns))
		return NULL;
	duration_format(text, time_between(ns, p->now_ns));
	return arena_printf(a, "%s ago", text);
}

/* --- jobs --- */

static void job_head(struct page *p, const json_t *job, const struct job_facts *f)
{
	char span[TIME_SIZE];

	line(p, "Name", f->name);
	line(p, "Namespace", f->ns);
	lines_map(p, "Labels", json_at(job, "metadata", "labels", NULL));
	line(p, "Queue", f->queue);
	line(p, "Priority", json_str_at(job, "spec", "priorityClassName", NULL));
	linef(p, "Phase", "%s%s%s%s%s", f->phase_name, f->reason ? ": " : "",
	      f->reason ? f->reason : "", f->message ? ", " : "", f->message ? f->message : "");
	if (f->deleting)
		line(p, "", "is being deleted");
	line(p, "Why waiting", f->why_waiting);
	line(p, "Cluster", f->cluster);
	line(p, "Nodes", f->nodes);
	line_time(p, "Submitted", f->created_ns);
	line_time(p, "Started", f->started_ns);
	line_time(p, "Ended", f->ended_ns);
	if (f->started_ns) {
		duration_format(span, (f->ended_ns ? f->ended_ns : p->now_ns) - f->started_ns);
		line(p, "Ran", span);
	}
	linef(p, "Restarts", "%lld of %lld",
	      (long long)json_int_at(job, 0, "status", "retryCount", NULL),
	      (long long)json_int_at(job, 3, "spec", "maxRetry", NULL));
}

/* "Running 2, Pending 1" */
static const char *task_phases(struct arena *a, const json_t *job, const char *task)
{
	const json_t *phases = json_at(job, "status", "taskStatusCount", task, "phase", NULL);
	auto_strbuf out = {0};
	const char *phase;
	json_t *n;

	json_object_foreach ((json_t *)(uintptr_t)phases, phase, n)
		strbuf_addf(&out, "%s%s %lld", out.size ? ", " : "", phase,
			    (long long)json_integer_value(n));
	return arena_strdup(a, strbuf_str(&out));
}

static void add_requests(const json_t *resources, struct strbuf *out)
{
	const char *name;
	json_t *value;

	json_object_foreach ((json_t *)(uintptr_t)resources, name, value) {
		auto_xfree char *text = json_is_string(value) ? xstrdup(json_string_value(value))
							      : json_print(value);

		strbuf_addf(out, "%s%s %s", out->size ? ", " : "", name, text);
	}
}

/* Requests of the first container, which is mostly the only one; limits stand in for requests. */
static const char *task_requests(struct arena *a, const json_t *task)
{
	const json_t *containers = json_at(task, "template", "spec", "containers", NULL);
	const json_t *resources = json_object_get(json_array_get(containers, 0), "resources");
	const json_t *requests = json_object_get(resources, "requests");
	auto_strbuf out = {0};

	add_requests(requests ? requests : json_object_get(resources, "limits"), &out);
	if (json_array_size(containers) > 1)
		strbuf_addf(&out, " and %zu more containers", json_array_size(containers) - 1);
	return arena_strdup(a, strbuf_str(&out));
}

static void job_tasks(struct page *p, const json_t *job)
{
	static const char *const headers[] = {"TASK", "PODS", "STATE", "EACH ASKS FOR", "IMAGE"};
	auto_free(table_destroy) struct table *t = table_create(headers, ARRAY_LEN(headers));
	struct arena a = {0};
	json_t *task;
	size_t i;

	json_array_foreach (json_at(job, "spec", "tasks", NULL), i, task) {
		const char *name = json_str_at(task, "name", NULL);
		const json_t *containers = json_at(task, "template", "spec", "containers", NULL);
		long long pods = job_task_pods(job, task);

		table_add(t,
			  (const char *[]){
				  name, arena_printf(&a, "%lld", pods),
				  task_phases(&a, job, name ? name : ""), task_requests(&a, task),
				  json_str_at(json_array_get(containers, 0), "image", NULL)});
	}
	strbuf_addc(&p->out, '\n');
	add_table(p, t);
	arena_finish(&a);
}

static void job_attempt(struct page *p, const json_t *attempt)
{
	const char *how = json_str_at(attempt, "how", NULL);
	const char *reason = json_str_at(attempt, "reason", NULL);
	const char *message = json_str_at(attempt, "message", NULL);
	const char *nodes = json_str_at(attempt, "nodes", NULL);
	json_t *other;
	size_t i;

	linef(p, "", "%lld in %s%s%s, %s%s%s%s%s",
	      (long long)json_int_at(attempt, 0, "generation", NULL),
	      json_str_at(attempt, "cluster", NULL), nodes ? " on " : "", nodes ? nodes : "",
	      how ? how : "under way", reason ? ": " : "", reason ? reason : "",
	      message ? ", " : "", message ? message : "");
	linef(p, "  why there", "%s", json_str_at(attempt, "why", NULL));
	json_array_foreach (json_object_get(attempt, "runnersUp"), i, other) {
		auto_xfree char *label = xasprintf("  not %s", json_str_at(other, "cluster", NULL));

		line(p, label, json_str_at(other, "why", NULL));
	}
}

static void job_attempts(struct page *p, const json_t *job)
{
	const json_t *attempts = json_at(job, "status", "dispatch", "attempts", NULL);
	json_t *attempt;
	size_t i;

	if (!json_array_size(attempts))
		return;
	heading(p, "Attempts");
	json_array_foreach (attempts, i, attempt)
		job_attempt(p, attempt);
}

static void add_conditions(struct page *p, const json_t *object)
{
	static const char *const headers[] = {"CONDITION", "STATUS", "SINCE", "REASON", "MESSAGE"};
	const json_t *conditions = json_at(object, "status", "conditions", NULL);
	auto_free(table_destroy) struct table *t = NULL;
	struct arena a = {0};
	json_t *c;
	size_t i;

	if (!json_array_size(conditions))
		return;
	t = table_create(headers, ARRAY_LEN(headers));
	json_array_foreach (conditions, i, c)
		table_add(t,
			  (const char *[]){
				  json_str_at(c, "type", NULL), json_str_at(c, "status", NULL),
				  since(p, &a, json_str_at(c, "lastTransitionTime", NULL)),
				  json_str_at(c, "reason", NULL), json_str_at(c, "message", NULL)});
	strbuf_addc(&p->out, '\n');
	add_table(p, t);
	arena_finish(&a);
}

static void describe_job(struct page *p, const json_t *job)
{
	struct job_facts f;

	job_facts_read(job, &f);
	job_head(p, job, &f);
	job_tasks(p, job);
	job_attempts(p, job);
	add_conditions(p, job);
}

/* --- events --- */

static void add_event(struct page *p, struct table *t, struct arena *a, const json_t *event)
{
	const char *last = json_str_at(event, "lastTimestamp", NULL);

	if (!last)
		last = json_str_at(event, "eventTime", NULL);
	table_add(t, (const char *[]){since(p, a, last), json_str_at(event, "type", NULL),
				      json_str_at(event, "reason", NULL),
				      json_str_at(event, "message", NULL)});
}

/* Events are a help, not the matter: what cannot be read is left out. */
static void add_events(struct page *p, const json_t *object)
{
	static const char *const headers[] = {"EVENT", "TYPE", "REASON", "MESSAGE"};
	const char *ns = json_str_at(object, "metadata", "namespace", NULL);
	const char *uid = json_str_at(object, "metadata", "uid", NULL);
	auto_free(table_destroy) struct table *t = table_create(headers, ARRAY_LEN(headers));
	auto_strbuf path = {0};
	auto_json *answer = NULL;
	struct arena a = {0};
	struct error err;
	json_t *event;
	size_t i;

	object_path(kind_find_typed("events"), ns ? ns : "default", NULL, &path);
	strbuf_addf(&path, "?fieldSelector=involvedObject.uid%%3D%s", uid ? uid : "");
	if (session_call(p->session, &(struct call){.path = path.bytes}, &answer, &err))
		return;
	json_array_foreach (json_object_get(answer, "items"), i, event)
		add_event(p, t, &a, event);
	if (table_rows(t)) {
		strbuf_addc(&p->out, '\n');
		add_table(p, t);
	}
	arena_finish(&a);
}

/* --- other kinds --- */

static void add_rest(struct page *p, const json_t *object)
{
	static const char *const said[] = {"apiVersion", "kind", "metadata"};
	auto_json *rest = json_copy((json_t *)(uintptr_t)object);

	for (size_t i = 0; i < ARRAY_LEN(said); i++)
		json_object_del(rest, said[i]);
	if (!json_object_size(rest))
		return;
	strbuf_addc(&p->out, '\n');
	yaml_write(&p->out, rest);
}

static void describe_other(struct page *p, const json_t *object)
{
	const json_t *meta = json_object_get(object, "metadata");
	const char *created = json_str_at(meta, "creationTimestamp", NULL);
	int64_t ns;

	line(p, "Name", json_str_at(meta, "name", NULL));
	line(p, "Namespace", json_str_at(meta, "namespace", NULL));
	lines_map(p, "Labels", json_object_get(meta, "labels"));
	lines_map(p, "Annotations", json_object_get(meta, "annotations"));
	if (created && !time_parse(created, &ns))
		line_time(p, "Created", ns);
	add_rest(p, object);
}

static int describe(struct session *s, const struct target *target, struct error *err)
{
	struct page p = {.session = s, .now_ns = env_wall_ns(s->env)};
	auto_json *object = NULL;

	if (session_get(s, target->kind, s->ns, target->name, &object, err))
		return -1;
	if (target->kind == kind_find_typed("jobs"))
		describe_job(&p, object);
	else
		describe_other(&p, object);
	add_events(&p, object);
	print_out(strbuf_str(&p.out), p.out.size);
	strbuf_finish(&p.out);
	return 0;
}

int run_describe(struct session *s)
{
	struct targets t;
	struct error err;
	int rc = EXIT_DONE;

	if (targets_parse(s->inv->args, s->inv->n_args, &t, &err))
		return usage_fail(&err);
	if (!t.items[0].name) {
		error_set(&err, ERR_BAD_REQUEST, "which %s? fedctl describe %s/NAME",
			  t.items[0].kind->singular, t.items[0].kind->singular);
		targets_finish(&t);
		return usage_fail(&err);
	}
	for (size_t i = 0; i < t.n && rc != EXIT_UNREACHABLE; i++) {
		if (i)
			print_out("\n", 1);
		if (describe(s, &t.items[i], &err))
			rc = session_fail(s, &err);
	}
	targets_finish(&t);
	return rc;
}
