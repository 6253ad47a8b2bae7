/* What json_parse takes is printed, read again and compared; jansson must read the same. What comes
 * from other servers is taken whenever the scanner takes it: others rest on that. */
#include <assert.h>
#include <stdint.h>

#include "base/json.h"
#include "base/scan.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

static void check_tree(const json_t *tree, const char *bytes, size_t n)
{
	auto_xfree char *text = json_print(tree);
	auto_json *again = json_parse(text, strlen(text), NULL, NULL);
	auto_json *judge = json_loadb(bytes, n, JSON_DECODE_ANY, NULL);

	assert(json_equal(tree, again));
	/* jansson refuses integers of more than 64 bits */
	assert(!judge || json_equal(tree, judge));
}

static bool scans(const char *bytes, size_t n)
{
	struct scan s;

	scan_init(&s, bytes, n);
	scan_skip(&s);
	return scan_end(&s);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	auto_xfree char *duplicate = NULL;
	struct error err = {.code = ERR_INTERNAL};
	auto_json *tree = json_parse((const char *)bytes, n, &duplicate, &err);
	auto_json *foreign = json_parse_foreign((const char *)bytes, n, NULL);

	assert(scans((const char *)bytes, n) == (foreign != NULL));
	assert(tree ? json_equal(tree, foreign) : err.code == ERR_BAD_REQUEST && *err.text);
	if (tree)
		check_tree(tree, (const char *)bytes, n);
	assert(tree || !duplicate);
	return 0;
}
