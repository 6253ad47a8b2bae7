/* Selectors of all forms, from text and from JSON, against a few labels. */
#include <assert.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "api/selector.h"
#include "base/json.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

static const char *all_same(const char *key, void *arg)
{
	return arg;
}

static void match(const struct selector *s)
{
	char value[] = "16";
	size_t keys = 0;

	while (selector_key(s, keys))
		keys++;
	assert(selector_is_empty(s) == (keys == 0));
	selector_match_fn(s, all_same, value);
	assert(selector_match(s, NULL) == selector_match_fn(s, all_same, NULL));
}

static void read_object(const char *text, size_t n)
{
	json_t *j = json_parse(text, n, NULL, NULL);
	struct selector *s = NULL;

	if (j && selector_from_object(j, &s, NULL) == 0)
		match(s);
	selector_destroy(s);
	json_decref(j);
}

static void read_fields(const char *text)
{
	json_t *object = json_pack("{s:{s:s}}", "metadata", "name", "x");
	struct field_selector *s = NULL;

	if (field_selector_parse(text, &s, NULL) == 0) {
		const char *name = field_selector_name(s);

		if (field_selector_match(s, object))
			assert(!name || !strcmp(name, "x"));
	}
	field_selector_destroy(s);
	json_decref(object);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	char *text = xstrndup((const char *)bytes, n);
	struct selector *s = NULL;

	if (selector_parse(text, &s, NULL) == 0)
		match(s);
	selector_destroy(s);
	read_object(text, strlen(text));
	read_fields(text);
	free(text);
	return 0;
}
