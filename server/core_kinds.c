/* What Secrets and Namespaces have of their own: both are written in one form and kept in another.
 */
#include <string.h>

#include "base/encode.h"
#include "server/write.h"

bool is_namespace(const struct kind *k)
{
	return !*k->group && !strcmp(k->plural, "namespaces");
}

static bool is_secret(const struct kind *k)
{
	return !*k->group && !strcmp(k->plural, "secrets");
}

/* stringData is for people to write; what is kept is data. A value that is no text stays where it
 * is, for the schema to refuse. */
static void fold_string_data(json_t *secret)
{
	json_t *texts = json_object_get(secret, "stringData"), *data, *value;
	const char *key;
	void *tmp;

	if (!json_is_object(texts))
		return;
	data = json_object_need(secret, "data");
	json_object_foreach_safe(texts, tmp, key, value)
	{
		auto_strbuf encoded = {0};

		if (!json_is_string(value))
			continue;
		base64_encode(&encoded, json_string_value(value), json_string_length(value));
		json_set_str(data, key, strbuf_str(&encoded));
		json_object_del(texts, key);
	}
	if (!json_object_size(texts))
		json_object_del(secret, "stringData");
}

static void complete_namespace(json_t *ns)
{
	json_t *metadata = json_object_need(ns, "metadata");
	json_t *finalizers = json_array();

	json_set_str(json_object_need(metadata, "labels"), "kubernetes.io/metadata.name",
		     json_string_value(json_object_get(metadata, "name")));
	json_array_append_new(finalizers, json_string("kubernetes"));
	json_object_set_new(json_object_need(ns, "spec"), "finalizers", finalizers);
	json_set_str(json_object_need(ns, "status"), "phase", "Active");
}

void core_kind_fold(const struct kind *k, json_t *object)
{
	if (is_secret(k))
		fold_string_data(object);
}

void core_kind_complete(const struct kind *k, json_t *object)
{
	if (is_namespace(k))
		complete_namespace(object);
}
