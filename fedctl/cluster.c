/* cluster: lists members, lets them join, keeps jobs away from them. */
#include <string.h>

#include "api/cells.h"
#include "api/meta.h"
#include "api/views.h"
#include "base/encode.h"
#include "base/json.h"
#include "fedctl/columns.h"
#include "fedctl/commands.h"
#include "fedctl/listing.h"
#include "fedctl/output.h"
#include "fedctl/session.h"

#define MERGE_PATCH    "application/merge-patch+json"
#define HUB_NAMESPACE  "federator-system"
#define TOKEN_TTL_NS   (24 * 3600 * 1000000000LL)
#define TOKEN_ID_CHARS 8
#define CORDON_TRIES   5

/* --- list --- */

static bool is_cordon(const json_t *taint)
{
	const char *key = json_str_at(taint, "key", NULL);

	return key && !strcmp(key, CLUSTER_CORDON_TAINT);
}

static bool is_cordoned(const json_t *cluster)
{
	json_t *taint;
	size_t i;

	json_array_foreach (json_at(cluster, "spec", "taints", NULL), i, taint)
		if (is_cordon(taint))
			return true;
	return false;
}

static bool is_accepted(const json_t *cluster)
{
	return json_is_true(json_at(cluster, "spec", "accepted", NULL));
}

static bool is_ready(const json_t *cluster)
{
	const char *ready = json_string_value(cell_condition(cluster, "Ready", "status"));

	return ready && !strcmp(ready, "True");
}

static const char *cluster_state(struct arena *a, const json_t *cluster, int64_t now_ns)
{
	const char *state = is_ready(cluster) ? "Ready" : "Not heard";

	if (!is_accepted(cluster))
		return "Not accepted";
	return is_cordoned(cluster) ? arena_printf(a, "%s, cordoned", state) : state;
}

static const char *cluster_nodes(struct arena *a, const json_t *cluster, int64_t now_ns)
{
	return column_number(a, json_at(cluster, "status", "nodes", NULL));
}

static const char *cluster_version(struct arena *a, const json_t *cluster, int64_t now_ns)
{
	return json_str_at(cluster, "status", "version", NULL);
}

static const char *cluster_free(struct arena *a, const json_t *cluster, int64_t now_ns)
{
	return column_amounts(a, json_at(cluster, "status", "free", NULL));
}

int run_cluster_list(struct session *s)
{
	static const struct layout_column columns[] = {
		{"CLUSTER", column_name},     {"STATE", cluster_state}, {"NODES", cluster_nodes},
		{"VERSION", cluster_version}, {"FREE", cluster_free},   {NULL},
	};

	return listing_run_columns(s, kind_find_typed("clusters"), columns);
}

/* --- token --- */

static json_t *token_secret(const char *id, const char *secret, const char *cluster,
			    int64_t until_ns)
{
	auto_xfree char *name = xasprintf("bootstrap-token-%s", id);
	char until[TIME_SIZE];

	time_format(until, until_ns);
	return json_pack("{ss,ss,s{ss,ss},s{ss,ss,ss}}", "apiVersion", "v1", "kind", "Secret",
			 "metadata", "name", name, "namespace", HUB_NAMESPACE, "stringData",
			 "token-secret", secret, "cluster", cluster, "expiration", until);
}

/* chars: a multiple of 2, at most 32. */
static void random_hex(struct env *env, char *out, size_t chars)
{
	uint64_t words[2] = {env_random(env), env_random(env)};

	hex_encode(out, words, chars / 2);
}

int run_cluster_token_create(struct session *s)
{
	const char *cluster = s->inv->args[0];
	const char *mistake = name_mistake(NAME_CLUSTER, cluster);
	int64_t ttl_ns = given_ns(s->inv, "ttl", TOKEN_TTL_NS);
	char id[TOKEN_ID_CHARS + 1], secret[33];
	auto_xfree char *line = NULL;
	auto_json *body = NULL;
	auto_strbuf path = {0};
	struct error err;

	if (mistake) {
		error_set(&err, ERR_BAD_REQUEST, "cluster \"%s\": the name %s", cluster, mistake);
		return usage_fail(&err);
	}
	random_hex(s->env, id, TOKEN_ID_CHARS);
	random_hex(s->env, secret, sizeof(secret) - 1);
	body = token_secret(id, secret, cluster, env_wall_ns(s->env) + ttl_ns);
	object_path(kind_find_typed("secrets"), HUB_NAMESPACE, NULL, &path);
	if (session_call(s, &(struct call){"POST", path.bytes, body}, NULL, &err))
		return session_fail(s, &err);
	line = xasprintf("%s.%s\n", id, secret);
	print_out(line, strlen(line));
	return EXIT_DONE;
}

/* --- accept, cordon --- */

static int patch_cluster(struct session *s, const json_t *patch, struct error *err)
{
	const struct kind *clusters = kind_find_typed("clusters");
	const char *name = s->inv->args[0];
	auto_strbuf path = {0};

	object_path(clusters, NULL, name, &path);
	strbuf_adds(&path, "?fieldManager=fedctl");
	if (!session_call(s, &(struct call){"PATCH", path.bytes, patch, MERGE_PATCH}, NULL, err))
		return 0;
	if (err->code == ERR_NOT_FOUND)
		session_not_found(s, clusters, NULL, name, err);
	return -1;
}

static int say(const struct session *s, const char *what)
{
	auto_xfree char *line = xasprintf("cluster %s %s\n", s->inv->args[0], what);

	print_out(line, strlen(line));
	return EXIT_DONE;
}

int run_cluster_accept(struct session *s)
{
	auto_json *patch = json_pack("{s{sb}}", "spec", "accepted", 1), *cluster = NULL;
	struct error err;

	if (!session_get(s, kind_find_typed("clusters"), NULL, s->inv->args[0], &cluster, &err)) {
		if (is_accepted(cluster))
			return say(s, "was accepted already");
		if (!patch_cluster(s, patch, &err))
			return say(s, "accepted");
	}
	if (err.code == ERR_NOT_FOUND)
		error_set(&err, ERR_NOT_FOUND,
			  "cluster \"%s\" has not asked to join; start its agent with a token: "
			  "fedctl cluster token create %s",
			  s->inv->args[0], s->inv->args[0]);
	return session_fail(s, &err);
}

/* The taints with or without that of a cordon; NULL when they are so already. */
static json_t *taints_with(const json_t *cluster, bool cordoned)
{
	const json_t *old = json_at(cluster, "spec", "taints", NULL);
	json_t *taints, *taint;
	size_t i;

	if (is_cordoned(cluster) == cordoned)
		return NULL;
	taints = json_array();
	json_array_foreach (old, i, taint)
		if (!is_cordon(taint))
			json_array_append(taints, taint);
	if (cordoned)
		json_array_append_new(taints, json_pack("{ss,ss}", "key", CLUSTER_CORDON_TAINT,
							"effect", "NoSchedule"));
	return taints;
}

/* A merge patch replaces the whole list, so it names the version that it was made from. Returns 1
 * when there was nothing to do. */
static int try_cordon(struct session *s, bool cordoned, struct error *err)
{
	auto_json *cluster = NULL, *patch = NULL;
	json_t *taints;

	if (session_get(s, kind_find_typed("clusters"), NULL, s->inv->args[0], &cluster, err))
		return -1;
	taints = taints_with(cluster, cordoned);
	if (!taints)
		return 1;
	patch = json_pack("{s{ss},s{so}}", "metadata", "resourceVersion",
			  json_str_at(cluster, "metadata", "resourceVersion", NULL), "spec",
			  "taints", taints);
	return patch_cluster(s, patch, err);
}

static int cordon(struct session *s, bool cordoned, const char *done, const char *before)
{
	struct error err;
	int rc = -1;

	for (int i = 0; i < CORDON_TRIES && rc < 0; i++) {
		rc = try_cordon(s, cordoned, &err);
		if (rc < 0 && err.code != ERR_CONFLICT)
			break;
	}
	return rc < 0 ? session_fail(s, &err) : say(s, rc ? before : done);
}

int run_cluster_cordon(struct session *s)
{
	return cordon(s, true, "cordoned: it gets no new jobs", "was cordoned already");
}

int run_cluster_uncordon(struct session *s)
{
	return cordon(s, false, "uncordoned", "was not cordoned");
}
