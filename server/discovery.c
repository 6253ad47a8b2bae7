/*
 * What is served, told in three ways: legacy lists, and the aggregated form in v2 and v2beta1. The
 * order of the profile's kinds is the order of groups, which is clients' precedence.
 */
#include <string.h>

#include "server/pages.h"

static const struct {
	enum verb verb;
	const char *name;
} verb_names[] = {
	{VERB_CREATE, "create"},
	{VERB_DELETE, "delete"},
	{VERB_DELETECOLLECTION, "deletecollection"},
	{VERB_GET, "get"},
	{VERB_LIST, "list"},
	{VERB_PATCH, "patch"},
	{VERB_UPDATE, "update"},
	{VERB_WATCH, "watch"},
};

static json_t *verbs_json(unsigned verbs)
{
	json_t *array = json_array();

	for (size_t i = 0; i < ARRAY_LEN(verb_names); i++)
		if (verbs & verb_names[i].verb)
			json_array_append_new(array, json_string(verb_names[i].name));
	return array;
}

static void set_texts(json_t *object, const char *key, const char *const *texts)
{
	json_t *array;

	if (!texts || !texts[0])
		return;
	array = json_array();
	for (; *texts; texts++)
		json_array_append_new(array, json_string(*texts));
	json_object_set_new(object, key, array);
}

/* --- subresources: /status by the kind's row, the others by the profile's routes --- */

static const char *verb_of_method(const char *method)
{
	static const char *const names[][2] = {{"GET", "get"},
					       {"POST", "create"},
					       {"PUT", "update"},
					       {"PATCH", "patch"},
					       {"DELETE", "delete"}};

	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		if (!strcmp(names[i][0], method))
			return names[i][1];
	return "";
}

/* True when a row above this one has the same subresource: the first stands for all. */
static bool is_repeated(const struct server_profile *p, size_t row)
{
	for (size_t i = 0; i < row; i++)
		if (p->routes[i].kind == p->routes[row].kind &&
		    !strcmp(p->routes[i].subresource, p->routes[row].subresource))
			return true;
	return false;
}

static json_t *route_verbs(const struct server_profile *p, const struct server_route *of)
{
	json_t *array = json_array();

	for (size_t i = 0; i < p->n_routes; i++)
		if (p->routes[i].kind == of->kind &&
		    !strcmp(p->routes[i].subresource, of->subresource))
			json_array_append_new(array,
					      json_string(verb_of_method(p->routes[i].method)));
	return array;
}

struct subresource {
	const char *name, *response_kind;
	json_t *verbs; /* owned by whoever is called with it */
};

static void each_subresource(const struct server *s, const struct server_kind *sk,
			     void (*fn)(const struct server_kind *sk, struct subresource *sub,
					void *arg),
			     void *arg)
{
	const struct server_profile *p = s->profile;
	const unsigned status_verbs = VERB_GET | VERB_PATCH | VERB_UPDATE;
	struct subresource sub;

	if (sk->kind->has_status) {
		sub = (struct subresource){"status", sk->kind->name,
					   verbs_json(status_verbs & server_kind_verbs(sk))};
		fn(sk, &sub, arg);
	}
	for (size_t i = 0; i < p->n_routes; i++) {
		const struct server_route *route = &p->routes[i];

		if (route->kind != sk->kind || is_repeated(p, i))
			continue;
		sub = (struct subresource){route->subresource,
					   route->response_kind ? route->response_kind
								: sk->kind->name,
					   route_verbs(p, route)};
		fn(sk, &sub, arg);
	}
}

/* --- legacy: one list per group-version --- */

static json_t *legacy_kind(const struct server_kind *sk)
{
	const struct kind *k = sk->kind;
	json_t *j = json_object();

	json_set_str(j, "name", k->plural);
	json_set_str(j, "singularName", k->singular);
	json_object_set_new(j, "namespaced", json_boolean(k->namespaced));
	json_set_str(j, "kind", k->name);
	json_object_set_new(j, "verbs", verbs_json(server_kind_verbs(sk)));
	set_texts(j, "shortNames", k->short_names);
	set_texts(j, "categories", k->categories);
	return j;
}

static void legacy_subresource(const struct server_kind *sk, struct subresource *sub, void *arg)
{
	auto_xfree char *name = xasprintf("%s/%s", sk->kind->plural, sub->name);
	json_t *resources = arg, *j = json_object();

	json_set_str(j, "name", name);
	json_set_str(j, "singularName", "");
	json_object_set_new(j, "namespaced", json_boolean(sk->kind->namespaced));
	json_set_str(j, "kind", sub->response_kind);
	json_object_set_new(j, "verbs", sub->verbs);
	json_array_append_new(resources, j);
}

static bool same_group_version(const struct kind *a, const struct kind *b)
{
	return !strcmp(a->group, b->group) && !strcmp(a->version, b->version);
}

static void add_legacy_list(struct server *s, const struct kind *of)
{
	json_t *j = json_object(), *resources = json_array();
	auto_strbuf gv = {0}, path = {0};

	kind_api_version(of, &gv);
	strbuf_addf(&path, "/%s/%s", *of->group ? "apis" : "api", strbuf_str(&gv));
	json_set_str(j, "kind", "APIResourceList");
	json_set_str(j, "apiVersion", "v1");
	json_set_str(j, "groupVersion", strbuf_str(&gv));
	json_object_set_new(j, "resources", resources);
	for (size_t i = 0; i < s->profile->n_kinds; i++) {
		const struct server_kind *sk = &s->profile->kinds[i];

		if (!same_group_version(sk->kind, of))
			continue;
		json_array_append_new(resources, legacy_kind(sk));
		each_subresource(s, sk, legacy_subresource, resources);
	}
	page_add(s, strbuf_str(&path), FORM_JSON, j);
}

/* --- groups --- */

static json_t *group_version(const struct kind *k)
{
	json_t *j = json_object();
	auto_strbuf gv = {0};

	kind_api_version(k, &gv);
	json_set_str(j, "groupVersion", strbuf_str(&gv));
	json_set_str(j, "version", k->version);
	return j;
}

/* The first kind of its group (or of its group-version) in the profile? */
static bool is_first(const struct server *s, size_t row, bool of_version)
{
	const struct kind *k = s->profile->kinds[row].kind;

	for (size_t i = 0; i < row; i++) {
		const struct kind *other = s->profile->kinds[i].kind;

		if (of_version ? same_group_version(other, k) : !strcmp(other->group, k->group))
			return false;
	}
	return true;
}

static json_t *legacy_group(const struct server *s, const struct kind *first)
{
	json_t *j = json_object(), *versions = json_array();

	json_set_str(j, "name", first->group);
	json_object_set_new(j, "versions", versions);
	for (size_t i = 0; i < s->profile->n_kinds; i++) {
		const struct kind *k = s->profile->kinds[i].kind;

		if (!strcmp(k->group, first->group) && is_first(s, i, true))
			json_array_append_new(versions, group_version(k));
	}
	json_object_set_new(j, "preferredVersion", group_version(first));
	return j;
}

static void add_group_page(struct server *s, json_t *group, const char *name)
{
	auto_xfree char *path = xasprintf("/apis/%s", name);
	json_t *j = json_object();

	json_set_str(j, "kind", "APIGroup");
	json_set_str(j, "apiVersion", "v1");
	json_object_update(j, group);
	page_add(s, path, FORM_JSON, j);
}

static void add_legacy(struct server *s)
{
	json_t *groups = json_array();
	json_t *apis = json_object(), *api = json_object();

	for (size_t i = 0; i < s->profile->n_kinds; i++) {
		const struct kind *k = s->profile->kinds[i].kind;

		if (is_first(s, i, true))
			add_legacy_list(s, k);
		if (*k->group && is_first(s, i, false)) {
			json_t *group = legacy_group(s, k);

			add_group_page(s, group, k->group);
			json_array_append_new(groups, group);
		}
	}
	json_set_str(apis, "kind", "APIGroupList");
	json_set_str(apis, "apiVersion", "v1");
	json_object_set_new(apis, "groups", groups);
	page_add(s, "/apis", FORM_JSON, apis);
	json_set_str(api, "kind", "APIVersions");
	json_object_set_new(api, "versions", json_pack("[s]", "v1"));
	page_add(s, "/api", FORM_JSON, api);
}

/* --- aggregated --- */

static json_t *response_kind(const struct kind *k, const char *name)
{
	json_t *j = json_object();

	json_set_str(j, "group", k->group);
	json_set_str(j, "version", k->version);
	json_set_str(j, "kind", name);
	return j;
}

static void aggregated_subresource(const struct server_kind *sk, struct subresource *sub, void *arg)
{
	json_t *list = arg, *j = json_object();

	json_set_str(j, "subresource", sub->name);
	json_object_set_new(j, "responseKind", response_kind(sk->kind, sub->response_kind));
	json_object_set_new(j, "verbs", sub->verbs);
	json_array_append_new(list, j);
}

static json_t *aggregated_kind(const struct server *s, const struct server_kind *sk)
{
	const struct kind *k = sk->kind;
	json_t *j = json_object(), *subresources = json_array();

	json_set_str(j, "resource", k->plural);
	json_object_set_new(j, "responseKind", response_kind(k, k->name));
	json_set_str(j, "scope", k->namespaced ? "Namespaced" : "Cluster");
	json_set_str(j, "singularResource", k->singular);
	json_object_set_new(j, "verbs", verbs_json(server_kind_verbs(sk)));
	set_texts(j, "shortNames", k->short_names);
	set_texts(j, "categories", k->categories);
	each_subresource(s, sk, aggregated_subresource, subresources);
	if (json_array_size(subresources))
		json_object_set(j, "subresources", subresources);
	json_decref(subresources);
	return j;
}

static json_t *aggregated_version(const struct server *s, const struct kind *of)
{
	json_t *j = json_object(), *resources = json_array();

	json_set_str(j, "version", of->version);
	json_object_set_new(j, "resources", resources);
	for (size_t i = 0; i < s->profile->n_kinds; i++)
		if (same_group_version(s->profile->kinds[i].kind, of))
			json_array_append_new(resources, aggregated_kind(s, &s->profile->kinds[i]));
	json_set_str(j, "freshness", "Current");
	return j;
}

static json_t *aggregated_group(const struct server *s, const struct kind *first)
{
	json_t *j = json_object(), *versions = json_array();
	json_t *metadata = json_object_need(j, "metadata");

	if (*first->group)
		json_set_str(metadata, "name", first->group);
	for (size_t i = 0; i < s->profile->n_kinds; i++) {
		const struct kind *k = s->profile->kinds[i].kind;

		if (!strcmp(k->group, first->group) && is_first(s, i, true))
			json_array_append_new(versions, aggregated_version(s, k));
	}
	json_object_set_new(j, "versions", versions);
	return j;
}

static void add_aggregated(struct server *s, const char *path, bool core, enum form form)
{
	json_t *j = json_object(), *items = json_array();

	json_set_str(j, "kind", "APIGroupDiscoveryList");
	json_set_str(j, "apiVersion",
		     form == FORM_DISCOVERY_V2 ? "apidiscovery.k8s.io/v2"
					       : "apidiscovery.k8s.io/v2beta1");
	json_object_set_new(j, "metadata", json_object());
	json_object_set_new(j, "items", items);
	for (size_t i = 0; i < s->profile->n_kinds; i++) {
		const struct kind *k = s->profile->kinds[i].kind;

		if (!*k->group == core && is_first(s, i, false))
			json_array_append_new(items, aggregated_group(s, k));
	}
	page_add(s, path, form, j);
}

void discovery_add(struct server *s)
{
	add_legacy(s);
	for (enum form f = FORM_DISCOVERY_V2; f <= FORM_DISCOVERY_V2BETA1; f++) {
		add_aggregated(s, "/api", true, f);
		add_aggregated(s, "/apis", false, f);
	}
}
