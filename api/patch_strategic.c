/*
 * Strategic merge patch: a merge patch whose lists may be merged by a key, with directives for what
 * a merge cannot say: $patch, $retainKeys, $setElementOrder/x, $deleteFromPrimitiveList/x.
 */
#include <string.h>

#include "api/patch_internal.h"
#include "base/json.h"
#include "base/mem.h"

#define SET_ORDER   "$setElementOrder/"
#define DELETE_FROM "$deleteFromPrimitiveList/"
#define RETAIN_KEYS "$retainKeys"
#define DIRECTIVE   "$patch"

/* --- which lists are merged ---------------------------------------------------------------- */

struct merge_rule {
	const char *field;
	bool list;                       /* merged; lists without a rule are replaced */
	const char *key;                 /* of the elements; NULL: they are their own keys */
	const struct merge_rule *fields; /* of the object or the elements; ends with a NULL field */
};

#define OBJECT(name, fields_)                                                                      \
	{                                                                                          \
		.field = (name), .fields = (fields_)                                               \
	}
#define LIST(name, key_)                                                                           \
	{                                                                                          \
		.field = (name), .list = true, .key = (key_)                                       \
	}
#define LIST_OF(name, key_, sub)                                                                   \
	{                                                                                          \
		.field = (name), .list = true, .key = (key_), .fields = (sub)                      \
	}
#define VALUES(name)                                                                               \
	{                                                                                          \
		.field = (name), .list = true                                                      \
	}
#define END                                                                                        \
	{                                                                                          \
		.field = NULL                                                                      \
	}

static const struct merge_rule metadata_rules[] = {
	LIST("ownerReferences", "uid"),
	VALUES("finalizers"),
	END,
};

static const struct merge_rule condition_rules[] = {
	LIST("conditions", "type"),
	END,
};

static const struct merge_rule container_rules[] = {
	LIST("ports", "containerPort"),
	LIST("env", "name"),
	LIST("volumeMounts", "mountPath"),
	LIST("volumeDevices", "devicePath"),
	END,
};

static const struct merge_rule pod_spec_rules[] = {
	LIST_OF("containers", "name", container_rules),
	LIST_OF("initContainers", "name", container_rules),
	LIST_OF("ephemeralContainers", "name", container_rules),
	LIST("volumes", "name"),
	LIST("imagePullSecrets", "name"),
	LIST("hostAliases", "ip"),
	LIST("topologySpreadConstraints", "topologyKey"),
	LIST("schedulingGates", "name"),
	LIST("resourceClaims", "name"),
	END,
};

static const struct merge_rule pod_status_rules[] = {
	LIST("conditions", "type"),
	LIST("hostIPs", "ip"),
	LIST("podIPs", "ip"),
	LIST("resourceClaimStatuses", "name"),
	END,
};

static const struct merge_rule service_spec_rules[] = {
	LIST("ports", "port"),
	END,
};

static const struct merge_rule node_spec_rules[] = {
	VALUES("podCIDRs"),
	END,
};

static const struct merge_rule node_status_rules[] = {
	LIST("conditions", "type"),
	LIST("addresses", "type"),
	END,
};

#define METADATA OBJECT("metadata", metadata_rules)

static const struct merge_rule any_rules[] = {METADATA, END};
static const struct merge_rule pod_rules[] = {METADATA, OBJECT("spec", pod_spec_rules),
					      OBJECT("status", pod_status_rules), END};
static const struct merge_rule service_rules[] = {METADATA, OBJECT("spec", service_spec_rules),
						  OBJECT("status", condition_rules), END};
static const struct merge_rule node_rules[] = {METADATA, OBJECT("spec", node_spec_rules),
					       OBJECT("status", node_status_rules), END};
static const struct merge_rule namespace_rules[] = {METADATA, OBJECT("status", condition_rules),
						    END};

static const struct {
	const char *kind;
	const struct merge_rule *rules;
} kind_rules[] = {
	{"Pod", pod_rules},
	{"Service", service_rules},
	{"Node", node_rules},
	{"Namespace", namespace_rules},
};

static const struct merge_rule *rules_of_kind(const char *kind)
{
	for (size_t i = 0; kind && i < ARRAY_LEN(kind_rules); i++)
		if (!strcmp(kind_rules[i].kind, kind))
			return kind_rules[i].rules;
	return any_rules;
}

static const struct merge_rule *find_rule(const struct merge_rule *rules, const char *field)
{
	for (; rules && rules->field; rules++)
		if (!strcmp(rules->field, field))
			return rules;
	return NULL;
}

/* --- copies without directives --------------------------------------------------------------- */

static bool is_directive(const char *key)
{
	return !strcmp(key, DIRECTIVE) || !strcmp(key, RETAIN_KEYS) ||
	       !strncmp(key, SET_ORDER, strlen(SET_ORDER)) ||
	       !strncmp(key, DELETE_FROM, strlen(DELETE_FROM));
}

static json_t *copy_clean(const json_t *value);

static void copy_members(json_t *to, const json_t *object)
{
	const char *key;
	json_t *v;

	json_object_foreach ((json_t *)(uintptr_t)object, key, v) {
		json_t *copy = is_directive(key) || json_is_null(v) ? NULL : copy_clean(v);

		if (copy)
			json_object_set_new_nocheck(to, key, copy);
	}
}

/* A value that is new in the target: nothing to delete there, nothing to direct. NULL for an
 * object that only directs. */
static json_t *copy_clean(const json_t *value)
{
	json_t *to;
	size_t i;
	json_t *v;

	if (json_is_object(value)) {
		if (json_object_get(value, DIRECTIVE))
			return NULL;
		to = json_object();
		copy_members(to, value);
		return to;
	}
	if (!json_is_array(value))
		return json_deep_copy(value);
	to = json_array();
	json_array_foreach (value, i, v) {
		json_t *copy = copy_clean(v);

		if (copy)
			json_array_append_new(to, copy);
	}
	return to;
}

/* --- lists ----------------------------------------------------------------------------------- */

struct item {
	json_t *value; /* owned */
	long server;   /* place in the target's list; -1: new */
	long order;    /* place in the patch's order; -1: not named there */
};

struct items {
	struct patch_work *work;
	const char *key;
	struct item *at;
	size_t n, cap;
};

static void items_finish(struct items *l)
{
	for (size_t i = 0; i < l->n; i++)
		json_decref(l->at[i].value);
	free(l->at);
}

static void items_append(struct items *l, json_t *take_value, long server)
{
	GROW(l->at, l->n, l->cap);
	l->at[l->n++] = (struct item){.value = take_value, .server = server};
}

static void items_load(struct items *l, const json_t *array)
{
	size_t i;
	json_t *v;

	json_array_foreach (array, i, v)
		items_append(l, json_incref(v), (long)i);
}

/* What tells elements apart; NULL when the element lacks it. */
static const json_t *identity(const struct items *l, const json_t *element)
{
	return l->key ? json_object_get(element, l->key) : element;
}

/* Index of the element of this identity in *ret, n when there is none. */
static int items_find(const struct items *l, const json_t *id, size_t *ret)
{
	size_t i;

	if (patch_spend(l->work, l->n) < 0)
		return -1;
	for (i = 0; i < l->n; i++)
		if (patch_values_equal(identity(l, l->at[i].value), id))
			break;
	*ret = i;
	return 0;
}

static int items_remove_all(struct items *l, const json_t *id)
{
	size_t kept = 0;

	if (patch_spend(l->work, l->n) < 0)
		return -1;
	for (size_t i = 0; i < l->n; i++) {
		if (patch_values_equal(identity(l, l->at[i].value), id))
			json_decref(l->at[i].value);
		else
			l->at[kept++] = l->at[i];
	}
	l->n = kept;
	return 0;
}

static int set_order(struct items *l, const json_t *order)
{
	for (size_t i = 0; i < l->n; i++) {
		const json_t *id = identity(l, l->at[i].value);
		size_t j, size = json_array_size(order);

		if (patch_spend(l->work, size) < 0)
			return -1;
		for (j = 0; j < size; j++)
			if (patch_values_equal(identity(l, json_array_get(order, j)), id))
				break;
		l->at[i].order = j < size ? (long)j : -1;
	}
	return 0;
}

static int compare_places(long a, long b)
{
	return (a > b) - (a < b);
}

/* Named elements in the patch's order, then the others in the target's, new ones last. */
static int compare_items(const void *pa, const void *pb)
{
	const struct item *a = pa, *b = pb;
	bool a_named = a->order >= 0, b_named = b->order >= 0;

	if (a_named != b_named)
		return a_named ? -1 : 1;
	if (a_named)
		return compare_places(a->order, b->order);
	if ((a->server < 0) != (b->server < 0))
		return a->server < 0 ? 1 : -1;
	return compare_places(a->server, b->server);
}

/* The named and the others become one list: an other goes before a named one only where the target
 * had both and had them so. */
static json_t *items_weave(const struct items *l)
{
	json_t *array = json_array();
	size_t named = 0, i = 0, j;

	while (named < l->n && l->at[named].order >= 0)
		named++;
	for (j = named; i < named || j < l->n;) {
		bool other = i == named;

		if (i < named && j < l->n)
			other = l->at[i].server >= 0 && l->at[j].server >= 0 &&
				l->at[j].server < l->at[i].server;
		json_array_append(array, l->at[other ? j++ : i++].value);
	}
	return array;
}

static int merge_object(struct patch_work *w, json_t *target, const json_t *patch,
			const struct merge_rule *rules);

static int bad_directive(struct patch_work *w, const char *field)
{
	return error_set(w->err, ERR_BAD_REQUEST, "%s: %s must be \"replace\" or \"delete\"", field,
			 DIRECTIVE);
}

/* Deletes what the patch's elements say; *ret_replace: the list is to be emptied first. */
static int apply_list_directives(struct items *l, const json_t *patch, bool *ret_replace)
{
	size_t i;
	json_t *v;

	*ret_replace = false;
	json_array_foreach (patch, i, v) {
		const json_t *directive = json_object_get(v, DIRECTIVE);
		const char *word = json_string_value(directive);

		if (!directive)
			continue;
		if (word && !strcmp(word, "replace"))
			*ret_replace = true;
		else if (!word || strcmp(word, "delete") != 0)
			return bad_directive(l->work, "element");
		else if (!identity(l, v))
			return error_set(l->work->err, ERR_BAD_REQUEST,
					 "an element to delete has no %s", l->key);
		else if (items_remove_all(l, identity(l, v)) < 0)
			return -1;
	}
	return 0;
}

static int merge_element(struct items *l, const json_t *element, const struct merge_rule *rule)
{
	const json_t *id = identity(l, element);
	size_t at;
	json_t *copy;

	if (!id)
		return error_set(l->work->err, ERR_BAD_REQUEST, "an element has no %s", l->key);
	if (items_find(l, id, &at) < 0)
		return -1;
	if (at < l->n && json_is_object(l->at[at].value) && l->key)
		return merge_object(l->work, l->at[at].value, element, rule->fields);
	copy = at < l->n ? NULL : copy_clean(element);
	if (copy)
		items_append(l, copy, -1);
	return 0;
}

static int merge_elements(struct items *l, const json_t *patch, const struct merge_rule *rule)
{
	bool replace;
	size_t i;
	json_t *v;

	if (apply_list_directives(l, patch, &replace) < 0)
		return -1;
	for (; replace && l->n; l->n--)
		json_decref(l->at[l->n - 1].value);
	json_array_foreach (patch, i, v) {
		if (!json_object_get(v, DIRECTIVE) && merge_element(l, v, rule) < 0)
			return -1;
	}
	return 0;
}

static int remove_values(struct items *l, const json_t *values)
{
	size_t i;
	json_t *v;

	json_array_foreach (values, i, v) {
		if (items_remove_all(l, v) < 0)
			return -1;
	}
	return 0;
}

/* What one patch says about one list; all but rule may be NULL. */
struct list_patch {
	const struct merge_rule *rule;
	const json_t *elements, *order, *deleted;
};

static int merge_items(struct items *l, const struct list_patch *p, json_t **ret)
{
	if (p->elements && merge_elements(l, p->elements, p->rule) < 0)
		return -1;
	if (p->deleted && remove_values(l, p->deleted) < 0)
		return -1;
	if (set_order(l, p->order ? p->order : p->elements) < 0)
		return -1;
	if (l->n > 1)
		qsort(l->at, l->n, sizeof(*l->at), compare_items);
	*ret = items_weave(l);
	return 0;
}

static int check_list(struct patch_work *w, const json_t *list, const char *prefix,
		      const char *field)
{
	if (!list || json_is_array(list))
		return 0;
	return error_set(w->err, ERR_BAD_REQUEST, "%s%s must be an array", prefix, field);
}

/* Gathers what the patch object says about the list `field`. */
static int read_list_patch(struct patch_work *w, const json_t *patch, const char *field,
			   struct list_patch *ret)
{
	auto_xfree char *order = xasprintf("%s%s", SET_ORDER, field);
	auto_xfree char *deleted = xasprintf("%s%s", DELETE_FROM, field);

	ret->elements = json_object_get(patch, field);
	ret->order = json_object_get(patch, order);
	ret->deleted = json_object_get(patch, deleted);
	if (check_list(w, ret->elements, "", field) < 0 ||
	    check_list(w, ret->order, SET_ORDER, field) < 0)
		return -1;
	return check_list(w, ret->deleted, DELETE_FROM, field);
}

static int merge_list(struct patch_work *w, json_t *target, const json_t *patch,
		      const struct merge_rule *rule)
{
	struct items l = {.work = w, .key = rule->key};
	struct list_patch p = {.rule = rule};
	const json_t *old = json_object_get(target, rule->field);
	json_t *merged = NULL;
	int r;

	if (read_list_patch(w, patch, rule->field, &p) < 0)
		return -1;
	if (!json_is_array(old) && !p.elements)
		return 0;
	items_load(&l, old);
	r = merge_items(&l, &p, &merged);
	items_finish(&l);
	if (r < 0)
		return -1;
	return json_object_set_new_nocheck(target, rule->field, merged);
}

/* --- objects --------------------------------------------------------------------------------- */

static bool holds_string(const json_t *array, const char *s)
{
	size_t i;
	json_t *v;

	json_array_foreach (array, i, v) {
		if (json_is_string(v) && !strcmp(json_string_value(v), s))
			return true;
	}
	return false;
}

/* Keeps of the target only what the patch names. */
static int retain_keys(struct patch_work *w, json_t *target, const json_t *patch)
{
	const json_t *keys = json_object_get(patch, RETAIN_KEYS);
	const char *key;
	json_t *v;
	void *next;

	if (!keys)
		return 0;
	if (!json_is_array(keys))
		return error_set(w->err, ERR_BAD_REQUEST, RETAIN_KEYS " must be an array");
	if (patch_spend(w, (json_object_size(target) + json_object_size(patch)) *
				   json_array_size(keys)) < 0)
		return -1;
	json_object_foreach ((json_t *)(uintptr_t)patch, key, v) {
		if (!is_directive(key) && !json_is_null(v) && !holds_string(keys, key))
			return error_set(w->err, ERR_BAD_REQUEST,
					 RETAIN_KEYS " lacks \"%.60s\", which the patch sets", key);
	}
	json_object_foreach_safe(target, next, key, v)
	{
		if (!holds_string(keys, key))
			json_object_del(target, key);
	}
	return 0;
}

/* "$patch" of an object: it becomes the patch's other members, or nothing. */
static int replace_object(struct patch_work *w, json_t *target, const json_t *patch)
{
	const char *word = json_string_value(json_object_get(patch, DIRECTIVE));

	if (!word || (strcmp(word, "replace") != 0 && strcmp(word, "delete") != 0))
		return bad_directive(w, "object");
	json_object_clear(target);
	if (!strcmp(word, "replace"))
		copy_members(target, patch);
	return 0;
}

/* The field that a key speaks of: "x" for "x", "$setElementOrder/x", "$deleteFromPrimitiveList/x".
 */
static const char *field_of(const char *key)
{
	if (!strncmp(key, SET_ORDER, strlen(SET_ORDER)))
		return key + strlen(SET_ORDER);
	if (!strncmp(key, DELETE_FROM, strlen(DELETE_FROM)))
		return key + strlen(DELETE_FROM);
	return key;
}

static int merge_member(struct patch_work *w, json_t *target, const char *key, const json_t *value,
			const struct merge_rule *rule)
{
	json_t *old = json_object_get(target, key);
	json_t *copy;

	if (json_is_null(value)) {
		json_object_del(target, key);
		return 0;
	}
	if (json_is_object(value) && json_is_object(old))
		return merge_object(w, old, value, rule ? rule->fields : NULL);
	copy = copy_clean(value);
	if (copy)
		return json_object_set_new_nocheck(target, key, copy);
	json_object_del(target, key);
	return 0;
}

static int merge_key(struct patch_work *w, json_t *target, const json_t *patch, const char *key,
		     const struct merge_rule *rules)
{
	const char *field = field_of(key);
	const json_t *value = json_object_get(patch, key);
	const struct merge_rule *rule = find_rule(rules, field);
	const struct merge_rule values = VALUES(field);
	bool merged = rule && rule->list;

	if (!strcmp(key, RETAIN_KEYS))
		return 0;
	if (field == key && (!merged || !json_is_array(value)))
		return merge_member(w, target, key, value, rule);
	/* all that is said about a list is done at once, with the list itself when it is there */
	if (field != key && json_object_get(patch, field))
		return 0;
	/* of a list that is replaced, values can be deleted all the same, but it has no order */
	if (!merged && !strncmp(key, SET_ORDER, strlen(SET_ORDER)))
		return 0;
	return merge_list(w, target, patch, merged ? rule : &values);
}

static int merge_object(struct patch_work *w, json_t *target, const json_t *patch,
			const struct merge_rule *rules)
{
	const char *key;
	json_t *v;

	if (json_object_get(patch, DIRECTIVE))
		return replace_object(w, target, patch);
	if (retain_keys(w, target, patch) < 0)
		return -1;
	json_object_foreach ((json_t *)(uintptr_t)patch, key, v) {
		if (merge_key(w, target, patch, key, rules) < 0)
			return -1;
	}
	return 0;
}

int patch_apply_strategic(struct patch_work *w, json_t *doc, const json_t *patch)
{
	return merge_object(w, doc, patch, rules_of_kind(json_str_at(doc, "kind", NULL)));
}
