/* HTTP/2 by nghttp2: a stream for each call. */
#include <assert.h>
#include <string.h>

#include "base/grpc_client_internal.h"

#define AGENT "federator/" FEDERATOR_VERSION

static struct grpc_call *call_of(nghttp2_session *h2, int32_t stream_id)
{
	return nghttp2_session_get_stream_user_data(h2, stream_id);
}

/* --- nghttp2's callbacks: they note, and call nobody --- */

static int on_header(nghttp2_session *h2, const nghttp2_frame *frame, const uint8_t *name,
		     size_t name_n, const uint8_t *value, size_t value_n, uint8_t flags, void *arg)
{
	struct grpc_call *call = call_of(h2, frame->hd.stream_id);

	if (call)
		call_head(call, (const char *)name, (const char *)value, value_n);
	return 0;
}

static int on_data(nghttp2_session *h2, uint8_t flags, int32_t stream_id, const uint8_t *bytes,
		   size_t n, void *arg)
{
	struct grpc_call *call = call_of(h2, stream_id);

	if (call)
		call_bytes(call, bytes, n);
	return 0;
}

/* nghttp2 holds back what waits for its turn, and would not say that it never comes. */
static void session_retire(struct grpc_session *s)
{
	struct grpc_call *call;

	s->retired = true;
	list_for_each (call, &s->calls, link) {
		if (!call->sent)
			call_fail(call, ERR_UNREACHABLE, "the server takes no more calls");
	}
}

static int on_frame(nghttp2_session *h2, const nghttp2_frame *frame, void *arg)
{
	struct grpc_session *s = arg;
	struct grpc_call *call;

	if (frame->hd.type == NGHTTP2_GOAWAY)
		session_retire(s);
	if (frame->hd.type != NGHTTP2_HEADERS && frame->hd.type != NGHTTP2_DATA)
		return 0;
	call = call_of(h2, frame->hd.stream_id);
	if (call && frame->hd.flags & NGHTTP2_FLAG_END_STREAM)
		call_end(call);
	return 0;
}

/* Streams above the last that a GOAWAY names are closed as refused, too. Who has begun to answer
 * has looked at the call, whatever is said later. */
static int on_stream_closed(nghttp2_session *h2, int32_t stream_id, uint32_t code, void *arg)
{
	struct grpc_call *call = call_of(h2, stream_id);
	char why[80];

	if (!call)
		return 0;
	call->stream_id = -1;
	if (code == NGHTTP2_REFUSED_STREAM && !call->http_status) {
		call_fail(call, ERR_UNREACHABLE, "the server did not look at the call");
		return 0;
	}
	snprintf(why, sizeof(why), "the server broke off the call (%s)",
		 nghttp2_http2_strerror(code));
	call_fail(call, ERR_UNKNOWN_OUTCOME, why);
	return 0;
}

static int on_sent(nghttp2_session *h2, const nghttp2_frame *frame, void *arg)
{
	struct grpc_call *call = NULL;

	if (frame->hd.type == NGHTTP2_HEADERS)
		call = call_of(h2, frame->hd.stream_id);
	if (call)
		call->sent = true;
	return 0;
}

static ssize_t on_message_wanted(nghttp2_session *h2, int32_t stream_id, uint8_t *buf, size_t n,
				 uint32_t *flags, nghttp2_data_source *source, void *arg)
{
	struct grpc_call *call = call_of(h2, stream_id);
	size_t left;

	if (!call)
		return NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE; /* it has left, its stream is reset */
	left = call->out.size - call->out_at;
	if (n >= left) {
		n = left;
		*flags |= NGHTTP2_DATA_FLAG_EOF;
	}
	memcpy(buf, call->out.bytes + call->out_at, n);
	call->out_at += n;
	return (ssize_t)n;
}

/* --- calls --- */

static nghttp2_nv pair(const char *name, const char *value)
{
	return (nghttp2_nv){.name = (uint8_t *)(uintptr_t)name,
			    .value = (uint8_t *)(uintptr_t)value,
			    .namelen = strlen(name),
			    .valuelen = strlen(value)};
}

static size_t add_metadata(const struct grpc_call *call, nghttp2_nv *head, size_t n)
{
	const char *at = strbuf_str(&call->metadata), *end = at + call->metadata.size;

	while (at < end) {
		const char *value = at + strlen(at) + 1;

		head[n++] = pair(at, value);
		at = value + strlen(value) + 1;
	}
	return n;
}

void session_submit(struct grpc_session *s, struct grpc_call *call)
{
	const nghttp2_data_provider message = {.read_callback = on_message_wanted};
	auto_xfree char *path = xasprintf("%s%s", s->prefix, call->method);
	nghttp2_nv head[7 + GRPC_MAX_METADATA] = {
		pair(":method", "POST"),   pair(":scheme", s->scheme),
		pair(":path", path),       pair(":authority", s->authority),
		pair("te", "trailers"),    pair("content-type", "application/grpc"),
		pair("user-agent", AGENT),
	};

	call->stream_id = nghttp2_submit_request(s->h2, NULL, head, add_metadata(call, head, 7),
						 &message, call);
	assert(call->stream_id > 0); /* fails on lack of memory only */
	if (call->stream_id >= GRPC_LAST_STREAM)
		s->retired = true;
}

void session_drop(struct grpc_session *s, struct grpc_call *call)
{
	if (call->stream_id <= 0)
		return;
	nghttp2_session_set_stream_user_data(s->h2, call->stream_id, NULL);
	nghttp2_submit_rst_stream(s->h2, NGHTTP2_FLAG_NONE, call->stream_id, NGHTTP2_CANCEL);
	call->stream_id = -1;
}

void session_deliver(struct grpc_session *s)
{
	struct list_node *node;

	while ((node = list_first(&s->ready))) {
		struct grpc_call *call = list_entry(node, struct grpc_call, ready);

		list_remove(&call->ready);
		grpc_call_deliver(call);
	}
}

void session_fail(struct grpc_session *s, const char *why)
{
	struct grpc_call *call;

	s->retired = true;
	list_for_each (call, &s->calls, link) {
		call_fail(call, call->sent ? ERR_UNKNOWN_OUTCOME : ERR_UNREACHABLE, why);
	}
	session_deliver(s);
}

/* --- bytes --- */

int session_feed(struct grpc_session *s, const void *bytes, size_t n)
{
	return nghttp2_session_mem_recv(s->h2, bytes, n) < 0 ? -1 : 0;
}

void session_take(struct grpc_session *s, size_t max, struct strbuf *out)
{
	while (out->size < max) {
		const uint8_t *bytes;
		ssize_t n = nghttp2_session_mem_send(s->h2, &bytes);

		assert(n >= 0); /* fails on lack of memory only */
		if (!n)
			break;
		strbuf_add(out, bytes, (size_t)n);
	}
}

/* --- life --- */

static nghttp2_session *h2_create(struct grpc_session *s)
{
	nghttp2_session_callbacks *callbacks;
	nghttp2_session *h2;
	int r;

	r = nghttp2_session_callbacks_new(&callbacks);
	assert(r == 0);
	nghttp2_session_callbacks_set_on_header_callback(callbacks, on_header);
	nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks, on_data);
	nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks, on_frame);
	nghttp2_session_callbacks_set_on_stream_close_callback(callbacks, on_stream_closed);
	nghttp2_session_callbacks_set_on_frame_send_callback(callbacks, on_sent);
	r = nghttp2_session_client_new(&h2, callbacks, s);
	assert(r == 0);
	nghttp2_session_callbacks_del(callbacks);
	return h2;
}

void session_init(struct grpc_session *s)
{
	const nghttp2_settings_entry settings[] = {
		{NGHTTP2_SETTINGS_ENABLE_PUSH, 0},
		{NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, GRPC_STREAM_WINDOW},
	};

	list_init(&s->calls);
	list_init(&s->ready);
	s->h2 = h2_create(s);
	nghttp2_submit_settings(s->h2, NGHTTP2_FLAG_NONE, settings, ARRAY_LEN(settings));
	nghttp2_session_set_local_window_size(s->h2, NGHTTP2_FLAG_NONE, 0, GRPC_SESSION_WINDOW);
}

void session_finish(struct grpc_session *s)
{
	assert(list_empty(&s->calls));
	nghttp2_session_del(s->h2);
}
