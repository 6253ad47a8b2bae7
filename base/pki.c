/*
 * Keys, certificates and requests. What is written here must be accepted by Go's crypto/x509 and by
 * OpenSSL as RFC 5280 asks: version 3, random positive serials, key identifiers, key usages.
 */
#include "base/pki.h"

#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/sha.h>
#include <openssl/x509v3.h>
#include <string.h>

#include "base/encode.h"
#include "base/mem.h"
#include "base/pki_internal.h"

#define SERIAL_BYTES 16

DEFINE_CLEANUP(GENERAL_NAMES, GENERAL_NAMES_free)

void pki_pair_finish(struct pki_pair *pair)
{
	free(pair->cert_pem);
	if (pair->key_pem)
		OPENSSL_cleanse(pair->key_pem, strlen(pair->key_pem));
	free(pair->key_pem);
	*pair = (struct pki_pair){0};
}

void pki_identity_finish(struct pki_identity *id)
{
	for (size_t i = 0; id->groups && id->groups[i]; i++)
		free(id->groups[i]);
	free(id->groups);
	free(id->user);
	*id = (struct pki_identity){0};
}

int pki_openssl_error(struct error *err, enum error_code code, const char *what)
{
	unsigned long first = ERR_get_error();
	const char *reason = first ? ERR_reason_error_string(first) : NULL;

	ERR_clear_error();
	return error_set(err, code, "%s: %s", what, reason ? reason : "unknown reason");
}

/* --- PEM --- */

static char *bio_take_text(BIO *bio)
{
	char *bytes = NULL;
	long n = BIO_get_mem_data(bio, &bytes);

	return xstrndup(bytes ? bytes : "", n > 0 ? (size_t)n : 0);
}

static BIO *bio_on_text(const char *text)
{
	return BIO_new_mem_buf(text, -1);
}

/* A key with a passphrase must fail, not ask on the terminal. */
static int no_passphrase(char *buf, int size, int writing, void *arg)
{
	return -1;
}

int pki_parse_cert(const char *pem, X509 **ret_cert, struct error *err)
{
	auto_free(BIO_free_all) BIO *bio = bio_on_text(pem);
	X509 *cert = bio ? PEM_read_bio_X509(bio, NULL, no_passphrase, NULL) : NULL;

	if (!cert)
		return pki_openssl_error(err, ERR_BAD_REQUEST, "read certificate");
	*ret_cert = cert;
	return 0;
}

int pki_parse_key(const char *pem, EVP_PKEY **ret_key, struct error *err)
{
	auto_free(BIO_free_all) BIO *bio = bio_on_text(pem);
	EVP_PKEY *key = bio ? PEM_read_bio_PrivateKey(bio, NULL, no_passphrase, NULL) : NULL;

	if (!key)
		return pki_openssl_error(err, ERR_BAD_REQUEST, "read private key");
	*ret_key = key;
	return 0;
}

static int parse_csr(const char *pem, X509_REQ **ret_req, struct error *err)
{
	auto_free(BIO_free_all) BIO *bio = bio_on_text(pem);
	X509_REQ *req = bio ? PEM_read_bio_X509_REQ(bio, NULL, no_passphrase, NULL) : NULL;

	if (!req)
		return pki_openssl_error(err, ERR_BAD_REQUEST, "read certificate request");
	*ret_req = req;
	return 0;
}

static int print_cert(X509 *cert, char **ret_pem, struct error *err)
{
	auto_free(BIO_free_all) BIO *bio = BIO_new(BIO_s_mem());

	if (!bio || !PEM_write_bio_X509(bio, cert))
		return pki_openssl_error(err, ERR_INTERNAL, "write certificate");
	*ret_pem = bio_take_text(bio);
	return 0;
}

static int print_key(EVP_PKEY *key, char **ret_pem, struct error *err)
{
	auto_free(BIO_free_all) BIO *bio = BIO_new(BIO_s_secmem());

	if (!bio || !PEM_write_bio_PKCS8PrivateKey(bio, key, NULL, NULL, 0, NULL, NULL))
		return pki_openssl_error(err, ERR_INTERNAL, "write private key");
	*ret_pem = bio_take_text(bio);
	return 0;
}

/* --- names --- */

/* Not as an MBSTRING type: with those OpenSSL refuses names over 64 characters, which names of
 * clusters may have; all verifiers take them. */
static bool name_add(X509_NAME *name, int nid, const char *text)
{
	return X509_NAME_add_entry_by_NID(name, nid, V_ASN1_UTF8STRING, (const unsigned char *)text,
					  (int)strlen(text), -1, 0);
}

/* Groups first, as kubeadm and openssl's command line order them. */
static X509_NAME *name_make(const char *user, const char *const *groups)
{
	auto_free(X509_NAME_free) X509_NAME *name = X509_NAME_new();

	if (!name)
		return NULL;
	for (size_t i = 0; groups && groups[i]; i++)
		if (!name_add(name, NID_organizationName, groups[i]))
			return NULL;
	if (!name_add(name, NID_commonName, user))
		return NULL;
	return take_ptr(name);
}

/* NULL when the text has a NUL byte in it or is no text at all. */
static char *entry_text(const X509_NAME_ENTRY *entry)
{
	unsigned char *utf8 = NULL;
	int n = ASN1_STRING_to_UTF8(&utf8, X509_NAME_ENTRY_get_data(entry));
	char *text = NULL;

	if (n >= 0 && !memchr(utf8, '\0', (size_t)n) && utf8_valid((char *)utf8, (size_t)n))
		text = xstrndup((char *)utf8, (size_t)n);
	OPENSSL_free(utf8);
	ERR_clear_error();
	return text;
}

static int read_entry(const X509_NAME_ENTRY *entry, struct pki_identity *id, size_t *n_groups,
		      struct error *err)
{
	int nid = OBJ_obj2nid(X509_NAME_ENTRY_get_object(entry));
	char *text;

	if (nid != NID_commonName && nid != NID_organizationName)
		return 0;
	text = entry_text(entry);
	if (!text)
		return error_set(err, ERR_BAD_REQUEST, "subject: a name is not clean text");
	if (nid == NID_organizationName) {
		id->groups[(*n_groups)++] = text;
		return 0;
	}
	if (id->user) {
		free(text);
		return error_set(err, ERR_BAD_REQUEST, "subject: more than one common name");
	}
	id->user = text;
	return 0;
}

int pki_read_name(const X509_NAME *name, struct pki_identity *ret_id, struct error *err)
{
	int n = X509_NAME_entry_count(name);
	struct pki_identity id = {.groups = xcalloc((size_t)n + 1, sizeof(char *))};
	size_t n_groups = 0;

	for (int i = 0; i < n; i++)
		if (read_entry(X509_NAME_get_entry(name, i), &id, &n_groups, err) < 0)
			goto fail;
	if (!id.user || !id.user[0]) {
		error_set(err, ERR_BAD_REQUEST, "subject: no common name");
		goto fail;
	}
	*ret_id = id;
	return 0;
fail:
	pki_identity_finish(&id);
	return -1;
}

static GENERAL_NAME *host_name(const char *host)
{
	ASN1_OCTET_STRING *ip = a2i_IPADDRESS(host);
	GENERAL_NAME *gen = GENERAL_NAME_new();
	ASN1_IA5STRING *dns;

	ERR_clear_error();
	if (!gen || ip) {
		if (gen)
			GENERAL_NAME_set0_value(gen, GEN_IPADD, ip);
		return gen;
	}
	dns = ASN1_IA5STRING_new();
	if (!dns || !ASN1_STRING_set(dns, host, -1)) {
		ASN1_IA5STRING_free(dns);
		GENERAL_NAME_free(gen);
		return NULL;
	}
	GENERAL_NAME_set0_value(gen, GEN_DNS, dns);
	return gen;
}

static bool add_hosts(X509 *cert, const char *const *hosts)
{
	auto_free(GENERAL_NAMES_free) GENERAL_NAMES *names = GENERAL_NAMES_new();

	if (!hosts || !hosts[0])
		return true;
	for (; names && *hosts; hosts++) {
		GENERAL_NAME *gen = host_name(*hosts);

		if (!gen || !sk_GENERAL_NAME_push(names, gen)) {
			GENERAL_NAME_free(gen);
			return false;
		}
	}
	return names && X509_add1_ext_i2d(cert, NID_subject_alt_name, names, 0, 0);
}

/* --- certificates --- */

static bool set_serial(X509 *cert)
{
	unsigned char bytes[SERIAL_BYTES];
	BIGNUM *number = NULL;
	bool ok = RAND_bytes(bytes, sizeof(bytes)) == 1;

	bytes[0] = (bytes[0] & 0x7f) | 0x40; /* positive, and always of full length */
	if (ok)
		number = BN_bin2bn(bytes, sizeof(bytes), NULL);
	ok = number && BN_to_ASN1_INTEGER(number, X509_get_serialNumber(cert));
	BN_free(number);
	return ok;
}

static bool add_ext(X509 *cert, X509V3_CTX *ctx, int nid, const char *value)
{
	X509_EXTENSION *ext = X509V3_EXT_conf_nid(NULL, ctx, nid, value);
	bool ok = ext && X509_add_ext(cert, ext, -1);

	X509_EXTENSION_free(ext);
	return ok;
}

static const char *key_usage(bool server, bool client)
{
	if (server && client)
		return "serverAuth,clientAuth";
	return server ? "serverAuth" : "clientAuth";
}

/* issuer NULL: self-signed, an authority. The order matters: the authority key identifier of a
 * self-signed certificate is made from its subject key identifier. */
static bool add_extensions(X509 *cert, X509 *issuer, const struct pki_subject *subject)
{
	X509V3_CTX ctx;

	X509V3_set_ctx(&ctx, issuer ? issuer : cert, cert, NULL, NULL, 0);
	if (!add_ext(cert, &ctx, NID_basic_constraints,
		     issuer ? "critical,CA:FALSE" : "critical,CA:TRUE"))
		return false;
	if (!add_ext(cert, &ctx, NID_key_usage,
		     issuer ? "critical,digitalSignature"
			    : "critical,digitalSignature,keyCertSign,cRLSign"))
		return false;
	if (!add_ext(cert, &ctx, NID_subject_key_identifier, "hash") ||
	    !add_ext(cert, &ctx, NID_authority_key_identifier, "keyid:always"))
		return false;
	if ((subject->server || subject->client) &&
	    !add_ext(cert, &ctx, NID_ext_key_usage, key_usage(subject->server, subject->client)))
		return false;
	return add_hosts(cert, subject->hosts);
}

/* A certificate for key, without its signature. */
static X509 *cert_make(EVP_PKEY *key, X509 *issuer, const struct pki_subject *subject)
{
	auto_free(X509_free) X509 *cert = X509_new();
	auto_free(X509_NAME_free) X509_NAME *name = name_make(subject->user, subject->groups);

	if (!cert || !name || !X509_set_version(cert, X509_VERSION_3) || !set_serial(cert))
		return NULL;
	if (!ASN1_TIME_set(X509_getm_notBefore(cert), subject->not_before_s) ||
	    !ASN1_TIME_set(X509_getm_notAfter(cert), subject->not_after_s))
		return NULL;
	if (!X509_set_subject_name(cert, name) ||
	    !X509_set_issuer_name(cert, issuer ? X509_get_subject_name(issuer) : name) ||
	    !X509_set_pubkey(cert, key))
		return NULL;
	if (!add_extensions(cert, issuer, subject))
		return NULL;
	return take_ptr(cert);
}

static int key_make(EVP_PKEY **ret_key, struct error *err)
{
	EVP_PKEY *key = EVP_EC_gen("P-256");

	if (!key)
		return pki_openssl_error(err, ERR_INTERNAL, "make key");
	*ret_key = key;
	return 0;
}

/* Signs with signer_key and prints. */
static int cert_issue(EVP_PKEY *key, X509 *issuer, EVP_PKEY *signer_key,
		      const struct pki_subject *subject, char **ret_pem, struct error *err)
{
	auto_free(X509_free) X509 *cert = cert_make(key, issuer, subject);

	if (!cert || !X509_sign(cert, signer_key, EVP_sha256()))
		return pki_openssl_error(err, ERR_INTERNAL, "make certificate");
	return print_cert(cert, ret_pem, err);
}

static int authority_parse(const struct pki_pair *ca, X509 **ret_cert, EVP_PKEY **ret_key,
			   struct error *err)
{
	auto_free(X509_free) X509 *cert = NULL;
	auto_free(EVP_PKEY_free) EVP_PKEY *key = NULL;

	if (pki_parse_cert(ca->cert_pem, &cert, err) < 0 ||
	    pki_parse_key(ca->key_pem, &key, err) < 0)
		return error_prefix(err, "certificate authority");
	if (!X509_check_private_key(cert, key))
		return pki_openssl_error(err, ERR_BAD_REQUEST, "certificate authority");
	if (X509_check_ca(cert) != 1)
		return error_set(err, ERR_BAD_REQUEST,
				 "certificate authority: the certificate may not sign others");
	*ret_cert = take_ptr(cert);
	*ret_key = take_ptr(key);
	return 0;
}

int pki_make_ca(const char *name, int64_t not_before_s, int64_t not_after_s,
		struct pki_pair *ret_ca, struct error *err)
{
	auto_free(EVP_PKEY_free) EVP_PKEY *key = NULL;
	struct pki_subject subject = {
		.user = name, .not_before_s = not_before_s, .not_after_s = not_after_s};
	struct pki_pair pair = {0};

	if (key_make(&key, err) < 0 || print_key(key, &pair.key_pem, err) < 0 ||
	    cert_issue(key, NULL, key, &subject, &pair.cert_pem, err) < 0) {
		pki_pair_finish(&pair);
		return -1;
	}
	*ret_ca = pair;
	return 0;
}

int pki_issue(const struct pki_pair *ca, const struct pki_subject *subject,
	      struct pki_pair *ret_pair, struct error *err)
{
	auto_free(X509_free) X509 *issuer = NULL;
	auto_free(EVP_PKEY_free) EVP_PKEY *signer = NULL;
	auto_free(EVP_PKEY_free) EVP_PKEY *key = NULL;
	struct pki_pair pair = {0};

	if (authority_parse(ca, &issuer, &signer, err) < 0 || key_make(&key, err) < 0)
		return -1;
	if (print_key(key, &pair.key_pem, err) < 0 ||
	    cert_issue(key, issuer, signer, subject, &pair.cert_pem, err) < 0) {
		pki_pair_finish(&pair);
		return -1;
	}
	*ret_pair = pair;
	return 0;
}

/* --- requests --- */

static X509_REQ *csr_make(EVP_PKEY *key, const char *user, const char *const *groups)
{
	auto_free(X509_REQ_free) X509_REQ *req = X509_REQ_new();
	auto_free(X509_NAME_free) X509_NAME *name = name_make(user, groups);

	if (!req || !name || !X509_REQ_set_version(req, X509_REQ_VERSION_1) ||
	    !X509_REQ_set_subject_name(req, name) || !X509_REQ_set_pubkey(req, key) ||
	    !X509_REQ_sign(req, key, EVP_sha256()))
		return NULL;
	return take_ptr(req);
}

int pki_make_csr(const char *user, const char *const *groups, char **ret_key_pem,
		 char **ret_csr_pem, struct error *err)
{
	auto_free(EVP_PKEY_free) EVP_PKEY *key = NULL;
	auto_free(X509_REQ_free) X509_REQ *req = NULL;
	auto_free(BIO_free_all) BIO *bio = BIO_new(BIO_s_mem());
	char *key_pem;

	if (key_make(&key, err) < 0)
		return -1;
	req = csr_make(key, user, groups);
	if (!req || !bio || !PEM_write_bio_X509_REQ(bio, req))
		return pki_openssl_error(err, ERR_INTERNAL, "make certificate request");
	if (print_key(key, &key_pem, err) < 0)
		return -1;
	*ret_key_pem = key_pem;
	*ret_csr_pem = bio_take_text(bio);
	return 0;
}

/* The request with its signature verified; its owner therefore holds the key. */
static int csr_verify(const char *csr_pem, X509_REQ **ret_req, struct error *err)
{
	auto_free(X509_REQ_free) X509_REQ *req = NULL;
	EVP_PKEY *key;

	if (parse_csr(csr_pem, &req, err) < 0)
		return -1;
	key = X509_REQ_get0_pubkey(req);
	if (!key || X509_REQ_verify(req, key) != 1)
		return pki_openssl_error(err, ERR_BAD_REQUEST, "verify certificate request");
	*ret_req = take_ptr(req);
	return 0;
}

int pki_read_csr(const char *csr_pem, struct pki_identity *ret_id, struct error *err)
{
	auto_free(X509_REQ_free) X509_REQ *req = NULL;

	if (csr_verify(csr_pem, &req, err) < 0)
		return -1;
	return pki_read_name(X509_REQ_get_subject_name(req), ret_id, err);
}

static int sign_for(const struct pki_pair *ca, X509_REQ *req, const struct pki_subject *subject,
		    char **ret_cert_pem, struct error *err)
{
	auto_free(X509_free) X509 *issuer = NULL;
	auto_free(EVP_PKEY_free) EVP_PKEY *signer = NULL;

	if (authority_parse(ca, &issuer, &signer, err) < 0)
		return -1;
	return cert_issue(X509_REQ_get0_pubkey(req), issuer, signer, subject, ret_cert_pem, err);
}

int pki_sign_csr(const struct pki_pair *ca, const char *csr_pem, int64_t not_before_s,
		 int64_t not_after_s, char **ret_cert_pem, struct error *err)
{
	auto_free(X509_REQ_free) X509_REQ *req = NULL;
	struct pki_identity id = {0};
	struct pki_subject subject = {
		.not_before_s = not_before_s, .not_after_s = not_after_s, .client = true};
	int r;

	if (csr_verify(csr_pem, &req, err) < 0 ||
	    pki_read_name(X509_REQ_get_subject_name(req), &id, err) < 0)
		return -1;
	subject.user = id.user;
	subject.groups = (const char *const *)id.groups;
	r = sign_for(ca, req, &subject, ret_cert_pem, err);
	pki_identity_finish(&id);
	return r;
}

/* --- reading --- */

static int not_after_s(const X509 *cert, int64_t *ret_s, struct error *err)
{
	struct tm tm;

	if (!ASN1_TIME_to_tm(X509_get0_notAfter(cert), &tm))
		return pki_openssl_error(err, ERR_BAD_REQUEST, "read certificate's end");
	*ret_s = timegm(&tm);
	return 0;
}

int pki_read_cert(const char *cert_pem, struct pki_identity *ret_id, int64_t *ret_not_after_s,
		  struct error *err)
{
	auto_free(X509_free) X509 *cert = NULL;
	int64_t end_s = 0;

	if (pki_parse_cert(cert_pem, &cert, err) < 0 || not_after_s(cert, &end_s, err) < 0)
		return -1;
	if (pki_read_name(X509_get_subject_name(cert), ret_id, err) < 0)
		return -1;
	*ret_not_after_s = end_s;
	return 0;
}

int pki_cert_hash(const char *cert_pem, char out[72], struct error *err)
{
	auto_free(X509_free) X509 *cert = NULL;
	unsigned char digest[SHA256_DIGEST_LENGTH];
	unsigned n;

	if (pki_parse_cert(cert_pem, &cert, err) < 0)
		return -1;
	if (!X509_digest(cert, EVP_sha256(), digest, &n))
		return pki_openssl_error(err, ERR_INTERNAL, "hash certificate");
	memcpy(out, "sha256:", 7);
	hex_encode(out + 7, digest, n);
	return 0;
}
