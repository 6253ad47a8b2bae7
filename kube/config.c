/* Kubeconfig files, and what a pod finds about its own cluster. */
#include "kube/client.h"

#include <stdlib.h>
#include <string.h>

#include "base/encode.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/pki.h"
#include "base/yaml.h"

#define IN_CLUSTER_DIR "/var/run/secrets/kubernetes.io/serviceaccount"

void kube_config_finish(struct kube_config *c)
{
	free(c->server);
	free(c->ca_pem);
	free(c->cert_pem);
	free(c->key_pem);
	free(c->token);
	free(c->token_file);
	free(c->ns);
	*c = (struct kube_config){0};
}

/* list: [{name, <member>: {...}}] */
static const json_t *find_named(const json_t *list, const char *name, const char *member)
{
	json_t *item;
	size_t i;

	json_array_foreach (list, i, item) {
		const char *n = json_str_at(item, "name", NULL);

		if (n && name && !strcmp(n, name))
			return json_object_get(item, member);
	}
	return NULL;
}

static char *path_beside(const char *config_path, const char *path)
{
	const char *slash = strrchr(config_path, '/');

	if (path[0] == '/' || !slash)
		return xstrdup(path);
	return xasprintf("%.*s/%s", (int)(slash - config_path), config_path, path);
}

/* `key`-data in base64, or a file named by `key`; NULL when neither is given. */
static int read_blob(const json_t *from, const char *key, const char *config_path, char **ret,
		     struct error *err)
{
	auto_xfree char *data_key = xasprintf("%s-data", key);
	const char *data = json_str_at(from, data_key, NULL);
	const char *path = json_str_at(from, key, NULL);
	auto_xfree char *full = NULL;
	struct strbuf out = {0};
	size_t n;

	if (data) {
		if (base64_decode(&out, data, strlen(data))) {
			strbuf_finish(&out);
			return error_set(err, ERR_BAD_REQUEST, "%s: %s is not base64", config_path,
					 data_key);
		}
		*ret = strbuf_take(&out);
		return 0;
	}
	if (!path)
		return 0;
	full = path_beside(config_path, path);
	return file_read(full, ret, &n, err);
}

static int read_user(const json_t *user, const char *config_path, struct kube_config *c,
		     struct error *err)
{
	const char *token = json_str_at(user, "token", NULL);
	const char *token_file = json_str_at(user, "tokenFile", NULL);

	if (token)
		c->token = xstrdup(token);
	if (token_file)
		c->token_file = path_beside(config_path, token_file);
	if (read_blob(user, "client-certificate", config_path, &c->cert_pem, err))
		return -1;
	return read_blob(user, "client-key", config_path, &c->key_pem, err);
}

static int read_context(const json_t *root, const char *config_path, const char *name,
			struct kube_config *c, struct error *err)
{
	const json_t *context = find_named(json_object_get(root, "contexts"), name, "context");
	const char *ns = json_str_at(context, "namespace", NULL), *server;
	const json_t *cluster;

	if (!context)
		return error_set(err, ERR_BAD_REQUEST, "%s has no context \"%s\"", config_path,
				 name ? name : "");
	cluster = find_named(json_object_get(root, "clusters"),
			     json_str_at(context, "cluster", NULL), "cluster");
	server = json_str_at(cluster, "server", NULL);
	if (!server)
		return error_set(err, ERR_BAD_REQUEST, "%s: context \"%s\" names no server",
				 config_path, name);
	c->server = xstrdup(server);
	c->ns = ns ? xstrdup(ns) : NULL;
	if (read_blob(cluster, "certificate-authority", config_path, &c->ca_pem, err))
		return -1;
	return read_user(find_named(json_object_get(root, "users"),
				    json_str_at(context, "user", NULL), "user"),
			 config_path, c, err);
}

static char *default_path(void)
{
	const char *env = getenv("KUBECONFIG"), *home = getenv("HOME");

	if (env && *env)
		return xstrndup(env, strcspn(env, ":"));
	return xasprintf("%s/.kube/config", home ? home : "");
}

int kube_config_parse(const char *file, const char *text, size_t n, const char *context,
		      struct kube_config *ret, struct error *err)
{
	struct kube_config c = {0};
	auto_json *docs = NULL;
	const json_t *root;

	if (yaml_parse_all(text, n, &docs, err))
		return error_prefix(err, "%s", file);
	root = json_array_get(docs, 0);
	if (!context)
		context = json_str_at(root, "current-context", NULL);
	if (read_context(root, file, context, &c, err)) {
		kube_config_finish(&c);
		return -1;
	}
	*ret = c;
	return 0;
}

int kube_config_read(const char *path, const char *context, struct kube_config *ret,
		     struct error *err)
{
	auto_xfree char *file = path ? xstrdup(path) : default_path(), *text = NULL;
	size_t n;

	if (file_read(file, &text, &n, err))
		return -1;
	return kube_config_parse(file, text, n, context, ret, err);
}

int kube_config_in_cluster(struct kube_config *ret, struct error *err)
{
	const char *host = getenv("KUBERNETES_SERVICE_HOST");
	const char *port = getenv("KUBERNETES_SERVICE_PORT");
	struct kube_config c = {0};
	size_t n;

	if (!host || !port)
		return error_set(err, ERR_NOT_FOUND,
				 "not inside a pod: KUBERNETES_SERVICE_HOST is not set");
	c.token_file = xstrdup(IN_CLUSTER_DIR "/token");
	c.server = xasprintf(strchr(host, ':') ? "https://[%s]:%s" : "https://%s:%s", host, port);
	if (file_read(IN_CLUSTER_DIR "/ca.crt", &c.ca_pem, &n, err) ||
	    file_read(IN_CLUSTER_DIR "/namespace", &c.ns, &n, err)) {
		kube_config_finish(&c);
		return -1;
	}
	*ret = c;
	return 0;
}
