/*
 * The server's insides, from the socket up:
 *
 *	http_server.c           accepts, counts, drains
 *	http_server_conn.c      one socket: TLS, one write at a time, deadlines
 *	http_server_h1.c        HTTP/1.1: bytes to requests, one exchange at a time, no socket
 *	http_server_request.c   the head of a request, and its body on the way to the handler
 *	http_server_response.c  the writer of responses
 *
 * Nothing is torn down while a handler may be on the stack: whoever finds a reason to end something
 * sets a flag and wakes the connection, which acts on it once per turn of the loop (conn_settle()).
 */
#ifndef BASE_HTTP_SERVER_INTERNAL_H
#define BASE_HTTP_SERVER_INTERNAL_H

#include <llhttp.h>

#include "base/http_server.h"
#include "base/list.h"
#include "base/pki.h"
#include "base/tls.h"

#define HTTP_MAX_HEADERS 256 /* lookups are linear */
#define HTTP_MAX_INPUT                                                                             \
	(64 * 1024) /* bytes that wait behind a busy exchange: then the socket waits */
#define HTTP_MAX_DISCARD (256 * 1024) /* of a body that nobody reads, to keep the connection */
#define HTTP_BODY_MS     30000        /* silence in a body that is read whole: 408 */
#define HTTP_LINGER_MS   1000         /* for the client to read the last answer */
#define HTTP_RECORD      16384        /* plaintext of one TLS record */
#define HTTP_WRITE       (128 * 1024) /* plaintext of one write to the socket */

struct http_header {
	const char *name, *value;
};

enum body_reader { READER_NONE, READER_ALL, READER_STREAM };

struct exchange {
	struct http1 *h;
	struct arena arena;
	const char *method, *target, *path;
	struct http_header *headers; /* in the arena, as is all of the request */
	size_t n_headers;
	struct http_header *query;
	size_t n_query;
	bool is_head, http10;

	enum body_reader reader;
	bool expects_continue; /* and was not told to go on yet */
	bool read_paused;
	bool body_told; /* the reader knows of the end of the body */
	size_t limit;
	struct strbuf
		body; /* READER_ALL: what came so far; READER_STREAM: what came while paused */
	void (*on_body)(struct exchange *x, const char *bytes, size_t n, void *arg);
	void *body_arg;

	struct strbuf extra; /* header lines of exchange_add_header() */
	bool has_encoding;   /* and one of them is Content-Encoding */
	bool begun, ended, chunked;
	bool close;  /* the response says that the connection ends with it */
	bool broken; /* the request was cut short or malformed: to be closed as lost */
	bool fed;    /* something was written since the last on_drain */
	void (*on_close)(struct exchange *x, bool lost, void *arg);
	void *close_arg;
	void (*on_drain)(struct exchange *x, void *arg);
	void *drain_arg;
};

/* --- HTTP/1.1 over any transport --- */

struct http1_config {
	struct env *env;
	http_handler handler;
	void *arg;
	const bool *draining;
	void (*wake)(void *below); /* output, or a reason to look at the connection; never sooner
				    * than the next settling */
	void *below;
};

enum http1_phase {
	PHASE_IDLE, /* between requests */
	PHASE_HEAD,
	PHASE_BODY, /* a body is awaited and nobody but us would notice that it does not come */
	PHASE_BUSY, /* a handler has the say */
};

struct http1 {
	const struct http1_config *config;
	struct pki_identity peer;
	llhttp_t parser;
	bool parser_paused;
	struct strbuf input; /* not parsed yet */

	struct strbuf head; /* "target\0name\0value\0name\0value\0" */
	size_t n_headers, head_size;
	char last; /* of the head, for what spans two pieces */
	bool head_done, message_done;
	bool in_body;

	struct exchange *x;
	size_t discarded;
	bool deaf;    /* the input makes no sense from here on */
	bool eof;     /* the client will send no more */
	bool closing; /* once the output is out */
	bool cut;     /* now */

	struct strbuf out;
	size_t out_at;    /* bytes of out that were taken */
	size_t in_flight; /* taken, and not yet sent */
};

void http1_init(struct http1 *h, const struct http1_config *config);
void http1_finish(struct http1 *h);

/* Bytes from the client; runs handlers. */
void http1_feed(struct http1 *h, const char *bytes, size_t n);
bool http1_wants_more(const struct http1 *h);
void http1_run(struct http1 *h); /* goes on after something has changed */
void http1_eof(struct http1 *h);
void http1_timeout(struct http1 *h); /* of the present phase */
enum http1_phase http1_phase(const struct http1 *h);

/* Takes at most max bytes of output; they stay valid until the next call of anything here. */
const char *http1_take(struct http1 *h, size_t max, size_t *ret_n);
void http1_sent(struct http1 *h); /* all that was taken has been sent */
size_t http1_queued(const struct http1 *h);

bool http1_lost(const struct http1 *h);              /* end the connection now */
bool http1_at_end(const struct http1 *h);            /* end it gracefully */
void http1_end_exchange(struct http1 *h, bool lost); /* calls on_close */

void http1_wake(struct http1 *h);

/* --- request --- */

/* Of the head in h; NULL after h was told to refuse it. */
struct exchange *exchange_create(struct http1 *h);
void exchange_destroy(struct exchange *x);
bool exchange_reading(const struct exchange *x); /* takes body bytes now */
void exchange_body_bytes(struct exchange *x, const char *bytes, size_t n);
bool exchange_body_waits(const struct exchange *x); /* held back bytes, or the news of the end */
void exchange_body_deliver(struct exchange *x);

/* --- response --- */

/* An answer of the server's own that ends the connection. */
void http1_refuse(struct http1 *h, int status, const char *text);
void exchange_refuse(struct exchange *x, int status, const char *text);

/* --- connections --- */

struct http_server {
	struct loop *loop;
	struct tls_context *tls;
	struct http1_config h1; /* without below */
	uv_tcp_t listener;
	uv_idle_t idle; /* these two are active while dirty is not empty */
	uv_check_t check;
	unsigned open_handles;
	struct list conns, dirty;
	size_t n_conns;
	bool draining;
	struct timer *drain;
	void (*done)(void *arg);
	void *done_arg;
	char *read_buffer; /* one for all connections: it is empty again before the loop goes on */
};

enum conn_state {
	CONN_HANDSHAKE,
	CONN_OPEN,
	CONN_LINGER, /* all said; waits for the client to close */
	CONN_CLOSED, /* waits for libuv */
};

struct http_conn {
	struct list_node link, dirty;
	struct http_server *server;
	enum conn_state state;
	uv_tcp_t tcp;
	struct tls_session *tls;
	struct http1_config h1_config;
	struct http1 h1;
	bool reading;
	bool held; /* OpenSSL has bytes that HTTP/1.1 did not want yet */
	bool eof;
	bool writing;
	uv_write_t write;
	struct strbuf wire; /* ciphertext in flight */
	uv_shutdown_t shutdown;
	struct timer *deadline;
	enum http1_phase deadline_phase;
};

#define SERVER_READ_BUFFER 65536

void conn_accept(struct http_server *s);
void conn_settle(struct http_conn *c);
void conn_wake(struct http_conn *c);
void conn_kill(struct http_conn *c);
void server_settle_soon(struct http_server *s);
void server_conn_gone(struct http_server *s);

#endif
