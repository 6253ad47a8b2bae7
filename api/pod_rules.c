#include "api/pod_rules.h"

#include <stdlib.h>
#include <string.h>

#include "api/names.h"
#include "api/quantity.h"
#include "base/closest.h"
#include "base/json.h"

static bool is_one_of(const char *text, const char *a, const char *b)
{
	return !strcmp(text, a) || !strcmp(text, b);
}

static bool whole_number(const json_t *value)
{
	const char *text = json_string_value(value);
	char *end;

	if (!text || !*text)
		return false;
	strtoll(text, &end, 10);
	return !*end;
}

static void check_values(const json_t *values, const struct path *at, struct causes *c)
{
	for (size_t i = 0; i < json_array_size(values) && c->n < CAUSES_ENOUGH; i++) {
		const json_t *value = json_array_get(values, i);
		const char *text = json_string_value(value);

		if (text && (strlen(text) > 63 || !label_value_ok(text)))
			causes_add_at(c, CAUSE_INVALID, PATH_INDEX(at, i), value,
				      "must be the value of a label, of at most 63 characters");
	}
}

static void check_expression(const json_t *e, const struct path *at, struct causes *c)
{
	const json_t *values = json_object_get(e, "values");
	const char *op = json_str_at(e, "operator", NULL);
	const char *key = json_str_at(e, "key", NULL);
	size_t n = json_array_size(values);
	const struct path *here = PATH_FIELD(at, "values");

	if (key && !qualified_name_ok(key))
		causes_add_at(c, CAUSE_INVALID, PATH_FIELD(at, "key"), json_object_get(e, "key"),
			      "must be a name such as app or example.com/app");
	if (!op)
		return;
	if (is_one_of(op, "In", "NotIn") && !n)
		causes_add_at(c, CAUSE_REQUIRED, here, NULL, "operator %s needs values", op);
	if (is_one_of(op, "In", "NotIn"))
		check_values(values, here, c);
	if (is_one_of(op, "Exists", "DoesNotExist") && n)
		causes_add_at(c, CAUSE_FORBIDDEN, here, NULL, "operator %s takes no values", op);
	if (is_one_of(op, "Gt", "Lt") && (n != 1 || !whole_number(json_array_get(values, 0))))
		causes_add_at(c, CAUSE_INVALID, here, values, "operator %s needs one whole number",
			      op);
}

void expressions_check(const json_t *expressions, const struct path *at, struct causes *c)
{
	for (size_t i = 0; i < json_array_size(expressions) && c->n < CAUSES_ENOUGH; i++)
		check_expression(json_array_get(expressions, i), PATH_INDEX(at, i), c);
}

/* Devices and the like cannot be cut: names with a domain that is not Kubernetes' own. */
static bool is_extended(const char *name)
{
	return strchr(name, '/') && !strstr(name, "kubernetes.io/");
}

static void check_amount(const char *name, const json_t *value, const struct path *at,
			 struct causes *c)
{
	struct quantity q;
	struct error err;

	if (!qualified_name_ok(name))
		causes_add_at(c, CAUSE_INVALID, at, NULL,
			      "must be a name such as cpu or example.com/device");
	else if (quantity_parse_json(value, &q, &err) < 0)
		causes_add_at(c, CAUSE_INVALID, at, value, "%s", err.text);
	else if (is_extended(name) && q.nano % 1000000000)
		causes_add_at(c, CAUSE_INVALID, at, value, "must be a whole number");
}

void amounts_check(const json_t *amounts, const struct path *at, struct causes *c)
{
	const char *name;
	json_t *value;

	json_object_foreach ((json_t *)(uintptr_t)amounts, name, value) {
		if (c->n >= CAUSES_ENOUGH)
			return;
		check_amount(name, value, PATH_KEY(at, name), c);
	}
}

#define HUGEPAGES "hugepages-"

/* Of those that have no domain; devices have one. */
static const char *const of_containers[] = {"cpu", "memory", "ephemeral-storage", NULL};
static const char *const of_queues[] = {"cpu",  "memory",  "ephemeral-storage",
					"pods", "storage", NULL};

static bool is_known_resource(const char *name, const char *const *known)
{
	for (; *known; known++)
		if (!strcmp(name, *known))
			return true;
	return strchr(name, '/') || !strncmp(name, HUGEPAGES, strlen(HUGEPAGES));
}

/* A misspelled name begins right; "gpu" is not "cpu". */
static const char *closest_resource(const char *name, const char *const *known)
{
	struct closest c;

	closest_init(&c, name, strlen(name));
	for (; *known; known++)
		if (**known == *name)
			closest_offer(&c, *known);
	return c.best;
}

static void fail_resource(const char *name, const char *const *known, const struct path *at,
			  struct causes *c)
{
	const char *near = closest_resource(name, known);
	auto_strbuf names = {0};

	for (; *known; known++)
		strbuf_addf(&names, "%s, ", *known);
	causes_add_at(c, CAUSE_INVALID, at, NULL,
		      "must be %s" HUGEPAGES "<size>, or a name with a domain such as "
		      "nvidia.com/gpu%s%s%s",
		      strbuf_str(&names), near ? "; did you mean \"" : "", near ? near : "",
		      near ? "\"?" : "");
}

static void resource_names_check(const json_t *amounts, const char *const *known,
				 const struct path *at, struct causes *c)
{
	const char *name;
	json_t *value;

	json_object_foreach ((json_t *)(uintptr_t)amounts, name, value)
		if (qualified_name_ok(name) && !is_known_resource(name, known) &&
		    c->n < CAUSES_ENOUGH)
			fail_resource(name, known, PATH_KEY(at, name), c);
}

void container_amounts_check(const json_t *amounts, const struct path *at, struct causes *c)
{
	amounts_check(amounts, at, c);
	resource_names_check(amounts, of_containers, at, c);
}

void queue_amounts_check(const json_t *amounts, const struct path *at, struct causes *c)
{
	amounts_check(amounts, at, c);
	resource_names_check(amounts, of_queues, at, c);
}

static void check_against_limit(const char *name, const json_t *request, const json_t *limit,
				const struct path *at, struct causes *c)
{
	auto_xfree char *text = json_print(limit);
	struct quantity r, l;

	if (quantity_parse_json(request, &r, NULL) < 0 || quantity_parse_json(limit, &l, NULL) < 0)
		return;
	if (r.nano > l.nano)
		causes_add_at(c, CAUSE_INVALID, PATH_KEY(at, name), request,
			      "is more than the limit of %s", text);
	else if (is_extended(name) && r.nano != l.nano)
		causes_add_at(c, CAUSE_INVALID, PATH_KEY(at, name), request,
			      "must equal the limit of %s", text);
}

static void check_resources(const json_t *resources, const struct path *at, struct causes *c)
{
	const json_t *requests = json_object_get(resources, "requests");
	const json_t *limits = json_object_get(resources, "limits");
	const struct path *at_requests = PATH_FIELD(at, "requests");
	const char *name;
	json_t *request;

	container_amounts_check(requests, at_requests, c);
	container_amounts_check(limits, PATH_FIELD(at, "limits"), c);
	json_object_foreach ((json_t *)(uintptr_t)requests, name, request) {
		const json_t *limit = json_object_get(limits, name);

		if (c->n >= CAUSES_ENOUGH)
			return;
		if (limit)
			check_against_limit(name, request, limit, at_requests, c);
		else if (is_extended(name))
			causes_add_at(c, CAUSE_REQUIRED, PATH_KEY(PATH_FIELD(at, "limits"), name),
				      NULL, "must equal the request");
	}
}

/* names: what was seen before, over all lists of containers of the pod. */
static void check_containers(const json_t *containers, const struct path *at, json_t *names,
			     struct causes *c)
{
	size_t i;
	json_t *container;

	json_array_foreach (containers, i, container) {
		const json_t *name = json_object_get(container, "name");
		const char *text = json_string_value(name);
		const struct path *here = PATH_INDEX(at, i);

		if (c->n >= CAUSES_ENOUGH)
			return;
		if (json_object_get(names, text))
			causes_add_at(c, CAUSE_DUPLICATE, PATH_FIELD(here, "name"), name, "%s", "");
		json_object_set_new(names, text, json_true());
		check_resources(json_object_get(container, "resources"),
				PATH_FIELD(here, "resources"), c);
	}
}

void toleration_check(const json_t *t, const struct path *at, struct causes *c)
{
	const char *key = json_str_at(t, "key", NULL);
	const char *op = json_str_at(t, "operator", NULL);
	const char *effect = json_str_at(t, "effect", NULL);
	const char *value = json_str_at(t, "value", NULL);
	bool exists = op && !strcmp(op, "Exists");

	if ((!key || !*key) && !exists)
		causes_add_at(c, CAUSE_INVALID, PATH_FIELD(at, "operator"),
			      json_object_get(t, "operator"), "must be Exists where key is absent");
	if (key && *key && !qualified_name_ok(key))
		causes_add_at(c, CAUSE_INVALID, PATH_FIELD(at, "key"), json_object_get(t, "key"),
			      "must be a name such as app or example.com/app");
	if (exists && value && *value)
		causes_add_at(c, CAUSE_INVALID, PATH_FIELD(at, "value"),
			      json_object_get(t, "value"), "operator Exists takes no value");
	if (json_object_get(t, "tolerationSeconds") && (!effect || strcmp(effect, "NoExecute")))
		causes_add_at(c, CAUSE_INVALID, PATH_FIELD(at, "effect"),
			      json_object_get(t, "effect"),
			      "must be NoExecute where tolerationSeconds is given");
}

static void check_node_term(const json_t *term, const struct path *at, struct causes *c)
{
	expressions_check(json_object_get(term, "matchExpressions"),
			  PATH_FIELD(at, "matchExpressions"), c);
}

static void check_node_affinity(const json_t *spec, const struct path *at, struct causes *c)
{
	static const char required[] = "requiredDuringSchedulingIgnoredDuringExecution";
	static const char preferred[] = "preferredDuringSchedulingIgnoredDuringExecution";
	const json_t *affinity = json_at(spec, "affinity", "nodeAffinity", NULL);
	const json_t *terms = json_at(affinity, required, "nodeSelectorTerms", NULL);
	const json_t *wishes = json_object_get(affinity, preferred);
	const struct path *here = PATH_FIELD(PATH_FIELD(at, "affinity"), "nodeAffinity");
	const struct path *at_terms = PATH_FIELD(PATH_FIELD(here, required), "nodeSelectorTerms");

	for (size_t i = 0; i < json_array_size(terms) && c->n < CAUSES_ENOUGH; i++)
		check_node_term(json_array_get(terms, i), PATH_INDEX(at_terms, i), c);
	for (size_t i = 0; i < json_array_size(wishes) && c->n < CAUSES_ENOUGH; i++)
		check_node_term(
			json_object_get(json_array_get(wishes, i), "preference"),
			PATH_FIELD(PATH_INDEX(PATH_FIELD(here, preferred), i), "preference"), c);
}

static void check_node_selector(const json_t *selector, const struct path *at, struct causes *c)
{
	const char *key;
	json_t *value;

	json_object_foreach ((json_t *)(uintptr_t)selector, key, value)
		if (!qualified_name_ok(key) && c->n < CAUSES_ENOUGH)
			causes_add_at(c, CAUSE_INVALID, PATH_KEY(at, key), NULL,
				      "must be a name such as app or example.com/app");
}

void pod_spec_check(const json_t *spec, const struct path *at, struct causes *c)
{
	const json_t *tolerations = json_object_get(spec, "tolerations");
	auto_json *names = json_object();

	check_containers(json_object_get(spec, "initContainers"), PATH_FIELD(at, "initContainers"),
			 names, c);
	check_containers(json_object_get(spec, "containers"), PATH_FIELD(at, "containers"), names,
			 c);
	check_resources(json_object_get(spec, "resources"), PATH_FIELD(at, "resources"), c);
	check_node_selector(json_object_get(spec, "nodeSelector"), PATH_FIELD(at, "nodeSelector"),
			    c);
	check_node_affinity(spec, at, c);
	for (size_t i = 0; i < json_array_size(tolerations) && c->n < CAUSES_ENOUGH; i++)
		toleration_check(json_array_get(tolerations, i),
				 PATH_INDEX(PATH_FIELD(at, "tolerations"), i), c);
}
