/*
 * HTTPS server: libuv, OpenSSL memory BIOs, llhttp (HTTP/1.1, keep-alive). Handlers see only
 * `struct exchange`: one request and the writer of its response. One thread, one loop.
 */
#ifndef BASE_HTTP_SERVER_H
#define BASE_HTTP_SERVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/loop.h"
#include "base/mem.h"
#include "base/strbuf.h"

/* Limits, each with its reason. */
#define HTTP_MAX_HEAD       (64 * 1024) /* request line and headers together: 431 above */
#define HTTP_MAX_CONNS      4000        /* 17 KiB each: some 70 MB */
#define HTTP_MAX_QUEUED_OUT (4 << 20)   /* some objects of the largest size: see exchange_write() */
#define HTTP_HANDSHAKE_MS   10000
#define HTTP_HEAD_MS        10000 /* from the first byte of a request to its last header */
#define HTTP_IDLE_MS        300000

struct http_server;
struct exchange;

/* Called when the head of a request is complete; the body has not been read. */
typedef void (*http_handler)(struct exchange *x, void *arg);

struct http_server_config {
	const char *host; /* "127.0.0.1" */
	int port;         /* 0: any */
	const char *cert_pem, *key_pem;
	const char *client_ca_pem; /* client certificates are asked for, and optional */
	http_handler handler;
	void *arg;
};

/* host: an IP address. UNAVAILABLE when the port is taken. Raises the process's soft limit of open
 * files to the hard one. */
int http_server_create(struct loop *loop, const struct http_server_config *config,
		       struct http_server **ret_server, struct error *err);
int http_server_port(const struct http_server *s);
/* Stops accepting; ends idle connections at once, the others after drain_ms at the latest; then
 * frees everything and calls done. */
void http_server_destroy(struct http_server *s, int64_t drain_ms, void (*done)(void *arg),
			 void *arg);

/* --- the request; everything lives as long as the exchange --- */
const char *exchange_method(const struct exchange *x); /* "GET" */
const char *exchange_path(const struct exchange *x);   /* decoded, without query; valid UTF-8 */
const char *exchange_target(const struct exchange *x); /* as sent, with query */
/* Decoded; NULL: absent. */
const char *exchange_query(const struct exchange *x, const char *name);
/* In any case; lines of one name are joined by ", "; NULL: absent. */
const char *exchange_header(const struct exchange *x, const char *name);
/* CN of a verified client certificate, or NULL; and its O's, NULL-terminated, never NULL. */
const char *exchange_peer_user(const struct exchange *x);
const char *const *exchange_peer_groups(const struct exchange *x);

/* Reads the whole body, then calls done once; bytes are NUL-terminated, live as long as the
 * exchange. Above limit the exchange answers 413 itself and done is not called; on a lost
 * connection done is not called either (on_close is). */
void exchange_read_all(struct exchange *x, size_t limit,
		       void (*done)(struct exchange *x, const char *bytes, size_t n, void *arg),
		       void *arg);
/* Reads the body in pieces as they come; n = 0 is its end. No end: on_close(lost) comes instead. */
void exchange_read_stream(struct exchange *x,
			  void (*data)(struct exchange *x, const char *bytes, size_t n, void *arg),
			  void *arg);
void exchange_read_pause(struct exchange *x, bool paused); /* back-pressure towards the sender */

/* --- the response --- */
/* Before begin/respond. Warning headers may be added more than once. Control characters in the
 * value become spaces. */
void exchange_add_header(struct exchange *x, const char *name, const char *value);
/* The whole response at once; gzip when the client takes it and it pays. */
void exchange_respond(struct exchange *x, int status, const char *content_type, const void *bytes,
		      size_t n);
/* A streamed one (chunked): begin, any number of writes, end. Write returns false when more than
 * HTTP_MAX_QUEUED_OUT waits; the caller should stop or drop the client. */
void exchange_begin(struct exchange *x, int status, const char *content_type);
bool exchange_write(struct exchange *x, const void *bytes, size_t n);
size_t exchange_queued(const struct exchange *x);
void exchange_end(struct exchange *x);
void exchange_abort(struct exchange *x); /* cuts the connection; on_close(lost) follows soon */
bool exchange_begun(const struct exchange *x);

/* Called once when the exchange is over: answered in full, all bytes given to the kernel (lost =
 * false), or the client went away (lost = true), never from inside a call of the handler's. After
 * it returns, x is gone. Between exchange_end and then, x must not be used. */
void exchange_on_close(struct exchange *x, void (*fn)(struct exchange *x, bool lost, void *arg),
		       void *arg);
/* Called whenever queued output falls to zero. */
void exchange_on_drain(struct exchange *x, void (*fn)(struct exchange *x, void *arg), void *arg);

#endif
