/*
 * Client and server at once, both changing their minds at random: calls are cancelled, exchanges
 * aborted, bodies paused, connections renewed. In the end every call has ended once or was
 * cancelled, every exchange was closed once, and nothing is left.
 */
#include <criterion/criterion.h>
#include <string.h>

#include "base/virtual.h"
#include "net.h"
#include "outcome.h"

enum { CALLS = 300, AT_ONCE = 24 };

struct guest {
	struct storm *storm;
	struct http_call *call; /* NULL: it has ended */
};

struct visit {
	struct storm *storm;
	struct exchange *x;
	struct timer *timer;
	bool paused;
};

struct storm {
	struct net net;
	struct virtual_env *dice;
	struct http_client *client;
	struct timer *next;
	struct guest guests[AT_ONCE];
	unsigned started, done, cancelled, handled, closed;
};

static unsigned roll(struct storm *s, unsigned sides)
{
	return (unsigned)env_random_below(virtual_env_seam(s->dice), sides);
}

/* --- the server --- */

static void on_close(struct exchange *x, bool lost, void *arg)
{
	struct visit *v = arg;

	v->storm->closed++;
	timer_destroy(v->timer);
	free(v);
}

static void act(void *arg)
{
	struct visit *v = arg;
	char bytes[3000] = {0};

	switch (roll(v->storm, 12)) {
	case 0:
		exchange_abort(v->x);
		return;
	case 1:
	case 2:
		if (exchange_begun(v->x))
			exchange_end(v->x);
		else
			exchange_respond(v->x, 200, NULL, bytes, roll(v->storm, sizeof(bytes)));
		return;
	case 3:
		v->paused = !v->paused;
		exchange_read_pause(v->x, v->paused);
		break;
	default:
		if (!exchange_begun(v->x))
			exchange_begin(v->x, 200, NULL);
		exchange_write(v->x, bytes, roll(v->storm, sizeof(bytes)));
	}
	timer_start(v->timer, roll(v->storm, 3));
}

static void ignore(struct exchange *x, const char *bytes, size_t n, void *arg)
{
	(void)x;
	(void)bytes;
	(void)n;
	(void)arg;
}

static void handle(struct exchange *x, void *arg)
{
	struct storm *s = arg;
	struct visit *v = xnew0(struct visit);

	s->handled++;
	*v = (struct visit){.storm = s, .x = x};
	v->timer = timer_create_in(loop_env(s->net.loop), act, v);
	exchange_on_close(x, on_close, v);
	if (roll(s, 3))
		exchange_read_stream(x, ignore, NULL);
	if (roll(s, 3))
		timer_start(v->timer, roll(s, 3));
	else
		exchange_respond(x, 200, NULL, "", 0);
}

/* --- the client --- */

static void maybe_cancel(struct guest *g, unsigned sides)
{
	if (!g->call || roll(g->storm, sides))
		return;
	http_call_cancel(g->call);
	g->call = NULL;
	g->storm->cancelled++;
}

static void on_head(struct http_call *call, int status, void *arg)
{
	maybe_cancel(arg, 6);
}

static void on_data(struct http_call *call, const char *bytes, size_t n, void *arg)
{
	struct guest *g = arg;

	maybe_cancel(g, 6);
	maybe_cancel(&g->storm->guests[roll(g->storm, AT_ONCE)], 40);
}

static void on_drain(struct http_call *call, void *arg)
{
	struct guest *g = arg;
	char bytes[70000] = {0};

	maybe_cancel(g, 6);
	if (!g->call)
		return;
	http_call_send(call, bytes, roll(g->storm, sizeof(bytes)) + 1);
	if (roll(g->storm, 4) == 0)
		http_call_send_end(call);
}

static void on_done(const struct http_answer *answer, void *arg)
{
	struct guest *g = arg;

	cr_assert_not_null(g->call, "ended twice, or after it was cancelled");
	g->call = NULL;
	g->storm->done++;
}

static void guest_start(struct guest *g)
{
	static const char *const methods[] = {"GET", "POST", "DELETE", "HEAD"};
	struct http_call_spec spec = {.method = methods[roll(g->storm, 4)],
				      .path = "/",
				      .stream = roll(g->storm, 2),
				      .timeout_ms = 5 + roll(g->storm, 20),
				      .on_head = on_head,
				      .on_data = on_data,
				      .on_done = on_done,
				      .on_drain = on_drain,
				      .arg = g};

	if (!strcmp(spec.method, "POST"))
		spec.upload = roll(g->storm, 2);
	if (roll(g->storm, 10) == 0)
		http_client_fresh_connection(g->storm->client);
	g->call = http_call_start(g->storm->client, &spec);
	g->storm->started++;
	if (spec.upload)
		http_call_send(g->call, "x", 1);
}

static void storm_end(struct storm *s)
{
	http_client_destroy(s->client);
	http_server_destroy(s->net.server, 50, NULL, NULL);
	s->net.server = NULL;
	timer_destroy(s->next);
}

static void go_on(void *arg)
{
	struct storm *s = arg;
	bool busy = false;

	for (unsigned i = 0; i < AT_ONCE; i++) {
		struct guest *g = &s->guests[i];

		maybe_cancel(g, 6);
		if (!g->call && s->started < CALLS && roll(s, 3) == 0)
			guest_start(g);
		busy |= g->call != NULL;
	}
	if (busy || s->started < CALLS)
		timer_start(s->next, 1);
	else
		storm_end(s);
}

static void storm(uint64_t seed)
{
	struct storm s = {0};
	struct http_client_config config = {.insecure = true, .max_connections = 8};
	auto_xfree char *url = NULL;

	net_init(&s.net, handle, &s);
	s.dice = virtual_env_create(seed, 0);
	url = xasprintf("https://127.0.0.1:%d", s.net.port);
	config.base_url = url;
	s.client = http_client_create(s.net.loop, &config);
	s.next = timer_create_in(loop_env(s.net.loop), go_on, &s);
	for (unsigned i = 0; i < AT_ONCE; i++)
		s.guests[i].storm = &s;
	timer_start(s.next, 0);
	loop_run(s.net.loop);
	cr_expect_eq(s.started, CALLS, "seed %lu", (unsigned long)seed);
	cr_expect_eq(s.done + s.cancelled, CALLS, "seed %lu", (unsigned long)seed);
	cr_expect_eq(s.handled, s.closed, "seed %lu", (unsigned long)seed);
	cr_expect_gt(s.cancelled, CALLS / 10);
	cr_expect_gt(s.done, CALLS / 10);
	net_finish(&s.net);
	virtual_env_destroy(s.dice);
}

Test(http_storm, leaves_nothing_behind)
{
	for (uint64_t seed = 1; seed <= 3; seed++)
		storm(seed);
}
