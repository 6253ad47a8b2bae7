/* Defaults of Kubernetes' own kinds that their schemas cannot say. */
#include <string.h>

#include "api/kinds.h"
#include "base/encode.h"
#include "base/json.h"

static void default_str(json_t *object, const char *key, const char *value)
{
	if (json_is_object(object) && !json_object_get(object, key))
		json_set_str(object, key, value);
}

/* The object under key, made when it is absent; NULL when it is something else. */
static json_t *need_object(json_t *object, const char *key)
{
	json_t *part = json_object_get(object, key);

	if (part)
		return json_is_object(part) ? part : NULL;
	return json_is_object(object) ? json_object_need(object, key) : NULL;
}

/* The finalizer is the server's: it goes when the namespace is empty. */
void namespace_set_defaults(json_t *ns)
{
	json_t *spec = need_object(ns, "spec"), *labels;
	const char *name = json_str_at(ns, "metadata", "name", NULL);

	if (name && (labels = need_object(json_object_get(ns, "metadata"), "labels")))
		json_set_str(labels, "kubernetes.io/metadata.name", name);
	default_str(need_object(ns, "status"), "phase", "Active");
	if (spec)
		json_object_set_new(spec, "finalizers", json_pack("[s]", "kubernetes"));
}

/* stringData is a way to write data; it is never kept. Texts that are none stay for the schema. */
void secret_set_defaults(json_t *secret)
{
	json_t *texts = json_object_get(secret, "stringData"), *data, *value;
	const char *key;
	void *tmp;

	if (!json_is_object(texts))
		return;
	data = need_object(secret, "data");
	json_object_foreach_safe(texts, tmp, key, value)
	{
		auto_strbuf base64 = {0};

		if (!data || !json_is_string(value))
			continue;
		base64_encode(&base64, json_string_value(value), json_string_length(value));
		json_set_str(data, key, strbuf_str(&base64));
		json_object_del(texts, key);
	}
	if (!json_object_size(texts))
		json_object_del(secret, "stringData");
}

/* A limit without a request asks for as much. */
static void default_requests(json_t *container)
{
	json_t *resources = json_object_get(container, "resources"), *limit;
	json_t *limits = json_object_get(resources, "limits"), *requests;
	const char *name;

	if (!json_object_size(limits))
		return;
	requests = need_object(resources, "requests");
	json_object_foreach (limits, name, limit)
		if (requests && !json_object_get(requests, name))
			json_object_set_new(requests, name, json_deep_copy(limit));
}

void pod_set_defaults(json_t *pod)
{
	static const char *const lists[] = {"containers", "initContainers"};
	json_t *spec = json_object_get(pod, "spec"), *container;
	size_t i;

	for (size_t l = 0; l < ARRAY_LEN(lists); l++)
		json_array_foreach (json_object_get(spec, lists[l]), i, container)
			default_requests(container);
	default_str(need_object(pod, "status"), "phase", "Pending");
}

void node_set_defaults(json_t *node)
{
	json_t *status = json_object_get(node, "status");
	json_t *capacity = json_object_get(status, "capacity");

	if (capacity && !json_object_get(status, "allocatable"))
		json_object_set_new(status, "allocatable", json_deep_copy(capacity));
}
