/* An HTTP/1.1 connection without a socket: a test feeds bytes and reads what was answered. */
#ifndef TESTS_UNIT_BASE_WIRE_H
#define TESTS_UNIT_BASE_WIRE_H

#include "base/http_server_internal.h"
#include "base/virtual.h"

struct wire {
	struct virtual_env *env;
	struct http1_config config;
	struct http1 h;
	bool draining;
	bool woken;
	bool blocked;      /* the client takes no output */
	struct strbuf out; /* what it has taken */
	bool closed;       /* the server ended the connection gracefully */
	bool lost;         /* it, or the client, cut it */
};

void wire_init(struct wire *w, http_handler handler, void *arg);
void wire_finish(struct wire *w); /* the client goes, if it has not yet */
void wire_feed(struct wire *w, const char *bytes, size_t n);
void wire_feeds(struct wire *w, const char *text);
void wire_eof(struct wire *w);
void wire_settle(struct wire *w); /* what a connection does once per turn of the loop */
void wire_feed_repeated(struct wire *w, const char *text, size_t times); /* until it is closed */

/* What the handler of these tests has seen. It echoes /echo (at most 100 bytes), streams /stream,
 * leaves /hold to the test and answers "ok" to all else. */
struct seen {
	struct strbuf text; /* "GET /a;POST /echo;5;": requests, and sizes of bodies read whole */
	struct exchange *held;
	unsigned closed, lost, drained;
	struct strbuf body; /* by seen_collect() */
	unsigned pieces;
	bool body_ended;
	bool pause_after_piece;
};
void seen_handle(struct exchange *x, void *seen);
void seen_collect(struct exchange *x, const char *bytes, size_t n, void *seen);
void seen_finish(struct seen *s);

#define DATE  "Date: Tue, 14 Nov 2023 22:13:20 GMT\r\n"
#define HOST  "Host: h\r\n"
#define PLAIN "Content-Type: text/plain\r\n"

#endif
