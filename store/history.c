#include "store/history.h"

#include <assert.h>

#include "base/mem.h"

/* Trimming is done in steps, so that one put does not pay for each of the others. */
#define HISTORY_SLACK 1024

static int key_compare(const struct history_key *a, const struct history_key *b)
{
	return strcmp(a->name, b->name);
}

TREE_DEFINE(history_tree, history_key, node, key_compare)

static void key_unref(struct history_key *k)
{
	if (!--k->refs)
		free(k);
}

struct history_change *history_change_ref(struct history_change *c)
{
	c->refs++;
	return c;
}

void history_change_unref(struct history_change *c)
{
	if (--c->refs)
		return;
	key_unref(c->key);
	free(c);
}

void history_init(struct history *h)
{
	*h = (struct history){.revision = 1};
	RB_INIT(&h->keys);
}

/* A key to search with; it is not in the tree. */
static struct history_key *key_create(const char *name)
{
	size_t size = strlen(name) + 1;
	struct history_key *k = xcalloc(1, sizeof(*k) + size);

	memcpy(k->name, name, size);
	list_init(&k->changes);
	k->refs = 1;
	return k;
}

/* The first key at or behind name. */
static struct history_key *keys_seek(const struct history *h, const char *name)
{
	struct history_key *k = RB_ROOT(&h->keys), *found = NULL;

	while (k) {
		int order = strcmp(name, k->name);

		if (order <= 0)
			found = k;
		if (!order)
			break;
		k = order < 0 ? RB_LEFT(k, node) : RB_RIGHT(k, node);
	}
	return found;
}

static struct history_key *keys_find(const struct history *h, const char *name)
{
	struct history_key *k = keys_seek(h, name);

	return k && !strcmp(k->name, name) ? k : NULL;
}

static struct history_change *key_newest(const struct history_key *k)
{
	return list_entry(k->changes.head.prev, struct history_change, link);
}

static struct history_change *key_at(const struct history_key *k, int64_t revision)
{
	struct history_change *c = key_newest(k);

	while (&c->link != &k->changes.head && c->revision > revision)
		c = list_entry(c->link.prev, struct history_change, link);
	return &c->link == &k->changes.head || c->deleted ? NULL : c;
}

struct history_change *history_get(const struct history *h, const char *key, int64_t revision)
{
	struct history_key *k = keys_find(h, key);

	return k ? key_at(k, revision) : NULL;
}

void history_each(const struct history *h, const char *prefix, const char *after, int64_t revision,
		  bool (*each)(struct history_change *c, void *arg), void *arg)
{
	bool skip = after && strcmp(after, prefix) >= 0;
	struct history_key *k = keys_seek(h, skip ? after : prefix);

	if (skip && k && !strcmp(k->name, after))
		k = RB_NEXT(history_tree, , k);
	for (; k && !strncmp(k->name, prefix, strlen(prefix)); k = RB_NEXT(history_tree, , k)) {
		struct history_change *c = key_at(k, revision);

		if (c && !each(c, arg))
			return;
	}
}

/* Room for one more: moved to the front when that frees half, grown else. */
static void window_make_room(struct history *h)
{
	if (h->start + h->n < h->cap)
		return;
	if (h->start > h->cap / 2) {
		memmove(h->changes, h->changes + h->start, h->n * sizeof(*h->changes));
		h->start = 0;
		return;
	}
	h->cap = h->cap ? h->cap * 2 : 256;
	h->changes = xrealloc(h->changes, h->cap, sizeof(*h->changes));
}

static struct history_key *keys_need(struct history *h, const char *name)
{
	struct history_key *k = keys_find(h, name);

	if (!k) {
		k = key_create(name);
		RB_INSERT(history_tree, &h->keys, k);
	}
	return k;
}

void history_put(struct history *h, const struct store_write *w, int64_t version)
{
	struct history_change *before = history_get(h, w->key, INT64_MAX);
	struct history_change *c = xcalloc(1, sizeof(*c) + w->size);

	assert(w->value || before);
	c->key = keys_need(h, w->key);
	c->key->refs++;
	c->refs = 2; /* of its key and of the window */
	c->deleted = !w->value;
	c->revision = version_revision(version);
	c->version = version;
	c->create_revision = before ? before->create_revision : c->revision;
	c->lease = w->lease;
	c->size = w->size;
	if (w->size)
		memcpy(c->value, w->value, w->size);
	list_push_back(&c->key->changes, &c->link);
	window_make_room(h);
	h->changes[h->start + h->n++] = c;
	h->revision = c->revision;
}

uint64_t history_find(const struct history *h, int64_t version)
{
	size_t low = 0, high = h->n;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (h->changes[h->start + mid]->version > version)
			high = mid;
		else
			low = mid + 1;
	}
	return h->dropped + low;
}

struct history_change *history_at(const struct history *h, uint64_t place)
{
	assert(place >= h->dropped);
	place -= h->dropped;
	return place < h->n ? h->changes[h->start + place] : NULL;
}

static void key_drop_change(struct history_change *c)
{
	list_remove(&c->link);
	history_change_unref(c);
}

/* A change leaves the window: what it replaced can no longer be read, and a deletion says no more
 * than the absence of the key does. */
static void window_drop_first(struct history *h)
{
	struct history_change *c = h->changes[h->start], *old;
	struct history_key *k = c->key;

	h->start++;
	h->n--;
	h->dropped++;
	while ((old = list_entry(list_first(&k->changes), struct history_change, link)) != c)
		key_drop_change(old);
	if (c->deleted)
		key_drop_change(c);
	if (list_empty(&k->changes)) {
		RB_REMOVE(history_tree, &h->keys, k);
		key_unref(k);
	}
	history_change_unref(c);
}

void history_compact(struct history *h, int64_t revision)
{
	if (revision <= h->compacted)
		return;
	while (h->n && h->changes[h->start]->revision <= revision)
		window_drop_first(h);
	h->compacted = revision;
}

void history_trim(struct history *h)
{
	if (h->n < HISTORY_WINDOW + HISTORY_SLACK)
		return;
	/* the change behind those that go is the first one kept: its revision stays whole */
	history_compact(h, h->changes[h->start + h->n - HISTORY_WINDOW]->revision - 1);
}

void history_finish(struct history *h)
{
	struct history_key *k, *next;

	while (h->n)
		window_drop_first(h);
	for (k = RB_MIN(history_tree, &h->keys); k; k = next) {
		next = RB_NEXT(history_tree, , k);
		while (!list_empty(&k->changes))
			key_drop_change(
				list_entry(list_first(&k->changes), struct history_change, link));
		RB_REMOVE(history_tree, &h->keys, k);
		key_unref(k);
	}
	free(h->changes);
}
