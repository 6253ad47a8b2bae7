/* Rules of Kubernetes' own kinds beyond their schemas; ConfigMaps and Secrets have a file apart. */
#include <arpa/inet.h>
#include <string.h>

#include "api/kinds.h"
#include "api/names.h"
#include "api/pod_rules.h"
#include "base/json.h"

#define PRIORITY_MAX 1000000000 /* what is above belongs to names that begin with system- */

static void check_same(const json_t *object, const json_t *old, const char *field, struct causes *c)
{
	const json_t *now = json_object_get(object, field), *was = json_object_get(old, field);

	if (old && !json_equal(now, was))
		causes_add_at(c, CAUSE_FORBIDDEN, PATH_FIELD(NULL, field), NULL, "cannot change");
}

void priorityclass_validate(const json_t *class, const json_t *old, struct causes *causes)
{
	const char *name = json_str_at(class, "metadata", "name", NULL);
	const json_t *value = json_object_get(class, "value");

	if (json_integer_value(value) > PRIORITY_MAX && (!name || strncmp(name, "system-", 7)))
		causes_add_at(causes, CAUSE_FORBIDDEN, PATH_FIELD(NULL, "value"), NULL,
			      "at most %d where the name does not begin with system-",
			      PRIORITY_MAX);
	check_same(class, old, "value", causes);
	check_same(class, old, "preemptionPolicy", causes);
}

void csr_validate(const json_t *csr, const json_t *old, struct causes *causes)
{
	check_same(csr, old, "spec", causes);
}

void event_validate(const json_t *event, const json_t *old, struct causes *causes)
{
	const char *ns = json_str_at(event, "metadata", "namespace", NULL);
	const json_t *of = json_at(event, "involvedObject", "namespace", NULL);
	const char *text = json_string_value(of);

	if (ns && text && *text && strcmp(ns, text))
		causes_add_at(causes, CAUSE_INVALID,
			      PATH_FIELD(PATH_FIELD(NULL, "involvedObject"), "namespace"), of,
			      "must be the event's namespace \"%s\"", ns);
}

static bool is_bound(const json_t *pod)
{
	const char *node = json_str_at(pod, "spec", "nodeName", NULL);

	return node && *node;
}

/* What may not change in a pod's spec. */
static json_t *pod_fixed_part(const json_t *pod, const json_t *old)
{
	static const char *const lists[] = {"containers", "initContainers"};
	json_t *spec = json_deep_copy(json_object_get(pod, "spec")), *container;
	size_t i;

	json_object_del(spec, "activeDeadlineSeconds");
	json_object_del(spec, "tolerations");
	json_object_del(spec, "terminationGracePeriodSeconds");
	/* Before it has a node: gates go, and binding, a write like others, sets the node. */
	if (!is_bound(old)) {
		json_object_del(spec, "schedulingGates");
		json_object_del(spec, "nodeName");
	}
	for (size_t l = 0; l < ARRAY_LEN(lists); l++)
		json_array_foreach (json_object_get(spec, lists[l]), i, container)
			json_object_del(container, "image");
	return spec;
}

/* Tolerations may be added; those that are there stay, in their order. */
static bool tolerations_kept(const json_t *pod, const json_t *old)
{
	const json_t *now = json_at(pod, "spec", "tolerations", NULL);
	const json_t *was = json_at(old, "spec", "tolerations", NULL);
	size_t kept = 0;

	for (size_t i = 0; i < json_array_size(now) && kept < json_array_size(was); i++)
		kept += (size_t)json_equal(json_array_get(now, i), json_array_get(was, kept));
	return kept == json_array_size(was);
}

static void check_pod_change(const json_t *pod, const json_t *old, struct causes *c)
{
	auto_json *now = pod_fixed_part(pod, old), *was = pod_fixed_part(old, old);

	if (!json_equal(now, was) || !tolerations_kept(pod, old))
		causes_add_at(
			c, CAUSE_FORBIDDEN, PATH_FIELD(NULL, "spec"), NULL,
			"a pod may not change but for images, activeDeadlineSeconds and added "
			"tolerations");
}

void pod_validate(const json_t *pod, const json_t *old, struct causes *causes)
{
	const json_t *spec = json_object_get(pod, "spec");
	const struct path *at = PATH_FIELD(NULL, "spec");

	if (old)
		check_pod_change(pod, old, causes);
	else
		pod_spec_check(spec, at, causes);
	if (!is_bound(pod))
		return;
	if (!dns_subdomain_ok(json_str_at(spec, "nodeName", NULL)))
		causes_add_at(causes, CAUSE_INVALID, PATH_FIELD(at, "nodeName"),
			      json_object_get(spec, "nodeName"), "must be the name of a node");
	if (json_array_size(json_object_get(spec, "schedulingGates")))
		causes_add_at(causes, CAUSE_FORBIDDEN, PATH_FIELD(at, "nodeName"), NULL,
			      "cannot be set until all schedulingGates have been cleared");
}

void node_validate(const json_t *node, const json_t *old, struct causes *causes)
{
	const struct path *at = PATH_FIELD(NULL, "status");

	amounts_check(json_at(node, "status", "capacity", NULL), PATH_FIELD(at, "capacity"),
		      causes);
	amounts_check(json_at(node, "status", "allocatable", NULL), PATH_FIELD(at, "allocatable"),
		      causes);
}

static void check_service_ports(const json_t *ports, const struct path *at, struct causes *c)
{
	for (size_t i = 0; i < json_array_size(ports) && c->n < CAUSES_ENOUGH; i++) {
		const json_t *name = json_object_get(json_array_get(ports, i), "name");
		const char *text = json_string_value(name);
		const struct path *here = PATH_FIELD(PATH_INDEX(at, i), "name");

		if (text && *text && !dns_label_ok(text))
			causes_add_at(
				c, CAUSE_INVALID, here, name,
				"must consist of lower case letters, digits and '-', and begin and "
				"end with a letter or digit");
		else if ((!text || !*text) && json_array_size(ports) > 1)
			causes_add_at(c, CAUSE_REQUIRED, here, NULL, "several ports need names");
	}
}

static bool address_ok(const char *text)
{
	unsigned char bytes[sizeof(struct in6_addr)];

	return inet_pton(AF_INET, text, bytes) == 1 || inet_pton(AF_INET6, text, bytes) == 1;
}

void service_validate(const json_t *service, const json_t *old, struct causes *causes)
{
	const json_t *spec = json_object_get(service, "spec");
	const json_t *ports = json_object_get(spec, "ports");
	const char *address = json_str_at(spec, "clusterIP", NULL);
	const char *type = json_str_at(spec, "type", NULL);
	const struct path *at = PATH_FIELD(NULL, "spec");
	bool headless = address && !strcmp(address, "None");

	if (!json_array_size(ports) && !headless && (!type || strcmp(type, "ExternalName")))
		causes_add_at(causes, CAUSE_REQUIRED, PATH_FIELD(at, "ports"), NULL, "%s", "");
	check_service_ports(ports, PATH_FIELD(at, "ports"), causes);
	if (address && *address && !headless && !address_ok(address))
		causes_add_at(causes, CAUSE_INVALID, PATH_FIELD(at, "clusterIP"),
			      json_object_get(spec, "clusterIP"), "must be None or an IP address");
}
