#include "api/references.h"

#include <stdint.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"

struct visitor {
	void (*each)(enum reference_kind kind, json_t *holder, const char *key, bool optional,
		     void *arg);
	void *arg;
};

static void visit(const struct visitor *v, enum reference_kind kind, json_t *holder,
		  const char *key)
{
	if (json_is_string(json_object_get(holder, key)))
		v->each(kind, holder, key, json_is_true(json_object_get(holder, "optional")),
			v->arg);
}

/* {member: {name}} in a container's env and envFrom, and in projected sources. */
static void visit_source(const struct visitor *v, json_t *source)
{
	static const struct {
		const char *member;
		enum reference_kind kind;
	} members[] = {
		{"configMapKeyRef", REFERENCE_CONFIGMAP}, {"secretKeyRef", REFERENCE_SECRET},
		{"configMapRef", REFERENCE_CONFIGMAP},    {"secretRef", REFERENCE_SECRET},
		{"configMap", REFERENCE_CONFIGMAP},       {"secret", REFERENCE_SECRET},
	};

	for (size_t i = 0; i < ARRAY_LEN(members); i++) {
		json_t *holder = json_object_get(source, members[i].member);

		if (holder)
			visit(v, members[i].kind, holder, "name");
	}
}

static void visit_container(const struct visitor *v, json_t *container)
{
	json_t *item;
	size_t i;

	json_array_foreach (json_object_get(container, "env"), i, item)
		visit_source(v, json_object_get(item, "valueFrom"));
	json_array_foreach (json_object_get(container, "envFrom"), i, item)
		visit_source(v, item);
}

static void visit_volume(const struct visitor *v, json_t *volume)
{
	json_t *config_map = json_object_get(volume, "configMap"), *source;
	json_t *secret = json_object_get(volume, "secret");
	size_t i;

	if (config_map)
		visit(v, REFERENCE_CONFIGMAP, config_map, "name");
	if (secret)
		visit(v, REFERENCE_SECRET, secret, "secretName");
	json_array_foreach (json_object_get(json_object_get(volume, "projected"), "sources"), i,
			    source)
		visit_source(v, source);
}

void references_each(json_t *pod_spec,
		     void (*each)(enum reference_kind kind, json_t *holder, const char *key,
				  bool optional, void *arg),
		     void *arg)
{
	static const char *const lists[] = {"initContainers", "containers"};
	struct visitor v = {each, arg};
	json_t *item;
	size_t i;

	for (size_t l = 0; l < ARRAY_LEN(lists); l++)
		json_array_foreach (json_object_get(pod_spec, lists[l]), i, item)
			visit_container(&v, item);
	json_array_foreach (json_object_get(pod_spec, "volumes"), i, item)
		visit_volume(&v, item);
	json_array_foreach (json_object_get(pod_spec, "imagePullSecrets"), i, item)
		visit(&v, REFERENCE_SECRET, item, "name");
}

struct wanted {
	enum reference_kind kind;
	const char *name;
	bool found;
};

static void match(enum reference_kind kind, json_t *holder, const char *key, bool optional,
		  void *arg)
{
	struct wanted *w = arg;

	if (kind == w->kind && !strcmp(json_string_value(json_object_get(holder, key)), w->name))
		w->found = true;
}

bool job_refers_to(const json_t *job, enum reference_kind kind, const char *name)
{
	struct wanted wanted = {.kind = kind, .name = name};
	json_t *task;
	size_t i;

	json_array_foreach (json_at(job, "spec", "tasks", NULL), i, task)
		references_each(json_object_get(json_object_get(task, "template"), "spec"), match,
				&wanted);
	return wanted.found;
}
