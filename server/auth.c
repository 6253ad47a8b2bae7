/* Who asks, and whether the profile lets them. */
#include <string.h>
#include <strings.h>

#include "server/request.h"

#define ANONYMOUS "system:anonymous"

/* The groups that the user has by certificate or token, and the one that all who are known have. */
static const char *const *with_authenticated(struct arena *a, const char *const *groups)
{
	const char **all;
	size_t n = 0;

	while (groups && groups[n])
		n++;
	all = arena_array(a, const char *, n + 2);
	for (size_t i = 0; i < n; i++)
		all[i] = arena_strdup(a, groups[i]);
	all[n] = "system:authenticated";
	return all;
}

static const char *bearer_token(const struct request *r)
{
	const char *header = exchange_header(r->pub.x, "Authorization");

	if (!header || strncasecmp(header, "Bearer ", 7) != 0)
		return NULL;
	header += 7;
	return header + strspn(header, " ");
}

static int authenticate_token(struct request *r, const char *token, struct error *err)
{
	const struct server_profile *p = r->server->profile;
	struct server_user user = {0};

	if (!p->token || p->token(token, &r->arena, &user, p->arg))
		return error_set(err, ERR_UNAUTHORIZED, "Unauthorized");
	r->user.name = user.name;
	r->user.groups = with_authenticated(&r->arena, user.groups);
	return 0;
}

int request_authenticate(struct request *r, struct error *err)
{
	static const char *const nobody[] = {"system:unauthenticated", NULL};
	const char *peer = exchange_peer_user(r->pub.x);
	const char *token = bearer_token(r);

	if (peer) {
		r->user.name = arena_strdup(&r->arena, peer);
		r->user.groups = with_authenticated(&r->arena, exchange_peer_groups(r->pub.x));
		return 0;
	}
	if (token)
		return authenticate_token(r, token, err);
	r->user = (struct server_user){ANONYMOUS, nobody};
	return 0;
}

bool request_is_anonymous(const struct request *r)
{
	return !strcmp(r->user.name, ANONYMOUS);
}

static void add_where(const struct request *r, struct strbuf *out)
{
	if (r->pub.ns)
		strbuf_addf(out, " in the namespace \"%s\"", r->pub.ns);
	else
		strbuf_adds(out, " at the cluster scope");
}

static int forbidden(const struct request *r, const struct strbuf *why, struct error *err)
{
	const struct kind *k = r->kind->kind;
	auto_strbuf resource = {0}, where = {0};

	kind_resource_name(k, &resource);
	add_where(r, &where);
	return error_set(err, ERR_FORBIDDEN,
			 "%s %s%s%sis forbidden: User \"%s\" cannot %s resource \"%s%s%s\" in API "
			 "group \"%s\"%s%s%s",
			 strbuf_str(&resource), r->pub.name ? "\"" : "",
			 r->pub.name ? r->pub.name : "", r->pub.name ? "\" " : "", r->user.name,
			 r->pub.verb, k->plural, *r->pub.subresource ? "/" : "", r->pub.subresource,
			 k->group, strbuf_str(&where), why->size ? ": " : "", strbuf_str(why));
}

int request_authorize(const struct request *r, struct error *err)
{
	const struct server_profile *p = r->server->profile;
	auto_strbuf why = {0};

	/* Whatever the profile grants, it grants to somebody. */
	if (request_is_anonymous(r))
		return error_set(err, ERR_UNAUTHORIZED, "Unauthorized");
	if (!p->authorize || p->authorize(&r->pub, &why, p->arg))
		return 0;
	return forbidden(r, &why, err);
}
