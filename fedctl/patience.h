/* One wait for the federator that people are told of, once it takes long. */
#ifndef FEDCTL_PATIENCE_H
#define FEDCTL_PATIENCE_H

#include "fedctl/session.h"

struct patience {
	const struct session *session;
	struct timer *timer;
	int64_t since_ms;
	bool told_why;
};

/* From here on it is waited for; some seconds without an answer are warned of. */
void patience_begin(struct patience *p, const struct session *s);
/* The federator asks to come again: why is warned of, unless it was or the wait is young. */
void patience_hear(struct patience *p, const struct error *why);
void patience_end(struct patience *p); /* more than once is fine */

#endif
