/*
 * The store in memory: for sandboxes and tests, gone with its process. Each transaction is a
 * revision of its own and happens inside the call; only the answer comes later.
 */
#include <assert.h>

#include "base/fault.h"
#include "store/memory.h"

struct commit_answer {
	struct later_item item;
	struct store_result result;
	void (*done)(const struct store_result *result, void *arg);
	int64_t versions[];
};

static void commit_drop(struct later_item *item)
{
	free(container_of(item, struct commit_answer, item));
}

static void commit_run(struct later_item *item)
{
	struct commit_answer *a = container_of(item, struct commit_answer, item);

	a->done(&a->result, item->arg);
	free(a);
}

static bool guard_holds(const struct memory *m, const struct store_guard *g)
{
	const struct history_change *c = history_get(&m->history, g->key, INT64_MAX);

	if (!c)
		return !g->revision;
	return g->revision == (g->target == STORE_MOD ? c->revision : c->create_revision);
}

static bool guards_hold(const struct memory *m, const struct store_txn *txn)
{
	for (size_t i = 0; i < txn->n_guards; i++)
		if (!guard_holds(m, &txn->guards[i]))
			return false;
	return true;
}

static int leases_check(const struct memory *m, const struct store_txn *txn, struct error *err)
{
	for (size_t i = 0; i < txn->n_writes; i++) {
		const struct store_write *w = &txn->writes[i];

		if (w->value && w->lease && !memory_lease_exists(m, w->lease))
			return error_set(err, ERR_NOT_FOUND, "the lease of \"%s\" has ended",
					 w->key);
	}
	return 0;
}

/* The versions of the writes; the revision, which is a new one unless nothing was changed. */
static int64_t memory_write(struct memory *m, const struct store_txn *txn, int64_t *ret_versions)
{
	int64_t revision = m->history.revision + 1, index = 0;

	for (size_t i = 0; i < txn->n_writes; i++) {
		const struct store_write *w = &txn->writes[i];

		ret_versions[i] = 0;
		if (!w->value && !history_get(&m->history, w->key, INT64_MAX))
			continue;
		ret_versions[i] = version_of(revision, index++);
		history_put(&m->history, w, ret_versions[i]);
	}
	history_trim(&m->history);
	if (index)
		memory_wake_watches(m);
	return m->history.revision;
}

static void commit_try(struct memory *m, const struct store_txn *txn, struct store_result *r,
		       int64_t *versions)
{
	r->outcome = STORE_FAILED;
	if (store_txn_check(txn, &r->err))
		return;
	fault_before_write();
	if (!guards_hold(m, txn)) {
		r->outcome = STORE_CONFLICT;
		store_conflict(txn->n_guards, txn->guards[0].key, &r->err);
	} else if (!leases_check(m, txn, &r->err)) {
		r->outcome = STORE_COMMITTED;
		r->revision = memory_write(m, txn, versions);
		r->versions = versions;
	}
	if (fault_after_write()) {
		*r = (struct store_result){.outcome = STORE_UNKNOWN};
		error_set(&r->err, ERR_UNKNOWN_OUTCOME, "the answer was lost");
	}
}

static void memory_commit(struct store *s, const struct store_txn *txn,
			  void (*done)(const struct store_result *result, void *arg), void *arg)
{
	struct memory *m = memory_of(s);
	struct commit_answer *a = xcalloc(1, sizeof(*a) + txn->n_writes * sizeof(a->versions[0]));

	a->item = (struct later_item){.run = commit_run, .drop = commit_drop, .arg = arg};
	a->done = done;
	commit_try(m, txn, &a->result, a->versions);
	later_add(m->later, &a->item);
}

void memory_delete(struct memory *m, const char *const *keys, size_t n)
{
	int64_t revision = m->history.revision + 1;

	for (size_t i = 0; i < n; i++)
		history_put(&m->history, &(struct store_write){.key = keys[i]},
			    version_of(revision, (int64_t)i));
	history_trim(&m->history);
	memory_wake_watches(m);
}

struct range_answer {
	struct later_item item;
	void (*done)(const struct store_item *items, size_t n, bool more, int64_t revision,
		     const struct error *err, void *arg);
	size_t limit;
	int64_t revision;
	bool failed, more;
	struct error err;
	struct store_item *items;
	struct history_change **changes; /* one reference each */
	size_t n, cap, changes_cap;
};

static void range_drop(struct later_item *item)
{
	struct range_answer *a = container_of(item, struct range_answer, item);

	for (size_t i = 0; i < a->n; i++)
		history_change_unref(a->changes[i]);
	free(a->changes);
	free(a->items);
	free(a);
}

static void range_run(struct later_item *item)
{
	struct range_answer *a = container_of(item, struct range_answer, item);

	if (a->failed)
		a->done(NULL, 0, false, 0, &a->err, item->arg);
	else
		a->done(a->items, a->n, a->more, a->revision, NULL, item->arg);
	range_drop(item);
}

static bool range_add(struct history_change *c, void *arg)
{
	struct range_answer *a = arg;

	if (a->limit && a->n == a->limit) {
		a->more = true;
		return false;
	}
	GROW(a->items, a->n, a->cap);
	GROW(a->changes, a->n, a->changes_cap);
	a->items[a->n] = (struct store_item){.key = c->key->name,
					     .value = c->value,
					     .size = c->size,
					     .version = c->version,
					     .revision = c->revision,
					     .create_revision = c->create_revision};
	a->changes[a->n++] = history_change_ref(c);
	return true;
}

static int revision_check(const struct history *h, int64_t revision, struct error *err)
{
	if (revision < h->compacted)
		return error_set(err, ERR_EXPIRED, "revision %lld was compacted",
				 (long long)revision);
	if (revision > h->revision)
		return error_set(err, ERR_BAD_REQUEST, "revision %lld lies in the future",
				 (long long)revision);
	return 0;
}

static void memory_range(struct store *s, const char *prefix, const char *after, size_t limit,
			 int64_t revision,
			 void (*done)(const struct store_item *items, size_t n, bool more,
				      int64_t revision, const struct error *err, void *arg),
			 void *arg)
{
	struct memory *m = memory_of(s);
	struct range_answer *a = xnew0(struct range_answer);

	a->item = (struct later_item){.run = range_run, .drop = range_drop, .arg = arg};
	a->done = done;
	a->limit = limit;
	a->revision = revision ? revision : m->history.revision;
	if (revision_check(&m->history, a->revision, &a->err))
		a->failed = true;
	else
		history_each(&m->history, prefix, after, a->revision, range_add, a);
	later_add(m->later, &a->item);
}

struct compact_call {
	struct later_item item;
	struct memory *memory;
	int64_t revision;
	void (*done)(const struct error *err, void *arg);
};

static void compact_drop(struct later_item *item)
{
	free(container_of(item, struct compact_call, item));
}

/* Only now, so that watches were first given what they wait for. */
static void compact_run(struct later_item *item)
{
	struct compact_call *call = container_of(item, struct compact_call, item);
	struct history *h = &call->memory->history;
	struct error err;
	bool failed = call->revision > h->compacted && revision_check(h, call->revision, &err);

	if (!failed)
		history_compact(h, call->revision);
	call->done(failed ? &err : NULL, item->arg);
	free(call);
}

static void memory_compact(struct store *s, int64_t revision,
			   void (*done)(const struct error *err, void *arg), void *arg)
{
	struct memory *m = memory_of(s);
	struct compact_call *call = xnew0(struct compact_call);

	call->item = (struct later_item){.run = compact_run, .drop = compact_drop, .arg = arg};
	call->memory = m;
	call->revision = revision;
	call->done = done;
	later_add(m->later, &call->item);
}

static void memory_forget(struct store *s, const void *arg)
{
	later_forget(memory_of(s)->later, arg);
}

static void memory_destroy(struct store *s)
{
	struct memory *m = memory_of(s);

	memory_watches_finish(m);
	memory_leases_finish(m);
	later_destroy(m->later);
	history_finish(&m->history);
	free(m);
}

static const struct store_ops memory_ops = {
	.commit = memory_commit,
	.range = memory_range,
	.watch = memory_watch,
	.unwatch = memory_unwatch,
	.lease_grant = memory_lease_grant,
	.lease_keep = memory_lease_keep,
	.lease_revoke = memory_lease_revoke,
	.compact = memory_compact,
	.forget = memory_forget,
	.destroy = memory_destroy,
};

struct store *store_memory_create(struct loop *loop)
{
	struct memory *m = xnew0(struct memory);

	m->store.ops = &memory_ops;
	m->loop = loop;
	m->later = later_create(loop);
	m->turn.run = memory_watches_run;
	list_init(&m->watches);
	list_init(&m->leases);
	history_init(&m->history);
	return &m->store;
}
