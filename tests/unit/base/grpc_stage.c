#include "grpc_stage.h"

#define PATIENCE_MS 20000

static void on_request(struct grpc_stream *t, const struct grpc_request *r, void *arg)
{
	struct stage *s = arg;

	free(s->method);
	free(s->head);
	s->method = xstrdup(r->method);
	s->head = xstrdup(r->head);
	s->peer = grpc_stream_peer(t);
	if (s->script) {
		s->script(s, t, r);
		return;
	}
	cr_assert_lt(s->n_held, STAGE_REQUESTS);
	s->connection_of[s->n_held] = r->connection;
	s->held[s->n_held++] = t;
}

static void on_gone(struct grpc_stream *t, void *arg)
{
	struct stage *s = arg;

	s->n_gone++;
}

static void on_patience(void *arg)
{
	struct stage *s = arg;

	s->in_vain = true;
}

void stage_connect(struct stage *s, const struct grpc_client_config *config)
{
	struct error err;

	grpc_client_destroy(s->client);
	s->client = grpc_client_create(s->loop, config, &err);
	cr_assert_not_null(s->client, "%s", err.text);
}

void stage_init(struct stage *s, struct grpc_server_config config)
{
	*s = (struct stage){.loop = loop_create()};
	s->patience = timer_create_in(loop_env(s->loop), on_patience, s);
	config.on_request = on_request;
	config.on_gone = on_gone;
	config.arg = s;
	s->server = grpc_server_create(s->loop, &config);
	stage_connect(s, &(struct grpc_client_config){.url = grpc_server_url(s->server)});
}

void stage_finish(struct stage *s)
{
	grpc_client_destroy(s->client);
	if (s->server)
		grpc_server_destroy(s->server);
	timer_destroy(s->patience);
	loop_destroy(s->loop);
	free(s->method);
	free(s->head);
}

void stage_await(struct stage *s, const unsigned *count, unsigned n)
{
	s->in_vain = false;
	timer_start(s->patience, PATIENCE_MS);
	while (*count < n && !s->in_vain)
		uv_run(loop_uv(s->loop), UV_RUN_ONCE);
	timer_stop(s->patience);
	cr_assert_geq(*count, n, "waited %d ms in vain", PATIENCE_MS);
}

void stage_turn(struct stage *s, int64_t ms)
{
	s->in_vain = false;
	timer_start(s->patience, ms);
	while (!s->in_vain)
		uv_run(loop_uv(s->loop), UV_RUN_ONCE);
}

void stage_answer(struct stage *s, unsigned i)
{
	auto_xfree char *text = xasprintf("answer %u", i);

	grpc_stream_answer(s->held[i], text, strlen(text));
}

/* --- calls --- */

static void on_message(struct grpc_call *call, const void *message, size_t n, void *arg)
{
	struct told *o = arg;

	cr_assert_eq(o->dones, 0, "a message behind the end");
	o->messages++;
	grpc_frame(&o->stream, message, n);
}

static void on_done(const struct grpc_answer *answer, void *arg)
{
	struct told *o = arg;

	cr_assert_eq(o->dones, 0, "ended twice");
	o->dones++;
	o->answer = *answer;
	if (answer->status > 0)
		o->text = xstrdup(answer->text);
	if (answer->status == 0)
		strbuf_add(&o->message, answer->message, answer->size);
}

struct grpc_call *stage_start(struct stage *s, struct grpc_call_spec spec, struct told *o)
{
	struct grpc_call *call;

	*o = (struct told){0};
	if (!spec.method)
		spec.method = "/test.Service/Call";
	if (!spec.message) {
		spec.message = "request";
		spec.size = 7;
	}
	if (spec.stream && !spec.on_message)
		spec.on_message = on_message;
	if (!spec.on_done)
		spec.on_done = on_done;
	if (!spec.arg)
		spec.arg = o;
	call = grpc_call_start(s->client, &spec);
	cr_assert(!o->dones && !o->messages, "called back from inside the start");
	return call;
}

void told_finish(struct told *o)
{
	free(o->text);
	strbuf_finish(&o->message);
	strbuf_finish(&o->stream);
}

void stage_call(struct stage *s, struct grpc_call_spec spec, struct told *o)
{
	stage_start(s, spec, o);
	stage_await(s, &o->dones, 1);
}

void expect_message(const struct told *o, const char *message)
{
	cr_expect_eq(o->answer.status, GRPC_OK, "%d %s", o->answer.status, o->answer.err.text);
	cr_expect_str_eq(strbuf_str(&o->message), message);
}

void expect_error(const struct told *o, enum error_code code, const char *part)
{
	cr_expect_eq(o->answer.status, -1, "status %d", o->answer.status);
	if (o->answer.status != -1)
		return;
	cr_expect_eq(o->answer.err.code, code, "%s: %s", error_reason(o->answer.err.code),
		     o->answer.err.text);
	cr_expect(strcasestr(o->answer.err.text, part), "no \"%s\": %s", part, o->answer.err.text);
}

void stage_echo(struct stage *s, struct grpc_stream *t, const struct grpc_request *r)
{
	grpc_stream_answer(t, r->message, r->size);
}

void stage_serve(struct stage *s)
{
	struct told o;

	s->script = stage_echo;
	stage_call(s, (struct grpc_call_spec){0}, &o);
	expect_message(&o, "request");
	s->script = NULL;
	told_finish(&o);
}
