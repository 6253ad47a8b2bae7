/* What pki.c shares with the TLS code: OpenSSL's objects in and out of this project's types. */
#ifndef BASE_PKI_INTERNAL_H
#define BASE_PKI_INTERNAL_H

#include <openssl/evp.h>
#include <openssl/x509.h>

#include "base/error.h"
#include "base/mem.h"
#include "base/pki.h"

DEFINE_CLEANUP(BIO, BIO_free_all)
DEFINE_CLEANUP(EVP_PKEY, EVP_PKEY_free)
DEFINE_CLEANUP(X509, X509_free)
DEFINE_CLEANUP(X509_REQ, X509_REQ_free)
DEFINE_CLEANUP(X509_NAME, X509_NAME_free)

/* INTERNAL with OpenSSL's oldest reason behind the text; empties OpenSSL's queue. Returns -1. */
int pki_openssl_error(struct error *err, enum error_code code, const char *what);

/* The first certificate or private key of a PEM text; BAD_REQUEST when there is none. */
int pki_parse_cert(const char *pem, X509 **ret_cert, struct error *err);
int pki_parse_key(const char *pem, EVP_PKEY **ret_key, struct error *err);

/* CN and O's; BAD_REQUEST unless there is exactly one CN and all texts are clean UTF-8. */
int pki_read_name(const X509_NAME *name, struct pki_identity *ret_id, struct error *err);

#endif
