/*
 * Informer: list, then watch, for ever; tells its owner of every object added, changed, deleted.
 * LIST in pages of 500 + WATCH (half the time and memory of a WatchList, facts/member-cluster.md
 * D). 410 lists anew (differences are told as events), cut lines resume, silence and bad answers
 * back off. The view never goes back (but: may_go_back). Never stops by itself. Must not be
 * destroyed from inside its own callbacks.
 */
#ifndef KUBE_INFORMER_H
#define KUBE_INFORMER_H

#include "api/doc.h"
#include "api/kind.h"
#include "kube/client.h"

struct informer;

struct informer_config {
	const char *path;     /* "/api/v1/pods": copied */
	const char *selector; /* "labelSelector=..." or "fieldSelector=...", encoded; NULL: none */
	int64_t min_version;  /* no list is older than it, nor than what was seen; 0: none */
	/* The server's store may be restored to an earlier state. When the server says again and
	 * again that it is not so far, it is believed: everything is told as changed. */
	bool may_go_back;
	bool absent_is_empty; /* a 404 on the list means that the kind is not served: empty */
	/* doc: bytes as the server sent them (with resourceVersion in them; version holds it). The
	 * key of a doc here is "ns/name" or "name". prev: what was known, NULL when new; on
	 * deletion doc is NULL. */
	void (*changed)(struct doc *doc, struct doc *prev, void *arg);
	void (*synced)(void *arg); /* once: everything of the first list was told; may be NULL */
	/* First failure after success, and recovery; for conditions and the log. May be NULL. */
	void (*health)(bool ok, const struct error *err, void *arg);
	/* The server asked to come again with a list, which is not a failure yet. May be NULL. */
	void (*put_off)(const struct error *why, void *arg);
	void *arg;
};

struct informer *informer_create(struct kube *k, struct env *env,
				 const struct informer_config *config);
void informer_destroy(struct informer *i);
bool informer_is_synced(const struct informer *i);
struct doc *informer_get(const struct informer *i, const char *ns, const char *name);
void informer_each(const struct informer *i, void (*each)(struct doc *doc, void *arg), void *arg);
/* The highest resourceVersion seen. */
int64_t informer_version(const struct informer *i);

#endif
