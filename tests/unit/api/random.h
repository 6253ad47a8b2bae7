/* Random cases that can be had again: the seed is FEDERATOR_SEED, or fixed. */
#ifndef TESTS_UNIT_API_RANDOM_H
#define TESTS_UNIT_API_RANDOM_H

#include <stdint.h>
#include <stdlib.h>

struct random {
	uint64_t seed, state;
};

static inline struct random random_seeded(void)
{
	const char *text = getenv("FEDERATOR_SEED");
	uint64_t seed = text ? strtoull(text, NULL, 10) : 20260917;

	return (struct random){seed, seed};
}

/* splitmix64 */
static inline uint64_t random_next(struct random *r)
{
	uint64_t z = r->state += 0x9e3779b97f4a7c15;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
	z = (z ^ z >> 27) * 0x94d049bb133111eb;
	return z ^ z >> 31;
}

static inline uint64_t random_below(struct random *r, uint64_t bound)
{
	return random_next(r) % bound;
}

#endif
