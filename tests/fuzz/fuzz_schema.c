/*
 * Any JSON as an object of some kind: an array of one document, or of a new and an old one. Nothing
 * may crash, and to prune and to default twice must be the same as once.
 */
#include <assert.h>
#include <stdint.h>

#include "api/kind.h"
#include "api/schema.h"
#include "base/json.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

static const struct kind *kind_of(const json_t *object)
{
	const char *api_version = json_str_at(object, "apiVersion", NULL);
	const char *name = json_str_at(object, "kind", NULL);

	return api_version && name ? kind_find_by_name(api_version, name) : NULL;
}

static void count_dropped(const char *path, void *arg)
{
	assert(*path);
	++*(size_t *)arg;
}

static void settle(const struct kind *k, json_t *object)
{
	auto_json *once = NULL;
	size_t dropped = 0;

	schema_prune(kind_schema(k), object, NULL, NULL);
	schema_prune(kind_schema(k), object, count_dropped, &dropped);
	assert(!dropped);
	kind_default(k, object);
	once = json_deep_copy(object);
	kind_default(k, object);
	assert(json_equal(once, object));
	schema_prune(kind_schema(k), object, count_dropped, &dropped);
	assert(!dropped); /* defaults are in the schema */
}

static void judge(const struct kind *k, const json_t *object, const json_t *old)
{
	struct causes causes = {0};

	kind_validate(k, object, old, &causes);
	for (size_t i = 0; i < causes.n; i++)
		assert(causes.items[i].field && *causes.items[i].field && *causes.items[i].message);
	causes_finish(&causes);
}

static void show(const struct kind *k, const json_t *object)
{
	for (const struct column *c = k->columns; c->name; c++) {
		auto_json *cell = c->cell(object, 1800000000000000000);

		assert(cell && !json_is_object(cell) && !json_is_array(cell));
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	auto_json *docs = json_parse((const char *)bytes, n, NULL, NULL);
	json_t *object = json_array_get(docs, 0), *old = json_array_get(docs, 1);
	const struct kind *k = kind_of(object);

	if (!k)
		return 0;
	settle(k, object);
	show(k, object);
	judge(k, object, NULL);
	if (!json_is_object(old))
		return 0;
	settle(k, old);
	judge(k, object, old);
	return 0;
}
