/*
 * Terms: which process speaks for a cluster. One key per Cluster uid, raised by each hello; every
 * write of an agent compares it, so a deposed one changes nothing here (design document 3).
 *
 * The key lies outside the kind table, so no client ever sees it, but inside the cache's prefix.
 */
#include <string.h>

#include "base/json.h"
#include "federator/hub.h"

#define TERM_PREFIX STORE_PREFIX "federator.dev/terms/"

char *hub_term_key(const char *cluster_uid)
{
	return xasprintf(TERM_PREFIX "%s", cluster_uid);
}

static int find_term(const struct hub *hub, const char *cluster, char **ret_key, int64_t *ret_term,
		     int64_t *ret_revision, char **ret_member, struct error *err)
{
	auto_json *tree = hub_tree(hub, hub_kind("clusters"), NULL, cluster), *term = NULL;
	const char *uid = json_str_at(tree, "metadata", "uid", NULL), *member;
	struct doc *doc;

	if (!uid)
		return error_set(err, ERR_FORBIDDEN, "cluster \"%s\" is not known here", cluster);
	*ret_key = hub_term_key(uid);
	doc = cache_get(hub->cache, *ret_key);
	term = doc ? doc_tree(doc) : NULL;
	*ret_term = json_int_at(term, 0, "term", NULL);
	*ret_revision = doc ? doc->revision : 0;
	if (!ret_member)
		return 0;
	member = json_str_at(term, "memberUID", NULL);
	*ret_member = member ? xstrdup(member) : NULL;
	return 0;
}

/* "<cluster uid>.<term>": the term alone would let the agent of a cluster that was removed speak
 * for the one that joined under its name. 0 when it is of another cluster, or no term at all. */
static int64_t given_term(const char *header, const char *key)
{
	const char *dot = header ? strrchr(header, '.') : NULL;
	const char *uid = key + strlen(TERM_PREFIX);

	if (!dot || strlen(uid) != (size_t)(dot - header) ||
	    strncmp(header, uid, (size_t)(dot - header)))
		return 0;
	return strtoll(dot + 1, NULL, 10);
}

int hub_term_guard(const struct hub *hub, const char *cluster, const char *term_header,
		   struct store_guard *ret_guard, char **ret_key, struct error *err)
{
	auto_xfree char *key = NULL;
	int64_t given, term, revision;

	if (find_term(hub, cluster, &key, &term, &revision, NULL, err))
		return -1;
	given = given_term(term_header, key);
	if (!given)
		return error_set(err, ERR_CONFLICT,
				 "this term is not of cluster \"%s\" as it is known here: it was "
				 "joined anew",
				 cluster);
	if (given > term)
		return error_set(err, ERR_UNAVAILABLE, "this replica has not seen term %lld yet",
				 (long long)given);
	if (given < term)
		return error_set(err, ERR_CONFLICT,
				 "term %lld of cluster \"%s\" is over, %lld is the present one",
				 (long long)given, cluster, (long long)term);
	*ret_guard = (struct store_guard){.key = key, .target = STORE_MOD, .revision = revision};
	*ret_key = take_ptr(key);
	return 0;
}

static void say(struct causes *causes, const char *reason, const char *field,
		const struct error *err)
{
	causes_add(causes, CAUSE_FORBIDDEN, field, NULL, "%s", err->text);
	causes->items[causes->n - 1].reason_override = reason;
}

void hub_say_term(struct causes *causes, const struct error *err)
{
	if (err->code == ERR_CONFLICT)
		say(causes, "TermSuperseded", "Federator-Term", err);
	else if (err->code == ERR_FORBIDDEN)
		say(causes, "ClusterUnknown", "Federator-Term", err);
}

int hub_check_term(const struct hub *hub, struct server_request *r)
{
	auto_xfree char *key = NULL;
	struct causes causes = {0};
	struct store_guard guard;
	struct error err;

	if (!hub_term_guard(hub, r->name, exchange_header(r->x, "Federator-Term"), &guard, &key,
			    &err))
		return 0;
	hub_say_term(&causes, &err);
	server_respond_error(r, &err, &causes);
	causes_finish(&causes);
	return -1;
}

/* --- hello --- */

struct hello {
	struct hub *hub;
	struct server_request *request;
	char *key;
	int64_t term;
};

static void hello_free(struct hello *h)
{
	server_request_unref(h->request);
	free(h->key);
	free(h);
}

static void on_committed(const struct store_result *result, void *arg)
{
	struct hello *h = arg;
	struct error err;

	if (result->outcome == STORE_COMMITTED) {
		int64_t version = version_of(result->revision, 1023);
		char text[24];
		auto_json *body = NULL;

		snprintf(text, sizeof(text), "%lld", (long long)version);
		body = json_pack("{sI,si,ss,si}", "term", (json_int_t)h->term, "incarnation",
				 HUB_INCARNATION, "revision", text, "protocol", HUB_PROTOCOL);
		server_respond(h->request, 200, body);
	} else {
		error_set(&err, ERR_UNAVAILABLE, "hello was not recorded, say it again: %s",
			  result->err.text);
		server_respond_error(h->request, &err, NULL);
	}
	hello_free(h);
}

static json_t *term_tree(const struct hello *h, const char *cluster, const char *member)
{
	return json_pack("{ss,ss,s{ss},sI,ss}", "apiVersion", "federator.dev/v1alpha1", "kind",
			 "Term", "metadata", "name", cluster, "term", (json_int_t)h->term,
			 "memberUID", member);
}

/* An agent waits for what may yet be done here; any other refusal ends it. */
static int not_accepted(struct causes *causes, const char *name, struct error *err)
{
	error_set(err, ERR_FORBIDDEN, "cluster \"%s\" is not accepted", name);
	say(causes, "NotAccepted", "spec.accepted", err);
	return -1;
}

/* A certificate outlives a cluster that was removed and joined again under its name, and a
 * kubeconfig may be pointed elsewhere: both uids must be those that are known. */
static int check_identity(const struct hub *hub, const json_t *cluster, const json_t *body,
			  const char *known_member, struct causes *causes, struct error *err)
{
	const char *uid = json_str_at(body, "clusterUID", NULL);
	const char *member = json_str_at(body, "memberUID", NULL);
	const char *name = json_str_at(cluster, "metadata", "name", NULL);

	if (!json_is_true(json_at(cluster, "spec", "accepted", NULL)))
		return not_accepted(causes, name, err);
	if (!uid || strcmp(uid, json_str_at(cluster, "metadata", "uid", NULL)))
		return error_set(err, ERR_FORBIDDEN,
				 "cluster \"%s\" has another uid here: it was joined anew", name);
	if (!member || !*member)
		return error_set(err, ERR_INVALID, "memberUID: Required value");
	if (known_member && strcmp(known_member, member))
		return error_set(err, ERR_FORBIDDEN,
				 "cluster \"%s\" is another member: its kube-system has uid %s",
				 name, known_member);
	return 0;
}

static bool speaks_protocol(const json_t *body)
{
	const json_t *list = json_object_get(body, "protocols"), *p;
	size_t i;

	json_array_foreach (list, i, p)
		if (json_integer_value(p) == HUB_PROTOCOL)
			return true;
	return false;
}

static int hello_check(struct hub *hub, struct server_request *r, const json_t *body,
		       struct hello *h, int64_t *ret_revision, struct causes *causes,
		       struct error *err)
{
	auto_json *cluster = hub_tree(hub, r->kind, NULL, r->name);
	auto_xfree char *known_member = NULL;
	int64_t term;

	if (!cluster) {
		error_set(err, ERR_NOT_FOUND, "clusters.federator.dev \"%s\" not found", r->name);
		say(causes, "ClusterUnknown", "metadata.name", err);
		return -1;
	}
	if (find_term(hub, r->name, &h->key, &term, ret_revision, &known_member, err) ||
	    check_identity(hub, cluster, body, known_member, causes, err))
		return -1;
	if (!speaks_protocol(body))
		return error_set(err, ERR_INVALID,
				 "protocols: Unsupported value: this federator speaks %d",
				 HUB_PROTOCOL);
	h->term = term + 1;
	return 0;
}

static void hello_body(struct server_request *r, json_t *body, void *arg)
{
	struct hello *h = xnew0(struct hello);
	struct store_guard guard = {.target = STORE_MOD};
	struct store_write write = {0};
	struct causes causes = {0};
	auto_json *tree = NULL;
	auto_strbuf text = {0};
	struct error err;

	h->hub = arg;
	h->request = server_request_ref(r);
	if (hello_check(h->hub, r, body, h, &guard.revision, &causes, &err)) {
		server_respond_error(r, &err, &causes);
		causes_finish(&causes);
		hello_free(h);
		return;
	}
	tree = term_tree(h, r->name, json_str_at(body, "memberUID", NULL));
	json_write(&text, tree);
	guard.key = write.key = h->key;
	write.value = text.bytes;
	write.size = text.size;
	store_commit(h->hub->store,
		     &(struct store_txn){
			     .guards = &guard, .n_guards = 1, .writes = &write, .n_writes = 1},
		     on_committed, h);
}

void hub_hello(struct server_request *r, void *arg)
{
	server_read_body(r, hello_body, arg);
}
