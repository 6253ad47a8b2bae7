/* What a TLS client sees of the server: versions, identities, and records however they are cut. */
#include <criterion/criterion.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "net.h"

#define HOST "Host: localhost\r\n"

struct site {
	struct net net;
	unsigned handled;
};

static void tell_who(struct exchange *x)
{
	auto_strbuf text = {0};
	const char *user = exchange_peer_user(x);

	strbuf_adds(&text, user ? user : "nobody");
	for (const char *const *group = exchange_peer_groups(x); *group; group++)
		strbuf_addf(&text, ",%s", *group);
	exchange_respond(x, 200, "text/plain", text.bytes, text.size);
}

static void echo(struct exchange *x, const char *bytes, size_t n, void *arg)
{
	exchange_respond(x, 200, "text/plain", bytes, n);
}

static void handle(struct exchange *x, void *arg)
{
	struct site *s = arg;
	const char *path = exchange_path(x);

	s->handled++;
	if (!strcmp(path, "/who"))
		tell_who(x);
	else if (!strcmp(path, "/echo"))
		exchange_read_all(x, 100, echo, NULL);
	else
		exchange_respond(x, 200, "text/plain", path, strlen(path));
}

static void site_run(struct site *s, void (*script)(void *arg))
{
	net_init(&s->net, handle, s);
	net_run(&s->net, script, s);
	net_finish(&s->net);
}

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

Test(tls, reads_a_record_for_each_byte)
{
	struct site s = {0};

	site_run(&s, script_single_bytes);
	cr_assert_eq(s.handled, 6);
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

Test(tls, reads_ciphertext_byte_by_byte)
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

Test(tls, agrees_on_http_1_1_over_tls_1_2_or_newer)
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

Test(tls, knows_clients_by_their_certificates)
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

Test(tls, closes_on_what_is_not_tls)
{
	struct site s = {0};

	site_run(&s, script_no_tls);
	cr_assert_eq(s.handled, 0);
}
