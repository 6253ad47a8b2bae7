/* One call. What HTTP/2 reports is kept here until the session delivers it. */
#include <assert.h>
#include <string.h>

#include "base/encode.h"
#include "base/grpc_client_internal.h"
#include "base/scan.h"

static void call_ready(struct grpc_call *call)
{
	if (!list_linked(&call->ready) && !call->gone)
		list_push_back(&call->session->ready, &call->ready);
}

static void call_finish(struct grpc_call *call)
{
	call->finished = true;
	call_ready(call);
}

void call_fail(struct grpc_call *call, enum error_code code, const char *why)
{
	if (call->finished)
		return;
	call->status = -1;
	error_set(&call->err, code, "%s", why);
	call_finish(call);
}

/* --- what comes --- */

/* What cannot be read must not count as success. */
static int read_status(const char *value)
{
	char *end;
	long status = strtol(value, &end, 10);

	return end == value || *end || status < 0 || status > 99 ? GRPC_UNKNOWN : (int)status;
}

static void read_text(struct grpc_call *call, const char *value, size_t n)
{
	strbuf_clear(&call->text);
	if (percent_decode(&call->text, value, n, false)) {
		strbuf_clear(&call->text); /* as it is, then */
		strbuf_add(&call->text, value, n);
	}
}

void call_head(struct grpc_call *call, const char *name, const char *value, size_t n)
{
	static const char type[] = "application/grpc";

	if (call->finished)
		return;
	if (!strcmp(name, ":status"))
		call->http_status = (int)strtol(value, NULL, 10);
	else if (!strcmp(name, "content-type"))
		call->is_grpc = !strncmp(value, type, sizeof(type) - 1);
	else if (!strcmp(name, "grpc-status"))
		call->status = read_status(value);
	else if (!strcmp(name, "grpc-message"))
		read_text(call, value, n);
}

static size_t message_size(const char *head)
{
	const unsigned char *at = (const unsigned char *)head + 1;

	return (size_t)at[0] << 24 | (size_t)at[1] << 16 | (size_t)at[2] << 8 | at[3];
}

/* The next message at *at; false while it is not there as a whole. */
static bool next_message(struct grpc_call *call, size_t *at, struct sv *ret)
{
	size_t left = call->in.size - *at, n;

	if (left < GRPC_FRAME_HEAD)
		return false;
	n = message_size(call->in.bytes + *at);
	if (call->in.bytes[*at])
		call_fail(call, ERR_UNKNOWN_OUTCOME, "the answer is compressed, unasked");
	else if (n > GRPC_MAX_MESSAGE)
		call_fail(call, ERR_TOO_LARGE, "the answer is larger than 64 MiB");
	else if (left - GRPC_FRAME_HEAD >= n) {
		*ret = (struct sv){call->in.bytes + *at + GRPC_FRAME_HEAD, n};
		*at += GRPC_FRAME_HEAD + n;
		return true;
	}
	return false;
}

void call_bytes(struct grpc_call *call, const void *bytes, size_t n)
{
	struct sv message;
	size_t at = 0;

	if (call->finished || call->http_status != 200 || !call->is_grpc)
		return;
	strbuf_add(&call->in, bytes, n);
	/* that of a short call is not kept beyond what it may be */
	if (call->stream)
		call_ready(call);
	else if (next_message(call, &at, &message) && at < call->in.size)
		call_fail(call, ERR_UNKNOWN_OUTCOME, "the answer is more than one message");
}

void call_end(struct grpc_call *call)
{
	char why[80];

	if (call->finished)
		return;
	if (call->status >= 0) {
		call_finish(call);
	} else if (call->http_status == 200 && call->is_grpc) {
		call_fail(call, ERR_UNKNOWN_OUTCOME, "the answer ends without a status");
	} else {
		snprintf(why, sizeof(why), "what came back is not gRPC (HTTP %d)",
			 call->http_status);
		call_fail(call, ERR_UNKNOWN_OUTCOME, why);
	}
}

/* --- delivery --- */

static void give_messages(struct grpc_call *call)
{
	struct sv message;
	size_t at = 0;

	while (!call->gone && next_message(call, &at, &message))
		if (call->on_message)
			call->on_message(call, message.p, message.n, call->arg);
	strbuf_consume(&call->in, at);
}

static void fail_answer(struct grpc_answer *answer, const char *why)
{
	answer->status = -1;
	error_set(&answer->err, ERR_UNKNOWN_OUTCOME, "%s", why);
}

/* Of a short call: exactly one. */
static void take_message(struct grpc_call *call, struct grpc_answer *answer)
{
	struct sv message;
	size_t at = 0;

	if (!next_message(call, &at, &message)) {
		fail_answer(answer, "the answer is not one whole message");
		return;
	}
	answer->message = message.p;
	answer->size = message.n;
}

static void call_leave(struct grpc_call *call)
{
	struct grpc_session *s = call->session;

	call->gone = true;
	list_remove(&call->link);
	list_remove(&call->ready);
	timer_stop(call->timer);
	session_drop(s, call);
	s->wake(s);
}

static void call_done(struct grpc_call *call)
{
	struct grpc_answer answer = {.status = call->status,
				     .text = strbuf_str(&call->text),
				     .message = "",
				     .err = call->err};

	if (answer.status == GRPC_OK && !call->stream)
		take_message(call, &answer);
	else if (answer.status == GRPC_OK && call->in.size)
		fail_answer(&answer, "the answer ends inside a message");
	call_leave(call);
	call->on_done(&answer, call->arg);
}

static void call_free(struct grpc_call *call)
{
	timer_destroy(call->timer);
	strbuf_finish(&call->metadata);
	strbuf_finish(&call->out);
	strbuf_finish(&call->text);
	strbuf_finish(&call->in);
	free(call->method);
	free(call);
}

void grpc_call_deliver(struct grpc_call *call)
{
	call->delivering = true;
	if (call->stream)
		give_messages(call);
	if (!call->gone && call->finished)
		call_done(call);
	call->delivering = false;
	if (call->gone)
		call_free(call);
}

void grpc_call_cancel(struct grpc_call *call)
{
	if (call->gone)
		return;
	call_leave(call);
	if (!call->delivering)
		call_free(call);
}

void grpc_call_give_up(struct grpc_call *call)
{
	call->session->retired = true;
	grpc_call_cancel(call);
}

/* --- time --- */

/* Whether the server or the line is slow, its connection is not to be trusted with more. No other
 * call is told before: it would let this one be sent that was said not to be. */
static void call_expire(struct grpc_call *call)
{
	struct grpc_session *s = call->session;
	struct error err;

	error_no_answer(&err, call->sent ? ERR_TIMEOUT : ERR_UNREACHABLE, call->timeout_ms);
	call_fail(call, err.code, err.text);
	s->retired = true;
	list_remove(&call->ready);
	grpc_call_deliver(call);
}

static void on_call_timer(void *arg)
{
	call_expire(arg);
}

/* --- the beginning --- */

static void frame_message(struct strbuf *out, const void *message, size_t n)
{
	const unsigned char head[GRPC_FRAME_HEAD] = {0, (unsigned char)(n >> 24),
						     (unsigned char)(n >> 16),
						     (unsigned char)(n >> 8), (unsigned char)n};

	assert(n <= GRPC_MAX_MESSAGE);
	strbuf_add(out, head, sizeof(head));
	strbuf_add(out, message, n);
}

struct grpc_call *call_create(struct grpc_session *s, const struct grpc_call_spec *spec,
			      struct env *env)
{
	struct grpc_call *call = xnew0(struct grpc_call);

	assert(spec->n_metadata <= GRPC_MAX_METADATA);
	call->session = s;
	call->method = xstrdup(spec->method);
	for (size_t i = 0; i < spec->n_metadata; i++) {
		const struct grpc_metadata *m = &spec->metadata[i];

		strbuf_add(&call->metadata, m->name, strlen(m->name) + 1);
		strbuf_add(&call->metadata, m->value, strlen(m->value) + 1);
	}
	frame_message(&call->out, spec->message, spec->size);
	call->status = -1;
	call->stream = spec->stream;
	call->on_message = spec->on_message;
	call->on_done = spec->on_done;
	call->arg = spec->arg;
	list_push_back(&s->calls, &call->link);
	call->timer = timer_create_in(env, on_call_timer, call);
	call->timeout_ms = spec->timeout_ms;
	if (call->timeout_ms)
		timer_start(call->timer, call->timeout_ms);
	return call;
}
