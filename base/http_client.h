/*
 * HTTP client: libcurl multi on libuv. One client per peer; short calls and streams use separate
 * connection pools, so that a stuck stream can never hold back a short call.
 */
#ifndef BASE_HTTP_CLIENT_H
#define BASE_HTTP_CLIENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/loop.h"

struct http_client;
struct http_call;

struct http_client_config {
	const char *base_url; /* "https://127.0.0.1:7443"; a path in it is kept as prefix */
	const char *ca_pem;   /* NULL: the system's */
	const char *cert_pem, *key_pem;
	const char *bearer_token;
	bool insecure;       /* only for reading a CA by its hash when joining */
	int max_connections; /* for short calls; 0: 16 */
};

/* What is wrong with a base_url, or with several with commas between them, as read behind the text;
 * NULL: nothing. For flags. */
const char *http_url_mistake(const char *text);
const char *http_urls_mistake(const char *text);

struct http_client *http_client_create(struct loop *loop, const struct http_client_config *config);
void http_client_destroy(struct http_client *c); /* cancels all calls, without their callbacks */
void http_client_set_token(struct http_client *c, const char *bearer_token);
void http_client_set_cert(struct http_client *c, const char *cert_pem, const char *key_pem);
/* The next call opens a connection of its own (after a lost answer). */
void http_client_fresh_connection(struct http_client *c);

struct http_answer {
	int status;       /* 0: no answer, then err says why */
	const char *body; /* NUL-terminated; empty for streams */
	size_t size;
	const char *content_type;    /* or NULL */
	int64_t retry_after_s;       /* -1: absent */
	const char *location;        /* or NULL */
	const char *const *warnings; /* texts of Warning headers, NULL-terminated; or NULL */
	/* Set when status is 0: UNREACHABLE when no byte of the request left this machine; else
	 * TIMEOUT, TOO_LARGE (over 64 MiB) or UNKNOWN_OUTCOME: it may have been carried out. A GET
	 * or HEAD is sent again when a connection that was used before dies, nothing else is. */
	struct error err;
};

struct http_call_spec {
	const char *method; /* "GET" */
	const char *path;   /* with query, already encoded; copied */
	const void *body;   /* copied; NULL: none */
	size_t body_size;
	const char *content_type;
	const char *accept;
	const char *const *headers; /* more "Name: value" lines, NULL-terminated; or NULL */
	int64_t timeout_ms;         /* 0: 30 s; streams, uploads: silence that ends it (0: never) */
	bool stream;                /* answer is given in pieces to on_data; uses the stream pool */
	bool upload; /* chunked request body, fed by http_call_send; own connection */
	void (*on_head)(struct http_call *call, int status, void *arg); /* streams; may be NULL */
	/* Pieces of a 2xx answer of a stream, in order; of other answers the body is collected. */
	void (*on_data)(struct http_call *call, const char *bytes, size_t n, void *arg);
	/* Exactly once, unless cancelled; the call is gone after it. A stream that was cut has
	 * status 0 in spite of its on_head. */
	void (*on_done)(const struct http_answer *answer, void *arg);
	/* Upload: called when sent bytes have left and more may be given. May be NULL. */
	void (*on_drain)(struct http_call *call, void *arg);
	/* Asked when the call has its connection and nothing of it was sent yet; false: it is not
	 * sent at all and ends as unreachable. NULL: it may. */
	bool (*may_start)(void *arg);
	void *arg;
};

/* Never calls back from inside this call. */
struct http_call *http_call_start(struct http_client *c, const struct http_call_spec *spec);
void http_call_cancel(struct http_call *call); /* no callback comes after this */
/* Streams: paused, the peer is read no further, and at most what was read already is still given.
 * HTTP/1.1 only, which is all that this client speaks: its connection is the call's own. */
void http_call_pause(struct http_call *call, bool paused);
/* Upload: queue more bytes (true: give more now), or say that was all. */
bool http_call_send(struct http_call *call, const void *bytes, size_t n);
void http_call_send_end(struct http_call *call);

#endif
