#include <criterion/criterion.h>
#include <fcntl.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/encode.h"
#include "base/pki_internal.h"

#define T0 1700000000
#define T1 1800000000

#define auto_pair __attribute__((cleanup(pki_pair_finish))) struct pki_pair
#define auto_id   __attribute__((cleanup(pki_identity_finish))) struct pki_identity

static const char *const two_groups[] = {"system:clusters", "b", NULL};

static void make_ca(struct pki_pair *ca)
{
	struct error err;

	cr_assert_eq(pki_make_ca("federator", T0, T1, ca, &err), 0, "%s", err.text);
}

static void issue(const struct pki_pair *ca, const struct pki_subject *subject,
		  struct pki_pair *pair)
{
	struct error err;

	cr_assert_eq(pki_issue(ca, subject, pair, &err), 0, "%s", err.text);
}

static X509 *parse(const char *pem)
{
	X509 *cert = NULL;

	cr_assert_eq(pki_parse_cert(pem, &cert, NULL), 0);
	return cert;
}

/* What a strict verifier says: X509_V_OK or its error. */
static int verify(const char *ca_pem, const char *cert_pem, int purpose, const char *host,
		  int64_t at)
{
	auto_free(X509_free) X509 *ca = parse(ca_pem);
	auto_free(X509_free) X509 *cert = parse(cert_pem);
	X509_STORE *store = X509_STORE_new();
	X509_STORE_CTX *ctx = X509_STORE_CTX_new();
	X509_VERIFY_PARAM *param;
	int result;

	X509_STORE_add_cert(store, ca);
	X509_STORE_CTX_init(ctx, store, cert, NULL);
	param = X509_STORE_CTX_get0_param(ctx);
	X509_VERIFY_PARAM_set_flags(param, X509_V_FLAG_X509_STRICT);
	X509_VERIFY_PARAM_set_purpose(param, purpose);
	X509_VERIFY_PARAM_set_time(param, at);
	if (host && !X509_VERIFY_PARAM_set1_ip_asc(param, host))
		X509_VERIFY_PARAM_set1_host(param, host, 0);
	X509_verify_cert(ctx);
	result = X509_STORE_CTX_get_error(ctx);
	X509_STORE_CTX_free(ctx);
	X509_STORE_free(store);
	ERR_clear_error();
	return result;
}

Test(pki, issues_what_a_strict_verifier_takes)
{
	static const char *const hosts[] = {"hub.example", "127.0.0.1", "::1", NULL};
	struct pki_subject server = {.user = "federator",
				     .hosts = hosts,
				     .not_before_s = T0 + 10,
				     .not_after_s = T1 - 10,
				     .server = true};
	struct pki_subject client = {.user = "alice",
				     .groups = two_groups,
				     .not_before_s = T0,
				     .not_after_s = T1,
				     .client = true};
	auto_pair ca = {0}, other = {0}, s = {0}, c = {0};
	int64_t now = T0 + 100;
	int host_fault = X509_V_ERR_HOSTNAME_MISMATCH, ip_fault = X509_V_ERR_IP_ADDRESS_MISMATCH;

	make_ca(&ca);
	make_ca(&other);
	issue(&ca, &server, &s);
	issue(&ca, &client, &c);
	cr_expect_eq(verify(ca.cert_pem, s.cert_pem, X509_PURPOSE_SSL_SERVER, "hub.example", now),
		     0);
	cr_expect_eq(verify(ca.cert_pem, s.cert_pem, X509_PURPOSE_SSL_SERVER, "127.0.0.1", now), 0);
	cr_expect_eq(verify(ca.cert_pem, s.cert_pem, X509_PURPOSE_SSL_SERVER, "::1", now), 0);
	cr_expect_eq(verify(ca.cert_pem, c.cert_pem, X509_PURPOSE_SSL_CLIENT, NULL, now), 0);

	cr_expect_eq(verify(ca.cert_pem, s.cert_pem, X509_PURPOSE_SSL_SERVER, "a.example", now),
		     host_fault);
	cr_expect_eq(verify(ca.cert_pem, s.cert_pem, X509_PURPOSE_SSL_SERVER, "127.0.0.2", now),
		     ip_fault);
	cr_expect_eq(verify(ca.cert_pem, s.cert_pem, X509_PURPOSE_SSL_CLIENT, NULL, now),
		     X509_V_ERR_INVALID_PURPOSE);
	cr_expect_eq(verify(ca.cert_pem, c.cert_pem, X509_PURPOSE_SSL_SERVER, NULL, now),
		     X509_V_ERR_INVALID_PURPOSE);
	cr_expect_eq(verify(ca.cert_pem, s.cert_pem, X509_PURPOSE_SSL_SERVER, NULL, T0 + 5),
		     X509_V_ERR_CERT_NOT_YET_VALID);
	cr_expect_eq(verify(ca.cert_pem, s.cert_pem, X509_PURPOSE_SSL_SERVER, NULL, T1 - 5),
		     X509_V_ERR_CERT_HAS_EXPIRED);
	/* Of the same name, but another key. */
	cr_expect_neq(verify(other.cert_pem, s.cert_pem, X509_PURPOSE_SSL_SERVER, NULL, now), 0);
}

Test(pki, makes_extensions_that_go_and_openssl_want)
{
	struct pki_subject both = {
		.user = "x", .not_before_s = T0, .not_after_s = T1, .server = true, .client = true};
	auto_pair ca = {0}, pair = {0};
	X509 *c, *a;

	make_ca(&ca);
	issue(&ca, &both, &pair);
	a = parse(ca.cert_pem);
	c = parse(pair.cert_pem);
	cr_expect_eq(X509_get_version(c), X509_VERSION_3);
	cr_expect_eq(X509_check_ca(a), 1);
	cr_expect_eq(X509_check_ca(c), 0);
	cr_expect_eq(X509_get_key_usage(a), KU_DIGITAL_SIGNATURE | KU_KEY_CERT_SIGN | KU_CRL_SIGN);
	cr_expect_eq(X509_get_key_usage(c), KU_DIGITAL_SIGNATURE);
	cr_expect_eq(X509_get_extended_key_usage(c), XKU_SSL_SERVER | XKU_SSL_CLIENT);
	cr_expect_eq(
		ASN1_OCTET_STRING_cmp(X509_get0_authority_key_id(c), X509_get0_subject_key_id(a)),
		0);
	cr_expect_eq(EVP_PKEY_get_bits(X509_get0_pubkey(c)), 256);
	cr_expect_neq(ASN1_INTEGER_cmp(X509_get0_serialNumber(a), X509_get0_serialNumber(c)), 0);
	cr_expect_eq(ASN1_INTEGER_get(X509_get0_serialNumber(c)) < -1, 0, "a serial is positive");
	X509_free(a);
	X509_free(c);
}

Test(pki, reads_back_who_a_certificate_is_for)
{
	struct pki_subject subject = {.user = "system:cluster:a-cluster-with-a-name-of-sixty-three-"
					      "characters-which-is-what-a-name-may-have",
				      .groups = two_groups,
				      .not_before_s = T0,
				      .not_after_s =
					      4102444800, /* 2100: past what UTCTime can say */
				      .client = true};
	auto_pair ca = {0}, pair = {0};
	auto_id id = {0};
	int64_t end_s;
	struct error err;

	make_ca(&ca);
	issue(&ca, &subject, &pair);
	cr_assert_eq(pki_read_cert(pair.cert_pem, &id, &end_s, &err), 0, "%s", err.text);
	cr_assert_str_eq(id.user, subject.user);
	cr_assert_str_eq(id.groups[0], "system:clusters");
	cr_assert_str_eq(id.groups[1], "b");
	cr_assert_null(id.groups[2]);
	cr_assert_eq(end_s, 4102444800);
}

Test(pki, signs_a_request_for_exactly_what_it_says)
{
	auto_pair ca = {0};
	auto_xfree char *key = NULL, *csr = NULL, *cert = NULL;
	auto_id asked = {0}, got = {0};
	EVP_PKEY *k = NULL;
	X509 *c;
	int64_t end_s;
	struct error err;

	make_ca(&ca);
	cr_assert_eq(pki_make_csr("system:cluster:gpu", two_groups, &key, &csr, &err), 0);
	cr_assert_eq(pki_read_csr(csr, &asked, &err), 0, "%s", err.text);
	cr_assert_str_eq(asked.user, "system:cluster:gpu");
	cr_assert_str_eq(asked.groups[1], "b");
	cr_assert_eq(pki_sign_csr(&ca, csr, T0, T1 - 5, &cert, &err), 0, "%s", err.text);
	cr_assert_eq(pki_read_cert(cert, &got, &end_s, &err), 0);
	cr_assert_str_eq(got.user, asked.user);
	cr_assert_str_eq(got.groups[0], asked.groups[0]);
	cr_assert_eq(end_s, T1 - 5);
	cr_assert_eq(verify(ca.cert_pem, cert, X509_PURPOSE_SSL_CLIENT, NULL, T0 + 5), 0);
	c = parse(cert);
	cr_assert_eq(pki_parse_key(key, &k, &err), 0);
	cr_assert(X509_check_private_key(c, k), "the certificate is for the key of the request");
	X509_free(c);
	EVP_PKEY_free(k);
}

/* One bit of the DER, so that the text stays well-formed. */
static char *damage(const char *csr_pem)
{
	BIO *in = BIO_new_mem_buf(csr_pem, -1), *out = BIO_new(BIO_s_mem());
	char *name, *header, *text;
	unsigned char *der;
	long n;
	char *damaged;

	cr_assert(PEM_read_bio(in, &name, &header, &der, &n));
	der[n - 1] ^= 1;
	PEM_write_bio(out, name, header, der, n);
	n = BIO_get_mem_data(out, &text);
	damaged = xstrndup(text, (size_t)n);
	OPENSSL_free(name);
	OPENSSL_free(header);
	OPENSSL_free(der);
	BIO_free(in);
	BIO_free(out);
	return damaged;
}

Test(pki, refuses_what_is_not_proven)
{
	auto_pair ca = {0}, other = {0}, pair = {0};
	struct pki_subject subject = {.user = "x", .not_before_s = T0, .not_after_s = T1};
	auto_xfree char *key = NULL, *csr = NULL, *bad = NULL;
	struct pki_pair mixed, leaf = {0};
	struct pki_identity id = {0};
	char *cert = NULL, hash[72];
	int64_t end_s;
	struct error err;

	make_ca(&ca);
	make_ca(&other);
	cr_assert_eq(pki_make_csr("x", NULL, &key, &csr, NULL), 0);
	bad = damage(csr);
	cr_expect_eq(pki_read_csr(bad, &id, &err), -1);
	cr_expect_eq(err.code, ERR_BAD_REQUEST);
	cr_expect_eq(pki_sign_csr(&ca, bad, T0, T1, &cert, &err), -1);
	cr_expect_eq(pki_read_csr("nonsense", &id, &err), -1);
	cr_expect_eq(pki_read_cert(csr, &id, &end_s, &err), -1);
	cr_expect_eq(pki_cert_hash("", hash, &err), -1);

	mixed = (struct pki_pair){ca.cert_pem, other.key_pem};
	cr_expect_eq(pki_issue(&mixed, &subject, &leaf, &err), -1);
	cr_expect_eq(pki_sign_csr(&mixed, csr, T0, T1, &cert, &err), -1);
	issue(&ca, &subject, &pair);
	cr_expect_eq(pki_issue(&pair, &subject, &leaf, &err), -1, "it is no authority");
	cr_expect(strstr(err.text, "authority"), "%s", err.text);
	cr_expect_null(leaf.cert_pem);
	cr_expect_null(cert);
	cr_expect_null(id.user);
}

static X509_NAME *name_of(const char *const *pairs)
{
	X509_NAME *name = X509_NAME_new();

	for (; pairs[0]; pairs += 2)
		X509_NAME_add_entry_by_txt(name, pairs[0], MBSTRING_UTF8,
					   (const unsigned char *)pairs[1], -1, -1, 0);
	return name;
}

Test(pki, refuses_names_that_two_readers_could_read_differently)
{
	static const char *const no_user[] = {"O", "a", NULL};
	static const char *const two_users[] = {"CN", "a", "CN", "root", NULL};
	static const char *const others[] = {"C", "CH", "CN", "a", "OU", "b", NULL};
	struct pki_identity id = {0};
	X509_NAME *name = name_of(no_user);

	cr_expect_eq(pki_read_name(name, &id, NULL), -1);
	X509_NAME_free(name);
	name = name_of(two_users);
	cr_expect_eq(pki_read_name(name, &id, NULL), -1);
	X509_NAME_free(name);
	name = X509_NAME_new();
	X509_NAME_add_entry_by_NID(name, NID_commonName, V_ASN1_UTF8STRING,
				   (const unsigned char *)"admin\0x", 7, -1, 0);
	cr_expect_eq(pki_read_name(name, &id, NULL), -1);
	X509_NAME_free(name);
	name = name_of(others);
	cr_assert_eq(pki_read_name(name, &id, NULL), 0);
	cr_expect_str_eq(id.user, "a");
	cr_expect_null(id.groups[0]);
	X509_NAME_free(name);
	pki_identity_finish(&id);
}

Test(pki, hashes_the_der_of_a_certificate)
{
	auto_pair ca = {0};
	char hash[72], hex[65];
	unsigned char *der = NULL;
	X509 *c;
	int n;

	make_ca(&ca);
	c = parse(ca.cert_pem);
	n = i2d_X509(c, &der);
	sha256_hex(der, (size_t)n, hex);
	cr_assert_eq(pki_cert_hash(ca.cert_pem, hash, NULL), 0);
	cr_assert_eq(strncmp(hash, "sha256:", 7), 0);
	cr_assert_str_eq(hash + 7, hex);
	OPENSSL_free(der);
	X509_free(c);
}

Test(pki, writes_and_reads_files)
{
	char dir[] = "/tmp/test-file-XXXXXX";
	auto_xfree char *deep = NULL, *path = NULL, *bytes = NULL;
	struct error err;
	struct stat st;
	size_t n;

	cr_assert_not_null(mkdtemp(dir));
	deep = xasprintf("%s/a/b", dir);
	path = xasprintf("%s/key", deep);
	cr_assert_eq(dir_make(deep, 0700, &err), 0, "%s", err.text);
	cr_assert_eq(dir_make(deep, 0700, &err), 0, "it is there already");
	umask(0277);
	cr_assert_eq(file_write(path, "old", 3, 0600, &err), 0, "%s", err.text);
	umask(022);
	cr_assert_eq(file_write(path, "n\0w", 3, 0640, &err), 0, "%s", err.text);
	cr_assert_eq(stat(path, &st), 0);
	cr_assert_eq(st.st_mode & 07777, 0640);
	cr_assert_eq(file_read(path, &bytes, &n, &err), 0, "%s", err.text);
	cr_assert_eq(n, 3);
	cr_assert_arr_eq(bytes, "n\0w", 4);

	cr_assert_eq(dir_make(path, 0700, &err), -1, "a file is in the way");
	cr_assert_eq(file_write(deep, "x", 1, 0600, &err), -1);
	cr_assert(strstr(err.text, deep), "%s", err.text);
	cr_assert_eq(unlink(path), 0);
	cr_assert_eq(file_read(path, &bytes, &n, &err), -1);
	cr_assert_eq(err.code, ERR_NOT_FOUND);
	cr_assert_eq(rmdir(deep), 0, "nothing else is left in it");
	free(path);
	path = xasprintf("%s/a", dir);
	rmdir(path);
	rmdir(dir);
}
