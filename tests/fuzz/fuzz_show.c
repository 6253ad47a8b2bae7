/* Objects of every kind as fedctl shows them: no control character of theirs reaches a terminal,
 * and a line is as wide as it may be. */
#include <assert.h>
#include <locale.h>

#include "base/json.h"
#include "fedctl/jobs.h"
#include "fedctl/layout.h"
#include "fedctl/output.h"

#define NOW_NS INT64_C(1800000000000000000)

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

static void check_text(const char *text)
{
	for (; *text; text++)
		assert((unsigned char)*text >= ' ' || *text == '\n');
}

static void show_row(const struct kind *k, const json_t *object, bool wide)
{
	const struct layout l = {.kind = k, .namespaces = k->namespaced, .wide = wide};
	auto_free(table_destroy) struct table *t = layout_table(&l);
	auto_strbuf out = {0};

	layout_add(&l, t, object, NOW_NS);
	layout_add_deleted(&l, t, object);
	table_write(t, wide ? 0 : 100, false, &out);
	check_text(out.bytes);
}

static void show_forms(const struct kind *k, const json_t *object)
{
	auto_strbuf json = {0}, yaml = {0}, name = {0};
	auto_json *again = NULL;

	object_write(object, OUTPUT_JSON, k, &json);
	object_write(object, OUTPUT_YAML, k, &yaml);
	object_write(object, OUTPUT_NAME, k, &name);
	again = json_parse_foreign(json.bytes, json.size, NULL);
	assert(again);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	auto_json *object = json_parse_foreign((const char *)bytes, n, NULL);
	struct job_facts facts;

	setlocale(LC_CTYPE, "C.UTF-8");
	if (!json_is_object(object))
		return 0;
	job_facts_read(object, &facts);
	for (size_t i = 0; i < kinds_count; i++) {
		show_row(kinds[i], object, false);
		show_row(kinds[i], object, true);
	}
	show_forms(kinds[0], object);
	return 0;
}
