/*
 * A gRPC server that a test plays: it hands each whole request to the test, which answers as slowly
 * and as badly as it likes. HTTP/2 by nghttp2, on the loop of the client under test. A client that
 * breaks HTTP/2 fails the test.
 */
#ifndef TESTS_UNIT_GRPC_SERVER_H
#define TESTS_UNIT_GRPC_SERVER_H

#include <nghttp2/nghttp2.h>
#include <openssl/ssl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/loop.h"
#include "base/strbuf.h"

struct grpc_server;
struct grpc_peer;   /* a connection */
struct grpc_stream; /* a request, and the answer to it */

struct grpc_request {
	const char *method;  /* "/etcdserverpb.KV/Txn" */
	const char *head;    /* a line "name: value" for each header, those with a colon too */
	const char *message; /* NUL-terminated */
	size_t size;
	unsigned connection; /* the how manieth, from 1 */
};

struct grpc_server_config {
	/* NULL: nothing is ever answered. */
	void (*on_request)(struct grpc_stream *stream, const struct grpc_request *request,
			   void *arg);
	/* A client has connected, and nothing was read or sent. May be NULL. */
	void (*on_connection)(struct grpc_peer *peer, void *arg);
	/* Over before its answer ended: by the client, by a goaway, or with its connection. May be
	 * NULL. */
	void (*on_gone)(struct grpc_stream *stream, void *arg);
	void *arg;
	uint32_t window;      /* bytes of a request before it has to wait; 0: 65,535 */
	uint32_t max_streams; /* at once on a connection; 0: 1,000 */
	bool early;           /* a request is handed over with its head, before its message */
	SSL_CTX *tls;         /* NULL: cleartext */
};

struct grpc_server *grpc_server_create(struct loop *loop, const struct grpc_server_config *config);
void grpc_server_destroy(struct grpc_server *s); /* cuts all connections */
const char *grpc_server_url(const struct grpc_server *s);
unsigned grpc_server_connections(const struct grpc_server *s); /* that ever came */

/* A message in its frame, appended. */
void grpc_frame(struct strbuf *out, const void *message, size_t n);

/* --- answers; after one that ends it, the stream is gone --- */

void grpc_stream_answer(struct grpc_stream *t, const void *message, size_t n); /* with status 0 */
void grpc_stream_fail(struct grpc_stream *t, int status, const char *text); /* one head, no more */
void grpc_stream_http(struct grpc_stream *t, const char *status, const char *type,
		      const char *body); /* what is not gRPC */
void grpc_stream_reset(struct grpc_stream *t, nghttp2_error_code code);

/* Part by part; what ends it has a status, or -1: no trailers. */
void grpc_stream_begin(struct grpc_stream *t);
void grpc_stream_send(struct grpc_stream *t, const void *message, size_t n);
void grpc_stream_send_raw(struct grpc_stream *t, const void *bytes, size_t n); /* of frames */
void grpc_stream_end(struct grpc_stream *t, int status, const char *text);

/* --- connections --- */

struct grpc_peer *grpc_stream_peer(struct grpc_stream *t);
/* Streams above the last, 0: all of them, are not looked at; the connection stays. */
void grpc_peer_goaway(struct grpc_peer *p, int32_t last);
int32_t grpc_stream_id(const struct grpc_stream *t); /* for that */
void grpc_peer_cut(struct grpc_peer *p);
/* Bytes in place of HTTP/2; what the client says from here on is not understood. */
void grpc_peer_say(struct grpc_peer *p, const void *bytes, size_t n);
void grpc_peer_stop_reading(struct grpc_peer *p);

#endif
