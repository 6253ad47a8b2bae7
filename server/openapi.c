/*
 * OpenAPI v3: one document per group-version, an index with the hash of each in its address, so
 * that clients may keep them for ever. Shapes come from the kinds' schemas.
 */
#include <string.h>

#include "api/schema.h"
#include "server/pages.h"

#define REF_PREFIX "#/components/schemas/"

/* "sh.volcano.batch.v1alpha1.Job": the group backwards, as Kubernetes names its own. */
static void component_name(const struct kind *k, const char *name, struct strbuf *out)
{
	const char *group = *k->group ? k->group : "core";
	const char *end = group + strlen(group);

	while (end > group) {
		const char *dot = end;

		while (dot > group && dot[-1] != '.')
			dot--;
		strbuf_add(out, dot, (size_t)(end - dot));
		strbuf_addc(out, '.');
		end = dot > group ? dot - 1 : group;
	}
	strbuf_addf(out, "%s.%s", k->version, name);
}

static json_t *gvk_json(const struct kind *k, const char *name)
{
	json_t *j = json_object();

	json_set_str(j, "group", k->group);
	json_set_str(j, "kind", name);
	json_set_str(j, "version", k->version);
	return j;
}

static json_t *ref_json(const struct kind *k, const char *name)
{
	auto_strbuf ref = {0};
	json_t *j = json_object();

	strbuf_adds(&ref, REF_PREFIX);
	component_name(k, name, &ref);
	json_set_str(j, "$ref", strbuf_str(&ref));
	return j;
}

static json_t *content_json(const char *const *types, const struct kind *k, const char *name)
{
	json_t *content = json_object();

	for (; *types; types++) {
		json_t *media = json_object();

		json_object_set_new(media, "schema", ref_json(k, name));
		json_object_set_new(content, *types, media);
	}
	return content;
}

/* --- operations --- */

static const struct parameter {
	const char *name, *type, *description;
	unsigned verbs;
} parameters[] = {
	{"dryRun", "string", "All: check everything, store nothing",
	 VERB_CREATE | VERB_UPDATE | VERB_PATCH | VERB_DELETE},
	{"fieldManager", "string", "name of the program that writes",
	 VERB_CREATE | VERB_UPDATE | VERB_PATCH},
	{"fieldValidation", "string",
	 "what happens to fields that the kind does not have: Strict, Warn or Ignore",
	 VERB_CREATE | VERB_UPDATE | VERB_PATCH},
	{"gracePeriodSeconds", "integer", "seconds that the object is left", VERB_DELETE},
	{"propagationPolicy", "string", "what happens to owned objects: Background", VERB_DELETE},
	{"labelSelector", "string", "only objects with these labels", VERB_LIST},
	{"fieldSelector", "string", "only objects with these fields", VERB_LIST},
	{"limit", "integer", "at most so many objects in one page", VERB_LIST},
	{"continue", "string", "the page behind the one that gave this token", VERB_LIST},
	{"resourceVersion", "string", "not older than this version", VERB_LIST | VERB_GET},
	{"resourceVersionMatch", "string", "how resourceVersion is meant", VERB_LIST},
	{"watch", "boolean", "tell changes instead of listing", VERB_LIST},
	{"allowWatchBookmarks", "boolean", "tell versions between changes", VERB_LIST},
	{"sendInitialEvents", "boolean", "a watch begins with the objects that are there",
	 VERB_LIST},
	{"timeoutSeconds", "integer", "how long a watch lasts", VERB_LIST},
};

static json_t *parameter_json(const char *name, const char *in, const char *type,
			      const char *description)
{
	json_t *j = json_object(), *schema = json_object();

	json_set_str(schema, "type", type);
	json_set_str(j, "name", name);
	json_set_str(j, "in", in);
	json_set_str(j, "description", description);
	if (!strcmp(in, "path"))
		json_object_set_new(j, "required", json_true());
	json_object_set_new(j, "schema", schema);
	return j;
}

static json_t *query_parameters(enum verb verb)
{
	json_t *array = json_array();

	for (size_t i = 0; i < ARRAY_LEN(parameters); i++)
		if (parameters[i].verbs & verb)
			json_array_append_new(array, parameter_json(parameters[i].name, "query",
								    parameters[i].type,
								    parameters[i].description));
	return array;
}

static const struct operation {
	enum verb verb;
	const char *method, *action;
	bool named;
} operations[] = {
	{VERB_LIST, "get", "list", false},
	{VERB_CREATE, "post", "post", false},
	{VERB_DELETECOLLECTION, "delete", "deletecollection", false},
	{VERB_GET, "get", "get", true},
	{VERB_UPDATE, "put", "put", true},
	{VERB_PATCH, "patch", "patch", true},
	{VERB_DELETE, "delete", "delete", true},
};

static json_t *request_body(const struct kind *k, enum verb verb)
{
	static const char *const object_types[] = {"application/json", NULL};
	static const char *const core_patches[] = {"application/json-patch+json",
						   "application/merge-patch+json",
						   "application/strategic-merge-patch+json", NULL};
	static const char *const patches[] = {"application/json-patch+json",
					      "application/merge-patch+json", NULL};
	const char *const *types = object_types;
	json_t *j;

	if (!(verb & (VERB_CREATE | VERB_UPDATE | VERB_PATCH)))
		return NULL;
	if (verb == VERB_PATCH)
		types = k->core ? core_patches : patches;
	j = json_object();
	json_object_set_new(j, "content", content_json(types, k, k->name));
	json_object_set_new(j, "required", json_true());
	return j;
}

static json_t *responses(const struct kind *k, enum verb verb)
{
	static const char *const types[] = {"application/json", NULL};
	json_t *j = json_object(), *answer = json_object();

	json_set_str(answer, "description", "OK");
	json_object_set_new(answer, "content",
			    content_json(types, k, verb == VERB_LIST ? k->list_name : k->name));
	json_object_set_new(j, verb == VERB_CREATE ? "201" : "200", answer);
	return j;
}

static json_t *operation_json(const struct kind *k, const struct operation *op)
{
	json_t *j = json_object(), *body = request_body(k, op->verb);

	json_object_set_new(j, "parameters", query_parameters(op->verb));
	if (body)
		json_object_set_new(j, "requestBody", body);
	json_object_set_new(j, "responses", responses(k, op->verb));
	json_set_str(j, "x-kubernetes-action", op->action);
	json_object_set_new(j, "x-kubernetes-group-version-kind", gvk_json(k, k->name));
	return j;
}

static void add_operations(json_t *item, const struct kind *k, unsigned verbs, bool named)
{
	for (size_t i = 0; i < ARRAY_LEN(operations); i++)
		if (operations[i].named == named && (verbs & operations[i].verb))
			json_object_set_new(item, operations[i].method,
					    operation_json(k, &operations[i]));
}

/* A path item with the verbs of the row that it can have; none: no path. */
static void add_path(json_t *paths, const struct kind *k, const char *path, unsigned verbs,
		     bool named)
{
	json_t *item = json_object(), *in_path = json_array();

	add_operations(item, k, verbs, named);
	if (strstr(path, "{namespace}"))
		json_array_append_new(in_path, parameter_json("namespace", "path", "string",
							      "namespace of the object"));
	if (named)
		json_array_append_new(
			in_path, parameter_json("name", "path", "string", "name of the object"));
	if (json_object_size(item) && json_array_size(in_path))
		json_object_set(item, "parameters", in_path);
	json_decref(in_path);
	if (json_object_size(item))
		json_object_set(paths, path, item);
	json_decref(item);
}

static void add_paths(json_t *paths, const struct server_kind *sk)
{
	const struct kind *k = sk->kind;
	const unsigned verbs = server_kind_verbs(sk);
	const unsigned status_verbs = verbs & (VERB_GET | VERB_UPDATE | VERB_PATCH);
	auto_strbuf path = {0};
	size_t base;

	strbuf_addf(&path, "/%s/", *k->group ? "apis" : "api");
	kind_api_version(k, &path);
	base = path.size;
	if (k->namespaced) {
		strbuf_addf(&path, "/%s", k->plural);
		add_path(paths, k, strbuf_str(&path), verbs & VERB_LIST, false);
		strbuf_shrink(&path, base);
		strbuf_adds(&path, "/namespaces/{namespace}");
	}
	strbuf_addf(&path, "/%s", k->plural);
	add_path(paths, k, strbuf_str(&path), verbs, false);
	strbuf_adds(&path, "/{name}");
	add_path(paths, k, strbuf_str(&path), verbs, true);
	strbuf_adds(&path, "/status");
	if (k->has_status)
		add_path(paths, k, strbuf_str(&path), status_verbs, true);
}

/* --- components --- */

static json_t *list_schema(const struct kind *k)
{
	json_t *j = json_object(), *properties = json_object(), *items = json_object();
	json_t *gvks = json_array();

	json_set_str(j, "type", "object");
	json_object_set_new(properties, "apiVersion", json_pack("{ss}", "type", "string"));
	json_object_set_new(properties, "kind", json_pack("{ss}", "type", "string"));
	json_object_set_new(properties, "metadata", json_pack("{ss}", "type", "object"));
	json_set_str(items, "type", "array");
	json_object_set_new(items, "items", ref_json(k, k->name));
	json_object_set_new(properties, "items", items);
	json_object_set_new(j, "properties", properties);
	json_array_append_new(gvks, gvk_json(k, k->list_name));
	json_object_set_new(j, "x-kubernetes-group-version-kind", gvks);
	return j;
}

static void add_components(json_t *schemas, const struct kind *k)
{
	json_t *schema = schema_openapi(kind_schema(k)), *gvks = json_array();
	auto_strbuf name = {0}, list = {0};

	json_array_append_new(gvks, gvk_json(k, k->name));
	json_object_set_new(schema, "x-kubernetes-group-version-kind", gvks);
	component_name(k, k->name, &name);
	json_object_set_new(schemas, strbuf_str(&name), schema);
	component_name(k, k->list_name, &list);
	json_object_set_new(schemas, strbuf_str(&list), list_schema(k));
}

static json_t *document_json(const struct server *s, const struct kind *of)
{
	json_t *j = json_object(), *paths = json_object(), *schemas = json_object();

	json_set_str(j, "openapi", "3.0.0");
	json_object_set_new(
		j, "info", json_pack("{ssss}", "title", "Federator", "version", FEDERATOR_VERSION));
	for (size_t i = 0; i < s->profile->n_kinds; i++) {
		const struct server_kind *sk = &s->profile->kinds[i];

		if (strcmp(sk->kind->group, of->group) != 0 ||
		    strcmp(sk->kind->version, of->version) != 0)
			continue;
		add_paths(paths, sk);
		add_components(schemas, sk->kind);
	}
	json_object_set_new(j, "paths", paths);
	json_object_set_new(j, "components", json_pack("{so}", "schemas", schemas));
	return j;
}

static void add_document(struct server *s, const struct kind *of, json_t *index)
{
	auto_strbuf name = {0}, path = {0}, address = {0};
	json_t *entry = json_object();
	struct page *page;

	strbuf_adds(&name, *of->group ? "apis/" : "api/");
	kind_api_version(of, &name);
	strbuf_addf(&path, "/openapi/v3/%s", strbuf_str(&name));
	page_add(s, strbuf_str(&path), FORM_JSON, document_json(s, of));
	page = &s->pages[s->n_pages - 1];
	page->immutable = true;
	strbuf_addf(&address, "%s?hash=%.32s", strbuf_str(&path), page->etag + 1);
	json_set_str(entry, "serverRelativeURL", strbuf_str(&address));
	json_object_set_new(index, strbuf_str(&name), entry);
}

void openapi_add(struct server *s)
{
	json_t *index = json_object(), *paths = json_object();

	for (size_t i = 0; i < s->profile->n_kinds; i++) {
		const struct kind *k = s->profile->kinds[i].kind;
		auto_strbuf name = {0};

		strbuf_adds(&name, *k->group ? "apis/" : "api/");
		kind_api_version(k, &name);
		if (!json_object_get(paths, strbuf_str(&name)))
			add_document(s, k, paths);
	}
	json_object_set_new(index, "paths", paths);
	page_add(s, "/openapi/v3", FORM_JSON, index);
}
