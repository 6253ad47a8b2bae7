#include "member-agent/identity.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/encode.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/pki.h"

#define SECRET      "member-agent"
#define SECRETS     "/api/v1/namespaces/federator-system/secrets"
#define SECRET_PATH SECRETS "/" SECRET

static const struct member {
	const char *name; /* of the file, and the Secret's key */
	size_t offset;
	unsigned mode;
} members[] = {
	{"key.pem", offsetof(struct identity, key_pem), 0600},
	{"request.pem", offsetof(struct identity, csr_pem), 0600},
	{"cert.pem", offsetof(struct identity, cert_pem), 0600},
	{"ca.pem", offsetof(struct identity, ca_pem), 0644},
	{"cluster-uid", offsetof(struct identity, cluster_uid), 0644},
};

static char **field(struct identity *id, const struct member *m)
{
	return (char **)(void *)((char *)id + m->offset);
}

static const char *value(const struct identity *id, const struct member *m)
{
	return *(char *const *)(const void *)((const char *)id + m->offset);
}

void identity_finish(struct identity *id)
{
	for (size_t i = 0; i < ARRAY_LEN(members); i++)
		free(*field(id, &members[i]));
	*id = (struct identity){0};
}

/* --- in a folder --- */

static int load_files(const char *state, struct identity *id, struct error *err)
{
	for (size_t i = 0; i < ARRAY_LEN(members); i++) {
		auto_xfree char *path = xasprintf("%s/%s", state, members[i].name);
		size_t n;

		if (access(path, F_OK))
			continue;
		if (file_read(path, field(id, &members[i]), &n, err))
			return -1;
	}
	return 0;
}

static int save_files(const char *state, const struct identity *id, struct error *err)
{
	if (dir_make(state, 0700, err))
		return -1;
	for (size_t i = 0; i < ARRAY_LEN(members); i++) {
		auto_xfree char *path = xasprintf("%s/%s", state, members[i].name);
		const char *text = value(id, &members[i]);

		if (text && file_write(path, text, strlen(text), members[i].mode, err))
			return -1;
	}
	return 0;
}

/* --- in a Secret --- */

struct identity_call {
	struct kube *member;
	struct kube_call *call;
	json_t *secret; /* to be written */
	void (*loaded)(struct identity *take_id, const struct error *err, void *arg);
	void (*saved)(const struct error *err, void *arg);
	void *arg;
};

static void call_free(struct identity_call *c)
{
	json_decref(c->secret);
	free(c);
}

void identity_cancel(struct identity_call *c)
{
	if (!c)
		return;
	kube_cancel(c->call);
	call_free(c);
}

static void read_secret(const json_t *secret, struct identity *id)
{
	for (size_t i = 0; i < ARRAY_LEN(members); i++) {
		const char *data = json_str_at(secret, "data", members[i].name, NULL);
		struct strbuf text = {0};

		if (data && !base64_decode(&text, data, strlen(data)))
			*field(id, &members[i]) = strbuf_take(&text);
		strbuf_finish(&text);
	}
}

static void on_secret(const struct kube_answer *a, void *arg)
{
	struct identity_call *c = arg;
	struct identity id = {0};
	auto_json *secret = a->ok ? json_parse(a->body, a->size, NULL, NULL) : NULL;

	if (secret)
		read_secret(secret, &id);
	c->loaded(&id, a->ok || a->status == 404 ? NULL : &a->err, c->arg);
	call_free(c);
}

struct identity_call *
identity_load(struct kube *member, const char *state,
	      void (*done)(struct identity *take_id, const struct error *err, void *arg), void *arg)
{
	struct identity id = {0};
	struct identity_call *c;
	struct error err;

	if (state) {
		int rc = load_files(state, &id, &err);

		done(&id, rc ? &err : NULL, arg);
		return NULL;
	}
	c = xnew0(struct identity_call);
	c->loaded = done;
	c->arg = arg;
	c->call = kube_send(
		member, &(struct kube_request){
				.method = "GET", .path = SECRET_PATH, .done = on_secret, .arg = c});
	return c;
}

static void save_finish(struct identity_call *c, const struct error *err)
{
	c->saved(err, c->arg);
	call_free(c);
}

static void on_created(const struct kube_answer *a, void *arg)
{
	save_finish(arg, a->ok ? NULL : &a->err);
}

static void on_put(const struct kube_answer *a, void *arg)
{
	struct identity_call *c = arg;
	auto_xfree char *body = NULL;

	if (a->ok || a->status != 404) {
		save_finish(c, a->ok ? NULL : &a->err);
		return;
	}
	body = json_print(c->secret);
	c->call = kube_send(c->member, &(struct kube_request){.method = "POST",
							      .path = SECRETS,
							      .body = body,
							      .done = on_created,
							      .arg = c});
}

static json_t *secret_tree(const struct identity *id)
{
	json_t *secret = json_pack("{ss,ss,s{ss,ss},ss,s{}}", "apiVersion", "v1", "kind", "Secret",
				   "metadata", "name", SECRET, "namespace", "federator-system",
				   "type", "Opaque", "data");
	json_t *data = json_object_get(secret, "data");

	for (size_t i = 0; i < ARRAY_LEN(members); i++) {
		const char *text = value(id, &members[i]);
		auto_strbuf encoded = {0};

		if (!text)
			continue;
		base64_encode(&encoded, text, strlen(text));
		json_set_str(data, members[i].name, strbuf_str(&encoded));
	}
	return secret;
}

struct identity_call *identity_save(struct kube *member, const char *state,
				    const struct identity *id,
				    void (*done)(const struct error *err, void *arg), void *arg)
{
	auto_xfree char *body = NULL;
	struct identity_call *c;
	struct error err;

	if (state) {
		int rc = save_files(state, id, &err);

		done(rc ? &err : NULL, arg);
		return NULL;
	}
	c = xnew0(struct identity_call);
	c->member = member;
	c->secret = secret_tree(id);
	c->saved = done;
	c->arg = arg;
	body = json_print(c->secret);
	c->call = kube_send(member, &(struct kube_request){.method = "PUT",
							   .path = SECRET_PATH,
							   .body = body,
							   .done = on_put,
							   .arg = c});
	return c;
}
