/* Patches of all types. The input is a JSON array: [target, patch]. */
#include <assert.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "api/patch.h"
#include "base/json.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

/* The target stays, and the result is an object that could be stored: it reads back. */
static void check(enum patch_type type, const json_t *target, const json_t *patch)
{
	json_t *before = json_deep_copy(target);
	struct error err = {0};
	json_t *result = NULL;

	if (patch_apply(type, target, patch, &result, &err) == 0) {
		char *text = json_print(result);
		json_t *again = json_parse(text, strlen(text), NULL, &err);

		assert(json_is_object(again) && json_equal(again, result));
		json_decref(again);
		free(text);
	} else {
		assert(!result && err.text[0]);
	}
	assert(json_equal(before, target));
	json_decref(before);
	json_decref(result);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	json_t *pair = json_parse((const char *)bytes, n, NULL, NULL);
	const json_t *target = json_array_get(pair, 0), *patch = json_array_get(pair, 1);

	if (json_is_object(target) && patch) {
		check(PATCH_MERGE, target, patch);
		check(PATCH_JSON, target, patch);
		check(PATCH_STRATEGIC, target, patch);
	}
	json_decref(pair);
	return 0;
}
