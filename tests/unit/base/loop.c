/* The real loop. Waits are on its own events; delays are only lower bounds. */
#include "base/loop.h"

#include <criterion/criterion.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/mem.h"

TestSuite(loop, .timeout = 30);

struct trace {
	struct loop *loop;
	struct timer *timer;
	int calls, left;
	char order[16];
	size_t n;
};

static void count(void *arg)
{
	struct trace *t = arg;

	t->calls++;
}

static void count_and_stop(void *arg)
{
	struct trace *t = arg;

	t->calls++;
	loop_stop(t->loop);
}

Test(loop, ends_when_nothing_is_left_to_wait_for)
{
	struct loop *loop = loop_create();

	loop_run(loop);
	loop_destroy(loop);
	loop_destroy(NULL);
}

Test(loop, timer_fires_not_before_its_delay)
{
	struct trace t = {.loop = loop_create()};
	struct env *env = loop_env(t.loop);
	int64_t start = env_mono_ns(env);

	t.timer = timer_create_in(env, count, &t);
	timer_start(t.timer, 20);
	cr_assert_eq(t.calls, 0);
	loop_run(t.loop);
	cr_assert_eq(t.calls, 1);
	cr_assert_geq(env_mono_ns(env) - start, 20000000);
	timer_destroy(t.timer);
	loop_destroy(t.loop);
}

Test(loop, earlier_timer_started_later_fires_first)
{
	struct trace slow = {.loop = loop_create()}, fast = {.loop = slow.loop};

	slow.timer = timer_create_in(loop_env(slow.loop), count, &slow);
	fast.timer = timer_create_in(loop_env(slow.loop), count_and_stop, &fast);
	timer_start(slow.timer, 60000);
	timer_start(fast.timer, 5);
	loop_run(slow.loop);
	cr_assert_eq(fast.calls, 1);
	cr_assert_eq(slow.calls, 0);
	timer_destroy(slow.timer);
	timer_destroy(fast.timer);
	loop_destroy(slow.loop);
}

static void run_again(void *arg)
{
	struct trace *t = arg;

	t->calls++;
	if (--t->left)
		timer_start(t->timer, 1);
}

Test(loop, timer_may_start_itself_again)
{
	struct trace t = {.loop = loop_create(), .left = 20};

	t.timer = timer_create_in(loop_env(t.loop), run_again, &t);
	timer_start(t.timer, 0);
	loop_run(t.loop);
	cr_assert_eq(t.calls, 20);
	timer_destroy(t.timer);
	loop_destroy(t.loop);
}

Test(loop, stopped_timer_keeps_nobody_waiting)
{
	struct trace t = {.loop = loop_create()};

	t.timer = timer_create_in(loop_env(t.loop), count, &t);
	timer_start(t.timer, 3600000);
	timer_stop(t.timer);
	loop_run(t.loop);
	cr_assert_eq(t.calls, 0);
	timer_destroy(t.timer);
	loop_destroy(t.loop);
}

static void note_letter(struct trace *t, char letter)
{
	t->order[t->n++] = letter;
}

static void note_c(void *arg)
{
	note_letter(arg, 'c');
}

static void note_a(void *arg)
{
	struct trace *t = arg;

	note_letter(t, 'a');
	loop_defer(t->loop, note_c, t);
	note_letter(t, '-');
}

static void note_b(void *arg)
{
	note_letter(arg, 'b');
}

Test(loop, deferred_calls_come_in_order_and_never_from_inside)
{
	struct trace t = {.loop = loop_create()};

	loop_defer(t.loop, note_a, &t);
	loop_defer(t.loop, note_b, &t);
	cr_assert_eq(t.n, 0);
	loop_run(t.loop);
	cr_assert_str_eq(t.order, "a-bc");
	loop_destroy(t.loop);
}

Test(loop, destroy_lets_deferred_calls_happen)
{
	struct trace t = {.loop = loop_create()};

	loop_defer(t.loop, count, &t);
	loop_destroy(t.loop);
	cr_assert_eq(t.calls, 1);
}

static void defer_again(void *arg)
{
	struct trace *t = arg;

	if (!timer_active(t->timer))
		return;
	t->calls++;
	loop_defer(t->loop, defer_again, t);
}

/* Each of the deferred calls defers the next: the timer must still get its turn. */
Test(loop, deferring_for_ever_does_not_starve_timers)
{
	struct trace t = {.loop = loop_create()}, fired = {.loop = t.loop};

	t.timer = timer_create_in(loop_env(t.loop), count, &fired);
	timer_start(t.timer, 5);
	loop_defer(t.loop, defer_again, &t);
	loop_run(t.loop);
	cr_assert_eq(fired.calls, 1);
	timer_destroy(t.timer);
	loop_destroy(t.loop);
}

static void on_closed(uv_handle_t *handle)
{
	free(handle);
}

Test(loop, destroy_waits_for_closing_handles)
{
	struct loop *loop = loop_create();
	uv_async_t *async = xnew0(uv_async_t);

	uv_async_init(loop_uv(loop), async, NULL);
	uv_close((uv_handle_t *)async, on_closed);
	loop_destroy(loop);
}

Test(loop, destroy_refuses_open_handles, .signal = SIGABRT)
{
	struct loop *loop = loop_create();
	static uv_async_t async;

	uv_async_init(loop_uv(loop), &async, NULL);
	uv_unref((uv_handle_t *)&async);
	loop_destroy(loop);
}

static void raise_term(void *arg)
{
	(void)arg;
	raise(SIGTERM);
}

Test(loop, stop_signal_calls_once)
{
	struct trace t = {.loop = loop_create()};

	t.timer = timer_create_in(loop_env(t.loop), count, &t);
	timer_start(t.timer, 3600000); /* signals alone keep no loop running */
	loop_on_stop_signal(t.loop, count_and_stop, &t);
	loop_defer(t.loop, raise_term, NULL);
	loop_run(t.loop);
	cr_assert_eq(t.calls, 1);
	timer_destroy(t.timer);
	loop_destroy(t.loop);
}

static void raise_int(void *arg)
{
	struct trace *t = arg;

	t->calls++;
	raise(SIGINT);
}

Test(loop, second_stop_signal_ends_the_process, .exit_code = 128 + SIGINT)
{
	struct trace t = {.loop = loop_create()};

	t.timer = timer_create_in(loop_env(t.loop), count, &t);
	timer_start(t.timer, 3600000);
	loop_on_stop_signal(t.loop, raise_int, &t);
	loop_defer(t.loop, raise_term, NULL);
	loop_run(t.loop);
}

Test(loop, writing_to_a_closed_pipe_is_an_error_only)
{
	struct loop *loop = loop_create();
	int fds[2];

	cr_assert_eq(pipe(fds), 0);
	close(fds[0]);
	cr_assert_eq(write(fds[1], "x", 1), -1);
	close(fds[1]);
	loop_destroy(loop);
}

Test(loop, random_numbers_differ)
{
	struct loop *loop = loop_create();
	uint64_t seen[200];

	for (size_t i = 0; i < ARRAY_LEN(seen); i++) {
		seen[i] = env_random(loop_env(loop));
		for (size_t j = 0; j < i; j++)
			cr_assert_neq(seen[i], seen[j]);
	}
	loop_destroy(loop);
}

Test(loop, clocks_agree_with_the_kernel)
{
	struct loop *loop = loop_create();
	struct timespec before, boot;
	int64_t ns;

	clock_gettime(CLOCK_REALTIME, &before);
	ns = env_wall_ns(loop_env(loop)) - (before.tv_sec * 1000000000LL + before.tv_nsec);
	cr_assert(ns >= 0 && ns < 10000000000LL);
	clock_gettime(CLOCK_BOOTTIME, &boot);
	ns = env_mono_ns(loop_env(loop)) - (boot.tv_sec * 1000000000LL + boot.tv_nsec);
	cr_assert(ns >= 0 && ns < 10000000000LL);
	loop_destroy(loop);
}
