/*
 * What an environment keeps its timers in: a heap by due time, first started first among equals.
 * For those who implement `struct env_ops`; everybody else uses the functions in loop.h.
 */
#ifndef BASE_TIMER_H
#define BASE_TIMER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/loop.h"

struct timer {
	struct env *env;
	timer_fn fn;
	void *arg;
	int64_t due_ns; /* on the environment's boot-time clock */
	uint64_t order; /* of its start */
	size_t place;   /* in the heap, from 1; 0: not started */
};

struct timer_heap {
	struct timer **items; /* items[0] is place 1 */
	size_t n, cap;
	uint64_t orders;
};

void timer_heap_add(struct timer_heap *h, struct timer *t,
		    int64_t due_ns);                           /* moves it when there */
void timer_heap_remove(struct timer_heap *h, struct timer *t); /* fine when not there */
struct timer *timer_heap_first(const struct timer_heap *h);    /* NULL: empty */
/* Calls those due by now_ns, in order, but none that was started meanwhile. */
void timer_heap_fire(struct timer_heap *h, int64_t now_ns);
void timer_heap_finish(struct timer_heap *h); /* asserts that it is empty */

#endif
