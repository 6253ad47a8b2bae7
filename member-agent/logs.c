/* Logs of pods, streamed from the member. */
#include <stdlib.h>
#include <string.h>

#include "api/status.h"
#include "member-agent/runner_internal.h"

struct log_stream {
	struct list_node node;
	struct runner *runner;
	struct http_call *call;
	void (*data)(const char *bytes, size_t n, void *arg);
	void (*ended)(const struct error *err, void *arg);
	void *arg;
};

static void on_data(struct http_call *call, const char *bytes, size_t n, void *arg)
{
	struct log_stream *s = arg;

	s->data(bytes, n, s->arg);
}

static void on_done(const struct http_answer *a, void *arg)
{
	struct log_stream *s = arg;
	struct error err = a->err;
	bool failed = a->status < 200 || a->status >= 300;

	if (failed && a->status)
		status_read(a->status, a->body, a->size, &err);
	list_remove(&s->node);
	s->ended(failed ? &err : NULL, s->arg);
	free(s);
}

static const struct podinfo *find_pod(struct runner *r, const struct log_request *q)
{
	auto_xfree char *name =
		xasprintf("%s-%lld-%lld", q->uid, (long long)q->part, (long long)q->generation);
	struct run *run = runner_find(r, name);

	for (size_t i = 0; run && i < run->n_places; i++) {
		const struct place *p = run->places[i];

		if (q->task && strcmp(q->task, run->tasks[p->task].name))
			continue;
		if (p->index == q->index && p->pod && !strcmp(p->pod->ns, q->ns))
			return p->pod;
	}
	return NULL;
}

struct log_stream *runner_log(struct runner *r, const struct log_request *q,
			      void (*data)(const char *bytes, size_t n, void *arg),
			      void (*ended)(const struct error *err, void *arg), void *arg,
			      struct error *err)
{
	const struct podinfo *pod = find_pod(r, q);
	struct http_call_spec spec = {
		.method = "GET", .stream = true, .on_data = on_data, .on_done = on_done};
	struct log_stream *s;
	auto_strbuf path = {0};

	if (!pod) {
		error_set(err, ERR_NOT_FOUND, "there is no pod %lld of task \"%s\" here",
			  (long long)q->index, q->task ? q->task : "");
		return NULL;
	}
	s = xnew0(struct log_stream);
	s->runner = r;
	s->data = data;
	s->ended = ended;
	s->arg = arg;
	strbuf_addf(&path, "/api/v1/namespaces/%s/pods/%s/log?follow=%s", pod->ns, pod->name,
		    q->follow ? "true" : "false");
	if (q->tail_lines >= 0)
		strbuf_addf(&path, "&tailLines=%lld", (long long)q->tail_lines);
	spec.path = path.bytes;
	spec.arg = s;
	/* A program may be silent for as long as it likes. */
	spec.timeout_ms = 0;
	list_push_back(&r->logs, &s->node);
	s->call = kube_stream(r->member, &spec);
	return s;
}

void runner_log_cancel(struct log_stream *s)
{
	if (!s)
		return;
	list_remove(&s->node);
	kube_stream_cancel(s->runner->member, s->call);
	free(s);
}

void logs_destroy(struct runner *r)
{
	struct log_stream *s, *tmp;

	list_for_each_safe (s, tmp, &r->logs, node)
		runner_log_cancel(s);
}
