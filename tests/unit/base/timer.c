/* Timers, backoff and bounded random numbers, on virtual time. */
#include "base/virtual.h"

#include <criterion/criterion.h>
#include <stdlib.h>

TestSuite(timer);

struct log {
	struct env *env;
	int fired[300];
	int64_t at_ms[300];
	size_t n;
};

struct entry {
	struct log *log;
	int id;
	struct timer *timer;
};

static void note(void *arg)
{
	struct entry *e = arg;

	e->log->at_ms[e->log->n] = env_mono_ms(e->log->env);
	e->log->fired[e->log->n++] = e->id;
}

static void entry_start(struct entry *e, struct log *log, int id, int64_t delay_ms)
{
	*e = (struct entry){.log = log, .id = id};
	e->timer = timer_create_in(log->env, note, e);
	timer_start(e->timer, delay_ms);
}

Test(timer, fires_once_when_due_and_not_before)
{
	auto_free(virtual_env_destroy) struct virtual_env *v = virtual_env_create(1, 0);
	struct log log = {.env = virtual_env_seam(v)};
	struct entry e;

	entry_start(&e, &log, 7, 100);
	cr_assert(timer_active(e.timer));
	virtual_env_advance(v, 99);
	cr_assert_eq(log.n, 0);
	virtual_env_advance(v, 1);
	cr_assert_eq(log.n, 1);
	cr_assert_eq(log.at_ms[0], 100);
	cr_assert_not(timer_active(e.timer));
	virtual_env_advance(v, 1000);
	cr_assert_eq(log.n, 1);
	timer_destroy(e.timer);
}

Test(timer, never_fires_inside_start)
{
	auto_free(virtual_env_destroy) struct virtual_env *v = virtual_env_create(1, 0);
	struct log log = {.env = virtual_env_seam(v)};
	struct entry e;

	entry_start(&e, &log, 1, 0);
	cr_assert_eq(log.n, 0);
	timer_start(e.timer, -5);
	cr_assert_eq(log.n, 0);
	virtual_env_advance(v, 0);
	cr_assert_eq(log.n, 1);
	timer_destroy(e.timer);
}

Test(timer, fires_by_due_time_then_by_order_of_start)
{
	auto_free(virtual_env_destroy) struct virtual_env *v = virtual_env_create(1, 0);
	struct log log = {.env = virtual_env_seam(v)};
	struct entry entries[200];

	/* 200 timers over 10 due times, started in a mixed-up order */
	for (int i = 0; i < 200; i++)
		entry_start(&entries[i], &log, i, (i * 7 % 10) * 5);
	virtual_env_advance(v, 100);
	cr_assert_eq(log.n, 200);
	for (int i = 0; i < 200; i++) {
		cr_assert_eq(log.at_ms[i], log.fired[i] * 7 % 10 * 5);
		if (i && log.at_ms[i] == log.at_ms[i - 1])
			cr_assert_gt(log.fired[i], log.fired[i - 1]);
		if (i)
			cr_assert_geq(log.at_ms[i], log.at_ms[i - 1]);
	}
	for (int i = 0; i < 200; i++)
		timer_destroy(entries[i].timer);
}

Test(timer, starting_again_replaces_and_stopping_cancels)
{
	auto_free(virtual_env_destroy) struct virtual_env *v = virtual_env_create(1, 0);
	struct log log = {.env = virtual_env_seam(v)};
	struct entry a, b;

	entry_start(&a, &log, 1, 10);
	entry_start(&b, &log, 2, 10);
	timer_start(a.timer, 50);
	timer_stop(b.timer);
	timer_stop(b.timer);
	virtual_env_advance(v, 40);
	cr_assert_eq(log.n, 0);
	virtual_env_advance(v, 10);
	cr_assert_eq(log.n, 1);
	cr_assert_eq(log.fired[0], 1);
	timer_destroy(a.timer);
	timer_destroy(b.timer);
	timer_destroy(NULL);
}

/* Any subset of the timers can be stopped and the rest still fire in order. Small heaps, many of
 * them: there the one that takes a hole more often has to rise. */
Test(timer, stopping_inside_the_heap_keeps_the_order)
{
	for (uint64_t seed = 1; seed <= 2000; seed++) {
		auto_free(virtual_env_destroy) struct virtual_env *v = virtual_env_create(seed, 0);
		struct log log = {.env = virtual_env_seam(v)};
		struct entry entries[14];
		int64_t delays[14];
		size_t expected = 0;

		for (int i = 0; i < 14; i++) {
			delays[i] = (int64_t)env_random_below(log.env, 50);
			entry_start(&entries[i], &log, i, delays[i]);
		}
		for (int i = 0; i < 14; i++) {
			if (env_random_below(log.env, 4) == 0)
				timer_stop(entries[i].timer);
			else
				expected++;
		}
		virtual_env_advance(v, 50);
		cr_assert_eq(log.n, expected, "seed %d", (int)seed);
		for (size_t i = 0; i < log.n; i++)
			cr_assert_eq(log.at_ms[i], delays[log.fired[i]], "seed %d", (int)seed);
		for (int i = 0; i < 14; i++)
			timer_destroy(entries[i].timer);
	}
}

static void destroy_self(void *arg)
{
	struct entry *e = arg;

	note(e);
	timer_destroy(e->timer);
	e->timer = NULL;
}

Test(timer, may_be_destroyed_in_its_own_callback)
{
	auto_free(virtual_env_destroy) struct virtual_env *v = virtual_env_create(1, 0);
	struct log log = {.env = virtual_env_seam(v)};
	struct entry e = {.log = &log};

	e.timer = timer_create_in(log.env, destroy_self, &e);
	timer_start(e.timer, 5);
	virtual_env_advance(v, 5);
	cr_assert_eq(log.n, 1);
	cr_assert_null(e.timer);
}

static void start_self(void *arg)
{
	struct entry *e = arg;

	note(e);
	timer_start(e->timer, 0);
}

Test(timer, restarted_with_no_delay_does_not_starve_the_others)
{
	auto_free(virtual_env_destroy) struct virtual_env *v = virtual_env_create(1, 0);
	struct log log = {.env = virtual_env_seam(v)};
	struct entry busy = {.log = &log, .id = 1}, other;

	busy.timer = timer_create_in(log.env, start_self, &busy);
	timer_start(busy.timer, 0);
	entry_start(&other, &log, 2, 0);
	cr_assert(virtual_env_step(v));
	cr_assert_eq(log.n, 2);
	cr_assert_eq(log.fired[1], 2);
	timer_destroy(busy.timer);
	timer_destroy(other.timer);
}

Test(timer, the_longest_delay_does_not_overflow)
{
	auto_free(virtual_env_destroy) struct virtual_env *v = virtual_env_create(1, 0);
	struct log log = {.env = virtual_env_seam(v)};
	struct entry e;

	entry_start(&e, &log, 1, INT64_MAX);
	virtual_env_advance(v, 1000LL * 3600 * 24 * 365 * 100);
	cr_assert_eq(log.n, 0);
	timer_destroy(e.timer);
}

Test(timer, wall_clock_can_be_set_without_moving_timers)
{
	auto_free(virtual_env_destroy) struct virtual_env *v = virtual_env_create(1, 5000000000);
	struct log log = {.env = virtual_env_seam(v)};
	struct entry e;

	cr_assert_eq(env_wall_ns(log.env), 5000000000);
	entry_start(&e, &log, 1, 1000);
	virtual_env_shift_wall(v, 3600000);
	virtual_env_advance(v, 999);
	cr_assert_eq(log.n, 0);
	cr_assert_eq(env_wall_ns(log.env), 5000000000 + 3600999000000);
	virtual_env_advance(v, 1);
	cr_assert_eq(log.n, 1);
	timer_destroy(e.timer);
}

Test(timer, same_seed_same_numbers)
{
	auto_free(virtual_env_destroy) struct virtual_env *a = virtual_env_create(42, 0);
	auto_free(virtual_env_destroy) struct virtual_env *b = virtual_env_create(42, 0);
	auto_free(virtual_env_destroy) struct virtual_env *c = virtual_env_create(43, 0);
	int same = 0;

	for (int i = 0; i < 100; i++) {
		uint64_t r = env_random(virtual_env_seam(a));

		cr_assert_eq(r, env_random(virtual_env_seam(b)));
		same += r == env_random(virtual_env_seam(c));
	}
	cr_assert_eq(same, 0);
}

Test(timer, bounded_random_numbers_reach_all_values_evenly)
{
	auto_free(virtual_env_destroy) struct virtual_env *v = virtual_env_create(1, 0);
	struct env *env = virtual_env_seam(v);
	int counts[7] = {0}, low = 0;

	for (int i = 0; i < 70000; i++)
		counts[env_random_below(env, 7)]++;
	for (int i = 0; i < 7; i++)
		cr_expect(counts[i] > 9600 && counts[i] < 10400, "%d came %d times", i, counts[i]);
	cr_assert_eq(env_random_below(env, 1), 0);
	/* a plain modulus by three quarters of the range gives its lowest third half of the time */
	for (int i = 0; i < 9000; i++) {
		uint64_t r = env_random_below(env, 3ULL << 62);

		cr_assert_lt(r, 3ULL << 62);
		low += r < 1ULL << 62;
	}
	cr_expect(low > 2800 && low < 3200, "the lowest third came %d times of 9000", low);
}

/* 10 s x 2^n, at most 5 min, each +-10 %. */
Test(timer, backoff_doubles_up_to_its_maximum)
{
	static const int64_t middles[] = {10000, 20000, 40000, 80000, 160000, 300000, 300000};
	auto_free(virtual_env_destroy) struct virtual_env *v = virtual_env_create(1, 0);
	struct env *env = virtual_env_seam(v);

	for (unsigned tries = 0; tries < ARRAY_LEN(middles); tries++) {
		int64_t lowest = INT64_MAX, highest = 0, middle = middles[tries];

		for (int i = 0; i < 2000; i++) {
			int64_t ms = env_backoff_ms(env, tries, 10000, 300000);

			lowest = ms < lowest ? ms : lowest;
			highest = ms > highest ? ms : highest;
		}
		cr_expect(lowest >= middle * 9 / 10 && lowest < middle * 92 / 100);
		cr_expect(highest <= middle * 11 / 10 && highest > middle * 108 / 100);
	}
	cr_assert_leq(env_backoff_ms(env, 4000000000U, 1, INT64_MAX / 4), INT64_MAX / 3);
	cr_assert_eq(env_backoff_ms(env, 3, 0, 100), 0);
}
