/*
 * The hub process: what its parts share. Private to this folder.
 */
#ifndef FEDERATOR_HUB_H
#define FEDERATOR_HUB_H

#include <jansson.h>
#include <stdbool.h>

#include "api/doc.h"
#include "base/loop.h"
#include "server/server.h"
#include "server/state.h"
#include "store/cache.h"
#include "store/election.h"
#include "store/store.h"

#define HUB_NAMESPACE   "federator-system"
#define HUB_PROTOCOL    1 /* of the dispatch between hub and agents: hello agrees on it */
#define HUB_INCARNATION 0 /* of the store: the first */
#define JOB_FINALIZER   "federator.dev/release"

struct clusters;
struct controllers;
struct jobs;
struct placer;
struct queues;
struct tunnel;

struct hub {
	struct loop *loop;
	struct env *env;
	struct state state;
	char *url; /* where clients reach this replica */
	struct store *store;
	struct cache *cache;
	struct server *server;
	struct election *election;
	struct controllers *controllers;
	struct jobs *jobs;
	struct clusters *clusters;
	struct queues *queues;
	struct placer *placer; /* level 1; decides only while leading */
	struct tunnel *tunnel;
	void *profile_tables; /* of hub_profile(); freed last */
};

/* True while this replica leads; ret_guard (may be NULL) is what its writes compare. */
bool hub_leads(const struct hub *hub, struct store_guard *ret_guard);

/* The tables and hooks of the hub's API. hub must outlive it. */
void hub_profile(struct hub *hub, struct server_profile *ret);

/* --- authorize.c --- */
bool hub_authorize(const struct server_request *r, struct strbuf *why, void *arg);
/* The cluster that a user speaks for ("system:cluster:gpu"), or NULL. */
const char *hub_agent_cluster(const struct server_user *user);
/* The cluster that a joining member's token is bound to, or NULL. */
const char *hub_joining_cluster(const struct server_user *user);
/* The user of a bootstrap token "id.secret", from its Secret. */
int hub_token(const char *token, struct arena *a, struct server_user *ret, void *arg);

/* --- admit.c --- */
int hub_admit(struct server_write *w, struct error *err, void *arg);

/* --- answer.c: an agent's word moves the record in the same transaction --- */
int hub_extend(struct server_write *w, struct error *err, void *arg);

/* --- term.c --- */
/* The guard that holds while the agent's term is the present one. CONFLICT for an older term or
 * one of another Cluster of that name, UNAVAILABLE when this replica has not seen it yet,
 * FORBIDDEN when there is no such Cluster. */
int hub_term_guard(const struct hub *hub, const char *cluster, const char *term_header,
		   struct store_guard *ret_guard, char **ret_key, struct error *err);
/* The key of a cluster's term; the caller's. */
char *hub_term_key(const char *cluster_uid);
/* For routes: answers the request itself and returns -1 when the term is over. */
int hub_check_term(const struct hub *hub, struct server_request *r);
/* The cause by which an agent tells that it must leave (TermSuperseded), or that its Cluster was
 * deleted (ClusterUnknown); for another failure of the guard there is none. */
void hub_say_term(struct causes *causes, const struct error *err);
void hub_hello(struct server_request *r, void *arg);

/* --- helpers over the cache; trees are the caller's, NULL when absent --- */
struct doc *hub_get(const struct hub *hub, const struct kind *k, const char *ns,
		    const char *name); /* borrowed */
json_t *hub_tree(const struct hub *hub, const struct kind *k, const char *ns, const char *name);
const struct kind *hub_kind(const char *plural); /* of a kind that the hub serves; asserts */

#endif
