/*
 * Two defects on purpose: a run of this program shows that the sanitizers, and the scripts that
 * read their reports, would see such a defect in a real test. Never part of the build.
 */
#include <criterion/criterion.h>
#include <limits.h>
#include <stdlib.h>

Test(canary, leaks_memory)
{
	void *volatile lost = malloc(77);

	lost = NULL;
	cr_assert_null(lost);
}

Test(canary, overflows_an_int)
{
	volatile int value = INT_MAX;

	value = value + 1;
	cr_assert_lt(value, 0);
}
