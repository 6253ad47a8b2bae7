#include "kube/client.h"

#include <stdlib.h>
#include <string.h>

#include "api/status.h"
#include "base/fault.h"
#include "base/json.h"
#include "base/list.h"
#include "base/mem.h"
#include "base/pki.h"
#include "kube/transport_curl.h"

#define RETRIES           10
#define MAX_RETRY_AFTER_S 60

struct kube {
	struct env *env;
	const struct kube_transport_ops *ops;
	void *transport;
	char *token_file;
	char **headers; /* "Name: value", NULL-terminated */
	size_t n_headers;
	struct list calls;
	bool (*may_write)(void *arg);
	void *may_write_arg;
	int64_t lost_ms;
	struct timer *settle_timer; /* NULL: nobody waits */
	void (*settled)(void *arg);
	void *settled_arg;
};

struct kube_call {
	struct list_node node;
	struct kube *kube;
	char *method, *path, *body, *content_type;
	char **headers; /* the client's and the request's; NULL-terminated */
	size_t body_size;
	int64_t timeout_ms;
	unsigned tries;
	bool reread_token;
	struct http_call *http; /* NULL while it waits to be sent again */
	struct timer *timer;
	bool refused;   /* by the gate */
	kube_done done; /* NULL: cancelled, and only waited for */
	bool (*may_retry)(const struct error *why, void *arg);
	unsigned retries;
	void *arg;
};

static void read_token(struct kube *k)
{
	auto_xfree char *token = NULL;
	struct error err;
	size_t n;

	if (!k->token_file || file_read(k->token_file, &token, &n, &err))
		return;
	token[strcspn(token, " \r\n")] = '\0';
	k->ops->set_token(k->transport, token);
}

struct kube *kube_create(struct loop *loop, const struct kube_config *config)
{
	struct kube *k = kube_create_with(loop_env(loop), &kube_transport_curl,
					  kube_transport_curl_create(loop, config));

	k->token_file = config->token_file ? xstrdup(config->token_file) : NULL;
	read_token(k);
	return k;
}

struct kube *kube_create_with(struct env *env, const struct kube_transport_ops *ops,
			      void *transport)
{
	struct kube *k = xnew0(struct kube);

	k->env = env;
	k->ops = ops;
	k->transport = transport;
	k->lost_ms = INT64_MIN;
	k->headers = xcalloc(1, sizeof(*k->headers));
	list_init(&k->calls);
	return k;
}

static void call_free(struct kube_call *call)
{
	list_remove(&call->node);
	timer_destroy(call->timer);
	free(call->method);
	free(call->path);
	free(call->body);
	free(call->content_type);
	for (size_t i = 0; call->headers[i]; i++)
		free(call->headers[i]);
	free(call->headers);
	free(call);
}

void kube_destroy(struct kube *k)
{
	struct kube_call *call, *tmp;

	if (!k)
		return;
	timer_destroy(take_ptr(k->settle_timer));
	list_for_each_safe (call, tmp, &k->calls, node)
		kube_cancel(call);
	k->ops->destroy(k->transport);
	for (size_t i = 0; i < k->n_headers; i++)
		free(k->headers[i]);
	free(k->headers);
	free(k->token_file);
	free(k);
}

static size_t header_find(const struct kube *k, const char *name)
{
	size_t n = strlen(name);

	for (size_t i = 0; i < k->n_headers; i++)
		if (!strncmp(k->headers[i], name, n) && k->headers[i][n] == ':')
			return i;
	return k->n_headers;
}

void kube_set_header(struct kube *k, const char *name, const char *value)
{
	size_t i = header_find(k, name);

	if (i < k->n_headers) {
		free(k->headers[i]);
		k->headers[i] = k->headers[--k->n_headers];
		k->headers[k->n_headers] = NULL;
	}
	if (!value)
		return;
	k->headers = xrealloc(k->headers, k->n_headers + 2, sizeof(*k->headers));
	k->headers[k->n_headers++] = xasprintf("%s: %s", name, value);
	k->headers[k->n_headers] = NULL;
}

static bool is_write(const struct kube_call *call)
{
	return strcmp(call->method, "GET") != 0;
}

static bool is_dry_run(const struct kube_call *call)
{
	return strstr(call->path, "dryRun=") != NULL;
}

/* --- the end of writes --- */

static bool has_writes(const struct kube *k)
{
	struct kube_call *call;

	list_for_each (call, &k->calls, node)
		if (call->http && is_write(call))
			return true;
	return false;
}

static void on_settle_timer(void *arg)
{
	struct kube *k = arg;

	if (has_writes(k))
		return;
	timer_destroy(take_ptr(k->settle_timer));
	k->settled(k->settled_arg);
}

static void look_if_settled(struct kube *k)
{
	if (k->settle_timer)
		timer_start(k->settle_timer, 0);
}

void kube_settle(struct kube *k, void (*done)(void *arg), void *arg)
{
	k->settled = done;
	k->settled_arg = arg;
	if (!k->settle_timer)
		k->settle_timer = timer_create_in(k->env, on_settle_timer, k);
	look_if_settled(k);
}

int64_t kube_lost_ms(const struct kube *k)
{
	return k->lost_ms;
}

static void note_lost(const struct kube_call *call)
{
	if (is_write(call) && !is_dry_run(call))
		call->kube->lost_ms = env_mono_ms(call->kube->env);
}

/* --- calls --- */

void kube_set_gate(struct kube *k, bool (*may_write)(void *arg), void *arg)
{
	k->may_write = may_write;
	k->may_write_arg = arg;
}

static bool may_send(void *arg)
{
	const struct kube_call *call = arg;
	const struct kube *k = call->kube;

	return !is_write(call) || !k->may_write || k->may_write(k->may_write_arg);
}

static void call_send(struct kube_call *call);
static void give_answer(struct kube_call *call, struct kube_answer *answer);

static void give_refusal(struct kube_call *call)
{
	struct kube_answer out = {.body = "", .retry_after_s = -1};

	error_set(&out.err, ERR_UNREACHABLE, "this process may not write any more");
	give_answer(call, &out);
}

static void on_retry_timer(void *arg)
{
	struct kube_call *call = arg;

	if (call->refused)
		give_refusal(call);
	else
		call_send(call);
}

static void start_timer(struct kube_call *call, int64_t ms)
{
	if (!call->timer)
		call->timer = timer_create_in(call->kube->env, on_retry_timer, call);
	timer_start(call->timer, ms);
}

static void retry_later(struct kube_call *call, int64_t after_s)
{
	if (after_s > MAX_RETRY_AFTER_S)
		after_s = MAX_RETRY_AFTER_S;
	call->tries++;
	start_timer(call, after_s * 1000);
}

/* An overloaded server says when to come again; it has done nothing yet, so a POST may be too. */
static bool wants_retry(const struct kube_call *call, const struct http_answer *a)
{
	return (a->status == 429 || a->status == 503) && a->retry_after_s >= 0 &&
	       call->tries < call->retries;
}

static bool may_retry(const struct kube_call *call, const struct http_answer *a)
{
	struct error why;

	if (!wants_retry(call, a) || !call->done)
		return false;
	if (!call->may_retry)
		return true;
	status_read(a->status, a->body, a->size, &why);
	return call->may_retry(&why, call->arg);
}

static void give_answer(struct kube_call *call, struct kube_answer *answer)
{
	kube_done done = call->done;
	void *arg = call->arg;

	look_if_settled(call->kube);
	call_free(call);
	if (done)
		done(answer, arg);
}

static void answer_error(struct kube_call *call, const struct http_answer *a,
			 struct kube_answer *out)
{
	auto_json *status = a->size ? json_parse(a->body, a->size, NULL, NULL) : NULL;

	out->error_details = json_at(status, "details", NULL);
	status_read(a->status, a->body, a->size, &out->err);
	give_answer(call, out);
}

static void on_answer(const struct http_answer *a, void *arg)
{
	struct kube_call *call = arg;
	struct kube_answer out = {.status = a->status,
				  .body = a->body,
				  .size = a->size,
				  .err = a->err,
				  .retry_after_s = a->retry_after_s,
				  .location = a->location,
				  .warnings = a->warnings};

	call->http = NULL;
	if (is_write(call) && a->status && fault_after_write()) {
		out = (struct kube_answer){.body = "", .retry_after_s = -1};
		error_set(&out.err, ERR_UNKNOWN_OUTCOME, "the answer was lost");
		note_lost(call);
		give_answer(call, &out);
		return;
	}
	if (!a->status && a->err.code != ERR_UNREACHABLE)
		note_lost(call);
	if (may_retry(call, a)) {
		retry_later(call, a->retry_after_s);
		return;
	}
	if (a->status == 401 && call->done && call->kube->token_file && !call->reread_token) {
		call->reread_token = true;
		read_token(call->kube);
		call_send(call);
		return;
	}
	if (a->status >= 500)
		note_lost(call);
	out.ok = a->status >= 200 && a->status < 300;
	if (out.ok || !a->status)
		give_answer(call, &out);
	else
		answer_error(call, a, &out);
}

static void call_send(struct kube_call *call)
{
	struct http_call_spec spec = {
		.method = call->method,
		.path = call->path,
		.body = call->body,
		.body_size = call->body_size,
		.content_type = call->content_type,
		.accept = "application/json",
		.headers = (const char *const *)call->headers,
		.timeout_ms = call->timeout_ms,
		.on_done = on_answer,
		.may_start = may_send,
		.arg = call,
	};

	if (!may_send(call)) {
		call->refused = true;
		start_timer(call, 0);
		return;
	}
	if (is_write(call))
		fault_before_write();
	call->http = call->kube->ops->start(call->kube->transport, &spec);
}

static char **all_headers(const struct kube *k, const char *const *more)
{
	size_t n = k->n_headers, i;
	char **list;

	for (i = 0; more && more[i]; i++)
		n++;
	list = xcalloc(n + 1, sizeof(*list));
	for (n = 0; n < k->n_headers; n++)
		list[n] = xstrdup(k->headers[n]);
	for (i = 0; more && more[i]; i++)
		list[n++] = xstrdup(more[i]);
	return list;
}

struct kube_call *kube_send(struct kube *k, const struct kube_request *request)
{
	struct kube_call *call = xnew0(struct kube_call);

	call->kube = k;
	call->method = xstrdup(request->method);
	call->path = xstrdup(request->path);
	call->headers = all_headers(k, request->headers);
	if (request->body) {
		call->body_size = request->body_size ? request->body_size : strlen(request->body);
		call->body = xmalloc(call->body_size + 1);
		memcpy(call->body, request->body, call->body_size);
		call->body[call->body_size] = '\0';
		call->content_type =
			xstrdup(request->content_type ? request->content_type : "application/json");
	}
	call->timeout_ms = request->timeout_ms;
	call->done = request->done;
	call->may_retry = request->may_retry;
	call->retries = request->retries ? request->retries : RETRIES;
	call->arg = request->arg;
	list_push_back(&k->calls, &call->node);
	call_send(call);
	return call;
}

void kube_cancel(struct kube_call *call)
{
	if (!call)
		return;
	if (call->http && is_write(call)) {
		if (call->kube->settle_timer) {
			call->done = NULL;
			return;
		}
		note_lost(call);
	}
	if (call->http)
		call->kube->ops->cancel(call->kube->transport, call->http);
	call_free(call);
}

void kube_fresh_connection(struct kube *k)
{
	k->ops->fresh(k->transport);
}

struct http_call *kube_stream(struct kube *k, const struct http_call_spec *spec)
{
	struct http_call_spec with_headers = *spec;

	with_headers.headers = (const char *const *)k->headers;
	return k->ops->start(k->transport, &with_headers);
}

void kube_stream_cancel(struct kube *k, struct http_call *call)
{
	if (call)
		k->ops->cancel(k->transport, call);
}
