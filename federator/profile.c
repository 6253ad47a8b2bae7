/* What the hub serves: the tables and hooks of its API. */
#include "federator/hub.h"
#include "federator/routes.h"
#include "federator/tunnel.h"

#define READ (VERB_GET | VERB_LIST | VERB_WATCH)

/* Group order is precedence: Volcano's jobs answer to the word "job". */
static const struct {
	const char *plural;
	struct server_kind row;
} served[] = {
	{"namespaces", {0}},
	{"configmaps", {0}},
	{"secrets", {0}},
	{"events", {0}},
	{"jobs", {.status_closed = true}},
	{"queues", {0}},
	{"clusters", {0}},
	{"placements", {.verbs = READ | VERB_PATCH | VERB_UPDATE}},
	{"datasets", {0}},
	{"leases", {0}},
	{"priorityclasses", {0}},
	{"certificatesigningrequests", {0}},
};

static const struct {
	const char *method, *plural, *subresource;
	void (*handler)(struct server_request *r, void *arg);
} served_routes[] = {
	{"POST", "clusters", "hello", hub_hello},
	{"POST", "clusters", "capacity", route_capacity},
	{"GET", "clusters", "requests", tunnel_requests},
	{"POST", "clusters", "answers", tunnel_answers},
	{"GET", "jobs", "log", tunnel_log},
	{"GET", "jobs", "explain", route_explain},
};

static const char *const namespaces[] = {"default", HUB_NAMESPACE, NULL};

static bool lead(struct store_guard *ret, void *arg)
{
	return hub_leads(arg, ret);
}

/* An agent is answered from a view that is not older than the version it names, the question
 * whether it may see the object included. */
static int64_t view(const struct server_request *r, void *arg)
{
	return hub_agent_cluster(r->user) ? r->version : 0;
}

struct profile_tables {
	struct server_kind kinds[ARRAY_LEN(served) + 1]; /* events of both groups */
	struct server_route routes[ARRAY_LEN(served_routes)];
};

void hub_profile(struct hub *hub, struct server_profile *ret)
{
	struct profile_tables *t = xnew0(struct profile_tables);
	size_t n = 0;

	for (size_t i = 0; i < ARRAY_LEN(served); i++) {
		t->kinds[n] = served[i].row;
		t->kinds[n++].kind = hub_kind(served[i].plural);
	}
	t->kinds[n] = (struct server_kind){.kind = kind_find("events.k8s.io", "events")};
	n += t->kinds[n].kind != NULL;
	for (size_t i = 0; i < ARRAY_LEN(served_routes); i++)
		t->routes[i] = (struct server_route){
			.method = served_routes[i].method,
			.kind = hub_kind(served_routes[i].plural),
			.subresource = served_routes[i].subresource,
			.handler = served_routes[i].handler,
		};
	*ret = (struct server_profile){
		.kinds = t->kinds,
		.n_kinds = n,
		.routes = t->routes,
		.n_routes = ARRAY_LEN(served_routes),
		.namespaces = namespaces,
		.git_version = "v1.36.0+federator-" FEDERATOR_VERSION,
		.ca_pem = hub->state.ca.cert_pem,
		.token = hub_token,
		.view = view,
		.authorize = hub_authorize,
		.admit = hub_admit,
		.extend = hub_extend,
		.lead = lead,
		.arg = hub,
	};
	hub->profile_tables = t;
}
