/*
 * Serves a store by the Kubernetes REST conventions. What is served, and by which rules beyond the
 * conventions, is a profile: tables and hooks. Reads come from the watch cache, writes go to the
 * store by compare; docs/design/0002-server.md says when which view is good enough.
 *
 * One loop, one thread. Hooks answer at once, from memory: nothing in a hook may wait.
 */
#ifndef SERVER_SERVER_H
#define SERVER_SERVER_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "api/doc.h"
#include "api/kind.h"
#include "api/patch.h"
#include "api/status.h"
#include "base/error.h"
#include "base/http_server.h"
#include "base/loop.h"
#include "store/cache.h"
#include "store/store.h"

#define SERVER_MAX_BODY   (3 * 1024 * 1024) /* what is read of a request: as kube-apiserver does */
#define SERVER_MAX_OBJECT STORE_MAX_VALUE   /* what is stored of an object: 413 above */
#define SERVER_VIEW_MS    3000              /* how long a read waits for the version it names */
#define SERVER_MAX_TRIES  100 /* of a write without version, on fresh views: then 409 */

struct server;

struct server_user {
	const char *name;
	const char *const *groups; /* NULL-terminated; may be NULL */
};

/* A request as hooks and route handlers see it. */
struct server_request {
	struct server *server;
	struct exchange *x; /* NULL once the client is gone */
	const struct server_user *user;
	const char *verb; /* "get", "list", "watch", "create", "update", "patch", "delete", ... */
	const struct kind *kind;
	const char *ns;          /* NULL: cluster-wide, or across namespaces */
	const char *name;        /* NULL: none; list, watch: what a field selector pins it to */
	const char *subresource; /* "" */
	int64_t version;         /* resourceVersion as a read names it; 0: none or any */
};

/* One row of what a profile serves. */
struct server_kind {
	const struct kind *kind;
	unsigned verbs;        /* 0: those of the kind's row */
	bool status_closed;    /* what requests send as status is dropped, on every path */
	bool status_on_create; /* a POST keeps its status, as nodes register themselves with one */
	/* Seconds that a DELETE leaves the object; asked: gracePeriodSeconds, or -1. NULL: 0. */
	int64_t (*grace_s)(const json_t *object, int64_t asked);
};

/* A subresource that the profile answers itself. The handler owns the answer: server_respond() or
 * the exchange. The object has not been looked up. */
struct server_route {
	const char *method; /* "GET" */
	const struct kind *kind;
	const char *subresource;   /* "log" */
	const char *response_kind; /* for discovery; NULL: the kind's own */
	void (*handler)(struct server_request *r, void *arg);
};

enum server_operation { SERVER_CREATE, SERVER_UPDATE /* patches too */, SERVER_DELETE };

/* A write on its way, as admit and extend see it: once per try, so hooks must not remember it. */
struct server_write {
	enum server_operation op;
	const struct server_request *request; /* NULL: this process itself writes */
	const struct server_user *user;
	const struct kind *kind;
	const char *ns, *name, *subresource; /* ns NULL: cluster-wide; subresource "" or "status" */
	bool dry_run;
	bool names_version; /* the client compares: resourceVersion given */
	bool fresh; /* the view is newer than the last refusal: a hook that must not decide on an
		       old one refuses, and is asked again */
	const struct doc *stored; /* NULL on create; its revisions are what is guarded */
	const json_t *old;        /* the tree of stored */
	json_t *object;           /* what shall be; DELETE: with its deletionTimestamp */
	struct causes causes; /* of the Status, should the hook fail; any left after admit: 422 */
	bool remove; /* extend may set it: the object goes, the answer shows it as it would have
			been */
};

/* A header of the request, NULL when absent or when there is no request. */
const char *server_write_header(const struct server_write *w, const char *name);
void server_write_warn(struct server_write *w, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
/* For extend: more guards and writes of the same transaction; all is copied. value NULL: delete. A
 * key of the object itself that is written here is not written again. */
void server_write_guard(struct server_write *w, const char *key, enum store_target target,
			int64_t revision);
void server_write_put(struct server_write *w, const char *key, const void *value, size_t size);

struct server_profile {
	const struct server_kind *kinds;
	size_t n_kinds;
	const struct server_route *routes;
	size_t n_routes;
	/* Made at start when absent, never deleted; NULL-terminated. */
	const char *const *namespaces;
	const char *git_version; /* what /version says: "v1.36.0" */
	const char *ca_pem;      /* served to anybody as /ca; NULL: not served */

	/* All hooks may be NULL. Text that ret needs is put into the arena. */

	/* The user of a bearer token; -1: nobody's. */
	int (*token)(const char *token, struct arena *a, struct server_user *ret, void *arg);
	/* A version that the cache must have before the request is authorized; 0: none. */
	int64_t (*view)(const struct server_request *r, void *arg);
	/* False: 403; text may be added to say why. NULL: all who are authenticated may do all. */
	bool (*authorize)(const struct server_request *r, struct strbuf *why, void *arg);
	/* After defaulting and validation. May change w->object; causes make 422, -1 the error. */
	int (*admit)(struct server_write *w, struct error *err, void *arg);
	/* Last before the commit: may add guards and writes, change the object, refuse. */
	int (*extend)(struct server_write *w, struct error *err, void *arg);
	/* Whether this process runs the collectors now; ret, when its key is set, guards what they
	 * write. NULL: always. */
	bool (*lead)(struct store_guard *ret, void *arg);
	void *arg;
};

/* Profile, store and cache are borrowed and must outlive the server. http: host, port and TLS; its
 * handler is ignored. Requests are answered with 503 until the cache is ready. */
int server_create(struct loop *loop, const struct server_profile *profile, struct store *store,
		  struct cache *cache, const struct http_server_config *http,
		  struct server **ret_server, struct error *err);
int server_port(const struct server *s);
/* Called once, when the cache is ready and the profile's namespaces are there. */
void server_on_ready(struct server *s, void (*fn)(void *arg), void *arg);
/* As http_server_destroy; done is called when the last write has its outcome too. */
void server_destroy(struct server *s, int64_t drain_ms, void (*done)(void *arg), void *arg);

/* --- for route handlers --- */

/* A handler that answers later keeps a reference; x may have become NULL by then. */
struct server_request *server_request_ref(struct server_request *r);
void server_request_unref(struct server_request *r);
void server_request_on_close(struct server_request *r,
			     void (*fn)(struct server_request *r, void *arg), void *arg);
/* Reads a JSON (or protobuf, or YAML) body; what is wrong with it is answered here and done is not
 * called. An empty body is NULL. The body lives during the callback. */
void server_read_body(struct server_request *r,
		      void (*done)(struct server_request *r, json_t *body, void *arg), void *arg);
/* Each is the whole answer. Nothing is sent when the client is gone. */
void server_respond(struct server_request *r, int status, const json_t *body);
void server_respond_error(struct server_request *r, const struct error *err,
			  const struct causes *causes); /* causes may be NULL */

/* --- writes of this process itself, through the same pipeline: no authorization --- */

struct server_change {
	enum server_operation op;
	const struct kind *kind;
	const char *ns, *name;   /* name: not for create */
	const char *subresource; /* NULL or "status" */
	const json_t *body;      /* create: the object; update: the patch; delete: NULL */
	enum patch_type patch;   /* update: of the body */
	const char *uid;         /* delete: only this one; NULL: any */
	int64_t grace_s;         /* delete: -1: the kind's */
};
/* Copies what it is given; calls done from the loop. object: as answered to a client, or NULL. */
void server_change(struct server *s, const struct server_change *change,
		   void (*done)(const json_t *object, const struct error *err, void *arg),
		   void *arg);

#endif
