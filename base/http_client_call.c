/* One call. What libcurl reports is kept here until the pool delivers it. */
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string.h>
#include <sys/socket.h>

#include "base/http_client_internal.h"

#define AGENT "federator/" FEDERATOR_VERSION

void call_ready(struct http_call *call)
{
	if (!list_linked(&call->ready) && !call->gone)
		list_push_back(&call->pool->ready, &call->ready);
}

static struct env *call_env(const struct http_call *call)
{
	return loop_env(call->pool->client->loop);
}

static void call_touch(struct http_call *call)
{
	call->last_ms = env_mono_ms(call_env(call));
}

/* --- libcurl's callbacks: they note, and call nobody --- */

/* Before each time that the request goes out. libcurl sends it again by itself when a connection
 * that it reused dies without an answer; for a write that would do it twice and report the second
 * outcome. */
static int on_before_send(void *arg, char *ip, char *local_ip, int port, int local_port)
{
	struct http_call *call = arg;

	if (call->sends && !call->safe)
		return CURL_PREREQFUNC_ABORT;
	if (call->may_start && !call->may_start(call->arg))
		return CURL_PREREQFUNC_ABORT;
	call->sends++;
	return CURL_PREREQFUNC_OK;
}

static size_t on_header_line(char *bytes, size_t size, size_t n, void *arg)
{
	struct http_call *call = arg;
	long status = 0;

	call_touch(call);
	if (call->status || (bytes[0] != '\r' && bytes[0] != '\n'))
		return size * n; /* only an empty line ends a head */
	curl_easy_getinfo(call->easy, CURLINFO_RESPONSE_CODE, &status);
	if (status < 200)
		return size * n;
	call->status = (int)status;
	if (call->stream) {
		call->head_due = true;
		call_ready(call);
	}
	return size * n;
}

static bool is_streamed(const struct http_call *call)
{
	return call->stream && call->status / 100 == 2;
}

static size_t on_body_bytes(char *bytes, size_t size, size_t n, void *arg)
{
	struct http_call *call = arg;

	if (call->held) {
		call->in_paused = true;
		return CURL_WRITEFUNC_PAUSE;
	}
	n *= size;
	call_touch(call);
	if (!is_streamed(call) && n > CLIENT_MAX_ANSWER - call->in.size) {
		call->too_large = true;
		return CURL_WRITEFUNC_ERROR;
	}
	strbuf_add(&call->in, bytes, n);
	if (is_streamed(call))
		call_ready(call);
	return n;
}

static size_t on_upload_wanted(char *buf, size_t size, size_t n, void *arg)
{
	struct http_call *call = arg;
	size_t left = call->out.size - call->out_at;

	if (!left && call->out_ended)
		return 0;
	if (!left) {
		call->out_paused = true;
		return CURL_READFUNC_PAUSE;
	}
	call_touch(call);
	n *= size;
	if (n > left)
		n = left;
	memcpy(buf, call->out.bytes + call->out_at, n);
	call->out_at += n;
	if (n == left) {
		strbuf_finish(&call->out);
		call->out_at = 0;
		call->drain_due = true;
		call_ready(call);
	}
	return n;
}

/* With TCP_USER_TIMEOUT the kernel takes a peer that reads slowly for a dead one. Of an upload the
 * reader may be a person who scrolls, so keepalive has to do there. */
static int on_socket_made(void *arg, curl_socket_t fd, curlsocktype purpose)
{
	const struct http_call *call = arg;
	int ms = CLIENT_USER_TIMEOUT, probes = CLIENT_KEEPALIVE;

	(void)purpose;
	setsockopt(fd, IPPROTO_TCP, TCP_KEEPCNT, &probes, sizeof(probes));
	if (!call->upload)
		setsockopt(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &ms, sizeof(ms));
	return CURL_SOCKOPT_OK;
}

/* --- delivery --- */

static int64_t retry_after_s(CURL *easy)
{
	struct curl_header *header;
	curl_off_t s = 0;

	if (curl_easy_header(easy, "Retry-After", 0, CURLH_HEADER, -1, &header) != CURLHE_OK)
		return -1;
	curl_easy_getinfo(easy, CURLINFO_RETRY_AFTER, &s); /* seconds, or a date less now */
	return s;
}

/* `299 agent "text"` to text (RFC 7234, section 5.5). */
static char *warning_text(struct arena *a, const char *value)
{
	const char *p = strchr(value, '"');
	char *text, *out;

	if (!p)
		return arena_strdup(a, value);
	text = out = arena_strdup(a, p + 1);
	for (p = text; *p && *p != '"'; p++) {
		if (*p == '\\' && p[1])
			p++;
		*out++ = *p;
	}
	*out = '\0';
	return text;
}

static const char *const *warnings(CURL *easy, struct arena *a)
{
	struct curl_header *header;
	const char **texts;
	size_t n;

	if (curl_easy_header(easy, "Warning", 0, CURLH_HEADER, -1, &header) != CURLHE_OK)
		return NULL;
	n = header->amount;
	texts = arena_array(a, const char *, n + 1);
	for (size_t i = 0; i < n; i++)
		if (curl_easy_header(easy, "Warning", i, CURLH_HEADER, -1, &header) == CURLHE_OK)
			texts[i] = warning_text(a, header->value);
	return texts;
}

/* What people understand, in place of libcurl's words. */
static const char *plain_reason(CURLcode result)
{
	switch (result) {
	case CURLE_GOT_NOTHING:
	case CURLE_PARTIAL_FILE:
	case CURLE_RECV_ERROR:
	case CURLE_SEND_ERROR:
	case CURLE_HTTP2:
	case CURLE_HTTP2_STREAM:
		return "the connection broke off";
	case CURLE_UNSUPPORTED_PROTOCOL:
	case CURLE_WEIRD_SERVER_REPLY:
		return "what came back is not HTTP";
	default:
		return NULL;
	}
}

/* The system's own word where there is one: "connection refused" says more than curl. What broke
 * off for TLS's sake says why. */
static const char *failure_reason(const struct http_call *call)
{
	long number = 0;

	curl_easy_getinfo(call->easy, CURLINFO_OS_ERRNO, &number);
	if (call->result == CURLE_COULDNT_CONNECT && number)
		return strerror((int)number);
	if (plain_reason(call->result) && !strstr(call->reason, "SSL"))
		return plain_reason(call->result);
	return call->reason[0] ? call->reason : curl_easy_strerror(call->result);
}

static void answer_error(const struct http_call *call, struct error *err)
{
	const char *reason = failure_reason(call);
	enum error_code code = ERR_UNKNOWN_OUTCOME;

	if (!call->sends)
		code = ERR_UNREACHABLE;
	else if (call->timed_out)
		code = ERR_TIMEOUT;
	else if (call->too_large)
		code = ERR_TOO_LARGE;

	if (call->timed_out)
		error_no_answer(err, code, call->timeout_ms);
	else if (call->too_large)
		error_set(err, code, "the answer is larger than %u MiB", CLIENT_MAX_ANSWER >> 20);
	else if (call->result == CURLE_ABORTED_BY_CALLBACK)
		error_set(err, code, "the connection was lost before the answer");
	else
		error_set(err, code, "%s", reason);
	error_prefix(err, "%s %s%s", call->method, call->pool->client->base_url, call->path);
}

static void call_done(struct http_call *call)
{
	struct http_answer answer = {.body = "", .retry_after_s = -1};
	struct curl_header *location;
	struct arena arena = {0};

	if (call->timed_out || call->result != CURLE_OK) {
		answer_error(call, &answer.err);
	} else {
		answer.status = call->status;
		answer.body = strbuf_str(&call->in);
		answer.size = call->in.size;
		answer.retry_after_s = retry_after_s(call->easy);
		curl_easy_getinfo(call->easy, CURLINFO_CONTENT_TYPE, &answer.content_type);
		if (curl_easy_header(call->easy, "Location", 0, CURLH_HEADER, -1, &location) ==
		    CURLHE_OK)
			answer.location = location->value;
		answer.warnings = warnings(call->easy, &arena);
	}
	pool_remove(call->pool, call);
	call->gone = true;
	call->on_done(&answer, call->arg);
	arena_finish(&arena);
}

static void deliver_head(struct http_call *call)
{
	call->head_due = false;
	if (call->on_head)
		call->on_head(call, call->status, call->arg);
}

static void deliver_data(struct http_call *call)
{
	auto_strbuf piece = call->in;

	call->in = (struct strbuf){0};
	if (call->on_data)
		call->on_data(call, piece.bytes, piece.size, call->arg);
}

static void deliver_drain(struct http_call *call)
{
	call->drain_due = false;
	if (call->on_drain && !call->finished && !call->out_ended)
		call->on_drain(call, call->arg);
}

void call_deliver(struct http_call *call)
{
	call->delivering = true;
	if (call->head_due)
		deliver_head(call);
	if (!call->gone && is_streamed(call) && call->in.size)
		deliver_data(call);
	if (!call->gone && call->drain_due)
		deliver_drain(call);
	if (!call->gone && call->finished)
		call_done(call);
	call->delivering = false;
	if (call->gone)
		call_free(call);
}

/* --- time --- */

static void call_expire(struct http_call *call)
{
	struct pool *pool = call->pool;
	int64_t left = call->last_ms + call->timeout_ms - env_mono_ms(call_env(call));

	if (call->lasting && left > 0) {
		timer_start(call->timer, left);
		return;
	}
	call->timed_out = call->finished = true;
	call_ready(call);
	pool_deliver(pool);
}

static void on_call_timer(void *arg)
{
	call_expire(arg);
}

static void call_start_timer(struct http_call *call, int64_t timeout_ms)
{
	call->timeout_ms = timeout_ms;
	call_touch(call);
	if (!timeout_ms)
		return;
	call->timer = timer_create_in(call_env(call), on_call_timer, call);
	timer_start(call->timer, timeout_ms);
}

/* --- options --- */

static void add_header(struct http_call *call, const char *name, const char *value)
{
	auto_xfree char *line = xasprintf(value ? "%s: %s" : "%s:", name, value);

	call->headers = curl_slist_append(call->headers, line);
	assert(call->headers);
}

static void set_headers(struct http_call *call, const struct http_call_spec *spec)
{
	const char *token = call->pool->client->token;

	add_header(call, "Expect", NULL); /* never wait for "100 Continue" */
	add_header(call, "User-Agent", AGENT);
	if (spec->accept)
		add_header(call, "Accept", spec->accept);
	add_header(call, "Content-Type",
		   spec->content_type); /* NULL: not libcurl's default either */
	if (spec->upload)
		add_header(call, "Transfer-Encoding", "chunked");
	if (token) {
		auto_xfree char *bearer = xasprintf("Bearer %s", token);

		add_header(call, "Authorization", bearer);
	}
	for (const char *const *line = spec->headers; line && *line; line++) {
		call->headers = curl_slist_append(call->headers, *line);
		assert(call->headers);
	}
	curl_easy_setopt(call->easy, CURLOPT_HTTPHEADER, call->headers);
}

static bool sends_body(const struct http_call_spec *spec)
{
	return spec->body || !strcmp(spec->method, "POST") || !strcmp(spec->method, "PUT") ||
	       !strcmp(spec->method, "PATCH");
}

static void set_method(struct http_call *call, const struct http_call_spec *spec)
{
	CURL *easy = call->easy;

	if (spec->upload) {
		curl_easy_setopt(easy, CURLOPT_UPLOAD, 1L);
		curl_easy_setopt(easy, CURLOPT_READFUNCTION, on_upload_wanted);
		curl_easy_setopt(easy, CURLOPT_READDATA, call);
		/* Its socket has a time-out of its own: see on_socket_made(). */
		curl_easy_setopt(easy, CURLOPT_FRESH_CONNECT, 1L);
		curl_easy_setopt(easy, CURLOPT_FORBID_REUSE, 1L);
	} else if (!strcmp(spec->method, "HEAD")) {
		curl_easy_setopt(easy, CURLOPT_NOBODY, 1L);
		return;
	} else if (sends_body(spec)) {
		curl_easy_setopt(easy, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)spec->body_size);
		curl_easy_setopt(easy, CURLOPT_COPYPOSTFIELDS, spec->body ? spec->body : "");
	}
	curl_easy_setopt(easy, CURLOPT_CUSTOMREQUEST, spec->method);
}

static void set_blob(CURL *easy, CURLoption option, const char *pem)
{
	union {
		const char *pem;
		void *data;
	} text = {pem};
	struct curl_blob blob = {text.data, strlen(pem), CURL_BLOB_COPY};

	curl_easy_setopt(easy, option, &blob);
}

static void set_credentials(CURL *easy, const struct http_client *c)
{
	curl_easy_setopt(easy, CURLOPT_SSLVERSION, (long)CURL_SSLVERSION_TLSv1_2);
	if (c->ca_pem) {
		set_blob(easy, CURLOPT_CAINFO_BLOB, c->ca_pem);
		curl_easy_setopt(easy, CURLOPT_CAPATH, NULL); /* the system's are not meant then */
	}
	if (c->cert_pem && c->key_pem) {
		set_blob(easy, CURLOPT_SSLCERT_BLOB, c->cert_pem);
		set_blob(easy, CURLOPT_SSLKEY_BLOB, c->key_pem);
	}
	if (c->insecure) {
		curl_easy_setopt(easy, CURLOPT_SSL_VERIFYPEER, 0L);
		curl_easy_setopt(easy, CURLOPT_SSL_VERIFYHOST, 0L);
	}
}

static void set_callbacks(CURL *easy)
{
	curl_easy_setopt(easy, CURLOPT_PREREQFUNCTION, on_before_send);
	curl_easy_setopt(easy, CURLOPT_HEADERFUNCTION, on_header_line);
	curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, on_body_bytes);
	curl_easy_setopt(easy, CURLOPT_SOCKOPTFUNCTION, on_socket_made);
}

/* Whom the callbacks are for. */
static void set_call(struct http_call *call)
{
	CURL *easy = call->easy;

	curl_easy_setopt(easy, CURLOPT_PRIVATE, call);
	curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, call->reason);
	curl_easy_setopt(easy, CURLOPT_PREREQDATA, call);
	curl_easy_setopt(easy, CURLOPT_HEADERDATA, call);
	curl_easy_setopt(easy, CURLOPT_WRITEDATA, call);
	curl_easy_setopt(easy, CURLOPT_SOCKOPTDATA, call);
}

static void set_connection(CURL *easy)
{
	curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
	curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https");
	curl_easy_setopt(easy, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
	curl_easy_setopt(easy, CURLOPT_PROXY, ""); /* the environment's is for browsers */
	curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS, CLIENT_CONNECT_MS);
	curl_easy_setopt(easy, CURLOPT_MAXAGE_CONN, CLIENT_IDLE_S);
	curl_easy_setopt(easy, CURLOPT_TCP_KEEPALIVE, 1L);
	curl_easy_setopt(easy, CURLOPT_TCP_KEEPIDLE, 15L);
	curl_easy_setopt(easy, CURLOPT_TCP_KEEPINTVL, 5L);
}

static void set_fresh(struct http_call *call)
{
	struct http_client *c = call->pool->client;

	curl_easy_setopt(call->easy, CURLOPT_FRESH_CONNECT, c->fresh ? 1L : 0L);
	c->fresh = false;
}

static void set_url(struct http_call *call, const struct http_call_spec *spec)
{
	auto_xfree char *url = xasprintf("%s%s", call->pool->client->base_url, spec->path);

	curl_easy_setopt(call->easy, CURLOPT_URL, url);
	curl_easy_setopt(call->easy, CURLOPT_PATH_AS_IS, 1L);
}

/* --- life --- */

static bool is_safe(const char *method)
{
	return !strcmp(method, "GET") || !strcmp(method, "HEAD");
}

static CURL *easy_create(struct pool *pool)
{
	CURL *easy = curl_easy_init();

	assert(easy);
	set_callbacks(easy);
	curl_easy_setopt(easy, CURLOPT_CLOSESOCKETFUNCTION, pool_close_socket);
	curl_easy_setopt(easy, CURLOPT_CLOSESOCKETDATA, pool);
	set_connection(easy);
	set_credentials(easy, pool->client);
	return easy;
}

static struct http_call *call_create(struct pool *pool, const struct http_call_spec *spec)
{
	struct http_call *call = xnew0(struct http_call);

	call->pool = pool;
	call->alike = !spec->stream && !spec->upload && sends_body(spec);
	call->easy = call->alike ? pool_take_spare(pool) : NULL;
	if (!call->easy)
		call->easy = easy_create(pool);
	call->credentials = pool->client->credentials;
	call->method = xstrdup(spec->method);
	call->path = xstrdup(spec->path);
	call->stream = spec->stream;
	call->lasting = spec->stream || spec->upload;
	call->upload = spec->upload;
	call->safe = is_safe(spec->method);
	call->on_head = spec->on_head;
	call->on_data = spec->on_data;
	call->on_done = spec->on_done;
	call->on_drain = spec->on_drain;
	call->may_start = spec->may_start;
	call->arg = spec->arg;
	return call;
}

/* A handle whose call failed may remember things of it. */
static bool can_be_spared(const struct http_call *call)
{
	return call->alike && call->finished && !call->timed_out && call->result == CURLE_OK &&
	       call->credentials == call->pool->client->credentials;
}

static void easy_release(struct http_call *call)
{
	CURL *easy = call->easy;

	if (!can_be_spared(call)) {
		curl_easy_cleanup(easy);
		return;
	}
	curl_easy_setopt(easy, CURLOPT_HTTPHEADER, NULL);
	curl_easy_setopt(easy, CURLOPT_POSTFIELDS, NULL);
	curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, NULL);
	pool_keep_spare(call->pool, easy);
}

void call_free(struct http_call *call)
{
	timer_destroy(call->timer);
	easy_release(call);
	curl_slist_free_all(call->headers);
	strbuf_finish(&call->in);
	strbuf_finish(&call->out);
	free(call->method);
	free(call->path);
	free(call);
}

struct http_call *http_call_start(struct http_client *c, const struct http_call_spec *spec)
{
	bool lasting = spec->stream || spec->upload;
	struct http_call *call = call_create(&c->pools[lasting ? POOL_STREAM : POOL_SHORT], spec);

	set_call(call);
	set_fresh(call);
	set_method(call, spec);
	set_headers(call, spec);
	set_url(call, spec);
	call_start_timer(call, spec->timeout_ms || lasting ? spec->timeout_ms : CLIENT_CALL_MS);
	pool_add(call->pool, call);
	return call;
}

void http_call_cancel(struct http_call *call)
{
	if (call->gone)
		return;
	pool_remove(call->pool, call);
	call->gone = true;
	if (!call->delivering)
		call_free(call);
}

static void upload_go_on(struct http_call *call)
{
	if (!call->out_paused || call->finished)
		return;
	call->out_paused = false;
	curl_easy_pause(call->easy, CURLPAUSE_CONT);
}

void http_call_pause(struct http_call *call, bool paused)
{
	assert(call->stream);
	call->held = paused;
	if (paused || !call->in_paused || call->finished)
		return;
	call->in_paused = false;
	call_touch(call);
	curl_easy_pause(call->easy, CURLPAUSE_CONT);
}

bool http_call_send(struct http_call *call, const void *bytes, size_t n)
{
	assert(call->upload && !call->out_ended);
	strbuf_add(&call->out, bytes, n);
	upload_go_on(call);
	return call->out.size - call->out_at < CLIENT_MAX_UPLOAD;
}

void http_call_send_end(struct http_call *call)
{
	assert(call->upload);
	call->out_ended = true;
	upload_go_on(call);
}
