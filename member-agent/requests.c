#include "member-agent/requests.h"

#include <string.h>

#include "base/json.h"
#include "base/lines.h"
#include "base/list.h"
#include "base/log.h"
#include "member-agent/reporter.h"

#define SILENCE_MS 65000 /* the hub writes a line each 20 s */
#define RETRY_MS   1000
#define LINE_LIMIT 65536

/* One answer on its way. */
struct answer {
	struct list_node node;
	struct requests *requests;
	struct http_call *upload;
	struct log_stream *log;
};

struct requests {
	struct agent *agent;
	struct http_call *stream;
	struct timer *timer;
	struct lines lines;
	struct list answers;
};

static void open_stream(struct requests *r);

/* --- answers --- */

static void answer_free(struct answer *answer)
{
	list_remove(&answer->node);
	if (answer->log)
		runner_log_cancel(answer->log);
	free(answer);
}

static void on_log_data(const char *bytes, size_t n, void *arg)
{
	struct answer *answer = arg;

	if (!http_call_send(answer->upload, bytes, n))
		runner_log_pause(answer->log, true);
}

static void on_drain(struct http_call *call, void *arg)
{
	struct answer *answer = arg;

	if (answer->log)
		runner_log_pause(answer->log, false);
}

/* A log that breaks off is cut, not ended: its reader must not take it for whole. */
static void on_log_ended(const struct error *err, void *arg)
{
	struct answer *answer = arg;

	answer->log = NULL;
	if (!err) {
		http_call_send_end(answer->upload);
		return;
	}
	log_debug("requests", "log: %s", err->text);
	kube_stream_cancel(answer->requests->agent->hub, answer->upload);
	answer_free(answer);
}

static void on_uploaded(const struct http_answer *a, void *arg)
{
	answer_free(arg);
}

static void on_refused(const struct kube_answer *a, void *arg)
{
}

static void refuse(struct requests *r, int64_t id, const struct error *err)
{
	auto_xfree char *path =
		xasprintf("/apis/federator.dev/v1alpha1/clusters/%s/answers?id=%lld&error=true",
			  r->agent->settings.name, (long long)id);
	auto_json *tree = json_pack("{ss}", "message", err->text);
	auto_xfree char *body = json_print(tree);

	kube_send(r->agent->hub, &(struct kube_request){.method = "POST",
							.path = path,
							.body = body,
							.done = on_refused,
							.arg = r});
}

static struct http_call *start_upload(struct requests *r, int64_t id, struct answer *answer)
{
	auto_xfree char *path =
		xasprintf("/apis/federator.dev/v1alpha1/clusters/%s/answers?id=%lld",
			  r->agent->settings.name, (long long)id);
	struct http_call_spec spec = {
		.method = "POST",
		.path = path,
		.content_type = "application/octet-stream",
		.stream = true,
		.upload = true,
		.on_done = on_uploaded,
		.on_drain = on_drain,
		.arg = answer,
	};

	return kube_stream(r->agent->hub, &spec);
}

static void answer_log(struct requests *r, int64_t id, const json_t *log)
{
	struct log_request request = {
		.ns = json_str_at(log, "namespace", NULL),
		.uid = json_str_at(log, "uid", NULL),
		.part = json_int_at(log, 0, "part", NULL),
		.generation = json_int_at(log, 0, "generation", NULL),
		.task = json_str_at(log, "task", NULL),
		.index = json_int_at(log, 0, "index", NULL),
		.follow = json_is_true(json_object_get(log, "follow")),
		.tail_lines = json_int_at(log, -1, "tailLines", NULL),
	};
	struct answer *answer = xnew0(struct answer);
	struct error err;

	answer->requests = r;
	list_push_back(&r->answers, &answer->node);
	answer->log =
		runner_log(r->agent->runner, &request, on_log_data, on_log_ended, answer, &err);
	if (answer->log) {
		answer->upload = start_upload(r, id, answer);
		return;
	}
	answer_free(answer);
	refuse(r, id, &err);
}

/* --- questions --- */

static void on_line(const char *line, size_t n, void *arg)
{
	struct requests *r = arg;
	auto_json *tree = json_parse(line, n, NULL, NULL);
	const json_t *log = json_object_get(tree, "log");
	int64_t id = json_int_at(tree, 0, "id", NULL);
	struct error err;

	if (!id)
		return; /* an empty line keeps the connection warm */
	if (log && json_str_at(log, "uid", NULL)) {
		answer_log(r, id, log);
		return;
	}
	error_set(&err, ERR_BAD_REQUEST, "this agent does not know such a request");
	refuse(r, id, &err);
}

static void on_data(struct http_call *call, const char *bytes, size_t n, void *arg)
{
	struct requests *r = arg;

	lines_feed(&r->lines, bytes, n, on_line, r);
}

static void on_done(const struct http_answer *a, void *arg)
{
	struct requests *r = arg;

	r->stream = NULL;
	lines_clear(&r->lines);
	log_debug("requests", "the stream ended: %s", a->status ? "by the hub" : a->err.text);
	/* A hub that began anew knows nothing of the room here. */
	if (r->agent->reporter)
		reporter_changed(r->agent->reporter);
	timer_start(r->timer, agent_pace_ms(r->agent, RETRY_MS));
}

static void on_timer(void *arg)
{
	open_stream(arg);
}

static void open_stream(struct requests *r)
{
	auto_xfree char *path = xasprintf("/apis/federator.dev/v1alpha1/clusters/%s/requests",
					  r->agent->settings.name);
	struct http_call_spec spec = {
		.method = "GET",
		.path = path,
		.accept = "application/json",
		.stream = true,
		.timeout_ms = SILENCE_MS,
		.on_data = on_data,
		.on_done = on_done,
		.arg = r,
	};

	r->stream = kube_stream(r->agent->hub, &spec);
}

struct requests *requests_create(struct agent *a)
{
	struct requests *r = xnew0(struct requests);

	r->agent = a;
	lines_init(&r->lines, LINE_LIMIT);
	r->timer = timer_create_in(a->env, on_timer, r);
	list_init(&r->answers);
	open_stream(r);
	return r;
}

void requests_destroy(struct requests *r)
{
	struct answer *answer, *tmp;

	if (!r)
		return;
	list_for_each_safe (answer, tmp, &r->answers, node) {
		kube_stream_cancel(r->agent->hub, answer->upload);
		answer_free(answer);
	}
	kube_stream_cancel(r->agent->hub, r->stream);
	timer_destroy(r->timer);
	lines_finish(&r->lines);
	free(r);
}
