/*
 * An etcd that a test plays: it answers transactions and ranges as an etcd without keys does unless
 * it is told otherwise, and leaves watches to the test.
 */
#ifndef TESTS_STORE_PLAYED_H
#define TESTS_STORE_PLAYED_H

#include "tests/unit/grpc_server.h"
#include "tests/unit/store/bed.h"
#include "tests/unit/store/messages.h"

#define A STORE_PREFIX "a"
#define B STORE_PREFIX "b"

#define PLAYED_CALLS 16

/* What is said to a request. */
struct reply {
	void (*say)(struct grpc_stream *t, const struct reply *r); /* NULL: what is usual */
	int status;
	const char *text;
	struct strbuf message; /* freed when it was said */
};

void say_status(struct grpc_stream *t, const struct reply *r);
void cut(struct grpc_stream *t, const struct reply *r);
void refuse(struct grpc_stream *t, const struct reply *r); /* REFUSED_STREAM: not looked at */
void break_off(struct grpc_stream *t, const struct reply *r);
void go_before_it(struct grpc_stream *t, const struct reply *r); /* by a GOAWAY */
void go_behind_it(struct grpc_stream *t, const struct reply *r); /* likewise, with it unanswered */

/* What is said to the n-th request of a method, and what was asked. */
struct played {
	struct bed bed;
	struct grpc_server *server; /* a test may destroy it, and set it to NULL */
	int64_t revision;           /* of the usual answer to a range, which is empty */
	struct reply txn[PLAYED_CALLS], range[PLAYED_CALLS];
	int n_txns, n_ranges, n_watches, n_gone;
	struct grpc_stream *watch[PLAYED_CALLS]; /* begun */
	unsigned watch_connection[PLAYED_CALLS]; /* that they came on */
	struct strbuf asked[PLAYED_CALLS];       /* what they are to be */
	struct strbuf last_message;              /* of all requests */
	char *last_head;
};

void played_init(struct played *s);
void played_finish(struct played *s);
struct grpc_server *played_serve(struct played *s); /* one more, on an address of its own */
void played_connect(struct played *s, const char *endpoints); /* another store */
void await_watches(struct played *s, int n);
/* A field of what the watch was to be, and of the last request. */
int64_t asked(const struct played *s, int watch, unsigned field);
int64_t last_asked(const struct played *s, unsigned field);

void assert_record(const struct record *r, const char *key, const char *value, int64_t version);

#endif
