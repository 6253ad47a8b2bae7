#include "tests/unit/grpc_server.h"

#include <arpa/inet.h>
#include <criterion/criterion.h>

#include "base/list.h"

struct grpc_server {
	struct grpc_server_config config;
	uv_tcp_t listener;
	nghttp2_session_callbacks *callbacks;
	struct list peers;
	unsigned n_peers;  /* that ever came */
	unsigned n_closed; /* of them, and the listener */
	bool destroyed;
	char *url;
};

struct grpc_peer {
	struct list_node link;
	struct grpc_server *server;
	unsigned number;
	uv_tcp_t tcp;
	SSL *tls; /* NULL: cleartext */
	nghttp2_session *session;
	struct list streams;
	bool receiving; /* what is to be sent goes together when all that came is worked off */
	bool raw, cut;
	char room[65536];
};

struct grpc_stream {
	struct list_node link;
	struct grpc_peer *peer;
	int32_t id;
	char *method;
	struct strbuf head, in;
	bool due;          /* has come, and is to be handed over */
	struct strbuf out; /* of the answer's body */
	size_t sent;       /* of it */
	bool ended;
	int status; /* of the trailers; -1: none */
	char *text;
};

/* --- the end --- */

static void stream_destroy(struct grpc_stream *t)
{
	const struct grpc_server_config *config = &t->peer->server->config;

	if (!t->ended && config->on_gone && !t->peer->server->destroyed)
		config->on_gone(t, config->arg);
	list_remove(&t->link);
	free(t->method);
	free(t->text);
	strbuf_finish(&t->head);
	strbuf_finish(&t->in);
	strbuf_finish(&t->out);
	free(t);
}

static void handle_closed(struct grpc_server *s)
{
	if (s->n_closed++ < s->n_peers)
		return;
	nghttp2_session_callbacks_del(s->callbacks);
	free(s->url);
	free(s);
}

static void on_peer_closed(uv_handle_t *handle)
{
	struct grpc_peer *p = handle->data;
	struct grpc_server *s = p->server;
	struct list_node *node;

	while ((node = list_first(&p->streams)))
		stream_destroy(list_entry(node, struct grpc_stream, link));
	nghttp2_session_del(p->session);
	SSL_free(p->tls);
	free(p);
	handle_closed(s);
}

static void peer_send(struct grpc_peer *p);

/* What was said before is sent. */
void grpc_peer_cut(struct grpc_peer *p)
{
	if (p->cut)
		return;
	if (p->session)
		peer_send(p);
	p->cut = true;
	list_remove(&p->link);
	uv_close((uv_handle_t *)&p->tcp, on_peer_closed);
}

static void on_listener_closed(uv_handle_t *handle)
{
	handle_closed(handle->data);
}

void grpc_server_destroy(struct grpc_server *s)
{
	struct list_node *node;

	s->destroyed = true;
	while ((node = list_first(&s->peers)))
		grpc_peer_cut(list_entry(node, struct grpc_peer, link));
	uv_close((uv_handle_t *)&s->listener, on_listener_closed);
}

/* --- sending --- */

struct output {
	uv_write_t request;
	struct strbuf bytes;
};

static void on_written(uv_write_t *request, int status)
{
	struct output *out = container_of(request, struct output, request);

	strbuf_finish(&out->bytes);
	free(out);
}

static void socket_write(struct grpc_peer *p, struct strbuf *bytes)
{
	struct output *out = xnew0(struct output);
	uv_buf_t buf = uv_buf_init(bytes->bytes, (unsigned)bytes->size);

	out->bytes = *bytes;
	*bytes = (struct strbuf){0};
	cr_assert_eq(uv_write(&out->request, (uv_stream_t *)&p->tcp, &buf, 1, on_written), 0);
}

/* What OpenSSL has to say. */
static void write_ciphertext(struct grpc_peer *p)
{
	struct strbuf bytes = {0};
	BIO *bio = SSL_get_wbio(p->tls);
	size_t n = BIO_ctrl_pending(bio);

	if (!n)
		return;
	BIO_read(bio, strbuf_extend(&bytes, n), (int)n);
	socket_write(p, &bytes);
}

static void peer_write(struct grpc_peer *p, struct strbuf *bytes)
{
	if (!p->tls) {
		socket_write(p, bytes);
		return;
	}
	cr_assert_eq(SSL_write(p->tls, bytes->bytes, (int)bytes->size), (int)bytes->size);
	write_ciphertext(p);
}

static void peer_send(struct grpc_peer *p)
{
	auto_strbuf out = {0};
	const uint8_t *bytes;
	ssize_t n;

	if (p->raw || p->cut || (p->tls && !SSL_is_init_finished(p->tls)))
		return;
	while ((n = nghttp2_session_mem_send(p->session, &bytes)) > 0)
		strbuf_add(&out, bytes, (size_t)n);
	cr_assert_eq(n, 0, "%s", nghttp2_strerror((int)n));
	if (out.size)
		peer_write(p, &out);
}

static void peer_flush(struct grpc_peer *p)
{
	if (!p->receiving)
		peer_send(p);
}

static nghttp2_nv header(const char *name, const char *value)
{
	return (nghttp2_nv){.name = (uint8_t *)(uintptr_t)name,
			    .value = (uint8_t *)(uintptr_t)value,
			    .namelen = strlen(name),
			    .valuelen = strlen(value)};
}

/* As gRPC does: what is printable stays. */
static char *encode_text(const char *text)
{
	struct strbuf out = {0};

	for (; *text; text++)
		strbuf_addf(&out, *text < ' ' || *text > '~' || *text == '%' ? "%%%02X" : "%c",
			    (unsigned char)*text);
	return strbuf_take(&out);
}

static void submit_trailers(struct grpc_stream *t)
{
	auto_xfree char *status = xasprintf("%d", t->status);
	auto_xfree char *text = encode_text(t->text);
	const nghttp2_nv nv[] = {header("grpc-status", status), header("grpc-message", text)};

	nghttp2_submit_trailer(t->peer->session, t->id, nv, *text ? 2 : 1);
}

static ssize_t on_body_wanted(nghttp2_session *session, int32_t id, uint8_t *buf, size_t size,
			      uint32_t *flags, nghttp2_data_source *source, void *arg)
{
	struct grpc_stream *t = source->ptr;
	size_t left = t->out.size - t->sent, n = left < size ? left : size;

	if (!left && !t->ended)
		return NGHTTP2_ERR_DEFERRED;
	if (n)
		memcpy(buf, t->out.bytes + t->sent, n);
	t->sent += n;
	if (t->ended && n == left) {
		*flags |= NGHTTP2_DATA_FLAG_EOF;
		if (t->status >= 0) {
			*flags |= NGHTTP2_DATA_FLAG_NO_END_STREAM;
			submit_trailers(t);
		}
	}
	return (ssize_t)n;
}

/* The head of an answer whose body follows. */
static void submit_head(struct grpc_stream *t, const char *status, const char *type)
{
	const nghttp2_nv nv[] = {header(":status", status), header("content-type", type)};
	nghttp2_data_provider body = {.source.ptr = t, .read_callback = on_body_wanted};

	cr_assert_eq(nghttp2_submit_response(t->peer->session, t->id, nv, 2, &body), 0);
}

/* --- answers --- */

void grpc_frame(struct strbuf *out, const void *message, size_t n)
{
	uint32_t length = htonl((uint32_t)n);

	strbuf_addc(out, '\0');
	strbuf_add(out, &length, sizeof(length));
	strbuf_add(out, message, n);
}

void grpc_stream_end(struct grpc_stream *t, int status, const char *text)
{
	t->ended = true;
	t->status = status;
	t->text = xstrdup(text);
	nghttp2_session_resume_data(t->peer->session, t->id);
	peer_flush(t->peer);
}

void grpc_stream_answer(struct grpc_stream *t, const void *message, size_t n)
{
	submit_head(t, "200", "application/grpc");
	grpc_frame(&t->out, message, n);
	grpc_stream_end(t, 0, "");
}

void grpc_stream_fail(struct grpc_stream *t, int status, const char *text)
{
	auto_xfree char *number = xasprintf("%d", status);
	auto_xfree char *encoded = encode_text(text);
	const nghttp2_nv nv[] = {header(":status", "200"),
				 header("content-type", "application/grpc"),
				 header("grpc-status", number), header("grpc-message", encoded)};

	t->ended = true;
	cr_assert_eq(nghttp2_submit_response(t->peer->session, t->id, nv, 4, NULL), 0);
	peer_flush(t->peer);
}

void grpc_stream_http(struct grpc_stream *t, const char *status, const char *type, const char *body)
{
	submit_head(t, status, type);
	strbuf_adds(&t->out, body);
	grpc_stream_end(t, -1, "");
}

/* What was said before is sent first: nghttp2 would drop it. A goaway in it may end the stream. */
void grpc_stream_reset(struct grpc_stream *t, nghttp2_error_code code)
{
	struct grpc_peer *p = t->peer;
	int32_t id = t->id;

	peer_send(p);
	t = nghttp2_session_get_stream_user_data(p->session, id);
	if (!t)
		return;
	t->ended = true;
	nghttp2_submit_rst_stream(p->session, NGHTTP2_FLAG_NONE, id, code);
	peer_flush(p);
}

void grpc_stream_begin(struct grpc_stream *t)
{
	submit_head(t, "200", "application/grpc");
	peer_flush(t->peer);
}

void grpc_stream_send_raw(struct grpc_stream *t, const void *bytes, size_t n)
{
	strbuf_add(&t->out, bytes, n);
	nghttp2_session_resume_data(t->peer->session, t->id);
	peer_flush(t->peer);
}

void grpc_stream_send(struct grpc_stream *t, const void *message, size_t n)
{
	auto_strbuf frame = {0};

	grpc_frame(&frame, message, n);
	grpc_stream_send_raw(t, frame.bytes, frame.size);
}

/* --- connections --- */

struct grpc_peer *grpc_stream_peer(struct grpc_stream *t)
{
	return t->peer;
}

int32_t grpc_stream_id(const struct grpc_stream *t)
{
	return t->id;
}

void grpc_peer_goaway(struct grpc_peer *p, int32_t last)
{
	nghttp2_submit_goaway(p->session, NGHTTP2_FLAG_NONE, last, NGHTTP2_NO_ERROR, NULL, 0);
	peer_flush(p);
}

void grpc_peer_say(struct grpc_peer *p, const void *bytes, size_t n)
{
	auto_strbuf copy = {0};

	p->raw = true;
	strbuf_add(&copy, bytes, n);
	peer_write(p, &copy);
}

void grpc_peer_stop_reading(struct grpc_peer *p)
{
	uv_read_stop((uv_stream_t *)&p->tcp);
}

/* --- requests --- */

static int on_begin_headers(nghttp2_session *session, const nghttp2_frame *frame, void *arg)
{
	struct grpc_peer *p = arg;
	struct grpc_stream *t = xnew0(struct grpc_stream);

	t->peer = p;
	t->id = frame->hd.stream_id;
	list_push_back(&p->streams, &t->link);
	nghttp2_session_set_stream_user_data(session, t->id, t);
	return 0;
}

static int on_header(nghttp2_session *session, const nghttp2_frame *frame, const uint8_t *name,
		     size_t name_size, const uint8_t *value, size_t value_size, uint8_t flags,
		     void *arg)
{
	struct grpc_stream *t = nghttp2_session_get_stream_user_data(session, frame->hd.stream_id);

	strbuf_addf(&t->head, "%s: %s\n", name, value);
	if (!strcmp((const char *)name, ":path"))
		t->method = xstrdup((const char *)value);
	return 0;
}

static int on_data(nghttp2_session *session, uint8_t flags, int32_t id, const uint8_t *bytes,
		   size_t n, void *arg)
{
	struct grpc_stream *t = nghttp2_session_get_stream_user_data(session, id);

	strbuf_add(&t->in, bytes, n);
	return 0;
}

static void take_message(const struct grpc_stream *t, struct grpc_request *request)
{
	uint32_t length;

	cr_assert(t->in.size >= 5 && !t->in.bytes[0], "%zu bytes are no frame", t->in.size);
	memcpy(&length, t->in.bytes + 1, sizeof(length));
	cr_assert_eq(ntohl(length), t->in.size - 5, "one message and nothing else");
	request->message = t->in.bytes + 5;
	request->size = t->in.size - 5;
}

static void stream_take_request(struct grpc_stream *t)
{
	const struct grpc_server_config *config = &t->peer->server->config;
	struct grpc_request request = {.method = t->method,
				       .head = t->head.bytes,
				       .message = "",
				       .connection = t->peer->number};

	if (!config->early)
		take_message(t, &request);
	if (config->on_request)
		config->on_request(t, &request, config->arg);
}

/* The frame that a request waits for before it is handed over. */
static bool completes_request(const struct grpc_server_config *config, const nghttp2_frame_hd *hd)
{
	if (config->early)
		return hd->type == NGHTTP2_HEADERS;
	return hd->type == NGHTTP2_DATA && hd->flags & NGHTTP2_FLAG_END_STREAM;
}

static int on_frame(nghttp2_session *session, const nghttp2_frame *frame, void *arg)
{
	struct grpc_peer *p = arg;
	struct grpc_stream *t;

	if (!completes_request(&p->server->config, &frame->hd))
		return 0;
	t = nghttp2_session_get_stream_user_data(session, frame->hd.stream_id);
	if (t)
		t->due = true;
	return 0;
}

static int on_stream_over(nghttp2_session *session, int32_t id, uint32_t code, void *arg)
{
	struct grpc_stream *t = nghttp2_session_get_stream_user_data(session, id);

	if (t)
		stream_destroy(t);
	return 0;
}

static void on_alloc(uv_handle_t *handle, size_t wanted, uv_buf_t *buf)
{
	struct grpc_peer *p = handle->data;

	*buf = uv_buf_init(p->room, sizeof(p->room));
}

static struct grpc_stream *first_due(const struct grpc_peer *p)
{
	struct grpc_stream *t;

	list_for_each (t, &p->streams, link) {
		if (t->due)
			return t;
	}
	return NULL;
}

/* Outside of nghttp2, so that a script can send, cut and reset. */
static void peer_hand_over(struct grpc_peer *p)
{
	struct grpc_stream *t;

	while (!p->cut && !p->raw && (t = first_due(p))) {
		t->due = false;
		stream_take_request(t);
	}
}

static void peer_receive(struct grpc_peer *p, const char *bytes, size_t n)
{
	ssize_t used;

	if (p->raw)
		return;
	p->receiving = true;
	used = nghttp2_session_mem_recv(p->session, (const uint8_t *)bytes, n);
	cr_assert(used == (ssize_t)n, "%s", nghttp2_strerror((int)used));
	peer_hand_over(p);
	p->receiving = false;
	peer_flush(p);
}

static void peer_decrypt(struct grpc_peer *p, const char *bytes, size_t n)
{
	char plain[16384];
	int got;

	BIO_write(SSL_get_rbio(p->tls), bytes, (int)n);
	while (!p->cut && (got = SSL_read(p->tls, plain, sizeof(plain))) > 0)
		peer_receive(p, plain, (size_t)got);
	if (p->cut)
		return;
	write_ciphertext(p);
	peer_flush(p);
}

static void on_read(uv_stream_t *handle, ssize_t n, const uv_buf_t *buf)
{
	struct grpc_peer *p = handle->data;

	if (n < 0)
		grpc_peer_cut(p);
	else if (p->tls)
		peer_decrypt(p, buf->base, (size_t)n);
	else
		peer_receive(p, buf->base, (size_t)n);
}

/* --- the beginning --- */

static void peer_greet(struct grpc_peer *p)
{
	const struct grpc_server_config *config = &p->server->config;
	const nghttp2_settings_entry settings[] = {
		{NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS,
		 config->max_streams ? config->max_streams : 1000},
		{NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, config->window ? config->window : 65535}};

	nghttp2_session_server_new(&p->session, p->server->callbacks, p);
	nghttp2_submit_settings(p->session, NGHTTP2_FLAG_NONE, settings, 2);
	peer_flush(p);
}

static void peer_encrypt(struct grpc_peer *p)
{
	p->tls = SSL_new(p->server->config.tls);
	SSL_set_bio(p->tls, BIO_new(BIO_s_mem()), BIO_new(BIO_s_mem()));
	SSL_set_accept_state(p->tls);
}

static void on_connection(uv_stream_t *listener, int status)
{
	struct grpc_server *s = listener->data;
	struct grpc_peer *p = xnew0(struct grpc_peer);

	p->server = s;
	p->number = ++s->n_peers;
	list_init(&p->streams);
	list_push_back(&s->peers, &p->link);
	uv_tcp_init(listener->loop, &p->tcp);
	p->tcp.data = p;
	cr_assert_eq(uv_accept(listener, (uv_stream_t *)&p->tcp), 0);
	uv_tcp_nodelay(&p->tcp, 1);
	uv_read_start((uv_stream_t *)&p->tcp, on_alloc, on_read);
	if (s->config.tls)
		peer_encrypt(p);
	if (s->config.on_connection)
		s->config.on_connection(p, s->config.arg);
	if (!p->cut)
		peer_greet(p);
}

static nghttp2_session_callbacks *make_callbacks(void)
{
	nghttp2_session_callbacks *c;

	nghttp2_session_callbacks_new(&c);
	nghttp2_session_callbacks_set_on_begin_headers_callback(c, on_begin_headers);
	nghttp2_session_callbacks_set_on_header_callback(c, on_header);
	nghttp2_session_callbacks_set_on_data_chunk_recv_callback(c, on_data);
	nghttp2_session_callbacks_set_on_frame_recv_callback(c, on_frame);
	nghttp2_session_callbacks_set_on_stream_close_callback(c, on_stream_over);
	return c;
}

struct grpc_server *grpc_server_create(struct loop *loop, const struct grpc_server_config *config)
{
	struct grpc_server *s = xnew0(struct grpc_server);
	struct sockaddr_in at;
	int size = sizeof(at);

	s->config = *config;
	s->callbacks = make_callbacks();
	list_init(&s->peers);
	uv_tcp_init(loop_uv(loop), &s->listener);
	s->listener.data = s;
	uv_ip4_addr("127.0.0.1", 0, &at);
	uv_tcp_bind(&s->listener, (const struct sockaddr *)&at, 0);
	cr_assert_eq(uv_listen((uv_stream_t *)&s->listener, 64, on_connection), 0);
	uv_tcp_getsockname(&s->listener, (struct sockaddr *)&at, &size);
	s->url = xasprintf("http%s://127.0.0.1:%d", config->tls ? "s" : "", ntohs(at.sin_port));
	return s;
}

const char *grpc_server_url(const struct grpc_server *s)
{
	return s->url;
}

unsigned grpc_server_connections(const struct grpc_server *s)
{
	return s->n_peers;
}
