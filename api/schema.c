#include "api/schema.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/embedded.h"
#include "api/schema_node.h"
#include "base/json.h"
#include "base/yaml.h"

#define QUANTITY_LENGTH 64 /* characters; what quantity_parse() takes is longer */

static const char *const type_names[] = {
	[NODE_ANY] = "",
	[NODE_OBJECT] = "object",
	[NODE_ARRAY] = "array",
	[NODE_STRING] = "string",
	[NODE_INTEGER] = "integer",
	[NODE_BOOLEAN] = "boolean",
	[NODE_INT_OR_STRING] = "int-or-string",
	[NODE_QUANTITY] = "quantity",
};

/* Every keyword that the files may use; one that is not here would be without effect. */
static const char *const keywords[] = {
	"additionalProperties",
	"default",
	"description",
	"enum",
	"format",
	"items",
	"maxItems",
	"maxLength",
	"maximum",
	"minItems",
	"minLength",
	"minimum",
	"nullable",
	"pattern",
	"properties",
	"required",
	"type",
	"x-kubernetes-int-or-string",
	"x-kubernetes-list-map-keys",
	"x-kubernetes-list-type",
	"x-kubernetes-map-type",
	"x-kubernetes-preserve-unknown-fields",
};

static void __attribute__((noreturn, format(printf, 1, 2))) bad_file(const char *fmt, ...)
{
	va_list ap;

	fputs("bad schema file: ", stderr);
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fputc('\n', stderr);
	abort();
}

static enum node_type parse_type(const json_t *source)
{
	const char *type = json_str_at(source, "type", NULL);
	const char *format = json_str_at(source, "format", NULL);

	if (format && !strcmp(format, "quantity"))
		return NODE_QUANTITY;
	if (json_is_true(json_object_get(source, "x-kubernetes-int-or-string")))
		return NODE_INT_OR_STRING;
	if (!type && json_is_true(json_object_get(source, "x-kubernetes-preserve-unknown-fields")))
		return NODE_ANY;
	for (size_t i = NODE_OBJECT; type && i < NODE_INT_OR_STRING; i++)
		if (!strcmp(type_names[i], type))
			return (enum node_type)i;
	bad_file("type %s", type ? type : "missing");
}

static void check_keywords(const json_t *source)
{
	const char *key;
	json_t *value;

	json_object_foreach ((json_t *)(uintptr_t)source, key, value) {
		size_t i = 0;

		while (i < ARRAY_LEN(keywords) && strcmp(keywords[i], key))
			i++;
		if (i == ARRAY_LEN(keywords))
			bad_file("unknown keyword %s", key);
	}
}

static const struct text_rule *parse_rule(const json_t *source)
{
	const char *format = json_str_at(source, "format", NULL);
	const char *pattern = json_str_at(source, "pattern", NULL);
	const struct text_rule *rule = NULL;

	if (pattern && !(rule = text_rule_by_pattern(pattern)))
		bad_file("no check is written for the pattern %s", pattern);
	if (!pattern && format)
		rule = text_rule_by_format(format);
	return rule;
}

static void parse_limits(struct schema_node *n, const json_t *source)
{
	const char *format = json_str_at(source, "format", NULL);
	bool int32 = format && !strcmp(format, "int32");
	bool quantity = n->type == NODE_QUANTITY;
	int64_t minimum = int32 ? INT32_MIN : quantity ? 0 : INT64_MIN;

	n->minimum = json_int_at(source, minimum, "minimum", NULL);
	n->maximum = json_int_at(source, int32 ? INT32_MAX : NO_LIMIT, "maximum", NULL);
	n->min_length = json_int_at(source, 0, "minLength", NULL);
	n->max_length =
		json_int_at(source, quantity ? QUANTITY_LENGTH : NO_LIMIT, "maxLength", NULL);
	n->min_items = json_int_at(source, 0, "minItems", NULL);
	n->max_items = json_int_at(source, NO_LIMIT, "maxItems", NULL);
}

static int compare_property(const void *a, const void *b)
{
	return strcmp(((const struct schema_property *)a)->name,
		      ((const struct schema_property *)b)->name);
}

static struct schema_node *parse_node(struct arena *a, const json_t *source);

static void parse_properties(struct arena *a, struct schema_node *n, const json_t *properties)
{
	const char *key;
	json_t *value;
	size_t i = 0;

	n->n_properties = json_object_size(properties);
	n->properties = arena_array(a, struct schema_property, n->n_properties);
	json_object_foreach ((json_t *)(uintptr_t)properties, key, value) {
		n->properties[i].name = key;
		n->properties[i++].node = parse_node(a, value);
	}
	qsort(n->properties, n->n_properties, sizeof(*n->properties), compare_property);
}

static struct schema_node *parse_node(struct arena *a, const json_t *source)
{
	struct schema_node *n = arena_new(a, struct schema_node);
	const json_t *part;

	check_keywords(source);
	n->source = source;
	n->type = parse_type(source);
	n->preserve = json_is_true(json_object_get(source, "x-kubernetes-preserve-unknown-fields"));
	n->nullable = json_is_true(json_object_get(source, "nullable"));
	n->default_ = json_object_get(source, "default");
	n->enum_ = json_object_get(source, "enum");
	n->required = json_object_get(source, "required");
	n->rule = parse_rule(source);
	parse_limits(n, source);
	if ((part = json_object_get(source, "properties")))
		parse_properties(a, n, part);
	if ((part = json_object_get(source, "items")))
		n->items = parse_node(a, part);
	if ((part = json_object_get(source, "additionalProperties")))
		n->additional = parse_node(a, part);
	if (n->type == NODE_ARRAY && !n->items)
		bad_file("array without items");
	return n;
}

static json_t *parse_yaml(const char *text, size_t size)
{
	auto_json *docs = NULL;
	struct error err;

	if (yaml_parse_all(text, size, &docs, &err) < 0)
		bad_file("%s", err.text);
	if (json_array_size(docs) != 1)
		bad_file("%zu documents", json_array_size(docs));
	return json_incref(json_array_get(docs, 0));
}

static const json_t *find_schema(const json_t *file)
{
	const json_t *versions = json_at(file, "spec", "versions", NULL);
	const json_t *schema =
		json_at(json_array_get(versions, 0), "schema", "openAPIV3Schema", NULL);

	if (json_array_size(versions) != 1 || !schema)
		bad_file("not one version with a schema");
	return schema;
}

struct schema *schema_compile(const char *crd_yaml, size_t n)
{
	const struct embedded_file *meta = embedded_find("objectmeta.yaml");
	struct schema *s = xnew0(struct schema);

	s->file = parse_yaml(crd_yaml, n);
	s->meta_file = parse_yaml(meta->text, meta->size);
	s->root = parse_node(&s->arena, find_schema(s->file));
	for (size_t i = 0; i < s->root->n_properties; i++)
		if (!strcmp(s->root->properties[i].name, "metadata"))
			s->root->properties[i].node = parse_node(&s->arena, s->meta_file);
	return s;
}

void schema_destroy(struct schema *s)
{
	if (!s)
		return;
	arena_finish(&s->arena);
	json_decref(s->file);
	json_decref(s->meta_file);
	free(s);
}

const struct schema_node *node_property(const struct schema_node *n, const char *name)
{
	const struct schema_property key = {.name = name};
	const struct schema_property *p = NULL;

	if (n->n_properties)
		p = bsearch(&key, n->properties, n->n_properties, sizeof(key), compare_property);
	return p ? p->node : NULL;
}

/* One step of a path: a field, then any number of []. Returns NULL when there is no such place. */
static const struct schema_node *lookup_step(const struct schema_node *n, const char *step,
					     size_t size)
{
	size_t name_size = size;
	auto_xfree char *name = NULL;

	while (name_size >= 2 && !strncmp(step + name_size - 2, "[]", 2))
		name_size -= 2;
	name = xstrndup(step, name_size);
	n = node_property(n, name);
	for (size_t left = size - name_size; n && left; left -= 2)
		n = n->items ? n->items : n->additional;
	return n;
}

const struct schema_node *schema_node_at(const struct schema *s, const char *path)
{
	const struct schema_node *n = s->root;

	while (n && *path) {
		size_t size = strcspn(path, ".");

		n = lookup_step(n, path, size);
		path += size + (path[size] == '.');
	}
	return n;
}

bool schema_lookup(const struct schema *s, const char *path, const char **ret_type)
{
	const struct schema_node *n = schema_node_at(s, path);

	if (n)
		*ret_type = type_names[n->type];
	return n != NULL;
}
