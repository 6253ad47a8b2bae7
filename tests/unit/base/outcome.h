/* What became of a call of the HTTP client; it checks the order of callbacks by itself. */
#ifndef TESTS_UNIT_BASE_OUTCOME_H
#define TESTS_UNIT_BASE_OUTCOME_H

#include "base/http_client.h"
#include "base/strbuf.h"

struct outcome {
	struct loop *loop;
	unsigned *left; /* calls that have not ended; the loop stops at zero */
	unsigned heads, pieces, drains, dones;
	int head_status;
	struct http_answer answer; /* texts are copies */
	struct strbuf body, data;
	char location[200], content_type[100];
	char warnings[200]; /* a line for each */
};

void outcome_finish(struct outcome *o);
/* GET / unless spec says more; the callbacks that it leaves out are those of o. */
struct http_call *outcome_start(struct http_client *c, struct http_call_spec spec,
				struct outcome *o);
/* One call, to its end. */
void outcome_call(struct loop *loop, struct http_client *c, struct http_call_spec spec,
		  struct outcome *o);

#endif
