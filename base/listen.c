#include "base/listen.h"

#include <netinet/in.h>
#include <stdbool.h>
#include <string.h>
#include <uv.h>

#include "base/encode.h"
#include "base/mem.h"

#define MISTAKE "is not an IP address and a port, like 127.0.0.1:7443"

static bool is_address(const char *host)
{
	struct sockaddr_in v4;
	struct sockaddr_in6 v6;

	return !uv_ip4_addr(host, 0, &v4) || !uv_ip6_addr(host, 0, &v6);
}

int listen_parse(const char *text, struct listen *ret, struct error *err)
{
	const char *colon = strrchr(text, ':');
	size_t n = colon ? (size_t)(colon - text) : 0;
	bool brackets = n > 2 && text[0] == '[' && text[n - 1] == ']';
	auto_xfree char *host = xstrndup(text + brackets, n - 2 * (size_t)brackets);
	int64_t port = 0;

	if (!colon || !is_address(host) || int64_parse(colon + 1, &port) || port < 1 ||
	    port > 65535)
		return error_set(err, ERR_BAD_REQUEST, "\"%s\" " MISTAKE, text);
	ret->host = take_ptr(host);
	ret->port = (int)port;
	return 0;
}

const char *listen_mistake(const char *text)
{
	struct listen l;

	if (listen_parse(text, &l, NULL))
		return MISTAKE;
	listen_finish(&l);
	return NULL;
}

void listen_finish(struct listen *l)
{
	free(l->host);
	*l = (struct listen){0};
}
