/*
 * HTTP/1.1 between bytes and exchanges, on llhttp. One exchange at a time: what a client sends
 * ahead waits in `input`. llhttp is stopped after each head and each message, so that handlers run
 * outside of it and the next request is never begun early.
 */
#include <string.h>

#include "base/http_server_internal.h"

static struct http1 *http1_of(llhttp_t *parser)
{
	return parser->data;
}

/* --- llhttp's callbacks --- */

static int on_head_bytes(llhttp_t *parser, const char *bytes, size_t n)
{
	struct http1 *h = http1_of(parser);

	if (!h->head_done)
		strbuf_add(&h->head, bytes, n);
	return 0;
}

static int on_head_text_end(llhttp_t *parser)
{
	struct http1 *h = http1_of(parser);

	if (!h->head_done)
		strbuf_addc(&h->head, '\0');
	return 0;
}

static int on_header_end(llhttp_t *parser)
{
	struct http1 *h = http1_of(parser);

	if (!h->head_done)
		h->n_headers++;
	return on_head_text_end(parser);
}

static int on_head_end(llhttp_t *parser)
{
	http1_of(parser)->head_done = true;
	/* "Upgrade" is an offer that we decline by not mentioning it. */
	parser->upgrade = 0;
	return HPE_PAUSED;
}

static int on_body(llhttp_t *parser, const char *bytes, size_t n)
{
	struct http1 *h = http1_of(parser);

	if (h->x && !h->x->ended)
		exchange_body_bytes(h->x, bytes, n);
	else
		h->discarded += n;
	return 0;
}

static int on_message_end(llhttp_t *parser)
{
	http1_of(parser)->message_done = true;
	return HPE_PAUSED;
}

static const llhttp_settings_t settings = {
	.on_url = on_head_bytes,
	.on_url_complete = on_head_text_end,
	.on_header_field = on_head_bytes,
	.on_header_field_complete = on_head_text_end,
	.on_header_value = on_head_bytes,
	.on_header_value_complete = on_header_end,
	.on_headers_complete = on_head_end,
	.on_body = on_body,
	.on_message_complete = on_message_end,
};

/* --- life --- */

static void next_message(struct http1 *h)
{
	llhttp_init(&h->parser, HTTP_REQUEST, &settings);
	h->parser.data = h;
	h->parser_paused = false;
	strbuf_finish(&h->head);
	h->n_headers = h->head_size = 0;
	h->last = '\0';
	h->head_done = h->message_done = h->in_body = false;
	h->discarded = 0;
}

void http1_init(struct http1 *h, const struct http1_config *config)
{
	*h = (struct http1){.config = config};
	next_message(h);
}

void http1_finish(struct http1 *h)
{
	assert(!h->x);
	pki_identity_finish(&h->peer);
	strbuf_finish(&h->input);
	strbuf_finish(&h->head);
	strbuf_finish(&h->out);
}

void http1_wake(struct http1 *h)
{
	h->config->wake(h->config->below);
}

void http1_end_exchange(struct http1 *h, bool lost)
{
	struct exchange *x = take_ptr(h->x);

	if (!x)
		return;
	if (x->close)
		h->closing = true;
	if (x->on_close)
		x->on_close(x, lost || x->broken, x->close_arg);
	exchange_destroy(x);
}

/* --- input --- */

/* llhttp lets continued header lines through, and lone CRs and LFs in places; they only serve to
 * make two readers of one request disagree. NUL has no place in a head either. */
static bool head_is_clean(struct http1 *h, const char *bytes, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		char c = bytes[i];

		if (c == '\0' || (c == '\n') != (h->last == '\r'))
			return false;
		if (h->last == '\n' && (c == ' ' || c == '\t'))
			return false;
		h->last = c;
	}
	return true;
}

static void malformed(struct http1 *h)
{
	bool version = llhttp_get_errno(&h->parser) == HPE_INVALID_VERSION;

	h->deaf = true;
	if (h->x && h->x->begun)
		h->cut = true;
	else if (h->x)
		exchange_refuse(h->x, 400, "malformed request body\n");
	else if (version)
		http1_refuse(h, 505, "HTTP/1.1 is spoken here\n");
	else
		http1_refuse(h, 400, "malformed request\n");
	if (h->x)
		h->x->broken = true;
}

static bool nobody_reads(const struct http1 *h)
{
	return h->in_body && (!h->x || h->x->ended);
}

static void begin_exchange(struct http1 *h)
{
	struct exchange *x = exchange_create(h);

	strbuf_finish(&h->head);
	if (!x)
		return;
	h->x = x;
	h->in_body = (h->parser.flags & F_CHUNKED) || h->parser.content_length > 0;
	h->config->handler(x, h->config->arg);
}

/* One run of llhttp, which stops by itself at the end of a head or message. */
static void parse(struct http1 *h)
{
	bool in_head = !h->head_done;
	const char *bytes = strbuf_str(&h->input);
	size_t n = h->input.size;
	llhttp_errno_t r;

	if (h->parser_paused)
		llhttp_resume(&h->parser);
	r = llhttp_execute(&h->parser, bytes, n);
	h->parser_paused = r == HPE_PAUSED;
	if (r != HPE_OK && r != HPE_PAUSED) {
		malformed(h);
		return;
	}
	if (r == HPE_PAUSED)
		n = (size_t)(llhttp_get_error_pos(&h->parser) - bytes);
	if (in_head) {
		h->head_size += n;
		if (!head_is_clean(h, bytes, n)) {
			malformed(h);
			return;
		}
	}
	strbuf_consume(&h->input, n);
	if (!h->input.size)
		strbuf_finish(&h->input); /* idle connections hold no buffers */
}

static void step(struct http1 *h)
{
	bool in_head = !h->head_done;

	parse(h);
	if (h->deaf)
		return;
	if (in_head && (h->head_size > HTTP_MAX_HEAD || h->n_headers > HTTP_MAX_HEADERS))
		http1_refuse(h, 431, "request head too large\n");
	else if (in_head && h->head_done)
		begin_exchange(h);
	if (h->message_done)
		h->in_body = false;
	if (nobody_reads(h) && h->discarded > HTTP_MAX_DISCARD)
		h->closing = true;
}

static bool can_step(const struct http1 *h)
{
	if (h->deaf || h->closing || h->cut || h->message_done)
		return false;
	if (h->in_body && !nobody_reads(h) && !exchange_reading(h->x))
		return false;
	/* A paused parser may have something to say without further bytes. */
	return h->input.size || h->parser_paused;
}

void http1_run(struct http1 *h)
{
	for (;;) {
		struct exchange *x = h->x;

		if (x && x->ended && !http1_queued(h))
			http1_end_exchange(h, false);
		else if (x && exchange_body_waits(x))
			exchange_body_deliver(x);
		else if (!x && h->message_done)
			next_message(h);
		else if (can_step(h))
			step(h);
		else
			break;
	}
	if (h->deaf || h->closing || h->cut)
		strbuf_finish(&h->input);
}

void http1_feed(struct http1 *h, const char *bytes, size_t n)
{
	if (h->deaf || h->closing || h->cut)
		return;
	strbuf_add(&h->input, bytes, n);
	http1_run(h);
}

bool http1_wants_more(const struct http1 *h)
{
	return !h->closing && !h->cut && !h->eof && h->input.size < HTTP_MAX_INPUT;
}

void http1_eof(struct http1 *h)
{
	h->eof = true;
	http1_run(h);
}

/* Something of a body that the client sent before it left may still be on its way to a slow
 * reader; all else is lost with the client. */
static bool body_is_under_way(const struct http1 *h)
{
	const struct exchange *x = h->x;

	if (!x || x->ended || x->reader != READER_STREAM)
		return false;
	return x->body.size || (h->in_body && h->input.size);
}

bool http1_lost(const struct http1 *h)
{
	return h->cut || (h->eof && !body_is_under_way(h));
}

bool http1_at_end(const struct http1 *h)
{
	if (http1_queued(h))
		return false;
	return h->closing || (*h->config->draining && !h->x);
}

enum http1_phase http1_phase(const struct http1 *h)
{
	if (h->x && h->in_body && h->x->reader == READER_ALL && !h->x->ended)
		return PHASE_BODY;
	if (h->x)
		return PHASE_BUSY;
	if (h->in_body)
		return PHASE_BODY;
	return h->head_size || h->input.size ? PHASE_HEAD : PHASE_IDLE;
}

void http1_timeout(struct http1 *h)
{
	enum http1_phase phase = http1_phase(h);

	if (phase == PHASE_BUSY)
		return;
	if (phase == PHASE_HEAD) {
		http1_refuse(h, 408, "the head of the request did not come in time\n");
	} else if (phase == PHASE_BODY && h->x && !h->x->begun) {
		exchange_refuse(h->x, 408, "the body of the request did not come in time\n");
		h->x->broken = true;
	} else if (h->x) {
		h->cut = true;
	} else {
		h->closing = true;
	}
	http1_wake(h);
}

/* --- output --- */

size_t http1_queued(const struct http1 *h)
{
	return h->out.size - h->out_at + h->in_flight;
}

const char *http1_take(struct http1 *h, size_t max, size_t *ret_n)
{
	const char *bytes = strbuf_str(&h->out) + h->out_at;
	size_t n = h->out.size - h->out_at;

	if (n > max)
		n = max;
	h->out_at += n;
	h->in_flight += n;
	*ret_n = n;
	return bytes;
}

/* The front of a long queue is dropped when it is the greater part, so that each byte is moved once
 * at most. */
static void drop_taken(struct http1 *h)
{
	if (h->out_at == h->out.size) {
		strbuf_finish(&h->out);
		h->out_at = 0;
	} else if (h->out_at > h->out.size / 2) {
		strbuf_consume(&h->out, h->out_at);
		h->out_at = 0;
	}
}

void http1_sent(struct http1 *h)
{
	struct exchange *x = h->x;

	h->in_flight = 0;
	drop_taken(h);
	if (!x || !x->fed || x->ended || http1_queued(h))
		return;
	x->fed = false;
	if (x->on_drain)
		x->on_drain(x, x->drain_arg);
}
