/* From a method and a path to what it means: kind, names, subresource, verb, who runs it. */
#include <string.h>

#include "server/options.h"
#include "server/read.h"
#include "server/write.h"

#define MAX_SEGMENTS 10

struct segments {
	const char *at[MAX_SEGMENTS];
	size_t n;
	bool odd;
};

/* A slash at the end is none; other empty segments, and those beyond the last, make a path that
 * nothing is served at. */
static void segments_split(struct segments *s, struct arena *a, const char *path)
{
	*s = (struct segments){0};
	for (const char *p = path + (*path == '/'); *p;) {
		size_t n = strcspn(p, "/");

		if (!n || s->n == MAX_SEGMENTS) {
			s->odd = true;
			return;
		}
		s->at[s->n++] = arena_strndup(a, p, n);
		p += n;
		p += *p == '/';
	}
}

static bool has_route(const struct server *s, const struct kind *k, const char *subresource)
{
	for (size_t i = 0; i < s->profile->n_routes; i++)
		if (s->profile->routes[i].kind == k &&
		    !strcmp(s->profile->routes[i].subresource, subresource))
			return true;
	return false;
}

/* namespaces/x/status is about a namespace, namespaces/x/jobs about jobs in it. */
static bool is_inside_namespace(const struct server *s, const char *group, const char *const *rest,
				size_t n)
{
	const struct server_kind *ns;

	if (n < 3 || strcmp(rest[0], "namespaces") != 0)
		return false;
	if (*group)
		return true;
	ns = server_find_kind(s, "", "v1", "namespaces");
	return strcmp(rest[2], "status") != 0 && !(ns && has_route(s, ns->kind, rest[2]));
}

static bool subresource_is_served(const struct request *r, const char *subresource)
{
	const struct kind *k = r->kind->kind;

	return (k->has_status && !strcmp(subresource, "status")) ||
	       has_route(r->server, k, subresource);
}

static bool is_served(const struct server *s, const char *group, const char *version)
{
	for (size_t i = 0; i < s->profile->n_kinds; i++) {
		const struct kind *k = s->profile->kinds[i].kind;

		if (!strcmp(k->group, group) && !strcmp(k->version, version))
			return true;
	}
	return false;
}

static bool find_resource(struct request *r, const char *group, const char *version,
			  const char *const *rest, size_t n)
{
	if (is_inside_namespace(r->server, group, rest, n)) {
		r->pub.ns = rest[1];
		rest += 2;
		n -= 2;
	}
	r->kind = server_find_kind(r->server, group, version, rest[0]);
	if (!r->kind || n > 3)
		return false;
	if (r->pub.ns ? !r->kind->kind->namespaced : r->kind->kind->namespaced && n > 1)
		return false;
	if (n > 2 && !subresource_is_served(r, rest[2]))
		return false;
	r->pub.kind = r->kind->kind;
	r->pub.name = n > 1 ? rest[1] : NULL;
	if (n > 2)
		r->pub.subresource = rest[2];
	return true;
}

static enum route_type parse_resource(struct request *r, const struct segments *s, size_t n_group)
{
	const char *group = n_group ? s->at[1] : "", *version = s->at[1 + n_group];

	if (!is_served(r->server, group, version))
		return ROUTE_NONE;
	return !s->odd && find_resource(r, group, version, s->at + 2 + n_group, s->n - 2 - n_group)
		       ? ROUTE_RESOURCE
		       : ROUTE_NO_RESOURCE;
}

enum route_type route_parse(struct request *r)
{
	struct segments s;

	segments_split(&s, &r->arena, exchange_path(r->pub.x));
	if (s.n > 2 && !strcmp(s.at[0], "api"))
		return parse_resource(r, &s, 0);
	if (s.n > 3 && !strcmp(s.at[0], "apis"))
		return parse_resource(r, &s, 1);
	return s.odd ? ROUTE_NONE : ROUTE_PAGE;
}

static const struct method {
	const char *method;
	bool named;
	enum verb verb;
	const char *text;
	void (*run)(struct request *r);
} methods[] = {
	{"GET", true, VERB_GET, "get", get_run},
	{"GET", false, VERB_LIST, "list", list_run},
	{"POST", false, VERB_CREATE, "create", create_run},
	{"PUT", true, VERB_UPDATE, "update", update_run},
	{"PATCH", true, VERB_PATCH, "patch", patch_run},
	{"DELETE", true, VERB_DELETE, "delete", delete_run},
	{"DELETE", false, VERB_DELETECOLLECTION, "deletecollection", collection_run},
};

static int no_method(struct error *err)
{
	return error_set(err, ERR_METHOD_NOT_ALLOWED,
			 "the server does not allow this method on the requested resource");
}

static const struct method *find_method(const struct request *r)
{
	const char *name = exchange_method(r->pub.x);

	for (size_t i = 0; i < ARRAY_LEN(methods); i++)
		if (!strcmp(methods[i].method, name) && methods[i].named == (r->pub.name != NULL))
			return &methods[i];
	return NULL;
}

static void run_route(struct request *r)
{
	r->route->handler(&r->pub, r->server->profile->arg);
}

/* A subresource of the profile: its row must have the method. POST creates, whatever the path. */
static int route_to_profile(struct request *r, struct error *err)
{
	const char *method = exchange_method(r->pub.x);
	const struct server_profile *p = r->server->profile;

	for (size_t i = 0; i < p->n_routes; i++)
		if (p->routes[i].kind == r->pub.kind &&
		    !strcmp(p->routes[i].subresource, r->pub.subresource) &&
		    !strcmp(p->routes[i].method, method))
			r->route = &p->routes[i];
	if (!r->route)
		return no_method(err);
	r->run = run_route;
	r->pub.verb = "create";
	for (size_t i = 0; i < ARRAY_LEN(methods); i++)
		if (methods[i].named && !strcmp(methods[i].method, method))
			r->pub.verb = methods[i].text;
	return 0;
}

static bool spans_namespaces(const struct request *r)
{
	return r->pub.kind->namespaced && !r->pub.ns;
}

static void route_watch(struct request *r)
{
	bool watch = false;

	option_bool(r, "watch", &watch);
	if (!watch)
		return;
	r->verb = VERB_WATCH;
	r->pub.verb = "watch";
	r->run = watch_run;
}

int route_verb(struct request *r, struct error *err)
{
	const struct method *m;

	if (*r->pub.subresource && strcmp(r->pub.subresource, "status") != 0)
		return route_to_profile(r, err);
	m = find_method(r);
	if (!m || (spans_namespaces(r) && m->verb != VERB_LIST))
		return no_method(err);
	if (*r->pub.subresource && m->verb == VERB_DELETE)
		return no_method(err);
	r->verb = m->verb;
	r->pub.verb = m->text;
	r->run = m->run;
	if (m->verb == VERB_LIST)
		route_watch(r);
	return server_kind_verbs(r->kind) & r->verb ? 0 : no_method(err);
}
