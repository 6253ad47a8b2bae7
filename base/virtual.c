#include "base/virtual.h"

#include "base/timer.h"

#define NS_PER_MS 1000000LL

struct virtual_env {
	struct env env;
	int64_t mono_ns;
	int64_t wall_minus_mono_ns;
	uint64_t random[4]; /* xoshiro256** (Blackman and Vigna) */
	struct timer_heap timers;
};

static struct virtual_env *virtual_of(struct env *env)
{
	return container_of(env, struct virtual_env, env);
}

static int64_t virtual_wall_ns(struct env *env)
{
	struct virtual_env *v = virtual_of(env);

	return v->mono_ns + v->wall_minus_mono_ns;
}

static int64_t virtual_mono_ns(struct env *env)
{
	return virtual_of(env)->mono_ns;
}

static uint64_t rotate_left(uint64_t x, int by)
{
	return x << by | x >> (64 - by);
}

static uint64_t virtual_random(struct env *env)
{
	uint64_t *s = virtual_of(env)->random;
	uint64_t result = rotate_left(s[1] * 5, 7) * 9;
	uint64_t t = s[1] << 17;

	s[2] ^= s[0];
	s[3] ^= s[1];
	s[1] ^= s[2];
	s[0] ^= s[3];
	s[2] ^= t;
	s[3] = rotate_left(s[3], 45);
	return result;
}

/* splitmix64: spreads a seed of few bits over the whole state, which must not be all zero. */
static void seed_state(uint64_t state[4], uint64_t seed)
{
	for (int i = 0; i < 4; i++) {
		uint64_t z = seed += 0x9e3779b97f4a7c15ULL;

		z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ULL;
		z = (z ^ z >> 27) * 0x94d049bb133111ebULL;
		state[i] = z ^ z >> 31;
	}
}

static void virtual_timer_start(struct env *env, struct timer *t, int64_t delay_ms)
{
	struct virtual_env *v = virtual_of(env);
	int64_t due;

	if (__builtin_mul_overflow(delay_ms, NS_PER_MS, &due) ||
	    __builtin_add_overflow(due, v->mono_ns, &due))
		due = INT64_MAX;
	timer_heap_add(&v->timers, t, due);
}

static void virtual_timer_stop(struct env *env, struct timer *t)
{
	timer_heap_remove(&virtual_of(env)->timers, t);
}

static const struct env_ops virtual_ops = {
	.wall_ns = virtual_wall_ns,
	.mono_ns = virtual_mono_ns,
	.random = virtual_random,
	.timer_start = virtual_timer_start,
	.timer_stop = virtual_timer_stop,
};

struct virtual_env *virtual_env_create(uint64_t seed, int64_t wall_ns)
{
	struct virtual_env *v = xnew0(struct virtual_env);

	v->env.ops = &virtual_ops;
	v->wall_minus_mono_ns = wall_ns;
	seed_state(v->random, seed);
	return v;
}

void virtual_env_destroy(struct virtual_env *v)
{
	if (!v)
		return;
	timer_heap_finish(&v->timers);
	free(v);
}

struct env *virtual_env_seam(struct virtual_env *v)
{
	return &v->env;
}

bool virtual_env_step(struct virtual_env *v)
{
	struct timer *first = timer_heap_first(&v->timers);

	if (!first)
		return false;
	if (first->due_ns > v->mono_ns)
		v->mono_ns = first->due_ns;
	timer_heap_fire(&v->timers, v->mono_ns);
	return true;
}

void virtual_env_advance(struct virtual_env *v, int64_t ms)
{
	int64_t end = v->mono_ns + ms * NS_PER_MS;
	struct timer *first;

	while ((first = timer_heap_first(&v->timers)) && first->due_ns <= end)
		virtual_env_step(v);
	v->mono_ns = end;
}

void virtual_env_shift_wall(struct virtual_env *v, int64_t ms)
{
	v->wall_minus_mono_ns += ms * NS_PER_MS;
}
