/* The calls of the store's header: dispatch, and what is the same for every implementation. */
#include <assert.h>

#include "base/mem.h"
#include "store/internal.h"

void store_commit(struct store *s, const struct store_txn *txn,
		  void (*done)(const struct store_result *result, void *arg), void *arg)
{
	s->ops->commit(s, txn, done, arg);
}

void store_range(struct store *s, const char *prefix, const char *after, size_t limit,
		 int64_t revision,
		 void (*done)(const struct store_item *items, size_t n, bool more, int64_t revision,
			      const struct error *err, void *arg),
		 void *arg)
{
	s->ops->range(s, prefix, after, limit, revision, done, arg);
}

struct store_watch *store_watch(struct store *s, const char *prefix, int64_t after_version,
				const struct store_watcher *watcher)
{
	return s->ops->watch(s, prefix, after_version, watcher);
}

void store_unwatch(struct store_watch *w, struct store *s)
{
	if (w)
		s->ops->unwatch(s, w);
}

void store_lease_grant(struct store *s, int64_t ttl_s,
		       void (*done)(int64_t lease, const struct error *err, void *arg), void *arg)
{
	s->ops->lease_grant(s, ttl_s, done, arg);
}

void store_lease_keep(struct store *s, int64_t lease,
		      void (*done)(bool alive, const struct error *err, void *arg), void *arg)
{
	s->ops->lease_keep(s, lease, done, arg);
}

void store_lease_revoke(struct store *s, int64_t lease,
			void (*done)(const struct error *err, void *arg), void *arg)
{
	s->ops->lease_revoke(s, lease, done, arg);
}

void store_compact(struct store *s, int64_t revision,
		   void (*done)(const struct error *err, void *arg), void *arg)
{
	s->ops->compact(s, revision, done, arg);
}

const struct error *store_trouble(struct store *s)
{
	return s->ops->trouble ? s->ops->trouble(s) : NULL;
}

void store_forget(struct store *s, const void *arg)
{
	s->ops->forget(s, arg);
}

void store_destroy(struct store *s)
{
	if (s)
		s->ops->destroy(s);
}

void store_watch_init(struct store_watch *w, const char *prefix, int64_t after_version,
		      const struct store_watcher *to)
{
	assert(to->event && to->ended);
	w->prefix = xstrdup(prefix);
	w->to = *to;
	w->seen = after_version;
}

void store_watch_finish(struct store_watch *w)
{
	list_remove(&w->link);
	free(w->prefix);
}

int64_t version_next_revision(int64_t version)
{
	bool whole = version % (VERSION_LAST_INDEX + 1) == VERSION_LAST_INDEX;

	return version_revision(version) + whole;
}

static void assert_keys(const struct store_txn *txn)
{
	assert(txn->n_guards || txn->n_writes);
	for (size_t i = 0; i < txn->n_guards; i++)
		assert(!strncmp(txn->guards[i].key, STORE_PREFIX, strlen(STORE_PREFIX)));
	for (size_t i = 0; i < txn->n_writes; i++) {
		const struct store_write *w = &txn->writes[i];

		assert(!strncmp(w->key, STORE_PREFIX, strlen(STORE_PREFIX)));
		assert(!w->lease || !strncmp(w->key, STORE_SESSIONS, strlen(STORE_SESSIONS)));
		for (size_t k = 0; k < i; k++)
			assert(strcmp(w->key, txn->writes[k].key));
	}
}

int store_txn_check(const struct store_txn *txn, struct error *err)
{
	if (txn->n_writes > STORE_MAX_WRITES || txn->n_guards > STORE_MAX_WRITES)
		return error_set(
			err, ERR_TOO_LARGE,
			"a transaction of %zu writes and %zu guards is over the limit of %d",
			txn->n_writes, txn->n_guards, STORE_MAX_WRITES);
	for (size_t i = 0; i < txn->n_writes; i++)
		if (txn->writes[i].size > STORE_MAX_VALUE)
			return error_set(err, ERR_TOO_LARGE,
					 "value of \"%s\" has %zu bytes, over the limit of %d",
					 txn->writes[i].key, txn->writes[i].size, STORE_MAX_VALUE);
	assert_keys(txn);
	return 0;
}

void store_conflict(size_t n_guards, const char *first_key, struct error *err)
{
	if (n_guards == 1)
		error_set(err, ERR_CONFLICT, "\"%s\" has changed", first_key);
	else
		error_set(err, ERR_CONFLICT, "one of %zu keys has changed, the first is \"%s\"",
			  n_guards, first_key);
}
