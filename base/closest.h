/* Which of the known words a misspelled one may mean. */
#ifndef BASE_CLOSEST_H
#define BASE_CLOSEST_H

#include <stddef.h>

struct closest {
	const char *word; /* borrowed, as are the candidates */
	size_t n;
	const char *best; /* NULL: none was near */
	size_t edits;
};

void closest_init(struct closest *c, const char *word, size_t n);
/* Keeps the candidate if it is nearer than those before: at most a third of the word's letters
 * away, at most 3, and 1 where that is less than one. Letters that are swapped count as one. */
void closest_offer(struct closest *c, const char *candidate);

#endif
