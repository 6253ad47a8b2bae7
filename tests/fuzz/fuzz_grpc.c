/*
 * The gRPC client over a transport without a socket: what a server might send. The first bytes of
 * the input say which call is a stream, how the rest is cut into pieces and what callers do when
 * they are called back. No input may crash it, call anybody back after his call is over, or leave a
 * call of a connection that failed without its end.
 */
#include <assert.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/grpc_client_internal.h"
#include "base/virtual.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

#define KNOBS 3
#define CALLS 8

enum { CANCEL_ITSELF = 1, CANCEL_NEXT = 2, CALL_AGAIN = 4 };

struct wire {
	struct grpc_session session;
	struct env *env;
	uint8_t streams, habit;
	struct caller {
		struct wire *wire;
		struct grpc_call *call; /* NULL: over */
	} callers[CALLS];
	size_t n;
};

static void start(struct wire *w);

static void cancel(struct caller *c)
{
	if (c->call)
		grpc_call_cancel(take_ptr(c->call));
}

static void act(struct caller *c)
{
	struct wire *w = c->wire;

	if (w->habit & CANCEL_NEXT && c + 1 < w->callers + w->n)
		cancel(c + 1);
	if (w->habit & CALL_AGAIN && !w->session.retired)
		start(w);
	if (w->habit & CANCEL_ITSELF)
		cancel(c);
}

static void on_message(struct grpc_call *call, const void *message, size_t n, void *arg)
{
	struct caller *c = arg;

	assert(c->call == call && n <= GRPC_MAX_MESSAGE);
	act(c);
}

static void on_done(const struct grpc_answer *answer, void *arg)
{
	struct caller *c = arg;

	assert(c->call);
	assert(answer->status >= 0 || answer->err.text[0]);
	assert(strlen(answer->text) <= 16384 * 2);
	c->call = NULL;
	act(c);
}

static void start(struct wire *w)
{
	struct caller *c = &w->callers[w->n];

	if (w->n == CALLS)
		return;
	*c = (struct caller){.wire = w};
	c->call = call_create(&w->session,
			      &(struct grpc_call_spec){.method = "/any.Service/Call",
						       .message = "message",
						       .size = 7,
						       .stream = w->streams >> w->n & 1,
						       .on_message = on_message,
						       .on_done = on_done,
						       .arg = c},
			      w->env);
	w->n++;
	session_submit(&w->session, c->call);
}

static void on_wake(struct grpc_session *s)
{
}

static void take(struct wire *w)
{
	auto_strbuf out = {0};

	session_take(&w->session, SIZE_MAX, &out);
}

static void play(struct wire *w, const uint8_t *bytes, size_t n, size_t piece)
{
	int r = 0;

	for (int i = 0; i < 3; i++)
		start(w);
	take(w);
	for (size_t at = 0; at < n && r == 0; at += piece) {
		r = session_feed(&w->session, bytes + at, n - at < piece ? n - at : piece);
		session_deliver(&w->session);
		take(w);
	}
	w->habit &= (uint8_t)~CALL_AGAIN;
	session_fail(&w->session, "the connection broke off");
	for (size_t i = 0; i < w->n; i++)
		assert(!w->callers[i].call);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	struct virtual_env *env;
	struct wire w = {0};

	if (n < KNOBS)
		return 0;
	env = virtual_env_create(1, 0);
	w.env = virtual_env_seam(env);
	w.streams = bytes[0];
	w.habit = bytes[1];
	w.session.scheme = "http";
	w.session.authority = "localhost:1";
	w.session.prefix = "";
	w.session.wake = on_wake;
	session_init(&w.session);
	play(&w, bytes + KNOBS, n - KNOBS, bytes[2] ? bytes[2] : SIZE_MAX / 2);
	session_finish(&w.session);
	virtual_env_destroy(env);
	return 0;
}
