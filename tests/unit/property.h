/*
 * Properties: a claim about any case, tried on many cases by chance. A case is a row of draws. When
 * one fails, it is made smaller for as long as it still fails: fewer draws, and lower ones. So a
 * generator needs nothing for that but that lower draws mean simpler things.
 *
 *	FEDERATOR_SEED=N	the case of that seed alone; without it seeds are 1, 2, 3, ...
 *	PROPERTY_CASES=N	so many cases instead of the test's own number
 */
#ifndef TESTS_UNIT_PROPERTY_H
#define TESTS_UNIT_PROPERTY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct draw;

unsigned draw_below(struct draw *d, unsigned bound); /* 0 to bound - 1 */
static inline bool draw_one_in(struct draw *d, unsigned n)
{
	return draw_below(d, n) == n - 1;
}
/* 0 to n - 1, in some order; that of numbers is the simplest. */
void draw_order(struct draw *d, int *ret_order, size_t n);
/* What the tests go through, such as how often a claim was about anything: the sum over all cases
 * of the check, but not of those that make a failure smaller. */
void draw_count(struct draw *d, size_t *counter);

/* Says what is wrong with the case and returns false, so that a check can end with it. */
bool draw_fail(struct draw *d, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* True: the claim holds. */
typedef bool (*property)(struct draw *d);

struct counterexample {
	uint64_t seed;
	size_t smaller; /* how often it was made smaller */
	char *text;     /* what draw_fail() said of the smallest; caller frees */
};
/* True when a case was found that fails; ret is written only then. */
bool property_refute(property claim, uint64_t first_seed, size_t cases, struct counterexample *ret);

/* Fails the test that runs, with seed and smallest case, when the claim does not hold. */
void property_check(property claim, size_t cases);
/* The case of this seed alone, and as it is: for what cannot begin anew. */
void property_check_once(property claim, uint64_t seed);

#endif
