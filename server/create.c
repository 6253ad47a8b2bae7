/* POST: a new object. */
#include <string.h>

#include "server/options.h"
#include "server/write.h"

static int take_name(struct write *w, struct error *err)
{
	json_t *metadata = json_object_get(w->pub.object, "metadata");
	const char *name = meta_str(w->pub.object, "name");
	const char *prefix = meta_str(w->pub.object, "generateName");
	auto_xfree char *made = NULL;

	if (!name && prefix) {
		made = name_generate(w->server->env, prefix);
		json_set_str(metadata, "name", made);
		name = made;
	}
	if (name) {
		w->pub.name = arena_strdup(&w->scratch, name);
		return 0;
	}
	w->pub.name = "";
	causes_add(&w->pub.causes, CAUSE_REQUIRED, "metadata.name", NULL,
		   "name or generateName is required");
	status_invalid(w->pub.kind->name, w->pub.kind->group, "", &w->pub.causes, err);
	return -1;
}

/* What only the server says of an object is not taken from its maker. */
static void stamp(struct write *w)
{
	static const char *const dropped[] = {
		"deletionTimestamp", "deletionGracePeriodSeconds", "managedFields", "selfLink",
		"resourceVersion",
	};
	const struct server_kind *sk = w->kind;
	json_t *metadata = json_object_get(w->pub.object, "metadata");

	for (size_t i = 0; i < ARRAY_LEN(dropped); i++)
		json_object_del(metadata, dropped[i]);
	if ((sk->kind->has_status && !sk->status_on_create) || sk->status_closed)
		json_object_del(w->pub.object, "status");
	stored_stamp(w->server->env, sk->kind, w->pub.ns, w->pub.object);
}

int create_prepare(struct write *w, struct error *err)
{
	w->pub.object = write_take_body(w);
	if (body_check(w, w->pub.object, err))
		return -1;
	if (meta_str(w->pub.object, "resourceVersion"))
		return error_set(err, ERR_INTERNAL,
				 "resourceVersion should not be set on objects to be created");
	if (take_name(w, err))
		return -1;
	stamp(w);
	if (namespace_guard(w, err) || write_load(w, err) || object_check(w, err) ||
	    write_extend(w, err))
		return -1;
	return object_put(w, err);
}

static void create_body(struct server_request *pub, json_t *body, void *arg)
{
	struct request *r = request_of(pub);
	struct write *w;
	struct error err;

	if (!body) {
		error_set(&err, ERR_BAD_REQUEST, "the request has no body");
		respond_error(r, &err, NULL);
		return;
	}
	w = write_create(r->server, r, r->kind, WRITE_CREATE, r->pub.ns, NULL, json_incref(body));
	w->duplicate = r->body_duplicate;
	w->done = write_respond;
	if (options_of_write(r, &w->pub.dry_run, &w->validation, &err))
		write_refuse(w, &err);
	else
		write_run(w);
}

void create_run(struct request *r)
{
	server_read_body(&r->pub, create_body, NULL);
}
