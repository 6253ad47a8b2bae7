/*
 * The client's insides, from the caller down:
 *
 *	grpc_client.c          a peer: where it is, its connections
 *	grpc_client_call.c     one call, from what is asked to the caller's callbacks
 *	grpc_client_session.c  HTTP/2: calls to bytes and back, no socket
 *	grpc_client_conn.c     one connection: addresses, socket, TLS
 *
 * Callers' functions never run inside nghttp2: its callbacks only note what has come and put the
 * call on its session's ready list, which is worked off when nghttp2 has returned. So a caller may
 * start, cancel and destroy anything from any callback.
 */
#ifndef BASE_GRPC_CLIENT_INTERNAL_H
#define BASE_GRPC_CLIENT_INTERNAL_H

#include <nghttp2/nghttp2.h>

#include "base/grpc_client.h"
#include "base/list.h"
#include "base/strbuf.h"
#include "base/tls.h"

#define GRPC_FRAME_HEAD   5 /* in front of each message: a flag, four bytes of length */
#define GRPC_MAX_MESSAGE  (64u * 1024 * 1024)
#define GRPC_MAX_METADATA 8
#define GRPC_CONNECT_MS   2000          /* for each step: the name, an address, TLS */
#define GRPC_WRITE        (128u * 1024) /* plaintext of one write to the socket */
/* What a server may send ahead: some round trips' worth of a fast link. */
#define GRPC_STREAM_WINDOW  (4 * 1024 * 1024)
#define GRPC_SESSION_WINDOW (16 * 1024 * 1024)
/* Streams have numbers of 31 bits, every second of them ours; some are left for calls that wait. */
#define GRPC_LAST_STREAM (INT32_MAX - (1 << 20))

/* --- calls --- */

struct grpc_call {
	struct list_node link, ready;
	struct grpc_session *session;
	int32_t stream_id; /* 0: HTTP/2 does not know it yet; -1: no more */
	char *method;
	struct strbuf metadata; /* "name\0value\0name\0value\0" */
	struct strbuf out;      /* the message behind its frame's head */
	size_t out_at;
	struct timer *timer; /* NULL: may last for ever */
	int64_t timeout_ms;
	bool stream;

	bool sent; /* its head has been given to the socket */
	int http_status;
	bool is_grpc; /* by its content type */
	int status;   /* -1: none yet */
	struct strbuf text;
	struct strbuf in; /* what came of messages and was not given yet */
	bool finished;
	struct error err; /* when finished without a status */

	bool delivering; /* a caller's function is on the stack */
	bool gone;       /* done or cancelled meanwhile */
	void (*on_message)(struct grpc_call *call, const void *message, size_t n, void *arg);
	void (*on_done)(const struct grpc_answer *answer, void *arg);
	void *arg;
};

struct grpc_call *call_create(struct grpc_session *s, const struct grpc_call_spec *spec,
			      struct env *env);
/* What has come for it. */
void call_head(struct grpc_call *call, const char *name, const char *value, size_t n);
void call_bytes(struct grpc_call *call, const void *bytes, size_t n);
void call_end(struct grpc_call *call); /* of what the server has to say */
void call_fail(struct grpc_call *call, enum error_code code, const char *why);
void grpc_call_deliver(struct grpc_call *call);

/* --- HTTP/2 --- */

struct grpc_session {
	nghttp2_session *h2;
	struct list calls; /* all of them */
	struct list ready; /* those with news for their callers */
	bool retired;      /* takes no new calls; over when it has none */
	const char *scheme, *authority, *prefix;
	/* There is something to send, or it may be over. */
	void (*wake)(struct grpc_session *s);
};

void session_init(struct grpc_session *s);
void session_finish(struct grpc_session *s);
void session_submit(struct grpc_session *s, struct grpc_call *call);
void session_drop(struct grpc_session *s, struct grpc_call *call); /* it is not on it any more */
/* -1: this is not HTTP/2. */
int session_feed(struct grpc_session *s, const void *bytes, size_t n);
/* Appends what is to be sent until out has max bytes or more. */
void session_take(struct grpc_session *s, size_t max, struct strbuf *out);
void session_deliver(struct grpc_session *s);
/* Ends all calls, those of which nothing was sent as unreachable; none is left after it. */
void session_fail(struct grpc_session *s, const char *why);

/* --- connections --- */

struct grpc_client {
	struct loop *loop;
	char *host, *port, *authority, *prefix;
	struct tls_context *tls; /* NULL: cleartext */
	struct list conns;
	struct grpc_conn *current[2]; /* for short calls and for streams; NULL: none */
};

struct grpc_conn;

struct grpc_conn *conn_create(struct grpc_client *c);
struct grpc_conn *conn_at(struct list_node *node); /* of the client's list */
struct grpc_session *conn_session(struct grpc_conn *conn);
/* A call was added to its session. */
void conn_start(struct grpc_conn *conn, struct grpc_call *call);
/* Without its calls' callbacks; the memory goes a little later. */
void conn_close(struct grpc_conn *conn);

#endif
