/*
 * The real environment: libuv, the kernel's clocks and its random numbers. All timers share one
 * timerfd on CLOCK_BOOTTIME, so a machine that wakes up fires at once what fell due in its sleep.
 */
#include "base/loop.h"

#include <assert.h>
#include <errno.h>
#include <signal.h>
#include <sys/random.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#include "base/list.h"
#include "base/mem.h"
#include "base/timer.h"

#define NS_PER_S 1000000000LL
/* Deferred calls may defer others; a loop that still has some after so many turns never ends. */
#define LAST_TURNS 64

struct deferred {
	struct list_node link;
	void (*fn)(void *arg);
	void *arg;
};

struct loop {
	struct env env;
	uv_loop_t uv;
	struct timer_heap timers;
	int timer_fd;
	int64_t armed_ns; /* what timer_fd is set to; 0: not set */
	uv_poll_t timer_poll;
	struct list deferred;
	uv_idle_t idle; /* active while something is deferred */
	uv_signal_t signals[2];
	bool stop_signalled;
	void (*on_stop)(void *arg);
	void *on_stop_arg;
	uint64_t random[32]; /* from the kernel, each word used once */
	size_t random_left;
};

static struct loop *loop_of(struct env *env)
{
	return container_of(env, struct loop, env);
}

static int64_t clock_ns(clockid_t id)
{
	struct timespec ts;

	clock_gettime(id, &ts);
	return ts.tv_sec * NS_PER_S + ts.tv_nsec;
}

static int64_t loop_wall_ns(struct env *env)
{
	(void)env;
	return clock_ns(CLOCK_REALTIME);
}

static int64_t loop_mono_ns(struct env *env)
{
	(void)env;
	return clock_ns(CLOCK_BOOTTIME);
}

static uint64_t loop_random(struct env *env)
{
	struct loop *loop = loop_of(env);
	uint64_t r;

	if (!loop->random_left) {
		/* up to 256 bytes are never cut short once the kernel's pool is ready */
		ssize_t n = getrandom(loop->random, sizeof(loop->random), 0);

		assert(n == sizeof(loop->random));
		loop->random_left = ARRAY_LEN(loop->random);
	}
	r = loop->random[--loop->random_left];
	loop->random[loop->random_left] = 0;
	return r;
}

/* Sets the timerfd to the first timer. Firing early is harmless, so a later due time is only set
 * when the descriptor has fired. */
static void loop_arm(struct loop *loop)
{
	struct timer *first = timer_heap_first(&loop->timers);
	struct itimerspec spec = {0};

	if (!first) {
		uv_unref((uv_handle_t *)&loop->timer_poll);
		return;
	}
	uv_ref((uv_handle_t *)&loop->timer_poll);
	if (loop->armed_ns && loop->armed_ns <= first->due_ns)
		return;
	loop->armed_ns = first->due_ns;
	spec.it_value.tv_sec = first->due_ns / NS_PER_S;
	spec.it_value.tv_nsec = first->due_ns % NS_PER_S;
	timerfd_settime(loop->timer_fd, TFD_TIMER_ABSTIME, &spec, NULL);
}

static void loop_timer_start(struct env *env, struct timer *t, int64_t delay_ms)
{
	struct loop *loop = loop_of(env);
	int64_t now = loop_mono_ns(env), due;

	if (__builtin_mul_overflow(delay_ms, 1000000, &due) ||
	    __builtin_add_overflow(due, now, &due))
		due = INT64_MAX;
	timer_heap_add(&loop->timers, t, due);
	loop_arm(loop);
}

static void loop_timer_stop(struct env *env, struct timer *t)
{
	struct loop *loop = loop_of(env);

	timer_heap_remove(&loop->timers, t);
	loop_arm(loop);
}

static const struct env_ops loop_ops = {
	.wall_ns = loop_wall_ns,
	.mono_ns = loop_mono_ns,
	.random = loop_random,
	.timer_start = loop_timer_start,
	.timer_stop = loop_timer_stop,
};

static void loop_fire(struct loop *loop)
{
	uint64_t expirations;

	if (read(loop->timer_fd, &expirations, sizeof(expirations)) < 0 && errno != EAGAIN)
		abort();
	loop->armed_ns = 0;
	timer_heap_fire(&loop->timers, loop_mono_ns(&loop->env));
	loop_arm(loop);
}

static void on_timer_fd(uv_poll_t *poll, int status, int events)
{
	(void)status;
	(void)events;
	loop_fire(poll->data);
}

/* Those that were there when the turn began; what they defer waits for the next turn. */
static void loop_run_deferred(struct loop *loop)
{
	struct list_node *last = loop->deferred.head.prev, *node;

	do {
		struct deferred *d;

		node = list_first(&loop->deferred);
		d = list_entry(node, struct deferred, link);
		list_remove(node);
		d->fn(d->arg);
		free(d);
	} while (node != last);
	if (list_empty(&loop->deferred))
		uv_idle_stop(&loop->idle);
}

static void on_idle(uv_idle_t *idle)
{
	loop_run_deferred(idle->data);
}

static void on_signal(uv_signal_t *signal, int number)
{
	struct loop *loop = signal->data;

	if (loop->stop_signalled)
		_exit(128 + number);
	loop->stop_signalled = true;
	loop->on_stop(loop->on_stop_arg);
}

static void init_handles(struct loop *loop)
{
	uv_poll_init(&loop->uv, &loop->timer_poll, loop->timer_fd);
	loop->timer_poll.data = loop;
	uv_poll_start(&loop->timer_poll, UV_READABLE, on_timer_fd);
	uv_unref((uv_handle_t *)&loop->timer_poll);
	uv_idle_init(&loop->uv, &loop->idle);
	loop->idle.data = loop;
	for (size_t i = 0; i < ARRAY_LEN(loop->signals); i++) {
		uv_signal_init(&loop->uv, &loop->signals[i]);
		loop->signals[i].data = loop;
		uv_unref((uv_handle_t *)&loop->signals[i]);
	}
}

struct loop *loop_create(void)
{
	struct loop *loop = xnew0(struct loop);

	/* a peer that went away is an error of the write, not the end of the process */
	signal(SIGPIPE, SIG_IGN);
	loop->env.ops = &loop_ops;
	list_init(&loop->deferred);
	if (uv_loop_init(&loop->uv))
		abort();
	loop->timer_fd = timerfd_create(CLOCK_BOOTTIME, TFD_NONBLOCK | TFD_CLOEXEC);
	if (loop->timer_fd < 0)
		abort();
	init_handles(loop);
	return loop;
}

static void close_handles(struct loop *loop)
{
	uv_close((uv_handle_t *)&loop->timer_poll, NULL);
	uv_close((uv_handle_t *)&loop->idle, NULL);
	for (size_t i = 0; i < ARRAY_LEN(loop->signals); i++)
		uv_close((uv_handle_t *)&loop->signals[i], NULL);
}

void loop_destroy(struct loop *loop)
{
	int busy;

	if (!loop)
		return;
	for (int i = 0; i < LAST_TURNS && uv_loop_alive(&loop->uv); i++)
		uv_run(&loop->uv, UV_RUN_NOWAIT);
	close_handles(loop);
	uv_run(&loop->uv, UV_RUN_NOWAIT);
	busy = uv_loop_close(&loop->uv);
	assert(!busy);
	assert(list_empty(&loop->deferred));
	timer_heap_finish(&loop->timers);
	close(loop->timer_fd);
	free(loop);
}

struct env *loop_env(struct loop *loop)
{
	return &loop->env;
}

uv_loop_t *loop_uv(struct loop *loop)
{
	return &loop->uv;
}

void loop_run(struct loop *loop)
{
	uv_run(&loop->uv, UV_RUN_DEFAULT);
}

void loop_stop(struct loop *loop)
{
	uv_stop(&loop->uv);
}

void loop_defer(struct loop *loop, void (*fn)(void *arg), void *arg)
{
	struct deferred *d = xnew0(struct deferred);

	d->fn = fn;
	d->arg = arg;
	list_push_back(&loop->deferred, &d->link);
	uv_idle_start(&loop->idle, on_idle);
}

void loop_on_stop_signal(struct loop *loop, void (*fn)(void *arg), void *arg)
{
	static const int numbers[] = {SIGINT, SIGTERM};

	_Static_assert(ARRAY_LEN(numbers) == ARRAY_LEN(loop->signals), "one handle for each");
	loop->on_stop = fn;
	loop->on_stop_arg = arg;
	for (size_t i = 0; i < ARRAY_LEN(numbers); i++)
		uv_signal_start(&loop->signals[i], on_signal, numbers[i]);
}
