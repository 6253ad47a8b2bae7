/* The server: listens, keeps its connections, and settles those that something happened to. */
#include "base/http_server.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/http_server_internal.h"

#define BACKLOG 1024

/* --- settling --- */

static void server_settle(struct http_server *s)
{
	struct list_node *node;

	/* Before the stop: the handles must run again for those that are woken from now on. */
	while ((node = list_first(&s->dirty)) != NULL) {
		struct http_conn *c = list_entry(node, struct http_conn, dirty);

		list_remove(&c->dirty);
		conn_settle(c);
	}
	uv_idle_stop(&s->idle);
	uv_check_stop(&s->check);
}

static void on_idle(uv_idle_t *idle)
{
	server_settle(idle->data);
}

static void on_check(uv_check_t *check)
{
	server_settle(check->data);
}

/* What input has brought about goes out at once (check), before the loop turns to work that was put
 * off; what that brings about, before the loop waits (idle). */
void server_settle_soon(struct http_server *s)
{
	if (uv_is_closing((uv_handle_t *)&s->idle))
		return;
	uv_idle_start(&s->idle, on_idle);
	uv_check_start(&s->check, on_check);
}

/* --- end --- */

static void server_free(struct http_server *s)
{
	void (*done)(void *arg) = s->done;
	void *arg = s->done_arg;

	tls_context_destroy(s->tls);
	free(s->read_buffer);
	free(s);
	if (done)
		done(arg);
}

static void server_handle_gone(struct http_server *s)
{
	if (!--s->open_handles)
		server_free(s);
}

static void on_handle_closed(uv_handle_t *handle)
{
	server_handle_gone(handle->data);
}

/* Idle and check serve the connections, so they go when the last of those has gone. */
static void server_finish_if_empty(struct http_server *s)
{
	if (!s->draining || s->n_conns || uv_is_closing((uv_handle_t *)&s->idle))
		return;
	timer_destroy(s->drain);
	s->drain = NULL;
	uv_close((uv_handle_t *)&s->idle, on_handle_closed);
	uv_close((uv_handle_t *)&s->check, on_handle_closed);
}

void server_conn_gone(struct http_server *s)
{
	s->n_conns--;
	server_finish_if_empty(s);
	server_handle_gone(s);
}

static void server_kill_all(struct http_server *s)
{
	struct list_node *node;

	while ((node = list_first(&s->conns)) != NULL)
		conn_kill(list_entry(node, struct http_conn, link));
}

static void on_drain_over(void *arg)
{
	server_kill_all(arg);
}

static void wake_all(struct http_server *s)
{
	struct http_conn *c;

	list_for_each (c, &s->conns, link)
		conn_wake(c);
}

void http_server_destroy(struct http_server *s, int64_t drain_ms, void (*done)(void *arg),
			 void *arg)
{
	assert(!s->draining);
	s->draining = true;
	s->done = done;
	s->done_arg = arg;
	s->drain = timer_create_in(loop_env(s->loop), on_drain_over, s);
	timer_start(s->drain, drain_ms);
	uv_close((uv_handle_t *)&s->listener, on_handle_closed);
	wake_all(s);
	server_finish_if_empty(s);
}

/* --- beginning --- */

static void on_connection(uv_stream_t *listener, int status)
{
	if (status == 0)
		conn_accept(listener->data);
}

static int parse_address(const struct http_server_config *config, struct sockaddr_storage *ret)
{
	if (uv_ip4_addr(config->host, config->port, (struct sockaddr_in *)ret) == 0)
		return 0;
	return uv_ip6_addr(config->host, config->port, (struct sockaddr_in6 *)ret);
}

/* Accepted sockets inherit these. A client whose machine is gone is found within 35 s of silence.
 */
static void set_socket_options(int fd)
{
	static const struct {
		int level, name, value;
	} options[] = {
		{SOL_SOCKET, SO_REUSEADDR, 1},   {SOL_SOCKET, SO_KEEPALIVE, 1},
		{IPPROTO_TCP, TCP_KEEPIDLE, 15}, {IPPROTO_TCP, TCP_KEEPINTVL, 5},
		{IPPROTO_TCP, TCP_KEEPCNT, 4},   {IPPROTO_TCP, TCP_NODELAY, 1},
	};

	for (size_t i = 0; i < ARRAY_LEN(options); i++)
		setsockopt(fd, options[i].level, options[i].name, &options[i].value,
			   sizeof(options[i].value));
}

/* The socket is made by hand, so that a port that is taken is known before there is anything of
 * libuv to close. */
static int open_listener(const struct http_server_config *config, int *ret_fd, struct error *err)
{
	struct sockaddr_storage address = {0};
	bool v6;
	int fd;

	if (config->port < 0 || config->port > 65535 || parse_address(config, &address) < 0)
		return error_set(err, ERR_BAD_REQUEST,
				 "listen on \"%s\" port %d: not an IP address and port",
				 config->host, config->port);
	v6 = address.ss_family == AF_INET6;
	fd = socket(address.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd >= 0)
		set_socket_options(fd);
	if (fd < 0 ||
	    bind(fd, (struct sockaddr *)&address,
		 v6 ? sizeof(struct sockaddr_in6) : sizeof(struct sockaddr_in)) < 0 ||
	    listen(fd, BACKLOG) < 0) {
		error_set(err, errno == EACCES ? ERR_FORBIDDEN : ERR_UNAVAILABLE,
			  "listen on \"%s\" port %d: %s", config->host, config->port,
			  strerror(errno));
		if (fd >= 0)
			close(fd);
		return -1;
	}
	*ret_fd = fd;
	return 0;
}

/* The usual soft limit of 1024 is below HTTP_MAX_CONNS. */
static void raise_file_limit(void)
{
	struct rlimit files;

	if (getrlimit(RLIMIT_NOFILE, &files) < 0 || files.rlim_cur == files.rlim_max)
		return;
	files.rlim_cur = files.rlim_max;
	setrlimit(RLIMIT_NOFILE, &files);
}

static struct http_server *server_create(struct loop *loop, const struct http_server_config *config)
{
	struct http_server *s = xnew0(struct http_server);

	s->loop = loop;
	s->h1 = (struct http1_config){.env = loop_env(loop),
				      .handler = config->handler,
				      .arg = config->arg,
				      .draining = &s->draining};
	s->read_buffer = xmalloc(SERVER_READ_BUFFER);
	list_init(&s->conns);
	list_init(&s->dirty);
	uv_tcp_init(loop_uv(loop), &s->listener);
	uv_idle_init(loop_uv(loop), &s->idle);
	uv_check_init(loop_uv(loop), &s->check);
	s->listener.data = s->idle.data = s->check.data = s;
	s->open_handles = 3;
	return s;
}

int http_server_create(struct loop *loop, const struct http_server_config *config,
		       struct http_server **ret_server, struct error *err)
{
	struct tls_context *tls;
	struct http_server *s;
	int fd = -1, r;

	if (tls_context_create(config->cert_pem, config->key_pem, config->client_ca_pem, &tls,
			       err) < 0)
		return -1;
	if (open_listener(config, &fd, err) < 0) {
		tls_context_destroy(tls);
		return -1;
	}
	raise_file_limit();
	s = server_create(loop, config);
	s->tls = tls;
	/* Neither can fail for a socket that listens already. */
	r = uv_tcp_open(&s->listener, fd);
	assert(r == 0);
	r = uv_listen((uv_stream_t *)&s->listener, BACKLOG, on_connection);
	assert(r == 0);
	*ret_server = s;
	return 0;
}

int http_server_port(const struct http_server *s)
{
	struct sockaddr_storage address;
	int n = sizeof(address);

	if (uv_tcp_getsockname(&s->listener, (struct sockaddr *)&address, &n) < 0)
		return 0;
	return ntohs(((struct sockaddr_in *)&address)->sin_port);
}
