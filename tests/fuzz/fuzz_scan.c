/* The scanner against itself (skipping and walking must agree) and against jansson. */
#include <assert.h>
#include <jansson.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/scan.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

static void walk(struct scan *s)
{
	struct strbuf text = {0};
	struct sv key, raw;
	bool truth;

	switch (scan_peek(s)) {
	case SCAN_OBJECT:
		scan_object_begin(s);
		while (scan_key(s, &key))
			walk(s);
		break;
	case SCAN_ARRAY:
		scan_array_begin(s);
		while (scan_element(s))
			walk(s);
		break;
	case SCAN_STRING:
		if (scan_string(s, &raw))
			sv_unescape(raw, &text);
		break;
	case SCAN_BOOL:
		scan_bool(s, &truth);
		break;
	default:
		scan_skip(s);
		break;
	}
	strbuf_finish(&text);
}

/* What jansson refuses beyond the RFC, or we do: deep nesting, NUL in keys, huge numbers. */
static bool is_dialect(const json_error_t *e)
{
	enum json_error_code code = json_error_code(e);

	return code == json_error_null_byte_in_key || code == json_error_numeric_overflow ||
	       code == json_error_stack_overflow;
}

static void judge(const char *bytes, size_t n, const struct scan *s, bool good)
{
	json_error_t e;
	json_t *tree;

	/* jansson takes a NUL behind the value for its end */
	if (memchr(bytes, '\0', n))
		return;
	tree = json_loadb(bytes, n, JSON_DECODE_ANY | JSON_ALLOW_NUL, &e);
	if (tree)
		assert(good || s->depth == 64);
	else
		assert(!good || is_dialect(&e));
	json_decref(tree);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	struct scan skipped, walked;
	struct sv found;
	int64_t number;
	bool good;

	scan_init(&skipped, (const char *)bytes, n);
	scan_skip(&skipped);
	good = scan_end(&skipped);
	scan_init(&walked, (const char *)bytes, n);
	walk(&walked);
	assert(scan_end(&walked) == good);
	assert(good || (skipped.why && walked.why && skipped.at == walked.at));

	judge((const char *)bytes, n, &skipped, good);

	scan_find((struct sv){(const char *)bytes, n}, &found, "a", "b", NULL);
	scan_find_str((struct sv){(const char *)bytes, n}, &found, "a", NULL);
	scan_init(&walked, (const char *)bytes, n);
	scan_int64(&walked, &number);
	return 0;
}
