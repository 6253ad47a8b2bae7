/*
 * Namespaces: they must be there before what is in them, and are emptied before they go. Nothing is
 * created behind a deletionTimestamp, since a create compares the namespace's key; so a view that
 * shows a namespace dying and empty is enough to remove it.
 */
#include <string.h>

#include "base/log.h"
#include "base/scan.h"
#include "server/read.h"
#include "server/write.h"

#define WAKE_MS       10   /* many deletions are looked at together */
#define RETRY_MS      1000 /* after a failure, or while another process leads */
#define MAX_IN_FLIGHT 50

struct namespaces {
	struct server *server;
	const struct server_kind *kind;
	char *prefix; /* of the keys of namespaces */
	struct cache_watch *watch;
	struct timer *timer;
	size_t in_flight;
	bool dying; /* there is a namespace to empty */
};

static void namespaces_follow(struct namespaces *n);

bool is_namespace(const struct kind *k)
{
	return !*k->group && !strcmp(k->plural, "namespaces");
}

struct doc *namespace_get(const struct server *s, const char *ns)
{
	const struct server_kind *sk = server_find_kind(s, "", "v1", "namespaces");
	auto_strbuf key = {0};

	if (!sk)
		return NULL;
	kind_key(sk->kind, NULL, ns, &key);
	return cache_get(s->cache, strbuf_str(&key));
}

static bool doc_is_dying(const struct doc *d)
{
	struct sv value;

	return scan_find_str((struct sv){d->bytes, d->size}, &value, "metadata",
			     "deletionTimestamp", NULL);
}

bool namespace_is_kept(const struct server *s, const char *ns)
{
	for (const char *const *p = s->profile->namespaces; p && *p; p++)
		if (!strcmp(*p, ns))
			return true;
	return false;
}

static int refuse_dying(struct write *w, struct error *err)
{
	auto_xfree char *message = xasprintf("namespace %s is being terminated", w->pub.ns);
	auto_strbuf resource = {0};

	kind_resource_name(w->pub.kind, &resource);
	cause_add(&w->pub.causes, "NamespaceTerminating", "metadata.namespace", message);
	return error_set(err, ERR_FORBIDDEN,
			 "%s \"%s\" is forbidden: unable to create new content in namespace %s "
			 "because it is being terminated",
			 strbuf_str(&resource), w->pub.name, w->pub.ns);
}

int namespace_guard(struct write *w, struct error *err)
{
	const struct server_kind *sk = server_find_kind(w->server, "", "v1", "namespaces");
	const struct doc *d;

	if (!w->pub.ns || !sk)
		return 0;
	d = namespace_get(w->server, w->pub.ns);
	if (!d) {
		w->about =
			(struct about){.said = true, .kind = sk->kind->plural, .name = w->pub.ns};
		return not_found(sk->kind, w->pub.ns, err);
	}
	if (doc_is_dying(d))
		return refuse_dying(w, err);
	server_write_guard(&w->pub, d->key, STORE_MOD, d->revision);
	return 0;
}

/* --- emptying --- */

static void wake(struct namespaces *n, int64_t delay_ms)
{
	if (!timer_active(n->timer))
		timer_start(n->timer, delay_ms);
}

static void on_written(struct write *w, const struct error *err)
{
	struct namespaces *n = w->server->namespaces;

	if (!n)
		return;
	n->in_flight--;
	if (err && err->code != ERR_NOT_FOUND && err->code != ERR_CONFLICT)
		log_warn("namespaces", "delete %s %s/%s: %s", w->pub.kind->plural,
			 w->pub.ns ? w->pub.ns : "", w->pub.name, err->text);
	wake(n, err ? RETRY_MS : WAKE_MS);
}

static void delete_object(struct namespaces *n, const struct server_kind *kind, const char *ns,
			  const char *name, bool emptied)
{
	struct write *w = write_create(n->server, NULL, kind, WRITE_DELETE, ns, name, NULL);

	w->collects = true;
	w->emptied = emptied;
	w->done = on_written;
	n->in_flight++;
	write_run(w);
}

struct emptying {
	struct doc_array docs;
	size_t limit;
	bool any;
};

static bool add_living(struct doc *d, void *arg)
{
	struct emptying *e = arg;

	e->any = true;
	if (!doc_is_dying(d) && e->docs.n < e->limit)
		doc_array_add(&e->docs, d);
	return e->docs.n < e->limit;
}

/* Deletes what is not dying yet; true when there is anything at all. */
static bool empty_kind(struct namespaces *n, const struct server_kind *sk, const char *ns)
{
	struct emptying e = {.limit = MAX_IN_FLIGHT - n->in_flight};
	auto_strbuf prefix = {0};

	kind_key(sk->kind, ns, NULL, &prefix);
	cache_each(n->server->cache, strbuf_str(&prefix), NULL, add_living, &e);
	for (size_t i = 0; i < e.docs.n; i++)
		delete_object(n, sk, ns, strrchr(e.docs.items[i]->key, '/') + 1, false);
	doc_array_finish(&e.docs);
	return e.any;
}

static void empty_namespace(struct namespaces *n, const struct doc *d)
{
	const struct server_profile *p = n->server->profile;
	auto_json *tree = doc_tree(d);
	const char *ns = meta_str(tree, "name");
	bool any = false;

	for (size_t i = 0; i < p->n_kinds; i++)
		if (p->kinds[i].kind->namespaced && empty_kind(n, &p->kinds[i], ns))
			any = true;
	if (!any && !metadata_has_finalizers(tree))
		delete_object(n, n->kind, NULL, ns, true);
}

static bool add_dying(struct doc *d, void *arg)
{
	struct doc_array *dying = arg;

	if (doc_is_dying(d))
		doc_array_add(dying, d);
	return true;
}

static void namespaces_run(struct namespaces *n)
{
	struct doc_array dying = {0};
	struct store_guard guard;

	if (!n->watch)
		namespaces_follow(n);
	if (n->in_flight || !n->watch)
		return;
	cache_each(n->server->cache, n->prefix, NULL, add_dying, &dying);
	n->dying = dying.n > 0;
	if (n->dying && !server_leads(n->server, &guard))
		wake(n, RETRY_MS);
	else
		for (size_t i = 0; i < dying.n; i++)
			empty_namespace(n, dying.items[i]);
	doc_array_finish(&dying);
}

static void on_timer(void *arg)
{
	namespaces_run(arg);
}

/* --- following the cache --- */

static void on_event(const struct cache_event *e, void *arg)
{
	struct namespaces *n = arg;

	if ((n->dying && e->type == CACHE_DELETED) ||
	    (!strncmp(e->doc->key, n->prefix, strlen(n->prefix)) && doc_is_dying(e->doc)))
		wake(n, WAKE_MS);
}

static void on_ended(const struct error *err, void *arg)
{
	struct namespaces *n = arg;

	n->watch = NULL;
	wake(n, WAKE_MS);
}

static void namespaces_follow(struct namespaces *n)
{
	struct cache *c = n->server->cache;

	n->watch = cache_watch(c, STORE_PREFIX, cache_version(c), on_event, on_ended, n, NULL);
	if (!n->watch)
		wake(n, RETRY_MS);
}

struct namespaces *namespaces_create(struct server *s)
{
	const struct server_kind *sk = server_find_kind(s, "", "v1", "namespaces");
	auto_strbuf prefix = {0};
	struct namespaces *n;

	if (!sk)
		return NULL;
	kind_key(sk->kind, NULL, NULL, &prefix);
	n = xnew0(struct namespaces);
	n->prefix = strbuf_take(&prefix);
	n->server = s;
	n->kind = sk;
	n->timer = timer_create_in(s->env, on_timer, n);
	wake(n, WAKE_MS);
	return n;
}

void namespaces_destroy(struct namespaces *n)
{
	if (!n)
		return;
	cache_unwatch(n->watch);
	timer_destroy(n->timer);
	free(n->prefix);
	free(n);
}
