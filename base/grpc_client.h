/*
 * gRPC client on libuv, HTTP/2 by nghttp2: calls with one message to the server and one back, or
 * many. One client per peer; short calls share one connection and streams another, so that a stuck
 * stream can never hold back a short call.
 */
#ifndef BASE_GRPC_CLIENT_H
#define BASE_GRPC_CLIENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/loop.h"

struct grpc_client;
struct grpc_call;

/* Codes that the callers name (grpc.github.io/grpc/core/md_doc_statuscodes.html). */
enum {
	GRPC_OK = 0,
	GRPC_CANCELLED = 1,
	GRPC_UNKNOWN = 2,
	GRPC_INVALID_ARGUMENT = 3,
	GRPC_DEADLINE_EXCEEDED = 4,
	GRPC_NOT_FOUND = 5,
	GRPC_PERMISSION_DENIED = 7,
	GRPC_RESOURCE_EXHAUSTED = 8,
	GRPC_FAILED_PRECONDITION = 9,
	GRPC_OUT_OF_RANGE = 11,
	GRPC_UNIMPLEMENTED = 12,
	GRPC_UNAVAILABLE = 14,
	GRPC_UNAUTHENTICATED = 16,
};

struct grpc_client_config {
	const char *url;    /* "http://127.0.0.1:2379"; a path in it is kept as prefix */
	const char *ca_pem; /* NULL: the system's */
	const char *cert_pem, *key_pem;
};

/* NULL with err set when a certificate or key cannot be used. */
struct grpc_client *grpc_client_create(struct loop *loop, const struct grpc_client_config *config,
				       struct error *err);
void grpc_client_destroy(struct grpc_client *c); /* cancels all calls, without their callbacks */

struct grpc_answer {
	int status; /* of gRPC; -1: no answer, then err says why */
	/* Of the server, with a status other than GRPC_OK; empty for none. */
	const char *text;
	const void *message; /* with GRPC_OK, of calls that are no stream */
	size_t size;
	/* Set when status is -1: UNREACHABLE when the call was not carried out: no byte of it left
	 * this machine, or the server said that it did not look at it; else TIMEOUT, TOO_LARGE (an
	 * answer over 64 MiB) or UNKNOWN_OUTCOME: it may have been carried out. That is also what
	 * an answer of another kind than gRPC counts as, and one that ends inside a message. */
	struct error err;
};

struct grpc_metadata {
	const char *name, *value; /* name in lower case */
};

struct grpc_call_spec {
	const char *method; /* "/etcdserverpb.KV/Put"; copied, as are message and metadata */
	const void *message;
	size_t size;
	const struct grpc_metadata *metadata;
	size_t n_metadata;
	int64_t timeout_ms; /* 0: none */
	bool stream;        /* messages are given to on_message; uses the connection of streams */
	/* One whole message, in order. */
	void (*on_message)(struct grpc_call *call, const void *message, size_t n, void *arg);
	/* Exactly once, unless cancelled; the call is gone after it. */
	void (*on_done)(const struct grpc_answer *answer, void *arg);
	void *arg;
};

/* Never calls back from inside this call. */
struct grpc_call *grpc_call_start(struct grpc_client *c, const struct grpc_call_spec *spec);
void grpc_call_cancel(struct grpc_call *call); /* no callback comes after this */
/* Likewise, of a call that should have been answered: its connection takes no new ones. */
void grpc_call_give_up(struct grpc_call *call);

#endif
