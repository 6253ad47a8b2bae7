/*
 * Lists, whole or in pages. A page goes on behind the last key of the one before, in the cache as
 * it is now, and carries the version of the first: docs/design/0002-server.md says why that is
 * enough.
 */
#include <inttypes.h>
#include <string.h>

#include "base/encode.h"
#include "server/options.h"
#include "server/read.h"

#define WHOLE_MAX     (512 * 1024) /* larger answers are streamed at the client's pace */
#define STREAM_AHEAD  (256 * 1024) /* bytes that may wait for the client */
#define SLICE         20000        /* documents looked at in one turn of the loop: some 20 ms */
#define REMAINING_MAX 10000        /* objects counted for remainingItemCount; more: not told */
#define CONTINUE_MAX  2000         /* bytes of a token's text: a key and a version */

struct list_state {
	struct selection sel;
	struct table_options table;
	struct doc_array docs;
	size_t sent;
	size_t limit;
	bool exact;
	int64_t version; /* that the answer carries; 0: the cache's */
	char *after;     /* key behind which the page begins, or NULL */
	char *last;      /* key behind which the next slice begins, or NULL */
};

static void list_closed(struct server_request *r, void *arg)
{
	struct list_state *l = arg;

	doc_array_finish(&l->docs);
	selection_finish(&l->sel);
	free(l->last);
	l->last = NULL;
}

int list_limit(const struct request *r, size_t *ret, struct error *err)
{
	int64_t limit = 0;

	if (option_int(r, "limit", &limit, err))
		return -1;
	*ret = limit > 0 ? (size_t)limit : 0;
	return 0;
}

/* "<version>:<rest of the key>" in base64. */
static char *continue_make(const struct list_state *l)
{
	const char *key = l->docs.items[l->docs.n - 1]->key;
	auto_strbuf text = {0}, token = {0};

	strbuf_addf(&text, "%" PRId64 ":%s", l->version, key + strlen(l->sel.prefix));
	base64_encode(&token, strbuf_str(&text), text.size);
	return strbuf_take(&token);
}

static int continue_parse(struct request *r, struct list_state *l, const char *token,
			  struct error *err)
{
	auto_strbuf text = {0};
	char *end = NULL;

	if (base64_decode(&text, token, strlen(token)) || !text.size || text.size > CONTINUE_MAX)
		return error_set(err, ERR_BAD_REQUEST, "continue key is not valid");
	l->version = strtoll(text.bytes, &end, 10);
	if (*end != ':' || l->version <= 0 || strlen(text.bytes) != text.size)
		return error_set(err, ERR_BAD_REQUEST, "continue key is not valid");
	l->after = arena_printf(&r->arena, "%s%s", l->sel.prefix, end + 1);
	return 0;
}

/* resourceVersionMatch and what goes with it. */
static int check_options(struct request *r, const struct view *view, bool *ret_exact,
			 struct error *err)
{
	const char *match = request_query(r, "resourceVersionMatch");
	auto_xfree char *quoted = match ? xasprintf("\"%.40s\"", match) : NULL;
	static const char field[] = "resourceVersionMatch";

	*ret_exact = match && !strcmp(match, "Exact");
	if (match && !request_query(r, "resourceVersion"))
		option_wrong(
			r, CAUSE_FORBIDDEN, field, NULL,
			"resourceVersionMatch is forbidden unless resourceVersion is provided");
	if (match && request_query(r, "continue"))
		option_wrong(r, CAUSE_FORBIDDEN, field, NULL,
			     "resourceVersionMatch is forbidden when continue is provided");
	if (match && !*ret_exact && strcmp(match, "NotOlderThan") != 0)
		option_wrong(r, CAUSE_NOT_SUPPORTED, field, quoted,
			     "supported values: \"Exact\", \"NotOlderThan\", \"\"");
	if (*ret_exact && view->type == VIEW_ANY)
		option_wrong(
			r, CAUSE_FORBIDDEN, field, NULL,
			"resourceVersionMatch \"exact\" is forbidden for resourceVersion \"0\"");
	if (exchange_query(r->pub.x, "sendInitialEvents"))
		option_wrong(r, CAUSE_FORBIDDEN, "sendInitialEvents", NULL,
			     "sendInitialEvents is forbidden for list");
	return options_check(r, err);
}

static int parse_version(struct request *r, struct list_state *l, struct view *view,
			 struct error *err)
{
	const char *token = request_query(r, "continue");
	bool given;

	if (version_parse(request_query(r, "resourceVersion"), &view->version, &given, err))
		return -1;
	view->type = !given ? VIEW_FRESH : view->version ? VIEW_VERSION : VIEW_ANY;
	if (check_options(r, view, &l->exact, err))
		return -1;
	if (token && view->version)
		return error_set(err, ERR_BAD_REQUEST,
				 "specifying resource version is not allowed when using continue");
	if (view->type == VIEW_ANY)
		l->limit = 0;
	if (!token)
		return 0;
	if (continue_parse(r, l, token, err))
		return -1;
	*view = (struct view){VIEW_VERSION, l->version};
	return 0;
}

/* How long a list may take is for the client to say; ours take no time that could be cut. */
static int check_timeout(const struct request *r, struct error *err)
{
	int64_t ignored;

	return option_int(r, "timeoutSeconds", &ignored, err);
}

static void ignore_event(const struct cache_event *e, void *arg)
{
}

static void ignore_end(const struct error *err, void *arg)
{
}

/* Whether a watch from that version could still be given. */
static bool window_reaches(struct cache *c, const char *prefix, int64_t version)
{
	struct cache_watch *w =
		cache_watch(c, prefix, version, ignore_event, ignore_end, NULL, NULL);

	cache_unwatch(w);
	return w != NULL;
}

static int list_check_view(const struct request *r, const struct list_state *l, struct error *err)
{
	struct cache *c = r->server->cache;

	if (l->exact && cache_version(c) != r->awaited)
		return error_set(err, ERR_EXPIRED,
				 "The resourceVersion for the provided list is too old.");
	if (l->after && !window_reaches(c, l->sel.prefix, l->version))
		return error_set(
			err, ERR_EXPIRED,
			"The provided continue parameter is too old to display a consistent "
			"list result. You can start a new list without the continue "
			"parameter.");
	return 0;
}

struct counting {
	int64_t n;
};

static bool count_one(struct doc *d, void *arg)
{
	struct counting *c = arg;

	return ++c->n <= REMAINING_MAX;
}

/* How many are left behind this page; 0 when that is not known. */
static int64_t list_remaining(const struct request *r, const struct list_state *l)
{
	struct counting c = {0};

	if (!selection_is_plain(&l->sel))
		return 0;
	cache_each(r->server->cache, l->sel.prefix, l->docs.items[l->docs.n - 1]->key, count_one,
		   &c);
	return c.n <= REMAINING_MAX ? c.n : 0;
}

static void add_head(struct strbuf *out, const struct kind *k, int64_t version,
		     const char *continue_, int64_t remaining)
{
	strbuf_addf(out, "{\"kind\":\"%s\",\"apiVersion\":\"", k->list_name);
	kind_api_version(k, out);
	strbuf_addf(out, "\",\"metadata\":{\"resourceVersion\":\"%" PRId64 "\"", version);
	if (continue_)
		strbuf_addf(out, ",\"continue\":\"%s\"", continue_);
	if (remaining)
		strbuf_addf(out, ",\"remainingItemCount\":%" PRId64, remaining);
	strbuf_adds(out, "},\"items\":[");
}

static void add_item(struct strbuf *out, const struct request *r, const struct list_state *l,
		     const struct doc *d)
{
	if (l->table.form == FORM_JSON)
		doc_write(out, d);
	else
		table_row(out, r->pub.kind, &l->table, d, d->version, env_wall_ns(r->server->env));
}

/* Items until so many bytes are there; false when none are left. */
static bool add_items(struct strbuf *out, const struct request *r, struct list_state *l,
		      size_t enough)
{
	while (l->sent < l->docs.n && out->size < enough) {
		if (l->sent)
			strbuf_addc(out, ',');
		add_item(out, r, l, l->docs.items[l->sent++]);
	}
	if (l->sent < l->docs.n)
		return true;
	strbuf_adds(out, "]}");
	return false;
}

static void list_pump(struct exchange *x, void *arg)
{
	struct request *r = arg;
	struct list_state *l = r->state;
	auto_strbuf out = {0};
	bool more = add_items(&out, r, l, STREAM_AHEAD);

	exchange_write(x, strbuf_str(&out), out.size);
	if (more)
		return;
	exchange_on_drain(x, NULL, NULL);
	exchange_end(x);
}

static size_t docs_size(const struct doc_array *docs)
{
	size_t n = 0;

	for (size_t i = 0; i < docs->n; i++)
		n += docs->items[i]->size + 64;
	return n;
}

static void send_items(struct request *r, struct list_state *l, struct strbuf *head)
{
	struct exchange *x = r->pub.x;

	if (docs_size(&l->docs) <= WHOLE_MAX) {
		add_items(head, r, l, SIZE_MAX);
		respond_bytes(r, 200, "application/json", strbuf_str(head), head->size);
		return;
	}
	exchange_begin(x, 200, "application/json");
	exchange_write(x, strbuf_str(head), head->size);
	exchange_on_drain(x, list_pump, r);
	list_pump(x, r);
}

static void list_send(struct request *r, struct list_state *l, bool more)
{
	auto_xfree char *next = more ? continue_make(l) : NULL;
	int64_t remaining = more ? list_remaining(r, l) : 0;
	auto_strbuf out = {0};

	if (l->table.form == FORM_JSON)
		add_head(&out, r->pub.kind, l->version, next, remaining);
	else
		table_begin(&out, r->pub.kind, &l->table, l->version, next, remaining, true);
	send_items(r, l, &out);
}

static void list_collect(void *arg)
{
	struct request *r = arg;
	struct list_state *l = r->state;
	const char *after = l->last ? l->last : l->after;
	char *last = NULL;
	enum collected outcome;

	if (!r->pub.x) {
		request_unref(r);
		return;
	}
	outcome = selection_collect(&l->sel, r->server->cache,
				    &(struct collect){after, l->limit, SLICE}, &l->docs, &last);
	free(l->last);
	l->last = last;
	if (outcome == COLLECTED_BUDGET) {
		loop_defer(r->server->loop, list_collect, r);
		return;
	}
	list_send(r, l, outcome == COLLECTED_LIMIT);
	request_unref(r);
}

static void list_serve(struct request *r)
{
	struct list_state *l = r->state;
	struct error err;

	if (list_check_view(r, l, &err)) {
		respond_error(r, &err, NULL);
		return;
	}
	if (!l->version)
		l->version = cache_version(r->server->cache);
	request_ref(r);
	list_collect(r);
}

void list_run(struct request *r)
{
	struct list_state *l = arena_new(&r->arena, struct list_state);
	struct view view;
	struct error err;

	r->state = l;
	server_request_on_close(&r->pub, list_closed, l);
	if (selection_init(&l->sel, r, &err) || table_options_parse(r, &l->table, &err) ||
	    list_limit(r, &l->limit, &err) || check_timeout(r, &err) ||
	    parse_version(r, l, &view, &err))
		respond_error(r, &err, NULL);
	else
		view_await(r, view, list_serve);
}
