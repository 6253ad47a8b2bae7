/* A schema as clients read it from OpenAPI v3. */
#include <string.h>

#include "api/schema_node.h"
#include "base/json.h"

static json_t *node_openapi(const struct schema_node *n)
{
	json_t *out = json_object(), *parts;
	const char *key;
	json_t *value;

	json_object_foreach ((json_t *)(uintptr_t)n->source, key, value)
		if (strcmp(key, "properties") && strcmp(key, "items") &&
		    strcmp(key, "additionalProperties"))
			json_object_set_new(out, key, json_deep_copy(value));
	if (n->items)
		json_object_set_new(out, "items", node_openapi(n->items));
	if (n->additional)
		json_object_set_new(out, "additionalProperties", node_openapi(n->additional));
	if (!n->n_properties)
		return out;
	parts = json_object();
	for (size_t i = 0; i < n->n_properties; i++)
		json_object_set_new(parts, n->properties[i].name,
				    node_openapi(n->properties[i].node));
	json_object_set_new(out, "properties", parts);
	return out;
}

json_t *schema_openapi(const struct schema *s)
{
	return node_openapi(s->root);
}
