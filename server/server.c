/* The server as a whole: its beginning and end, and the way of each request to who serves it. */
#include "server/server.h"

#include <string.h>

#include "api/selector.h"
#include "base/log.h"
#include "server/options.h"
#include "server/pages.h"
#include "server/read.h"
#include "server/write.h"

#define START_MS 1000 /* between tries to make the profile's namespaces */

/* --- the profile's kinds --- */

const struct server_kind *server_find_kind(const struct server *s, const char *group,
					   const char *version, const char *plural)
{
	for (size_t i = 0; i < s->profile->n_kinds; i++) {
		const struct kind *k = s->profile->kinds[i].kind;

		if (!strcmp(k->plural, plural) && !strcmp(k->group, group) &&
		    !strcmp(k->version, version))
			return &s->profile->kinds[i];
	}
	return NULL;
}

const struct server_kind *server_find_named(const struct server *s, const char *api_version,
					    const char *name)
{
	for (size_t i = 0; i < s->profile->n_kinds; i++) {
		const struct kind *k = s->profile->kinds[i].kind;
		auto_strbuf gv = {0};

		kind_api_version(k, &gv);
		if (!strcmp(k->name, name) && !strcmp(strbuf_str(&gv), api_version))
			return &s->profile->kinds[i];
	}
	return NULL;
}

unsigned server_kind_verbs(const struct server_kind *sk)
{
	return sk->verbs ? sk->verbs : sk->kind->verbs;
}

bool server_leads(const struct server *s, struct store_guard *ret)
{
	*ret = (struct store_guard){0};
	return !s->profile->lead || s->profile->lead(ret, s->profile->arg);
}

/* --- one request --- */

/* Those who cannot read the answer to a write shall not have written. */
static int check_accept(const struct request *r, struct error *err)
{
	const unsigned writes =
		VERB_CREATE | VERB_UPDATE | VERB_PATCH | VERB_DELETE | VERB_DELETECOLLECTION;
	enum form form;

	if (!(r->verb & writes))
		return 0;
	return accept_form(exchange_header(r->pub.x, "Accept"), FORMS_OBJECT, &form, err);
}

static void run_if_allowed(struct request *r)
{
	struct error err;

	if (request_authorize(r, &err) || option_timeout(r, &err) || check_accept(r, &err))
		respond_error(r, &err, NULL);
	else
		r->run(r);
}

/* A list or watch that is pinned to one name is authorized as if it were for that name. */
static void pin_name(struct request *r)
{
	struct field_selector *fields = NULL;
	const char *name;

	if (r->verb != VERB_LIST && r->verb != VERB_WATCH)
		return;
	if (field_selector_parse(request_query(r, "fieldSelector"), &fields, NULL))
		return; /* the verb says what is wrong with it */
	name = field_selector_name(fields);
	r->pub.name = arena_strdup(&r->arena, name);
	field_selector_destroy(fields);
}

static struct view view_before_authorization(struct request *r)
{
	const struct server_profile *p = r->server->profile;
	struct view view = {VIEW_ANY, 0};
	bool given;

	version_parse(request_query(r, "resourceVersion"), &r->pub.version, &given, NULL);
	if (p->view)
		view.version = p->view(&r->pub, p->arg);
	if (view.version)
		view.type = VIEW_VERSION;
	return view;
}

static void serve_resource(struct request *r)
{
	const struct error *trouble;
	struct error err;

	if (!r->server->ready) {
		trouble = store_trouble(r->server->store);
		error_set(&err, ERR_UNAVAILABLE, "the server is starting%s%s", trouble ? ": " : "",
			  trouble ? trouble->text : "");
		respond_error(r, &err, NULL);
		return;
	}
	if (route_verb(r, &err)) {
		respond_error(r, &err, NULL);
		return;
	}
	pin_name(r);
	view_await(r, view_before_authorization(r), run_if_allowed);
}

/* Health and version are for everybody, all else is not even told to be absent. */
static int check_known(const struct request *r, enum route_type type, struct error *err)
{
	if (!request_is_anonymous(r) || (type == ROUTE_PAGE && page_is_open(r)))
		return 0;
	return error_set(err, ERR_UNAUTHORIZED, "Unauthorized");
}

static void serve(struct request *r)
{
	enum route_type type = route_parse(r);
	struct error err;

	if (request_authenticate(r, &err) || check_known(r, type, &err)) {
		respond_error(r, &err, NULL);
		return;
	}
	switch (type) {
	case ROUTE_RESOURCE:
		serve_resource(r);
		break;
	case ROUTE_PAGE:
		page_run(r);
		break;
	case ROUTE_NO_RESOURCE:
		respond_not_found_resource(r);
		break;
	case ROUTE_NONE:
		respond_not_found_path(r);
		break;
	}
}

static void on_request(struct exchange *x, void *arg)
{
	struct request *r = request_create(arg, x);

	request_ref(r);
	serve(r);
	request_unref(r);
}

/* --- the beginning --- */

static void set_ready(struct server *s)
{
	s->ready = true;
	s->collector = collector_create(s);
	s->namespaces = namespaces_create(s);
	if (s->on_ready)
		s->on_ready(s->on_ready_arg);
}

static void on_namespace(struct write *w, const struct error *err)
{
	struct server *s = w->server;

	if (!s->retry) /* the end has come meanwhile */
		return;
	if (err && err->code != ERR_ALREADY_EXISTS) {
		log_warn("server", "make namespace %s: %s", w->pub.name ? w->pub.name : "",
			 err->text);
		timer_start(s->retry, START_MS);
	}
	if (--s->n_missing == 0 && !timer_active(s->retry))
		set_ready(s);
}

static void make_namespace(struct server *s, const char *name)
{
	const struct server_kind *sk = server_find_kind(s, "", "v1", "namespaces");
	json_t *body = json_object();
	struct write *w;

	json_set_str(json_object_need(body, "metadata"), "name", name);
	w = write_create(s, NULL, sk, WRITE_CREATE, NULL, NULL, body);
	w->done = on_namespace;
	write_run(w);
}

static void make_namespaces(struct server *s)
{
	const char *const *names = s->profile->namespaces;

	s->n_missing = 1; /* until all are asked for */
	for (; names && *names; names++) {
		if (namespace_get(s, *names))
			continue;
		s->n_missing++;
		make_namespace(s, *names);
	}
	if (--s->n_missing == 0)
		set_ready(s);
}

static void on_retry(void *arg)
{
	make_namespaces(arg);
}

static void await_cache(struct server *s);

static void on_cache_loaded(const struct error *err, void *arg)
{
	if (err)
		await_cache(arg);
	else
		make_namespaces(arg);
}

static void await_cache(struct server *s)
{
	cache_wait(s->cache, 0, INT32_MAX, on_cache_loaded, s);
}

int server_create(struct loop *loop, const struct server_profile *profile, struct store *store,
		  struct cache *cache, const struct http_server_config *http,
		  struct server **ret_server, struct error *err)
{
	struct server *s = xnew0(struct server);
	struct http_server_config config = *http;

	config.handler = on_request;
	config.arg = s;
	if (http_server_create(loop, &config, &s->http, err)) {
		free(s);
		return -1;
	}
	s->loop = loop;
	s->env = loop_env(loop);
	s->profile = profile;
	s->store = store;
	s->cache = cache;
	list_init(&s->watches);
	s->retry = timer_create_in(s->env, on_retry, s);
	pages_create(s);
	await_cache(s);
	*ret_server = s;
	return 0;
}

int server_port(const struct server *s)
{
	return http_server_port(s->http);
}

void server_on_ready(struct server *s, void (*fn)(void *arg), void *arg)
{
	s->on_ready = fn;
	s->on_ready_arg = arg;
}

/* --- the end --- */

static void end_when_free(struct server *s)
{
	void (*done)(void *arg) = s->done;
	void *arg = s->done_arg;

	if (!s->http_gone || s->n_pending)
		return;
	pages_destroy(s);
	free(s);
	if (done)
		done(arg);
}

void server_hold(struct server *s)
{
	s->n_pending++;
}

void server_release(struct server *s)
{
	s->n_pending--;
	end_when_free(s);
}

static void on_http_gone(void *arg)
{
	struct server *s = arg;

	s->http_gone = true;
	end_when_free(s);
}

void server_destroy(struct server *s, int64_t drain_ms, void (*done)(void *arg), void *arg)
{
	s->done = done;
	s->done_arg = arg;
	cache_forget(s->cache, s);
	collector_destroy(take_ptr(s->collector));
	namespaces_destroy(take_ptr(s->namespaces));
	timer_destroy(take_ptr(s->retry));
	watches_end(s);
	http_server_destroy(s->http, drain_ms, on_http_gone, s);
}
