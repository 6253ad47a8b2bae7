/* PUT and PATCH: another state of an object that is there. */
#include <string.h>

#include "server/options.h"
#include "server/write.h"

/* --- the object as it is wished --- */

/* An operation that has a version of its own, and not that of whatever is there. */
static bool brings_version(const json_t *op)
{
	const char *name = json_str_at(op, "op", NULL);

	return name &&
	       (!strcmp(name, "add") || !strcmp(name, "replace") || !strcmp(name, "test")) &&
	       json_is_string(json_object_get(op, "value"));
}

/* Whether a patch itself says which version it is for; a tree made by it has one all the same,
 * unless the patch takes it away. */
static bool patch_names_version(enum patch_type type, const json_t *patch)
{
	const char *path;
	bool names = false;
	size_t i;
	json_t *op;

	if (type != PATCH_JSON)
		return meta_str(patch, "resourceVersion") != NULL;
	json_array_foreach (patch, i, op) {
		path = json_str_at(op, "path", NULL);
		if (path && !strcmp(path, "/metadata/resourceVersion"))
			names = brings_version(op);
	}
	return names;
}

static int make_object(struct write *w, struct error *err)
{
	if (w->type == WRITE_REPLACE) {
		w->pub.object = write_take_body(w);
		if (body_check(w, w->pub.object, err))
			return -1;
		w->pub.names_version = meta_str(w->pub.object, "resourceVersion") != NULL;
		return 0;
	}
	if (patch_apply(w->patch_type, w->old, w->body, &w->pub.object, err))
		return -1;
	w->pub.names_version = patch_names_version(w->patch_type, w->body) &&
			       meta_str(w->pub.object, "resourceVersion");
	return body_check(w, w->pub.object, err);
}

/* --- what it must agree with --- */

static int needs_version(struct write *w, struct error *err)
{
	const struct kind *k = w->pub.kind;

	causes_add(&w->pub.causes, CAUSE_INVALID, "metadata.resourceVersion", "0",
		   "must be specified for an update");
	status_invalid(k->name, k->group, w->pub.name, &w->pub.causes, err);
	return -1;
}

static int other_uid(struct write *w, const char *uid, const char *is, struct error *err)
{
	auto_xfree char *quoted = xasprintf("\"%.60s\"", uid);
	const struct kind *k = w->pub.kind;
	auto_strbuf resource = {0};

	if (w->type == WRITE_PATCH) {
		causes_add(&w->pub.causes, CAUSE_INVALID, "metadata.uid", quoted,
			   "field is immutable");
		status_invalid(k->name, k->group, w->pub.name, &w->pub.causes, err);
		return -1;
	}
	kind_resource_name(w->pub.kind, &resource);
	return error_set(
		err, ERR_CONFLICT,
		"Operation cannot be fulfilled on %s \"%s\": the uid in the request (%.60s) "
		"is not that of the object (%s)",
		strbuf_str(&resource), w->pub.name, uid, is);
}

static int check_version(struct write *w, struct error *err)
{
	const char *version = meta_str(w->pub.object, "resourceVersion");
	const char *uid = meta_str(w->pub.object, "uid"), *is = meta_str(w->old, "uid");

	if (!version && w->type == WRITE_REPLACE && !w->pub.kind->core)
		return needs_version(w, err);
	if (uid && is && strcmp(uid, is) != 0)
		return other_uid(w, uid, is, err);
	if (version && strcmp(version, meta_str(w->old, "resourceVersion")) != 0)
		return conflict(w->pub.kind, w->pub.name, err);
	return 0;
}

static bool has_text(const json_t *array, const char *text)
{
	size_t i;
	json_t *item;

	json_array_foreach ((json_t *)(uintptr_t)array, i, item)
		if (json_is_string(item) && !strcmp(json_string_value(item), text))
			return true;
	return false;
}

/* A dying object may lose finalizers, but get none. */
static int check_finalizers(struct write *w, struct error *err)
{
	const json_t *was = json_at(w->old, "metadata", "finalizers", NULL);
	const json_t *now = json_at(w->pub.object, "metadata", "finalizers", NULL);
	const struct kind *k = w->pub.kind;
	size_t i;
	json_t *name;

	if (!metadata_is_dying(w->old))
		return 0;
	json_array_foreach ((json_t *)(uintptr_t)now, i, name) {
		if (!json_is_string(name) || has_text(was, json_string_value(name)))
			continue;
		causes_add(&w->pub.causes, CAUSE_FORBIDDEN, "metadata.finalizers", NULL,
			   "no new finalizers can be added if the object is being deleted: %.100s",
			   json_string_value(name));
		status_invalid(k->name, k->group, w->pub.name, &w->pub.causes, err);
		return -1;
	}
	return 0;
}

/* --- what the path may change of it --- */

static void set_or_drop(json_t *object, const char *key, json_t *value)
{
	if (value)
		json_object_set(object, key, value);
	else
		json_object_del(object, key);
}

/* The status subresource changes status alone, the main path all but status. */
static void keep_other_half(struct write *w)
{
	const struct server_kind *sk = w->kind;
	json_t *status = NULL;

	if (*w->pub.subresource) {
		if (!sk->status_closed)
			status = json_incref(json_object_get(w->pub.object, "status"));
		else
			status = json_incref(json_object_get(w->old, "status"));
		json_decref(w->pub.object);
		w->pub.object = json_deep_copy(w->old);
		set_or_drop(w->pub.object, "status", status);
		json_decref(status);
		return;
	}
	if (sk->kind->has_status || sk->status_closed)
		set_or_drop(w->pub.object, "status", json_object_get(w->old, "status"));
	if (is_namespace(sk->kind)) /* its finalizer is the server's */
		set_or_drop(w->pub.object, "spec", json_object_get(w->old, "spec"));
	metadata_keep(w->pub.object, w->old);
}

static void count_generation(struct write *w)
{
	json_t *metadata = json_object_get(w->pub.object, "metadata");

	if (w->pub.kind->has_generation && spec_differs(w->old, w->pub.object))
		json_set_int(metadata, "generation",
			     json_int_at(w->old, 0, "metadata", "generation", NULL) + 1);
}

/* Whether this change was all that a dying object waited for. A namespace waits for its content. */
static bool ends_object(const struct write *w)
{
	return metadata_is_dying(w->old) && !metadata_has_finalizers(w->pub.object) &&
	       !json_int_at(w->old, 0, "metadata", "deletionGracePeriodSeconds", NULL) &&
	       !is_namespace(w->pub.kind);
}

int update_prepare(struct write *w, struct error *err)
{
	if (write_load(w, err) || make_object(w, err) || check_version(w, err))
		return -1;
	keep_other_half(w);
	if (check_finalizers(w, err) || object_check(w, err) || write_extend(w, err))
		return -1;
	count_generation(w);
	if (!w->pub.remove && !ends_object(w))
		return object_put(w, err);
	object_remove(w);
	return 0;
}

/* --- requests --- */

static void update_start(struct request *r, struct write *w)
{
	struct error err;

	w->duplicate = r->body_duplicate;
	w->done = write_respond;
	if (options_of_write(r, &w->pub.dry_run, &w->validation, &err))
		write_refuse(w, &err);
	else
		write_run(w);
}

static void no_body(struct request *r)
{
	struct error err;

	error_set(&err, ERR_BAD_REQUEST, "the request has no body");
	respond_error(r, &err, NULL);
}

static void update_body(struct server_request *pub, json_t *body, void *arg)
{
	struct request *r = request_of(pub);

	if (!body)
		no_body(r);
	else
		update_start(r, write_create(r->server, r, r->kind, WRITE_REPLACE, r->pub.ns,
					     r->pub.name, json_incref(body)));
}

void update_run(struct request *r)
{
	server_read_body(&r->pub, update_body, NULL);
}

static void patch_body(struct exchange *x, const char *bytes, size_t n, void *arg)
{
	struct request *r = arg;
	const enum patch_type *type = r->state;
	struct error err;
	json_t *patch = json_parse(bytes, n, &r->body_duplicate, &err);
	struct write *w;

	if (!patch) {
		respond_error(r, &err, NULL);
		return;
	}
	w = write_create(r->server, r, r->kind, WRITE_PATCH, r->pub.ns, r->pub.name, patch);
	w->patch_type = *type;
	update_start(r, w);
}

void patch_run(struct request *r)
{
	enum patch_type *type = arena_new(&r->arena, enum patch_type);
	struct error err;

	r->state = type;
	if (patch_type_parse(exchange_header(r->pub.x, "Content-Type"), r->pub.kind, type, &err))
		respond_error(r, &err, NULL);
	else
		request_read(r, patch_body);
}
