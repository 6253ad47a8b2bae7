/* DELETE of a collection: every object that the selectors mean, one write after the other. */
#include <inttypes.h>
#include <string.h>

#include "server/read.h"
#include "server/write.h"

struct collection {
	struct request *request;
	struct selection sel;
	struct doc_array docs;
	size_t next;
	json_t *body; /* options, as sent */
	struct delete_options options;
	size_t limit;
	bool dry_run;
	json_t *gone; /* what was deleted */
};

static void collection_next(void *arg);

static void collection_cleanup(struct request *r)
{
	struct collection *c = r->state;

	doc_array_finish(&c->docs);
	selection_finish(&c->sel);
	json_decref(c->gone);
	json_decref(c->body);
}

static void collection_done(struct collection *c)
{
	const struct kind *k = c->request->pub.kind;
	auto_json *list = json_object();
	auto_strbuf gv = {0};

	kind_api_version(k, &gv);
	json_set_str(list, "kind", k->list_name);
	json_set_str(list, "apiVersion", strbuf_str(&gv));
	metadata_set_version(list, cache_version(c->request->server->cache));
	json_object_set(list, "items", c->gone);
	respond_json(c->request, 200, list);
	request_unref(c->request);
}

static void one_deleted(struct write *w, const struct error *err)
{
	struct collection *c = w->arg;

	if (err && err->code != ERR_NOT_FOUND) {
		respond_error(c->request, err, &w->pub.causes);
		request_unref(c->request);
		return;
	}
	if (!err)
		json_array_append(c->gone, w->removed ? w->old : w->pub.object);
	/* not from here: a dry run would go one call deeper for each object */
	loop_defer(w->server->loop, collection_next, c);
}

static void collection_next(void *arg)
{
	struct collection *c = arg;
	struct request *r = c->request;
	auto_json *tree = NULL;
	struct write *w;

	if (!r->pub.x || c->next == c->docs.n) {
		collection_done(c);
		return;
	}
	tree = doc_tree(c->docs.items[c->next++]);
	w = write_create(r->server, r, r->kind, WRITE_DELETE, r->pub.ns, meta_str(tree, "name"),
			 NULL);
	w->del = c->options;
	w->del.uid = arena_strdup(&w->arena, meta_str(tree, "uid"));
	w->pub.dry_run = c->dry_run;
	w->done = one_deleted;
	w->arg = c;
	write_run(w);
}

static void collection_serve(struct request *r)
{
	struct collection *c = r->state;

	selection_collect(&c->sel, r->server->cache, &(struct collect){.limit = c->limit}, &c->docs,
			  NULL);
	request_ref(r);
	collection_next(c);
}

static void collection_body(struct server_request *pub, json_t *body, void *arg)
{
	struct request *r = request_of(pub);
	struct collection *c = arena_new(&r->arena, struct collection);
	struct error err;

	r->state = c;
	r->cleanup = collection_cleanup;
	c->request = r;
	if (delete_options_parse(r, body, &c->options, &c->dry_run, &err) ||
	    list_limit(r, &c->limit, &err) || selection_init(&c->sel, r, &err)) {
		respond_error(r, &err, NULL);
		return;
	}
	c->body = json_incref(body);
	c->gone = json_array();
	view_await(r, (struct view){VIEW_FRESH, 0}, collection_serve);
}

void collection_run(struct request *r)
{
	server_read_body(&r->pub, collection_body, NULL);
}
