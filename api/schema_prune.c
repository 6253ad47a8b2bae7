/* What a schema does to an object: fields that it does not have go, defaults come. */
#include "api/path.h"
#include "api/schema_node.h"
#include "base/json.h"

struct pruner {
	void (*dropped)(const char *path, void *arg);
	void *arg;
};

static void prune_value(const struct pruner *p, const struct schema_node *n, json_t *value,
			const struct path *at);

static void report_dropped(const struct pruner *p, const struct path *at)
{
	auto_strbuf text = {0};

	if (!p->dropped)
		return;
	path_write(at, &text);
	p->dropped(strbuf_str(&text), p->arg);
}

static void prune_object(const struct pruner *p, const struct schema_node *n, json_t *object,
			 const struct path *at)
{
	const char *key;
	json_t *value;
	void *tmp;

	json_object_foreach_safe(object, tmp, key, value)
	{
		const struct schema_node *field = node_property(n, key);

		if (field) {
			prune_value(p, field, value, PATH_FIELD(at, key));
		} else if (n->additional) {
			prune_value(p, n->additional, value, PATH_KEY(at, key));
		} else if (!n->preserve) {
			report_dropped(p, PATH_FIELD(at, key));
			json_object_del(object, key);
		}
	}
}

static void prune_value(const struct pruner *p, const struct schema_node *n, json_t *value,
			const struct path *at)
{
	size_t i;
	json_t *element;

	if (json_is_object(value) && (n->type == NODE_OBJECT || n->type == NODE_ANY))
		prune_object(p, n, value, at);
	else if (json_is_array(value) && n->items)
		json_array_foreach (value, i, element)
			prune_value(p, n->items, element, PATH_INDEX(at, i));
}

void schema_prune(const struct schema *s, json_t *object,
		  void (*dropped)(const char *path, void *arg), void *arg)
{
	const struct pruner p = {.dropped = dropped, .arg = arg};

	prune_value(&p, s->root, object, NULL);
}

static void default_value(const struct schema_node *n, json_t *value);

/* A null where the schema wants a value is as good as absent. */
static bool is_as_absent(const struct schema_node *n, const json_t *value)
{
	return json_is_null(value) && !n->nullable && n->type != NODE_ANY;
}

static void default_present(const struct schema_node *n, json_t *object)
{
	const char *key;
	json_t *value;
	void *tmp;

	json_object_foreach_safe(object, tmp, key, value)
	{
		const struct schema_node *field = node_property(n, key);

		if (!field)
			field = n->additional;
		if (field && is_as_absent(field, value))
			json_object_del(object, key);
		else if (field)
			default_value(field, value);
	}
}

/* Objects have few of the fields that they may have: only those with a default are looked for. */
static void default_absent(const struct schema_node *n, json_t *object)
{
	for (size_t i = 0; i < n->n_properties; i++) {
		const struct schema_property *p = &n->properties[i];
		json_t *made;

		if (!p->node->default_ || json_object_get(object, p->name))
			continue;
		made = json_deep_copy(p->node->default_);
		json_object_set_new(object, p->name, made);
		default_value(p->node, made);
	}
}

static void default_object(const struct schema_node *n, json_t *object)
{
	default_present(n, object);
	default_absent(n, object);
}

static void default_value(const struct schema_node *n, json_t *value)
{
	size_t i;
	json_t *element;

	if (json_is_object(value))
		default_object(n, value);
	else if (json_is_array(value) && n->items)
		json_array_foreach (value, i, element)
			default_value(n->items, element);
}

void schema_default(const struct schema *s, json_t *object)
{
	default_value(s->root, object);
}
