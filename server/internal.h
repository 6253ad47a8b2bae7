/* The server as its own files see it; nobody outside of this folder includes it. */
#ifndef SERVER_INTERNAL_H
#define SERVER_INTERNAL_H

#include "base/json.h"
#include "base/list.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "server/server.h"
#include "server/stored.h"

struct collector;
struct namespaces;
struct page;

struct server {
	struct loop *loop;
	struct env *env;
	const struct server_profile *profile;
	struct store *store;
	struct cache *cache;
	struct http_server *http;
	struct page *pages; /* answers that never change: discovery, OpenAPI, version */
	size_t n_pages;
	struct list watches;
	struct collector *collector;
	struct namespaces *namespaces;
	size_t n_pending; /* requests and writes that still hold this struct */
	size_t n_missing; /* namespaces of the profile that are not made yet */
	struct timer *retry;
	bool ready, http_gone;
	void (*on_ready)(void *arg);
	void *on_ready_arg;
	void (*done)(void *arg);
	void *done_arg;
};

const struct server_kind *server_find_kind(const struct server *s, const char *group,
					   const char *version, const char *plural);
/* By apiVersion and kind of an object or an owner reference; NULL: not served here. */
const struct server_kind *server_find_named(const struct server *s, const char *api_version,
					    const char *name);
unsigned server_kind_verbs(const struct server_kind *sk);
void server_hold(struct server *s);
void server_release(struct server *s);
/* Whether this process runs the collectors; ret->key is NULL when nothing guards. */
bool server_leads(const struct server *s, struct store_guard *ret);

/* --- collector.c, namespaces.c --- */

struct collector *collector_create(struct server *s);
void collector_destroy(struct collector *c);
struct namespaces *namespaces_create(struct server *s);
void namespaces_destroy(struct namespaces *n);
/* Doc of a namespace, or NULL. */
struct doc *namespace_get(const struct server *s, const char *ns);
bool namespace_is_kept(const struct server *s, const char *ns);

/* --- watch.c --- */

void watches_end(struct server *s);

#endif
