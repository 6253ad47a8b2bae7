/* HTTP/1.1 of the server, without sockets. Expected bytes are written from RFC 9110 and 9112. */
#include <criterion/criterion.h>
#include <string.h>

#include "wire.h"

static void run(const char *bytes, size_t n, size_t cut, struct strbuf *ret_out, struct seen *s)
{
	struct wire w;

	wire_init(&w, seen_handle, s);
	if (cut == 0) {
		for (size_t i = 0; i < n; i++)
			wire_feed(&w, bytes + i, 1);
	} else {
		wire_feed(&w, bytes, cut);
		wire_feed(&w, bytes + cut, n - cut);
	}
	strbuf_add(ret_out, strbuf_str(&w.out), w.out.size);
	wire_finish(&w);
}

static const char conversation[] =
	"GET /a?x=1 HTTP/1.1\r\n" HOST "\r\n"
	"POST /echo HTTP/1.1\r\n" HOST "Content-Length: 5\r\n\r\nhello"
	"\r\n" /* a client of old may add this; it is to be skipped */
	"POST /echo HTTP/1.1\r\n" HOST "Transfer-Encoding: chunked\r\n\r\n"
	"3;ext=1\r\nabc\r\nA\r\n0123456789\r\n0\r\nTrailer: x\r\n\r\n"
	"HEAD /stream HTTP/1.1\r\n" HOST "\r\n"
	"GET http://other/b%20c?d HTTP/1.1\r\n" HOST "X-Empty:\r\nX-Last:\t v \t\r\n\r\n"
	"GET /stream HTTP/1.1\r\n" HOST "\r\n"
	"POST /echo HTTP/1.1\r\n" HOST "Content-Length: 0\r\nConnection: close\r\n\r\n";

static const char answers[] =
	"HTTP/1.1 200 OK\r\n" DATE PLAIN "Content-Length: 2\r\n\r\nok"
	"HTTP/1.1 200 OK\r\n" DATE PLAIN "Content-Length: 5\r\n\r\nhello"
	"HTTP/1.1 200 OK\r\n" DATE PLAIN "Content-Length: 13\r\n\r\nabc0123456789"
	"HTTP/1.1 200 OK\r\n" DATE PLAIN "Transfer-Encoding: chunked\r\n\r\n"
	"HTTP/1.1 200 OK\r\n" DATE PLAIN "Content-Length: 2\r\n\r\nok"
	"HTTP/1.1 200 OK\r\n" DATE PLAIN "Transfer-Encoding: chunked\r\n\r\n"
	"3\r\none\r\n10\r\ntwotwotwotwotwo.\r\n0\r\n\r\n"
	"HTTP/1.1 200 OK\r\n" DATE PLAIN "Content-Length: 0\r\nConnection: close\r\n\r\n";

Test(http_server_h1, answers_the_same_however_the_bytes_are_split)
{
	size_t n = sizeof(conversation) - 1;

	for (size_t cut = 0; cut <= n; cut++) {
		auto_strbuf out = {0};
		struct seen s = {0};

		run(conversation, n, cut, &out, &s);
		cr_assert_str_eq(strbuf_str(&out), answers, "cut at %zu:\n%s", cut,
				 strbuf_str(&out));
		cr_assert_str_eq(strbuf_str(&s.text),
				 "GET /a;POST /echo;5;POST /echo;13;HEAD /stream;GET /b c;"
				 "GET /stream;POST /echo;0;");
		cr_assert_eq(s.closed, 7);
		cr_assert_eq(s.lost, 0);
		seen_finish(&s);
	}
}

/* The status line that a request gets, as a number; 0: none. */
static int status_of(const char *bytes, size_t n, bool *ret_closed)
{
	struct seen s = {0};
	struct wire w;
	int status = 0;

	wire_init(&w, seen_handle, &s);
	wire_feed(&w, bytes, n);
	if (w.out.size)
		cr_assert_eq(sscanf(w.out.bytes, "HTTP/1.1 %d ", &status), 1);
	*ret_closed = w.closed;
	wire_finish(&w);
	seen_finish(&s);
	return status;
}

Test(http_server_h1, refuses_malformed_requests)
{
	static const struct {
		int status;
		const char *bytes;
		size_t n; /* 0: strlen */
	} cases[] = {
		{400, "GET / HTTP/1.1\r\n\r\n"},
		{400, "GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n"},
		{400, "GET / HTTP/1.1\nHost: h\n\n"},
		{400, "GET / HTTP/1.1\r\n" HOST "A: b\rC: d\r\n\r\n"},
		{400, "GET / HTTP/1.1\r\n" HOST "A: b\nC: d\r\n\r\n"},
		{400, "GET / HTTP/1.1\r\n" HOST "A: b\r\n continued\r\n\r\n"},
		{400, "GET / HTTP/1.1\r\n" HOST "A: b\r\n\tcontinued\r\n\r\n"},
		{400, "GET / HTTP/1.1\r\n Host: h\r\n\r\n"},
		{400, "GET / HTTP/1.1\r\n" HOST "A : b\r\n\r\n"},
		{400, "GET / HTTP/1.1\r\n" HOST "A\r\n\r\n"},
		{400, "GET / HTTP/1.1\r\n" HOST ": b\r\n\r\n"},
		{400, "GET / HTTP/1.1\r\n" HOST "A: b\0c\r\n\r\n", 34},
		{400, "GET / HTTP/1.1\r\n" HOST "Content-Length: 1\r\nContent-Length: 2\r\n\r\nab"},
		{400, "POST / HTTP/1.1\r\n" HOST "Content-Length: 1, 1\r\n\r\na"},
		{400, "POST / HTTP/1.1\r\n" HOST "Content-Length: -1\r\n\r\n"},
		{400, "POST / HTTP/1.1\r\n" HOST "Content-Length: +1\r\n\r\na"},
		{400, "POST / HTTP/1.1\r\n" HOST "Content-Length: 1a\r\n\r\na"},
		{400, "POST / HTTP/1.1\r\n" HOST "Content-Length: 99999999999999999999999\r\n\r\n"},
		{400, "POST / HTTP/1.1\r\n" HOST
		      "Content-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"},
		{400, "POST / HTTP/1.1\r\n" HOST
		      "Transfer-Encoding: chunked\r\nContent-Length: 1\r\n\r\n0\r\n\r\n"},
		{400, "POST / HTTP/1.1\r\n" HOST "Transfer-Encoding: gzip\r\n\r\n"},
		{400,
		 "POST / HTTP/1.1\r\n" HOST "Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n"},
		{400,
		 "POST / HTTP/1.1\r\n" HOST "Transfer-Encoding: chunked, chunked\r\n\r\n0\r\n\r\n"},
		{400, "POST / HTTP/1.1\r\n" HOST "Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n"},
		{400, "POST / HTTP/1.0\r\n" HOST "Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n"},
		{400, "POST /echo HTTP/1.1\r\n" HOST "Transfer-Encoding: chunked\r\n\r\nxyz\r\n"},
		{400,
		 "POST /echo HTTP/1.1\r\n" HOST "Transfer-Encoding: chunked\r\n\r\n2\r\nabcd\r\n"},
		{400, "POST /echo HTTP/1.1\r\n" HOST
		      "Transfer-Encoding: chunked\r\n\r\nfffffffffffffffff\r\n"},
		{417, "POST / HTTP/1.1\r\n" HOST "Expect: a miracle\r\n\r\n"},
		{400, "GET /%zz HTTP/1.1\r\n" HOST "\r\n"},
		{400, "GET /%2 HTTP/1.1\r\n" HOST "\r\n"},
		{400, "GET /%00 HTTP/1.1\r\n" HOST "\r\n"},
		{400, "GET /%c0%af HTTP/1.1\r\n" HOST "\r\n"},
		{400, "GET /?a=%ff HTTP/1.1\r\n" HOST "\r\n"},
		{400, "GET a HTTP/1.1\r\n" HOST "\r\n"},
		{400, "CONNECT h:1 HTTP/1.1\r\n" HOST "\r\n"},
		{400, "NONSENSE / HTTP/1.1\r\n" HOST "\r\n"},
		{400, "get / HTTP/1.1\r\n" HOST "\r\n"},
		{400, "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"},
		{400, "\x16\x03\x01\x02", 4},
		{505, "GET /\r\n\r\n"},
		{505, "GET / HTTP/1.1 \r\n" HOST "\r\n"},
		{505, "GET / HTTP/2.0\r\n" HOST "\r\n"},
		{505, "GET / HTTP/1.2\r\n" HOST "\r\n"},
		{505, "GET / HTTP/0.9\r\n" HOST "\r\n"},
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		bool closed;
		size_t n = cases[i].n ? cases[i].n : strlen(cases[i].bytes);
		int status = status_of(cases[i].bytes, n, &closed);

		cr_expect_eq(status, cases[i].status, "%s -> %d", cases[i].bytes, status);
		cr_expect(closed, "%s keeps the connection", cases[i].bytes);
	}
}

/* What lies behind a refused request may be anything, so it is not even looked at. */
Test(http_server_h1, ends_the_connection_after_a_refusal)
{
	struct seen s = {0};
	struct wire w;

	wire_init(&w, seen_handle, &s);
	wire_feeds(&w, "GET / HTTP/1.1\r\n\r\nGET /b HTTP/1.1\r\n" HOST "\r\n");
	cr_assert_str_eq(strbuf_str(&s.text), "");
	cr_assert_str_eq(w.out.bytes, "HTTP/1.1 400 Bad Request\r\n" DATE PLAIN
				      "Content-Length: 15\r\nConnection: close\r\n\r\n"
				      "no Host header\n");
	cr_assert(w.closed);
	wire_finish(&w);
	seen_finish(&s);
}

Test(http_server_h1, limits_heads)
{
	static const struct {
		const char *start, *line;
		size_t times;
		bool refused;
	} cases[] = {
		{"GET / HTTP/1.1\r\n" HOST, "X: 0123456789012345678901234567890123456789\r\n", 250,
		 false},
		{"GET / HTTP/1.1\r\n" HOST, "X: 0\r\n", 256, true},
		{"GET / HTTP/1.1\r\n" HOST "A: ", "0123456789", 6000, false},
		{"GET / HTTP/1.1\r\n" HOST "A: ", "0123456789", 6600, true},
		{"GET /", "0123456789", 6600, true},
		{"GET / HTTP/1.1\r\n", "0123456789", 6600, true},
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct seen s = {0};
		struct wire w;
		bool line = cases[i].line[0] == 'X';

		wire_init(&w, seen_handle, &s);
		wire_feeds(&w, cases[i].start);
		wire_feed_repeated(&w, cases[i].line, cases[i].times);
		wire_feeds(&w, line ? "\r\n" : "\r\n\r\n");
		cr_expect_eq(strncmp(strbuf_str(&w.out), "HTTP/1.1 431 ", 13) == 0,
			     cases[i].refused, "%zu: %s", i, strbuf_str(&w.out));
		cr_expect_eq(w.closed, cases[i].refused);
		wire_finish(&w);
		seen_finish(&s);
	}
}

Test(http_server_h1, ends_the_connection_when_one_side_wants_it)
{
	static const struct {
		const char *request;
		bool closed;
	} cases[] = {
		{"GET /a HTTP/1.1\r\n" HOST "\r\n", false},
		{"GET /a HTTP/1.1\r\n" HOST "Connection: keep-alive\r\n\r\n", false},
		{"GET /a HTTP/1.1\r\n" HOST "Connection: close\r\n\r\n", true},
		{"GET /a HTTP/1.1\r\n" HOST "Connection: x, Close\r\n\r\n", true},
		{"GET /a HTTP/1.0\r\n\r\n", true},
		{"GET /a HTTP/1.0\r\nConnection: keep-alive\r\n\r\n", true},
		{"GET /a HTTP/1.1\r\n" HOST "Connection: Upgrade\r\nUpgrade: h2c\r\n\r\n", false},
		{"POST /a HTTP/1.1\r\n" HOST "Content-Length: 1000\r\n\r\n", false},
		{"POST /a HTTP/1.1\r\n" HOST "Content-Length: 1000000\r\n\r\n", true},
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct seen s = {0};
		struct wire w;

		wire_init(&w, seen_handle, &s);
		wire_feeds(&w, cases[i].request);
		cr_expect(strstr(strbuf_str(&w.out), "HTTP/1.1 200 OK\r\n"));
		cr_expect_eq(!!strstr(strbuf_str(&w.out), "Connection: close\r\n"), cases[i].closed,
			     "%s", cases[i].request);
		cr_expect_eq(w.closed, cases[i].closed);
		wire_finish(&w);
		seen_finish(&s);
	}
}

Test(http_server_h1, begins_a_request_only_after_the_one_before_it_is_answered)
{
	struct seen s = {0};
	struct wire w;

	wire_init(&w, seen_handle, &s);
	wire_feeds(&w, "GET /hold HTTP/1.1\r\n" HOST "\r\nGET /b HTTP/1.1\r\n" HOST "\r\n");
	wire_feeds(&w, "GET /c HTTP/1.1\r\n" HOST "\r\n");
	cr_assert_str_eq(strbuf_str(&s.text), "GET /hold;");
	w.blocked = true;
	exchange_respond(s.held, 200, NULL, "x", 1);
	wire_settle(&w);
	cr_assert_str_eq(strbuf_str(&s.text), "GET /hold;", "the answer has not left yet");
	cr_assert_eq(s.closed, 0);
	w.blocked = false;
	wire_settle(&w);
	cr_assert_str_eq(strbuf_str(&s.text), "GET /hold;GET /b;GET /c;");
	wire_finish(&w);
	seen_finish(&s);
}

/* What a client sends ahead of its answers is bounded: then its socket is not read. */
Test(http_server_h1, bounds_what_is_sent_ahead)
{
	struct seen s = {0};
	struct wire w;
	char junk[HTTP_RECORD];

	memset(junk, 'x', sizeof(junk));
	wire_init(&w, seen_handle, &s);
	wire_feeds(&w, "GET /hold HTTP/1.1\r\n" HOST "\r\n");
	for (int i = 0; i < 4; i++) {
		cr_assert(http1_wants_more(&w.h));
		wire_feed(&w, junk, sizeof(junk));
	}
	cr_assert_not(http1_wants_more(&w.h));
	wire_finish(&w);
	cr_assert_eq(s.lost, 1);
	seen_finish(&s);
}

Test(http_server_h1, notices_that_the_client_has_gone)
{
	struct seen s = {0};
	struct wire w;

	/* While it should read. */
	wire_init(&w, seen_handle, &s);
	wire_feeds(&w, "GET /hold HTTP/1.1\r\n" HOST "\r\n");
	exchange_begin(s.held, 200, NULL);
	exchange_write(s.held, "x", 1);
	wire_settle(&w);
	wire_eof(&w);
	cr_assert(w.lost);
	cr_assert_eq(s.lost, 1);
	wire_finish(&w);

	/* While it should send: what it had sent comes first, then the loss, never an end. */
	wire_init(&w, seen_handle, &s);
	wire_feeds(&w, "POST /hold HTTP/1.1\r\n" HOST "Content-Length: 10\r\n\r\nabc");
	exchange_read_stream(s.held, seen_collect, &s);
	exchange_read_pause(s.held, true);
	wire_eof(&w);
	cr_assert_not(w.lost);
	exchange_read_pause(s.held, false);
	wire_settle(&w);
	cr_assert_str_eq(strbuf_str(&s.body), "abc");
	cr_assert_not(s.body_ended);
	cr_assert(w.lost);
	cr_assert_eq(s.lost, 2);
	wire_finish(&w);

	/* The same, but the reader paused while it was given a piece. */
	strbuf_clear(&s.body);
	s.pause_after_piece = true;
	wire_init(&w, seen_handle, &s);
	wire_feeds(&w, "POST /hold HTTP/1.1\r\n" HOST "Transfer-Encoding: chunked\r\n\r\n");
	exchange_read_stream(s.held, seen_collect, &s);
	wire_feeds(&w, "1\r\na\r\n1\r\nb\r\n");
	wire_eof(&w);
	cr_assert_not(w.lost);
	exchange_read_pause(s.held, false);
	wire_settle(&w);
	cr_assert_str_eq(strbuf_str(&s.body), "ab");
	cr_assert(w.lost);
	cr_assert_eq(s.lost, 3);
	wire_finish(&w);

	/* Between requests, and in the middle of a head. */
	for (int i = 0; i < 2; i++) {
		wire_init(&w, seen_handle, &s);
		wire_feeds(&w, i ? "GET / HT" : "");
		wire_eof(&w);
		cr_assert(w.lost);
		cr_assert_eq(w.out.size, 0);
		wire_finish(&w);
	}
	cr_assert_eq(s.closed, 3);
	seen_finish(&s);
}

Test(http_server_h1, cuts_the_connection_of_an_aborted_exchange)
{
	struct seen s = {0};
	struct wire w;

	wire_init(&w, seen_handle, &s);
	wire_feeds(&w, "GET /hold HTTP/1.1\r\n" HOST "\r\n");
	exchange_begin(s.held, 200, NULL);
	wire_settle(&w);
	exchange_abort(s.held);
	cr_assert_eq(s.closed, 0);
	cr_assert_not(exchange_write(s.held, "late", 4));
	wire_settle(&w);
	cr_assert(w.lost);
	cr_assert_eq(s.lost, 1);
	cr_assert_not(strstr(w.out.bytes, "late"));
	wire_finish(&w);
	seen_finish(&s);
}

Test(http_server_h1, answers_408_when_a_request_does_not_come)
{
	static const char *const cases[] = {
		"GET / HTT",
		"POST /echo HTTP/1.1\r\n" HOST "Content-Length: 10\r\n\r\nabc",
	};
	struct seen s = {0};
	struct wire w;

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		wire_init(&w, seen_handle, &s);
		wire_feeds(&w, cases[i]);
		cr_assert_eq(http1_phase(&w.h), i ? PHASE_BODY : PHASE_HEAD);
		http1_timeout(&w.h);
		wire_settle(&w);
		cr_assert_eq(strncmp(strbuf_str(&w.out), "HTTP/1.1 408 ", 13), 0);
		cr_assert(w.closed);
		wire_finish(&w);
	}
	cr_assert_eq(s.lost, 1, "the handler of the body is told");

	/* Between requests nobody waits for an answer. */
	wire_init(&w, seen_handle, &s);
	cr_assert_eq(http1_phase(&w.h), PHASE_IDLE);
	http1_timeout(&w.h);
	wire_settle(&w);
	cr_assert_eq(w.out.size, 0);
	cr_assert(w.closed);
	wire_finish(&w);

	/* A handler that takes its time is not hurried. */
	wire_init(&w, seen_handle, &s);
	wire_feeds(&w, "GET /hold HTTP/1.1\r\n" HOST "\r\n");
	cr_assert_eq(http1_phase(&w.h), PHASE_BUSY);
	http1_timeout(&w.h);
	wire_settle(&w);
	cr_assert_not(w.closed);
	wire_finish(&w);
	seen_finish(&s);
}

Test(http_server_h1, ends_connections_while_draining)
{
	struct seen s = {0};
	struct wire w;

	wire_init(&w, seen_handle, &s);
	wire_feeds(&w, "GET /hold HTTP/1.1\r\n" HOST "\r\n");
	w.draining = true;
	wire_settle(&w);
	cr_assert_not(w.closed);
	exchange_respond(s.held, 200, NULL, "x", 1);
	wire_settle(&w);
	cr_assert(strstr(w.out.bytes, "Connection: close\r\n"));
	cr_assert(w.closed);
	wire_finish(&w);

	wire_init(&w, seen_handle, &s);
	w.draining = true;
	wire_settle(&w);
	cr_assert(w.closed);
	wire_finish(&w);
	seen_finish(&s);
}
