#include "server/state.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/encode.h"
#include "base/json.h"
#include "base/yaml.h"

#define DAY_S       INT64_C(86400)
#define CA_DAYS     3650
#define SERVER_DAYS 365
#define RENEW_DAYS  120 /* a server certificate with less left is made anew at a start */
#define BACKDATE_S  300 /* clocks of members may be behind ours */

static bool exists(const char *path)
{
	return access(path, F_OK) == 0;
}

static int pair_read(const char *dir, const char *name, struct pki_pair *ret, struct error *err)
{
	auto_xfree char *cert = xasprintf("%s/pki/%s.crt", dir, name);
	auto_xfree char *key = xasprintf("%s/pki/%s.key", dir, name);
	struct pki_pair pair = {0};
	size_t n;

	if (file_read(cert, &pair.cert_pem, &n, err) || file_read(key, &pair.key_pem, &n, err)) {
		pki_pair_finish(&pair);
		return -1;
	}
	*ret = pair;
	return 0;
}

/* The old certificate goes first, then key, then certificate: whenever this is cut short there is
 * no pair, which is made anew, and never a certificate with another one's key. */
static int pair_write(const char *dir, const char *name, const struct pki_pair *pair,
		      struct error *err)
{
	auto_xfree char *cert = xasprintf("%s/pki/%s.crt", dir, name);
	auto_xfree char *key = xasprintf("%s/pki/%s.key", dir, name);

	unlink(cert);
	if (file_write(key, pair->key_pem, strlen(pair->key_pem), 0600, err))
		return -1;
	return file_write(cert, pair->cert_pem, strlen(pair->cert_pem), 0644, err);
}

static bool have_pair(const char *dir, const char *name)
{
	auto_xfree char *cert = xasprintf("%s/pki/%s.crt", dir, name);

	return exists(cert);
}

static int open_ca(const char *dir, const char *name, int64_t now_s, struct pki_pair *ret,
		   struct error *err)
{
	if (have_pair(dir, "ca"))
		return pair_read(dir, "ca", ret, err);
	if (pki_make_ca(name, now_s - BACKDATE_S, now_s + CA_DAYS * DAY_S, ret, err))
		return -1;
	return pair_write(dir, "ca", ret, err);
}

static bool still_good(const struct pki_pair *pair, int64_t now_s)
{
	struct pki_identity id = {0};
	struct error err;
	int64_t until;

	if (pki_read_cert(pair->cert_pem, &id, &until, &err))
		return false;
	pki_identity_finish(&id);
	return until - now_s > RENEW_DAYS * DAY_S;
}

static int open_server(const char *dir, const char *name, const struct pki_pair *ca,
		       const char *const *hosts, int64_t now_s, struct pki_pair *ret,
		       struct error *err)
{
	struct pki_subject subject = {.user = name,
				      .hosts = hosts,
				      .not_before_s = now_s - BACKDATE_S,
				      .not_after_s = now_s + SERVER_DAYS * DAY_S,
				      .server = true};

	if (have_pair(dir, "server")) {
		if (pair_read(dir, "server", ret, err))
			return -1;
		if (still_good(ret, now_s))
			return 0;
		pki_pair_finish(ret);
	}
	if (pki_issue(ca, &subject, ret, err))
		return -1;
	return pair_write(dir, "server", ret, err);
}

static char *to_base64(const char *text)
{
	struct strbuf b = {0};

	base64_encode(&b, text, strlen(text));
	return strbuf_take(&b);
}

static json_t *kubeconfig_tree(const char *name, const struct state *s,
			       const struct pki_pair *admin, const char *url)
{
	auto_xfree char *ca = to_base64(s->ca.cert_pem);
	auto_xfree char *cert = to_base64(admin->cert_pem);
	auto_xfree char *key = to_base64(admin->key_pem);

	return json_pack("{ss,ss,s[{ss,s{ss,ss}}],s[{ss,s{ss,ss}}],s[{ss,s{ss,ss}}],ss}",
			 "apiVersion", "v1", "kind", "Config", "clusters", "name", name, "cluster",
			 "server", url, "certificate-authority-data", ca, "users", "name", "admin",
			 "user", "client-certificate-data", cert, "client-key-data", key,
			 "contexts", "name", name, "context", "cluster", name, "user", "admin",
			 "current-context", name);
}

static int write_kubeconfig(const char *dir, const char *name, const struct state *s,
			    const char *url, int64_t now_s, struct error *err)
{
	static const char *const groups[] = {"system:masters", NULL};
	auto_xfree char *path = xasprintf("%s/admin.kubeconfig", dir);
	struct pki_subject subject = {.user = "admin",
				      .groups = groups,
				      .not_before_s = now_s - BACKDATE_S,
				      .not_after_s = now_s + SERVER_DAYS * DAY_S,
				      .client = true};
	struct pki_pair admin = {0};
	auto_json *tree = NULL;
	auto_strbuf text = {0};

	if (pki_issue(&s->ca, &subject, &admin, err))
		return -1;
	tree = kubeconfig_tree(name, s, &admin, url);
	pki_pair_finish(&admin);
	yaml_write(&text, tree);
	return file_write(path, text.bytes, text.size, 0600, err);
}

static int write_hash(const char *dir, const struct state *s, struct error *err)
{
	auto_xfree char *path = xasprintf("%s/pki/ca.hash", dir);

	return file_write(path, s->ca_hash, strlen(s->ca_hash), 0644, err);
}

int state_open(const char *dir, const char *name, const char *const *hosts, const char *url,
	       int64_t now_s, struct state *ret, struct error *err)
{
	auto_xfree char *pki = xasprintf("%s/pki", dir);
	struct state s = {0};

	if (dir_make(pki, 0700, err))
		return -1;
	if (open_ca(dir, name, now_s, &s.ca, err) ||
	    open_server(dir, name, &s.ca, hosts, now_s, &s.server, err) ||
	    pki_cert_hash(s.ca.cert_pem, s.ca_hash, err) || write_hash(dir, &s, err) ||
	    write_kubeconfig(dir, name, &s, url, now_s, err)) {
		state_finish(&s);
		return -1;
	}
	*ret = s;
	return 0;
}

void state_finish(struct state *s)
{
	pki_pair_finish(&s->ca);
	pki_pair_finish(&s->server);
}
