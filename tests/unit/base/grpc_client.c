/* Calls and streams, against a server that a test plays. */
#include "base/grpc_client_internal.h"
#include "grpc_stage.h"

/* The first call, whose answer has begun. */
static void begin_answer(struct stage *s, bool stream, struct told *o)
{
	stage_start(s, (struct grpc_call_spec){.stream = stream}, o);
	stage_await(s, &s->n_held, 1);
	grpc_stream_begin(s->held[0]);
}

/* --- calls with one answer --- */

Test(grpc_client, a_call_has_its_message_and_status)
{
	struct stage s;
	struct told o;

	stage_init(&s, (struct grpc_server_config){0});
	s.script = stage_echo;
	stage_call(&s, (struct grpc_call_spec){.message = "a\0b", .size = 3}, &o);
	cr_expect_eq(o.answer.status, GRPC_OK);
	cr_expect_eq(o.message.size, 3);
	cr_expect_arr_eq(o.message.bytes, "a\0b", 3);
	told_finish(&o);
	stage_finish(&s);
}

static void expect_line(const struct stage *s, const char *line)
{
	cr_expect(strstr(s->head, line), "%s is not in:\n%s", line, s->head);
}

Test(grpc_client, sends_what_the_protocol_asks_for)
{
	static const struct grpc_metadata metadata[] = {{"hasleader", "true"},
							{"grpc-timeout", "5000m"}};
	struct stage s;
	struct told o;
	auto_xfree char *authority = NULL;

	stage_init(&s, (struct grpc_server_config){0});
	s.script = stage_echo;
	stage_call(&s,
		   (struct grpc_call_spec){.method = "/etcdserverpb.KV/Put",
					   .metadata = metadata,
					   .n_metadata = ARRAY_LEN(metadata)},
		   &o);
	cr_expect_str_eq(s.method, "/etcdserverpb.KV/Put");
	authority = xasprintf(":authority: %s\n", strstr(grpc_server_url(s.server), "127"));
	expect_line(&s, authority);
	expect_line(&s, ":method: POST\n");
	expect_line(&s, ":scheme: http\n");
	expect_line(&s, "\ncontent-type: application/grpc\n");
	expect_line(&s, "\nte: trailers\n");
	expect_line(&s, "\nhasleader: true\n");
	expect_line(&s, "\ngrpc-timeout: 5000m\n");
	told_finish(&o);
	stage_finish(&s);
}

Test(grpc_client, a_path_in_the_address_is_kept)
{
	struct stage s;
	auto_xfree char *url = NULL;

	stage_init(&s, (struct grpc_server_config){0});
	url = xasprintf("%s/behind/proxy", grpc_server_url(s.server));
	stage_connect(&s, &(struct grpc_client_config){.url = url});
	stage_serve(&s);
	cr_expect_str_eq(s.method, "/behind/proxy/test.Service/Call");
	stage_finish(&s);
}

static void say_no_leader(struct stage *s, struct grpc_stream *t, const struct grpc_request *r)
{
	grpc_stream_fail(t, GRPC_UNAVAILABLE, "no leader: 100 % of\nm\xc3\xbcnster");
}

static void begin_and_say_nothing(struct stage *s, struct grpc_stream *t,
				  const struct grpc_request *r)
{
	grpc_stream_begin(t);
	grpc_stream_end(t, GRPC_NOT_FOUND, "");
}

Test(grpc_client, a_status_has_its_text)
{
	struct stage s;
	struct told o;

	stage_init(&s, (struct grpc_server_config){0});
	s.script = say_no_leader;
	stage_call(&s, (struct grpc_call_spec){0}, &o);
	cr_expect_eq(o.answer.status, GRPC_UNAVAILABLE);
	cr_expect_str_eq(o.text, "no leader: 100 % of\nm\xc3\xbcnster");
	told_finish(&o);
	s.script = begin_and_say_nothing;
	stage_call(&s, (struct grpc_call_spec){0}, &o);
	cr_expect_eq(o.answer.status, GRPC_NOT_FOUND);
	cr_expect_str_eq(o.text, "");
	told_finish(&o);
	stage_finish(&s);
}

static void answer_nothing(struct stage *s, struct grpc_stream *t, const struct grpc_request *r)
{
	cr_expect_eq(r->size, 0);
	grpc_stream_answer(t, "", 0);
}

Test(grpc_client, messages_may_be_empty)
{
	struct stage s;
	struct told o;

	stage_init(&s, (struct grpc_server_config){0});
	s.script = answer_nothing;
	stage_call(&s, (struct grpc_call_spec){.message = ""}, &o);
	expect_message(&o, "");
	cr_expect_eq(o.answer.size, 0);
	told_finish(&o);
	stage_finish(&s);
}

/* Larger than the window, so that the client has to wait for it to open, again and again. */
Test(grpc_client, a_request_larger_than_the_window)
{
	enum { SIZE = 1200 * 1000 };
	auto_xfree char *bytes = xcalloc(1, SIZE);
	struct stage s;
	struct told o;

	for (size_t i = 0; i < SIZE; i++)
		bytes[i] = (char)(i * 31 / 7);
	stage_init(&s, (struct grpc_server_config){.window = 5000});
	s.script = stage_echo;
	stage_call(&s, (struct grpc_call_spec){.message = bytes, .size = SIZE}, &o);
	cr_expect_eq(o.answer.status, GRPC_OK, "%s", o.answer.err.text);
	cr_assert_eq(o.message.size, SIZE);
	cr_expect(!memcmp(o.message.bytes, bytes, SIZE));
	told_finish(&o);
	stage_finish(&s);
}

static void answer_much(struct stage *s, struct grpc_stream *t, const struct grpc_request *r)
{
	enum { SIZE = 6 << 20 };
	auto_xfree char *bytes = xcalloc(1, SIZE);

	memset(bytes, 'x', SIZE / 2);
	grpc_stream_answer(t, bytes, SIZE);
}

Test(grpc_client, a_large_answer)
{
	struct stage s;
	struct told o;

	stage_init(&s, (struct grpc_server_config){0});
	s.script = answer_much;
	for (int i = 0; i < 2; i++) {
		stage_call(&s, (struct grpc_call_spec){0}, &o);
		cr_expect_eq(o.answer.status, GRPC_OK, "%s", o.answer.err.text);
		cr_assert_eq(o.message.size, 6 << 20);
		cr_expect_eq(o.message.bytes[(3 << 20) - 1], 'x');
		cr_expect_eq(o.message.bytes[3 << 20], 0);
		told_finish(&o);
	}
	cr_expect_eq(grpc_server_connections(s.server), 1);
	stage_finish(&s);
}

/* The length in front of a message says it all. */
Test(grpc_client, an_answer_that_is_too_large)
{
	struct stage s;
	struct told o;

	for (int stream = 0; stream < 2; stream++) {
		stage_init(&s, (struct grpc_server_config){0});
		begin_answer(&s, stream, &o);
		grpc_stream_send_raw(s.held[0], "\0\4\0\0\1", 5);
		stage_await(&s, &o.dones, 1);
		expect_error(&o, ERR_TOO_LARGE, "");
		stage_await(&s, &s.n_gone, 1);
		told_finish(&o);
		stage_finish(&s);
	}
}

Test(grpc_client, an_answer_of_the_largest_size_is_none_that_is_too_large)
{
	struct stage s;
	struct told o;

	stage_init(&s, (struct grpc_server_config){0});
	begin_answer(&s, false, &o);
	grpc_stream_send_raw(s.held[0], "\0\4\0\0\0one", 8);
	stage_turn(&s, 20);
	cr_expect_eq(o.dones, 0);
	grpc_peer_cut(grpc_stream_peer(s.held[0]));
	stage_await(&s, &o.dones, 1);
	expect_error(&o, ERR_UNKNOWN_OUTCOME, "");
	told_finish(&o);
	stage_finish(&s);
}

/* It could go on for ever. */
Test(grpc_client, an_answer_of_more_than_one_message)
{
	struct stage s;
	struct told o;

	stage_init(&s, (struct grpc_server_config){0});
	begin_answer(&s, false, &o);
	grpc_stream_send(s.held[0], "one", 3);
	stage_turn(&s, 20);
	cr_expect_eq(o.dones, 0);
	grpc_stream_send(s.held[0], "two", 3);
	stage_await(&s, &o.dones, 1);
	expect_error(&o, ERR_UNKNOWN_OUTCOME, "message");
	told_finish(&o);
	stage_finish(&s);
}

static void refuse_size(struct stage *s, struct grpc_stream *t, const struct grpc_request *r)
{
	grpc_stream_fail(t, GRPC_RESOURCE_EXHAUSTED, "received message larger than max");
}

/* A server need not read what it does not want. */
Test(grpc_client, an_answer_before_the_request_was_sent)
{
	enum { SIZE = 1200 * 1000 };
	auto_xfree char *bytes = xcalloc(1, SIZE);
	struct stage s;
	struct told o;

	stage_init(&s, (struct grpc_server_config){.early = true});
	for (int i = 0; i < 2; i++) {
		s.script = refuse_size;
		stage_call(&s, (struct grpc_call_spec){.message = bytes, .size = SIZE}, &o);
		cr_expect_eq(o.answer.status, GRPC_RESOURCE_EXHAUSTED, "%s", o.answer.err.text);
		told_finish(&o);
	}
	cr_expect_eq(grpc_server_connections(s.server), 1);
	stage_finish(&s);
}

/* --- connections --- */

Test(grpc_client, many_calls_share_a_connection)
{
	struct stage s;
	struct told o[STAGE_REQUESTS];

	stage_init(&s, (struct grpc_server_config){0});
	for (int i = 0; i < STAGE_REQUESTS; i++)
		stage_start(&s, (struct grpc_call_spec){0}, &o[i]);
	stage_await(&s, &s.n_held, STAGE_REQUESTS);
	for (unsigned i = STAGE_REQUESTS; i-- > 0;)
		stage_answer(&s, i);
	for (unsigned i = 0; i < STAGE_REQUESTS; i++) {
		auto_xfree char *text = xasprintf("answer %u", i);

		stage_await(&s, &o[i].dones, 1);
		expect_message(&o[i], text);
		told_finish(&o[i]);
	}
	stage_serve(&s);
	cr_expect_eq(grpc_server_connections(s.server), 1);
	stage_finish(&s);
}

/* A server may take one call at a time. */
Test(grpc_client, calls_wait_for_their_turn)
{
	struct stage s;
	struct told o[3];

	stage_init(&s, (struct grpc_server_config){.max_streams = 1});
	stage_serve(&s);
	for (int i = 0; i < 3; i++)
		stage_start(&s, (struct grpc_call_spec){0}, &o[i]);
	for (unsigned i = 0; i < 3; i++) {
		stage_await(&s, &s.n_held, i + 1);
		stage_answer(&s, i);
		stage_await(&s, &o[i].dones, 1);
		cr_expect_eq(o[i].answer.status, GRPC_OK, "%s", o[i].answer.err.text);
		told_finish(&o[i]);
	}
	cr_expect_eq(grpc_server_connections(s.server), 1);
	stage_finish(&s);
}

/* The second was never sent, whatever becomes of the first. */
Test(grpc_client, a_call_that_still_waits_was_not_sent)
{
	struct stage s;
	struct told sent, waits;

	for (int cut = 0; cut < 2; cut++) {
		stage_init(&s, (struct grpc_server_config){.max_streams = 1});
		stage_serve(&s);
		stage_start(&s, (struct grpc_call_spec){0}, &sent);
		stage_await(&s, &s.n_held, 1);
		stage_start(&s, (struct grpc_call_spec){.timeout_ms = cut ? 0 : 50}, &waits);
		stage_turn(&s, 10);
		cr_expect_eq(s.n_held, 1);
		if (cut)
			grpc_peer_cut(grpc_stream_peer(s.held[0]));
		stage_await(&s, &waits.dones, 1);
		expect_error(&waits, ERR_UNREACHABLE, "");
		if (cut) {
			stage_await(&s, &sent.dones, 1);
			expect_error(&sent, ERR_UNKNOWN_OUTCOME, "");
		}
		told_finish(&sent);
		told_finish(&waits);
		stage_finish(&s);
	}
}

Test(grpc_client, streams_have_a_connection_of_their_own)
{
	struct stage s;
	struct told o[4];

	stage_init(&s, (struct grpc_server_config){0});
	for (unsigned i = 0; i < 4; i++) {
		stage_start(&s, (struct grpc_call_spec){.stream = i < 2}, &o[i]);
		stage_await(&s, &s.n_held, i + 1);
	}
	cr_expect_eq(s.connection_of[0], s.connection_of[1]);
	cr_expect_eq(s.connection_of[2], s.connection_of[3]);
	cr_expect_neq(s.connection_of[0], s.connection_of[2]);
	cr_expect_eq(grpc_server_connections(s.server), 2);
	grpc_peer_cut(grpc_stream_peer(s.held[0]));
	stage_await(&s, &o[0].dones, 1);
	stage_await(&s, &o[1].dones, 1);
	stage_answer(&s, 2);
	stage_answer(&s, 3);
	stage_await(&s, &o[2].dones, 1);
	stage_await(&s, &o[3].dones, 1);
	expect_message(&o[2], "answer 2");
	expect_message(&o[3], "answer 3");
	for (int i = 0; i < 4; i++)
		told_finish(&o[i]);
	stage_finish(&s);
}

/* Idle connections are closed by servers, and by what lies between. */
Test(grpc_client, connects_again_after_an_idle_connection_was_closed)
{
	struct stage s;

	stage_init(&s, (struct grpc_server_config){0});
	for (unsigned i = 1; i <= 3; i++) {
		stage_serve(&s);
		cr_expect_eq(grpc_server_connections(s.server), i);
		grpc_peer_cut(s.peer);
		stage_turn(&s, 20);
	}
	stage_finish(&s);
}

/* One every millisecond uses them up within two weeks. */
Test(grpc_client, connects_again_before_the_numbers_of_streams_end)
{
	struct stage s;

	stage_init(&s, (struct grpc_server_config){0});
	stage_serve(&s);
	nghttp2_session_set_next_stream_id(conn_session(s.client->current[0])->h2,
					   GRPC_LAST_STREAM | 1);
	for (unsigned i = 1; i <= 3; i++) {
		stage_serve(&s);
		cr_expect_eq(grpc_server_connections(s.server), i == 1 ? 1 : 2);
	}
	cr_expect_eq(s.client->conns.head.next, s.client->conns.head.prev, "the old one is closed");
	stage_finish(&s);
}

static void start_from_done(const struct grpc_answer *answer, void *arg)
{
	struct stage *s = arg;
	static struct told o;

	cr_expect_eq(answer->status, -1);
	stage_start(s, (struct grpc_call_spec){0}, &o);
}

/* As those do that try again. */
Test(grpc_client, a_call_started_by_the_end_of_another)
{
	struct stage s;
	struct told o;

	stage_init(&s, (struct grpc_server_config){0});
	stage_start(&s, (struct grpc_call_spec){.on_done = start_from_done, .arg = &s}, &o);
	stage_await(&s, &s.n_held, 1);
	grpc_peer_cut(s.peer);
	stage_await(&s, &s.n_held, 2);
	cr_expect_eq(s.connection_of[1], 2);
	stage_finish(&s);
}

/* --- streams --- */

static const char *const words[] = {"one", "", "three", "a longer one: 0123456789", "5"};

static void add_words(struct strbuf *frames)
{
	for (size_t i = 0; i < ARRAY_LEN(words); i++)
		grpc_frame(frames, words[i], strlen(words[i]));
}

static void expect_words(const struct told *o, const struct strbuf *frames)
{
	cr_expect_eq(o->messages, ARRAY_LEN(words));
	cr_assert_eq(o->stream.size, frames->size);
	cr_expect(!memcmp(o->stream.bytes, frames->bytes, frames->size));
	cr_expect_eq(o->dones, 0);
}

static void try_pieces(size_t size)
{
	struct stage s;
	struct told o;
	auto_strbuf frames = {0};

	stage_init(&s, (struct grpc_server_config){0});
	begin_answer(&s, true, &o);
	add_words(&frames);
	for (size_t at = 0; at < frames.size; at += size) {
		size_t left = frames.size - at;

		grpc_stream_send_raw(s.held[0], frames.bytes + at, left < size ? left : size);
		stage_turn(&s, 1);
	}
	stage_await(&s, &o.messages, ARRAY_LEN(words));
	expect_words(&o, &frames);
	told_finish(&o);
	stage_finish(&s);
}

Test(grpc_client, many_messages_in_one_piece)
{
	try_pieces(1000);
}

Test(grpc_client, messages_split_at_every_byte)
{
	try_pieces(1);
}

Test(grpc_client, messages_split_anywhere)
{
	try_pieces(6);
	try_pieces(13);
}

/* Much more than the client lets a server send ahead. */
Test(grpc_client, a_stream_that_goes_on)
{
	enum { SIZE = 100000, N = 250 };
	auto_xfree char *bytes = xcalloc(1, SIZE);
	struct stage s;
	struct told o;

	stage_init(&s, (struct grpc_server_config){0});
	begin_answer(&s, true, &o);
	for (unsigned i = 0; i < N; i++)
		grpc_stream_send(s.held[0], bytes, SIZE);
	stage_await(&s, &o.messages, N);
	cr_expect_eq(o.stream.size, N * (SIZE + 5));
	told_finish(&o);
	stage_finish(&s);
}

Test(grpc_client, a_stream_ends_behind_its_messages)
{
	static const int statuses[] = {GRPC_OK, GRPC_UNAVAILABLE};

	for (size_t i = 0; i < ARRAY_LEN(statuses); i++) {
		struct stage s;
		struct told o;

		stage_init(&s, (struct grpc_server_config){0});
		begin_answer(&s, true, &o);
		grpc_stream_send(s.held[0], "last", 4);
		grpc_stream_end(s.held[0], statuses[i], statuses[i] ? "going away" : "");
		stage_await(&s, &o.dones, 1);
		cr_expect_eq(o.messages, 1);
		cr_expect_eq(o.answer.status, statuses[i], "%s", o.answer.err.text);
		if (statuses[i])
			cr_expect_str_eq(o.text, "going away");
		told_finish(&o);
		stage_finish(&s);
	}
}

Test(grpc_client, a_stream_that_is_refused_at_once)
{
	struct stage s;
	struct told o;

	stage_init(&s, (struct grpc_server_config){0});
	s.script = say_no_leader;
	stage_call(&s, (struct grpc_call_spec){.stream = true}, &o);
	cr_expect_eq(o.answer.status, GRPC_UNAVAILABLE);
	cr_expect_eq(o.messages, 0);
	told_finish(&o);
	stage_finish(&s);
}
