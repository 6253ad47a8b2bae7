#include "base/tls.h"

#include <assert.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <string.h>

#include "base/mem.h"
#include "base/pki_internal.h"

/* Forward secrecy and AEAD only, for clients that cannot do TLS 1.3. */
#define TLS12_CIPHERS "ECDHE+AESGCM:ECDHE+CHACHA20"

struct tls_context {
	SSL_CTX *ctx;
};

struct tls_session {
	SSL *ssl;
	BIO *in, *out; /* owned by ssl */
	char why[160]; /* it has failed */
};

static const unsigned char alpn_http11[] = "\x08http/1.1";

static int select_protocol(SSL *ssl, const unsigned char **out, unsigned char *out_n,
			   const unsigned char *offered, unsigned n, void *arg)
{
	unsigned char *chosen;

	if (SSL_select_next_proto(&chosen, out_n, alpn_http11, sizeof(alpn_http11) - 1, offered,
				  n) != OPENSSL_NPN_NEGOTIATED)
		return SSL_TLSEXT_ERR_ALERT_FATAL;
	*out = chosen;
	return SSL_TLSEXT_ERR_OK;
}

static int set_identity(SSL_CTX *ctx, const char *cert_pem, const char *key_pem, struct error *err)
{
	auto_free(X509_free) X509 *cert = NULL;
	auto_free(EVP_PKEY_free) EVP_PKEY *key = NULL;

	if (pki_parse_cert(cert_pem, &cert, err) < 0 || pki_parse_key(key_pem, &key, err) < 0)
		return -1;
	if (SSL_CTX_use_certificate(ctx, cert) != 1 || SSL_CTX_use_PrivateKey(ctx, key) != 1)
		return pki_openssl_error(err, ERR_BAD_REQUEST, "use certificate");
	return 0;
}

/* The certificates after the first one of the PEM text are sent along. */
static int add_chain(SSL_CTX *ctx, const char *cert_pem, struct error *err)
{
	auto_free(BIO_free_all) BIO *bio = BIO_new_mem_buf(cert_pem, -1);
	X509 *cert = PEM_read_bio_X509(bio, NULL, NULL, NULL);

	X509_free(cert);
	while ((cert = PEM_read_bio_X509(bio, NULL, NULL, NULL)) != NULL) {
		if (SSL_CTX_add0_chain_cert(ctx, cert) != 1) {
			X509_free(cert);
			return pki_openssl_error(err, ERR_BAD_REQUEST, "use certificate chain");
		}
	}
	ERR_clear_error(); /* the end of the text is an error to OpenSSL */
	return 0;
}

/* Trusts each certificate of the text; a server tells clients their names, so that they can choose.
 */
static int trust(SSL_CTX *ctx, const char *ca_pem, bool clients, struct error *err)
{
	auto_free(BIO_free_all) BIO *bio = BIO_new_mem_buf(ca_pem, -1);
	X509_STORE *store = SSL_CTX_get_cert_store(ctx);
	size_t n = 0;
	X509 *ca;

	while ((ca = PEM_read_bio_X509(bio, NULL, NULL, NULL)) != NULL) {
		bool ok = X509_STORE_add_cert(store, ca) &&
			  (!clients || SSL_CTX_add_client_CA(ctx, ca));

		X509_free(ca);
		if (!ok)
			return pki_openssl_error(err, ERR_BAD_REQUEST, "use authority");
		n++;
	}
	ERR_clear_error();
	if (!n)
		return error_set(err, ERR_BAD_REQUEST, "authority: no certificate in it");
	SSL_CTX_set_verify(ctx, SSL_VERIFY_PEER, NULL);
	return 0;
}

/* No resumption: a ticket would keep an identity alive past its certificate, and a handshake costs
 * 0.7 ms. */
static bool set_options(SSL_CTX *ctx)
{
	SSL_CTX_set_mode(ctx, SSL_MODE_RELEASE_BUFFERS | SSL_MODE_ENABLE_PARTIAL_WRITE |
				      SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
	SSL_CTX_set_options(ctx,
			    SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_TICKET | SSL_OP_NO_COMPRESSION);
	SSL_CTX_set_session_cache_mode(ctx, SSL_SESS_CACHE_OFF);
	return SSL_CTX_set_min_proto_version(ctx, TLS1_2_VERSION) == 1 &&
	       SSL_CTX_set_cipher_list(ctx, TLS12_CIPHERS) == 1 &&
	       SSL_CTX_set_num_tickets(ctx, 0) == 1;
}

static int take_context(SSL_CTX *ctx, struct tls_context **ret_context)
{
	*ret_context = xnew0(struct tls_context);
	(*ret_context)->ctx = ctx;
	return 0;
}

int tls_context_create(const char *cert_pem, const char *key_pem, const char *client_ca_pem,
		       struct tls_context **ret_context, struct error *err)
{
	SSL_CTX *ctx = SSL_CTX_new(TLS_server_method());

	if (!ctx || !set_options(ctx)) {
		pki_openssl_error(err, ERR_INTERNAL, "set up TLS");
		goto fail;
	}
	if (set_identity(ctx, cert_pem, key_pem, err) < 0 || add_chain(ctx, cert_pem, err) < 0)
		goto fail;
	if (client_ca_pem && trust(ctx, client_ca_pem, true, err) < 0)
		goto fail;
	SSL_CTX_set_alpn_select_cb(ctx, select_protocol, NULL);
	return take_context(ctx, ret_context);
fail:
	SSL_CTX_free(ctx);
	return -1;
}

int tls_context_create_client(const char *ca_pem, const char *cert_pem, const char *key_pem,
			      struct tls_context **ret_context, struct error *err)
{
	SSL_CTX *ctx = SSL_CTX_new(TLS_client_method());

	if (!ctx || !set_options(ctx) || (!ca_pem && SSL_CTX_set_default_verify_paths(ctx) != 1)) {
		pki_openssl_error(err, ERR_INTERNAL, "set up TLS");
		goto fail;
	}
	SSL_CTX_set_verify(ctx, SSL_VERIFY_PEER, NULL);
	if (ca_pem && trust(ctx, ca_pem, false, err) < 0)
		goto fail;
	if (cert_pem && key_pem &&
	    (set_identity(ctx, cert_pem, key_pem, err) < 0 || add_chain(ctx, cert_pem, err) < 0))
		goto fail;
	return take_context(ctx, ret_context);
fail:
	SSL_CTX_free(ctx);
	return -1;
}

void tls_context_destroy(struct tls_context *c)
{
	if (!c)
		return;
	SSL_CTX_free(c->ctx);
	free(c);
}

/* --- one connection --- */

static struct tls_session *session_create(struct tls_context *c)
{
	struct tls_session *t = xnew0(struct tls_session);

	t->ssl = SSL_new(c->ctx);
	t->in = BIO_new(BIO_s_mem());
	t->out = BIO_new(BIO_s_mem());
	assert(t->ssl && t->in && t->out); /* fail on lack of memory only */
	BIO_set_mem_eof_return(t->in, -1);
	SSL_set_bio(t->ssl, t->in, t->out);
	return t;
}

struct tls_session *tls_session_create(struct tls_context *c)
{
	struct tls_session *t = session_create(c);

	SSL_set_accept_state(t->ssl);
	return t;
}

/* An address has a place of its own in a certificate, and none in SNI (RFC 6066, section 3). */
static void expect_host(SSL *ssl, const char *host)
{
	if (X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(ssl), host) == 1)
		return;
	ERR_clear_error();
	SSL_set_tlsext_host_name(ssl, (char *)(uintptr_t)host); /* its macro casts const away */
	SSL_set1_host(ssl, host);
}

struct tls_session *tls_session_create_to(struct tls_context *c, const char *host,
					  const char *protocol)
{
	struct tls_session *t = session_create(c);
	unsigned char offer[32];
	size_t n = strlen(protocol);

	assert(n && n < sizeof(offer));
	offer[0] = (unsigned char)n;
	memcpy(offer + 1, protocol, n);
	SSL_set_alpn_protos(t->ssl, offer, (unsigned)n + 1);
	expect_host(t->ssl, host);
	SSL_set_connect_state(t->ssl);
	return t;
}

void tls_session_destroy(struct tls_session *t)
{
	if (!t)
		return;
	SSL_free(t->ssl);
	free(t);
}

void tls_feed(struct tls_session *t, const void *ciphertext, size_t n)
{
	if (n)
		BIO_write(t->in, ciphertext, (int)n);
}

/* The certificate's fault, or what OpenSSL says. */
static void note_why(struct tls_session *t)
{
	long fault = SSL_get_verify_result(t->ssl);
	const char *reason = ERR_reason_error_string(ERR_peek_last_error());

	if (fault != X509_V_OK)
		snprintf(t->why, sizeof(t->why), "certificate: %s",
			 X509_verify_cert_error_string(fault));
	else
		snprintf(t->why, sizeof(t->why), "TLS: %s", reason ? reason : "it broke off");
}

static enum tls_result result_of(struct tls_session *t, int r)
{
	int e = SSL_get_error(t->ssl, r);

	if (e == SSL_ERROR_SSL)
		note_why(t);
	ERR_clear_error();
	if (e == SSL_ERROR_WANT_READ || e == SSL_ERROR_WANT_WRITE)
		return TLS_MORE;
	return e == SSL_ERROR_ZERO_RETURN ? TLS_CLOSED : TLS_FAILED;
}

enum tls_result tls_handshake(struct tls_session *t)
{
	int r = SSL_do_handshake(t->ssl);

	return r == 1 ? TLS_OK : result_of(t, r);
}

enum tls_result tls_read(struct tls_session *t, void *buf, size_t size, size_t *ret_n)
{
	int r = SSL_read_ex(t->ssl, buf, size, ret_n);

	return r == 1 ? TLS_OK : result_of(t, r);
}

bool tls_write(struct tls_session *t, const void *bytes, size_t n)
{
	const char *at = bytes;

	while (n) {
		size_t done;

		if (SSL_write_ex(t->ssl, at, n, &done) != 1) {
			ERR_clear_error();
			return false;
		}
		at += done;
		n -= done;
	}
	return true;
}

void tls_close_notify(struct tls_session *t)
{
	if (SSL_is_init_finished(t->ssl))
		SSL_shutdown(t->ssl);
	ERR_clear_error();
}

void tls_take(struct tls_session *t, struct strbuf *out)
{
	char *bytes = NULL;
	long n = BIO_get_mem_data(t->out, &bytes);

	if (n <= 0)
		return;
	strbuf_add(out, bytes, (size_t)n);
	BIO_reset(t->out);
}

bool tls_agreed(struct tls_session *t, const char *protocol)
{
	const unsigned char *agreed;
	unsigned n;

	SSL_get0_alpn_selected(t->ssl, &agreed, &n);
	return n == strlen(protocol) && !memcmp(agreed, protocol, n);
}

const char *tls_why(struct tls_session *t)
{
	return t->why[0] ? t->why : "TLS: it broke off";
}

int tls_peer(struct tls_session *t, struct pki_identity *ret_id, struct error *err)
{
	X509 *cert = SSL_get0_peer_certificate(t->ssl);

	if (cert)
		return pki_read_name(X509_get_subject_name(cert), ret_id, err);
	*ret_id = (struct pki_identity){0};
	return 0;
}
