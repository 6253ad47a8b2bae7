/* "HOST:PORT" of a flag: "127.0.0.1:7443", "[::1]:7443". */
#ifndef BASE_LISTEN_H
#define BASE_LISTEN_H

#include "base/error.h"

struct listen {
	char *host; /* without brackets */
	int port;   /* 0 to 65535; 0: any */
};

int listen_parse(const char *text, struct listen *ret, struct error *err);
void listen_finish(struct listen *l);

#endif
