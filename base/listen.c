#include "base/listen.h"

#include <stdbool.h>
#include <string.h>

#include "base/mem.h"

int listen_parse(const char *text, struct listen *ret, struct error *err)
{
	const char *colon = strrchr(text, ':');
	bool brackets = text[0] == '[' && colon && colon[-1] == ']';
	char *end = NULL;
	long port = colon ? strtol(colon + 1, &end, 10) : -1;

	if (!colon || colon == text || *end || end == colon + 1 || port < 0 || port > 65535)
		return error_set(err, ERR_BAD_REQUEST, "\"%s\" is not HOST:PORT", text);
	ret->host = xstrndup(text + brackets, (size_t)(colon - text) - 2 * (size_t)brackets);
	ret->port = (int)port;
	return 0;
}

void listen_finish(struct listen *l)
{
	free(l->host);
	*l = (struct listen){0};
}
