#include "net.h"

#include <criterion/criterion.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <openssl/err.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "base/pki_internal.h"

#define DAY_S  86400
#define WAIT_S 20

/* --- certificates --- */

int64_t people_now_s(void)
{
	return time(NULL);
}

void people_issue(const struct pki_pair *ca, const char *user, bool server, int64_t not_after_s,
		  struct pki_pair *ret_pair)
{
	static const char *const groups[] = {"system:masters", "tests", NULL};
	static const char *const hosts[] = {"localhost", "127.0.0.1", "::1", NULL};
	struct pki_subject subject = {.user = user,
				      .groups = server ? NULL : groups,
				      .hosts = server ? hosts : NULL,
				      .not_before_s = people_now_s() - 2 * DAY_S,
				      .not_after_s = not_after_s,
				      .server = server,
				      .client = !server};
	struct error err;

	cr_assert_eq(pki_issue(ca, &subject, ret_pair, &err), 0, "%s", err.text);
}

void people_init(struct people *p)
{
	int64_t now = people_now_s();
	struct error err;

	*p = (struct people){0};
	cr_assert_eq(pki_make_ca("test authority", now - 2 * DAY_S, now + DAY_S, &p->ca, &err), 0);
	people_issue(&p->ca, "server", true, now + DAY_S, &p->server);
	people_issue(&p->ca, "alice", false, now + DAY_S, &p->alice);
}

void people_finish(struct people *p)
{
	pki_pair_finish(&p->ca);
	pki_pair_finish(&p->server);
	pki_pair_finish(&p->alice);
}

/* --- the server --- */

void net_init(struct net *n, http_handler handler, void *arg)
{
	struct http_server_config config = {.host = "127.0.0.1", .handler = handler, .arg = arg};
	struct error err;

	*n = (struct net){0};
	people_init(&n->people);
	config.cert_pem = n->people.server.cert_pem;
	config.key_pem = n->people.server.key_pem;
	config.client_ca_pem = n->people.ca.cert_pem;
	n->loop = loop_create();
	cr_assert_eq(http_server_create(n->loop, &config, &n->server, &err), 0, "%s", err.text);
	n->port = http_server_port(n->server);
}

void net_finish(struct net *n)
{
	if (n->server)
		http_server_destroy(n->server, 0, NULL, NULL);
	loop_run(n->loop);
	loop_destroy(n->loop);
	people_finish(&n->people);
}

struct run {
	struct net *net;
	void (*script)(void *arg);
	void *arg;
	uv_async_t over, wanted;
	void (*fn)(void *arg);
	void *fn_arg;
	uv_sem_t done;
};

static void script_main(void *arg)
{
	struct run *run = arg;

	run->script(run->arg);
	uv_async_send(&run->over);
}

static void on_over(uv_async_t *async)
{
	struct run *run = async->data;

	uv_close((uv_handle_t *)&run->over, NULL);
	uv_close((uv_handle_t *)&run->wanted, NULL);
	if (run->net->server)
		http_server_destroy(run->net->server, 0, NULL, NULL);
	run->net->server = NULL;
}

static void on_wanted(uv_async_t *async)
{
	struct run *run = async->data;

	run->fn(run->fn_arg);
	uv_sem_post(&run->done);
}

void net_run(struct net *n, void (*script)(void *arg), void *arg)
{
	struct run run = {.net = n, .script = script, .arg = arg};
	uv_thread_t thread;

	n->run = &run;
	uv_sem_init(&run.done, 0);
	uv_async_init(loop_uv(n->loop), &run.over, on_over);
	uv_async_init(loop_uv(n->loop), &run.wanted, on_wanted);
	run.over.data = run.wanted.data = &run;
	uv_thread_create(&thread, script_main, &run);
	loop_run(n->loop);
	uv_thread_join(&thread);
	uv_sem_destroy(&run.done);
	n->run = NULL;
}

void net_call(struct net *n, void (*fn)(void *arg), void *arg)
{
	n->run->fn = fn;
	n->run->fn_arg = arg;
	uv_async_send(&n->run->wanted);
	uv_sem_wait(&n->run->done);
}

/* --- raw clients --- */

int raw_tcp(int port, int receive_buffer)
{
	struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
	struct timeval wait = {.tv_sec = WAIT_S};
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	int one = 1;

	address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	if (receive_buffer)
		setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &receive_buffer, sizeof(receive_buffer));
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &wait, sizeof(wait));
	setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &wait, sizeof(wait));
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
	if (connect(fd, (struct sockaddr *)&address, sizeof(address)) < 0) {
		close(fd);
		return -1;
	}
	return fd;
}

static void raw_trust(struct raw *r, const struct net *n)
{
	X509 *ca = NULL;

	cr_assert_eq(pki_parse_cert(n->people.ca.cert_pem, &ca, NULL), 0);
	X509_STORE_add_cert(SSL_CTX_get_cert_store(r->ctx), ca);
	X509_free(ca);
	SSL_CTX_set_verify(r->ctx, SSL_VERIFY_PEER, NULL);
}

static void raw_identify(struct raw *r, const struct pki_pair *identity)
{
	X509 *cert = NULL;
	EVP_PKEY *key = NULL;

	cr_assert_eq(pki_parse_cert(identity->cert_pem, &cert, NULL), 0);
	cr_assert_eq(pki_parse_key(identity->key_pem, &key, NULL), 0);
	SSL_CTX_use_certificate(r->ctx, cert);
	SSL_CTX_use_PrivateKey(r->ctx, key);
	X509_free(cert);
	EVP_PKEY_free(key);
}

bool raw_open(struct raw *r, const struct net *n, const struct raw_options *options)
{
	static const struct raw_options none;

	if (!options)
		options = &none;
	*r = (struct raw){.fd = raw_tcp(n->port, options->receive_buffer)};
	r->ctx = SSL_CTX_new(TLS_client_method());
	raw_trust(r, n);
	if (options->identity)
		raw_identify(r, options->identity);
	if (options->max_version) {
		SSL_CTX_set_security_level(r->ctx, 0); /* to offer what the server must refuse */
		SSL_CTX_set_min_proto_version(r->ctx, options->max_version);
		SSL_CTX_set_max_proto_version(r->ctx, options->max_version);
	}
	r->ssl = SSL_new(r->ctx);
	if (options->protocols)
		SSL_set_alpn_protos(r->ssl, (const unsigned char *)options->protocols,
				    (unsigned)strlen(options->protocols));
	SSL_set1_host(r->ssl, "localhost");
	SSL_set_fd(r->ssl, r->fd);
	return SSL_connect(r->ssl) == 1;
}

void raw_close(struct raw *r)
{
	SSL_free(r->ssl);
	SSL_CTX_free(r->ctx);
	if (r->fd >= 0)
		close(r->fd);
	ERR_clear_error();
}

bool raw_send(struct raw *r, const char *text)
{
	size_t n = strlen(text);

	return SSL_write(r->ssl, text, (int)n) == (int)n;
}

static bool read_byte(struct raw *r, char *ret)
{
	return SSL_read(r->ssl, ret, 1) == 1;
}

static bool read_line(struct raw *r, struct strbuf *line)
{
	char c;

	strbuf_clear(line);
	while (read_byte(r, &c)) {
		strbuf_addc(line, c);
		if (c == '\n')
			return true;
	}
	return false;
}

static bool read_bytes(struct raw *r, size_t n, struct strbuf *out)
{
	while (n) {
		char piece[16384];
		int got = SSL_read(r->ssl, piece, (int)(n < sizeof(piece) ? n : sizeof(piece)));

		if (got <= 0)
			return false;
		strbuf_add(out, piece, (size_t)got);
		n -= (size_t)got;
	}
	return true;
}

static bool read_chunks(struct raw *r, struct strbuf *out)
{
	auto_strbuf line = {0};
	size_t n;

	do {
		if (!read_line(r, &line))
			return false;
		n = strtoul(line.bytes, NULL, 16);
		if (!read_bytes(r, n, out) || !read_line(r, &line))
			return false;
		cr_assert_str_eq(line.bytes, "\r\n");
	} while (n);
	return true;
}

int raw_receive(struct raw *r, struct strbuf *ret_body)
{
	auto_strbuf line = {0};
	bool chunked = false;
	size_t n = 0;
	int status;

	if (!read_line(r, &line) || sscanf(line.bytes, "HTTP/1.1 %d", &status) != 1)
		return 0;
	while (read_line(r, &line) && line.bytes[0] != '\r') {
		if (!strncasecmp(line.bytes, "content-length:", 15))
			n = strtoul(line.bytes + 15, NULL, 10);
		if (!strncasecmp(line.bytes, "transfer-encoding: chunked", 26))
			chunked = true;
	}
	if (chunked ? !read_chunks(r, ret_body) : !read_bytes(r, n, ret_body))
		return 0;
	return status;
}

bool raw_at_end(struct raw *r)
{
	char c;

	return !read_byte(r, &c);
}
