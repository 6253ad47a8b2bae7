/* What a sandbox serves: the core kinds of a cluster, and our own as if their CRDs were there. */
#include <assert.h>
#include <string.h>

#include "base/json.h"
#include "sandbox/process.h"
#include "sandbox/sandbox.h"

#define DEFAULT_GRACE_S 30

/* As on a real cluster: a pod on a node stays until its kubelet confirms; others go at once. */
static int64_t pod_grace(const json_t *pod, int64_t asked)
{
	const char *node = json_str_at(pod, "spec", "nodeName", NULL);
	const char *phase = json_str_at(pod, "status", "phase", NULL);

	if (!node || !*node)
		return 0;
	if (phase && (!strcmp(phase, "Succeeded") || !strcmp(phase, "Failed")))
		return 0;
	if (asked >= 0)
		return asked;
	return json_int_at(pod, DEFAULT_GRACE_S, "spec", "terminationGracePeriodSeconds", NULL);
}

static const struct {
	const char *plural;
	struct server_kind row;
} served[] = {
	{"namespaces", {0}},
	{"nodes", {.status_on_create = true}},
	{"pods", {.grace_s = pod_grace}},
	{"services", {0}},
	{"configmaps", {0}},
	{"secrets", {0}},
	{"events", {0}},
	{"leases", {0}},
	{"priorityclasses", {0}},
	{"placements", {0}},
	{"jobs", {0}},
	{"queues", {0}},
};

static const char *const namespaces[] = {"default", "federator-system", NULL};

struct profile_tables {
	struct server_kind kinds[ARRAY_LEN(served)];
	struct server_route routes[2];
};

const struct kind *sandbox_kind(const char *plural)
{
	for (size_t i = 0; i < kinds_count; i++)
		if (!strcmp(kinds[i]->plural, plural))
			return kinds[i];
	assert(!"a kind of the sandbox");
	return NULL;
}

/* A pod that could never start is refused, so that its job goes where it can. */
static int admit(struct server_write *w, struct error *err, void *arg)
{
	if (w->kind == sandbox_kind("pods") && w->op != SERVER_DELETE && !*w->subresource &&
	    process_is_wanted(w->object))
		process_check(w->object, &w->causes);
	return 0;
}

void sandbox_profile(struct sandbox *s, struct server_profile *ret)
{
	struct profile_tables *t = xnew0(struct profile_tables);
	const struct kind *pods = sandbox_kind("pods");

	for (size_t i = 0; i < ARRAY_LEN(served); i++) {
		t->kinds[i] = served[i].row;
		t->kinds[i].kind = sandbox_kind(served[i].plural);
	}
	t->routes[0] = (struct server_route){
		.method = "GET", .kind = pods, .subresource = "log", .handler = sandbox_log};
	t->routes[1] = (struct server_route){.method = "POST",
					     .kind = pods,
					     .subresource = "binding",
					     .response_kind = "Binding",
					     .handler = sandbox_binding};
	*ret = (struct server_profile){
		.kinds = t->kinds,
		.n_kinds = ARRAY_LEN(served),
		.routes = t->routes,
		.n_routes = ARRAY_LEN(t->routes),
		.namespaces = namespaces,
		.git_version = "v1.36.0",
		.admit = admit,
		.arg = s,
	};
	s->profile_tables = t;
}
