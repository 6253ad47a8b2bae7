/*
 * A peer that answers by the book of the test, however wrong: plain HTTP on a loopback port, served
 * by a thread, one connection after the other.
 */
#ifndef TESTS_UNIT_BASE_RUDE_H
#define TESTS_UNIT_BASE_RUDE_H

#include <stdbool.h>
#include <uv.h>

/* Steps of a connection. Any other text is the answer to one request; after the last step the
 * connection is kept until the client closes it. */
#define RUDE_REFUSE "refuse" /* close without reading anything */
#define RUDE_CUT    "cut"    /* read a request, then close */
#define RUDE_HUSH   "hush"   /* read a request and say nothing */
#define RUDE_CLOSE  "close"  /* close without reading more */

struct rude {
	const char *const (*book)[4]; /* steps of each connection, NULL-terminated */
	unsigned n_connections;
	int fd, port;
	uv_thread_t thread;
	unsigned n_requests; /* read in full; valid after rude_finish() */
	char last_request[4096];
};

void rude_init(struct rude *r, const char *const (*book)[4], unsigned n_connections);
void rude_finish(struct rude *r);

#endif
