/*
 * One connection: a socket, its TLS session and its HTTP/1.1 state. All output goes one way: pump
 * until the socket is busy, and again when the write is done.
 */
#include "base/http_server_internal.h"

static struct http_conn *conn_of(void *handle_or_request_data)
{
	return handle_or_request_data;
}

void conn_wake(struct http_conn *c)
{
	struct http_server *s = c->server;

	if (c->state == CONN_CLOSED || list_linked(&c->dirty))
		return;
	list_push_back(&s->dirty, &c->dirty);
	server_settle_soon(s);
}

/* --- the end of it --- */

static void on_closed(uv_handle_t *handle)
{
	struct http_conn *c = conn_of(handle->data);

	http1_finish(&c->h1);
	tls_session_destroy(c->tls);
	strbuf_finish(&c->wire);
	server_conn_gone(c->server);
	free(c);
}

void conn_kill(struct http_conn *c)
{
	if (c->state == CONN_CLOSED)
		return;
	c->state = CONN_CLOSED;
	list_remove(&c->link);
	list_remove(&c->dirty);
	timer_destroy(c->deadline);
	uv_close((uv_handle_t *)&c->tcp, on_closed);
	http1_end_exchange(&c->h1, true);
}

static void on_shutdown(uv_shutdown_t *request, int status)
{
	(void)request;
	(void)status; /* the deadline ends what this could not */
}

/* A socket that is closed while the client still sends loses the answer that is on its way to it:
 * therefore half a close first. */
static void conn_linger(struct http_conn *c)
{
	c->state = CONN_LINGER;
	timer_start(c->deadline, HTTP_LINGER_MS);
	tls_close_notify(c->tls);
}

/* --- output --- */

static void conn_written(struct http_conn *c, int status)
{
	c->writing = false;
	strbuf_finish(&c->wire);
	if (c->state == CONN_CLOSED)
		return;
	if (status < 0) {
		conn_kill(c);
		return;
	}
	http1_sent(&c->h1);
	conn_wake(c);
}

static void on_written(uv_write_t *request, int status)
{
	conn_written(conn_of(request->data), status);
}

/* Record by record, so that OpenSSL's buffer stays small. */
static bool conn_encrypt(struct http_conn *c)
{
	while (c->state == CONN_OPEN && c->wire.size < HTTP_WRITE) {
		size_t n;
		const char *bytes = http1_take(&c->h1, HTTP_RECORD, &n);

		if (!n)
			break;
		if (!tls_write(c->tls, bytes, n))
			return false;
		tls_take(c->tls, &c->wire);
	}
	tls_take(c->tls, &c->wire);
	return true;
}

/* An answer of usual size fits into the socket's buffer. Streams go on in another turn. */
static bool write_at_once(struct http_conn *c)
{
	uv_buf_t buf = uv_buf_init(c->wire.bytes, (unsigned)c->wire.size);
	int n = c->wire.size < HTTP_RECORD ? uv_try_write((uv_stream_t *)&c->tcp, &buf, 1)
					   : UV_EAGAIN;

	if (n > 0)
		strbuf_consume(&c->wire, (size_t)n);
	if (c->wire.size)
		return false;
	conn_written(c, 0);
	return true;
}

static bool conn_pump(struct http_conn *c)
{
	uv_buf_t buf;

	if (c->writing)
		return true;
	if (!conn_encrypt(c))
		return false;
	if (!c->wire.size || write_at_once(c))
		return true;
	buf = uv_buf_init(c->wire.bytes, (unsigned)c->wire.size);
	c->write.data = c;
	if (uv_write(&c->write, (uv_stream_t *)&c->tcp, &buf, 1, on_written) < 0)
		return false;
	c->writing = true;
	return true;
}

/* --- input --- */

static void on_alloc(uv_handle_t *handle, size_t suggested, uv_buf_t *buf);
static void on_read(uv_stream_t *stream, ssize_t n, const uv_buf_t *buf);

/* A linger reads on, for the end of the client's input. */
static bool conn_should_read(const struct http_conn *c)
{
	if (c->eof)
		return false;
	return c->state != CONN_OPEN || http1_wants_more(&c->h1);
}

static void conn_update_reading(struct http_conn *c)
{
	bool should = conn_should_read(c);

	if (should && !c->reading)
		uv_read_start((uv_stream_t *)&c->tcp, on_alloc, on_read);
	else if (!should && c->reading)
		uv_read_stop((uv_stream_t *)&c->tcp);
	c->reading = should;
}

static void conn_shake_hands(struct http_conn *c)
{
	enum tls_result r = tls_handshake(c->tls);

	if (r == TLS_MORE)
		return;
	if (r == TLS_OK && tls_peer(c->tls, &c->h1.peer, NULL) == 0) {
		c->state = CONN_OPEN;
		c->deadline_phase = PHASE_IDLE;
		timer_start(c->deadline, HTTP_IDLE_MS);
	} else {
		conn_linger(c); /* an alert says why */
	}
}

/* Everything that OpenSSL holds, as long as somebody wants it. */
static void conn_decrypt(struct http_conn *c)
{
	enum tls_result r = TLS_OK;

	c->held = false;
	while (http1_wants_more(&c->h1)) {
		char plain[HTTP_RECORD];
		size_t n;

		r = tls_read(c->tls, plain, sizeof(plain), &n);
		if (r != TLS_OK)
			break;
		http1_feed(&c->h1, plain, n);
	}
	c->held = r == TLS_OK;
	if (r == TLS_CLOSED || (r == TLS_MORE && c->eof))
		http1_eof(&c->h1);
	else if (r == TLS_FAILED)
		c->h1.cut = true;
}

static void conn_input(struct http_conn *c, const char *bytes, size_t n)
{
	tls_feed(c->tls, bytes, n);
	if (c->state == CONN_HANDSHAKE)
		conn_shake_hands(c);
	if (c->state == CONN_OPEN)
		conn_decrypt(c);
	if (c->deadline_phase == PHASE_BODY)
		timer_start(c->deadline, HTTP_BODY_MS);
	conn_update_reading(c);
	conn_wake(c);
}

/* Nothing more will come, which only matters once what has come is used up. */
static void conn_end_of_input(struct http_conn *c)
{
	c->eof = true;
	if (c->state == CONN_OPEN) {
		conn_decrypt(c);
		conn_wake(c);
	} else {
		conn_kill(c);
	}
}

static void conn_read(struct http_conn *c, ssize_t n, const char *bytes)
{
	if (n < 0 && n != UV_EOF)
		conn_kill(c);
	else if (n == UV_EOF)
		conn_end_of_input(c);
	else if (n > 0 && c->state != CONN_LINGER)
		conn_input(c, bytes, (size_t)n);
}

static void on_alloc(uv_handle_t *handle, size_t suggested, uv_buf_t *buf)
{
	*buf = uv_buf_init(conn_of(handle->data)->server->read_buffer, SERVER_READ_BUFFER);
}

static void on_read(uv_stream_t *stream, ssize_t n, const uv_buf_t *buf)
{
	conn_read(conn_of(stream->data), n, buf->base);
}

/* --- deadlines --- */

static const int64_t phase_ms[] = {
	[PHASE_IDLE] = HTTP_IDLE_MS,
	[PHASE_HEAD] = HTTP_HEAD_MS,
	[PHASE_BODY] = HTTP_BODY_MS,
};

static void conn_timeout(struct http_conn *c)
{
	if (c->state == CONN_OPEN)
		http1_timeout(&c->h1);
	else
		conn_kill(c);
}

static void on_deadline(void *arg)
{
	conn_timeout(conn_of(arg));
}

static void conn_update_deadline(struct http_conn *c)
{
	enum http1_phase phase = http1_phase(&c->h1);

	if (phase == c->deadline_phase)
		return;
	c->deadline_phase = phase;
	if (phase == PHASE_BUSY)
		timer_stop(c->deadline);
	else
		timer_start(c->deadline, phase_ms[phase]);
}

/* --- the one place where states change --- */

static void settle_open(struct http_conn *c)
{
	http1_run(&c->h1);
	if (c->held)
		conn_decrypt(c);
	if (http1_lost(&c->h1))
		conn_kill(c);
	else if (http1_at_end(&c->h1) && !c->writing)
		conn_linger(c);
	else
		conn_update_deadline(c);
}

/* When the last bytes have been handed to the kernel. */
static void settle_linger(struct http_conn *c)
{
	if (c->writing || c->shutdown.data)
		return;
	c->shutdown.data = c;
	if (c->server->draining ||
	    uv_shutdown(&c->shutdown, (uv_stream_t *)&c->tcp, on_shutdown) < 0)
		conn_kill(c);
}

void conn_settle(struct http_conn *c)
{
	if (c->state == CONN_HANDSHAKE && c->server->draining)
		conn_kill(c);
	if (c->state == CONN_OPEN)
		settle_open(c);
	if (c->state == CONN_CLOSED)
		return;
	if (!conn_pump(c)) {
		conn_kill(c);
		return;
	}
	if (c->state == CONN_LINGER)
		settle_linger(c);
	if (c->state != CONN_CLOSED)
		conn_update_reading(c);
}

/* --- the beginning --- */

static void wake_below(void *below)
{
	conn_wake(below);
}

static struct http_conn *conn_create(struct http_server *s)
{
	struct http_conn *c = xnew0(struct http_conn);

	c->server = s;
	c->tls = tls_session_create(s->tls);
	c->h1_config = s->h1;
	c->h1_config.wake = wake_below;
	c->h1_config.below = c;
	http1_init(&c->h1, &c->h1_config);
	uv_tcp_init(loop_uv(s->loop), &c->tcp);
	c->tcp.data = c;
	c->deadline = timer_create_in(loop_env(s->loop), on_deadline, c);
	timer_start(c->deadline, HTTP_HANDSHAKE_MS);
	list_push_back(&s->conns, &c->link);
	s->n_conns++;
	s->open_handles++;
	return c;
}

void conn_accept(struct http_server *s)
{
	struct http_conn *c = conn_create(s);

	/* Above the limit the client sees a closed connection: it has not even been greeted. */
	if (uv_accept((uv_stream_t *)&s->listener, (uv_stream_t *)&c->tcp) < 0 ||
	    s->n_conns > HTTP_MAX_CONNS)
		conn_kill(c);
	else
		conn_wake(c);
}
