#include "kube/transport_curl.h"

static struct http_call *curl_start(void *transport, const struct http_call_spec *spec)
{
	return http_call_start(transport, spec);
}

static void curl_cancel(void *transport, struct http_call *call)
{
	http_call_cancel(call);
}

static void curl_fresh(void *transport)
{
	http_client_fresh_connection(transport);
}

static void curl_set_token(void *transport, const char *token)
{
	http_client_set_token(transport, token);
}

static void curl_destroy(void *transport)
{
	http_client_destroy(transport);
}

const struct kube_transport_ops kube_transport_curl = {
	.start = curl_start,
	.cancel = curl_cancel,
	.fresh = curl_fresh,
	.set_token = curl_set_token,
	.destroy = curl_destroy,
};

void *kube_transport_curl_create(struct loop *loop, const struct kube_config *config)
{
	struct http_client_config c = {
		.base_url = config->server,
		.ca_pem = config->ca_pem,
		.cert_pem = config->cert_pem,
		.key_pem = config->key_pem,
		.bearer_token = config->token,
	};

	return http_client_create(loop, &c);
}
