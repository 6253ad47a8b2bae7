/* What the reader takes, the writer writes, and the reader reads back the same. */
#include <assert.h>
#include <stdint.h>

#include "base/json.h"
#include "base/yaml.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

static void check_document(const json_t *doc)
{
	auto_strbuf text = {0};
	auto_json *docs = NULL;
	int rc;

	yaml_write(&text, doc);
	rc = yaml_parse_all(text.bytes, text.size, &docs, NULL);
	assert(!rc && json_array_size(docs) == 1);
	assert(json_equal(json_array_get(docs, 0), doc));
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	struct error err = {.code = ERR_INTERNAL};
	auto_json *docs = NULL;
	json_t *doc;
	size_t i;

	if (yaml_parse_all((const char *)bytes, n, &docs, &err)) {
		assert(!docs && err.code == ERR_BAD_REQUEST && *err.text);
		return 0;
	}
	json_array_foreach (docs, i, doc)
		check_document(doc);
	return 0;
}
