/* The request's side of an exchange: its head, checked and taken apart, and its body. */
#include <string.h>
#include <strings.h>

#include "base/encode.h"
#include "base/http_server_internal.h"

/* --- the head --- */

static char *trim(char *value)
{
	size_t n = strlen(value);

	while (n && (value[n - 1] == ' ' || value[n - 1] == '\t'))
		value[--n] = '\0';
	return value;
}

static struct http_header *header_find(const struct exchange *x, const char *name)
{
	for (size_t i = 0; i < x->n_headers; i++)
		if (!strcasecmp(x->headers[i].name, name))
			return &x->headers[i];
	return NULL;
}

/* Lines of one name are one list, as RFC 9110 section 5.3 has it. */
static void add_header(struct exchange *x, const char *name, const char *value)
{
	struct http_header *same = header_find(x, name);

	if (same)
		same->value = arena_printf(&x->arena, "%s, %s", same->value, value);
	else
		x->headers[x->n_headers++] = (struct http_header){name, value};
}

/* A token of RFC 9110 section 5.6.2. */
static bool name_is_token(const char *name)
{
	return *name && !name[strspn(name, "!#$%&'*+-.^_`|~0123456789abcdefghijklmnopqrstuvwxyz"
					   "ABCDEFGHIJKLMNOPQRSTUVWXYZ")];
}

static bool read_headers(struct exchange *x, char *at, size_t n)
{
	x->headers = arena_array(&x->arena, struct http_header, n);
	for (size_t i = 0; i < n; i++) {
		char *name = at, *value = name + strlen(name) + 1;

		if (!name_is_token(name))
			return false;
		at = value + strlen(value) + 1;
		add_header(x, name, trim(value));
	}
	return true;
}

static char *decode(struct arena *arena, const char *text, size_t n, bool plus_is_space)
{
	auto_strbuf out = {0};

	if (percent_decode(&out, text, n, plus_is_space) < 0 ||
	    !utf8_valid(strbuf_str(&out), out.size))
		return NULL;
	return arena_strndup(arena, strbuf_str(&out), out.size);
}

static bool add_query(struct exchange *x, const char *pair, size_t n)
{
	const char *eq = memchr(pair, '=', n);
	size_t n_name = eq ? (size_t)(eq - pair) : n;
	struct http_header *q = &x->query[x->n_query];

	if (!n)
		return true;
	q->name = decode(&x->arena, pair, n_name, true);
	q->value = eq ? decode(&x->arena, eq + 1, n - n_name - 1, true) : "";
	x->n_query++;
	return q->name && q->value;
}

static bool read_query(struct exchange *x, const char *query)
{
	size_t n = 1;

	for (const char *at = query; *at; at++)
		n += *at == '&';
	x->query = arena_array(&x->arena, struct http_header, n);
	while (*query) {
		size_t part = strcspn(query, "&");

		if (!add_query(x, query, part))
			return false;
		query += part;
		query += *query == '&';
	}
	return true;
}

/* "http://host/path" is the form for proxies, which every server must understand too. */
static const char *skip_authority(const char *target)
{
	const char *slashes = strstr(target, "://");

	if (target[0] == '/' || !slashes)
		return target;
	slashes += 3;
	return slashes + strcspn(slashes, "/?#");
}

static bool read_target(struct exchange *x, const char *target)
{
	const char *path = skip_authority(target);
	size_t n = strcspn(path, "?#");

	x->target = target;
	x->path = decode(&x->arena, path, n, false);
	if (!x->path)
		return false;
	if (!n && path != target)
		x->path = "/";
	if (x->path[0] != '/' && strcmp(x->path, "*") != 0)
		return false;
	return path[n] != '?' || read_query(x, path + n + 1);
}

/* What of RFC 9112 llhttp leaves to us; NULL when all is well. */
static const char *head_fault(const struct exchange *x)
{
	const char *host = exchange_header(x, "host");
	const char *coding = exchange_header(x, "transfer-encoding");

	if (!x->http10 && !host)
		return "no Host header\n";
	if (host && strchr(host, ','))
		return "more than one Host header\n";
	if (coding && (x->http10 || strcasecmp(coding, "chunked") != 0))
		return "unknown transfer coding\n";
	return NULL;
}

static int check_head(struct exchange *x)
{
	const char *expect = exchange_header(x, "expect");
	const char *fault = head_fault(x);

	if (fault) {
		http1_refuse(x->h, 400, fault);
		return -1;
	}
	if (expect && strcasecmp(expect, "100-continue") != 0) {
		http1_refuse(x->h, 417, "unknown expectation\n");
		return -1;
	}
	x->expects_continue = expect && !x->http10;
	return 0;
}

static int read_head(struct exchange *x)
{
	struct http1 *h = x->h;
	char *head = arena_strndup(&x->arena, strbuf_str(&h->head), h->head.size);
	int major = llhttp_get_http_major(&h->parser), minor = llhttp_get_http_minor(&h->parser);

	if (major != 1 || minor > 1) {
		http1_refuse(h, 505, "HTTP/1.1 is spoken here\n");
		return -1;
	}
	x->http10 = minor == 0;
	x->method = llhttp_method_name((llhttp_method_t)llhttp_get_method(&h->parser));
	x->is_head = llhttp_get_method(&h->parser) == HTTP_HEAD;
	x->close = x->http10 || !llhttp_should_keep_alive(&h->parser);
	if (!read_target(x, head)) {
		http1_refuse(h, 400, "malformed request target\n");
		return -1;
	}
	if (!read_headers(x, head + strlen(head) + 1, h->n_headers)) {
		http1_refuse(h, 400, "malformed header name\n");
		return -1;
	}
	return check_head(x);
}

struct exchange *exchange_create(struct http1 *h)
{
	struct exchange *x = xnew0(struct exchange);

	x->h = h;
	if (read_head(x) < 0) {
		exchange_destroy(x);
		return NULL;
	}
	return x;
}

void exchange_destroy(struct exchange *x)
{
	if (!x)
		return;
	strbuf_finish(&x->body);
	strbuf_finish(&x->extra);
	arena_finish(&x->arena);
	free(x);
}

const char *exchange_method(const struct exchange *x)
{
	return x->method;
}

const char *exchange_path(const struct exchange *x)
{
	return x->path;
}

const char *exchange_target(const struct exchange *x)
{
	return x->target;
}

const char *exchange_query(const struct exchange *x, const char *name)
{
	for (size_t i = 0; i < x->n_query; i++)
		if (!strcmp(x->query[i].name, name))
			return x->query[i].value;
	return NULL;
}

const char *exchange_header(const struct exchange *x, const char *name)
{
	struct http_header *header = header_find(x, name);

	return header ? header->value : NULL;
}

const char *exchange_peer_user(const struct exchange *x)
{
	return x->h->peer.user;
}

const char *const *exchange_peer_groups(const struct exchange *x)
{
	static const char *const none[] = {NULL};

	return x->h->peer.groups ? (const char *const *)x->h->peer.groups : none;
}

/* --- the body --- */

bool exchange_reading(const struct exchange *x)
{
	return x->reader != READER_NONE && !x->read_paused && !x->ended;
}

/* Only now is it known that the body is wanted. */
static void start_reading(struct exchange *x, enum body_reader reader)
{
	struct http1 *h = x->h;

	assert(x->reader == READER_NONE);
	x->reader = reader;
	if (x->expects_continue && h->in_body && !x->begun && !x->ended) {
		strbuf_adds(&h->out, "HTTP/1.1 100 Continue\r\n\r\n");
		x->expects_continue = false;
	}
	http1_wake(h);
}

static void too_large(struct exchange *x)
{
	if (x->begun)
		exchange_abort(x);
	else
		exchange_refuse(x, 413, "request body too large\n");
}

void exchange_read_all(struct exchange *x, size_t limit,
		       void (*done)(struct exchange *x, const char *bytes, size_t n, void *arg),
		       void *arg)
{
	const llhttp_t *parser = &x->h->parser;

	x->limit = limit;
	x->on_body = done;
	x->body_arg = arg;
	if (x->h->in_body && !(parser->flags & F_CHUNKED) && parser->content_length > limit)
		too_large(x);
	else
		start_reading(x, READER_ALL);
}

void exchange_read_stream(struct exchange *x,
			  void (*data)(struct exchange *x, const char *bytes, size_t n, void *arg),
			  void *arg)
{
	x->on_body = data;
	x->body_arg = arg;
	start_reading(x, READER_STREAM);
}

void exchange_read_pause(struct exchange *x, bool paused)
{
	x->read_paused = paused;
	http1_wake(x->h);
}

/* A reader that pauses inside of its callback gets later what llhttp still hands out, which is at
 * most HTTP_MAX_INPUT + HTTP_RECORD. */
void exchange_body_bytes(struct exchange *x, const char *bytes, size_t n)
{
	if (x->reader == READER_ALL && n > x->limit - x->body.size)
		too_large(x);
	else if (x->reader == READER_STREAM && !x->read_paused)
		x->on_body(x, bytes, n, x->body_arg);
	else
		strbuf_add(&x->body, bytes, n);
}

bool exchange_body_waits(const struct exchange *x)
{
	if (!exchange_reading(x) || x->body_told)
		return false;
	return x->h->message_done || (x->reader == READER_STREAM && x->body.size);
}

void exchange_body_deliver(struct exchange *x)
{
	if (x->reader == READER_STREAM && x->body.size) {
		auto_strbuf held = x->body;

		x->body = (struct strbuf){0};
		x->on_body(x, held.bytes, held.size, x->body_arg);
		return;
	}
	x->body_told = true;
	x->on_body(x, strbuf_str(&x->body), x->body.size, x->body_arg);
}
