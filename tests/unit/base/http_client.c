/* The client against the server of this project. */
#include <criterion/criterion.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/http_client.h"
#include "base/http_server_internal.h"
#include "net.h"
#include "outcome.h"

struct site {
	struct net net;
	struct http_client *client;
	unsigned handled, lost, open, peak;
	struct exchange *held[32];
	unsigned n_held;
	struct exchange *up, *down; /* of a relay */
	bool relay_paused;
	unsigned relay_pauses;
	size_t relay_peak;
	struct timer *timer;
};

static void on_close(struct exchange *x, bool lost, void *arg)
{
	struct site *s = arg;

	s->open--;
	s->lost += lost;
	if (x == s->up)
		s->up = NULL;
	if (x == s->down)
		s->down = NULL;
}

static void tell_request(struct exchange *x, const char *bytes, size_t n, void *arg)
{
	static const char *const names[] = {"host",   "authorization",  "content-type",
					    "accept", "content-length", "x-extra",
					    "expect"};
	auto_strbuf text = {0};

	strbuf_addf(&text, "%s %s\n", exchange_method(x), exchange_target(x));
	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		if (exchange_header(x, names[i]))
			strbuf_addf(&text, "%s: %s\n", names[i], exchange_header(x, names[i]));
	strbuf_addf(&text, "user: %s\n", exchange_peer_user(x) ? exchange_peer_user(x) : "nobody");
	strbuf_add(&text, bytes, n);
	exchange_respond(x, 200, "text/plain", text.bytes, text.size);
}

static void answer_late(void *arg)
{
	struct site *s = arg;

	for (unsigned i = 0; i < s->n_held; i++)
		exchange_respond(s->held[i], 200, NULL, "late", 4);
	s->n_held = 0;
}

#define RELAY_AHEAD (64 * 1024)

static void relay_up(struct exchange *x, const char *bytes, size_t n, void *arg)
{
	struct site *s = arg;

	if (!n) {
		exchange_end(s->down);
		exchange_respond(x, 204, NULL, NULL, 0);
		return;
	}
	exchange_write(s->down, bytes, n);
	if (exchange_queued(s->down) > RELAY_AHEAD) {
		s->relay_paused = true;
		s->relay_pauses++;
		exchange_read_pause(x, true);
	}
	if (exchange_queued(s->down) > s->relay_peak)
		s->relay_peak = exchange_queued(s->down);
}

static void relay_go_on(struct exchange *x, void *arg)
{
	struct site *s = arg;

	if (s->up && s->relay_paused)
		exchange_read_pause(s->up, false);
	s->relay_paused = false;
}

static void handle(struct exchange *x, void *arg)
{
	struct site *s = arg;
	const char *path = exchange_path(x);

	s->handled++;
	if (++s->open > s->peak)
		s->peak = s->open;
	exchange_on_close(x, on_close, s);
	if (!strcmp(path, "/late")) {
		s->held[s->n_held++] = x;
		timer_start(s->timer, 1);
	} else if (!strcmp(path, "/hold")) {
		exchange_begin(x, 200, NULL);
		exchange_write(x, "begun", 5);
	} else if (!strcmp(path, "/pieces")) {
		exchange_begin(x, 200, "text/plain");
		for (int i = 0; i < 100; i++)
			exchange_write(x, "0123456789", 10);
		exchange_end(x);
	} else if (!strcmp(path, "/down")) {
		s->down = x;
		exchange_on_drain(x, relay_go_on, s);
		exchange_begin(x, 200, NULL);
	} else if (!strcmp(path, "/up")) {
		s->up = x;
		exchange_read_stream(x, relay_up, s);
	} else if (!strcmp(path, "/refuse")) {
		exchange_add_header(x, "Location", "https://other:1/there");
		exchange_add_header(x, "Retry-After", "7");
		exchange_add_header(x, "Warning", "299 - \"no \\\"a\\\\b\\\", yet\"");
		exchange_add_header(x, "Warning", "plain");
		exchange_respond(x, 503, "text/plain", "go away", 7);
	} else {
		exchange_read_all(x, 10 << 20, tell_request, s);
	}
}

static struct http_client *client_for(struct site *s, const char *path,
				      struct http_client_config config)
{
	auto_xfree char *url = xasprintf("https://localhost:%d%s", s->net.port, path);

	config.base_url = url;
	if (!config.ca_pem)
		config.ca_pem = s->net.people.ca.cert_pem;
	return http_client_create(s->net.loop, &config);
}

static void site_init(struct site *s)
{
	*s = (struct site){0};
	net_init(&s->net, handle, s);
	s->timer = timer_create_in(loop_env(s->net.loop), answer_late, s);
	s->client = client_for(s, "", (struct http_client_config){0});
}

static void site_finish(struct site *s)
{
	http_client_destroy(s->client);
	timer_destroy(s->timer);
	net_finish(&s->net);
	cr_assert_eq(s->open, 0);
}

Test(http_client, sends_what_it_is_told)
{
	static const char *const extra[] = {"X-Extra: a, b", NULL};
	static const struct {
		struct http_call_spec spec;
		const char *answer; /* "%d" stands for the port */
	} cases[] = {
		{{.path = "/a?b=c%20d"}, "GET /base/a?b=c%20d\naccept: */*\nuser: alice\n"},
		{{.path = "/a/../b", .accept = "application/json;as=Table"},
		 "GET /base/a/../b\naccept: application/json;as=Table\nuser: alice\n"},
		{{.method = "POST", .body = "x\0y", .body_size = 3, .content_type = "text/x"},
		 "POST /base/\ncontent-type: text/x\naccept: */*\ncontent-length: 3\nuser: alice\nx\0y"},
		{{.method = "PATCH", .body = "z", .body_size = 1},
		 "PATCH /base/\naccept: */*\ncontent-length: 1\nuser: alice\nz"},
		{{.method = "POST"}, "POST /base/\naccept: */*\ncontent-length: 0\nuser: alice\n"},
		{{.method = "PUT", .headers = extra},
		 "PUT /base/\naccept: */*\ncontent-length: 0\nx-extra: a, b\nuser: alice\n"},
		{{.method = "DELETE"}, "DELETE /base/\naccept: */*\nuser: alice\n"},
		{{.method = "DELETE",
		  .body = "{}",
		  .body_size = 2,
		  .content_type = "application/json"},
		 "DELETE /base/\ncontent-type: application/json\naccept: */*\ncontent-length: 2\n"
		 "user: alice\n{}"},
	};
	struct site s;
	struct http_client *c;
	struct outcome o = {0};

	site_init(&s);
	c = client_for(&s, "/base/",
		       (struct http_client_config){.cert_pem = s.net.people.alice.cert_pem,
						   .key_pem = s.net.people.alice.key_pem});
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		const char *after_host;

		outcome_call(s.net.loop, c, cases[i].spec, &o);
		cr_assert_eq(o.answer.status, 200, "%s", o.answer.err.text);
		after_host = strstr(o.body.bytes, "\nhost: localhost:");
		cr_assert_not_null(after_host);
		strbuf_consume(&o.data, 0);
		strbuf_add(&o.data, o.body.bytes, (size_t)(after_host + 1 - o.body.bytes));
		strbuf_adds(&o.data, strchr(after_host + 1, '\n') + 1);
		cr_expect_str_eq(o.data.bytes, cases[i].answer, "%zu: %s", i, o.data.bytes);
		cr_expect_str_eq(o.content_type, "text/plain");
		cr_expect_eq(o.answer.retry_after_s, -1);
		cr_expect_str_eq(o.location, "");
		cr_expect_str_eq(o.warnings, "");
	}
	outcome_call(s.net.loop, c, (struct http_call_spec){.method = "HEAD"}, &o);
	cr_expect_eq(o.answer.status, 200);
	cr_expect_eq(o.answer.size, 0);
	outcome_finish(&o);
	http_client_destroy(c);
	site_finish(&s);
}

Test(http_client, gives_the_parts_of_an_answer)
{
	struct site s;
	struct outcome o = {0};

	site_init(&s);
	for (int stream = 0; stream < 2; stream++) {
		outcome_call(s.net.loop, s.client,
			     (struct http_call_spec){.path = "/refuse", .stream = stream}, &o);
		cr_expect_eq(o.answer.status, 503);
		cr_expect_str_eq(strbuf_str(&o.body), "go away", "a refused stream has a body");
		cr_expect_eq(o.answer.retry_after_s, 7);
		cr_expect_str_eq(o.location, "https://other:1/there");
		cr_expect_str_eq(o.warnings, "no \"a\\b\", yet\nplain\n");
		cr_expect_str_eq(o.content_type, "text/plain");
		cr_expect_eq(o.pieces, 0);
	}
	cr_expect_eq(o.head_status, 503);
	outcome_finish(&o);
	site_finish(&s);
}

Test(http_client, streams_pieces_in_order)
{
	struct site s;
	struct outcome o = {0};

	site_init(&s);
	outcome_call(s.net.loop, s.client,
		     (struct http_call_spec){.path = "/pieces", .stream = true}, &o);
	cr_assert_eq(o.answer.status, 200);
	cr_assert_eq(o.answer.size, 0);
	cr_assert_eq(o.data.size, 1000);
	for (size_t i = 0; i < o.data.size; i++)
		cr_assert_eq(o.data.bytes[i], (char)('0' + i % 10));
	outcome_finish(&o);
	site_finish(&s);
}

static void check_credentials(const char *method)
{
	struct http_call_spec spec = {.method = method};
	struct site s;
	struct outcome o = {0};

	site_init(&s);
	outcome_call(s.net.loop, s.client, spec, &o);
	cr_assert(strstr(o.body.bytes, "user: nobody\n"));
	cr_assert_null(strstr(o.body.bytes, "authorization"));
	http_client_set_token(s.client, "one.two");
	outcome_call(s.net.loop, s.client, spec, &o);
	cr_assert(strstr(o.body.bytes, "authorization: Bearer one.two\n"));
	cr_assert_eq(s.net.server->n_conns, 1, "a token needs no new connection");
	http_client_set_token(s.client, NULL);
	http_client_set_cert(s.client, s.net.people.alice.cert_pem, s.net.people.alice.key_pem);
	outcome_call(s.net.loop, s.client, spec, &o);
	cr_assert(strstr(o.body.bytes, "user: alice\n"), "a certificate does");
	cr_assert_null(strstr(o.body.bytes, "authorization"));
	outcome_finish(&o);
	site_finish(&s);
}

Test(http_client, takes_new_credentials_for_the_next_call)
{
	check_credentials("GET");
	check_credentials("POST");
}

Test(http_client, keeps_connections_and_opens_one_when_asked)
{
	struct site s;
	struct outcome o = {0};

	site_init(&s);
	for (int i = 0; i < 5; i++)
		outcome_call(s.net.loop, s.client, (struct http_call_spec){0}, &o);
	cr_assert_eq(s.net.server->n_conns, 1);
	http_client_fresh_connection(s.client);
	outcome_call(s.net.loop, s.client, (struct http_call_spec){0}, &o);
	cr_assert_eq(s.net.server->n_conns, 2);
	outcome_call(s.net.loop, s.client, (struct http_call_spec){0}, &o);
	cr_assert_eq(s.net.server->n_conns, 2);
	outcome_finish(&o);
	site_finish(&s);
}

Test(http_client, bounds_connections_of_short_calls_and_queues_the_rest)
{
	enum { CALLS = 30 };
	struct site s;
	struct http_client *c;
	struct outcome o[CALLS] = {0};
	unsigned left = CALLS;

	site_init(&s);
	c = client_for(&s, "", (struct http_client_config){.max_connections = 3});
	for (int i = 0; i < CALLS; i++) {
		o[i].loop = s.net.loop;
		o[i].left = &left;
		outcome_start(c, (struct http_call_spec){.path = "/late"}, &o[i]);
	}
	loop_run(s.net.loop);
	for (int i = 0; i < CALLS; i++) {
		cr_expect_str_eq(strbuf_str(&o[i].body), "late", "%d: %s", i, o[i].answer.err.text);
		outcome_finish(&o[i]);
	}
	cr_expect_eq(s.handled, CALLS);
	cr_expect_eq(s.peak, 3);
	cr_expect_leq(s.net.server->n_conns, 3);
	http_client_destroy(c);
	site_finish(&s);
}

Test(http_client, keeps_short_calls_clear_of_streams)
{
	enum { STREAMS = 20 };
	struct site s;
	struct http_client *c;
	struct outcome held[STREAMS] = {0}, o = {0};

	site_init(&s);
	c = client_for(&s, "", (struct http_client_config){.max_connections = 1});
	for (int i = 0; i < STREAMS; i++)
		outcome_start(c, (struct http_call_spec){.path = "/hold", .stream = true},
			      &held[i]);
	outcome_call(s.net.loop, c, (struct http_call_spec){0}, &o);
	cr_assert_eq(o.answer.status, 200);
	while (s.handled < STREAMS + 1)
		outcome_call(s.net.loop, c, (struct http_call_spec){.path = "/late"}, &o);
	cr_assert_gt(s.peak, STREAMS);
	http_client_destroy(c);
	for (int i = 0; i < STREAMS; i++) {
		cr_assert_eq(held[i].dones, 0, "destroy does not call back");
		outcome_finish(&held[i]);
	}
	outcome_finish(&o);
	site_finish(&s);
	cr_assert_eq(s.lost, STREAMS);
}

/* --- uploads --- */

struct feeder {
	struct http_call *call;
	size_t left, given, paused;
	struct outcome outcome;
};

static char byte_at(size_t i)
{
	return (char)(i * 2654435761u >> 13);
}

static void feed(struct feeder *f)
{
	char piece[30000];
	bool more = true;

	while (more && f->left) {
		size_t n = f->left < sizeof(piece) ? f->left : sizeof(piece);

		for (size_t i = 0; i < n; i++)
			piece[i] = byte_at(f->given + i);
		f->given += n;
		f->left -= n;
		more = http_call_send(f->call, piece, n);
		f->paused += !more;
	}
	if (!f->left)
		http_call_send_end(f->call);
}

static void on_feeder_drain(struct http_call *c, void *arg)
{
	struct outcome *o = arg;

	feed(container_of(o, struct feeder, outcome));
}

Test(http_client, uploads_as_the_server_reads)
{
	struct site s;
	struct outcome *o;
	struct feeder f = {.left = 5000000};
	unsigned left = 1;
	const char *body;

	site_init(&s);
	o = &f.outcome;
	o->loop = s.net.loop;
	o->left = &left;
	f.call = outcome_start(s.client,
			       (struct http_call_spec){.method = "POST",
						       .path = "/x",
						       .upload = true,
						       .on_drain = on_feeder_drain},
			       o);
	feed(&f);
	cr_assert_gt(f.left, 0, "all at once");
	loop_run(s.net.loop);
	cr_assert_eq(o->answer.status, 200, "%s", o->answer.err.text);
	cr_assert_gt(f.paused, 1);
	body = memmem(o->body.bytes, o->body.size, "user: nobody\n", 13);
	cr_assert_not_null(body);
	body += 13;
	cr_assert_eq(o->body.size - (size_t)(body - o->body.bytes), 5000000);
	for (size_t i = 0; i < 5000000; i++)
		if (body[i] != byte_at(i))
			cr_assert_fail("byte %zu differs", i);
	outcome_finish(o);
	site_finish(&s);
}

/* Nothing is said for a while, in the middle and at the beginning. */
Test(http_client, waits_for_the_next_piece_of_an_upload)
{
	struct site s;
	struct outcome o = {0}, other = {0};
	struct http_call *c;
	unsigned left = 1;

	site_init(&s);
	o.loop = s.net.loop;
	o.left = &left;
	c = outcome_start(s.client,
			  (struct http_call_spec){.method = "POST", .path = "/x", .upload = true},
			  &o);
	outcome_call(s.net.loop, s.client, (struct http_call_spec){.path = "/late"}, &other);
	http_call_send(c, "one", 3);
	outcome_call(s.net.loop, s.client, (struct http_call_spec){.path = "/late"}, &other);
	http_call_send(c, "two", 3);
	http_call_send_end(c);
	loop_run(s.net.loop);
	cr_assert_eq(o.answer.status, 200, "%s", o.answer.err.text);
	cr_assert(strstr(o.body.bytes, "onetwo"));
	cr_assert_null(strstr(o.body.bytes, "expect"));
	outcome_finish(&o);
	outcome_finish(&other);
	site_finish(&s);
}

/* An upload that is handed on to a download, both under way, as logs are. */
Test(http_client, relays_with_back_pressure)
{
	struct site s;
	struct outcome down = {0};
	struct feeder f = {.left = 30000000};
	unsigned left = 2;

	site_init(&s);
	down.loop = f.outcome.loop = s.net.loop;
	down.left = f.outcome.left = &left;
	outcome_start(s.client, (struct http_call_spec){.path = "/down", .stream = true}, &down);
	while (!s.down) {
		struct outcome o = {0};

		outcome_call(s.net.loop, s.client, (struct http_call_spec){0}, &o);
		outcome_finish(&o);
	}
	f.call = outcome_start(s.client,
			       (struct http_call_spec){.method = "POST",
						       .path = "/up",
						       .upload = true,
						       .on_drain = on_feeder_drain},
			       &f.outcome);
	feed(&f);
	loop_run(s.net.loop);
	cr_assert_eq(f.outcome.answer.status, 204, "%s", f.outcome.answer.err.text);
	cr_assert_eq(down.answer.status, 200, "%s", down.answer.err.text);
	cr_assert_eq(down.data.size, 30000000);
	for (size_t i = 0; i < down.data.size; i++)
		if (down.data.bytes[i] != byte_at(i))
			cr_assert_fail("byte %zu differs", i);
	cr_assert_gt(s.relay_pauses, 10);
	cr_assert_leq(s.relay_peak, RELAY_AHEAD + HTTP_MAX_INPUT + HTTP_RECORD);
	outcome_finish(&down);
	outcome_finish(&f.outcome);
	site_finish(&s);
}

struct slow_reader {
	struct loop *loop;
	struct http_call *call;
	struct strbuf data;
	size_t pieces;
	bool stands; /* until the test goes on */
	unsigned *left;
};

static void read_on(void *arg)
{
	struct slow_reader *r = arg;

	if (r->call)
		http_call_pause(r->call, false);
}

static void on_slow_data(struct http_call *c, const char *bytes, size_t n, void *arg)
{
	struct slow_reader *r = arg;

	strbuf_add(&r->data, bytes, n);
	if (r->stands || r->pieces++ % 16)
		return;
	http_call_pause(c, true);
	loop_defer(r->loop, read_on, r);
}

static void on_slow_done(const struct http_answer *a, void *arg)
{
	struct slow_reader *r = arg;

	r->call = NULL;
	cr_expect_eq(a->status, 200, "%s", a->err.text);
	if (!--*r->left)
		loop_stop(r->loop);
}

/* While a reader stands still the peer is not read, and so its own source in turn. */
Test(http_client, a_paused_stream_is_read_no_further_and_loses_nothing)
{
	struct site s;
	unsigned left = 2;
	struct slow_reader r = {.stands = true, .left = &left};
	struct feeder f = {.left = 30000000};
	size_t stood_at;

	site_init(&s);
	r.loop = f.outcome.loop = s.net.loop;
	f.outcome.left = &left;
	r.call = http_call_start(s.client, &(struct http_call_spec){.method = "GET",
								    .path = "/down",
								    .stream = true,
								    .on_data = on_slow_data,
								    .on_done = on_slow_done,
								    .arg = &r});
	http_call_pause(r.call, true);
	for (int i = 0; i < 20 || !s.down; i++) {
		struct outcome o = {0};

		outcome_call(s.net.loop, s.client, (struct http_call_spec){.path = "/late"}, &o);
		outcome_finish(&o);
		if (s.down && !f.call) {
			f.call = outcome_start(s.client,
					       (struct http_call_spec){.method = "POST",
								       .path = "/up",
								       .upload = true,
								       .on_drain = on_feeder_drain},
					       &f.outcome);
			feed(&f);
		}
	}
	stood_at = f.left;
	cr_expect_gt(stood_at, 10000000, "%zu bytes wait, all else was taken", stood_at);
	cr_expect_eq(r.data.size, 0);
	r.stands = false;
	http_call_pause(r.call, false);
	loop_run(s.net.loop);
	cr_assert_eq(r.data.size, 30000000);
	for (size_t i = 0; i < r.data.size; i++)
		if (r.data.bytes[i] != byte_at(i))
			cr_assert_fail("byte %zu differs", i);
	strbuf_finish(&r.data);
	outcome_finish(&f.outcome);
	site_finish(&s);
}

Test(http_client, ends_an_upload_that_is_refused)
{
	struct site s;
	struct feeder f = {.left = 50000000};
	unsigned left = 1;

	site_init(&s);
	f.outcome.loop = s.net.loop;
	f.outcome.left = &left;
	f.call = outcome_start(s.client,
			       (struct http_call_spec){.method = "POST",
						       .path = "/refuse",
						       .upload = true,
						       .on_drain = on_feeder_drain},
			       &f.outcome);
	feed(&f);
	loop_run(s.net.loop);
	cr_assert_eq(f.outcome.answer.status, 503, "%s", f.outcome.answer.err.text);
	cr_assert_gt(f.left, 0);
	outcome_finish(&f.outcome);
	site_finish(&s);
}
