/*
 * The gRPC client between a server that the test plays and callers that check the order of their
 * callbacks.
 */
#ifndef TESTS_UNIT_BASE_GRPC_STAGE_H
#define TESTS_UNIT_BASE_GRPC_STAGE_H

#include <criterion/criterion.h>

#include "base/grpc_client.h"
#include "base/mem.h"
#include "tests/unit/grpc_server.h"

#define STAGE_REQUESTS 100

struct stage;
typedef void (*stage_script)(struct stage *s, struct grpc_stream *t, const struct grpc_request *r);

struct stage {
	struct loop *loop;
	struct grpc_server *server; /* a test may destroy it, and set it to NULL */
	struct grpc_client *client;
	stage_script script; /* what is done with a request; NULL: it is held */
	struct grpc_stream *held[STAGE_REQUESTS];
	unsigned connection_of[STAGE_REQUESTS]; /* that they came on */
	unsigned n_held;
	unsigned n_gone; /* requests whose end was not the server's */
	/* of the last request */
	char *method, *head;
	struct grpc_peer *peer;
	struct timer *patience;
	bool in_vain;
};

/* What a caller was told. */
struct told {
	unsigned dones, messages;
	struct grpc_answer answer; /* without its views, of which there are copies: */
	char *text;                /* NULL: there was none */
	struct strbuf message;
	struct strbuf stream; /* all messages, each in its frame */
};

/* The callbacks of config are the stage's own, but for on_connection. */
void stage_init(struct stage *s, struct grpc_server_config config);
void stage_finish(struct stage *s);
/* Another client in place of the first. */
void stage_connect(struct stage *s, const struct grpc_client_config *config);
/* Turns the loop until it has counted n, and fails the test when that takes too long. */
void stage_await(struct stage *s, const unsigned *count, unsigned n);
void stage_turn(struct stage *s, int64_t ms); /* for that long: for what must not come */

/* What spec leaves out is filled in: a method, the message "request", callbacks that write to o. */
struct grpc_call *stage_start(struct stage *s, struct grpc_call_spec spec, struct told *o);
/* One call, to its end, which the script brings about. */
void stage_call(struct stage *s, struct grpc_call_spec spec, struct told *o);
void stage_answer(struct stage *s, unsigned i); /* to that held request: "answer i" */
void stage_serve(struct stage *s); /* an ordinary call has an ordinary answer, whatever was */
void told_finish(struct told *o);

void expect_message(const struct told *o, const char *message);
/* part: what the text contains, in whatever case. */
void expect_error(const struct told *o, enum error_code code, const char *part);

void stage_echo(struct stage *s, struct grpc_stream *t, const struct grpc_request *r);

#endif
