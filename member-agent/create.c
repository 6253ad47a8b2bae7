#include "member-agent/create.h"

#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"

#define RETRY_BASE_MS 200
#define RETRY_MAX_MS  10000
#define FRESH_TRIES   12 /* of what a new namespace gets only after a moment: about a minute */

enum phase { PHASE_POST, PHASE_GET };

struct create {
	struct kube *kube;
	struct env *env;
	char *post_path, *object_path, *body;
	int64_t timeout_ms;
	enum phase phase;
	struct error refusal; /* of the POST, when the GET may still find the object */
	bool refused, dropped;
	unsigned tries;
	int64_t denied_ms; /* boot time, since; 0: not denied */
	struct kube_call *call;
	struct timer *timer;
	create_done done;
	void (*unanswered)(void *arg);
	void *arg;
};

static bool has_any(const char *text, const char *const *parts, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (strstr(text, parts[i]))
			return true;
	return false;
}

/* A 403 may be an admission plugin that could not read what it needs. */
static bool forbidden_is_transient(const char *text)
{
	static const char *const parts[] = {
		"stream error",
		"etcdserver",
		"context deadline exceeded",
		"connection refused",
		"connection reset",
		"timed out",
		"timeout",
		"transport is closing",
		"client connection lost",
		"status unknown for quota",
		"not yet ready to handle request",
	};

	return has_any(text, parts, ARRAY_LEN(parts));
}

/* "pods is forbidden: User "u" cannot create resource "pods" in API group "" in ...": admission
 * names no user. */
bool error_is_denied(const struct error *err)
{
	return err->code == ERR_FORBIDDEN && strstr(err->text, "forbidden: User \"") &&
	       strstr(err->text, "\" cannot ");
}

bool denial_lasts(struct env *env, int64_t *since_ms)
{
	int64_t now = env_mono_ms(env);

	if (!*since_ms)
		*since_ms = now;
	return now - *since_ms >= DENIED_FOR_MS;
}

const char *refusal_reason(const struct error *err)
{
	if (strstr(err->text, "quota"))
		return "QuotaExceeded";
	if (strstr(err->text, "being terminated") || err->code == ERR_NOT_FOUND)
		return "NamespaceTerminating";
	return "Forbidden";
}

/* Quotas are charged by their latest status only: two writers at once. */
static bool conflict_is_transient(const struct kube_answer *a)
{
	return a->err.code == ERR_CONFLICT;
}

bool answer_is_transient(const struct kube_answer *a)
{
	switch (a->status) {
	case 400:
	case 405:
	case 413:
	case 415:
	case 422:
		return false;
	case 403:
		return forbidden_is_transient(a->err.text);
	case 404:
		/* Without a Status about an object: the kind is not served yet. */
		return !json_str_at(a->error_details, "kind", NULL);
	case 409:
		return conflict_is_transient(a);
	default:
		return true;
	}
}

/* The account of a new namespace comes some 90 ms after it. */
static bool waits_for_account(const struct create *c, const struct kube_answer *a)
{
	return a->status == 403 && c->tries < FRESH_TRIES &&
	       strstr(a->err.text, "service account") && strstr(a->err.text, "not found");
}

static void create_free(struct create *c)
{
	timer_destroy(c->timer);
	free(c->post_path);
	free(c->object_path);
	free(c->body);
	free(c);
}

static void finish(struct create *c, enum create_result result, const char *object, size_t size,
		   const struct error *err)
{
	create_done done = c->done;
	void *arg = c->arg;
	struct error kept = err ? *err : (struct error){0};

	create_free(c);
	done(result, object, size, &kept, arg);
}

static void create_send(struct create *c);

static void on_timer(void *arg)
{
	struct create *c = arg;

	if (c->dropped && c->phase == PHASE_POST)
		finish(c, CREATE_DROPPED, NULL, 0, NULL);
	else
		create_send(c);
}

static void again_within(struct create *c, enum phase phase, int64_t max_ms)
{
	c->phase = phase;
	timer_start(c->timer, env_backoff_ms(c->env, c->tries++, RETRY_BASE_MS, max_ms));
}

static void again(struct create *c, enum phase phase)
{
	again_within(c, phase, RETRY_MAX_MS);
}

/* Whether it is there is asked on another connection: this one may yet carry out what was sent. */
static void look(struct create *c)
{
	kube_fresh_connection(c->kube);
	c->phase = PHASE_GET;
	create_send(c);
}

/* True when it was: rights that lack for a moment are no refusal. */
static bool took_denial(struct create *c, const struct kube_answer *a)
{
	if (!error_is_denied(&a->err)) {
		c->denied_ms = 0;
		return false;
	}
	if (denial_lasts(c->env, &c->denied_ms))
		finish(c, CREATE_REFUSED, NULL, 0, &a->err);
	else
		again_within(c, c->phase, DENIED_RETRY_MS);
	return true;
}

static bool may_yet_be_carried_out(const struct kube_answer *a)
{
	return a->status ? a->status >= 500 : a->err.code != ERR_UNREACHABLE;
}

static void on_post(struct create *c, const struct kube_answer *a)
{
	if (a->ok) {
		finish(c, CREATE_MADE, a->body, a->size, NULL);
		return;
	}
	if (may_yet_be_carried_out(a) && c->unanswered)
		c->unanswered(c->arg);
	if (took_denial(c, a))
		return;
	c->refused = !answer_is_transient(a) && !waits_for_account(c, a) && a->status != 409;
	c->refusal = a->err;
	/* Nothing left this machine, or the object itself is wrong: there is nothing to look for.
	 */
	if (a->err.code == ERR_UNREACHABLE || a->status == 429)
		again(c, PHASE_POST);
	else if (c->refused && a->status != 403)
		finish(c, CREATE_REFUSED, NULL, 0, &a->err);
	else
		look(c);
}

static void on_get(struct create *c, const struct kube_answer *a)
{
	if (a->ok) {
		finish(c, CREATE_FOUND, a->body, a->size, NULL);
		return;
	}
	if (took_denial(c, a))
		return;
	if (a->status != 404) {
		again(c, PHASE_GET);
		return;
	}
	if (c->refused) {
		finish(c, CREATE_REFUSED, NULL, 0, &c->refusal);
		return;
	}
	kube_fresh_connection(c->kube);
	again(c, PHASE_POST);
}

static void on_answer(const struct kube_answer *a, void *arg)
{
	struct create *c = arg;

	c->call = NULL;
	if (c->phase == PHASE_POST)
		on_post(c, a);
	else
		on_get(c, a);
}

static void create_send(struct create *c)
{
	bool post = c->phase == PHASE_POST;
	struct kube_request request = {
		.method = post ? "POST" : "GET",
		.path = post ? c->post_path : c->object_path,
		.body = post ? c->body : NULL,
		.timeout_ms = c->timeout_ms,
		.done = on_answer,
		.arg = c,
	};

	c->call = kube_send(c->kube, &request);
}

struct create *create_start(struct kube *k, struct env *env, const struct create_request *request)
{
	struct create *c = xnew0(struct create);

	c->kube = k;
	c->env = env;
	c->post_path = request->timeout_ms ? xasprintf("%s?timeout=%lldms", request->path,
						       (long long)request->timeout_ms)
					   : xstrdup(request->path);
	c->object_path = xasprintf("%s/%s", request->path, request->name);
	c->body = request->take_body;
	c->timeout_ms = request->timeout_ms;
	c->timer = timer_create_in(env, on_timer, c);
	c->done = request->done;
	c->unanswered = request->unanswered;
	c->arg = request->arg;
	create_send(c);
	return c;
}

void create_cancel(struct create *c)
{
	if (!c)
		return;
	kube_cancel(c->call);
	create_free(c);
}

void create_drop(struct create *c)
{
	c->dropped = true;
	if (timer_active(c->timer))
		timer_start(c->timer, 0);
}
