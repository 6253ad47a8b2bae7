/* The server as its clients see it: connections that come, stall and go. */
#include <criterion/criterion.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/http_server_internal.h"
#include "net.h"

#define HOST "Host: localhost\r\n"

struct site {
	struct net net;
	struct exchange *held;
	unsigned handled, closed, lost;
	uv_sem_t was_held, was_closed;
	size_t total; /* of a download that is written as the client takes it */
	size_t uploaded;
};

static void on_close(struct exchange *x, bool lost, void *arg)
{
	struct site *s = arg;

	s->closed++;
	s->lost += lost;
	uv_sem_post(&s->was_closed);
}

static char byte_at(size_t i)
{
	return (char)(i * 2654435761u >> 13);
}

static void write_more(struct exchange *x, void *arg)
{
	struct site *s = arg;
	char piece[10000];
	bool more = true;

	while (more && s->total) {
		size_t n = s->total < sizeof(piece) ? s->total : sizeof(piece);

		for (size_t i = 0; i < n; i++)
			piece[i] = byte_at(s->total - i);
		s->total -= n;
		more = exchange_write(x, piece, n);
	}
	if (!s->total)
		exchange_end(x);
}

static void echo(struct exchange *x, const char *bytes, size_t n, void *arg)
{
	exchange_respond(x, 200, "application/octet-stream", bytes, n);
}

static void count_upload(struct exchange *x, const char *bytes, size_t n, void *arg)
{
	struct site *s = arg;

	s->uploaded += n;
	if (!n)
		exchange_respond(x, 204, NULL, NULL, 0);
}

static void handle(struct exchange *x, void *arg)
{
	struct site *s = arg;
	const char *path = exchange_path(x);

	s->handled++;
	exchange_on_close(x, on_close, s);
	if (!strcmp(path, "/echo")) {
		exchange_read_all(x, 4 << 20, echo, s);
	} else if (!strcmp(path, "/upload")) {
		s->held = x;
		exchange_read_stream(x, count_upload, s);
		exchange_read_pause(x, true);
	} else if (!strcmp(path, "/download")) {
		exchange_on_drain(x, write_more, s);
		exchange_begin(x, 200, NULL);
		write_more(x, s);
	} else if (!strcmp(path, "/hold")) {
		s->held = x;
		exchange_begin(x, 200, NULL);
		exchange_write(x, "begun", 5);
		uv_sem_post(&s->was_held);
	} else {
		exchange_respond(x, 200, "text/plain", path, strlen(path));
	}
}

static void site_run(struct site *s, void (*script)(void *arg))
{
	uv_sem_init(&s->was_held, 0);
	uv_sem_init(&s->was_closed, 0);
	net_init(&s->net, handle, s);
	net_run(&s->net, script, s);
	net_finish(&s->net);
	uv_sem_destroy(&s->was_held);
	uv_sem_destroy(&s->was_closed);
	cr_assert_eq(s->closed, s->handled, "each exchange is closed once");
}

static void script_big_download(void *arg)
{
	struct site *s = arg;
	struct raw_options options = {.receive_buffer = 8192};
	auto_strbuf body = {0};
	size_t n = 5000000;
	struct raw r;

	cr_assert(raw_open(&r, &s->net, &options));
	s->total = n;
	raw_send(&r, "GET /download HTTP/1.1\r\n" HOST "\r\nGET /b HTTP/1.1\r\n" HOST "\r\n");
	cr_assert_eq(raw_receive(&r, &body), 200);
	cr_assert_eq(body.size, n);
	for (size_t i = 0; i < n; i++)
		if (body.bytes[i] != byte_at(n - i))
			cr_assert_fail("byte %zu differs", i);
	strbuf_clear(&body);
	cr_assert_eq(raw_receive(&r, &body), 200);
	cr_assert_str_eq(body.bytes, "/b");
	raw_close(&r);
}

Test(http_server, waits_for_a_slow_reader)
{
	struct site s = {0};

	site_run(&s, script_big_download);
	cr_assert_eq(s.lost, 0);
}

static void script_big_upload(void *arg)
{
	struct site *s = arg;
	size_t n = 3 << 20;
	auto_xfree char *bytes = xmalloc(n);
	auto_strbuf body = {0};
	struct raw r;

	for (size_t i = 0; i < n; i++)
		bytes[i] = byte_at(i);
	cr_assert(raw_open(&r, &s->net, NULL));
	raw_send(&r, "POST /echo HTTP/1.1\r\n" HOST "Content-Length: 3145728\r\n\r\n");
	cr_assert_eq(SSL_write(r.ssl, bytes, (int)n), (int)n);
	cr_assert_eq(raw_receive(&r, &body), 200);
	cr_assert_eq(body.size, n);
	cr_assert_eq(memcmp(body.bytes, bytes, n), 0);
	raw_close(&r);
}

Test(http_server, takes_and_gives_back_a_big_body)
{
	struct site s = {0};

	site_run(&s, script_big_upload);
}

/* Writes until the socket has not taken more for 200 ms, or all n bytes are out. */
static size_t write_until_full(struct raw *r, size_t n)
{
	struct timeval wait = {.tv_usec = 200000};
	char piece[HTTP_RECORD] = {0};
	size_t done = 0;

	setsockopt(r->fd, SOL_SOCKET, SO_SNDTIMEO, &wait, sizeof(wait));
	while (done < n) {
		size_t part = n - done < sizeof(piece) ? n - done : sizeof(piece);

		if (SSL_write(r->ssl, piece, (int)part) <= 0)
			break;
		done += part;
	}
	return done;
}

static void go_on(void *arg)
{
	struct site *s = arg;

	cr_assert_eq(s->uploaded, 0);
	exchange_read_pause(s->held, false);
}

static void script_paused_upload(void *arg)
{
	enum { TOTAL = 50000000 };
	struct site *s = arg;
	auto_strbuf body = {0};
	struct raw r;
	size_t n;

	cr_assert(raw_open(&r, &s->net, NULL));
	raw_send(&r, "POST /upload HTTP/1.1\r\n" HOST "Content-Length: 50000000\r\n\r\n");
	n = write_until_full(&r, TOTAL);
	cr_assert_lt(n, TOTAL / 2, "the server reads on while its handler pauses");
	net_call(&s->net, go_on, s);
	/* OpenSSL wants the record that it could not send again first. */
	while (n < TOTAL)
		n += write_until_full(&r, TOTAL - n);
	cr_assert_eq(raw_receive(&r, &body), 204);
	cr_assert_eq(s->uploaded, TOTAL);
	raw_close(&r);
}

Test(http_server, does_not_read_what_its_handler_does_not_want)
{
	struct site s = {0};

	site_run(&s, script_paused_upload);
}

/* The answer must reach a client that has not done sending: no reset may overtake it. */
static void script_early_refusal(void *arg)
{
	struct site *s = arg;
	size_t n = 64 << 10;
	auto_xfree char *bytes = xcalloc(1, n);
	auto_strbuf body = {0};
	struct raw r;

	cr_assert(raw_open(&r, &s->net, NULL));
	raw_send(&r, "POST /echo HTTP/1.1\r\n" HOST "Content-Length: 100000000\r\n\r\n");
	/* More than the server skips, and more than the sockets hold. */
	for (int i = 0; i < 256; i++)
		cr_assert_eq(SSL_write(r.ssl, bytes, (int)n), (int)n, "cut at %d", i);
	cr_assert_eq(raw_receive(&r, &body), 413);
	cr_assert(raw_at_end(&r));
	raw_close(&r);
}

Test(http_server, delivers_a_refusal_before_it_closes)
{
	struct site s = {0};

	site_run(&s, script_early_refusal);
}

static void vanish(struct raw *r, int how)
{
	struct linger now = {.l_onoff = 1};

	if (how == 0) {
		SSL_shutdown(r->ssl);
	} else if (how == 1) {
		shutdown(r->fd, SHUT_WR);
	} else {
		setsockopt(r->fd, SOL_SOCKET, SO_LINGER, &now, sizeof(now));
		close(r->fd);
		r->fd = -1;
	}
}

static void script_vanish(void *arg)
{
	struct site *s = arg;

	for (int how = 0; how < 3; how++) {
		struct raw r;
		char buf[512];

		cr_assert(raw_open(&r, &s->net, NULL));
		raw_send(&r, "GET /hold HTTP/1.1\r\n" HOST "\r\n");
		uv_sem_wait(&s->was_held);
		cr_assert_gt(SSL_read(r.ssl, buf, sizeof(buf)), 0);
		vanish(&r, how);
		uv_sem_wait(&s->was_closed);
		raw_close(&r);
	}
}

Test(http_server, notices_at_once_that_a_watcher_has_gone)
{
	struct site s = {0};

	site_run(&s, script_vanish);
	cr_assert_eq(s.lost, 3);
}

#define CROWD 1000

static void script_crowd(void *arg)
{
	struct site *s = arg;
	auto_xfree int *fds = xcalloc(CROWD, sizeof(int));
	struct raw r;

	for (int i = 0; i < CROWD; i++) {
		fds[i] = raw_tcp(s->net.port, 0);
		cr_assert_geq(fds[i], 0, "connection %d", i);
	}
	for (int i = 0; i < 20; i++) {
		auto_strbuf body = {0};

		cr_assert(raw_open(&r, &s->net, NULL));
		raw_send(&r, "GET /a HTTP/1.1\r\n" HOST "\r\n");
		cr_assert_eq(raw_receive(&r, &body), 200);
		raw_close(&r);
	}
	for (int i = 0; i < CROWD; i++)
		close(fds[i]);
}

Test(http_server, serves_beside_a_thousand_connections)
{
	struct site s = {0};
	struct rlimit files;

	getrlimit(RLIMIT_NOFILE, &files);
	files.rlim_cur = files.rlim_max;
	setrlimit(RLIMIT_NOFILE, &files);
	if (files.rlim_max < 2 * CROWD + 100)
		cr_skip_test("too few file descriptors");
	site_run(&s, script_crowd);
	cr_assert_eq(s.handled, 20);
}

/* --- the end --- */

struct ending {
	struct site *site;
	int64_t drain_ms;
	uv_sem_t done;
};

static void on_server_gone(void *arg)
{
	struct ending *e = arg;

	uv_sem_post(&e->done);
}

static void destroy_server(void *arg)
{
	struct ending *e = arg;

	http_server_destroy(e->site->net.server, e->drain_ms, on_server_gone, e);
	e->site->net.server = NULL;
}

static void end_held(void *arg)
{
	struct site *s = arg;

	exchange_write(s->held, "done", 4);
	exchange_end(s->held);
}

static void script_drain(void *arg)
{
	struct site *s = arg;
	struct ending e = {s, 60000};
	auto_strbuf body = {0};
	struct raw idle, busy;

	uv_sem_init(&e.done, 0);
	cr_assert(raw_open(&idle, &s->net, NULL));
	raw_send(&idle, "GET /a HTTP/1.1\r\n" HOST "\r\n");
	cr_assert_eq(raw_receive(&idle, &body), 200);
	cr_assert(raw_open(&busy, &s->net, NULL));
	raw_send(&busy, "GET /hold HTTP/1.1\r\n" HOST "\r\n");
	uv_sem_wait(&s->was_held);

	net_call(&s->net, destroy_server, &e);
	cr_assert(raw_at_end(&idle));
	cr_assert_eq(raw_tcp(s->net.port, 0), -1, "it still accepts");
	net_call(&s->net, end_held, s);
	strbuf_clear(&body);
	cr_assert_eq(raw_receive(&busy, &body), 200);
	cr_assert_str_eq(body.bytes, "begundone");
	uv_sem_wait(&e.done);
	cr_assert(raw_at_end(&busy));
	raw_close(&idle);
	raw_close(&busy);
	uv_sem_destroy(&e.done);
}

Test(http_server, lets_exchanges_end_before_it_goes)
{
	struct site s = {0};

	site_run(&s, script_drain);
	cr_assert_eq(s.lost, 0);
}

static void script_drain_over(void *arg)
{
	struct site *s = arg;
	struct ending e = {s, 10};
	struct raw silent, busy;

	uv_sem_init(&e.done, 0);
	silent.fd = raw_tcp(s->net.port, 0);
	cr_assert(raw_open(&busy, &s->net, NULL));
	raw_send(&busy, "GET /hold HTTP/1.1\r\n" HOST "\r\n");
	uv_sem_wait(&s->was_held);
	net_call(&s->net, destroy_server, &e);
	uv_sem_wait(&e.done);
	raw_close(&busy);
	close(silent.fd);
	uv_sem_destroy(&e.done);
}

Test(http_server, cuts_what_does_not_end_in_time)
{
	struct site s = {0};

	site_run(&s, script_drain_over);
	cr_assert_eq(s.lost, 1);
}

Test(http_server, says_why_it_cannot_start)
{
	static const struct {
		const char *host;
		int port; /* -1: the one that is taken */
		const char *cert;
		enum error_code code;
		const char *text;
	} cases[] = {
		{"127.0.0.1", -1, NULL, ERR_UNAVAILABLE, "Address already in use"},
		{"example.org", 0, NULL, ERR_BAD_REQUEST, "\"example.org\" port 0"},
		{"127.0.0.1", 70000, NULL, ERR_BAD_REQUEST, "70000"},
		{"127.0.0.1", 0, "no PEM", ERR_BAD_REQUEST, "certificate"},
	};
	struct site s = {0};

	net_init(&s.net, handle, &s);
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		const struct pki_pair *id = &s.net.people.server;
		struct http_server_config config = {
			.host = cases[i].host,
			.port = cases[i].port < 0 ? s.net.port : cases[i].port,
			.cert_pem = cases[i].cert ? cases[i].cert : id->cert_pem,
			.key_pem = id->key_pem,
			.handler = handle};
		struct http_server *server = NULL;
		struct error err = {0};

		cr_expect_eq(http_server_create(s.net.loop, &config, &server, &err), -1, "%zu", i);
		cr_expect_null(server);
		cr_expect_eq(err.code, cases[i].code, "%zu", i);
		cr_expect(strstr(err.text, cases[i].text), "%s", err.text);
	}
	net_finish(&s.net);
}
