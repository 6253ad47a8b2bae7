/* One peer: where it is, who we are to it, and its two connections. */
#include <curl/curl.h>
#include <string.h>

#include "base/grpc_client_internal.h"
#include "base/mem.h"

enum { SHORT_CALLS, STREAMS };

static char *url_part(CURLU *url, CURLUPart part)
{
	char *text = NULL, *copy;

	curl_url_get(url, part, &text, part == CURLUPART_PORT ? CURLU_DEFAULT_PORT : 0);
	copy = xstrdup(text ? text : "");
	curl_free(text);
	return copy;
}

/* "[::1]" to "::1", "/" to "". */
static void strip(char *text, char first, char last)
{
	size_t n = strlen(text);

	if (first && n && text[0] == first)
		memmove(text, text + 1, n--);
	if (n && text[n - 1] == last)
		text[n - 1] = '\0';
}

static int read_url(struct grpc_client *c, const char *text, bool *ret_tls, struct error *err)
{
	CURLU *url = curl_url();
	char *scheme = NULL;
	bool fine = curl_url_set(url, CURLUPART_URL, text, 0) == CURLUE_OK &&
		    curl_url_get(url, CURLUPART_SCHEME, &scheme, 0) == CURLUE_OK;

	if (fine) {
		c->host = url_part(url, CURLUPART_HOST);
		c->port = url_part(url, CURLUPART_PORT);
		c->prefix = url_part(url, CURLUPART_PATH);
		c->authority = xasprintf("%s:%s", c->host, c->port);
		strip(c->prefix, '\0', '/');
		strip(c->host, '[', ']');
		*ret_tls = !strcmp(scheme, "https");
	}
	curl_free(scheme);
	curl_url_cleanup(url);
	return fine ? 0 : error_set(err, ERR_BAD_REQUEST, "%s is not a URL", text);
}

struct grpc_client *grpc_client_create(struct loop *loop, const struct grpc_client_config *config,
				       struct error *err)
{
	struct grpc_client *c = xnew0(struct grpc_client);
	bool tls = false;

	c->loop = loop;
	list_init(&c->conns);
	if (read_url(c, config->url, &tls, err) ||
	    (tls && tls_context_create_client(config->ca_pem, config->cert_pem, config->key_pem,
					      &c->tls, err))) {
		grpc_client_destroy(c);
		return NULL;
	}
	return c;
}

void grpc_client_destroy(struct grpc_client *c)
{
	struct list_node *node;

	if (!c)
		return;
	while ((node = list_first(&c->conns)))
		conn_close(conn_at(node));
	tls_context_destroy(c->tls);
	free(c->host);
	free(c->port);
	free(c->authority);
	free(c->prefix);
	free(c);
}

static struct grpc_conn *conn_for(struct grpc_client *c, bool stream)
{
	struct grpc_conn **at = &c->current[stream ? STREAMS : SHORT_CALLS];

	if (!*at || conn_session(*at)->retired)
		*at = conn_create(c);
	return *at;
}

struct grpc_call *grpc_call_start(struct grpc_client *c, const struct grpc_call_spec *spec)
{
	struct grpc_conn *conn = conn_for(c, spec->stream);
	struct grpc_call *call = call_create(conn_session(conn), spec, loop_env(c->loop));

	conn_start(conn, call);
	return call;
}
