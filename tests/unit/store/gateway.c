#include "tests/unit/store/gateway.h"

#include <arpa/inet.h>
#include <criterion/criterion.h>

#include "base/list.h"
#include "base/mem.h"
#include "base/strbuf.h"

struct gateway {
	uv_tcp_t listener;
	struct list calls;
	char *url;
	void (*on_request)(struct gateway_call *call, const struct gateway_request *request,
			   void *arg);
	void *arg;
};

/* A connection, and the request on it. */
struct gateway_call {
	struct list_node link;
	struct gateway *gateway;
	uv_tcp_t tcp;
	struct strbuf in;
	char room[65536];
};

static void on_closed(uv_handle_t *handle)
{
	struct gateway_call *call = handle->data;

	strbuf_finish(&call->in);
	free(call);
}

void gateway_cut(struct gateway_call *call)
{
	list_remove(&call->link);
	uv_close((uv_handle_t *)&call->tcp, on_closed);
}

static void send_bytes(struct gateway_call *call, const char *bytes, size_t n)
{
	uv_buf_t buf = uv_buf_init((char *)(uintptr_t)bytes, (unsigned)n);

	cr_assert_eq(uv_try_write((uv_stream_t *)&call->tcp, &buf, 1), (int)n);
}

static void send_text(struct gateway_call *call, struct strbuf *text)
{
	send_bytes(call, text->bytes, text->size);
	strbuf_finish(text);
}

void gateway_answer(struct gateway_call *call, int status, const char *body)
{
	struct strbuf out = {0};

	strbuf_addf(&out,
		    "HTTP/1.1 %d Any\r\nContent-Type: application/json\r\n"
		    "Content-Length: %zu\r\n\r\n%s",
		    status, strlen(body), body);
	send_text(call, &out);
}

void gateway_stream(struct gateway_call *call)
{
	struct strbuf out = {0};

	strbuf_adds(&out, "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
			  "Transfer-Encoding: chunked\r\n\r\n");
	send_text(call, &out);
}

void gateway_send(struct gateway_call *call, const char *bytes, size_t n)
{
	struct strbuf out = {0};

	strbuf_addf(&out, "%zx\r\n", n);
	strbuf_add(&out, bytes, n);
	strbuf_adds(&out, "\r\n");
	send_text(call, &out);
}

void gateway_end(struct gateway_call *call)
{
	send_bytes(call, "0\r\n\r\n", 5);
}

/* Hands over a request that is complete, and forgets its bytes. */
static void take_request(struct gateway_call *call)
{
	char *head_end = strstr(call->in.bytes, "\r\n\r\n"), *length;
	struct gateway_request request;
	auto_strbuf bytes = {0};
	size_t size = 0;

	if (!head_end)
		return;
	length = strcasestr(call->in.bytes, "Content-Length:");
	if (length && length < head_end)
		size = strtoul(length + strlen("Content-Length:"), NULL, 10);
	if (call->in.size < (size_t)(head_end + 4 - call->in.bytes) + size)
		return;
	bytes = call->in;
	call->in = (struct strbuf){0};
	*head_end = '\0';
	request.head = bytes.bytes;
	request.body = head_end + 4;
	request.path = strchr(bytes.bytes, ' ') + 1;
	call->gateway->on_request(call, &request, call->gateway->arg);
}

static void on_alloc(uv_handle_t *handle, size_t wanted, uv_buf_t *buf)
{
	struct gateway_call *call = handle->data;

	*buf = uv_buf_init(call->room, sizeof(call->room));
}

static void on_read(uv_stream_t *stream, ssize_t n, const uv_buf_t *buf)
{
	struct gateway_call *call = stream->data;

	if (n < 0) {
		gateway_cut(call);
		return;
	}
	strbuf_add(&call->in, buf->base, (size_t)n);
	take_request(call);
}

static void on_connection(uv_stream_t *listener, int status)
{
	struct gateway *g = listener->data;
	struct gateway_call *call = xnew0(struct gateway_call);

	call->gateway = g;
	uv_tcp_init(listener->loop, &call->tcp);
	call->tcp.data = call;
	uv_accept(listener, (uv_stream_t *)&call->tcp);
	uv_tcp_nodelay(&call->tcp, 1);
	list_push_back(&g->calls, &call->link);
	uv_read_start((uv_stream_t *)&call->tcp, on_alloc, on_read);
}

struct gateway *gateway_create(struct loop *loop,
			       void (*on_request)(struct gateway_call *call,
						  const struct gateway_request *request, void *arg),
			       void *arg)
{
	struct gateway *g = xnew0(struct gateway);
	struct sockaddr_in at;
	int size = sizeof(at);

	g->on_request = on_request;
	g->arg = arg;
	list_init(&g->calls);
	uv_tcp_init(loop_uv(loop), &g->listener);
	g->listener.data = g;
	uv_ip4_addr("127.0.0.1", 0, &at);
	uv_tcp_bind(&g->listener, (const struct sockaddr *)&at, 0);
	cr_assert_eq(uv_listen((uv_stream_t *)&g->listener, 64, on_connection), 0);
	uv_tcp_getsockname(&g->listener, (struct sockaddr *)&at, &size);
	g->url = xasprintf("http://127.0.0.1:%d", ntohs(at.sin_port));
	return g;
}

static void on_listener_closed(uv_handle_t *handle)
{
	struct gateway *g = handle->data;

	free(g->url);
	free(g);
}

void gateway_destroy(struct gateway *g)
{
	struct list_node *node;

	while ((node = list_first(&g->calls)))
		gateway_cut(list_entry(node, struct gateway_call, link));
	uv_close((uv_handle_t *)&g->listener, on_listener_closed);
}

const char *gateway_url(const struct gateway *g)
{
	return g->url;
}
