#include "fedctl/manifest.h"

#include <string.h>

#include "api/meta.h"
#include "base/closest.h"
#include "base/json.h"
#include "base/map.h"
#include "base/yaml.h"

/* What is being read, for error texts and namespaces. */
struct reading {
	struct manifests *out;
	const char *source, *ns;
	bool given;
	size_t document; /* from 1 */
	struct error *err;
};

static void shrink(struct manifests *m, size_t n)
{
	while (m->n > n) {
		m->n--;
		json_decref(m->items[m->n].object);
		free(m->items[m->n].ns);
	}
}

void manifests_finish(struct manifests *m)
{
	shrink(m, 0);
	free(m->items);
	*m = (struct manifests){0};
}

static int __attribute__((format(printf, 2, 3))) fail(const struct reading *r, const char *fmt, ...)
{
	auto_strbuf text = {0};
	va_list ap;

	va_start(ap, fmt);
	strbuf_vaddf(&text, fmt, ap);
	va_end(ap);
	return error_set(r->err, ERR_BAD_REQUEST, "%s: document %zu: %s", r->source, r->document,
			 text.bytes);
}

static int fail_kind(const struct reading *r, const char *api_version, const char *name)
{
	struct closest c;

	closest_init(&c, name, strlen(name));
	for (size_t i = 0; i < kinds_count; i++) {
		auto_strbuf version = {0};

		kind_api_version(kinds[i], &version);
		if (!strcmp(kinds[i]->name, name))
			return fail(r, "kind %s of \"%s\" is not known; it is served as \"%s\"",
				    name, api_version, strbuf_str(&version));
		closest_offer(&c, kinds[i]->name);
	}
	if (c.best)
		return fail(r, "kind \"%s\" is not known; did you mean \"%s\"?", name, c.best);
	return fail(r, "kind \"%s\" of \"%s\" is not known", name, api_version);
}

static int read_kind(const struct reading *r, const json_t *object, const struct kind **ret)
{
	const char *api_version = json_str_at(object, "apiVersion", NULL);
	const char *name = json_str_at(object, "kind", NULL);

	if (!json_is_object(object))
		return fail(r, "is no object");
	if (!api_version || !name)
		return fail(r, "%s is missing", api_version ? "kind" : "apiVersion");
	*ret = kind_find_by_name(api_version, name);
	return *ret ? 0 : fail_kind(r, api_version, name);
}

static bool is_list(const json_t *object)
{
	const char *kind = json_str_at(object, "kind", NULL);

	return kind && !strcmp(kind, "List") && json_is_array(json_object_get(object, "items"));
}

static int read_object(const struct reading *r, json_t *object)
{
	struct manifest m = {0};
	const char *ns;

	if (read_kind(r, object, &m.kind))
		return -1;
	m.name = json_str_at(object, "metadata", "name", NULL);
	if (!m.name && !json_str_at(object, "metadata", "generateName", NULL))
		return fail(r, "%s has no metadata.name", m.kind->singular);
	ns = json_str_at(object, "metadata", "namespace", NULL);
	if (m.kind->namespaced && ns && r->given && strcmp(ns, r->ns) != 0)
		return fail(r, "namespace is \"%s\", -n says \"%s\"", ns, r->ns);
	if (m.kind->namespaced && ns && name_mistake(NAME_LABEL, ns))
		return fail(r, "namespace \"%s\" %s", ns, name_mistake(NAME_LABEL, ns));
	if (m.kind->namespaced)
		m.ns = xstrdup(ns ? ns : r->ns);
	m.object = json_incref(object);
	m.source = r->source;
	GROW(r->out->items, r->out->n, r->out->cap);
	r->out->items[r->out->n++] = m;
	return 0;
}

static int read_document(const struct reading *r, json_t *document)
{
	json_t *item;
	size_t i;

	if (!is_list(document))
		return read_object(r, document);
	json_array_foreach (json_object_get(document, "items"), i, item)
		if (read_object(r, item))
			return -1;
	return 0;
}

int manifests_add(struct manifests *out, const char *source, const char *text, size_t n,
		  const char *ns, bool given, struct error *err)
{
	struct reading r = {.out = out, .source = source, .ns = ns, .given = given, .err = err};
	auto_json *documents = NULL;
	size_t before = out->n, i;
	json_t *document;

	if (yaml_parse_all(text, n, &documents, err))
		return error_prefix(err, "%s", source);
	json_array_foreach (documents, i, document) {
		r.document = i + 1;
		if (!read_document(&r, document))
			continue;
		shrink(out, before);
		return -1;
	}
	return 0;
}

/* --- twice --- */

struct seen {
	UT_hash_handle hh;
	const struct manifest *manifest;
	char key[]; /* "ns/name" of a job */
};

static void seen_finish(struct seen *all)
{
	struct seen *s, *next;

	HASH_ITER (hh, all, s, next) {
		HASH_DEL(all, s);
		free(s);
	}
}

/* Returns the one that had the name before; else remembers this one. */
static const struct manifest *note(struct seen **all, const struct manifest *m)
{
	auto_xfree char *key = xasprintf("%s/%s", m->ns, m->name);
	size_t n = strlen(key);
	struct seen *s;

	HASH_FIND(hh, *all, key, n, s);
	if (s)
		return s->manifest;
	s = xmalloc(sizeof(*s) + n + 1);
	s->manifest = m;
	memcpy(s->key, key, n + 1);
	HASH_ADD_KEYPTR(hh, *all, s->key, n, s);
	return NULL;
}

int manifests_check_twice(const struct manifests *m, struct error *err)
{
	const struct kind *jobs = kind_find_typed("jobs");
	const struct manifest *before = NULL;
	struct seen *all = NULL;

	for (size_t i = 0; i < m->n && !before; i++) {
		const struct manifest *one = &m->items[i];

		before = one->kind == jobs && one->name ? note(&all, one) : NULL;
		if (before)
			error_set(err, ERR_BAD_REQUEST,
				  "job \"%s\" is there twice: in %s and in %s", one->name,
				  before->source, one->source);
	}
	seen_finish(all);
	return before ? -1 : 0;
}
