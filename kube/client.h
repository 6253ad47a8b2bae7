/*
 * Client of any Kubernetes-style API: one per peer. Requests go through a table of transports, so
 * that the same code can run in one process on virtual time.
 */
#ifndef KUBE_CLIENT_H
#define KUBE_CLIENT_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/http_client.h"
#include "base/loop.h"

struct kube;
struct kube_call;

/* The transport seam: what kube/ needs of a connection. `curl` is the one that ships. */
struct kube_transport_ops {
	struct http_call *(*start)(void *transport, const struct http_call_spec *spec);
	void (*cancel)(void *transport, struct http_call *call);
	void (*fresh)(void *transport); /* next call on a new connection */
	void (*set_token)(void *transport, const char *token);
	void (*destroy)(void *transport);
};

/* Where a peer is and who we are there; as read from a kubeconfig. Strings are owned. */
struct kube_config {
	char *server, *ca_pem, *cert_pem, *key_pem, *token, *token_file, *ns;
};
void kube_config_finish(struct kube_config *c);
/* path NULL: $KUBECONFIG, then ~/.kube/config; context NULL: the current one. */
int kube_config_read(const char *path, const char *context, struct kube_config *ret,
		     struct error *err);
/* The same for its text; file: where other files are looked for, and what errors name. */
int kube_config_parse(const char *file, const char *text, size_t n, const char *context,
		      struct kube_config *ret, struct error *err);
/* From inside a pod: /var/run/secrets/kubernetes.io/serviceaccount. */
int kube_config_in_cluster(struct kube_config *ret, struct error *err);

struct kube *kube_create(struct loop *loop, const struct kube_config *config);
struct kube *kube_create_with(struct env *env, const struct kube_transport_ops *ops,
			      void *transport);
void kube_destroy(struct kube *k);
/* A header that every later request carries ("Federator-Term: 3"); NULL removes it. Copied. */
void kube_set_header(struct kube *k, const char *name, const char *value);

/* Asked before each write, and again when its connection stands: false, and it is not sent (its
 * answer is ERR_UNREACHABLE). For who may write only while it holds a lease. */
void kube_set_gate(struct kube *k, bool (*may_write)(void *arg), void *arg);

/* Before an orderly end. From here on a write that is cancelled is still waited for; done is called
 * once (by a timer) when none is under way any more. */
void kube_settle(struct kube *k, void (*done)(void *arg), void *arg);
/* When a write last ended without an answer or with a 5xx, so that it may yet be carried out; boot
 * time. INT64_MIN: never. Dry runs write nothing and do not count. */
int64_t kube_lost_ms(const struct kube *k);

/* What came back. On success err.code is unset and ok is true. */
struct kube_answer {
	bool ok;
	int status;
	const char *body; /* NUL-terminated JSON; lives during the callback */
	size_t size;
	struct error err;            /* when !ok: from the Status, or the transport */
	const json_t *error_details; /* Status.details when !ok and there are any, or NULL */
	int64_t retry_after_s;       /* -1: none */
	const char *location;        /* of a redirect, or NULL */
	const char *const *warnings; /* for people, NULL-terminated; or NULL */
};

typedef void (*kube_done)(const struct kube_answer *answer, void *arg);

struct kube_request {
	const char *method;         /* "POST" */
	const char *path;           /* with query; copied */
	const char *body;           /* JSON; copied; NULL: none */
	size_t body_size;           /* 0 with a body: strlen */
	const char *content_type;   /* NULL: application/json */
	int64_t timeout_ms;         /* 0: 30 s */
	const char *const *headers; /* more "Name: value" lines, NULL-terminated; NULL: none */
	kube_done done;
	/* Asked before the request is sent again, with what the server said; false: that is its
	 * answer. NULL: it may. */
	bool (*may_retry)(const struct error *why, void *arg);
	unsigned retries; /* how often at most; 0: 10 */
	void *arg;
};

/* One request, one answer, no retries but those that 429/503 with Retry-After ask for.
 * Writes count for FEDERATOR_FAULT. Never calls back from inside this call. */
struct kube_call *kube_send(struct kube *k, const struct kube_request *request);
void kube_cancel(struct kube_call *call);

/* The next request uses a new connection (before a POST is repeated after an unknown outcome). */
void kube_fresh_connection(struct kube *k);

/* Streams: an answer in pieces (log, requests), an upload (log data to the hub). */
struct http_call *kube_stream(struct kube *k, const struct http_call_spec *spec);
void kube_stream_cancel(struct kube *k, struct http_call *call);

#endif
