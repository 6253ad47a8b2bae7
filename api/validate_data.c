/* ConfigMaps and Secrets: names, sizes, and what may not change any more. */
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

/* Together, as they are stored together. */
static void check_size(size_t size, struct causes *c)
{
	if (size > DATA_MAX)
		causes_add_at(c, CAUSE_TOO_LONG, PATH_FIELD(NULL, "data"), NULL,
			      "all data has %zu bytes, at most %d are allowed", size, DATA_MAX);
}

static void check_both(const json_t *data, const json_t *binary, struct causes *c)
{
	const char *key;
	json_t *value;

	json_object_foreach ((json_t *)(uintptr_t)binary, key, value)
		if (json_object_get(data, key) && c->n < CAUSES_ENOUGH)
			causes_add_at(c, CAUSE_INVALID, PATH_KEY(PATH_FIELD(NULL, "data"), key),
				      NULL, "binaryData has the same name");
}

static void check_changes(const json_t *object, const json_t *old, struct causes *c)
{
	if (!json_is_true(json_object_get(old, "immutable")))
		return;
	if (!json_is_true(json_object_get(object, "immutable")))
		causes_add_at(c, CAUSE_FORBIDDEN, PATH_FIELD(NULL, "immutable"), NULL,
			      "cannot be taken back");
	check_immutable(object, old, "data", c);
	check_immutable(object, old, "binaryData", c);
}

void configmap_validate(const json_t *configmap, const json_t *old, struct causes *causes)
{
	const json_t *data = json_object_get(configmap, "data");
	const json_t *binary = json_object_get(configmap, "binaryData");

	check_size(check_data(data, PATH_FIELD(NULL, "data"), causes) +
			   check_data(binary, PATH_FIELD(NULL, "binaryData"), causes),
		   causes);
	check_both(data, binary, causes);
	check_changes(configmap, old, causes);
}

/* What a Secret of a well-known type must hold. */
static const struct {
	const char *type, *keys[3];
} secret_types[] = {
	{"kubernetes.io/dockercfg", {".dockercfg"}},
	{"kubernetes.io/dockerconfigjson", {".dockerconfigjson"}},
	{"kubernetes.io/ssh-auth", {"ssh-privatekey"}},
	{"kubernetes.io/tls", {"tls.crt", "tls.key"}},
};

static void check_secret_type(const json_t *secret, const json_t *data, struct causes *c)
{
	const char *type = json_str_at(secret, "type", NULL);

	for (size_t i = 0; type && i < ARRAY_LEN(secret_types); i++) {
		if (strcmp(type, secret_types[i].type))
			continue;
		for (const char *const *key = secret_types[i].keys; *key; key++)
			if (!json_object_get(data, *key))
				causes_add_at(c, CAUSE_REQUIRED,
					      PATH_KEY(PATH_FIELD(NULL, "data"), *key), NULL,
					      "type %s has it", type);
	}
}

void secret_validate(const json_t *secret, const json_t *old, struct causes *causes)
{
	const json_t *data = json_object_get(secret, "data");
	const json_t *type = json_object_get(secret, "type");

	check_size(check_data(data, PATH_FIELD(NULL, "data"), causes), causes);
	check_secret_type(secret, data, causes);
	if (old && !json_equal(type, json_object_get(old, "type")))
		causes_add_at(causes, CAUSE_INVALID, PATH_FIELD(NULL, "type"), type,
			      "cannot change");
	check_changes(secret, old, causes);
}
