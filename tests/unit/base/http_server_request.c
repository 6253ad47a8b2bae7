/* Heads taken apart, bodies read, paused, limited and skipped; without sockets. */
#include <criterion/criterion.h>
#include <string.h>

#include "wire.h"

Test(http_server_request, limits_bodies)
{
	static const char *const cases[] = {
		"POST /echo HTTP/1.1\r\n" HOST "Content-Length: 101\r\n\r\n",
		"POST /echo HTTP/1.1\r\n" HOST
		"Content-Length: 101\r\nExpect: 100-continue\r\n\r\n",
		"POST /echo HTTP/1.1\r\n" HOST "Transfer-Encoding: chunked\r\n\r\n"
		"32\r\n01234567890123456789012345678901234567890123456789\r\n"
		"33\r\n012345678901234567890123456789012345678901234567890\r\n",
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct seen s = {0};
		struct wire w;

		wire_init(&w, seen_handle, &s);
		wire_feeds(&w, cases[i]);
		cr_expect_str_eq(strbuf_str(&w.out),
				 "HTTP/1.1 413 Content Too Large\r\n" DATE PLAIN
				 "Content-Length: 23\r\nConnection: close\r\n\r\n"
				 "request body too large\n");
		cr_expect(w.closed);
		cr_expect_str_eq(strbuf_str(&s.text), "POST /echo;");
		cr_expect_eq(s.closed, 1);
		wire_finish(&w);
		seen_finish(&s);
	}
}

Test(http_server_request, tells_the_client_to_continue_when_the_body_is_wanted)
{
	struct seen s = {0};
	struct wire w;

	wire_init(&w, seen_handle, &s);
	wire_feeds(&w, "POST /echo HTTP/1.1\r\n" HOST
		       "Content-Length: 3\r\nExpect: 100-Continue\r\n\r\n");
	cr_assert_str_eq(strbuf_str(&w.out), "HTTP/1.1 100 Continue\r\n\r\n");
	wire_feeds(&w, "abc");
	cr_assert(strstr(w.out.bytes, "\r\n\r\nHTTP/1.1 200 OK\r\n"));
	cr_assert_not(w.closed);
	strbuf_clear(&w.out);

	/* A handler that answers without reading leaves the client to send the body or not. */
	wire_feeds(&w,
		   "POST /a HTTP/1.1\r\n" HOST "Content-Length: 3\r\nExpect: 100-continue\r\n\r\n");
	cr_assert(strstr(w.out.bytes, "HTTP/1.1 200 OK\r\n"));
	cr_assert(strstr(w.out.bytes, "Connection: close\r\n"));
	cr_assert(w.closed);
	wire_finish(&w);
	seen_finish(&s);
}

Test(http_server_request, skips_a_short_body_that_nobody_read)
{
	struct seen s = {0};
	struct wire w;

	wire_init(&w, seen_handle, &s);
	wire_feeds(&w, "POST /a HTTP/1.1\r\n" HOST "Content-Length: 20\r\n\r\nGET /no HTT");
	cr_assert_eq(s.closed, 1);
	wire_feeds(&w, "P/1.1\r\n\r\nGET /b HTTP/1.1\r\n" HOST "\r\n");
	cr_assert_str_eq(strbuf_str(&s.text), "POST /a;GET /b;");
	strbuf_clear(&s.text);

	/* Of unknown length: a patience of 256 KiB. */
	wire_feeds(&w, "POST /a HTTP/1.1\r\n" HOST "Transfer-Encoding: chunked\r\n\r\n");
	wire_feed_repeated(&w, "400\r\n", 1);
	for (int i = 0; i < 300 && !w.closed; i++) {
		char chunk[1031];

		memset(chunk, 'a', 1024);
		memcpy(chunk + 1024, "\r\n400\r\n", 7);
		wire_feed(&w, chunk, sizeof(chunk));
		cr_assert(w.closed == (i >= 256), "%d", i);
	}
	wire_finish(&w);
	seen_finish(&s);
}

Test(http_server_request, pauses_a_body)
{
	struct seen s = {.pause_after_piece = true};
	struct wire w;

	wire_init(&w, seen_handle, &s);
	wire_feeds(&w,
		   "POST /hold HTTP/1.1\r\n" HOST "Transfer-Encoding: chunked\r\n\r\n1\r\na\r\n");
	cr_assert_eq(s.pieces, 0, "nobody asked for it");
	exchange_read_stream(s.held, seen_collect, &s);
	cr_assert_eq(s.pieces, 0, "called from inside of the call that registered it");
	wire_settle(&w);
	cr_assert_str_eq(strbuf_str(&s.body), "a");
	wire_feeds(&w, "2\r\nbc\r\n3\r\nd");
	wire_feeds(&w, "ef\r\n0\r\n\r\n");
	cr_assert_str_eq(strbuf_str(&s.body), "a");
	for (int i = 0; i < 8 && !s.body_ended; i++) {
		exchange_read_pause(s.held, false);
		wire_settle(&w);
	}
	cr_assert(s.body_ended);
	cr_assert_str_eq(strbuf_str(&s.body), "abcdef");
	exchange_respond(s.held, 200, NULL, "", 0);
	wire_settle(&w);
	cr_assert_eq(s.closed, 1);
	cr_assert_eq(s.lost, 0);
	wire_finish(&w);
	seen_finish(&s);
}

Test(http_server_request, holds_back_a_paused_sender)
{
	struct seen s = {0};
	struct wire w;
	char junk[HTTP_RECORD];
	size_t sent = 0;

	memset(junk, 'x', sizeof(junk));
	wire_init(&w, seen_handle, &s);
	wire_feeds(&w, "POST /hold HTTP/1.1\r\n" HOST "Content-Length: 10000000\r\n\r\n");
	exchange_read_stream(s.held, seen_collect, &s);
	exchange_read_pause(s.held, true);
	wire_settle(&w);
	for (; http1_wants_more(&w.h); sent += sizeof(junk))
		wire_feed(&w, junk, sizeof(junk));
	cr_assert_leq(sent, HTTP_MAX_INPUT);
	cr_assert_eq(s.body.size, 0);
	exchange_read_pause(s.held, false);
	wire_settle(&w);
	cr_assert_eq(s.body.size, sent);
	cr_assert(http1_wants_more(&w.h));
	wire_finish(&w);
	cr_assert_eq(s.lost, 1);
	cr_assert_not(s.body_ended);
	seen_finish(&s);
}

Test(http_server_request, cuts_a_stream_whose_request_body_turns_out_malformed)
{
	struct seen s = {0};
	struct wire w;

	wire_init(&w, seen_handle, &s);
	wire_feeds(&w, "POST /hold HTTP/1.1\r\n" HOST "Transfer-Encoding: chunked\r\n\r\n");
	exchange_read_stream(s.held, seen_collect, &s);
	exchange_begin(s.held, 200, NULL);
	wire_settle(&w);
	wire_feeds(&w, "no hex\r\n");
	cr_assert(w.lost);
	cr_assert_eq(s.lost, 1);
	cr_assert_not(s.body_ended);
	wire_finish(&w);
	seen_finish(&s);
}

Test(http_server_request, gives_the_parts_of_a_request)
{
	struct seen s = {0};
	struct wire w;
	struct exchange *x;

	wire_init(&w, seen_handle, &s);
	wire_feeds(&w, "GET /hold?a=1&b=x+y%26z&c&=e&a=2&d=%C3%A4 HTTP/1.1\r\n" HOST
		       "Accept: a\r\naccept: b\r\nX-Padded: \t v w \t\r\nX-Empty:\r\n\r\n");
	x = s.held;
	cr_assert_str_eq(exchange_target(x), "/hold?a=1&b=x+y%26z&c&=e&a=2&d=%C3%A4");
	cr_assert_str_eq(exchange_query(x, "a"), "1");
	cr_assert_str_eq(exchange_query(x, "b"), "x y&z");
	cr_assert_str_eq(exchange_query(x, "c"), "");
	cr_assert_str_eq(exchange_query(x, "d"), "\xc3\xa4");
	cr_assert_null(exchange_query(x, "e"));
	cr_assert_str_eq(exchange_header(x, "ACCEPT"), "a, b");
	cr_assert_str_eq(exchange_header(x, "x-padded"), "v w");
	cr_assert_str_eq(exchange_header(x, "x-empty"), "");
	cr_assert_null(exchange_header(x, "x-absent"));
	cr_assert_null(exchange_peer_user(x));
	cr_assert_null(exchange_peer_groups(x)[0]);
	cr_assert_not(exchange_begun(x));
	wire_finish(&w);
	seen_finish(&s);
}
