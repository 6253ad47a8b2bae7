#include "base/closest.h"

#include <stdint.h>
#include <string.h>

#define NEAR_ENOUGH  3  /* edits */
#define LONGEST_WORD 64 /* of words that are compared */

static size_t least(size_t a, size_t b, size_t c)
{
	size_t ab = a < b ? a : b;

	return ab < c ? ab : c;
}

/* Levenshtein's distance, one row at a time. */
static size_t edits_between(const char *a, size_t n, const char *b)
{
	size_t row[LONGEST_WORD + 1], m = strlen(b);

	if (n > LONGEST_WORD || m > LONGEST_WORD)
		return SIZE_MAX;
	for (size_t j = 0; j <= m; j++)
		row[j] = j;
	for (size_t i = 1; i <= n; i++) {
		size_t diagonal = row[0];

		row[0] = i;
		for (size_t j = 1; j <= m; j++) {
			size_t above = row[j];

			row[j] =
				least(above + 1, row[j - 1] + 1, diagonal + (a[i - 1] != b[j - 1]));
			diagonal = above;
		}
	}
	return row[m];
}

void closest_init(struct closest *c, const char *word, size_t n)
{
	*c = (struct closest){.word = word, .n = n, .edits = NEAR_ENOUGH + 1};
	if (c->edits > n)
		c->edits = n;
}

void closest_offer(struct closest *c, const char *candidate)
{
	size_t edits = edits_between(c->word, c->n, candidate);

	if (edits >= c->edits)
		return;
	c->best = candidate;
	c->edits = edits;
}
