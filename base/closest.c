#include "base/closest.h"

#include <stdint.h>
#include <string.h>

#define NEAR_ENOUGH  3  /* edits */
#define LONGEST_WORD 64 /* of words that are compared */

static size_t least(size_t a, size_t b)
{
	return a < b ? a : b;
}

/* Of the letters i and j, and how they came there; rows are those of i, i - 1 and i - 2. */
static size_t edits_at(const char *a, size_t i, const char *b, size_t j, size_t *const rows[3])
{
	size_t edits = least(rows[1][j] + 1, rows[0][j - 1] + 1);

	edits = least(edits, rows[1][j - 1] + (a[i - 1] != b[j - 1]));
	if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
		edits = least(edits, rows[2][j - 2] + 1);
	return edits;
}

/* Letters added, left out, changed, or swapped with their neighbour, one row at a time. */
static size_t edits_between(const char *a, size_t n, const char *b)
{
	size_t kept[3][LONGEST_WORD + 1], m = strlen(b);

	if (n > LONGEST_WORD || m > LONGEST_WORD)
		return SIZE_MAX;
	for (size_t j = 0; j <= m; j++)
		kept[0][j] = j;
	for (size_t i = 1; i <= n; i++) {
		size_t *const rows[3] = {kept[i % 3], kept[(i + 2) % 3], kept[(i + 1) % 3]};

		rows[0][0] = i;
		for (size_t j = 1; j <= m; j++)
			rows[0][j] = edits_at(a, i, b, j, rows);
	}
	return kept[n % 3][m];
}

/* A third of the word, since a guess is followed: of short words one letter. */
static size_t most_edits(size_t n)
{
	if (n < 6)
		return n > 1;
	return least(n / 3, NEAR_ENOUGH);
}

void closest_init(struct closest *c, const char *word, size_t n)
{
	*c = (struct closest){.word = word, .n = n, .edits = most_edits(n) + 1};
}

void closest_offer(struct closest *c, const char *candidate)
{
	size_t edits = edits_between(c->word, c->n, candidate);

	if (edits >= c->edits)
		return;
	c->best = candidate;
	c->edits = edits;
}
