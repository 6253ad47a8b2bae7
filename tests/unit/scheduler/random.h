/* Seeded random worlds for properties. A failure names its seed; SCHEDULER_SEEDS=N runs more. */
#ifndef TESTS_SCHEDULER_RANDOM_H
#define TESTS_SCHEDULER_RANDOM_H

#include <stdint.h>
#include <stdlib.h>

struct dice {
	uint64_t state;
};

static inline uint32_t dice_roll(struct dice *d, uint32_t below)
{
	d->state = d->state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (uint32_t)((d->state >> 33) % below);
}

static inline int dice_seeds(int standard)
{
	const char *text = getenv("SCHEDULER_SEEDS");

	return text ? (int)strtol(text, NULL, 10) : standard;
}

#endif
