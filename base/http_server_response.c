/* The response's side of an exchange: heads, whole answers, chunked streams. */
#include <string.h>
#include <strings.h>
#include <zlib.h>

#include "base/http_server_internal.h"

#define GZIP_MIN   1024 /* below, the headers that say so cost more than is saved */
#define GZIP_LEVEL 1    /* 100 MB/s; more saves little on JSON */

static const struct {
	int status;
	const char *text;
} reasons[] = {
	{200, "OK"},
	{201, "Created"},
	{202, "Accepted"},
	{204, "No Content"},
	{301, "Moved Permanently"},
	{302, "Found"},
	{304, "Not Modified"},
	{307, "Temporary Redirect"},
	{308, "Permanent Redirect"},
	{400, "Bad Request"},
	{401, "Unauthorized"},
	{403, "Forbidden"},
	{404, "Not Found"},
	{405, "Method Not Allowed"},
	{406, "Not Acceptable"},
	{408, "Request Timeout"},
	{409, "Conflict"},
	{410, "Gone"},
	{413, "Content Too Large"},
	{415, "Unsupported Media Type"},
	{417, "Expectation Failed"},
	{422, "Unprocessable Content"},
	{429, "Too Many Requests"},
	{431, "Request Header Fields Too Large"},
	{500, "Internal Server Error"},
	{502, "Bad Gateway"},
	{503, "Service Unavailable"},
	{504, "Gateway Timeout"},
	{505, "HTTP Version Not Supported"},
};

static const char *reason_text(int status)
{
	for (size_t i = 0; i < ARRAY_LEN(reasons); i++)
		if (reasons[i].status == status)
			return reasons[i].text;
	return "";
}

/* --- heads --- */

static void add_date(struct strbuf *out, struct env *env)
{
	time_t now = (time_t)(env_wall_ns(env) / 1000000000);
	char text[64];
	struct tm tm;

	gmtime_r(&now, &tm);
	/* The programs of this project never leave the C locale. */
	strftime(text, sizeof(text), "Date: %a, %d %b %Y %H:%M:%S GMT\r\n", &tm);
	strbuf_adds(out, text);
}

static void add_start(struct http1 *h, int status, const char *content_type)
{
	strbuf_addf(&h->out, "HTTP/1.1 %d %s\r\n", status, reason_text(status));
	add_date(&h->out, h->config->env);
	if (content_type)
		strbuf_addf(&h->out, "Content-Type: %s\r\n", content_type);
}

static bool has_no_body(int status)
{
	return status == 204 || status == 304;
}

/* A request body that nobody will read is skipped to keep the connection, if it is short. */
static bool body_is_costly(const struct exchange *x)
{
	const struct http1 *h = x->h;

	if (!h->in_body)
		return false;
	if (x->expects_continue)
		return true;
	return !(h->parser.flags & F_CHUNKED) && h->parser.content_length > HTTP_MAX_DISCARD;
}

static void finish_head(struct exchange *x)
{
	struct http1 *h = x->h;

	if (x->close)
		strbuf_adds(&h->out, "Connection: close\r\n");
	strbuf_add(&h->out, strbuf_str(&x->extra), x->extra.size);
	strbuf_adds(&h->out, "\r\n");
	strbuf_finish(&x->extra);
	x->begun = true;
}

static bool can_begin(struct exchange *x)
{
	assert(!x->begun || x->ended || x->h->cut);
	if (x->begun || x->ended || x->h->cut)
		return false; /* refused or aborted meanwhile */
	if (*x->h->config->draining || body_is_costly(x))
		x->close = true;
	return true;
}

void exchange_add_header(struct exchange *x, const char *name, const char *value)
{
	if (!strcasecmp(name, "content-encoding"))
		x->has_encoding = true;
	strbuf_addf(&x->extra, "%s: ", name);
	/* Values may quote a user's words, which must not begin a line of their own. */
	for (; *value; value++)
		strbuf_addc(&x->extra,
			    (unsigned char)*value < ' ' || *value == 0x7f ? ' ' : *value);
	strbuf_adds(&x->extra, "\r\n");
}

/* --- whole answers --- */

/* "gzip;q=0" and "gzip; q=0.000" refuse it. */
static bool quality_is_zero(const char *params, size_t n)
{
	const char *q = memmem(params, n, "q=", 2);

	if (!q)
		return false;
	n -= (size_t)(q + 2 - params);
	return strspn(q + 2, "0.") >= n || strspn(q + 2, "0. ") >= n;
}

static bool takes_gzip(const struct exchange *x)
{
	const char *at = exchange_header(x, "accept-encoding");

	while (at && *at) {
		size_t n, name;

		at += strspn(at, " \t,");
		n = strcspn(at, ",");
		name = strcspn(at, " \t;,");
		if (name == 4 && !strncasecmp(at, "gzip", 4))
			return !quality_is_zero(at + name, n - name);
		at += n;
	}
	return false;
}

/* False when it does not pay; out is to be thrown away then. */
static bool compress_all(struct strbuf *out, const void *bytes, size_t n)
{
	z_stream z = {0};
	size_t bound;
	int r;

	if (n > UINT32_MAX / 2 ||
	    deflateInit2(&z, GZIP_LEVEL, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) != Z_OK)
		return false;
	bound = deflateBound(&z, n);
	out->bytes = xmalloc(bound + 1);
	out->cap = bound + 1;
	z.next_in = (Bytef *)(uintptr_t)bytes;
	z.avail_in = (uInt)n;
	z.next_out = (Bytef *)out->bytes;
	z.avail_out = (uInt)bound;
	r = deflate(&z, Z_FINISH);
	out->size = bound - z.avail_out;
	out->bytes[out->size] = '\0';
	deflateEnd(&z);
	return r == Z_STREAM_END && out->size < n;
}

static bool wants_gzip(const struct exchange *x, size_t n)
{
	return n >= GZIP_MIN && !x->is_head && !x->has_encoding && takes_gzip(x);
}

void exchange_respond(struct exchange *x, int status, const char *content_type, const void *bytes,
		      size_t n)
{
	struct http1 *h = x->h;
	auto_strbuf zipped = {0};
	bool varies = n >= GZIP_MIN && !x->has_encoding;

	if (!can_begin(x))
		return;
	if (wants_gzip(x, n) && compress_all(&zipped, bytes, n)) {
		exchange_add_header(x, "Content-Encoding", "gzip");
		bytes = zipped.bytes;
		n = zipped.size;
	}
	if (varies)
		exchange_add_header(x, "Vary", "Accept-Encoding");
	add_start(h, status, content_type);
	if (!has_no_body(status))
		strbuf_addf(&h->out, "Content-Length: %zu\r\n", n);
	finish_head(x);
	if (!x->is_head && !has_no_body(status))
		strbuf_add(&h->out, bytes, n);
	x->ended = true;
	http1_wake(h);
}

/* --- streams --- */

void exchange_begin(struct exchange *x, int status, const char *content_type)
{
	struct http1 *h = x->h;

	if (!can_begin(x))
		return;
	/* An old client knows the end of it by the end of the connection only. */
	x->chunked = !x->http10;
	add_start(h, status, content_type);
	if (x->chunked)
		strbuf_adds(&h->out, "Transfer-Encoding: chunked\r\n");
	finish_head(x);
	x->fed = true;
	http1_wake(h);
}

bool exchange_write(struct exchange *x, const void *bytes, size_t n)
{
	struct http1 *h = x->h;

	if (!x->begun || x->ended || h->cut)
		return false;
	if (n && !x->is_head) {
		if (x->chunked)
			strbuf_addf(&h->out, "%zx\r\n", n);
		strbuf_add(&h->out, bytes, n);
		if (x->chunked)
			strbuf_add(&h->out, "\r\n", 2);
		x->fed = true;
		http1_wake(h);
	}
	return http1_queued(h) <= HTTP_MAX_QUEUED_OUT;
}

size_t exchange_queued(const struct exchange *x)
{
	return http1_queued(x->h);
}

void exchange_end(struct exchange *x)
{
	struct http1 *h = x->h;

	if (!x->begun || x->ended || h->cut)
		return;
	if (x->chunked && !x->is_head)
		strbuf_adds(&h->out, "0\r\n\r\n");
	x->ended = true;
	http1_wake(h);
}

void exchange_abort(struct exchange *x)
{
	x->h->cut = true;
	http1_wake(x->h);
}

bool exchange_begun(const struct exchange *x)
{
	return x->begun;
}

void exchange_on_close(struct exchange *x, void (*fn)(struct exchange *x, bool lost, void *arg),
		       void *arg)
{
	x->on_close = fn;
	x->close_arg = arg;
}

void exchange_on_drain(struct exchange *x, void (*fn)(struct exchange *x, void *arg), void *arg)
{
	x->on_drain = fn;
	x->drain_arg = arg;
}

/* --- the server's own --- */

void http1_refuse(struct http1 *h, int status, const char *text)
{
	add_start(h, status, "text/plain");
	strbuf_addf(&h->out, "Content-Length: %zu\r\nConnection: close\r\n\r\n%s", strlen(text),
		    text);
	h->closing = true;
	http1_wake(h);
}

void exchange_refuse(struct exchange *x, int status, const char *text)
{
	if (x->begun || x->ended)
		return;
	strbuf_finish(&x->extra);
	x->has_encoding = false;
	x->close = true;
	exchange_respond(x, status, "text/plain", text, strlen(text));
}
