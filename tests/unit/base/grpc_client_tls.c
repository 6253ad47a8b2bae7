/* The client over TLS: whom it believes. */
#include "base/pki_internal.h"
#include "grpc_stage.h"
#include "net.h"

struct site {
	struct people people;
	SSL_CTX *tls;
	struct stage stage;
};

static int choose_h2(SSL *ssl, const unsigned char **out, unsigned char *out_n,
		     const unsigned char *offered, unsigned n, void *arg)
{
	static const unsigned char h2[] = "\x02h2";
	unsigned char *chosen;

	if (SSL_select_next_proto(&chosen, out_n, h2, 3, offered, n) != OPENSSL_NPN_NEGOTIATED)
		return SSL_TLSEXT_ERR_ALERT_FATAL;
	*out = chosen;
	return SSL_TLSEXT_ERR_OK;
}

static SSL_CTX *tls_of(const struct pki_pair *identity)
{
	SSL_CTX *tls = SSL_CTX_new(TLS_server_method());
	X509 *cert = NULL;
	EVP_PKEY *key = NULL;

	cr_assert_eq(pki_parse_cert(identity->cert_pem, &cert, NULL), 0);
	cr_assert_eq(pki_parse_key(identity->key_pem, &key, NULL), 0);
	SSL_CTX_use_certificate(tls, cert);
	SSL_CTX_use_PrivateKey(tls, key);
	SSL_CTX_set_alpn_select_cb(tls, choose_h2, NULL);
	X509_free(cert);
	EVP_PKEY_free(key);
	return tls;
}

/* A server with that certificate; NULL: that of its people. */
static void site_init(struct site *s, const struct pki_pair *identity,
		      struct grpc_server_config config)
{
	people_init(&s->people);
	s->tls = tls_of(identity ? identity : &s->people.server);
	config.tls = s->tls;
	stage_init(&s->stage, config);
}

static void site_finish(struct site *s)
{
	stage_finish(&s->stage);
	SSL_CTX_free(s->tls);
	people_finish(&s->people);
}

static void trust(struct site *s, const struct pki_pair *ca)
{
	stage_connect(&s->stage,
		      &(struct grpc_client_config){.url = grpc_server_url(s->stage.server),
						   .ca_pem = ca->cert_pem});
}

static void expect_refusal(struct site *s, const char *part)
{
	struct told o;

	stage_call(&s->stage, (struct grpc_call_spec){0}, &o);
	expect_error(&o, ERR_UNREACHABLE, part);
	told_finish(&o);
	cr_expect_eq(s->stage.n_held, 0);
}

static void stream_some(struct stage *s, struct grpc_stream *t, const struct grpc_request *r)
{
	enum { SIZE = 100000 };
	auto_xfree char *bytes = xcalloc(1, SIZE);

	grpc_stream_begin(t);
	for (int i = 0; i < 30; i++)
		grpc_stream_send(t, bytes, SIZE);
	grpc_stream_end(t, GRPC_OK, "");
}

Test(grpc_client_tls, a_server_that_is_who_it_should_be)
{
	struct site s;
	struct told o;

	site_init(&s, NULL, (struct grpc_server_config){0});
	trust(&s, &s.people.ca);
	stage_serve(&s.stage);
	cr_expect(strstr(s.stage.head, ":scheme: https\n"), "%s", s.stage.head);
	s.stage.script = stream_some;
	stage_call(&s.stage, (struct grpc_call_spec){.stream = true}, &o);
	cr_expect_eq(o.answer.status, GRPC_OK, "%s", o.answer.err.text);
	cr_expect_eq(o.messages, 30);
	told_finish(&o);
	site_finish(&s);
}

Test(grpc_client_tls, a_server_of_another_authority)
{
	struct site s;
	struct people others;

	site_init(&s, NULL, (struct grpc_server_config){0});
	people_init(&others);
	trust(&s, &others.ca);
	expect_refusal(&s, "certificate");
	people_finish(&others);
	site_finish(&s);
}

/* A server that its own authority calls name, which the client looks for at host. */
static void site_init_named(struct site *s, const char *name, const char *host)
{
	const char *const hosts[] = {name, NULL};
	const struct pki_subject subject = {.user = "other",
					    .hosts = hosts,
					    .not_before_s = people_now_s() - 60,
					    .not_after_s = people_now_s() + 3600,
					    .server = true};
	struct people people;
	struct pki_pair own;
	auto_xfree char *url = NULL;

	people_init(&people);
	cr_assert_eq(pki_issue(&people.ca, &subject, &own, NULL), 0);
	site_init(s, &own, (struct grpc_server_config){0});
	url = xasprintf("https://%s%s", host, strrchr(grpc_server_url(s->stage.server), ':'));
	stage_connect(&s->stage,
		      &(struct grpc_client_config){.url = url, .ca_pem = people.ca.cert_pem});
	pki_pair_finish(&own);
	people_finish(&people);
}

Test(grpc_client_tls, a_server_of_another_name)
{
	static const char *const hosts[] = {"127.0.0.1", "localhost"};

	for (size_t i = 0; i < ARRAY_LEN(hosts); i++) {
		struct site s;

		site_init_named(&s, "elsewhere.example", hosts[i]);
		expect_refusal(&s, "");
		site_finish(&s);
	}
}

Test(grpc_client_tls, a_server_of_that_name)
{
	struct site s;

	site_init_named(&s, "localhost", "localhost");
	stage_serve(&s.stage);
	site_finish(&s);
}

static void cut_at_once(struct grpc_peer *p, void *arg)
{
	grpc_peer_cut(p);
}

Test(grpc_client_tls, a_connection_that_is_cut_before_anything_was_said)
{
	struct site s;

	site_init(&s, NULL, (struct grpc_server_config){.on_connection = cut_at_once});
	trust(&s, &s.people.ca);
	expect_refusal(&s, "");
	site_finish(&s);
}

static void reject(struct exchange *x, void *arg)
{
	cr_assert_fail("the call came through");
}

/* This project's own server, which speaks HTTP/1.1. */
Test(grpc_client_tls, a_server_of_another_protocol)
{
	struct site s;
	struct http_server *server;
	struct http_server_config config = {.host = "127.0.0.1", .handler = reject};
	auto_xfree char *url = NULL;

	site_init(&s, NULL, (struct grpc_server_config){0});
	config.cert_pem = s.people.server.cert_pem;
	config.key_pem = s.people.server.key_pem;
	cr_assert_eq(http_server_create(s.stage.loop, &config, &server, NULL), 0);
	url = xasprintf("https://127.0.0.1:%d", http_server_port(server));
	stage_connect(&s.stage,
		      &(struct grpc_client_config){.url = url, .ca_pem = s.people.ca.cert_pem});
	expect_refusal(&s, "");
	http_server_destroy(server, 0, NULL, NULL);
	site_finish(&s);
}

Test(grpc_client_tls, a_certificate_that_is_none)
{
	static const struct grpc_client_config configs[] = {
		{.url = "https://127.0.0.1:1", .ca_pem = "none"},
		{.url = "https://127.0.0.1:1", .cert_pem = "none", .key_pem = "none"},
	};
	struct loop *loop = loop_create();

	for (size_t i = 0; i < ARRAY_LEN(configs); i++) {
		struct error err = {0};

		cr_expect_null(grpc_client_create(loop, &configs[i], &err));
		cr_expect(err.text[0]);
	}
	loop_destroy(loop);
}
