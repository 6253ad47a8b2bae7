/* One object. */
#include <string.h>

#include "server/read.h"

static void send_object(struct request *r, const struct table_options *o, const struct doc *d)
{
	const struct kind *k = r->pub.kind;
	auto_strbuf out = {0};

	if (o->form == FORM_JSON) {
		doc_write(&out, d);
	} else {
		table_begin(&out, k, o, d->version, NULL, 0, true);
		table_row(&out, k, o, d, d->version, env_wall_ns(r->server->env));
		table_end(&out);
	}
	respond_bytes(r, 200, "application/json", strbuf_str(&out), out.size);
}

static void get_serve(struct request *r)
{
	const struct table_options *o = r->state;
	auto_strbuf key = {0};
	struct error err;
	struct doc *d;

	kind_key(r->pub.kind, r->pub.ns, r->pub.name, &key);
	d = cache_get(r->server->cache, strbuf_str(&key));
	if (d) {
		send_object(r, o, d);
		return;
	}
	not_found(r->pub.kind, r->pub.name, &err);
	respond_error(r, &err, NULL);
}

static int get_view(const struct request *r, struct view *ret, struct error *err)
{
	bool given;

	if (version_parse(request_query(r, "resourceVersion"), &ret->version, &given, err))
		return -1;
	ret->type = !given ? VIEW_FRESH : ret->version ? VIEW_VERSION : VIEW_ANY;
	return 0;
}

void get_run(struct request *r)
{
	struct table_options *o = arena_new(&r->arena, struct table_options);
	struct view view;
	struct error err;

	r->state = o;
	if (table_options_parse(r, o, &err) || get_view(r, &view, &err))
		respond_error(r, &err, NULL);
	else
		view_await(r, view, get_serve);
}
