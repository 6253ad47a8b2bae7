#include "member-agent/template.h"

#include <ctype.h>
#include <string.h>

#include "api/references.h"
#include "base/json.h"
#include "base/strbuf.h"
#include "member-agent/names.h"

/* The kernel takes 128 KiB as one string of the environment. */
#define HOSTS_ENV_MAX 100000

/* --- alternatives --- */

static json_t *amount_json(const struct resource *r)
{
	struct resource_list one = {.items = (struct resource *)(uintptr_t)r, .n = 1};
	auto_json *object = resource_list_json(&one);

	return json_incref(json_object_get(object, r->name));
}

/* `requests` or `limits` of one container: the amount, or none. */
static void set_amount(json_t *resources, const char *kind, const struct resource *r, bool has)
{
	json_t *amounts = json_object_get(resources, kind);

	if (!has) {
		json_object_del(amounts, r->name);
		return;
	}
	if (!amounts)
		amounts = json_object_need(resources, kind);
	json_object_set_new(amounts, r->name, amount_json(r));
}

/* The whole amount goes to the first container: devices cannot be shared out without knowing what
 * the others do with them. */
static void apply_amount(json_t *spec, const struct resource *r)
{
	json_t *containers = json_object_get(spec, "containers"), *c;
	json_t *whole = json_object_get(json_object_get(spec, "resources"), "requests");
	size_t i;

	json_array_foreach (containers, i, c) {
		json_t *resources = json_object_need(c, "resources");
		bool limited = json_object_get(json_object_get(resources, "limits"), r->name) ||
			       strchr(r->name, '/');

		set_amount(resources, "requests", r, i == 0);
		set_amount(resources, "limits", r, i == 0 && limited);
	}
	json_array_foreach (json_object_get(spec, "initContainers"), i, c) {
		json_t *resources = json_object_need(c, "resources");

		set_amount(resources, "requests", r, false);
		set_amount(resources, "limits", r, false);
	}
	if (json_object_get(whole, r->name))
		json_object_set_new(whole, r->name, amount_json(r));
}

static void apply_alternative(json_t *spec, const struct job_alternative *alt)
{
	for (size_t i = 0; i < alt->resources.n; i++)
		apply_amount(spec, &alt->resources.items[i]);
	for (size_t i = 0; i < alt->n_node_selector; i++)
		json_set_str(json_object_need(spec, "nodeSelector"), alt->node_selector[i].key,
			     alt->node_selector[i].value);
}

void template_prepare(json_t *template_, const struct job_alternative *alt,
		      const char *priority_class)
{
	json_t *spec = json_object_need(template_, "spec");

	if (alt)
		apply_alternative(spec, alt);
	json_set_str(spec, "schedulerName", SCHEDULER_NAME);
	if (!json_object_get(spec, "restartPolicy"))
		json_set_str(spec, "restartPolicy", "Never");
	if (priority_class && !json_object_get(spec, "priorityClassName"))
		json_set_str(spec, "priorityClassName", priority_class);
}

static void rewrite_one(enum reference_kind kind, json_t *holder, const char *key, bool optional,
			void *arg)
{
	const char *uid = arg;
	auto_xfree char *name =
		copy_name_make(json_string_value(json_object_get(holder, key)), uid);

	json_set_str(holder, key, name);
}

void template_rewrite_references(json_t *template_, const char *job_uid)
{
	references_each(json_object_get(template_, "spec"), rewrite_one,
			(void *)(uintptr_t)job_uid);
}

/* --- plugins --- */

/* "--name=value" among the arguments. */
static bool svc_flag(const struct twin *t, const char *name, bool otherwise)
{
	size_t i, n = strlen(name);
	json_t *arg;

	json_array_foreach (t->svc_args, i, arg) {
		const char *text = json_string_value(arg);

		while (text && *text == '-')
			text++;
		if (!text || strncmp(text, name, n) || (text[n] && text[n] != '='))
			continue;
		return !text[n] || !strcmp(text + n + 1, "true");
	}
	return otherwise;
}

static void add_env(json_t *container, const char *name, const char *value)
{
	json_t *env = json_object_get(container, "env");

	if (!env) {
		env = json_array();
		json_object_set_new(container, "env", env);
	}
	json_array_append_new(env, json_pack("{ssss}", "name", name, "value", value));
}

static void add_env_everywhere(json_t *spec, const char *name, const char *value)
{
	static const char *const lists[] = {"initContainers", "containers"};
	json_t *c;
	size_t i;

	for (size_t l = 0; l < ARRAY_LEN(lists); l++)
		json_array_foreach (json_object_get(spec, lists[l]), i, c)
			add_env(c, name, value);
}

/* What the spec of a pod says; NULL when that is nothing. */
static const char *given(const json_t *spec, const char *key)
{
	const char *text = json_str_at(spec, key, NULL);

	return text && *text ? text : NULL;
}

/* A template that names the host names it for all its pods: it is listed once, as Volcano does. */
static int32_t count_hosts(const struct twin_task *task)
{
	const json_t *spec = json_object_get(task->template_, "spec");

	return task->replicas > 1 && given(spec, "hostname") ? 1 : task->replicas;
}

static void add_hosts(struct strbuf *out, const struct twin *t, const struct twin_task *task,
		      char separator)
{
	const json_t *spec = json_object_get(task->template_, "spec");
	const char *host = given(spec, "hostname"), *subdomain = given(spec, "subdomain");

	for (int32_t i = 0; i < count_hosts(task); i++) {
		auto_xfree char *name =
			host ? xstrdup(host) : pod_name_make(t->job_name, task->name, i);

		if (i)
			strbuf_addc(out, separator);
		strbuf_addf(out, "%s.%s", name, subdomain ? subdomain : t->job_name);
	}
}

/* "VC_" + task in capitals, "-" as "_", + suffix. */
static char *task_variable(const char *task, const char *suffix)
{
	char *name = xasprintf("VC_%s_%s", task, suffix);

	for (char *c = name; *c; c++)
		*c = *c == '-' ? '_' : (char)toupper((unsigned char)*c);
	return name;
}

static void add_task_hosts(json_t *spec, const struct twin *t, const struct twin_task *task)
{
	auto_xfree char *hosts_key = task_variable(task->name, "HOSTS");
	auto_xfree char *num_key = task_variable(task->name, "NUM");
	auto_xfree char *num = xasprintf("%d", count_hosts(task));
	auto_strbuf hosts = {0};

	add_hosts(&hosts, t, task, ',');
	if (hosts.size <= HOSTS_ENV_MAX)
		add_env_everywhere(spec, hosts_key, strbuf_str(&hosts));
	add_env_everywhere(spec, num_key, num);
}

char *hosts_name_make(const char *job)
{
	return xasprintf("%s-svc", job);
}

static json_t *need_array(json_t *object, const char *key)
{
	json_t *a = json_object_get(object, key);

	if (a)
		return a;
	a = json_array();
	json_object_set_new(object, key, a);
	return a;
}

static void mount_hosts(json_t *spec, const struct twin *t)
{
	static const char *const lists[] = {"initContainers", "containers"};
	auto_xfree char *name = hosts_name_make(t->job_name);
	json_t *c;
	size_t i;

	json_array_append_new(need_array(spec, "volumes"),
			      json_pack("{sss{ss}}", "name", name, "configMap", "name", name));
	for (size_t l = 0; l < ARRAY_LEN(lists); l++)
		json_array_foreach (json_object_get(spec, lists[l]), i, c)
			json_array_append_new(
				need_array(c, "volumeMounts"),
				json_pack("{ssss}", "name", name, "mountPath", HOSTS_MOUNT));
}

static void apply_svc(json_t *spec, const struct twin *t, const char *pod_name)
{
	if (!given(spec, "hostname"))
		json_set_str(spec, "hostname", pod_name);
	if (!given(spec, "subdomain"))
		json_set_str(spec, "subdomain", t->job_name);
	mount_hosts(spec, t);
	if (!svc_flag(t, "inject-hosts-env", true))
		return;
	for (size_t i = 0; i < t->n_tasks; i++)
		add_task_hosts(spec, t, &t->tasks[i]);
}

static void apply_plugins(json_t *spec, const struct pod_order *o, const char *pod_name)
{
	auto_xfree char *index = xasprintf("%d", o->index);

	if (o->twin->plugin_env) {
		add_env_everywhere(spec, "VC_TASK_INDEX", index);
		add_env_everywhere(spec, "VK_TASK_INDEX", index);
	}
	if (o->twin->plugin_svc)
		apply_svc(spec, o->twin, pod_name);
}

/* --- pods --- */

static void set_number(json_t *object, const char *key, int64_t n)
{
	auto_xfree char *text = xasprintf("%lld", (long long)n);

	json_set_str(object, key, text);
}

static void set_labels(json_t *labels, const struct pod_order *o)
{
	const struct twin *t = o->twin;

	json_set_str(labels, LABEL_UID, t->job_uid);
	set_number(labels, LABEL_PART, t->part);
	set_number(labels, LABEL_GENERATION, t->generation);
	set_number(labels, LABEL_RESTART, o->restart);
	json_set_str(labels, LABEL_JOB_NAME, t->job_name);
	json_set_str(labels, LABEL_JOB_NAMESPACE, t->job_ns);
	json_set_str(labels, LABEL_TASK, t->tasks[o->task].name);
	set_number(labels, LABEL_TASK_INDEX, o->index);
	if (*t->queue && strlen(t->queue) <= 63)
		json_set_str(labels, LABEL_QUEUE, t->queue);
}

static json_t *pod_meta(const struct pod_order *o, const char *name)
{
	const json_t *from = json_object_get(o->twin->tasks[o->task].template_, "metadata");
	json_t *meta = json_object(), *part;

	json_set_str(meta, "name", name);
	json_set_str(meta, "namespace", o->twin->job_ns);
	part = json_object_get(from, "labels");
	json_object_set_new(meta, "labels", part ? json_deep_copy(part) : json_object());
	part = json_object_get(from, "annotations");
	if (part)
		json_object_set_new(meta, "annotations", json_deep_copy(part));
	set_labels(json_object_get(meta, "labels"), o);
	if (o->twin->meta.uid && o->node)
		json_object_set_new(meta, "ownerReferences",
				    json_pack("[o]", twin_owner_reference(o->twin, true)));
	if (o->finalizer)
		json_object_set_new(meta, "finalizers", json_pack("[s]", FINALIZER_OUTCOME));
	return meta;
}

json_t *pod_make(const struct pod_order *o)
{
	const struct twin_task *task = &o->twin->tasks[o->task];
	auto_xfree char *name = pod_name_make(o->twin->job_name, task->name, o->index);
	json_t *pod = json_object(), *spec;

	json_set_str(pod, "apiVersion", "v1");
	json_set_str(pod, "kind", "Pod");
	json_object_set_new(pod, "metadata", pod_meta(o, name));
	spec = json_deep_copy(json_object_get(task->template_, "spec"));
	if (o->node)
		json_set_str(spec, "nodeName", o->node);
	apply_plugins(spec, o, name);
	json_object_set_new(pod, "spec", spec);
	return pod;
}

/* --- plugin svc --- */

static json_t *owned_meta(const struct twin *t, const char *name)
{
	json_t *meta = json_object(), *labels;

	json_set_str(meta, "name", name);
	json_set_str(meta, "namespace", t->job_ns);
	labels = json_object_need(meta, "labels");
	json_set_str(labels, LABEL_UID, t->job_uid);
	set_number(labels, LABEL_PART, t->part);
	set_number(labels, LABEL_GENERATION, t->generation);
	json_set_str(labels, LABEL_JOB_NAME, t->job_name);
	json_object_set_new(meta, "ownerReferences",
			    json_pack("[o]", twin_owner_reference(t, false)));
	return meta;
}

json_t *service_make(const struct twin *t)
{
	json_t *s = json_pack("{ssss}", "apiVersion", "v1", "kind", "Service");

	json_object_set_new(s, "metadata", owned_meta(t, t->job_name));
	json_object_set_new(s, "spec",
			    json_pack("{sss{ssss}sb}", "clusterIP", "None", "selector",
				      LABEL_JOB_NAME, t->job_name, LABEL_JOB_NAMESPACE, t->job_ns,
				      "publishNotReadyAddresses",
				      svc_flag(t, "publish-not-ready-addresses", false)));
	return s;
}

/* "my-worker" is my_worker.host, as Volcano names it. */
static char *hosts_file(const char *task)
{
	char *name = xasprintf("%s.host", task);

	for (char *c = name; *c; c++)
		if (*c == '-')
			*c = '_';
	return name;
}

json_t *hosts_make(const struct twin *t)
{
	auto_xfree char *name = hosts_name_make(t->job_name);
	json_t *c = json_pack("{ssss}", "apiVersion", "v1", "kind", "ConfigMap"), *data;

	json_object_set_new(c, "metadata", owned_meta(t, name));
	data = json_object_need(c, "data");
	for (size_t i = 0; i < t->n_tasks; i++) {
		auto_xfree char *key = hosts_file(t->tasks[i].name);
		auto_strbuf hosts = {0};

		add_hosts(&hosts, t, &t->tasks[i], '\n');
		json_set_str(data, key, strbuf_str(&hosts));
	}
	return c;
}
