/*
 * A peer that the test plays: each request of a kube client is kept until the test answers it. Time
 * is virtual. What a real server will not show on demand (a lost answer, a watch that ends in 410).
 */
#ifndef TESTS_UNIT_KUBE_PEER_H
#define TESTS_UNIT_KUBE_PEER_H

#include "base/virtual.h"
#include "kube/client.h"

struct peer;

struct peer *peer_create(void);
void peer_destroy(struct peer *p); /* the client first */
struct kube *peer_client(struct peer *p);
/* One more client of it, the caller's: it goes before the peer. */
struct kube *peer_connect(struct peer *p);
struct virtual_env *peer_time(struct peer *p);

size_t peer_waiting(const struct peer *p); /* requests that were not answered yet */
/* Of the oldest of them: "GET /path". */
const char *peer_request(const struct peer *p);
const char *peer_body(const struct peer *p);
bool peer_has_header(const struct peer *p, const char *line);

/* Answers the oldest request; status 0: no answer, code says why. */
void peer_answer(struct peer *p, int status, const char *body);
void peer_answer_later(struct peer *p, int status, int64_t retry_after_s);
void peer_redirect(struct peer *p, const char *location);
void peer_lose(struct peer *p, enum error_code code);
/* A piece of the answer of the oldest request, which is a stream. */
void peer_stream(struct peer *p, const char *bytes);

size_t peer_fresh_connections(const struct peer *p);
const char *peer_token(const struct peer *p);

DEFINE_CLEANUP(struct peer, peer_destroy)

#endif
