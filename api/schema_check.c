/* Types, required fields, bounds, enums and text rules of a schema against an object. */
#include <inttypes.h>
#include <string.h>

#include "api/path.h"
#include "api/schema_node.h"
#include "base/json.h"

static const char *const wanted[] = {
	[NODE_OBJECT] = "an object",
	[NODE_ARRAY] = "an array",
	[NODE_STRING] = "a string",
	[NODE_INTEGER] = "an integer",
	[NODE_BOOLEAN] = "true or false",
	[NODE_INT_OR_STRING] = "an integer or a string",
	[NODE_QUANTITY] = "a string or a number",
};

static bool type_fits(enum node_type type, const json_t *value)
{
	switch (type) {
	case NODE_ANY:
		return true;
	case NODE_OBJECT:
		return json_is_object(value);
	case NODE_ARRAY:
		return json_is_array(value);
	case NODE_STRING:
		return json_is_string(value);
	case NODE_INTEGER:
		return json_is_integer(value);
	case NODE_BOOLEAN:
		return json_is_boolean(value);
	case NODE_INT_OR_STRING:
		return json_is_integer(value) || json_is_string(value);
	case NODE_QUANTITY:
		return json_is_number(value) || json_is_string(value);
	}
	return false;
}

static void check_value(const struct schema_node *n, const json_t *value, const struct path *at,
			struct causes *c);

static void check_required(const struct schema_node *n, const json_t *object, const struct path *at,
			   struct causes *c)
{
	size_t i;
	json_t *name;

	json_array_foreach (n->required, i, name) {
		const char *field = json_string_value(name);

		const json_t *value = json_object_get(object, field);

		if (!value || json_is_null(value))
			causes_add_at(c, CAUSE_REQUIRED, PATH_FIELD(at, field), NULL, "%s", "");
	}
}

static void check_object(const struct schema_node *n, const json_t *object, const struct path *at,
			 struct causes *c)
{
	const char *key;
	json_t *value;

	check_required(n, object, at, c);
	json_object_foreach ((json_t *)(uintptr_t)object, key, value) {
		const struct schema_node *field = node_property(n, key);

		if (c->n >= CAUSES_ENOUGH)
			return;
		if (json_is_null(value)) /* as good as absent */
			continue;
		if (field)
			check_value(field, value, PATH_FIELD(at, key), c);
		else if (n->additional)
			check_value(n->additional, value, PATH_KEY(at, key), c);
	}
}

static void check_array(const struct schema_node *n, const json_t *array, const struct path *at,
			struct causes *c)
{
	int64_t size = (int64_t)json_array_size(array);
	auto_json *count = json_integer(size);
	size_t i;
	json_t *element;

	if (size < n->min_items)
		causes_add_at(c, CAUSE_INVALID, at, count, "must have at least %" PRId64 " item%s",
			      n->min_items, n->min_items == 1 ? "" : "s");
	if (size > n->max_items) {
		causes_add_at(c, CAUSE_TOO_MANY, at, count, "must have at most %" PRId64 " items",
			      n->max_items);
		return;
	}
	json_array_foreach (array, i, element) {
		if (c->n >= CAUSES_ENOUGH)
			return;
		check_value(n->items, element, PATH_INDEX(at, i), c);
	}
}

static void check_integer(const struct schema_node *n, const json_t *value, const struct path *at,
			  struct causes *c)
{
	int64_t v = json_integer_value(value);

	if (v < n->minimum)
		causes_add_at(c, CAUSE_INVALID, at, value, "is less than %" PRId64, n->minimum);
	else if (v > n->maximum)
		causes_add_at(c, CAUSE_INVALID, at, value, "is more than %" PRId64, n->maximum);
}

static int64_t count_characters(const char *text)
{
	int64_t n = 0;

	for (; *text; text++)
		n += ((unsigned char)*text & 0xc0) != 0x80;
	return n;
}

static void check_string(const struct schema_node *n, const json_t *value, const struct path *at,
			 struct causes *c)
{
	const char *text = json_string_value(value);
	int64_t length = count_characters(text);

	if (length > n->max_length)
		causes_add_at(c, CAUSE_TOO_LONG, at, NULL,
			      "has %" PRId64 " characters, at most %" PRId64 " are allowed", length,
			      n->max_length);
	else if (length < n->min_length)
		causes_add_at(c, CAUSE_INVALID, at, value,
			      "must have at least %" PRId64 " character%s", n->min_length,
			      n->min_length == 1 ? "" : "s");
	else if (n->rule && !n->rule->ok(text))
		causes_add_at(c, CAUSE_INVALID, at, value, "%s", n->rule->must);
}

static bool is_among(const json_t *list, const json_t *value)
{
	size_t i;
	json_t *allowed;

	json_array_foreach (list, i, allowed)
		if (json_equal(allowed, value))
			return true;
	return false;
}

static void check_enum(const struct schema_node *n, const json_t *value, const struct path *at,
		       struct causes *c)
{
	auto_strbuf list = {0};
	size_t i;
	json_t *allowed;

	if (is_among(n->enum_, value))
		return;
	json_array_foreach (n->enum_, i, allowed) {
		strbuf_adds(&list, i ? ", " : "");
		json_write(&list, allowed);
	}
	causes_add_at(c, CAUSE_NOT_SUPPORTED, at, value, "supported values: %s", strbuf_str(&list));
}

static void check_value(const struct schema_node *n, const json_t *value, const struct path *at,
			struct causes *c)
{
	if (json_is_null(value) && n->nullable)
		return;
	if (!type_fits(n->type, value)) {
		causes_add_at(c, CAUSE_TYPE, at, value, "must be %s", wanted[n->type]);
		return;
	}
	if (n->enum_)
		check_enum(n, value, at, c);
	if (json_is_object(value))
		check_object(n, value, at, c);
	else if (json_is_array(value) && n->items)
		check_array(n, value, at, c);
	else if (json_is_integer(value))
		check_integer(n, value, at, c);
	else if (json_is_real(value) && json_real_value(value) < 0)
		causes_add_at(c, CAUSE_INVALID, at, value, "is less than 0");
	else if (json_is_string(value))
		check_string(n, value, at, c);
}

void schema_validate_part(const struct schema_node *n, const json_t *value, const struct path *at,
			  struct causes *causes)
{
	check_value(n, value, at, causes);
}

void schema_validate(const struct schema *s, const json_t *object, struct causes *causes)
{
	check_value(s->root, object, NULL, causes);
}
