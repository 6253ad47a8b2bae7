/* POST pods/X/binding: puts an unbound pod on a node, once. */
#include <string.h>

#include "base/json.h"
#include "sandbox/sandbox.h"

static void on_bound(const json_t *object, const struct error *err, void *arg)
{
	struct server_request *r = arg;
	auto_json *status = json_pack("{ss,ss,s{},ss}", "kind", "Status", "apiVersion", "v1",
				      "metadata", "status", "Success");

	if (err)
		server_respond_error(r, err, NULL);
	else
		server_respond(r, 201, status);
	server_request_unref(r);
}

static int check_binding(const json_t *pod, const json_t *binding, const char *name,
			 struct error *err)
{
	const char *uid = json_str_at(binding, "metadata", "uid", NULL);
	const char *node = json_str_at(pod, "spec", "nodeName", NULL);

	if (!pod)
		return error_set(err, ERR_NOT_FOUND, "pods \"%s\" not found", name);
	if (!json_str_at(binding, "target", "name", NULL))
		return error_set(err, ERR_INVALID, "target.name: Required value");
	if (uid && strcmp(uid, json_str_at(pod, "metadata", "uid", NULL)))
		return error_set(err, ERR_CONFLICT,
				 "Precondition failed: UID in precondition: %s, UID in object "
				 "meta: %s",
				 uid, json_str_at(pod, "metadata", "uid", NULL));
	if (node && *node)
		return error_set(err, ERR_CONFLICT,
				 "Operation cannot be fulfilled on pods/binding \"%s\": pod %s is "
				 "already assigned to node \"%s\"",
				 name, name, node);
	if (json_at(pod, "metadata", "deletionTimestamp", NULL))
		return error_set(err, ERR_CONFLICT, "pod %s is being deleted", name);
	return 0;
}

static void binding_body(struct server_request *r, json_t *body, void *arg)
{
	struct sandbox *s = arg;
	struct server_change change = {.op = SERVER_UPDATE,
				       .kind = r->kind,
				       .ns = r->ns,
				       .name = r->name,
				       .patch = PATCH_MERGE};
	auto_strbuf key = {0};
	auto_json *pod = NULL, *patch = NULL;
	struct doc *doc;
	struct error err;

	kind_key(r->kind, r->ns, r->name, &key);
	doc = cache_get(s->cache, key.bytes);
	pod = doc ? doc_tree(doc) : NULL;
	if (check_binding(pod, body, r->name, &err)) {
		server_respond_error(r, &err, NULL);
		return;
	}
	patch = json_pack("{s{ss},s{ss}}", "metadata", "resourceVersion",
			  json_str_at(pod, "metadata", "resourceVersion", NULL), "spec", "nodeName",
			  json_str_at(body, "target", "name", NULL));
	change.body = patch;
	server_change(s->server, &change, on_bound, server_request_ref(r));
}

void sandbox_binding(struct server_request *r, void *arg)
{
	server_read_body(r, binding_body, arg);
}
