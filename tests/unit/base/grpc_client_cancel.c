/* Callers of the client that change their minds. */
#include "grpc_stage.h"

Test(grpc_client_cancel, a_call_cancelled_before_there_is_a_connection)
{
	struct stage s;
	struct told o;

	stage_init(&s, (struct grpc_server_config){0});
	grpc_call_cancel(stage_start(&s, (struct grpc_call_spec){0}, &o));
	grpc_call_cancel(stage_start(&s, (struct grpc_call_spec){.stream = true}, &o));
	stage_turn(&s, 50);
	cr_expect_eq(o.dones, 0);
	cr_expect_eq(s.n_held, 0, "it was sent");
	stage_serve(&s);
	told_finish(&o);
	stage_finish(&s);
}

/* The server is told, and the others on the connection do not notice. */
Test(grpc_client_cancel, a_call_cancelled_while_it_is_under_way)
{
	struct stage s;
	struct told o[2];
	struct grpc_call *call;

	for (int stream = 0; stream < 2; stream++) {
		stage_init(&s, (struct grpc_server_config){0});
		call = stage_start(&s, (struct grpc_call_spec){.stream = stream}, &o[0]);
		stage_await(&s, &s.n_held, 1);
		stage_start(&s, (struct grpc_call_spec){.stream = stream}, &o[1]);
		stage_await(&s, &s.n_held, 2);
		grpc_call_cancel(call);
		stage_await(&s, &s.n_gone, 1);
		stage_answer(&s, 1);
		stage_await(&s, &o[1].dones, 1);
		cr_expect_eq(o[1].answer.status, GRPC_OK, "%s", o[1].answer.err.text);
		cr_expect_eq(o[0].dones, 0);
		cr_expect_eq(grpc_server_connections(s.server), 1);
		told_finish(&o[0]);
		told_finish(&o[1]);
		stage_finish(&s);
	}
}

/* Its request has left in part only. */
Test(grpc_client_cancel, a_call_cancelled_while_it_is_sent)
{
	enum { SIZE = 1000 * 1000 };
	auto_xfree char *bytes = xcalloc(1, SIZE);
	struct stage s;
	struct told o;
	struct grpc_call *call;

	stage_init(&s, (struct grpc_server_config){.window = 1000});
	stage_serve(&s);
	call = stage_start(&s, (struct grpc_call_spec){.message = bytes, .size = SIZE}, &o);
	stage_turn(&s, 1);
	grpc_call_cancel(call);
	stage_await(&s, &s.n_gone, 1);
	cr_expect_eq(o.dones, 0);
	cr_expect_eq(s.n_held, 0);
	stage_serve(&s);
	cr_expect_eq(grpc_server_connections(s.server), 1);
	told_finish(&o);
	stage_finish(&s);
}

static void cancel_from_message(struct grpc_call *call, const void *message, size_t n, void *arg)
{
	struct told *o = arg;

	o->messages++;
	if (o->messages == 2)
		grpc_call_cancel(call);
}

/* What came with it is not given any more. */
Test(grpc_client_cancel, a_stream_cancelled_by_its_message)
{
	struct stage s;
	struct told o;
	auto_strbuf frames = {0};

	stage_init(&s, (struct grpc_server_config){0});
	stage_start(&s, (struct grpc_call_spec){.stream = true, .on_message = cancel_from_message},
		    &o);
	stage_await(&s, &s.n_held, 1);
	grpc_stream_begin(s.held[0]);
	for (int i = 0; i < 4; i++)
		grpc_frame(&frames, "word", 4);
	grpc_stream_send_raw(s.held[0], frames.bytes, frames.size);
	stage_await(&s, &s.n_gone, 1);
	cr_expect_eq(o.messages, 2);
	cr_expect_eq(o.dones, 0);
	told_finish(&o);
	stage_finish(&s);
}

struct pair {
	struct grpc_call *calls[2];
	unsigned dones;
};

static void cancel_the_other(const struct grpc_answer *answer, void *arg)
{
	struct pair *p = arg;

	if (p->dones++ == 0)
		grpc_call_cancel(p->calls[1]);
}

static void cut_at_second(struct stage *s, struct grpc_stream *t, const struct grpc_request *r)
{
	if (s->n_held++)
		grpc_peer_cut(grpc_stream_peer(t));
}

static void answer_at_second(struct stage *s, struct grpc_stream *t, const struct grpc_request *r)
{
	s->held[s->n_held++] = t;
	if (s->n_held == 2) {
		stage_answer(s, 0);
		stage_answer(s, 1);
	}
}

/* Both end in the same moment. */
Test(grpc_client_cancel, a_call_cancelled_by_the_end_of_another)
{
	void (*const scripts[])(struct stage *, struct grpc_stream *,
				const struct grpc_request *) = {answer_at_second, cut_at_second};

	for (size_t i = 0; i < ARRAY_LEN(scripts); i++) {
		struct stage s;
		struct told o;
		struct pair p = {0};
		const struct grpc_call_spec spec = {.on_done = cancel_the_other, .arg = &p};

		stage_init(&s, (struct grpc_server_config){0});
		s.script = scripts[i];
		p.calls[0] = stage_start(&s, spec, &o);
		p.calls[1] = stage_start(&s, spec, &o);
		stage_await(&s, &p.dones, 1);
		stage_turn(&s, 20);
		cr_expect_eq(p.dones, 1);
		stage_finish(&s);
	}
}

/* Nobody hears of it; the sanitizer of the run sees what is left. */
Test(grpc_client_cancel, a_client_destroyed_with_calls_under_way)
{
	struct stage s;
	struct told o[5];
	static const char large[200000];

	stage_init(&s, (struct grpc_server_config){.window = 1000});
	stage_start(&s, (struct grpc_call_spec){0}, &o[0]);
	stage_start(&s, (struct grpc_call_spec){.stream = true, .timeout_ms = 60000}, &o[1]);
	stage_await(&s, &s.n_held, 2);
	grpc_stream_begin(s.held[0]);
	grpc_stream_send_raw(s.held[0], "\0\0\0\0\7half", 9);
	stage_start(&s, (struct grpc_call_spec){.message = large, .size = sizeof(large)}, &o[2]);
	stage_turn(&s, 5);
	stage_start(&s, (struct grpc_call_spec){.timeout_ms = 60000}, &o[3]);
	stage_start(&s, (struct grpc_call_spec){.stream = true}, &o[4]);
	stage_connect(&s, &(struct grpc_client_config){.url = grpc_server_url(s.server)});
	stage_turn(&s, 20);
	for (int i = 0; i < 5; i++) {
		cr_expect_eq(o[i].dones, 0);
		told_finish(&o[i]);
	}
	stage_start(&s, (struct grpc_call_spec){0}, &o[0]);
	stage_finish(&s);
	cr_expect_eq(o[0].dones, 0, "it never was connected");
}

static void destroy_from_done(const struct grpc_answer *answer, void *arg)
{
	struct stage *s = arg;

	grpc_client_destroy(take_ptr(s->client));
}

static void destroy_from_message(struct grpc_call *call, const void *message, size_t n, void *arg)
{
	struct stage *s = arg;

	grpc_client_destroy(take_ptr(s->client));
}

/* Two calls that end in the same moment, of which the second is not heard of. */
static void try_destroying(stage_script script, const char *url)
{
	struct stage s;
	struct told o;
	struct grpc_call_spec spec = {.on_done = destroy_from_done,
				      .on_message = destroy_from_message,
				      .timeout_ms = 1000,
				      .arg = &s};

	for (int stream = 0; stream < 2; stream++) {
		stage_init(&s, (struct grpc_server_config){0});
		if (url)
			stage_connect(&s, &(struct grpc_client_config){.url = url});
		s.script = script;
		spec.stream = stream;
		stage_start(&s, spec, &o);
		stage_start(&s, spec, &o);
		for (int i = 0; i < 100 && s.client; i++)
			stage_turn(&s, 20);
		cr_expect_null(s.client);
		stage_turn(&s, 20);
		stage_finish(&s);
	}
}

Test(grpc_client_cancel, a_client_destroyed_by_the_end_of_a_call)
{
	try_destroying(answer_at_second, NULL);
	try_destroying(cut_at_second, NULL);
	try_destroying(NULL, "http://127.0.0.1:1");
	try_destroying(NULL, "http://no-such-host.invalid:1");
	try_destroying(NULL, NULL);
}

static void send_at_second(struct stage *s, struct grpc_stream *t, const struct grpc_request *r)
{
	grpc_stream_begin(t);
	if (s->n_held++)
		grpc_stream_send(t, "word", 4);
}

Test(grpc_client_cancel, a_client_destroyed_by_a_message)
{
	try_destroying(send_at_second, NULL);
}

/* It waits for its turn on a connection that takes one at a time. */
Test(grpc_client_cancel, a_call_cancelled_while_it_waits)
{
	struct stage s;
	struct told o[3];
	struct grpc_call *waits;

	stage_init(&s, (struct grpc_server_config){.max_streams = 1});
	stage_serve(&s);
	stage_start(&s, (struct grpc_call_spec){0}, &o[0]);
	waits = stage_start(&s, (struct grpc_call_spec){0}, &o[1]);
	stage_start(&s, (struct grpc_call_spec){.method = "/test.Service/Third"}, &o[2]);
	stage_await(&s, &s.n_held, 1);
	stage_turn(&s, 10);
	grpc_call_cancel(waits);
	stage_answer(&s, 0);
	stage_await(&s, &s.n_held, 2);
	cr_expect_str_eq(s.method, "/test.Service/Third");
	stage_answer(&s, 1);
	stage_await(&s, &o[2].dones, 1);
	expect_message(&o[0], "answer 0");
	expect_message(&o[2], "answer 1");
	cr_expect_eq(o[1].dones, 0);
	for (int i = 0; i < 3; i++)
		told_finish(&o[i]);
	stage_finish(&s);
}
