#include "fedctl/session.h"

#include <ctype.h>
#include <limits.h>
#include <string.h>

#include "api/meta.h"
#include "base/closest.h"
#include "base/encode.h"
#include "base/json.h"
#include "fedctl/patience.h"

#define NS_PER_MS     1000000
#define TIMEOUT_MS    30000
#define PAGE          500
#define NAMESPACE     "default"
#define NAMES_TIMEOUT 3000 /* a suggestion is not worth a longer wait */

/* --- open, close --- */

/* Who was not told which file may lack that of the federator. */
static int fail_config(const char *file, struct error *err)
{
	auto_xfree char *why = xstrdup(err->text);
	bool hint = !file && err->code == ERR_NOT_FOUND;

	return error_set(err, err->code, "kubeconfig (--kubeconfig, KUBECONFIG): %s%s", why,
			 hint ? "; after a ./quickstart: eval \"$(./quickstart env)\"" : "");
}

/* --server overrules the file, and does without one. */
static int read_config(const struct invocation *inv, struct kube_config *ret, struct error *err)
{
	const char *file = given_text(inv, "kubeconfig"), *server = given_text(inv, "server");
	const char *context = given_text(inv, "context");
	struct kube_config config = {0};

	if (kube_config_read(file, context, &config, err) && (!server || file || context))
		return fail_config(file, err);
	if (server) {
		free(config.server);
		config.server = xstrdup(server);
	}
	*ret = config;
	return 0;
}

/* A namespace becomes a part of paths, where another text would reach another place. */
static int check_config(const struct session *s, struct error *err)
{
	const char *url = http_url_mistake(s->config.server);
	const char *ns = name_mistake(NAME_LABEL, s->ns);

	if (url)
		return error_set(err, ERR_BAD_REQUEST, "the federator's address \"%s\" %s",
				 s->config.server, url);
	return ns ? error_set(err, ERR_BAD_REQUEST, "namespace \"%s\" %s", s->ns, ns) : 0;
}

/* In commands that wait, --timeout is how long all of it may take; in others, each request. */
static bool has_own_timeout(const struct invocation *inv)
{
	for (const struct option *o = inv->command->options; o && o->name; o++)
		if (!strcmp(o->name, "timeout"))
			return true;
	return false;
}

int session_open(struct session *s, const struct invocation *inv, struct error *err)
{
	const char *ns = given_text(inv, "namespace");

	*s = (struct session){.inv = inv};
	if (read_config(inv, &s->config, err))
		return -1;
	s->ns = ns ? ns : s->config.ns ? s->config.ns : NAMESPACE;
	if (check_config(s, err)) {
		kube_config_finish(&s->config);
		return -1;
	}
	s->loop = loop_create();
	s->env = loop_env(s->loop);
	s->kube = kube_create(s->loop, &s->config);
	s->since_ns = env_mono_ns(s->env);
	if (has_own_timeout(inv))
		s->allowed_ns = given_ns(inv, "timeout", 0);
	return 0;
}

void session_close(struct session *s)
{
	json_decref(s->details);
	kube_destroy(s->kube);
	loop_destroy(s->loop);
	kube_config_finish(&s->config);
	*s = (struct session){0};
}

int64_t session_left_ns(const struct session *s)
{
	int64_t left = s->allowed_ns - (env_mono_ns(s->env) - s->since_ns);

	if (!s->allowed_ns)
		return 0;
	return left > 0 ? left : 1;
}

void session_wait(struct session *s, const bool *done)
{
	while (!*done)
		loop_run(s->loop);
}

void session_wake(struct session *s, bool *done)
{
	*done = true;
	loop_stop(s->loop);
}

/* --- one request --- */

/* The answer of one request, kept until the loop has stopped. */
struct reply {
	struct session *session;
	struct patience patience;
	struct kube_call *call; /* NULL: answered */
	struct timer *end;
	int64_t timeout_ms;
	bool quiet, done, ok;
	bool late;         /* there was no answer in time */
	struct error last; /* why it is to come again; empty: it never was */
	json_t *body, *details;
	char *location; /* of a redirect */
	struct error err;
};

static void reply_finish(struct reply *r)
{
	json_decref(r->body);
	json_decref(r->details);
	free(r->location);
}

static void on_answer(const struct kube_answer *a, void *arg)
{
	struct reply *r = arg;

	r->call = NULL;
	r->late = !a->status && a->err.code == ERR_TIMEOUT;
	for (size_t i = 0; !r->quiet && a->warnings && a->warnings[i]; i++)
		say_warning(a->warnings[i]);
	r->ok = a->ok;
	if (a->ok)
		r->body = a->size ? json_parse_foreign(a->body, a->size, &r->err) : json_null();
	if (a->ok && !r->body)
		r->ok = false;
	if (!a->ok)
		r->err = a->err;
	if (a->error_details)
		r->details = json_deep_copy(a->error_details);
	if (a->status == 307 && a->location)
		r->location = xstrdup(a->location);
	session_wake(r->session, &r->done);
}

/* The server asks to come again: a person learns why it takes so long. */
static bool may_retry(const struct error *why, void *arg)
{
	struct reply *r = arg;

	r->last = *why;
	patience_hear(&r->patience, why);
	return true;
}

static void on_end(void *arg)
{
	struct reply *r = arg;

	kube_cancel(take_ptr(r->call));
	r->late = true;
	session_wake(r->session, &r->done);
}

int64_t session_timeout_ms(const struct session *s)
{
	int64_t ns = TIMEOUT_MS * (int64_t)NS_PER_MS;

	if (s->allowed_ns)
		ns = session_left_ns(s);
	else if (!has_own_timeout(s->inv))
		ns = given_ns(s->inv, "timeout", ns);
	return ns / NS_PER_MS + (ns % NS_PER_MS != 0);
}

static void send_and_wait(struct session *s, struct kube *kube, const struct call *call,
			  const char *path, struct reply *r)
{
	auto_xfree char *body = call->body ? json_print(call->body) : NULL;
	int64_t timeout_ms = call->timeout_ms ? call->timeout_ms : session_timeout_ms(s);

	*r = (struct reply){.session = s, .timeout_ms = timeout_ms, .quiet = call->quiet};
	patience_begin(&r->patience, s);
	r->end = timer_create_in(s->env, on_end, r);
	timer_start(r->end, timeout_ms);
	r->call = kube_send(kube,
			    &(struct kube_request){.method = call->method ? call->method : "GET",
						   .path = path,
						   .body = body,
						   .content_type = call->content_type,
						   .timeout_ms = timeout_ms,
						   .done = on_answer,
						   .may_retry = may_retry,
						   .retries = UINT_MAX,
						   .arg = r});
	session_wait(s, &r->done);
	timer_destroy(take_ptr(r->end));
	patience_end(&r->patience);
}

/* "https://host:port/path": how much of it is the server. */
static size_t origin_size(const char *url)
{
	const char *host = strstr(url, "://");

	return host ? (size_t)(host + 3 - url) + strcspn(host + 3, "/") : 0;
}

/* Another replica leads, and only the leader knows. */
static void ask_leader(struct session *s, const struct call *call, struct reply *r)
{
	auto_xfree char *location = take_ptr(r->location), *server = NULL;
	size_t n = origin_size(location);
	struct kube_config config = s->config;
	struct kube *leader;

	server = n ? xstrndup(location, n) : xstrdup(s->config.server);
	config.server = server;
	leader = kube_create(s->loop, &config);
	reply_finish(r);
	send_and_wait(s, leader, call, location + n, r);
	kube_destroy(leader);
}

/* What the transport says is "GET https://host/path: reason". */
const char *failure_reason(const struct error *err)
{
	const char *colon = strstr(err->text, ": ");

	return colon ? colon + 2 : err->text;
}

/* What is the matter with the address, when nobody answers there properly. */
static const char *address_hint(const char *server)
{
	return strncmp(server, "http://", 7) ? "" : "; the federator speaks https";
}

static const char *unreachable_hint(const char *server)
{
	if (*address_hint(server))
		return address_hint(server);
	if (!strncmp(server, "https://127.0.0.1:", 18))
		return "; is it running? ./quickstart starts it";
	return "; is it running, and is that its address?";
}

void session_translate(const struct session *s, bool reads, struct error *err)
{
	auto_xfree char *r = xstrdup(failure_reason(err));
	const char *server = s->config.server;

	if (islower((unsigned char)r[*r != '\0']))
		*r = (char)tolower((unsigned char)*r); /* "SSL" stays */
	if (err->code == ERR_UNREACHABLE)
		error_set(err, ERR_UNREACHABLE, "cannot reach the federator at %s: %s%s", server, r,
			  unreachable_hint(server));
	else if (err->code == ERR_TIMEOUT)
		error_set(err, ERR_TIMEOUT, "the federator at %s: %s%s", server, r,
			  reads ? "" : "; what was asked may yet be done");
	else if (reads)
		error_set(err, ERR_UNREACHABLE, "the federator at %s: %s%s", server, r,
			  address_hint(server));
	else
		error_set(err, ERR_UNKNOWN_OUTCOME,
			  "the federator at %s: %s%s; what was asked may have been done: look "
			  "before you ask again",
			  server, r, address_hint(server));
}

bool error_is_of_transport(const struct error *err)
{
	return err->code == ERR_UNREACHABLE || err->code == ERR_UNKNOWN_OUTCOME ||
	       err->code == ERR_TIMEOUT;
}

void session_fail_late(const struct session *s, int64_t after_ms, const char *why,
		       struct error *err)
{
	char after[TIME_SIZE];

	duration_format(after, after_ms * NS_PER_MS);
	error_set(err, ERR_TIMEOUT, "timed out after %s: the federator at %s: %s", after,
		  s->config.server, *why ? why : "no answer");
}

static void fail_late(const struct session *s, const struct reply *r, bool reads, struct error *err)
{
	struct error late;

	session_fail_late(s, r->timeout_ms, r->last.text, &late);
	error_set(err, ERR_TIMEOUT, "%s%s", late.text,
		  reads ? "" : "; what was asked may yet be done");
}

static bool only_reads(const struct call *call)
{
	return !call->method || !strcmp(call->method, "GET");
}

int session_call(struct session *s, const struct call *call, json_t **ret_body, struct error *err)
{
	struct reply r;
	int rc = 0;

	json_decref(s->details);
	s->details = NULL;
	send_and_wait(s, s->kube, call, call->path, &r);
	if (r.location)
		ask_leader(s, call, &r);
	if (r.ok && ret_body) {
		*ret_body = take_ptr(r.body);
	} else if (!r.ok) {
		s->details = take_ptr(r.details);
		*err = r.err;
		if (r.late)
			fail_late(s, &r, only_reads(call), err);
		else if (error_is_of_transport(err) && !s->details)
			session_translate(s, only_reads(call), err);
		rc = -1;
	}
	reply_finish(&r);
	return rc;
}

/* --- objects --- */

void object_path(const struct kind *kind, const char *ns, const char *name, struct strbuf *out)
{
	auto_strbuf safe_ns = {0}, safe_name = {0};

	if (ns)
		percent_encode(&safe_ns, ns);
	if (name)
		percent_encode(&safe_name, name);
	kind_path(kind, ns ? strbuf_str(&safe_ns) : NULL, name ? strbuf_str(&safe_name) : NULL,
		  out);
}

/* One page of names is enough to guess by. */
char *session_closest(struct session *s, const struct kind *kind, const char *ns, const char *name)
{
	auto_json *page = NULL;
	auto_strbuf path = {0};
	struct closest c;
	struct error err;
	json_t *item;
	size_t i;

	object_path(kind, ns, NULL, &path);
	strbuf_addf(&path, "?limit=%d", PAGE);
	if (session_call(s, &(struct call){.path = path.bytes, .timeout_ms = NAMES_TIMEOUT}, &page,
			 &err))
		return NULL;
	closest_init(&c, name, strlen(name));
	json_array_foreach (json_object_get(page, "items"), i, item) {
		const char *candidate = json_str_at(item, "metadata", "name", NULL);

		if (candidate)
			closest_offer(&c, candidate);
	}
	return c.best ? xstrdup(c.best) : NULL;
}

int session_not_found(struct session *s, const struct kind *kind, const char *ns, const char *name,
		      struct error *err)
{
	auto_xfree char *meant = session_closest(s, kind, ns, name);
	auto_strbuf where = {0};

	if (kind->namespaced && strcmp(ns, NAMESPACE) != 0)
		strbuf_addf(&where, " in namespace \"%s\"", ns);
	if (meant)
		return error_set(err, ERR_NOT_FOUND, "%s \"%s\" not found%s; did you mean \"%s\"?",
				 kind->singular, name, strbuf_str(&where), meant);
	return error_set(err, ERR_NOT_FOUND, "%s \"%s\" not found%s", kind->singular, name,
			 strbuf_str(&where));
}

/* A server says of what it refuses what it was; of paths that it does not know it says nothing. */
static int fail_get(struct session *s, const struct kind *kind, const char *ns, const char *name,
		    struct error *err)
{
	if (err->code != ERR_NOT_FOUND)
		return -1;
	if (!s->details)
		return session_not_served(s, kind, err);
	return name ? session_not_found(s, kind, ns, name, err) : -1;
}

int session_list(struct session *s, const struct kind *kind, const char *ns, const char *selector,
		 json_t **ret_items, struct error *err)
{
	auto_json *items = json_array();
	auto_xfree char *next = NULL;

	do {
		auto_json *page = NULL;
		auto_strbuf path = {0};
		const char *more;

		object_path(kind, ns, NULL, &path);
		strbuf_addf(&path, "?limit=%d", PAGE);
		if (selector) {
			strbuf_adds(&path, "&labelSelector=");
			percent_encode(&path, selector);
		}
		if (next) {
			strbuf_adds(&path, "&continue=");
			percent_encode(&path, next);
		}
		if (session_call(s, &(struct call){.path = path.bytes}, &page, err))
			return fail_get(s, kind, ns, NULL, err);
		json_array_extend(items, json_object_get(page, "items"));
		free(next);
		more = json_str_at(page, "metadata", "continue", NULL);
		next = more && *more ? xstrdup(more) : NULL;
	} while (next);
	*ret_items = take_ptr(items);
	return 0;
}

int session_get(struct session *s, const struct kind *kind, const char *ns, const char *name,
		json_t **ret, struct error *err)
{
	auto_strbuf path = {0};

	object_path(kind, ns, name, &path);
	if (!session_call(s, &(struct call){.path = path.bytes}, ret, err))
		return 0;
	return fail_get(s, kind, ns, name, err);
}
