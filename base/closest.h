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
/* Keeps the candidate if it is nearer than those before: at most 3 edits away, and fewer than the
 * word has letters. */
void closest_offer(struct closest *c, const char *candidate);

#endif
