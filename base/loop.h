/*
 * The event loop and the seams to the outside world: clocks, timers, randomness.
 *
 * `struct env` is what code that must also run on virtual time may use: it never asks libuv or
 * libc for the time, a timer or a random number. `struct loop` is the real thing on libuv.
 */
#ifndef BASE_LOOP_H
#define BASE_LOOP_H

#include <stdbool.h>
#include <stdint.h>
#include <uv.h>

struct env;
struct timer;

typedef void (*timer_fn)(void *arg);

struct env_ops {
	int64_t (*wall_ns)(struct env *env);
	int64_t (*mono_ns)(struct env *env);
	uint64_t (*random)(struct env *env);
	void (*timer_start)(struct env *env, struct timer *t, int64_t delay_ms);
	void (*timer_stop)(struct env *env, struct timer *t);
};

struct env {
	const struct env_ops *ops;
};

int64_t env_wall_ns(struct env *env); /* since 1970, UTC */
int64_t env_mono_ns(struct env *env); /* boot time: goes on while the machine sleeps */
static inline int64_t env_mono_ms(struct env *env)
{
	return env_mono_ns(env) / 1000000;
}
uint64_t env_random(struct env *env);
uint64_t env_random_below(struct env *env, uint64_t bound); /* 0 to bound - 1, unbiased */

/* One-shot timer; starting it again replaces the earlier start. Never fires inside timer_start.
 * Destroying a timer inside its own callback is allowed. */
struct timer *timer_create_in(struct env *env, timer_fn fn, void *arg);
void timer_start(struct timer *t, int64_t delay_ms);
void timer_stop(struct timer *t);
bool timer_active(const struct timer *t);
void timer_destroy(struct timer *t);

/* Delay before try number `tries` (0 first): base doubled each time, at most max; then +-10 %, so
 * that many who wait for the same thing do not come back together. */
int64_t env_backoff_ms(struct env *env, unsigned tries, int64_t base_ms, int64_t max_ms);

struct loop;

struct loop *loop_create(void); /* the process ignores SIGPIPE from here on */
/* Lets deferred calls and closing handles end, then asserts that no handle and no started timer is
 * left. NULL is fine. */
void loop_destroy(struct loop *loop);
struct env *loop_env(struct loop *loop);
uv_loop_t *loop_uv(struct loop *loop);
void loop_run(struct loop *loop); /* until loop_stop() or nothing is left to wait for */
void loop_stop(struct loop *loop);

/* Calls fn once from the loop, soon, never from inside this call. */
void loop_defer(struct loop *loop, void (*fn)(void *arg), void *arg);

/* Calls fn on SIGINT and SIGTERM; a second signal ends the process at once. */
void loop_on_stop_signal(struct loop *loop, void (*fn)(void *arg), void *arg);

#endif
