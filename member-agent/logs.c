/* Logs of pods, streamed from the member. */
#include <stdlib.h>
#include <string.h>

#include "api/status.h"
#include "member-agent/runner_internal.h"

#define START_LOOK_MS 200 /* for the start of a container */

struct log_stream {
	struct list_node node;
	struct runner *runner;
	char *run, *task; /* of the request; task NULL: the first */
	int64_t index, tail_lines;
	bool follow;
	struct http_call *call; /* NULL while its container has not started */
	struct timer *timer;
	void (*data)(const char *bytes, size_t n, void *arg);
	void (*ended)(const struct error *err, void *arg);
	void *arg;
};

static void on_data(struct http_call *call, const char *bytes, size_t n, void *arg)
{
	struct log_stream *s = arg;

	s->data(bytes, n, s->arg);
}

static void stream_free(struct log_stream *s)
{
	list_remove(&s->node);
	timer_destroy(s->timer);
	free(s->run);
	free(s->task);
	free(s);
}

static void finish(struct log_stream *s, const struct error *err)
{
	void (*ended)(const struct error *, void *) = s->ended;
	void *arg = s->arg;

	stream_free(s);
	ended(err, arg);
}

static void on_done(const struct http_answer *a, void *arg)
{
	struct log_stream *s = arg;
	struct error err = a->err;
	bool failed = a->status < 200 || a->status >= 300;

	if (failed && a->status)
		status_read(a->status, a->body, a->size, &err);
	finish(s, failed ? &err : NULL);
}

/* Its place; NULL when there is no such attempt, task or index here. */
static const struct place *find_place(const struct log_stream *s)
{
	struct run *run = runner_find(s->runner, s->run);

	for (size_t i = 0; run && i < run->n_places; i++) {
		const struct place *p = run->places[i];

		if (p->index == s->index &&
		    (!s->task || !strcmp(s->task, run->tasks[p->task].name)))
			return p;
	}
	return NULL;
}

static void ask(struct log_stream *s, const struct podinfo *pod)
{
	struct http_call_spec spec = {
		.method = "GET",
		.stream = true,
		.on_data = on_data,
		.on_done = on_done,
		.arg = s,
	};
	auto_strbuf path = {0};

	strbuf_addf(&path, "/api/v1/namespaces/%s/pods/%s/log?follow=%s", pod->ns, pod->name,
		    s->follow ? "true" : "false");
	if (s->tail_lines >= 0)
		strbuf_addf(&path, "&tailLines=%lld", (long long)s->tail_lines);
	spec.path = path.bytes;
	/* A program may be silent for as long as it likes. */
	spec.timeout_ms = 0;
	s->call = kube_stream(s->runner->member, &spec);
}

/* Who follows waits for the start; who does not is told that there is nothing yet. */
static bool has_started(const struct log_stream *s, const struct place *p)
{
	return p->pod && (!s->follow || p->pod->phase != POD_PENDING);
}

static void look_again(void *arg)
{
	struct log_stream *s = arg;
	const struct place *p = find_place(s);
	struct error err;

	if (!p) {
		error_set(&err, ERR_NOT_FOUND, "the pod is gone");
		finish(s, &err);
	} else if (has_started(s, p)) {
		ask(s, p->pod);
	} else {
		timer_start(s->timer, START_LOOK_MS);
	}
}

struct log_stream *runner_log(struct runner *r, const struct log_request *q,
			      void (*data)(const char *bytes, size_t n, void *arg),
			      void (*ended)(const struct error *err, void *arg), void *arg,
			      struct error *err)
{
	struct log_stream *s = xnew0(struct log_stream);
	const struct place *p;

	s->runner = r;
	s->run = xasprintf("%s-%lld-%lld", q->uid, (long long)q->part, (long long)q->generation);
	s->task = q->task ? xstrdup(q->task) : NULL;
	s->index = q->index;
	s->tail_lines = q->tail_lines;
	s->follow = q->follow;
	s->data = data;
	s->ended = ended;
	s->arg = arg;
	s->timer = timer_create_in(r->env, look_again, s);
	list_push_back(&r->logs, &s->node);
	p = find_place(s);
	if (!p || (!q->follow && !p->pod)) {
		error_set(err, ERR_NOT_FOUND, "there is no pod %lld of task \"%s\" here",
			  (long long)q->index, q->task ? q->task : "");
		stream_free(s);
		return NULL;
	}
	timer_start(s->timer, 0);
	return s;
}

void runner_log_pause(struct log_stream *s, bool paused)
{
	if (s->call)
		http_call_pause(s->call, paused);
}

void runner_log_cancel(struct log_stream *s)
{
	if (!s)
		return;
	kube_stream_cancel(s->runner->member, s->call);
	stream_free(s);
}

void logs_destroy(struct runner *r)
{
	struct log_stream *s, *tmp;

	list_for_each_safe (s, tmp, &r->logs, node)
		runner_log_cancel(s);
}
