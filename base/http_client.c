/* One peer: where it is, who we are to it, and its two pools of connections. */
#include "base/http_client.h"

#include <string.h>

#include "base/http_client_internal.h"

static char *dup_or_null(const char *s)
{
	return s ? xstrdup(s) : NULL;
}

static void replace(char **at, const char *s)
{
	char *copy = dup_or_null(s);

	if (*at)
		explicit_bzero(*at, strlen(*at));
	free(*at);
	*at = copy;
}

struct http_client *http_client_create(struct loop *loop, const struct http_client_config *config)
{
	struct http_client *c = xnew0(struct http_client);
	size_t n = strlen(config->base_url);

	c->loop = loop;
	c->base_url = xstrndup(config->base_url, n && config->base_url[n - 1] == '/' ? n - 1 : n);
	replace(&c->ca_pem, config->ca_pem);
	http_client_set_cert(c, config->cert_pem, config->key_pem);
	http_client_set_token(c, config->bearer_token);
	c->insecure = config->insecure;
	pool_init(&c->pools[POOL_SHORT], c,
		  config->max_connections > 0 ? (unsigned)config->max_connections
					      : CLIENT_CONNECTIONS);
	pool_init(&c->pools[POOL_STREAM], c, 0);
	return c;
}

void client_handle_gone(struct http_client *c)
{
	if (--c->open_handles || !c->closing)
		return;
	replace(&c->ca_pem, NULL);
	http_client_set_cert(c, NULL, NULL);
	http_client_set_token(c, NULL);
	free(c->base_url);
	free(c);
}

void http_client_destroy(struct http_client *c)
{
	if (!c)
		return;
	c->closing = true;
	for (size_t i = 0; i < N_POOLS; i++)
		pool_finish(&c->pools[i]);
}

void http_client_set_token(struct http_client *c, const char *bearer_token)
{
	replace(&c->token, bearer_token);
}

void http_client_set_cert(struct http_client *c, const char *cert_pem, const char *key_pem)
{
	c->credentials++;
	for (size_t i = 0; i < N_POOLS; i++)
		pool_drop_spares(&c->pools[i]);
	replace(&c->cert_pem, cert_pem);
	replace(&c->key_pem, key_pem);
}

void http_client_fresh_connection(struct http_client *c)
{
	c->fresh = true;
}
