/*
 * What must hold of a Job beyond its schema. Whether its queue exists and is open, and whether it
 * could fit anywhere, is for those to say who see the other objects.
 */
#include <inttypes.h>
#include <string.h>

#include "api/job_rules.h"
#include "api/kinds.h"
#include "api/meta.h"
#include "api/pod_rules.h"
#include "base/json.h"

#define POD_NAME_MAX 63 /* names of pods are host names */

static int64_t task_replicas(const json_t *task)
{
	return json_int_at(task, 1, "replicas", NULL);
}

/* The most pods that the task may ever have, its alternatives included. */
static int64_t most_replicas(const json_t *spec, const json_t *task)
{
	const json_t *list = json_at(spec, "placement", "alternatives", NULL);
	const char *name = json_str_at(task, "name", NULL);
	int64_t most = task_replicas(task);
	size_t i;
	json_t *alternative;

	json_array_foreach (list, i, alternative) {
		const char *of = json_str_at(alternative, "task", NULL);
		int64_t n = json_int_at(alternative, 0, "replicas", NULL);

		if (of && name && !strcmp(of, name) && n > most)
			most = n;
	}
	return most;
}

static void check_pod_name(const json_t *job, const json_t *task, const struct path *at,
			   struct causes *c)
{
	const json_t *spec = json_object_get(job, "spec");
	const char *name = json_str_at(job, "metadata", "name", NULL);
	const char *task_name = json_str_at(task, "name", NULL);
	int64_t last = most_replicas(spec, task) - 1;
	auto_strbuf pod = {0};

	if (!name || !task_name)
		return;
	strbuf_addf(&pod, "%s-%s-%" PRId64, name, task_name, last > 0 ? last : 0);
	if (pod.size > POD_NAME_MAX)
		causes_add_at(
			c, CAUSE_INVALID, PATH_FIELD(at, "name"), json_object_get(task, "name"),
			"the pod's name \"%s\" would have %zu characters, at most %d are allowed",
			pod.bytes, pod.size, POD_NAME_MAX);
}

static bool name_seen(const json_t *tasks, size_t before, const json_t *name)
{
	for (size_t i = 0; i < before; i++)
		if (json_equal(json_object_get(json_array_get(tasks, i), "name"), name))
			return true;
	return false;
}

static void check_task(const json_t *job, const json_t *tasks, size_t i, const struct path *at,
		       struct causes *c)
{
	const json_t *task = json_array_get(tasks, i);
	const json_t *name = json_object_get(task, "name");
	int64_t replicas = task_replicas(task);

	if (name && name_seen(tasks, i, name))
		causes_add_at(c, CAUSE_DUPLICATE, PATH_FIELD(at, "name"), name, "%s", "");
	if (json_int_at(task, 0, "minAvailable", NULL) > replicas)
		causes_add_at(c, CAUSE_INVALID, PATH_FIELD(at, "minAvailable"),
			      json_object_get(task, "minAvailable"),
			      "is more than the task's %" PRId64 " replicas", replicas);
	check_pod_name(job, task, at, c);
	pod_template_check(json_object_get(task, "template"), PATH_FIELD(at, "template"), c);
}

static void check_tasks(const json_t *job, const json_t *spec, const struct path *at,
			struct causes *c)
{
	const json_t *tasks = json_object_get(spec, "tasks");
	int64_t pods = 0;

	for (size_t i = 0; i < json_array_size(tasks) && c->n < CAUSES_ENOUGH; i++) {
		check_task(job, tasks, i, PATH_INDEX(PATH_FIELD(at, "tasks"), i), c);
		pods += task_replicas(json_array_get(tasks, i));
	}
	if (json_int_at(spec, 0, "minAvailable", NULL) > pods)
		causes_add_at(c, CAUSE_INVALID, PATH_FIELD(at, "minAvailable"),
			      json_object_get(spec, "minAvailable"),
			      "is more than the %" PRId64 " pods of all tasks", pods);
}

struct flag {
	const char *name;
	bool only_true;
};

static const struct flag no_flags[] = {{NULL}};
static const struct flag svc_flags[] = {
	{"publish-not-ready-addresses"},
	{"inject-hosts-env"},
	{"disable-network-policy", .only_true = true}, /* none is ever made */
	{NULL},
};

static const struct plugin {
	const char *name;
	const struct flag *flags;
} plugins[] = {
	{"env", no_flags},
	{"svc", svc_flags},
};

/* "--name", "-name", "--name=true", "--name=false". */
static bool argument_is(const char *text, const struct flag *flag)
{
	size_t dashes = strspn(text, "-"), n = strlen(flag->name);
	const char *value;

	if (dashes < 1 || dashes > 2 || strncmp(text + dashes, flag->name, n))
		return false;
	value = text + dashes + n;
	return !*value || !strcmp(value, "=true") || (!flag->only_true && !strcmp(value, "=false"));
}

static void refuse_argument(const struct flag *flags, const json_t *arg, const struct path *at,
			    struct causes *c)
{
	auto_strbuf list = {0};

	for (const struct flag *f = flags; f->name; f++)
		strbuf_addf(&list, "%s\"--%s\"", list.size ? ", " : "supported values: ", f->name);
	causes_add_at(c, CAUSE_NOT_SUPPORTED, at, arg, "%s",
		      list.size ? strbuf_str(&list) : "the plugin has no arguments");
}

static void check_arguments(const struct flag *flags, const json_t *args, const struct path *at,
			    struct causes *c)
{
	size_t i;
	json_t *arg;

	json_array_foreach (args, i, arg) {
		const struct flag *f = flags;

		while (f->name && !argument_is(json_string_value(arg), f))
			f++;
		if (!f->name)
			refuse_argument(flags, arg, PATH_INDEX(at, i), c);
	}
}

static void check_plugins(const json_t *spec, const struct path *at, struct causes *c)
{
	const char *name;
	json_t *args;

	json_object_foreach ((json_t *)(uintptr_t)json_object_get(spec, "plugins"), name, args) {
		auto_json *value = json_string(name);
		size_t i = 0;

		while (i < ARRAY_LEN(plugins) && strcmp(plugins[i].name, name))
			i++;
		if (i < ARRAY_LEN(plugins))
			check_arguments(plugins[i].flags, args, PATH_KEY(at, name), c);
		else if (c->n < CAUSES_ENOUGH)
			causes_add_at(c, CAUSE_NOT_SUPPORTED, at, value,
				      "supported values: \"env\", \"svc\"");
	}
}

/* Plugin svc makes a Service of the job's name. */
static void check_service_name(const json_t *job, struct causes *c)
{
	const json_t *name = json_at(job, "metadata", "name", NULL);
	const char *mistake;

	if (!json_is_string(name) || !json_at(job, "spec", "plugins", "svc", NULL))
		return;
	mistake = name_mistake(NAME_LABEL_1035, json_string_value(name));
	if (mistake)
		causes_add_at(c, CAUSE_INVALID, PATH_FIELD(PATH_FIELD(NULL, "metadata"), "name"),
			      name, "with plugin svc it %s", mistake);
}

void job_validate(const json_t *job, const json_t *old, struct causes *causes)
{
	const json_t *spec = json_object_get(job, "spec");
	const struct path *at = PATH_FIELD(NULL, "spec");

	/* What was good enough when it was written stays so. */
	if (old && json_equal(spec, json_object_get(old, "spec")))
		return;
	job_check_frozen(job, old, causes);
	check_tasks(job, spec, at, causes);
	check_plugins(spec, PATH_FIELD(at, "plugins"), causes);
	check_service_name(job, causes);
	job_check_placement(spec, at, causes);
}
