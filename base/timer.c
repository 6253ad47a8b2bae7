/* The heap of timers, and the part of env that is the same for every environment. */
#include "base/timer.h"

#include <assert.h>

#include "base/mem.h"

static bool timer_before(const struct timer *a, const struct timer *b)
{
	return a->due_ns != b->due_ns ? a->due_ns < b->due_ns : a->order < b->order;
}

static void heap_put(struct timer_heap *h, size_t place, struct timer *t)
{
	h->items[place - 1] = t;
	t->place = place;
}

static void heap_rise(struct timer_heap *h, struct timer *t)
{
	size_t place = t->place;

	while (place > 1 && timer_before(t, h->items[place / 2 - 1])) {
		heap_put(h, place, h->items[place / 2 - 1]);
		place /= 2;
	}
	heap_put(h, place, t);
}

static void heap_sink(struct timer_heap *h, struct timer *t)
{
	size_t place = t->place;

	for (;;) {
		size_t child = place * 2;

		if (child < h->n && timer_before(h->items[child], h->items[child - 1]))
			child++;
		if (child > h->n || timer_before(t, h->items[child - 1]))
			break;
		heap_put(h, place, h->items[child - 1]);
		place = child;
	}
	heap_put(h, place, t);
}

void timer_heap_add(struct timer_heap *h, struct timer *t, int64_t due_ns)
{
	timer_heap_remove(h, t);
	t->due_ns = due_ns;
	t->order = h->orders++;
	GROW(h->items, h->n, h->cap);
	heap_put(h, ++h->n, t);
	heap_rise(h, t);
}

void timer_heap_remove(struct timer_heap *h, struct timer *t)
{
	struct timer *last;

	if (!t->place)
		return;
	last = h->items[--h->n];
	if (last != t) {
		heap_put(h, t->place, last);
		heap_rise(h, last);
		heap_sink(h, last);
	}
	t->place = 0;
}

struct timer *timer_heap_first(const struct timer_heap *h)
{
	return h->n ? h->items[0] : NULL;
}

void timer_heap_fire(struct timer_heap *h, int64_t now_ns)
{
	uint64_t end = h->orders;
	struct timer *t;

	while ((t = timer_heap_first(h)) && t->due_ns <= now_ns && t->order < end) {
		timer_heap_remove(h, t);
		t->fn(t->arg);
	}
}

void timer_heap_finish(struct timer_heap *h)
{
	assert(h->n == 0);
	free(h->items);
	*h = (struct timer_heap){0};
}

struct timer *timer_create_in(struct env *env, timer_fn fn, void *arg)
{
	struct timer *t = xnew0(struct timer);

	assert(fn);
	t->env = env;
	t->fn = fn;
	t->arg = arg;
	return t;
}

void timer_start(struct timer *t, int64_t delay_ms)
{
	t->env->ops->timer_start(t->env, t, delay_ms > 0 ? delay_ms : 0);
}

void timer_stop(struct timer *t)
{
	t->env->ops->timer_stop(t->env, t);
}

bool timer_active(const struct timer *t)
{
	return t->place != 0;
}

void timer_destroy(struct timer *t)
{
	if (!t)
		return;
	timer_stop(t);
	free(t);
}

int64_t env_wall_ns(struct env *env)
{
	return env->ops->wall_ns(env);
}

int64_t env_mono_ns(struct env *env)
{
	return env->ops->mono_ns(env);
}

uint64_t env_random(struct env *env)
{
	return env->ops->random(env);
}

uint64_t env_random_below(struct env *env, uint64_t bound)
{
	uint64_t unfair, r;

	assert(bound > 0);
	/* 2^64 mod bound: the lowest values would come once more often than the others */
	unfair = -bound % bound;
	do {
		r = env_random(env);
	} while (r < unfair);
	return r % bound;
}

int64_t env_backoff_ms(struct env *env, unsigned tries, int64_t base_ms, int64_t max_ms)
{
	int64_t delay = base_ms < max_ms ? base_ms : max_ms;
	int64_t spread;

	while (tries-- && delay < max_ms)
		delay = delay > max_ms / 2 ? max_ms : delay * 2;
	spread = delay / 10;
	return delay - spread + (int64_t)env_random_below(env, (uint64_t)spread * 2 + 1);
}
