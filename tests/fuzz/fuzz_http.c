/*
 * HTTP/1.1 of the server over a transport without a socket. The first bytes of the input say how
 * the rest is cut into pieces and when the client reads; the handler does what the path says. No
 * input may crash it, call a handler after its exchange, or leave an exchange unclosed.
 */
#include <assert.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/http_server_internal.h"
#include "base/virtual.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

#define KNOBS 8

struct wire {
	struct http1_config config;
	struct http1 h;
	struct exchange *open; /* handed to the handler and not closed yet */
	unsigned handled, closed;
	bool draining, woken, over;
	size_t body, sent;
};

static void on_wake(void *below)
{
	struct wire *w = below;

	w->woken = true;
}

static void on_close(struct exchange *x, bool lost, void *arg)
{
	struct wire *w = arg;

	assert(x == w->open);
	w->open = NULL;
	w->closed++;
}

static void on_all(struct exchange *x, const char *bytes, size_t n, void *arg)
{
	struct wire *w = arg;

	assert(x == w->open && bytes[n] == '\0' && n <= 1000);
	exchange_respond(x, 200, "text/plain", bytes, n);
}

static void on_piece(struct exchange *x, const char *bytes, size_t n, void *arg)
{
	struct wire *w = arg;

	assert(x == w->open);
	w->body += n;
	if (n && bytes[0] == 'p')
		exchange_read_pause(x, true);
	else if (n && bytes[0] == 'a')
		exchange_abort(x);
	else if (!n)
		exchange_end(x);
	else
		exchange_write(x, bytes, n);
}

/* Everything about the request is looked at, as a real handler may. */
static size_t read_all_of(struct exchange *x)
{
	static const char *const names[] = {"accept", "expect", "content-length", "x"};
	size_t n =
		strlen(exchange_method(x)) + strlen(exchange_target(x)) + strlen(exchange_path(x));

	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		const char *value = exchange_header(x, names[i]);
		const char *query = exchange_query(x, names[i]);

		n += (value ? strlen(value) : 0) + (query ? strlen(query) : 0);
	}
	return n;
}

static void handle(struct exchange *x, void *arg)
{
	struct wire *w = arg;
	const char *path = exchange_path(x);

	assert(!w->open);
	w->open = x;
	w->handled++;
	exchange_on_close(x, on_close, w);
	w->body += read_all_of(x);
	if (!strncmp(path, "/a", 2)) {
		exchange_read_all(x, 1000, on_all, w);
	} else if (!strncmp(path, "/s", 2)) {
		exchange_begin(x, 200, NULL);
		exchange_read_stream(x, on_piece, w);
	} else if (!strncmp(path, "/h", 2)) {
		exchange_begin(x, 200, NULL);
	} else {
		exchange_add_header(x, "Warning", path);
		exchange_respond(x, 200, NULL, path, strlen(path));
	}
}

static bool send_some(struct wire *w, size_t max)
{
	size_t n;
	const char *bytes = http1_take(&w->h, max, &n);

	if (!n)
		return false;
	assert(w->sent || !strncmp(bytes, "HTTP/1.1", n < 8 ? n : 8));
	w->sent += n;
	http1_sent(&w->h);
	return true;
}

static void settle(struct wire *w, size_t send_max)
{
	do {
		w->woken = false;
		http1_run(&w->h);
		w->over = http1_lost(&w->h) || http1_at_end(&w->h);
	} while (!w->over && (send_some(w, send_max) || w->woken));
}

/* What a handler and the clock may do between two pieces. */
static void meddle(struct wire *w, uint8_t knob)
{
	if (w->open && knob & 1)
		exchange_read_pause(w->open, false);
	if (w->open && knob & 2 && exchange_begun(w->open) && !w->open->ended)
		exchange_write(w->open, "more", 4);
	if (w->open && (knob & 12) == 12 && !w->open->ended)
		exchange_end(w->open);
	if ((knob & 48) == 48)
		http1_timeout(&w->h);
	if ((knob & 192) == 192)
		w->draining = true;
}

static void feed(struct wire *w, const uint8_t *knobs, const uint8_t *bytes, size_t n)
{
	for (size_t turn = 0; n && !w->over; turn++) {
		size_t part = knobs[turn % KNOBS] % 64 + 1;

		if (part > n)
			part = n;
		if (http1_wants_more(&w->h)) {
			http1_feed(&w->h, (const char *)bytes, part);
			bytes += part;
			n -= part;
		}
		meddle(w, knobs[(turn / KNOBS) % KNOBS]);
		settle(w, knobs[(turn + 1) % KNOBS] + 1u);
		if (turn > 4096)
			break;
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	auto_free(virtual_env_destroy) struct virtual_env *env = virtual_env_create(1, 0);
	struct wire w = {
		.config = {.env = virtual_env_seam(env), .handler = handle, .wake = on_wake}};

	if (n < KNOBS)
		return 0;
	w.config.arg = w.config.below = &w;
	w.config.draining = &w.draining;
	http1_init(&w.h, &w.config);
	feed(&w, bytes, bytes + KNOBS, n - KNOBS);
	if (!w.over) {
		http1_eof(&w.h);
		settle(&w, HTTP_RECORD);
	}
	http1_end_exchange(&w.h, true);
	http1_finish(&w.h);
	assert(!w.open && w.handled == w.closed);
	return 0;
}
