/* From the object in hand to guards and writes: which keys hold it, and what must still be so. */
#include <string.h>

#include "server/write.h"

static void make_keys(struct write *w)
{
	auto_strbuf key = {0}, status_key = {0};

	kind_key(w->pub.kind, w->pub.ns, w->pub.name, &key);
	w->key = strbuf_take(&key);
	if (!w->pub.kind->split_status)
		return;
	kind_status_key(w->pub.kind, w->pub.ns, w->pub.name, &status_key);
	w->status_key = strbuf_take(&status_key);
}

int write_load(struct write *w, struct error *err)
{
	struct doc *d;

	make_keys(w);
	d = cache_get(w->server->cache, w->key);
	if (w->type == WRITE_CREATE)
		return d ? already_exists(w->pub.kind, w->pub.name, err) : 0;
	if (!d)
		return not_found(w->pub.kind, w->pub.name, err);
	w->pub.stored = w->stored = doc_ref(d);
	w->pub.old = w->old = doc_tree(d);
	return 0;
}

int write_extend(struct write *w, struct error *err)
{
	const struct server_profile *p = w->server->profile;

	return p->extend ? p->extend(&w->pub, err, p->arg) : 0;
}

static const json_t *status_of_object(const json_t *object)
{
	return json_object_get(object, "status");
}

static bool status_differs(const struct write *w)
{
	const json_t *now = status_of_object(w->pub.object), *was = status_of_object(w->old);

	return now != was && !json_equal(now, was);
}

static bool main_differs(const struct write *w)
{
	return !w->old || spec_differs(w->old, w->pub.object) ||
	       !json_equal(json_object_get(w->old, "metadata"),
			   json_object_get(w->pub.object, "metadata"));
}

static void guard_main(struct write *w, bool exact)
{
	const struct doc *d = w->stored;

	if (exact)
		server_write_guard(&w->pub, w->key, STORE_MOD, d ? d->revision : 0);
	else
		server_write_guard(&w->pub, w->key, STORE_CREATE, d->create_revision);
}

static void guard_status(struct write *w)
{
	server_write_guard(&w->pub, w->status_key, STORE_MOD,
			   w->stored ? w->stored->status_revision : 0);
}

/* Compares with all that was seen, not only with what is overwritten. */
static bool compares_all(const struct write *w)
{
	return w->pub.names_version || w->type == WRITE_DELETE || w->pub.remove;
}

static int add_value(struct write *w, const char *key, struct strbuf *value, struct error *err)
{
	if (write_has(w, key))
		return 0; /* a hook has done it */
	if (value->size > SERVER_MAX_OBJECT)
		return error_set(err, ERR_TOO_LARGE,
				 "the object has %zu bytes, at most %d are stored", value->size,
				 SERVER_MAX_OBJECT);
	write_add(w, key, value);
	w->own_writes++;
	return 0;
}

static int put_main(struct write *w, struct error *err)
{
	size_t before = w->n_writes;
	auto_strbuf value = {0};

	stored_main(w->pub.kind, w->pub.object, &value);
	if (add_value(w, w->key, &value, err))
		return -1;
	if (w->n_writes > before &&
	    (!w->pub.kind->split_status || !status_of_object(w->pub.object)))
		w->whole = w->n_writes;
	return 0;
}

static int put_status(struct write *w, struct error *err)
{
	auto_strbuf value = {0};

	w->whole = 0;
	stored_status(w->pub.object, &value);
	return add_value(w, w->status_key, &value, err);
}

/* A kind with its status apart: only what differs is written, and compared. */
static int put_split(struct write *w, struct error *err)
{
	bool main = main_differs(w), status = status_differs(w);

	guard_main(w, main || compares_all(w));
	if (main && put_main(w, err))
		return -1;
	if (status || (compares_all(w) && w->stored))
		guard_status(w);
	return status ? put_status(w, err) : 0;
}

int object_put(struct write *w, struct error *err)
{
	if (w->old && !main_differs(w) && !status_differs(w) && !w->n_writes) {
		w->unchanged = true;
		return 0;
	}
	if (w->pub.kind->split_status)
		return put_split(w, err);
	guard_main(w, true);
	return put_main(w, err);
}

void object_remove(struct write *w)
{
	w->removed = true;
	guard_main(w, true);
	write_add(w, w->key, NULL);
	w->own_writes++;
	if (!w->pub.kind->split_status)
		return;
	guard_status(w);
	if (write_has(w, w->status_key))
		return; /* a hook has done it */
	write_add(w, w->status_key, NULL);
	w->own_writes++;
}
