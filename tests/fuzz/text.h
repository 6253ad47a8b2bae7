/* Texts from the bytes of a fuzz target. Included once by each target that needs it. */
#ifndef TESTS_FUZZ_TEXT_H
#define TESTS_FUZZ_TEXT_H

#include <stdint.h>
#include <string.h>

#include "base/mem.h"

/* The bytes up to the first NUL as a text of its own, so that reading behind it is seen. */
static inline char *text_of(const uint8_t *bytes, size_t n)
{
	return xstrndup((const char *)bytes, n);
}

/* Cuts the text into its lines; as many as fit. */
static inline size_t text_lines(const char *text, char **ret_lines, size_t max)
{
	size_t n = 0;

	while (*text && n < max) {
		size_t size = strcspn(text, "\n");

		ret_lines[n++] = xstrndup(text, size);
		text += size + (text[size] == '\n');
	}
	return n;
}

static inline void text_lines_free(char **lines, size_t n)
{
	for (size_t i = 0; i < n; i++)
		free(lines[i]);
}

#endif
