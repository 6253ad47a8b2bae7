/*
 * Objects whose owners are all gone go too, by uid, in the background. Follows the cache with an
 * index from owner uid to dependents. An owner whose kind is not served counts as there: who cannot
 * see must not delete.
 */
#include <string.h>

#include "base/log.h"
#include "base/map.h"
#include "base/scan.h"
#include "server/write.h"

#define WAKE_MS       10
#define RETRY_MS      1000
#define LEAD_MS       1000 /* how often a process that does not lead asks again */
#define MAX_IN_FLIGHT 50

struct dependent {
	UT_hash_handle hh;
	char key[];
};

struct owner {
	UT_hash_handle hh;
	struct dependent *dependents;
	char uid[];
};

struct collector {
	struct server *server;
	struct cache_watch *watch;
	struct timer *timer;
	struct owner *owners;
	struct dependent *queue; /* keys to look at, oldest first */
	size_t in_flight;
	bool leads;
};

/* --- sets of keys --- */

static void keys_add(struct dependent **set, const char *key)
{
	size_t n = strlen(key);
	struct dependent *d;

	HASH_FIND(hh, *set, key, n, d);
	if (d)
		return;
	d = xcalloc(1, sizeof(*d) + n + 1);
	memcpy(d->key, key, n);
	HASH_ADD(hh, *set, key, n, d);
}

static void keys_drop(struct dependent **set, struct dependent *d)
{
	HASH_DEL(*set, d);
	free(d);
}

static void keys_remove(struct dependent **set, const char *key)
{
	struct dependent *d;

	HASH_FIND(hh, *set, key, strlen(key), d);
	if (d)
		keys_drop(set, d);
}

static void keys_clear(struct dependent **set)
{
	while (*set)
		keys_drop(set, *set);
}

/* --- the index --- */

static struct owner *owner_find(const struct collector *c, const char *uid, size_t n)
{
	struct owner *o;

	HASH_FIND(hh, c->owners, uid, n, o);
	return o;
}

static struct owner *owner_need(struct collector *c, const char *uid)
{
	size_t n = strlen(uid);
	struct owner *o = owner_find(c, uid, n);

	if (o)
		return o;
	o = xcalloc(1, sizeof(*o) + n + 1);
	memcpy(o->uid, uid, n);
	HASH_ADD(hh, c->owners, uid, n, o);
	return o;
}

static void owner_drop(struct collector *c, struct owner *o)
{
	HASH_DEL(c->owners, o);
	keys_clear(&o->dependents);
	free(o);
}

/* The ownerReferences of a document, NULL when it has none; most have none, so no tree is made. */
static json_t *doc_owners(const struct doc *d)
{
	struct sv raw;

	if (!d ||
	    !scan_find((struct sv){d->bytes, d->size}, &raw, "metadata", "ownerReferences", NULL))
		return NULL;
	return json_loadb(raw.p, raw.n, 0, NULL);
}

static void index_add(struct collector *c, const struct doc *d)
{
	auto_json *refs = doc_owners(d);
	size_t i;
	json_t *ref;

	json_array_foreach (refs, i, ref) {
		const char *uid = json_str_at(ref, "uid", NULL);

		if (uid)
			keys_add(&owner_need(c, uid)->dependents, d->key);
	}
	if (json_array_size(refs) && c->leads)
		keys_add(&c->queue, d->key);
}

static void index_remove(struct collector *c, const struct doc *d)
{
	auto_json *refs = doc_owners(d);
	size_t i;
	json_t *ref;

	json_array_foreach (refs, i, ref) {
		const char *uid = json_str_at(ref, "uid", NULL);
		struct owner *o = uid ? owner_find(c, uid, strlen(uid)) : NULL;

		if (!o)
			continue;
		keys_remove(&o->dependents, d->key);
		if (!o->dependents)
			owner_drop(c, o);
	}
}

static void queue_dependents(struct collector *c, const struct owner *o)
{
	for (struct dependent *d = o->dependents; d; d = d->hh.next)
		keys_add(&c->queue, d->key);
}

static bool index_one(struct doc *d, void *arg)
{
	index_add(arg, d);
	return true;
}

static void index_clear(struct collector *c)
{
	while (c->owners)
		owner_drop(c, c->owners);
	keys_clear(&c->queue);
}

/* --- who has no owner any more --- */

static bool owner_is_there(const struct collector *c, const json_t *object, const json_t *ref)
{
	const char *api_version = json_str_at(ref, "apiVersion", NULL);
	const char *kind = json_str_at(ref, "kind", NULL);
	const char *name = json_str_at(ref, "name", NULL), *uid = json_str_at(ref, "uid", NULL);
	const char *ns = meta_str(object, "namespace");
	const struct server_kind *sk;
	auto_json *owner = NULL;
	auto_strbuf key = {0};
	const struct doc *d;

	if (!api_version || !kind || !name || !uid)
		return true;
	sk = server_find_named(c->server, api_version, kind);
	if (!sk || (sk->kind->namespaced && !ns))
		return true;
	kind_key(sk->kind, sk->kind->namespaced ? ns : NULL, name, &key);
	d = cache_get(c->server->cache, strbuf_str(&key));
	if (!d)
		return false;
	owner = doc_tree(d);
	return meta_str(owner, "uid") && !strcmp(meta_str(owner, "uid"), uid);
}

static bool is_orphan(const struct collector *c, const json_t *object)
{
	const json_t *refs = json_at(object, "metadata", "ownerReferences", NULL);
	size_t i;
	json_t *ref;

	json_array_foreach ((json_t *)(uintptr_t)refs, i, ref)
		if (owner_is_there(c, object, ref))
			return false;
	return json_array_size(refs) > 0;
}

static void wake(struct collector *c, int64_t delay_ms)
{
	if (!timer_active(c->timer))
		timer_start(c->timer, delay_ms);
}

static void on_written(struct write *w, const struct error *err)
{
	struct collector *c = w->server->collector;
	const char *key = w->arg; /* of the write's arena */

	if (!c)
		return;
	c->in_flight--;
	if (err && err->code != ERR_NOT_FOUND && err->code != ERR_CONFLICT) {
		log_warn("collector", "delete %s: %s", key, err->text);
		keys_add(&c->queue, key);
		wake(c, RETRY_MS);
	} else if (c->queue) {
		wake(c, 0);
	}
}

static void delete_orphan(struct collector *c, const struct doc *d, const json_t *object)
{
	const struct server_kind *sk =
		server_find_named(c->server, json_str_at(object, "apiVersion", NULL),
				  json_str_at(object, "kind", NULL));
	struct write *w;

	if (!sk)
		return;
	w = write_create(c->server, NULL, sk, WRITE_DELETE, meta_str(object, "namespace"),
			 meta_str(object, "name"), NULL);
	w->collects = true;
	w->del.uid = arena_strdup(&w->arena, meta_str(object, "uid"));
	w->done = on_written;
	w->arg = arena_strdup(&w->arena, d->key);
	c->in_flight++;
	write_run(w);
}

static void look_at(struct collector *c, const char *key)
{
	auto_free(doc_unref) struct doc *d = cache_get(c->server->cache, key);
	auto_json *object = NULL;

	if (!d)
		return;
	d = doc_ref(d);
	object = doc_tree(d);
	if (!metadata_is_dying(object) && is_orphan(c, object))
		delete_orphan(c, d, object);
}

/* --- following the cache --- */

static void on_event(const struct cache_event *e, void *arg)
{
	struct collector *c = arg;
	const struct owner *o = NULL;
	struct sv uid;

	index_remove(c, e->prev);
	if (e->type != CACHE_DELETED)
		index_add(c, e->doc);
	else if (scan_find_str((struct sv){e->doc->bytes, e->doc->size}, &uid, "metadata", "uid",
			       NULL))
		o = owner_find(c, uid.p, uid.n);
	if (o && c->leads)
		queue_dependents(c, o);
	if (c->queue)
		wake(c, WAKE_MS);
}

static void on_ended(const struct error *err, void *arg)
{
	struct collector *c = arg;

	c->watch = NULL;
	wake(c, WAKE_MS);
}

/* From nothing: the index of all that is there, and the changes from then on. */
static void collector_follow(struct collector *c)
{
	struct cache *cache = c->server->cache;

	index_clear(c);
	c->watch =
		cache_watch(cache, STORE_PREFIX, cache_version(cache), on_event, on_ended, c, NULL);
	if (c->watch)
		cache_each(cache, STORE_PREFIX, NULL, index_one, c);
}

static void collector_lead(struct collector *c)
{
	struct store_guard guard;
	bool leads = server_leads(c->server, &guard);
	struct owner *o;

	if (leads && !c->leads)
		for (o = c->owners; o; o = o->hh.next)
			queue_dependents(c, o);
	if (!leads)
		keys_clear(&c->queue);
	c->leads = leads;
}

static void collector_run(struct collector *c)
{
	if (!c->watch)
		collector_follow(c);
	collector_lead(c);
	while (c->queue && c->in_flight < MAX_IN_FLIGHT) {
		auto_xfree char *key = xstrdup(c->queue->key);

		keys_drop(&c->queue, c->queue);
		look_at(c, key);
	}
	if (!c->watch || !c->leads || c->server->profile->lead)
		wake(c, LEAD_MS);
}

static void on_timer(void *arg)
{
	collector_run(arg);
}

struct collector *collector_create(struct server *s)
{
	struct collector *c = xnew0(struct collector);

	c->server = s;
	c->timer = timer_create_in(s->env, on_timer, c);
	wake(c, 0);
	return c;
}

void collector_destroy(struct collector *c)
{
	if (!c)
		return;
	cache_unwatch(c->watch);
	timer_destroy(c->timer);
	index_clear(c);
	free(c);
}
