/*
 * The state folder of a server: its CA, its certificate, a kubeconfig for the administrator.
 * Made at the first start; afterwards read, and only the server certificate is renewed.
 *
 *	<dir>/pki/ca.crt ca.key ca.hash server.crt server.key      <dir>/admin.kubeconfig
 */
#ifndef SERVER_STATE_H
#define SERVER_STATE_H

#include "base/error.h"
#include "base/pki.h"

struct state {
	struct pki_pair ca, server;
	char ca_hash[72]; /* "sha256:..": what a joining member checks */
};

/* name: of the server ("federator"), in its CA and its kubeconfig's context. hosts: names and
 * addresses of the certificate, NULL-terminated. url: for the kubeconfig. */
int state_open(const char *dir, const char *name, const char *const *hosts, const char *url,
	       int64_t now_s, struct state *ret, struct error *err);
void state_finish(struct state *s);

#endif
