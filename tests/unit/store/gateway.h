/*
 * The HTTP side of an etcd that a test plays: it hands each request to the test, which answers with
 * what a real one was seen to send, as slowly and as badly as it likes.
 */
#ifndef TESTS_STORE_GATEWAY_H
#define TESTS_STORE_GATEWAY_H

#include <stddef.h>

#include "base/loop.h"

struct gateway;
struct gateway_call;

struct gateway_request {
	const char *path, *head, *body; /* head: all lines of it */
};

struct gateway *gateway_create(struct loop *loop,
			       void (*on_request)(struct gateway_call *call,
						  const struct gateway_request *request, void *arg),
			       void *arg);
void gateway_destroy(struct gateway *g);
const char *gateway_url(const struct gateway *g);

void gateway_answer(struct gateway_call *call, int status, const char *body);
void gateway_stream(struct gateway_call *call); /* the head of a chunked 200 */
void gateway_send(struct gateway_call *call, const char *bytes, size_t n); /* one chunk */
void gateway_end(struct gateway_call *call); /* of the stream, cleanly */
void gateway_cut(struct gateway_call *call); /* closes the connection */

#endif
