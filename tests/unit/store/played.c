#include "tests/unit/store/played.h"

void say_status(struct grpc_stream *t, const struct reply *r)
{
	grpc_stream_fail(t, r->status, r->text);
}

void cut(struct grpc_stream *t, const struct reply *r)
{
	grpc_peer_cut(grpc_stream_peer(t));
}

void refuse(struct grpc_stream *t, const struct reply *r)
{
	grpc_stream_reset(t, NGHTTP2_REFUSED_STREAM);
}

void break_off(struct grpc_stream *t, const struct reply *r)
{
	grpc_stream_reset(t, NGHTTP2_INTERNAL_ERROR);
}

void go_before_it(struct grpc_stream *t, const struct reply *r)
{
	grpc_peer_goaway(grpc_stream_peer(t), 0);
}

void go_behind_it(struct grpc_stream *t, const struct reply *r)
{
	grpc_peer_goaway(grpc_stream_peer(t), grpc_stream_id(t));
	cut(t, r);
}

static void answer(struct grpc_stream *t, struct reply *r, struct strbuf *usual)
{
	if (r->say)
		r->say(t, r);
	else
		grpc_stream_answer(t, usual->bytes, usual->size);
	strbuf_finish(&r->message);
}

static void take_watch(struct played *s, struct grpc_stream *t, const struct grpc_request *request)
{
	struct sv message = {request->message, request->size}, create = message_part(message, 1);

	cr_assert_lt(s->n_watches, PLAYED_CALLS);
	strbuf_add(&s->asked[s->n_watches], create.p, create.n);
	s->watch_connection[s->n_watches] = request->connection;
	s->watch[s->n_watches++] = t;
	grpc_stream_begin(t);
}

static void on_request(struct grpc_stream *t, const struct grpc_request *request, void *arg)
{
	struct played *s = arg;
	auto_strbuf usual = {0};

	free(s->last_head);
	s->last_head = xstrdup(request->head);
	strbuf_clear(&s->last_message);
	strbuf_add(&s->last_message, request->message, request->size);
	if (!strcmp(request->method, "/etcdserverpb.Watch/Watch")) {
		take_watch(s, t, request);
	} else if (!strcmp(request->method, "/etcdserverpb.KV/Txn")) {
		cr_assert_lt(s->n_txns, PLAYED_CALLS);
		say_txn(&usual, 9, 1);
		answer(t, &s->txn[s->n_txns++], &usual);
	} else if (!strcmp(request->method, "/etcdserverpb.KV/Range")) {
		cr_assert_lt(s->n_ranges, PLAYED_CALLS);
		say_range(&usual, s->revision, false, NULL, 0);
		answer(t, &s->range[s->n_ranges++], &usual);
	} else {
		cr_assert_fail("%s", request->method);
	}
}

static void on_gone(struct grpc_stream *t, void *arg)
{
	struct played *s = arg;

	s->n_gone++;
}

struct grpc_server *played_serve(struct played *s)
{
	const struct grpc_server_config config = {
		.on_request = on_request, .on_gone = on_gone, .arg = s};

	return grpc_server_create(s->bed.loop, &config);
}

void played_connect(struct played *s, const char *endpoints)
{
	const struct store_etcd_config config = {.endpoints = endpoints};

	store_destroy(s->bed.store);
	s->bed.store = store_etcd_create(s->bed.loop, &config, NULL);
}

void played_init(struct played *s)
{
	*s = (struct played){.bed = {.loop = loop_create()}, .revision = 9};
	s->server = played_serve(s);
	played_connect(s, grpc_server_url(s->server));
}

void played_finish(struct played *s)
{
	store_destroy(s->bed.store);
	if (s->server)
		grpc_server_destroy(s->server);
	loop_destroy(s->bed.loop);
	for (int i = 0; i < s->n_watches; i++)
		strbuf_finish(&s->asked[i]);
	strbuf_finish(&s->last_message);
	free(s->last_head);
}

struct watch_goal {
	struct played *played;
	int n;
};

static bool has_watches(void *arg)
{
	struct watch_goal *g = arg;

	return g->played->n_watches >= g->n;
}

void await_watches(struct played *s, int n)
{
	struct watch_goal g = {s, n};

	bed_wait(&s->bed, has_watches, &g);
}

int64_t asked(const struct played *s, int watch, unsigned field)
{
	const struct strbuf *create = &s->asked[watch - 1];

	return message_number((struct sv){create->bytes, create->size}, field);
}

int64_t last_asked(const struct played *s, unsigned field)
{
	return message_number((struct sv){s->last_message.bytes, s->last_message.size}, field);
}

void assert_record(const struct record *r, const char *key, const char *value, int64_t version)
{
	cr_assert_str_eq(r->key, key);
	cr_assert_eq(r->deleted, !value);
	cr_assert(r->deleted || !strcmp(r->value, value), "%s", r->value);
	cr_assert_eq(r->version, version, "%s: %lld", key, (long long)r->version);
}
