/*
 * Arithmetic on amounts that users write: what would overflow stays at the greatest number.
 */
#ifndef SCHEDULER_SATURATE_H
#define SCHEDULER_SATURATE_H

#include <stdint.h>

/* Of one resource on one node; more is taken as this, so that sums over a node do not overflow. */
#define AMOUNT_MAX (INT64_C(1) << 52)
#define COUNT_MAX  INT32_MAX

/* a and b are not negative. */
static inline int64_t saturating_add(int64_t a, int64_t b)
{
	return a > INT64_MAX - b ? INT64_MAX : a + b;
}

static inline int64_t saturating_mul(int64_t a, int64_t b)
{
	int64_t product;

	return __builtin_mul_overflow(a, b, &product) ? INT64_MAX : product;
}

/* a + b * c that wraps: what was added can always be taken off again. */
static inline int64_t wrapping_add_mul(int64_t a, int64_t b, int64_t c)
{
	return (int64_t)((uint64_t)a + (uint64_t)b * (uint64_t)c);
}

#endif
