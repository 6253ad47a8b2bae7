/* Which documents a list, a watch or a deletecollection means: prefix, labels, fields. */
#include <string.h>

#include "api/selector.h"
#include "base/scan.h"
#include "server/read.h"

static int check_field(const struct kind *k, const char *path, struct error *err)
{
	if (!strcmp(path, "metadata.name") ||
	    (k->namespaced && !strcmp(path, "metadata.namespace")))
		return 0;
	for (const struct selectable_field *f = k->fields; f && f->name; f++)
		if (!strcmp(f->name, path))
			return 0;
	return error_set(err, ERR_BAD_REQUEST, "field label not supported: %.80s", path);
}

static int check_fields(const struct selection *sel, struct error *err)
{
	const char *path;

	for (size_t i = 0; (path = field_selector_path(sel->fields, i)); i++)
		if (check_field(sel->kind, path, err))
			return -1;
	return 0;
}

/* A name that is pinned narrows the prefix to one key (and those that begin like it). */
static char *make_prefix(const struct selection *sel, const char *ns)
{
	const char *name = field_selector_name(sel->fields);
	auto_strbuf key = {0};

	if (sel->kind->namespaced && !ns)
		name = NULL;
	kind_key(sel->kind, ns, name, &key);
	return strbuf_take(&key);
}

int selection_init(struct selection *sel, const struct request *r, struct error *err)
{
	*sel = (struct selection){.kind = r->pub.kind};
	if (selector_parse(request_query(r, "labelSelector"), &sel->labels, err) ||
	    field_selector_parse(request_query(r, "fieldSelector"), &sel->fields, err) ||
	    check_fields(sel, err)) {
		selection_finish(sel);
		return -1;
	}
	sel->prefix = make_prefix(sel, r->pub.ns);
	return 0;
}

void selection_finish(struct selection *sel)
{
	selector_destroy(sel->labels);
	field_selector_destroy(sel->fields);
	free(sel->prefix);
	*sel = (struct selection){0};
}

static bool labels_match(const struct selector *s, const struct doc *d)
{
	const struct sv object = {d->bytes, d->size};
	auto_json *labels = NULL;
	struct sv raw;

	if (scan_find(object, &raw, "metadata", "labels", NULL))
		labels = json_loadb(raw.p, raw.n, 0, NULL);
	return selector_match(s, labels);
}

/* Puts the value at path ("spec.nodeName") of the document into a tree that holds nothing else. */
static void copy_field(json_t *tree, const struct doc *d, const char *path)
{
	struct sv value = {d->bytes, d->size};
	json_t *at = tree;

	for (;;) {
		size_t n = strcspn(path, ".");
		auto_xfree char *step = xstrndup(path, n);

		if (!scan_find(value, &value, step, NULL))
			return;
		if (!path[n]) {
			json_object_set_new(at, step,
					    json_loadb(value.p, value.n, JSON_DECODE_ANY, NULL));
			return;
		}
		at = json_object_need(at, step);
		path += n + 1;
	}
}

static bool fields_match(const struct field_selector *s, const struct doc *d)
{
	auto_json *tree = json_object();
	const char *path;

	for (size_t i = 0; (path = field_selector_path(s, i)); i++)
		copy_field(tree, d, path);
	return field_selector_match(s, tree);
}

static bool has_labels(const struct selection *sel)
{
	return sel->labels && !selector_is_empty(sel->labels);
}

static bool has_fields(const struct selection *sel)
{
	return sel->fields && field_selector_path(sel->fields, 0);
}

bool selection_is_plain(const struct selection *sel)
{
	return !has_labels(sel) && !has_fields(sel);
}

bool selection_match(const struct selection *sel, const struct doc *d)
{
	return (!has_labels(sel) || labels_match(sel->labels, d)) &&
	       (!has_fields(sel) || fields_match(sel->fields, d));
}

void doc_array_finish(struct doc_array *a)
{
	for (size_t i = 0; i < a->n; i++)
		doc_unref(a->items[i]);
	free(a->items);
	*a = (struct doc_array){0};
}

void doc_array_add(struct doc_array *a, const struct doc *d)
{
	GROW(a->items, a->n, a->cap);
	a->items[a->n++] = doc_ref(d);
}

struct collecting {
	const struct selection *sel;
	const struct collect *what;
	struct doc_array *array;
	char **ret_last;
	size_t looked_at;
	enum collected outcome;
};

static bool collect_one(struct doc *d, void *arg)
{
	struct collecting *c = arg;

	if (selection_match(c->sel, d)) {
		if (c->what->limit && c->array->n == c->what->limit) {
			c->outcome = COLLECTED_LIMIT;
			return false;
		}
		doc_array_add(c->array, d);
	}
	if (++c->looked_at == c->what->budget) {
		c->outcome = COLLECTED_BUDGET;
		*c->ret_last = xstrdup(d->key);
		return false;
	}
	return true;
}

enum collected selection_collect(const struct selection *sel, const struct cache *cache,
				 const struct collect *what, struct doc_array *ret, char **ret_last)
{
	struct collecting c = {.sel = sel, .what = what, .array = ret, .ret_last = ret_last};

	cache_each(cache, sel->prefix, what->after, collect_one, &c);
	return c.outcome;
}
