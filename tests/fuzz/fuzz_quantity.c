/* Quantities: whatever is read is printed so that it reads as the same again. */
#include <assert.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "api/quantity.h"
#include "base/mem.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

static void check_form(struct quantity q, bool binary)
{
	char text[QUANTITY_SIZE], same[QUANTITY_SIZE];
	struct quantity again;

	quantity_format(q, binary, text);
	assert(quantity_parse(text, &again, NULL) == 0);
	assert(again.nano == q.nano);
	quantity_format(again, binary, same);
	assert(!strcmp(text, same));
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	char *text = xstrndup((const char *)bytes, n);
	struct quantity q;

	if (quantity_parse(text, &q, NULL) == 0) {
		check_form(q, false);
		check_form(q, true);
		assert((quantity_value(q) > 0) == (q.nano > 0));
		assert((quantity_milli(q) < 0) == (q.nano < 0));
	}
	free(text);
	return 0;
}
