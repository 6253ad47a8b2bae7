/* Where to listen, as a flag says it: "127.0.0.1:7443", "[::1]:7443". */
#ifndef BASE_LISTEN_H
#define BASE_LISTEN_H

#include "base/error.h"

struct listen {
	char *host; /* without brackets */
	int port;   /* 1 to 65535 */
};

int listen_parse(const char *text, struct listen *ret, struct error *err);
/* For flags: what is wrong with the text, as read behind it; NULL: nothing. */
const char *listen_mistake(const char *text);
void listen_finish(struct listen *l);

#endif
