#include "kube/object.h"

#include <stdlib.h>
#include <string.h>

int object_version(struct sv object, int64_t *ret, struct error *err)
{
	struct sv raw;
	struct scan s;

	if (!scan_find(object, &raw, "metadata", "resourceVersion", NULL))
		return error_set(err, ERR_INTERNAL, "an object has no metadata.resourceVersion");
	scan_init(&s, raw.p, raw.n);
	if (!scan_int64(&s, ret))
		return error_set(err, ERR_INTERNAL, "resourceVersion %.*s is not a number",
				 (int)(raw.n > 40 ? 40 : raw.n), raw.p);
	return 0;
}

int object_list_read(const char *bytes, size_t n, struct object_list *ret, struct error *err)
{
	struct sv whole = {bytes, n};
	struct object_list list = {0};

	if (object_version(whole, &list.version, err))
		return error_prefix(err, "list");
	if (!scan_find(whole, &list.items, "items", NULL) || list.items.p[0] != '[')
		list.items = (struct sv){0};
	if (!scan_find_str(whole, &list.next_page, "metadata", "continue", NULL))
		list.next_page = (struct sv){0};
	*ret = list;
	return 0;
}

bool object_is_shallow(struct sv object)
{
	struct scan s;

	scan_init(&s, object.p, object.n);
	return scan_skip(&s) && scan_end(&s);
}

struct doc *object_doc(struct sv object, struct error *err)
{
	auto_xfree char *key = NULL;
	struct sv ns = {0}, name;
	struct doc *doc;
	int64_t version;

	if (object_version(object, &version, err))
		return NULL;
	if (!scan_find_str(object, &name, "metadata", "name", NULL)) {
		error_set(err, ERR_INTERNAL, "an object has no metadata.name");
		return NULL;
	}
	if (scan_find_str(object, &ns, "metadata", "namespace", NULL) && ns.n)
		key = xasprintf("%.*s/%.*s", (int)ns.n, ns.p, (int)name.n, name.p);
	else
		key = xstrndup(name.p, name.n);
	doc = doc_create(key, object.p, object.n);
	doc->version = version;
	return doc;
}

struct doc *object_answer(struct sv body, struct error *err)
{
	if (object_is_shallow(body))
		return object_doc(body, err);
	error_set(err, ERR_INTERNAL, "an answer is no JSON of at most 64 levels");
	return NULL;
}
