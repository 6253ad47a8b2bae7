/*
 * TLS over memory, for servers and for clients: ciphertext in, plaintext out and the other way
 * round. Knows no socket and no HTTP; http_server_conn.c and grpc_client_conn.c move the bytes.
 */
#ifndef BASE_TLS_H
#define BASE_TLS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "base/pki.h"
#include "base/strbuf.h"

struct tls_context;
struct tls_session;

/* client_ca_pem NULL: client certificates are not asked for. */
int tls_context_create(const char *cert_pem, const char *key_pem, const char *client_ca_pem,
		       struct tls_context **ret_context, struct error *err);
/* ca_pem NULL: the system's authorities. cert_pem and key_pem may be NULL. */
int tls_context_create_client(const char *ca_pem, const char *cert_pem, const char *key_pem,
			      struct tls_context **ret_context, struct error *err);
void tls_context_destroy(struct tls_context *c);

struct tls_session *tls_session_create(struct tls_context *c);
/* To a server that must show a certificate for host, a name or an address; protocol: the one that
 * is offered by ALPN, "h2". */
struct tls_session *tls_session_create_to(struct tls_context *c, const char *host,
					  const char *protocol);
void tls_session_destroy(struct tls_session *t);

enum tls_result {
	TLS_OK,
	TLS_MORE,   /* more ciphertext is needed first */
	TLS_CLOSED, /* the peer said that nothing more comes */
	TLS_FAILED, /* an alert may be waiting in tls_take() */
};

void tls_feed(struct tls_session *t, const void *ciphertext, size_t n);
enum tls_result tls_handshake(struct tls_session *t);
/* On TLS_OK *ret_n bytes (at least 1) are in buf. */
enum tls_result tls_read(struct tls_session *t, void *buf, size_t size, size_t *ret_n);
/* Encrypts all n bytes; false when the session is broken. */
bool tls_write(struct tls_session *t, const void *bytes, size_t n);
void tls_close_notify(struct tls_session *t);
/* Appends the ciphertext that waits to be sent. */
void tls_take(struct tls_session *t, struct strbuf *out);

bool tls_agreed(struct tls_session *t, const char *protocol); /* by ALPN */
const char *tls_why(struct tls_session *t);                   /* it has failed */

/* Who the peer's verified certificate names; user is NULL without one. -1: it names nobody. */
int tls_peer(struct tls_session *t, struct pki_identity *ret_id, struct error *err);

#endif
