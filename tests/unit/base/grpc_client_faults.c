/* What the client makes of servers that fail. */
#include "grpc_stage.h"

/* --- what a lost call may have done --- */

Test(grpc_client_faults, nobody_listens)
{
	struct stage s;
	struct told o;

	stage_init(&s, (struct grpc_server_config){0});
	grpc_server_destroy(take_ptr(s.server));
	for (int stream = 0; stream < 2; stream++) {
		stage_call(&s, (struct grpc_call_spec){.stream = stream}, &o);
		expect_error(&o, ERR_UNREACHABLE, "Connection refused");
		told_finish(&o);
	}
	stage_finish(&s);
}

Test(grpc_client_faults, a_host_that_is_not_known)
{
	struct stage s;
	struct told o;

	stage_init(&s, (struct grpc_server_config){0});
	stage_connect(&s, &(struct grpc_client_config){.url = "http://no-such-host.invalid:2379"});
	stage_call(&s, (struct grpc_call_spec){0}, &o);
	expect_error(&o, ERR_UNREACHABLE, "");
	told_finish(&o);
	stage_finish(&s);
}

static void cut(struct stage *s, struct grpc_stream *t, const struct grpc_request *r)
{
	grpc_peer_cut(grpc_stream_peer(t));
}

static void cut_behind_head(struct stage *s, struct grpc_stream *t, const struct grpc_request *r)
{
	grpc_stream_begin(t);
	cut(s, t, r);
}

static void cut_inside_message(struct stage *s, struct grpc_stream *t, const struct grpc_request *r)
{
	grpc_stream_begin(t);
	grpc_stream_send_raw(t, "\0\0\0\0\7half", 9);
	cut(s, t, r);
}

static void cut_behind_message(struct stage *s, struct grpc_stream *t, const struct grpc_request *r)
{
	grpc_stream_begin(t);
	grpc_stream_send(t, "all", 3);
	cut(s, t, r);
}

static void reset_refused(struct stage *s, struct grpc_stream *t, const struct grpc_request *r)
{
	grpc_stream_reset(t, NGHTTP2_REFUSED_STREAM);
}

static void reset_refused_late(struct stage *s, struct grpc_stream *t, const struct grpc_request *r)
{
	grpc_stream_begin(t);
	grpc_stream_reset(t, NGHTTP2_REFUSED_STREAM);
}

static void reset_cancelled(struct stage *s, struct grpc_stream *t, const struct grpc_request *r)
{
	grpc_stream_reset(t, NGHTTP2_CANCEL);
}

static void reset_failed(struct stage *s, struct grpc_stream *t, const struct grpc_request *r)
{
	grpc_stream_begin(t);
	grpc_stream_reset(t, NGHTTP2_INTERNAL_ERROR);
}

static void end_without_status(struct stage *s, struct grpc_stream *t, const struct grpc_request *r)
{
	grpc_stream_begin(t);
	grpc_stream_send(t, "all", 3);
	grpc_stream_end(t, -1, "");
}

static void end_without_message(struct stage *s, struct grpc_stream *t,
				const struct grpc_request *r)
{
	grpc_stream_begin(t);
	grpc_stream_end(t, GRPC_OK, "");
}

static void end_inside_message(struct stage *s, struct grpc_stream *t, const struct grpc_request *r)
{
	grpc_stream_begin(t);
	grpc_stream_send_raw(t, "\0\0\0\0\7half", 9);
	grpc_stream_end(t, GRPC_OK, "");
}

/* Nobody has told it that it may. */
static void compress(struct stage *s, struct grpc_stream *t, const struct grpc_request *r)
{
	grpc_stream_begin(t);
	grpc_stream_send_raw(t, "\1\0\0\0\3xyz", 8);
	grpc_stream_end(t, GRPC_OK, "");
}

static void say_503(struct stage *s, struct grpc_stream *t, const struct grpc_request *r)
{
	grpc_stream_http(t, "503", "text/html", "<p>Come back later");
}

static void say_404(struct stage *s, struct grpc_stream *t, const struct grpc_request *r)
{
	grpc_stream_http(t, "404", "text/html", "<p>Not here");
}

static void say_html(struct stage *s, struct grpc_stream *t, const struct grpc_request *r)
{
	grpc_stream_http(t, "200", "text/html", "<p>Welcome");
}

static void say_garbage(struct stage *s, struct grpc_stream *t, const struct grpc_request *r)
{
	grpc_peer_say(grpc_stream_peer(t), "no frame of HTTP/2 at all, but long enough", 42);
}

struct loss {
	const char *name;
	void (*script)(struct stage *s, struct grpc_stream *t, const struct grpc_request *r);
	enum { ONE = 1, STREAM = 2, BOTH = 3 } calls;
	enum error_code code;
	const char *text; /* that is a part of the error's */
};

static const struct loss losses[] = {
	{"cut", cut, BOTH, ERR_UNKNOWN_OUTCOME, ""},
	{"cut behind head", cut_behind_head, BOTH, ERR_UNKNOWN_OUTCOME, ""},
	{"cut inside message", cut_inside_message, BOTH, ERR_UNKNOWN_OUTCOME, ""},
	{"cut behind message", cut_behind_message, BOTH, ERR_UNKNOWN_OUTCOME, ""},
	{"refused", reset_refused, BOTH, ERR_UNREACHABLE, ""},
	{"refused late", reset_refused_late, BOTH, ERR_UNKNOWN_OUTCOME, ""},
	{"cancelled", reset_cancelled, BOTH, ERR_UNKNOWN_OUTCOME, ""},
	{"failed", reset_failed, BOTH, ERR_UNKNOWN_OUTCOME, ""},
	{"no status", end_without_status, BOTH, ERR_UNKNOWN_OUTCOME, "status"},
	{"no message", end_without_message, ONE, ERR_UNKNOWN_OUTCOME, "message"},
	{"half a message", end_inside_message, BOTH, ERR_UNKNOWN_OUTCOME, "message"},
	{"compressed", compress, ONE, ERR_UNKNOWN_OUTCOME, "compressed"},
	{"compressed", compress, STREAM, ERR_UNKNOWN_OUTCOME, ""},
	{"503", say_503, BOTH, ERR_UNKNOWN_OUTCOME, "503"},
	{"404", say_404, BOTH, ERR_UNKNOWN_OUTCOME, "404"},
	{"html", say_html, BOTH, ERR_UNKNOWN_OUTCOME, ""},
	{"garbage", say_garbage, BOTH, ERR_UNKNOWN_OUTCOME, ""},
};

static void try_loss(const struct loss *loss, bool stream)
{
	struct stage s;
	struct told o;

	stage_init(&s, (struct grpc_server_config){0});
	s.script = loss->script;
	stage_call(&s, (struct grpc_call_spec){.stream = stream}, &o);
	cr_log_info("%s: %s", loss->name, o.answer.err.text);
	expect_error(&o, loss->code, loss->text);
	told_finish(&o);
	stage_serve(&s);
	stage_finish(&s);
}

Test(grpc_client_faults, says_what_a_lost_call_may_have_done)
{
	for (size_t i = 0; i < ARRAY_LEN(losses); i++) {
		if (losses[i].calls & ONE)
			try_loss(&losses[i], false);
		if (losses[i].calls & STREAM)
			try_loss(&losses[i], true);
	}
}

/* To the first request of a connection, in frames of HTTP/2. */
#define SAY_FRAME(t, frame) grpc_peer_say(grpc_stream_peer(t), frame, sizeof(frame) - 1)

static void open_window_too_far(struct stage *s, struct grpc_stream *t,
				const struct grpc_request *r)
{
	SAY_FRAME(t, "\0\0\4\10\0\0\0\0\1\177\377\377\377");
}

static void leave_out_http_status(struct stage *s, struct grpc_stream *t,
				  const struct grpc_request *r)
{
	SAY_FRAME(t, "\0\0\5\1\4\0\0\0\1\0\1x\1y");
}

/* The client resets such a call, and the server need not say anything more. */
Test(grpc_client_faults, an_answer_that_breaks_the_rules_and_silence)
{
	const stage_script scripts[] = {open_window_too_far, leave_out_http_status};

	for (size_t i = 0; i < 2 * ARRAY_LEN(scripts); i++) {
		struct stage s;
		struct told o;

		stage_init(&s, (struct grpc_server_config){0});
		s.script = scripts[i / 2];
		stage_call(&s, (struct grpc_call_spec){.stream = i % 2}, &o);
		expect_error(&o, ERR_UNKNOWN_OUTCOME, "broke off");
		told_finish(&o);
		stage_finish(&s);
	}
}

static void speak_http1(struct grpc_peer *p, void *arg)
{
	static const char answer[] = "HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n";

	grpc_peer_say(p, answer, strlen(answer));
}

static void speak_nonsense(struct grpc_peer *p, void *arg)
{
	grpc_peer_say(p, "SSH-2.0-OpenSSH_9.2p1 Debian-2\r\n", 32);
}

/* The call may have been sent before that was known. */
Test(grpc_client_faults, a_server_of_another_kind)
{
	void (*const kinds[])(struct grpc_peer *, void *) = {speak_http1, speak_nonsense};

	for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
		struct stage s;
		struct told o;

		stage_init(&s, (struct grpc_server_config){.on_connection = kinds[i]});
		stage_call(&s, (struct grpc_call_spec){0}, &o);
		expect_error(&o, ERR_UNKNOWN_OUTCOME, "");
		told_finish(&o);
		stage_finish(&s);
	}
}

static void cut_at_once(struct grpc_peer *p, void *arg)
{
	grpc_peer_cut(p);
}

/* Whether anything had left is the client's to know, but it must not say that all was well. */
Test(grpc_client_faults, a_server_that_hangs_up)
{
	struct stage s;
	struct told o;

	stage_init(&s, (struct grpc_server_config){.on_connection = cut_at_once});
	stage_call(&s, (struct grpc_call_spec){0}, &o);
	cr_expect_eq(o.answer.status, -1);
	cr_expect(o.answer.err.code == ERR_UNKNOWN_OUTCOME || o.answer.err.code == ERR_UNREACHABLE,
		  "%s", o.answer.err.text);
	told_finish(&o);
	stage_finish(&s);
}

/* --- a server that goes --- */

struct parting {
	struct stage s;
	struct told o[4];
};

/* Four calls under way, of which the server has looked at two. */
static void parting_init(struct parting *p, bool stream)
{
	stage_init(&p->s, (struct grpc_server_config){0});
	for (unsigned i = 0; i < 4; i++) {
		stage_start(&p->s, (struct grpc_call_spec){.stream = stream}, &p->o[i]);
		stage_await(&p->s, &p->s.n_held, i + 1);
	}
	grpc_peer_goaway(p->s.peer, grpc_stream_id(p->s.held[1]));
}

static void parting_finish(struct parting *p)
{
	for (int i = 0; i < 4; i++)
		told_finish(&p->o[i]);
	stage_finish(&p->s);
}

static void expect_not_looked_at(struct parting *p)
{
	for (int i = 2; i < 4; i++) {
		stage_await(&p->s, &p->o[i].dones, 1);
		expect_error(&p->o[i], ERR_UNREACHABLE, "");
	}
}

Test(grpc_client_faults, a_goaway_says_which_calls_were_not_looked_at)
{
	for (int stream = 0; stream < 2; stream++) {
		struct parting p;

		parting_init(&p, stream);
		expect_not_looked_at(&p);
		stage_serve(&p.s);
		cr_expect_eq(grpc_server_connections(p.s.server), 2, "the old one takes no calls");
		for (unsigned i = 0; i < 2; i++) {
			cr_expect_eq(p.o[i].dones, 0);
			stage_answer(&p.s, i);
			stage_await(&p.s, &p.o[i].dones, 1);
			cr_expect_eq(p.o[i].answer.status, GRPC_OK, "%s", p.o[i].answer.err.text);
		}
		parting_finish(&p);
	}
}

Test(grpc_client_faults, a_goaway_and_the_connection_ends)
{
	struct parting p;

	parting_init(&p, false);
	grpc_peer_cut(p.s.peer);
	expect_not_looked_at(&p);
	for (int i = 0; i < 2; i++) {
		stage_await(&p.s, &p.o[i].dones, 1);
		expect_error(&p.o[i], ERR_UNKNOWN_OUTCOME, "");
	}
	stage_serve(&p.s);
	parting_finish(&p);
}

/* They were never sent, and need not wait for those that were. */
Test(grpc_client_faults, a_goaway_and_calls_that_wait_for_their_turn)
{
	struct stage s;
	struct told sent, waits;

	stage_init(&s, (struct grpc_server_config){.max_streams = 1});
	stage_serve(&s);
	stage_start(&s, (struct grpc_call_spec){0}, &sent);
	stage_start(&s, (struct grpc_call_spec){0}, &waits);
	stage_await(&s, &s.n_held, 1);
	stage_turn(&s, 10);
	grpc_peer_goaway(s.peer, grpc_stream_id(s.held[0]));
	stage_await(&s, &waits.dones, 1);
	expect_error(&waits, ERR_UNREACHABLE, "");
	stage_answer(&s, 0);
	stage_await(&s, &sent.dones, 1);
	expect_message(&sent, "answer 0");
	told_finish(&sent);
	told_finish(&waits);
	stage_finish(&s);
}

/* --- time --- */

Test(grpc_client_faults, a_call_without_an_answer_in_time)
{
	struct stage s;
	struct told slow, late;

	stage_init(&s, (struct grpc_server_config){0});
	stage_start(&s, (struct grpc_call_spec){0}, &slow);
	stage_await(&s, &s.n_held, 1);
	stage_start(&s, (struct grpc_call_spec){.timeout_ms = 50}, &late);
	stage_await(&s, &late.dones, 1);
	cr_expect_eq(s.n_held, 2);
	expect_error(&late, ERR_TIMEOUT, "50 ms");
	stage_serve(&s);
	cr_expect_eq(grpc_server_connections(s.server), 2, "the old one may be stuck");
	stage_answer(&s, 0);
	stage_await(&s, &slow.dones, 1);
	expect_message(&slow, "answer 0");
	stage_serve(&s);
	cr_expect_eq(grpc_server_connections(s.server), 2);
	told_finish(&slow);
	told_finish(&late);
	stage_finish(&s);
}

static void stop_reading(struct grpc_peer *p, void *arg)
{
	grpc_peer_stop_reading(p);
}

Test(grpc_client_faults, a_server_that_does_not_read)
{
	enum { SIZE = 1000 * 1000 };
	auto_xfree char *bytes = xcalloc(1, SIZE);
	struct stage s;
	struct told o;

	stage_init(&s, (struct grpc_server_config){.on_connection = stop_reading});
	stage_call(&s, (struct grpc_call_spec){.message = bytes, .size = SIZE, .timeout_ms = 100},
		   &o);
	expect_error(&o, ERR_TIMEOUT, "");
	told_finish(&o);
	stage_finish(&s);
}

Test(grpc_client_faults, an_answer_in_time_is_not_late)
{
	struct stage s;
	struct told o;

	stage_init(&s, (struct grpc_server_config){0});
	s.script = stage_echo;
	stage_call(&s, (struct grpc_call_spec){.timeout_ms = 100}, &o);
	stage_turn(&s, 200);
	cr_expect_eq(o.dones, 1);
	expect_message(&o, "request");
	stage_serve(&s);
	cr_expect_eq(grpc_server_connections(s.server), 1);
	told_finish(&o);
	stage_finish(&s);
}
