/* The server as its clients see it: TLS, identities, connections that come, stall and go. */
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
	struct strbuf upload;
};

static void on_close(struct exchange *x, bool lost, void *arg)
{
	struct site *s = arg;

	s->closed++;
	s->lost += lost;
	uv_sem_post(&s->was_closed);
}

static void tell_who(struct exchange *x)
{
	auto_strbuf text = {0};
	const char *user = exchange_peer_user(x);

	strbuf_adds(&text, user ? user : "nobody");
	for (const char *const *group = exchange_peer_groups(x); *group; group++)
		strbuf_addf(&text, ",%s", *group);
	exchange_respond(x, 200, "text/plain", text.bytes, text.size);
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

static void handle(struct exchange *x, void *arg)
{
	struct site *s = arg;
	const char *path = exchange_path(x);

	s->handled++;
	exchange_on_close(x, on_close, s);
	if (!strcmp(path, "/who")) {
		tell_who(x);
	} else if (!strcmp(path, "/echo")) {
		exchange_read_all(x, 4 << 20, echo, s);
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
	strbuf_finish(&s->upload);
	cr_assert_eq(s->closed, s->handled, "each exchange is closed once");
}

/* --- TLS --- */

static void ask_in_single_bytes(struct raw *r)
{
	static const char text[] =
		"GET /a HTTP/1.1\r\n" HOST "\r\n"
		"POST /echo HTTP/1.1\r\n" HOST "Transfer-Encoding: chunked\r\n\r\n"
		"3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n"
		"GET /b HTTP/1.1\r\n" HOST "Connection: close\r\n\r\n";
	auto_strbuf body = {0};

	for (size_t i = 0; i < sizeof(text) - 1; i++)
		cr_assert_eq(SSL_write(r->ssl, text + i, 1), 1);
	for (int i = 0; i < 3; i++)
		cr_assert_eq(raw_receive(r, &body), 200);
	cr_assert_str_eq(strbuf_str(&body), "/aabcde/b");
	cr_assert(raw_at_end(r));
}

static void script_single_bytes(void *arg)
{
	static const int versions[] = {TLS1_3_VERSION, TLS1_2_VERSION};
	struct site *s = arg;

	for (size_t i = 0; i < ARRAY_LEN(versions); i++) {
		struct raw_options options = {.max_version = versions[i]};
		struct raw r;

		cr_assert(raw_open(&r, &s->net, &options));
		ask_in_single_bytes(&r);
		raw_close(&r);
	}
}

Test(http_server, reads_a_record_for_each_byte)
{
	struct site s = {0};

	site_run(&s, script_single_bytes);
	cr_assert_eq(s.handled, 6);
	cr_assert_eq(s.lost, 0);
}

/* Pushes what OpenSSL wants to send into the socket byte by byte, and back the same way. */
static void exchange_bytes(SSL *ssl, int fd)
{
	BIO *out = SSL_get_wbio(ssl), *in = SSL_get_rbio(ssl);
	char c;

	while (BIO_read(out, &c, 1) == 1)
		cr_assert_eq(send(fd, &c, 1, 0), 1);
	if (recv(fd, &c, 1, 0) == 1)
		BIO_write(in, &c, 1);
}

static void script_split_ciphertext(void *arg)
{
	static const char text[] = "GET /a HTTP/1.1\r\n" HOST "\r\n";
	struct site *s = arg;
	SSL_CTX *ctx = SSL_CTX_new(TLS_client_method());
	SSL *ssl = SSL_new(ctx);
	int fd = raw_tcp(s->net.port, 0);
	char answer[512] = "";
	int n = 0;

	SSL_set_bio(ssl, BIO_new(BIO_s_mem()), BIO_new(BIO_s_mem()));
	while (SSL_connect(ssl) != 1)
		exchange_bytes(ssl, fd);
	cr_assert_eq(SSL_write(ssl, text, sizeof(text) - 1), (int)sizeof(text) - 1);
	while (n <= 0) {
		exchange_bytes(ssl, fd);
		n = SSL_read(ssl, answer, sizeof(answer) - 1);
	}
	cr_assert(strstr(answer, "200 OK"));
	SSL_free(ssl);
	SSL_CTX_free(ctx);
	close(fd);
}

Test(http_server, reads_ciphertext_byte_by_byte)
{
	struct site s = {0};

	site_run(&s, script_split_ciphertext);
	cr_assert_eq(s.handled, 1);
}

static void script_protocols(void *arg)
{
	static const struct {
		struct raw_options options;
		bool ok;
		const char *chosen;
	} cases[] = {
		{{.protocols = "\x02h2\x08http/1.1"}, true, "http/1.1"},
		{{.protocols = "\x08http/1.1"}, true, "http/1.1"},
		{{.protocols = NULL}, true, ""},
		{{.protocols = "\x02h2"}, false, ""},
		{{.max_version = TLS1_1_VERSION}, false, ""},
	};
	struct site *s = arg;

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		const unsigned char *chosen = NULL;
		unsigned n = 0;
		struct raw r;
		bool ok = raw_open(&r, &s->net, &cases[i].options);

		cr_expect_eq(ok, cases[i].ok, "%zu", i);
		SSL_get0_alpn_selected(r.ssl, &chosen, &n);
		cr_expect_eq(n, strlen(cases[i].chosen));
		cr_expect(!n || !memcmp(chosen, cases[i].chosen, n));
		raw_close(&r);
	}
}

Test(http_server, agrees_on_http_1_1_over_tls_1_2_or_newer)
{
	struct site s = {0};

	site_run(&s, script_protocols);
}

/* With TLS 1.3 a client learns of a refused certificate only when it reads. */
static int ask_who(struct site *s, const struct pki_pair *identity, int version,
		   struct strbuf *body)
{
	struct raw_options options = {.identity = identity, .max_version = version};
	struct raw r;
	int status = 0;

	if (raw_open(&r, &s->net, &options) && raw_send(&r, "GET /who HTTP/1.1\r\n" HOST "\r\n"))
		status = raw_receive(&r, body);
	raw_close(&r);
	return status;
}

static void script_identities(void *arg)
{
	static const int versions[] = {TLS1_3_VERSION, TLS1_2_VERSION};
	struct site *s = arg;
	const struct people *people = &s->net.people;
	struct pki_pair other_ca, eve, late, not_client;
	int64_t now = people_now_s();

	cr_assert_eq(pki_make_ca("test authority", now - 60, now + 3600, &other_ca, NULL), 0);
	people_issue(&other_ca, "alice", false, now + 3600, &eve);
	people_issue(&people->ca, "late", false, now - 60, &late);
	people_issue(&people->ca, "server", true, now + 3600, &not_client);
	for (size_t i = 0; i < ARRAY_LEN(versions); i++) {
		auto_strbuf body = {0};

		cr_expect_eq(ask_who(s, NULL, versions[i], &body), 200);
		cr_expect_eq(ask_who(s, &people->alice, versions[i], &body), 200);
		cr_expect_str_eq(strbuf_str(&body), "nobodyalice,system:masters,tests");
		cr_expect_eq(ask_who(s, &eve, versions[i], &body), 0);
		cr_expect_eq(ask_who(s, &late, versions[i], &body), 0);
		cr_expect_eq(ask_who(s, &not_client, versions[i], &body), 0);
	}
	pki_pair_finish(&other_ca);
	pki_pair_finish(&eve);
	pki_pair_finish(&late);
	pki_pair_finish(&not_client);
}

Test(http_server, knows_clients_by_their_certificates)
{
	struct site s = {0};

	site_run(&s, script_identities);
	cr_assert_eq(s.handled, 4, "a certificate that does not verify reaches no handler");
}

static void script_no_tls(void *arg)
{
	static const char *const texts[] = {"GET / HTTP/1.1\r\nHost: h\r\n\r\n", "",
					    "\x16\x03\x01\xff\xff"};
	struct site *s = arg;

	for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
		int fd = raw_tcp(s->net.port, 0);
		char buf[256];
		ssize_t n;

		cr_assert_geq(send(fd, texts[i], strlen(texts[i]), 0), 0);
		shutdown(fd, SHUT_WR);
		while ((n = recv(fd, buf, sizeof(buf), 0)) > 0)
			;
		cr_expect_eq(n, 0, "%zu: the server closes", i);
		close(fd);
	}
}

Test(http_server, closes_on_what_is_not_tls)
{
	struct site s = {0};

	site_run(&s, script_no_tls);
	cr_assert_eq(s.handled, 0);
}

/* --- connections --- */

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
	for (int i = 0; i < 4; i++)
		SSL_write(r.ssl, bytes, (int)n);
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

Test(http_server, notices_at_once_that_a_watcher_has_gone, .timeout = 20)
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

Test(http_server, lets_exchanges_end_before_it_goes, .timeout = 20)
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

Test(http_server, cuts_what_does_not_end_in_time, .timeout = 20)
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
