/* Requests of a run that are under way: kept, so that they end with it. */
#include "member-agent/runner_internal.h"

#include <stdlib.h>
#include <string.h>

#include "base/json.h"

struct run_call {
	struct list_node node;
	struct run *run;
	struct kube_call *call;
	run_call_done done;
	void *arg;
};

static void on_answer(const struct kube_answer *a, void *arg)
{
	struct run_call *c = arg;
	struct run *run = c->run;
	run_call_done done = c->done;
	void *done_arg = c->arg;

	list_remove(&c->node);
	free(c);
	done(run, a, done_arg);
}

void run_send(struct run *run, const char *method, const char *path, const json_t *body,
	      const char *content_type, run_call_done done, void *arg)
{
	struct run_call *c = xnew0(struct run_call);
	int64_t timeout = runner_write_timeout_ms(run->runner);
	auto_xfree char *text = body ? json_print(body) : NULL;
	auto_xfree char *limited =
		strcmp(method, "GET") ? xasprintf("%s?timeout=%lldms", path, (long long)timeout)
				      : xstrdup(path);
	struct kube_request request = {
		.method = method,
		.path = limited,
		.body = text,
		.content_type = content_type,
		.timeout_ms = timeout,
		.done = on_answer,
		.arg = c,
	};

	c->run = run;
	c->done = done;
	c->arg = arg;
	list_push_back(&run->calls, &c->node);
	c->call = kube_send(run->runner->member, &request);
}

void run_cancel_calls(struct run *run)
{
	struct run_call *c, *tmp;

	list_for_each_safe (c, tmp, &run->calls, node) {
		list_remove(&c->node);
		kube_cancel(c->call);
		free(c);
	}
}
