/*
 * The sandbox process: what its parts share. Private to this folder.
 */
#ifndef SANDBOX_SANDBOX_H
#define SANDBOX_SANDBOX_H

#include "base/loop.h"
#include "server/server.h"
#include "server/state.h"
#include "store/cache.h"
#include "store/store.h"

struct kubelet;

struct sandbox {
	struct loop *loop;
	struct env *env;
	char *dir; /* the state folder */
	struct state state;
	struct store *store;
	struct cache *cache;
	struct server *server;
	struct kubelet *kubelet;
	void *profile_tables; /* of sandbox_profile(); freed last */
};

/* --- profile.c --- */
void sandbox_profile(struct sandbox *s, struct server_profile *ret);
const struct kind *sandbox_kind(const char *plural); /* asserts that it is served */

/* --- shape.c --- */
/* A shape file: {nodes: [{name, count, arch, capacity, labels, taints}]}; an array of Node trees,
 * the caller's, names `<name>-0` on. BAD_REQUEST names the field that is wrong. */
int shape_read(const char *path, json_t **ret_nodes, struct error *err);

/* --- log.c, binding.c: routes --- */
void sandbox_log(struct server_request *r, void *arg);     /* GET pods/X/log */
void sandbox_binding(struct server_request *r, void *arg); /* POST pods/X/binding */

#endif
