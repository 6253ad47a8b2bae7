/*
 * Keys and certificates on OpenSSL: P-256 keys, X.509 v3 certificates, PEM in and out. A person or
 * process is CN (user) and O (groups).
 */
#ifndef BASE_PKI_H
#define BASE_PKI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

/* All PEM texts are NUL-terminated and freed by the caller. */
struct pki_pair {
	char *cert_pem, *key_pem;
};
void pki_pair_finish(struct pki_pair *pair);

struct pki_subject {
	const char *user;          /* CN */
	const char *const *groups; /* O, NULL-terminated; may be NULL */
	const char *const *hosts;  /* SAN: names and IP addresses, NULL-terminated; may be NULL */
	int64_t not_before_s, not_after_s; /* seconds since 1970 */
	bool server, client;               /* extended key usages */
};

int pki_make_ca(const char *name, int64_t not_before_s, int64_t not_after_s,
		struct pki_pair *ret_ca, struct error *err);
int pki_issue(const struct pki_pair *ca, const struct pki_subject *subject,
	      struct pki_pair *ret_pair, struct error *err);

/* A new key and a PKCS#10 request for it. */
int pki_make_csr(const char *user, const char *const *groups, char **ret_key_pem,
		 char **ret_csr_pem, struct error *err);
/* Verifies the request's signature and reads its subject; groups: NULL-terminated, freed by
 * pki_identity_finish. */
struct pki_identity {
	char *user;
	char **groups;
};
void pki_identity_finish(struct pki_identity *id);
int pki_read_csr(const char *csr_pem, struct pki_identity *ret_id, struct error *err);
/* A client certificate for exactly what the request says. */
int pki_sign_csr(const struct pki_pair *ca, const char *csr_pem, int64_t not_before_s,
		 int64_t not_after_s, char **ret_cert_pem, struct error *err);
int pki_read_cert(const char *cert_pem, struct pki_identity *ret_id, int64_t *ret_not_after_s,
		  struct error *err);

/* "sha256:<hex>" of the certificate's DER: what --ca-hash takes. */
int pki_cert_hash(const char *cert_pem, char out[72], struct error *err);

/* Whole files; written by a rename, mode as given. */
int file_read(const char *path, char **ret_bytes, size_t *ret_size, struct error *err);
int file_write(const char *path, const void *bytes, size_t n, unsigned mode, struct error *err);
int dir_make(const char *path, unsigned mode, struct error *err); /* with its parents */

#endif
