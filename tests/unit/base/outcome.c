#include "outcome.h"

#include <criterion/criterion.h>

static void on_head(struct http_call *call, int status, void *arg)
{
	struct outcome *o = arg;

	cr_assert_eq(o->pieces, 0, "the head comes before data");
	o->heads++;
	o->head_status = status;
}

static void on_data(struct http_call *call, const char *bytes, size_t n, void *arg)
{
	struct outcome *o = arg;

	cr_assert_eq(o->heads, 1);
	cr_assert_gt(n, 0);
	o->pieces++;
	strbuf_add(&o->data, bytes, n);
}

static void on_done(const struct http_answer *answer, void *arg)
{
	struct outcome *o = arg;

	o->dones++;
	o->answer = *answer;
	cr_assert_eq(answer->body[answer->size], '\0');
	strbuf_add(&o->body, answer->body, answer->size);
	o->answer.body = NULL;
	snprintf(o->location, sizeof(o->location), "%s", answer->location ? answer->location : "");
	snprintf(o->content_type, sizeof(o->content_type), "%s",
		 answer->content_type ? answer->content_type : "");
	o->warnings[0] = '\0';
	for (size_t i = 0, n = 0; answer->warnings && answer->warnings[i]; i++)
		n += (size_t)snprintf(o->warnings + n, sizeof(o->warnings) - n, "%s\n",
				      answer->warnings[i]);
	if (o->left && --*o->left == 0)
		loop_stop(o->loop);
}

void outcome_finish(struct outcome *o)
{
	strbuf_finish(&o->body);
	strbuf_finish(&o->data);
	*o = (struct outcome){0};
}

struct http_call *outcome_start(struct http_client *c, struct http_call_spec spec,
				struct outcome *o)
{
	if (!spec.method)
		spec.method = "GET";
	if (!spec.path)
		spec.path = "/";
	if (spec.stream) {
		spec.on_head = spec.on_head ? spec.on_head : on_head;
		spec.on_data = spec.on_data ? spec.on_data : on_data;
	}
	if (!spec.on_done)
		spec.on_done = on_done;
	spec.arg = o;
	return http_call_start(c, &spec);
}

void outcome_call(struct loop *loop, struct http_client *c, struct http_call_spec spec,
		  struct outcome *o)
{
	unsigned left = 1;

	outcome_finish(o);
	o->loop = loop;
	o->left = &left;
	outcome_start(c, spec, o);
	cr_assert_eq(o->dones, 0, "called back from inside of the start");
	loop_run(loop);
	cr_assert_eq(o->dones, 1);
	o->left = NULL;
}
