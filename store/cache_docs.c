/* The documents of the cache in key order, and how main and status keys become one document. */
#include <assert.h>

#include "base/mem.h"
#include "store/cache_internal.h"

static int entry_compare(const struct cache_entry *a, const struct cache_entry *b)
{
	return strcmp(a->key, b->key);
}

TREE_DEFINE(cache_tree, cache_entry, node, entry_compare)

void cache_docs_init(struct cache_docs *d, const struct cache_join *joins)
{
	RB_INIT(&d->tree);
	d->joins = joins;
}

static void entry_destroy(struct cache_entry *e)
{
	doc_unref(e->main);
	doc_unref(e->joined);
	doc_unref(e->before);
	free(e->status);
	free(e);
}

void cache_docs_finish(struct cache_docs *d)
{
	struct cache_entry *e, *next;

	for (e = RB_MIN(cache_tree, &d->tree); e; e = next) {
		next = RB_NEXT(cache_tree, , e);
		RB_REMOVE(cache_tree, &d->tree, e);
		entry_destroy(e);
	}
}

/* The main key's name for a status key; the key itself otherwise. Caller frees. */
static char *main_key(const struct cache_docs *d, const char *key, bool *ret_is_status)
{
	for (const struct cache_join *j = d->joins; j->main; j++) {
		size_t n = strlen(j->status);

		if (!strncmp(key, j->status, n)) {
			*ret_is_status = true;
			return xasprintf("%s%s", j->main, key + n);
		}
	}
	*ret_is_status = false;
	return xstrdup(key);
}

static struct cache_status *status_create(const struct store_item *item)
{
	struct cache_status *status = xmalloc(sizeof(*status) + item->size);

	status->revision = item->revision;
	status->size = item->size;
	memcpy(status->bytes, item->value, item->size);
	return status;
}

static struct doc *main_create(const struct store_item *item)
{
	struct doc *doc = doc_create(item->key, item->value, item->size);

	doc->version = item->version;
	doc->revision = item->revision;
	doc->create_revision = item->create_revision;
	return doc;
}

struct cache_change *cache_change_create(const struct cache_docs *d, const struct store_item *item,
					 bool deleted)
{
	auto_xfree char *key = NULL;
	struct cache_change *change;
	bool is_status;

	if (!strncmp(item->key, STORE_SESSIONS, strlen(STORE_SESSIONS)))
		return NULL;
	key = main_key(d, item->key, &is_status);
	change = xcalloc(1, sizeof(*change) + strlen(key) + 1);
	memcpy(change->key, key, strlen(key) + 1);
	change->is_status = is_status;
	change->version = item->version;
	if (!deleted && is_status)
		change->status = status_create(item);
	else if (!deleted)
		change->main = main_create(item);
	return change;
}

void cache_change_destroy(struct cache_change *change)
{
	list_remove(&change->link);
	doc_unref(change->main);
	free(change->status);
	free(change);
}

struct cache_entry *cache_docs_seek(const struct cache_docs *d, const char *key, bool behind)
{
	struct cache_entry *e = RB_ROOT(&d->tree), *found = NULL;

	while (e) {
		int order = strcmp(key, e->key);

		if (order < 0 || (!order && !behind)) {
			found = e;
			e = RB_LEFT(e, node);
		} else {
			e = RB_RIGHT(e, node);
		}
	}
	return found;
}

struct cache_entry *cache_docs_find(const struct cache_docs *d, const char *key)
{
	struct cache_entry *e = cache_docs_seek(d, key, false);

	return e && !strcmp(e->key, key) ? e : NULL;
}

struct cache_entry *cache_docs_next(struct cache_entry *e)
{
	return RB_NEXT(cache_tree, , e);
}

static struct cache_entry *entry_need(struct cache_docs *d, const char *key)
{
	struct cache_entry *e = cache_docs_find(d, key);
	size_t size = strlen(key) + 1;

	if (e)
		return e;
	e = xcalloc(1, sizeof(*e) + size);
	memcpy(e->key, key, size);
	RB_INSERT(cache_tree, &d->tree, e);
	return e;
}

void cache_docs_take(struct cache_docs *d, struct cache_change *change, struct list *touched)
{
	struct cache_entry *e = entry_need(d, change->key);

	if (!list_linked(&e->touched))
		e->before = e->joined ? doc_ref(e->joined) : NULL;
	list_remove(&e->touched);
	list_push_back(touched, &e->touched);
	/* a load gives them in the order of keys */
	if (change->version > e->version)
		e->version = change->version;
	if (change->is_status) {
		free(e->status);
		e->status = take_ptr(change->status);
	} else {
		doc_unref(e->main);
		e->main = take_ptr(change->main);
	}
	cache_change_destroy(change);
}

static struct doc *doc_at_version(const struct doc *d, int64_t version)
{
	struct doc *doc = doc_create(d->key, d->bytes, d->size);

	doc->version = version;
	doc->revision = d->revision;
	doc->create_revision = d->create_revision;
	doc->status_revision = d->status_revision;
	return doc;
}

/* What readers see as the status of an object that has none yet; NULL: nothing. */
static const char *initial_status(const struct cache_docs *d, const struct doc *main)
{
	for (const struct cache_join *j = d->joins; j->main; j++)
		if (j->initial && !strncmp(main->key, j->main, strlen(j->main)))
			return j->initial;
	return NULL;
}

static struct doc *entry_bare(const struct cache_docs *d, const struct cache_entry *e)
{
	const char *initial = initial_status(d, e->main);
	struct doc *doc;

	if (!initial)
		return e->main->version == e->version ? doc_ref(e->main)
						      : doc_at_version(e->main, e->version);
	doc = doc_join(e->main, initial, strlen(initial));
	doc->version = e->version;
	return doc;
}

static struct doc *entry_join(const struct cache_docs *d, const struct cache_entry *e)
{
	struct doc *doc;

	if (!e->main)
		return NULL;
	if (!e->status)
		return entry_bare(d, e);
	doc = doc_join(e->main, e->status->bytes, e->status->size);
	doc->version = e->version;
	doc->status_revision = e->status->revision;
	return doc;
}

static void entry_settle(const struct cache_docs *d, struct cache_entry *e,
			 void (*event)(const struct cache_event *e, void *arg), void *arg)
{
	auto_free(doc_unref) struct doc *before = take_ptr(e->before), *gone = NULL;
	struct cache_event out = {.prev = before, .version = e->version};

	doc_unref(e->joined);
	e->joined = entry_join(d, e);
	out.doc = e->joined;
	out.type = before ? CACHE_MODIFIED : CACHE_ADDED;
	if (!e->joined && before) {
		gone = doc_at_version(before, e->version);
		out.doc = gone;
		out.type = CACHE_DELETED;
	}
	if (out.doc && event)
		event(&out, arg);
}

void cache_docs_settle(struct cache_docs *d, struct list *touched,
		       void (*event)(const struct cache_event *e, void *arg), void *arg)
{
	struct cache_entry *e, *next;

	list_for_each_safe (e, next, touched, touched) {
		list_remove(&e->touched);
		entry_settle(d, e, event, arg);
		if (!e->main && !e->status) {
			RB_REMOVE(cache_tree, &d->tree, e);
			entry_destroy(e);
		}
	}
}
