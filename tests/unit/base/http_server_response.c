/* What the server writes, and how much of it waits; without sockets. */
#include <criterion/criterion.h>
#include <string.h>
#include <zlib.h>

#include "wire.h"

Test(http_server_response, tells_when_output_waits_and_when_it_has_gone)
{
	struct seen s = {0};
	struct wire w;
	char piece[65536] = {0};
	size_t n = 0;

	wire_init(&w, seen_handle, &s);
	wire_feeds(&w, "GET /hold HTTP/1.1\r\n" HOST "\r\n");
	w.blocked = true;
	exchange_begin(s.held, 200, NULL);
	while (exchange_write(s.held, piece, sizeof(piece)))
		n += sizeof(piece);
	cr_assert_lt(n, HTTP_MAX_QUEUED_OUT);
	cr_assert_gt(exchange_queued(s.held), HTTP_MAX_QUEUED_OUT);
	wire_settle(&w);
	cr_assert_eq(s.drained, 0);
	w.blocked = false;
	wire_settle(&w);
	cr_assert_eq(s.drained, 1);
	cr_assert_eq(exchange_queued(s.held), 0);
	exchange_end(s.held);
	wire_settle(&w);
	cr_assert_eq(s.drained, 1);
	cr_assert_eq(s.closed, 1);
	wire_finish(&w);
	seen_finish(&s);
}

Test(http_server_response, ends_a_stream_to_an_old_client_with_the_connection)
{
	struct seen s = {0};
	struct wire w;

	wire_init(&w, seen_handle, &s);
	wire_feeds(&w, "GET /stream HTTP/1.0\r\n\r\n");
	cr_assert_str_eq(strbuf_str(&w.out), "HTTP/1.1 200 OK\r\n" DATE PLAIN
					     "Connection: close\r\n\r\nonetwotwotwotwotwo.");
	cr_assert(w.closed);
	cr_assert_eq(s.closed, 1);
	wire_finish(&w);
	seen_finish(&s);
}

Test(http_server_response, writes_headers_that_cannot_be_split)
{
	struct seen s = {0};
	struct wire w;

	wire_init(&w, seen_handle, &s);
	wire_feeds(&w, "GET /hold HTTP/1.1\r\n" HOST "\r\n");
	exchange_add_header(s.held, "Warning", "299 - \"a\r\nSet-Cookie: b\"");
	exchange_add_header(s.held, "Warning", "299 - \"c\"");
	exchange_respond(s.held, 204, NULL, NULL, 0);
	wire_settle(&w);
	cr_assert_str_eq(strbuf_str(&w.out), "HTTP/1.1 204 No Content\r\n" DATE
					     "Warning: 299 - \"a  Set-Cookie: b\"\r\n"
					     "Warning: 299 - \"c\"\r\n\r\n");
	wire_finish(&w);
	seen_finish(&s);
}

static char *body_of(const struct strbuf *out, size_t *ret_n)
{
	char *end = strstr(out->bytes, "\r\n\r\n");

	cr_assert_not_null(end);
	*ret_n = out->size - (size_t)(end + 4 - out->bytes);
	return end + 4;
}

static void assert_gunzips_to(const struct strbuf *out, const char *want, size_t n)
{
	auto_xfree char *plain = xmalloc(n + 1);
	z_stream z = {0};
	size_t zipped;

	z.next_in = (Bytef *)body_of(out, &zipped);
	z.avail_in = (uInt)zipped;
	z.next_out = (Bytef *)plain;
	z.avail_out = (uInt)n + 1;
	cr_assert_eq(inflateInit2(&z, 15 + 16), Z_OK);
	cr_assert_eq(inflate(&z, Z_FINISH), Z_STREAM_END);
	cr_assert_eq(z.total_out, n);
	cr_assert_arr_eq(plain, want, n);
	inflateEnd(&z);
}

Test(http_server_response, compresses_when_the_client_takes_it_and_it_pays)
{
	static const struct {
		const char *accept;
		size_t n;
		bool head, encoded, random;
		bool want;
	} cases[] = {
		{"gzip", 5000, .want = true},
		{"deflate, GZIP;q=0.5", 5000, .want = true},
		{"br,gzip", 5000, .want = true},
		{"gzip", 1000},
		{"gzip;q=0", 5000},
		{"deflate, gzip ; q=0.000 , br", 5000},
		{"identity", 5000},
		{"x-gzip", 5000},
		{"gzip", 5000, .head = true},
		{"gzip", 5000, .encoded = true},
		{"gzip", 5000, .random = true},
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct seen s = {0};
		struct wire w;
		char body[5000];
		auto_xfree char *request =
			xasprintf("%s /hold HTTP/1.1\r\n" HOST "Accept-Encoding: %s\r\n\r\n",
				  cases[i].head ? "HEAD" : "GET", cases[i].accept);
		size_t n = 0;

		wire_init(&w, seen_handle, &s);
		for (size_t j = 0; j < sizeof(body); j++)
			body[j] = (char)(cases[i].random ? env_random(w.config.env) : 'a' + j % 7);
		wire_feeds(&w, request);
		if (cases[i].encoded)
			exchange_add_header(s.held, "content-encoding", "identity");
		exchange_respond(s.held, 200, "text/plain", body, cases[i].n);
		wire_settle(&w);
		cr_expect_eq(!!strstr(w.out.bytes, "Content-Encoding: gzip\r\n"), cases[i].want,
			     "%zu", i);
		cr_expect_eq(!!strstr(w.out.bytes, "Vary: Accept-Encoding\r\n"),
			     cases[i].n > 1000 && !cases[i].encoded, "%zu", i);
		if (cases[i].want) {
			assert_gunzips_to(&w.out, body, cases[i].n);
		} else if (cases[i].head) {
			body_of(&w.out, &n);
			cr_expect_eq(n, 0);
			cr_expect(strstr(w.out.bytes, "Content-Length: 5000\r\n"));
		} else {
			cr_expect_eq(memcmp(body_of(&w.out, &n), body, n), 0);
			cr_expect_eq(n, cases[i].n);
		}
		wire_finish(&w);
		seen_finish(&s);
	}
}
