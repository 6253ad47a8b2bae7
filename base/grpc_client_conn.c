/*
 * One connection: the addresses of a name one after the other, a socket, TLS where it is asked for.
 * All output goes one way: pump until the socket is busy, and again when the write is done.
 */
#include <netinet/tcp.h>
#include <string.h>

#include "base/grpc_client_internal.h"

#define READ_BUFFER  65536
#define USER_TIMEOUT 20000 /* ms of unanswered bytes until a link is dead */
#define KEEPALIVE_S  15    /* of silence; then probes, 1 s apart, until USER_TIMEOUT */
#define ADDRESS_MS   1000  /* for an address behind which there is another */

enum conn_state {
	CONN_CONNECTING,
	CONN_HANDSHAKE,
	CONN_OPEN,
	CONN_FAILED, /* its calls are told */
	CONN_CLOSED, /* waits for libuv */
};

struct grpc_conn {
	struct list_node link;
	struct grpc_client *client;
	enum conn_state state;
	struct grpc_session session;
	struct tls_session *tls; /* NULL: cleartext */
	uv_getaddrinfo_t resolve;
	struct addrinfo *addresses, *next; /* next: to be tried */
	uv_tcp_t tcp;
	uv_connect_t connect;
	uv_write_t write;
	bool has_socket, writing;
	bool soon;              /* it is visited when the loop turns */
	bool doomed;            /* and fails then */
	struct strbuf wire;     /* what is on its way to the socket */
	struct timer *deadline; /* of connecting, step by step */
	struct error trouble;   /* the last, for the calls when there is no more to try */
	unsigned pending;       /* what the loop still has of it */
	char room[READ_BUFFER];
};

static struct grpc_conn *conn_of(void *data)
{
	return data;
}

/* --- the end --- */

static void conn_free_when_done(struct grpc_conn *conn)
{
	if (conn->state != CONN_CLOSED || conn->pending)
		return;
	session_finish(&conn->session);
	tls_session_destroy(conn->tls);
	uv_freeaddrinfo(conn->addresses);
	strbuf_finish(&conn->wire);
	free(conn);
}

static void on_socket_closed(uv_handle_t *handle)
{
	struct grpc_conn *conn = conn_of(handle->data);

	conn->pending--;
	conn_free_when_done(conn);
}

static void socket_close(struct grpc_conn *conn, uv_close_cb done)
{
	conn->has_socket = false;
	uv_close((uv_handle_t *)&conn->tcp, done);
}

static void forget_current(struct grpc_conn *conn)
{
	for (size_t i = 0; i < ARRAY_LEN(conn->client->current); i++)
		if (conn->client->current[i] == conn)
			conn->client->current[i] = NULL;
}

static void conn_fail(struct grpc_conn *conn, const char *why);

static void on_soon(void *arg)
{
	struct grpc_conn *conn = conn_of(arg);

	conn->soon = false;
	conn->pending--;
	if (conn->state == CONN_CLOSED)
		conn_free_when_done(conn);
	else if (conn->doomed)
		conn_fail(conn, conn->trouble.text);
	else
		session_deliver(&conn->session);
}

/* What must not be done by those functions that are on the stack: they may be its own, or of a
 * caller who is not to be called back. */
static void conn_visit_soon(struct grpc_conn *conn)
{
	if (conn->soon)
		return;
	conn->soon = true;
	conn->pending++;
	loop_defer(conn->client->loop, on_soon, conn);
}

void conn_close(struct grpc_conn *conn)
{
	struct list_node *node;

	if (conn->state == CONN_CLOSED)
		return;
	conn->state = CONN_CLOSED;
	while ((node = list_first(&conn->session.calls)))
		grpc_call_cancel(list_entry(node, struct grpc_call, link));
	forget_current(conn);
	list_remove(&conn->link);
	timer_destroy(conn->deadline);
	uv_cancel((uv_req_t *)&conn->resolve);
	if (conn->has_socket)
		socket_close(conn, on_socket_closed);
	conn_visit_soon(conn);
}

static void conn_fail(struct grpc_conn *conn, const char *why)
{
	if (conn->state >= CONN_FAILED)
		return;
	conn->state = CONN_FAILED;
	session_fail(&conn->session, why);
	conn_close(conn);
}

static void conn_fail_soon(struct grpc_conn *conn, const char *why)
{
	if (conn->doomed)
		return;
	conn->doomed = conn->session.retired = true;
	error_set(&conn->trouble, ERR_UNREACHABLE, "%s", why);
	conn_visit_soon(conn);
}

static void attempt_failed(struct grpc_conn *conn, int status);

/* Why an address did not answer says more than that the time is over. */
static void on_deadline(void *arg)
{
	struct grpc_conn *conn = conn_of(arg);

	if (conn->state == CONN_CONNECTING && conn->has_socket && conn->next) {
		attempt_failed(conn, UV_ETIMEDOUT);
		return;
	}
	if (!conn->trouble.text[0])
		error_set(&conn->trouble, ERR_UNREACHABLE, "no connection within %d s",
			  GRPC_CONNECT_MS / 1000);
	conn_fail(conn, conn->trouble.text);
}

/* --- output --- */

static void conn_pump(struct grpc_conn *conn);

static void on_written(uv_write_t *request, int status)
{
	struct grpc_conn *conn = conn_of(request->data);

	conn->writing = false;
	strbuf_finish(&conn->wire);
	if (status < 0)
		conn_fail(conn, "the connection broke off");
	else
		conn_pump(conn);
}

static bool take_encrypted(struct grpc_conn *conn)
{
	auto_strbuf plain = {0};

	if (conn->state == CONN_OPEN)
		session_take(&conn->session, GRPC_WRITE, &plain);
	if (plain.size && !tls_write(conn->tls, plain.bytes, plain.size))
		return false;
	tls_take(conn->tls, &conn->wire);
	return true;
}

/* To wire, which is empty; false when nothing can be sent any more. */
static bool conn_take(struct grpc_conn *conn)
{
	if (conn->tls)
		return take_encrypted(conn);
	if (conn->state == CONN_OPEN)
		session_take(&conn->session, GRPC_WRITE, &conn->wire);
	return true;
}

/* What is small fits into the socket's buffer. */
static void write_at_once(struct grpc_conn *conn)
{
	uv_buf_t buf = uv_buf_init(conn->wire.bytes, (unsigned)conn->wire.size);
	int n = uv_try_write((uv_stream_t *)&conn->tcp, &buf, 1);

	if (n > 0)
		strbuf_consume(&conn->wire, (size_t)n);
}

static void write_rest(struct grpc_conn *conn)
{
	uv_buf_t buf = uv_buf_init(conn->wire.bytes, (unsigned)conn->wire.size);

	conn->write.data = conn;
	if (uv_write(&conn->write, (uv_stream_t *)&conn->tcp, &buf, 1, on_written) < 0)
		conn_fail_soon(conn, "the connection broke off");
	else
		conn->writing = true;
}

static void conn_write(struct grpc_conn *conn)
{
	while (!conn->writing && !conn->doomed) {
		if (!conn_take(conn)) {
			conn_fail_soon(conn, "TLS has failed");
			return;
		}
		if (!conn->wire.size)
			return;
		write_at_once(conn);
		if (conn->wire.size)
			write_rest(conn);
	}
}

/* nghttp2 ends a call that makes no sense when it has sent the reset, and a connection when it has
 * sent the GOAWAY; the server may say nothing after it. */
static void conn_pump(struct grpc_conn *conn)
{
	if (conn->state != CONN_HANDSHAKE && conn->state != CONN_OPEN)
		return;
	conn_write(conn);
	if (!list_empty(&conn->session.ready))
		conn_visit_soon(conn);
	if (conn->state == CONN_OPEN && !nghttp2_session_want_read(conn->session.h2) &&
	    !nghttp2_session_want_write(conn->session.h2))
		conn_fail_soon(conn, "what came back is not HTTP/2");
}

static void conn_wake(struct grpc_session *session)
{
	struct grpc_conn *conn = container_of(session, struct grpc_conn, session);

	conn_pump(conn);
	if (session->retired && list_empty(&session->calls) && conn->state != CONN_FAILED)
		conn_close(conn);
}

/* --- input --- */

static void conn_open(struct grpc_conn *conn)
{
	struct grpc_call *call;

	conn->state = CONN_OPEN;
	conn->trouble.text[0] = '\0';
	timer_stop(conn->deadline);
	list_for_each (call, &conn->session.calls, link) {
		session_submit(&conn->session, call);
	}
}

static void conn_shake_hands(struct grpc_conn *conn)
{
	enum tls_result r = tls_handshake(conn->tls);

	if (r == TLS_MORE)
		return;
	if (r != TLS_OK)
		conn_fail(conn, tls_why(conn->tls));
	else if (!tls_agreed(conn->tls, "h2"))
		conn_fail(conn, "the server does not speak HTTP/2");
	else
		conn_open(conn);
}

static void conn_take_plain(struct grpc_conn *conn, const char *bytes, size_t n)
{
	if (session_feed(&conn->session, bytes, n))
		conn_fail(conn, "what came back is not HTTP/2");
}

static void conn_decrypt(struct grpc_conn *conn)
{
	while (conn->state == CONN_OPEN) {
		char plain[16384];
		size_t n;
		enum tls_result r = tls_read(conn->tls, plain, sizeof(plain), &n);

		if (r == TLS_MORE)
			break;
		if (r == TLS_OK)
			conn_take_plain(conn, plain, n);
		else
			conn_fail(conn, r == TLS_CLOSED ? "the connection broke off"
							: tls_why(conn->tls));
	}
}

/* Answers are given before anything is sent: somebody waits for them. */
static void conn_input(struct grpc_conn *conn, const char *bytes, size_t n)
{
	if (conn->tls) {
		tls_feed(conn->tls, bytes, n);
		if (conn->state == CONN_HANDSHAKE)
			conn_shake_hands(conn);
		conn_decrypt(conn);
	} else {
		conn_take_plain(conn, bytes, n);
	}
	session_deliver(&conn->session);
	conn_wake(&conn->session);
}

static void on_alloc(uv_handle_t *handle, size_t suggested, uv_buf_t *buf)
{
	*buf = uv_buf_init(conn_of(handle->data)->room, READ_BUFFER);
}

static void on_read(uv_stream_t *stream, ssize_t n, const uv_buf_t *buf)
{
	struct grpc_conn *conn = conn_of(stream->data);

	if (n > 0)
		conn_input(conn, buf->base, (size_t)n);
	else if (n < 0)
		conn_fail(conn, "the connection broke off");
}

/* --- connecting --- */

static void try_next_address(struct grpc_conn *conn);

static void on_attempt_closed(uv_handle_t *handle)
{
	struct grpc_conn *conn = conn_of(handle->data);

	conn->pending--;
	if (conn->state == CONN_CONNECTING)
		try_next_address(conn);
	else
		conn_free_when_done(conn);
}

static void attempt_failed(struct grpc_conn *conn, int status)
{
	error_set(&conn->trouble, ERR_UNREACHABLE, "%s", strerror(-status));
	socket_close(conn, on_attempt_closed);
}

static void set_options(struct grpc_conn *conn)
{
	int ms = USER_TIMEOUT;
	uv_os_fd_t fd;

	uv_tcp_nodelay(&conn->tcp, 1);
	uv_tcp_keepalive(&conn->tcp, 1, KEEPALIVE_S);
	if (uv_fileno((uv_handle_t *)&conn->tcp, &fd) == 0)
		setsockopt(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &ms, sizeof(ms));
}

static void socket_connected(struct grpc_conn *conn)
{
	set_options(conn);
	timer_start(conn->deadline, GRPC_CONNECT_MS);
	uv_read_start((uv_stream_t *)&conn->tcp, on_alloc, on_read);
	conn->state = CONN_HANDSHAKE;
	if (conn->tls)
		conn_shake_hands(conn);
	else
		conn_open(conn);
	conn_pump(conn);
}

static void on_connected(uv_connect_t *request, int status)
{
	struct grpc_conn *conn = conn_of(request->data);

	if (conn->state != CONN_CONNECTING || !conn->has_socket)
		return;
	if (status < 0)
		attempt_failed(conn, status);
	else
		socket_connected(conn);
}

static void try_next_address(struct grpc_conn *conn)
{
	const struct addrinfo *to = conn->next;
	int r;

	if (!to) {
		conn_fail(conn, conn->trouble.text);
		return;
	}
	conn->next = to->ai_next;
	uv_tcp_init(loop_uv(conn->client->loop), &conn->tcp);
	conn->tcp.data = conn->connect.data = conn;
	conn->has_socket = true;
	conn->pending++;
	timer_start(conn->deadline, conn->next ? ADDRESS_MS : GRPC_CONNECT_MS);
	r = uv_tcp_connect(&conn->connect, &conn->tcp, to->ai_addr, on_connected);
	if (r < 0)
		attempt_failed(conn, r);
}

static void resolve_failed(struct grpc_conn *conn, int status)
{
	error_set(&conn->trouble, ERR_UNREACHABLE, "no address of %s: %s", conn->client->host,
		  uv_strerror(status));
	conn_fail(conn, conn->trouble.text);
}

static void on_resolved(uv_getaddrinfo_t *request, int status, struct addrinfo *addresses)
{
	struct grpc_conn *conn = conn_of(request->data);

	conn->pending--;
	conn->addresses = conn->next = addresses;
	if (conn->state != CONN_CONNECTING)
		conn_free_when_done(conn);
	else if (status < 0)
		resolve_failed(conn, status);
	else
		try_next_address(conn);
}

static void conn_resolve(struct grpc_conn *conn)
{
	const struct addrinfo hints = {.ai_socktype = SOCK_STREAM};
	const struct grpc_client *c = conn->client;
	int r;

	conn->resolve.data = conn;
	r = uv_getaddrinfo(loop_uv(c->loop), &conn->resolve, on_resolved, c->host, c->port, &hints);
	if (r < 0)
		conn_fail_soon(conn, uv_strerror(r));
	else
		conn->pending++;
}

/* --- the beginning --- */

struct grpc_conn *conn_create(struct grpc_client *c)
{
	struct grpc_conn *conn = xnew0(struct grpc_conn);

	conn->client = c;
	session_init(&conn->session);
	conn->session.scheme = c->tls ? "https" : "http";
	conn->session.authority = c->authority;
	conn->session.prefix = c->prefix;
	conn->session.wake = conn_wake;
	if (c->tls)
		conn->tls = tls_session_create_to(c->tls, c->host, "h2");
	conn->deadline = timer_create_in(loop_env(c->loop), on_deadline, conn);
	timer_start(conn->deadline, GRPC_CONNECT_MS);
	list_push_back(&c->conns, &conn->link);
	conn_resolve(conn);
	return conn;
}

struct grpc_conn *conn_at(struct list_node *node)
{
	return list_entry(node, struct grpc_conn, link);
}

struct grpc_session *conn_session(struct grpc_conn *conn)
{
	return &conn->session;
}

void conn_start(struct grpc_conn *conn, struct grpc_call *call)
{
	if (conn->state != CONN_OPEN)
		return; /* when it is */
	session_submit(&conn->session, call);
	conn_pump(conn);
}
