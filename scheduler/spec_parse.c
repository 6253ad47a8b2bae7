/*
 * Reading specs from pod templates, and refusing what the core does not decide on.
 */
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "scheduler/model.h"

/* --- what is refused ---------------------------------------------------------------------- */

#define REQUIRED_TERMS "requiredDuringSchedulingIgnoredDuringExecution"

static int refuse(struct error *err, const char *field, const char *what)
{
	return error_set(err, ERR_INVALID, "%s: %s is not supported yet", field, what);
}

static int check_supported(const json_t *pod_spec, struct error *err)
{
	const json_t *affinity = json_at(pod_spec, "affinity", NULL);
	const json_t *spread = json_at(pod_spec, "topologySpreadConstraints", NULL);
	size_t i;
	json_t *c;

	if (json_array_size(json_at(affinity, "podAffinity", REQUIRED_TERMS, NULL)))
		return refuse(err, "affinity.podAffinity." REQUIRED_TERMS, "required pod affinity");
	if (json_array_size(json_at(affinity, "podAntiAffinity", REQUIRED_TERMS, NULL)))
		return refuse(err, "affinity.podAntiAffinity." REQUIRED_TERMS,
			      "required pod anti-affinity");
	json_array_foreach (spread, i, c) {
		const char *when = json_str_at(c, "whenUnsatisfiable", NULL);

		if (!when || strcmp(when, "ScheduleAnyway") != 0)
			return refuse(err, "topologySpreadConstraints", "DoNotSchedule");
	}
	if (json_array_size(json_at(pod_spec, "resourceClaims", NULL)))
		return refuse(err, "resourceClaims", "a pod with resource claims");
	if (json_array_size(json_at(pod_spec, "schedulingGates", NULL)))
		return refuse(err, "schedulingGates", "a pod with scheduling gates");
	return 0;
}

/* --- canonical content -------------------------------------------------------------------- */

static json_t *required_terms(const json_t *pod_spec)
{
	/* Borrowed; jansson has no const iteration over what it will only read. */
	return (json_t *)(uintptr_t)json_at(pod_spec, "affinity", "nodeAffinity", REQUIRED_TERMS,
					    "nodeSelectorTerms", NULL);
}

static void add_ports(json_t *into, const json_t *containers, bool host_network)
{
	const char *other = host_network ? "containerPort" : "hostPort";
	size_t i, k;
	json_t *c, *p;

	json_array_foreach (containers, i, c) {
		json_array_foreach (json_at(c, "ports", NULL), k, p) {
			int64_t port =
				json_int_at(p, json_int_at(p, 0, other, NULL), "hostPort", NULL);

			if (port > 0 && port < 65536)
				json_array_append_new(into, json_integer(port));
		}
	}
}

/* On the host's network every container port is a host port. */
static json_t *host_ports(const json_t *pod_spec)
{
	bool host_network = json_is_true(json_at(pod_spec, "hostNetwork", NULL));
	json_t *ports = json_array();

	add_ports(ports, json_at(pod_spec, "containers", NULL), host_network);
	add_ports(ports, json_at(pod_spec, "initContainers", NULL), host_network);
	return ports;
}

static json_t *node_selector(const json_t *pod_spec, const struct label *labels, size_t n)
{
	json_t *own = (json_t *)(uintptr_t)json_at(pod_spec, "nodeSelector", NULL);
	json_t *all = json_is_object(own) ? json_copy(own) : json_object();

	for (size_t i = 0; i < n; i++)
		json_set_str(all, labels[i].key, labels[i].value);
	return all;
}

static void add_filled(json_t *j, const char *name, json_t *take_part)
{
	if (json_object_size(take_part) || json_array_size(take_part))
		json_object_set_new(j, name, take_part);
	else
		json_decref(take_part);
}

/* What is asked for beside resources. */
static json_t *content(const json_t *pod_spec, const struct label *labels, size_t n_labels)
{
	json_t *j = json_object();
	json_t *tolerations = (json_t *)(uintptr_t)json_at(pod_spec, "tolerations", NULL);
	const char *node = json_str_at(pod_spec, "nodeName", NULL);

	add_filled(j, "selector", node_selector(pod_spec, labels, n_labels));
	json_object_set(j, "terms", required_terms(pod_spec));
	json_object_set(j, "tolerations", tolerations);
	add_filled(j, "ports", host_ports(pod_spec));
	if (node && *node)
		json_set_str(j, "node", node);
	return j;
}

static void add_amount(struct strbuf *key, const struct resource *r)
{
	strbuf_addi(key, (int64_t)strlen(r->name)); /* whatever is in it, it ends there */
	strbuf_addc(key, ':');
	strbuf_adds(key, r->name);
	strbuf_addi(key, r->amount);
	strbuf_addc(key, ',');
}

/* Most pods ask for resources only, and each submission asks here: no tree for those. */
static char *make_key(const struct resource_list *request, const json_t *content)
{
	struct strbuf key = {0};

	for (size_t i = 0; i < request->n; i++)
		if (request->items[i].amount > 0)
			add_amount(&key, &request->items[i]);
	if (json_object_size(content)) {
		auto_xfree char *rest = json_dumps(content, JSON_COMPACT | JSON_SORT_KEYS);

		strbuf_adds(&key, rest);
	}
	return strbuf_take(&key);
}

/* --- from content to a spec --------------------------------------------------------------- */

static char *rule_text(const json_t *e)
{
	const char *key = json_str_at(e, "key", NULL), *op = json_str_at(e, "operator", NULL);
	const json_t *values = json_at(e, "values", NULL);
	struct strbuf b = {.limit = 200};
	size_t i;
	json_t *v;

	if (!strcmp(op, "Exists") || !strcmp(op, "DoesNotExist")) {
		strbuf_addf(&b, "%s%s", *op == 'E' ? "" : "!", key);
		return strbuf_take(&b);
	}
	strbuf_addf(&b, "%s", key);
	if (!strcmp(op, "In"))
		strbuf_adds(&b, "=");
	else if (!strcmp(op, "NotIn"))
		strbuf_adds(&b, "!=");
	else
		strbuf_addf(&b, " %s ", *op == 'G' ? ">" : "<");
	json_array_foreach (values, i, v)
		strbuf_addf(&b, "%s%s", i ? "|" : "", json_string_value(v));
	return strbuf_take(&b);
}

static int add_rule(struct spec_term *t, const json_t *expression, struct error *err)
{
	struct spec_rule *r = &t->rules[t->n];
	auto_json *object = json_object();
	json_t *list = json_array();

	json_object_set_new(object, "matchExpressions", list);
	json_array_append(list, (json_t *)(uintptr_t)expression);
	if (selector_from_object(object, &r->selector, err) < 0)
		return -1;
	r->key = selector_key(r->selector, 0);
	r->architecture = !strcmp(r->key, LABEL_ARCH) || !strcmp(r->key, LABEL_ARCH_BETA);
	r->text = rule_text(expression);
	t->n++;
	return 0;
}

/* Names are longer than label values may be, so no selector can hold them. */
static int add_names(struct spec *s, struct spec_term *t, const json_t *field, struct error *err)
{
	const char *key = json_str_at(field, "key", NULL),
		   *op = json_str_at(field, "operator", NULL);
	const json_t *values = json_at(field, "values", NULL);
	struct spec_rule *r = &t->rules[t->n];
	size_t i;
	json_t *v;

	if (!key || strcmp(key, FIELD_NODE_NAME) != 0)
		return error_set(err, ERR_INVALID, "matchFields: key must be \"%s\"",
				 FIELD_NODE_NAME);
	if (!op || (strcmp(op, "In") != 0 && strcmp(op, "NotIn") != 0))
		return error_set(err, ERR_INVALID, "matchFields: operator must be In or NotIn");
	r->names = arena_array(&s->arena, const char *, json_array_size(values) + 1);
	json_array_foreach (values, i, v) {
		if (!json_is_string(v))
			return error_set(err, ERR_INVALID, "matchFields: values must be texts");
		r->names[r->n_names++] = arena_strdup(&s->arena, json_string_value(v));
	}
	r->key = FIELD_NODE_NAME;
	r->except = !strcmp(op, "NotIn");
	r->text = rule_text(field);
	t->n++;
	return 0;
}

static int add_equal(struct spec_term *t, const char *key, const json_t *value, struct error *err)
{
	auto_json *e = json_object();
	json_t *values = json_array();

	json_set_str(e, "key", key);
	json_set_str(e, "operator", "In");
	json_object_set_new(e, "values", values);
	json_array_append(values, (json_t *)(uintptr_t)value);
	return add_rule(t, e, err);
}

static int add_node_name(struct spec *s, const json_t *node, struct error *err)
{
	auto_json *field = json_object();
	json_t *values = json_array();

	json_set_str(field, "key", FIELD_NODE_NAME);
	json_set_str(field, "operator", "In");
	json_object_set_new(field, "values", values);
	json_array_append(values, (json_t *)(uintptr_t)node);
	return add_names(s, &s->all, field, err);
}

static int parse_selector(struct spec *s, const json_t *content, struct error *err)
{
	json_t *selector = json_object_get(content, "selector");
	json_t *node = json_object_get(content, "node");
	const char *key;
	json_t *value;

	s->all.rules = arena_array(&s->arena, struct spec_rule, json_object_size(selector) + 2);
	json_object_foreach (selector, key, value)
		if (add_equal(&s->all, key, value, err) < 0)
			return error_prefix(err, "nodeSelector");
	return node ? add_node_name(s, node, err) : 0;
}

static int parse_term(struct spec *s, struct spec_term *t, const json_t *term, struct error *err)
{
	const json_t *labels = json_at(term, "matchExpressions", NULL);
	const json_t *fields = json_at(term, "matchFields", NULL);
	size_t i;
	json_t *e;

	t->rules = arena_array(&s->arena, struct spec_rule,
			       json_array_size(labels) + json_array_size(fields) + 1);
	json_array_foreach (labels, i, e)
		if (add_rule(t, e, err) < 0)
			return -1;
	json_array_foreach (fields, i, e)
		if (add_names(s, t, e, err) < 0)
			return -1;
	return 0;
}

/* Kubernetes: an empty term matches no node; a list of only such terms neither. */
static int parse_terms(struct spec *s, const json_t *terms, struct error *err)
{
	size_t i;
	json_t *t;

	s->any = arena_array(&s->arena, struct spec_term, json_array_size(terms) + 1);
	json_array_foreach (terms, i, t) {
		struct spec_term *term = &s->any[s->n_any];

		s->n_any++;
		if (parse_term(s, term, t, err) < 0)
			return error_prefix(err,
					    "affinity.nodeAffinity." REQUIRED_TERMS
					    ".nodeSelectorTerms[%zu]",
					    i);
		if (!term->n)
			s->n_any--;
	}
	if (terms && !s->n_any)
		return error_set(
			err, ERR_INVALID,
			"affinity.nodeAffinity." REQUIRED_TERMS
			".nodeSelectorTerms: no term requires anything, so no node matches");
	return 0;
}

static void parse_ports(struct model *m, struct spec *s, const json_t *list)
{
	int32_t *ports = arena_array(&s->arena, int32_t, json_array_size(list) + 1);
	size_t i;
	json_t *p;

	json_array_foreach (list, i, p)
		ports[i] = (int32_t)json_integer_value(p);
	s->ports = port_set_intern(&m->port_sets, ports, json_array_size(list));
}

static int parse(struct model *m, struct spec *s, const json_t *content, struct error *err)
{
	if (parse_selector(s, content, err) < 0 ||
	    parse_terms(s, json_object_get(content, "terms"), err) < 0 ||
	    tolerations_parse(&s->arena, json_object_get(content, "tolerations"), &s->tolerations,
			      &s->n_tolerations, err) < 0)
		return -1;
	parse_ports(m, s, json_object_get(content, "ports"));
	return 0;
}

static void register_spec(struct model *m, struct spec *s)
{
	size_t id = 0;

	while (id < m->n_specs && m->specs_by_id[id])
		id++;
	if (id == m->n_specs) {
		GROW(m->specs_by_id, m->n_specs, m->cap_specs);
		m->n_specs++;
	}
	m->specs_by_id[id] = s;
	s->id = (int)id;
	s->serial = ++m->spec_serial;
	HASH_ADD_KEYPTR(hh, m->specs, s->key, strlen(s->key), s);
}

int spec_intern(struct model *m, const json_t *pod_spec, const struct resource_list *request,
		const struct label *labels, size_t n_labels, struct spec **ret, struct error *err)
{
	auto_json *j = NULL;
	auto_xfree char *key = NULL;
	struct spec *s;

	if (check_supported(pod_spec, err) < 0)
		return -1;
	j = content(pod_spec, labels, n_labels);
	key = make_key(request, j);
	HASH_FIND_STR(m->specs, key, s);
	if (s) {
		s->refs++;
		*ret = s;
		return 0;
	}
	s = xnew0(struct spec);
	s->id = -1;
	s->refs = 1;
	if (parse(m, s, j, err) < 0) {
		spec_unref(m, s);
		return -1;
	}
	s->key = take_ptr(key);
	resource_list_add(&s->arena, &s->request, request, 1);
	register_spec(m, s);
	*ret = s;
	return 0;
}
