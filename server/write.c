/*
 * The write pipeline: prepare on the cached object, commit by compare, and where that fails, once
 * more on a fresh view. What prepares is in create.c, update.c and delete.c.
 */
#include <assert.h>
#include <stdarg.h>
#include <string.h>

#include "server/write.h"

static void write_try(struct write *w);

static const enum server_operation operations[] = {
	[WRITE_CREATE] = SERVER_CREATE,
	[WRITE_REPLACE] = SERVER_UPDATE,
	[WRITE_PATCH] = SERVER_UPDATE,
	[WRITE_DELETE] = SERVER_DELETE,
};

static const struct server_user *own_user(void)
{
	static const char *const groups[] = {"system:masters", NULL};
	static const struct server_user user = {"system:server", groups};

	return &user;
}

struct write *write_create(struct server *s, struct request *r, const struct server_kind *kind,
			   enum write_op type, const char *ns, const char *name, json_t *body)
{
	struct write *w = xnew0(struct write);

	server_hold(s);
	if (r)
		request_ref(r);
	w->server = s;
	w->request = r;
	w->kind = kind;
	w->type = type;
	w->body = body;
	w->del.grace_s = -1;
	w->pub.op = operations[type];
	w->pub.request = r ? &r->pub : NULL;
	w->pub.user = r ? &r->user : own_user();
	w->pub.kind = kind->kind;
	w->pub.ns = arena_strdup(&w->arena, ns);
	w->pub.name = arena_strdup(&w->arena, name);
	w->pub.subresource = r ? r->pub.subresource : "";
	return w;
}

static void write_reset(struct write *w)
{
	causes_finish(&w->pub.causes);
	json_decref(w->pub.object);
	json_decref(w->old);
	doc_unref(w->stored);
	free(w->key);
	free(w->status_key);
	arena_finish(&w->scratch);
	w->pub.object = NULL;
	w->pub.old = w->old = NULL;
	w->pub.stored = w->stored = NULL;
	w->pub.remove = false;
	w->key = w->status_key = NULL;
	if (w->type == WRITE_CREATE)
		w->pub.name = NULL; /* each try takes it from the body, or makes one */
	w->n_guards = w->n_writes = w->own_writes = w->whole = w->n_warnings = w->n_unknown = 0;
	w->unchanged = w->removed = false;
	w->about = (struct about){0};
}

static void write_destroy(struct write *w)
{
	struct server *s = w->server;

	write_reset(w);
	json_decref(w->body);
	arena_finish(&w->arena);
	free(w->guards);
	free(w->writes);
	free(w->warnings);
	free(w->unknown);
	request_unref(w->request);
	free(w);
	server_release(s);
}

static void write_finish(struct write *w, const struct error *err)
{
	w->done(w, err);
	write_destroy(w);
}

static bool client_is_gone(const struct write *w)
{
	return w->request && !w->request->pub.x;
}

/* --- on a fresh view --- */

static void on_fresh(const struct error *err, void *arg)
{
	struct write *w = arg;

	if (err) {
		write_finish(w, err);
		return;
	}
	w->pub.fresh = true;
	write_try(w);
}

/* A refusal, or nothing to do, on a view that may be old proves nothing. */
static bool write_refresh(struct write *w)
{
	if (w->pub.fresh || w->tries >= SERVER_MAX_TRIES)
		return false;
	cache_fresh(w->server->cache, on_fresh, w);
	return true;
}

static void write_failed(struct write *w, const struct error *err)
{
	if (client_is_gone(w) || !write_refresh(w))
		write_finish(w, err);
}

/* --- the commit --- */

static void write_committed(struct write *w, const struct store_result *result)
{
	size_t first = w->n_writes - w->own_writes;

	w->version = w->own_writes ? 0 : w->stored->version;
	for (size_t i = first; i < w->n_writes; i++)
		if (result->versions[i] > w->version)
			w->version = result->versions[i];
	metadata_set_version(w->pub.object, w->version);
	write_finish(w, NULL);
}

static void write_lost(struct write *w)
{
	struct error err;

	w->pub.fresh = false;
	if (write_refresh(w))
		return;
	conflict(w->pub.kind, w->pub.name, &err);
	write_finish(w, &err);
}

static void on_commit(const struct store_result *result, void *arg)
{
	struct write *w = arg;

	switch (result->outcome) {
	case STORE_COMMITTED:
		write_committed(w, result);
		break;
	case STORE_CONFLICT:
		write_lost(w);
		break;
	case STORE_FAILED:
	case STORE_UNKNOWN:
		write_finish(w, &result->err);
		break;
	}
}

static void write_commit(struct write *w)
{
	const struct store_txn txn = {.guards = w->guards,
				      .n_guards = w->n_guards,
				      .writes = w->writes,
				      .n_writes = w->n_writes};

	store_commit(w->server->store, &txn, on_commit, w);
}

static int add_lead_guard(struct write *w, struct error *err)
{
	struct store_guard guard = {0};

	if (!w->collects)
		return 0;
	if (!server_leads(w->server, &guard))
		return error_set(err, ERR_UNAVAILABLE, "this process does not lead any more");
	if (guard.key)
		server_write_guard(&w->pub, guard.key, guard.target, guard.revision);
	return 0;
}

static int write_prepare(struct write *w, struct error *err)
{
	if (client_is_gone(w))
		return error_set(err, ERR_CANCELLED, "the client has gone");
	if (add_lead_guard(w, err))
		return -1;
	switch (w->type) {
	case WRITE_CREATE:
		return create_prepare(w, err);
	case WRITE_REPLACE:
	case WRITE_PATCH:
		return update_prepare(w, err);
	case WRITE_DELETE:
		return delete_prepare(w, err);
	}
	return error_set(err, ERR_INTERNAL, "unknown operation");
}

static void write_try(struct write *w)
{
	struct error err;

	write_reset(w);
	w->tries++;
	if (write_prepare(w, &err))
		write_failed(w, &err);
	else if (w->unchanged && write_refresh(w))
		return;
	else if (w->unchanged || w->pub.dry_run)
		write_finish(w, NULL);
	else
		write_commit(w);
}

/* Trees are costly to copy, and a second try is rare: the first one gets the body itself. */
json_t *write_take_body(struct write *w)
{
	if (!w->request)
		return json_deep_copy(w->body);
	return w->body ? take_ptr(w->body) : request_body_again(w->request);
}

void write_run(struct write *w)
{
	write_try(w);
}

void write_refuse(struct write *w, const struct error *err)
{
	write_finish(w, err);
}

/* --- what hooks and preparations add --- */

bool write_has(const struct write *w, const char *key)
{
	for (size_t i = 0; i < w->n_writes; i++)
		if (!strcmp(w->writes[i].key, key))
			return true;
	return false;
}

void server_write_put(struct server_write *pub, const char *key, const void *value, size_t size)
{
	struct write *w = write_of(pub);

	assert(!write_has(w, key));

	GROW(w->writes, w->n_writes, w->cap_writes);
	w->writes[w->n_writes++] = (struct store_write){
		.key = arena_strdup(&w->scratch, key),
		.value = value ? arena_strndup(&w->scratch, value, size) : NULL,
		.size = size};
}

void write_add(struct write *w, const char *key, struct strbuf *value)
{
	server_write_put(&w->pub, key, value ? strbuf_str(value) : NULL, value ? value->size : 0);
}

static bool has_guard(const struct write *w, const char *key, enum store_target target,
		      int64_t revision)
{
	for (size_t i = 0; i < w->n_guards; i++) {
		const struct store_guard *g = &w->guards[i];

		if (!strcmp(g->key, key) && g->target == target && g->revision == revision)
			return true;
	}
	return false;
}

void server_write_guard(struct server_write *pub, const char *key, enum store_target target,
			int64_t revision)
{
	struct write *w = write_of(pub);

	if (has_guard(w, key, target, revision))
		return;
	GROW(w->guards, w->n_guards, w->cap_guards);
	w->guards[w->n_guards++] = (struct store_guard){
		.key = arena_strdup(&w->scratch, key), .target = target, .revision = revision};
}

const char *server_write_header(const struct server_write *w, const char *name)
{
	return w->request && w->request->x ? exchange_header(w->request->x, name) : NULL;
}

void server_write_warn(struct server_write *pub, const char *fmt, ...)
{
	struct write *w = write_of(pub);
	auto_strbuf text = {0};
	va_list ap;

	va_start(ap, fmt);
	strbuf_vaddf(&text, fmt, ap);
	va_end(ap);
	GROW(w->warnings, w->n_warnings, w->cap_warnings);
	w->warnings[w->n_warnings++] = arena_strdup(&w->scratch, strbuf_str(&text));
}

/* --- answers --- */

static json_t *success_status(const struct write *w)
{
	const struct kind *k = w->pub.kind;
	json_t *j = json_object(), *details;

	json_set_str(j, "kind", "Status");
	json_set_str(j, "apiVersion", "v1");
	json_object_set_new(j, "metadata", json_object());
	json_set_str(j, "status", "Success");
	details = json_object_need(j, "details");
	json_set_str(details, "name", w->pub.name);
	if (*k->group)
		json_set_str(details, "group", k->group);
	json_set_str(details, "kind", k->plural);
	json_set_str(details, "uid", meta_str(w->pub.object, "uid"));
	return j;
}

/* What was stored is sent as it is, with its version, and not printed once more. */
static void respond_object(struct write *w)
{
	int status = w->type == WRITE_CREATE ? 201 : 200;
	const struct store_write *stored;
	auto_free(doc_unref) struct doc *d = NULL;
	auto_strbuf out = {0};

	if (!w->version || !w->whole) {
		respond_json(w->request, status, w->pub.object);
		return;
	}
	stored = &w->writes[w->whole - 1];
	d = doc_create(w->key, stored->value, stored->size);
	d->version = w->version;
	doc_write(&out, d);
	respond_bytes(w->request, status, "application/json", strbuf_str(&out), out.size);
}

void write_respond(struct write *w, const struct error *err)
{
	struct request *r = w->request;
	auto_json *status = NULL;

	if (!r->pub.x)
		return;
	r->pub.name = arena_strdup(&r->arena, w->pub.name);
	if (w->about.said)
		r->about = w->about;
	for (size_t i = 0; i < w->n_warnings; i++)
		respond_warning(r, w->warnings[i]);
	if (err) {
		respond_error(r, err, &w->pub.causes);
	} else if (w->type == WRITE_DELETE && w->removed) {
		status = success_status(w);
		respond_json(r, 200, status);
	} else {
		respond_object(w);
	}
}
