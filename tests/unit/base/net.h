/*
 * A server on a loop of its own and raw clients beside it. The loop runs in the test's thread, a
 * script of blocking calls in another; when the script returns, the server is destroyed.
 */
#ifndef TESTS_UNIT_BASE_NET_H
#define TESTS_UNIT_BASE_NET_H

#include <openssl/ssl.h>

#include "base/http_server.h"
#include "base/pki.h"

/* Certificates of a test: an authority, a server for localhost, and a client "alice". */
struct people {
	struct pki_pair ca, server, alice;
};
void people_init(struct people *p);
void people_finish(struct people *p);
int64_t people_now_s(void);
void people_issue(const struct pki_pair *ca, const char *user, bool server, int64_t not_after_s,
		  struct pki_pair *ret_pair);

struct run;
struct net {
	struct people people;
	struct loop *loop;
	struct http_server *server;
	int port;
	struct run *run; /* while a script runs */
};
void net_init(struct net *n, http_handler handler, void *arg);
void net_finish(struct net *n); /* destroys the server if it is still there, and runs to the end */
void net_run(struct net *n, void (*script)(void *arg), void *arg);
/* To be called from a script. */
void net_call(struct net *n, void (*fn)(void *arg), void *arg); /* runs fn on the loop, waits */

/* One TLS client connection; calls give up after 20 s. */
struct raw {
	int fd;
	SSL_CTX *ctx;
	SSL *ssl;
};
struct raw_options {
	const struct pki_pair *identity;
	int max_version;       /* 0: any */
	const char *protocols; /* ALPN in wire form */
	int receive_buffer;    /* of the socket; 0: the system's */
};
int raw_tcp(int port, int receive_buffer);
/* False: the handshake failed, on this side. */
bool raw_open(struct raw *r, const struct net *n, const struct raw_options *options);
void raw_close(struct raw *r);
bool raw_send(struct raw *r, const char *text);
/* Reads one response, head and body (by length or chunks); its body is appended. 0: no response. */
int raw_receive(struct raw *r, struct strbuf *ret_body);
bool raw_at_end(struct raw *r); /* waits; true: closed, false: bytes came */

#endif
