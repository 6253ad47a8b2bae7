/* Rules of Kubernetes' own kinds beyond their schemas. */
#include <string.h>

#include "api/kinds.h"
#include "base/json.h"

#define DATA_MAX     (1024 * 1024) /* bytes of all values, as Kubernetes */
#define DATA_KEY_MAX 253

static bool data_key_ok(const char *key)
{
	static const char allowed[] =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.";
	size_t n = strlen(key);

	return n && n <= DATA_KEY_MAX && strspn(key, allowed) == n && strcmp(key, ".") &&
	       strncmp(key, "..", 2);
}

static size_t check_data(const json_t *data, const struct path *at, struct causes *c)
{
	size_t size = 0;
	const char *key;
	json_t *value;

	json_object_foreach ((json_t *)(uintptr_t)data, key, value) {
		size += json_string_length(value);
		if (!data_key_ok(key) && c->n < CAUSES_ENOUGH)
			causes_add_at(
				c, CAUSE_INVALID, PATH_KEY(at, key), NULL,
				"names have letters, digits, '-', '_' and '.' only, at most %d, "
				"and do not begin with two dots",
				DATA_KEY_MAX);
	}
	return size;
}

static void check_immutable(const json_t *object, const json_t *old, const char *field,
			    struct causes *c)
{
	const json_t *now = json_object_get(object, field), *was = json_object_get(old, field);

	if (json_equal(now, was) || (!json_object_size(now) && !json_object_size(was)))
		return;
	causes_add_at(c, CAUSE_FORBIDDEN, PATH_FIELD(NULL, field), NULL,
		      "cannot change while immutable is true");
}

void configmap_validate(const json_t *configmap, const json_t *old, struct causes *causes)
{
	const json_t *data = json_object_get(configmap, "data");
	const json_t *binary = json_object_get(configmap, "binaryData");
	size_t size = check_data(data, PATH_FIELD(NULL, "data"), causes) +
		      check_data(binary, PATH_FIELD(NULL, "binaryData"), causes);
	const char *key;
	json_t *value;

	if (size > DATA_MAX)
		causes_add_at(causes, CAUSE_TOO_LONG, NULL, NULL,
			      "all data has %zu bytes, at most %d are allowed", size, DATA_MAX);
	json_object_foreach ((json_t *)(uintptr_t)binary, key, value)
		if (json_object_get(data, key))
			causes_add_at(causes, CAUSE_INVALID,
				      PATH_KEY(PATH_FIELD(NULL, "data"), key), NULL,
				      "binaryData has the same name");
	if (!json_is_true(json_object_get(old, "immutable")))
		return;
	if (!json_is_true(json_object_get(configmap, "immutable")))
		causes_add_at(causes, CAUSE_FORBIDDEN, PATH_FIELD(NULL, "immutable"), NULL,
			      "cannot be taken back");
	check_immutable(configmap, old, "data", causes);
	check_immutable(configmap, old, "binaryData", causes);
}
