#include "wire.h"

#include <criterion/criterion.h>
#include <string.h>

#define WALL_NS 1700000000000000000LL /* Tue, 14 Nov 2023 22:13:20 GMT */

static void on_wake(void *below)
{
	struct wire *w = below;

	w->woken = true;
}

void wire_init(struct wire *w, http_handler handler, void *arg)
{
	*w = (struct wire){0};
	w->env = virtual_env_create(1, WALL_NS);
	w->config = (struct http1_config){.env = virtual_env_seam(w->env),
					  .handler = handler,
					  .arg = arg,
					  .draining = &w->draining,
					  .wake = on_wake,
					  .below = w};
	http1_init(&w->h, &w->config);
}

void wire_finish(struct wire *w)
{
	http1_end_exchange(&w->h, true);
	http1_finish(&w->h);
	strbuf_finish(&w->out);
	virtual_env_destroy(w->env);
}

static bool wire_send(struct wire *w)
{
	const char *bytes;
	size_t n;

	if (w->blocked)
		return false;
	bytes = http1_take(&w->h, HTTP_RECORD, &n);
	strbuf_add(&w->out, bytes, n);
	if (n)
		http1_sent(&w->h);
	return n > 0;
}

void wire_settle(struct wire *w)
{
	do {
		w->woken = false;
		http1_run(&w->h);
		if (http1_lost(&w->h)) {
			w->lost = true;
			http1_end_exchange(&w->h, true);
			return;
		}
	} while (wire_send(w) || w->woken);
	w->closed = http1_at_end(&w->h);
}

void wire_feed(struct wire *w, const char *bytes, size_t n)
{
	if (w->lost || w->closed)
		return;
	http1_feed(&w->h, bytes, n);
	wire_settle(w);
}

void wire_feeds(struct wire *w, const char *text)
{
	wire_feed(w, text, strlen(text));
}

void wire_eof(struct wire *w)
{
	http1_eof(&w->h);
	wire_settle(w);
}

void wire_feed_repeated(struct wire *w, const char *text, size_t times)
{
	while (times-- && !w->closed)
		wire_feeds(w, text);
}

/* --- the handler --- */

static void on_close(struct exchange *x, bool lost, void *arg)
{
	struct seen *s = arg;

	s->closed++;
	s->lost += lost;
	if (s->held == x)
		s->held = NULL;
}

static void on_drain(struct exchange *x, void *arg)
{
	struct seen *s = arg;

	s->drained++;
}

static void echo(struct exchange *x, const char *bytes, size_t n, void *arg)
{
	struct seen *s = arg;

	cr_assert_eq(bytes[n], '\0');
	strbuf_addf(&s->text, "%zu;", n);
	exchange_respond(x, 200, "text/plain", bytes, n);
}

void seen_collect(struct exchange *x, const char *bytes, size_t n, void *arg)
{
	struct seen *s = arg;

	strbuf_add(&s->body, bytes, n);
	s->pieces++;
	if (!n)
		s->body_ended = true;
	if (s->pause_after_piece)
		exchange_read_pause(x, true);
}

void seen_handle(struct exchange *x, void *arg)
{
	struct seen *s = arg;
	const char *path = exchange_path(x);

	strbuf_addf(&s->text, "%s %s;", exchange_method(x), path);
	exchange_on_close(x, on_close, s);
	exchange_on_drain(x, on_drain, s);
	if (!strcmp(path, "/echo")) {
		exchange_read_all(x, 100, echo, s);
	} else if (!strcmp(path, "/stream")) {
		exchange_begin(x, 200, "text/plain");
		exchange_write(x, "one", 3);
		exchange_write(x, "", 0);
		exchange_write(x, "twotwotwotwotwo.", 16);
		exchange_end(x);
	} else if (!strcmp(path, "/hold")) {
		s->held = x;
	} else {
		exchange_respond(x, 200, "text/plain", "ok", 2);
	}
}

void seen_finish(struct seen *s)
{
	strbuf_finish(&s->text);
	strbuf_finish(&s->body);
}
