/*
 * Watches: objects first where asked, then changes, one JSON object a line. What a selector hides
 * is told as deleted; a client that reads too slowly is cut; nobody who asked for a list by watch
 * is told 410.
 */
#include <inttypes.h>
#include <string.h>

#include "server/options.h"
#include "server/read.h"
#include "server/write.h"

#define BOOKMARK_MS  60000
#define DEFAULT_S    1800         /* and up to twice that, so that watches do not end together */
#define STREAM_AHEAD (256 * 1024) /* bytes of first objects that may wait for the client */
#define INITIAL_END  "k8s.io/initial-events-end"

struct watch {
	struct list_node link;
	struct request *request;
	struct selection sel;
	struct table_options table;
	struct cache_watch *source;
	struct timer *end, *bookmark;
	struct doc_array initial;
	size_t sent;
	int64_t timeout_s;
	int64_t version; /* all up to here has been sent */
	bool bookmarks;  /* the client takes them */
	bool objects_first;
	bool columns_told; /* of a table */
	bool over;
};

static void watch_release(struct watch *w)
{
	if (w->over)
		return;
	w->over = true;
	list_remove(&w->link);
	cache_unwatch(w->source);
	timer_destroy(w->end);
	timer_destroy(w->bookmark);
	doc_array_finish(&w->initial);
	selection_finish(&w->sel);
}

static void watch_closed(struct server_request *r, void *arg)
{
	watch_release(arg);
}

/* --- lines --- */

static void watch_write(struct watch *w, const struct strbuf *line)
{
	struct exchange *x = w->request->pub.x;

	if (!exchange_write(x, strbuf_str(line), line->size))
		exchange_abort(x);
}

static void add_object(struct watch *w, const struct doc *d, int64_t version, struct strbuf *out)
{
	const struct kind *k = w->request->pub.kind;

	if (w->table.form == FORM_JSON) {
		stored_write_at(out, d, version);
		return;
	}
	table_begin(out, k, &w->table, version, NULL, 0, !w->columns_told);
	table_row(out, k, &w->table, d, version, env_wall_ns(w->request->server->env));
	table_end(out);
	w->columns_told = true;
}

static void send_object(struct watch *w, const char *type, const struct doc *d, int64_t version)
{
	auto_strbuf line = {0};

	strbuf_addf(&line, "{\"type\":\"%s\",\"object\":", type);
	add_object(w, d, version, &line);
	strbuf_adds(&line, "}\n");
	watch_write(w, &line);
}

static json_t *bookmark_object(const struct watch *w, bool initial_end)
{
	const struct kind *k = w->request->pub.kind;
	json_t *j = json_object(), *metadata;
	auto_strbuf gv = {0};

	kind_api_version(k, &gv);
	json_set_str(j, "kind", k->name);
	json_set_str(j, "apiVersion", strbuf_str(&gv));
	metadata = json_object_need(j, "metadata");
	metadata_set_version(j, w->version);
	json_object_set_new(metadata, "creationTimestamp", json_null());
	if (initial_end)
		json_set_str(json_object_need(metadata, "annotations"), INITIAL_END, "true");
	return j;
}

static void send_bookmark(struct watch *w, bool initial_end)
{
	auto_json *object = bookmark_object(w, initial_end);
	auto_strbuf line = {0};

	strbuf_adds(&line, "{\"type\":\"BOOKMARK\",\"object\":");
	if (w->table.form == FORM_JSON) {
		json_write(&line, object);
	} else {
		table_begin(&line, w->request->pub.kind, &w->table, w->version, NULL, 0,
			    !w->columns_told);
		table_end(&line);
		w->columns_told = true;
	}
	strbuf_adds(&line, "}\n");
	watch_write(w, &line);
}

static void send_error(struct watch *w, const struct error *err)
{
	auto_json *status = status_failure(err, NULL);
	auto_strbuf line = {0};

	strbuf_adds(&line, "{\"type\":\"ERROR\",\"object\":");
	json_write(&line, status);
	strbuf_adds(&line, "}\n");
	watch_write(w, &line);
}

/* --- the end --- */

/* Nothing may be sent after this; the exchange finishes by itself. */
static void watch_end(struct watch *w)
{
	struct exchange *x = w->request->pub.x;

	watch_release(w);
	w->request->pub.x = NULL;
	if (x)
		exchange_end(x);
}

static void watch_timed_out(struct watch *w)
{
	if (w->bookmarks && w->source)
		send_bookmark(w, false);
	if (!w->over)
		watch_end(w);
}

static void on_end_timer(void *arg)
{
	struct watch *w = arg;
	struct request *r = w->request;

	request_ref(r);
	watch_timed_out(w);
	request_unref(r);
}

void watches_end(struct server *s)
{
	struct list_node *node;

	while ((node = list_first(&s->watches)))
		watch_end(list_entry(node, struct watch, link));
}

/* --- changes --- */

/* Rights on one object can end with another object: they are asked for again. */
static bool may_still_watch(struct watch *w)
{
	return !w->request->pub.name || !request_authorize(w->request, NULL);
}

static void watch_tell(struct watch *w, const struct cache_event *e)
{
	bool before = e->prev && selection_match(&w->sel, e->prev);
	bool now = e->type != CACHE_DELETED && selection_match(&w->sel, e->doc);

	w->version = e->version;
	if (now)
		send_object(w, before ? "MODIFIED" : "ADDED", e->doc, e->version);
	else if (before)
		send_object(w, "DELETED", e->type == CACHE_DELETED ? e->doc : e->prev, e->version);
}

static bool is_ours(const struct watch *w, const struct cache_event *e)
{
	return !strncmp(e->doc->key, w->sel.prefix, strlen(w->sel.prefix));
}

static void on_event(const struct cache_event *e, void *arg)
{
	struct watch *w = arg;
	struct request *r = w->request;

	if (w->over || e->version <= w->version)
		return;
	if (!is_ours(w, e)) {
		w->version = e->version;
		return;
	}
	request_ref(r);
	if (may_still_watch(w))
		watch_tell(w, e);
	else
		watch_end(w);
	request_unref(r);
}

static void on_source_ended(const struct error *err, void *arg)
{
	struct watch *w = arg;
	struct request *r = w->request;

	if (w->over)
		return;
	request_ref(r);
	w->source = NULL; /* it is gone with this call */
	watch_end(w);
	request_unref(r);
}

static void on_bookmark_timer(void *arg)
{
	struct watch *w = arg;
	struct request *r = w->request;

	request_ref(r);
	send_bookmark(w, false);
	if (!w->over)
		timer_start(w->bookmark, BOOKMARK_MS);
	request_unref(r);
}

/* --- the beginning --- */

/* Events of all kinds are followed: a bookmark may say no more than what was seen to pass, and must
 * not fall behind while other kinds are busy. */
static void watch_follow(struct watch *w)
{
	struct server *s = w->request->server;
	struct error err;

	w->source =
		cache_watch(s->cache, STORE_PREFIX, w->version, on_event, on_source_ended, w, &err);
	if (!w->source && !w->objects_first)
		send_error(w, &err);
	if (!w->source && !w->over)
		watch_end(w);
	else if (w->source && w->bookmarks)
		timer_start(w->bookmark, BOOKMARK_MS);
}

static void watch_pump(struct watch *w)
{
	struct exchange *x = w->request->pub.x;

	while (!w->over && w->sent < w->initial.n) {
		const struct doc *d = w->initial.items[w->sent];

		if (exchange_queued(x) > STREAM_AHEAD)
			return;
		w->sent++;
		send_object(w, "ADDED", d, d->version);
	}
	if (w->over)
		return;
	exchange_on_drain(x, NULL, NULL);
	doc_array_finish(&w->initial);
	if (w->objects_first && w->bookmarks)
		send_bookmark(w, true);
	if (!w->over)
		watch_follow(w);
}

static void on_drain(struct exchange *x, void *arg)
{
	struct watch *w = arg;
	struct request *r = w->request;

	request_ref(r);
	watch_pump(w);
	request_unref(r);
}

static void watch_begin(struct request *r)
{
	struct watch *w = r->state;
	struct server *s = r->server;

	if (w->objects_first) {
		selection_collect(&w->sel, s->cache, &(struct collect){0}, &w->initial, NULL);
		w->version = cache_version(s->cache);
	}
	w->end = timer_create_in(s->env, on_end_timer, w);
	w->bookmark = timer_create_in(s->env, on_bookmark_timer, w);
	list_push_back(&s->watches, &w->link);
	exchange_begin(r->pub.x, 200, "application/json");
	exchange_on_drain(r->pub.x, on_drain, w);
	timer_start(w->end, w->timeout_s * 1000);
	watch_pump(w);
}

/* --- what is asked for --- */

static int parse_timeout(struct watch *w, struct error *err)
{
	w->timeout_s = DEFAULT_S + (int64_t)env_random_below(w->request->server->env, DEFAULT_S);
	if (option_int(w->request, "timeoutSeconds", &w->timeout_s, err))
		return -1;
	if (w->timeout_s >= 0 && w->timeout_s <= INT32_MAX)
		return 0;
	return error_set(err, ERR_BAD_REQUEST,
			 "timeoutSeconds: Invalid value: %" PRId64 ": must be a number of seconds",
			 w->timeout_s);
}

static int check_options(struct request *r, bool initial_given, struct error *err)
{
	const char *match = request_query(r, "resourceVersionMatch");
	bool not_older = match && !strcmp(match, "NotOlderThan");
	auto_xfree char *quoted = match ? xasprintf("\"%.40s\"", match) : NULL;
	static const char field[] = "resourceVersionMatch";

	if (initial_given && !not_older)
		option_wrong(r, CAUSE_FORBIDDEN, field, NULL,
			     "sendInitialEvents requires setting resourceVersionMatch to "
			     "NotOlderThan");
	if (match && !initial_given)
		option_wrong(r, CAUSE_FORBIDDEN, field, NULL,
			     "resourceVersionMatch is forbidden for watch unless sendInitialEvents "
			     "is provided");
	if (match && !not_older)
		option_wrong(r, CAUSE_NOT_SUPPORTED, field, quoted,
			     "supported values: \"NotOlderThan\"");
	if (request_query(r, "continue"))
		option_wrong(r, CAUSE_FORBIDDEN, field, NULL,
			     "resourceVersionMatch is forbidden when continue is provided");
	return options_check(r, err);
}

/* Where the watch starts: with objects, behind a version, or behind what is there now. */
static int parse_start(struct watch *w, struct view *view, struct error *err)
{
	bool initial_given = exchange_query(w->request->pub.x, "sendInitialEvents") != NULL;
	struct request *r = w->request;
	bool initial = false, given;

	option_bool(r, "sendInitialEvents", &initial);
	option_bool(r, "allowWatchBookmarks", &w->bookmarks);
	if (check_options(r, initial_given, err))
		return -1;
	if (version_parse(request_query(r, "resourceVersion"), &w->version, &given, err)) {
		err->code = ERR_INTERNAL; /* as kube-apiserver has it, for watches only */
		return -1;
	}
	w->objects_first = initial_given ? initial : !w->version;
	view->version = w->version;
	view->type = !given ? VIEW_FRESH : w->version ? VIEW_VERSION : VIEW_ANY;
	return 0;
}

/* sendInitialEvents=false without a version: behind what is there now. */
static void watch_start(struct request *r)
{
	struct watch *w = r->state;

	if (!w->version)
		w->version = cache_version(r->server->cache);
	watch_begin(r);
}

void watch_run(struct request *r)
{
	struct watch *w = arena_new(&r->arena, struct watch);
	struct view view;
	struct error err;

	w->request = r;
	r->state = w;
	server_request_on_close(&r->pub, watch_closed, w);
	if (selection_init(&w->sel, r, &err) || table_options_parse(r, &w->table, &err) ||
	    parse_timeout(w, &err) || parse_start(w, &view, &err))
		respond_error(r, &err, NULL);
	else
		view_await(r, view, watch_start);
}
