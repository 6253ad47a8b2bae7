#include "api/kind.h"

#include "api/embedded.h"
#include "api/meta.h"
#include "api/schema.h"
#include "base/mem.h"

void kind_api_version(const struct kind *k, struct strbuf *out)
{
	strbuf_adds(out, k->group);
	if (*k->group)
		strbuf_addc(out, '/');
	strbuf_adds(out, k->version);
}

void kind_resource_name(const struct kind *k, struct strbuf *out)
{
	strbuf_addf(out, "%s%s%s", k->plural, *k->group ? "." : "", k->group);
}

static size_t kind_index(const struct kind *k)
{
	size_t i = 0;

	while (kinds[i] != k)
		i++;
	return i;
}

/* Compiled schemas are constant once made, so whoever finishes first wins and all see the same. */
const struct schema *kind_schema(const struct kind *k)
{
	static struct schema *compiled[KINDS_MAX];
	struct schema **slot = &compiled[kind_index(k)];
	struct schema *s = __atomic_load_n(slot, __ATOMIC_ACQUIRE), *none = NULL;
	const struct embedded_file *f;

	if (s)
		return s;
	f = embedded_find(k->schema_file);
	s = schema_compile(f->text, f->size);
	if (__atomic_compare_exchange_n(slot, &none, s, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
		return s;
	schema_destroy(s);
	return none;
}

const char *kind_crd_yaml(const struct kind *k, size_t *ret_size)
{
	const struct embedded_file *f = embedded_find(k->schema_file);

	*ret_size = f->size;
	return f->text;
}

void kind_default(const struct kind *k, json_t *object)
{
	schema_default(kind_schema(k), object);
	if (k->set_defaults)
		k->set_defaults(object);
}

void kind_validate(const struct kind *k, const json_t *object, const json_t *old,
		   struct causes *causes)
{
	size_t before = causes->n;

	schema_validate(kind_schema(k), object, causes);
	meta_validate(k, object, causes);
	if (k->validate && causes->n == before)
		k->validate(object, old, causes);
}

static void write_key(const struct kind *k, const char *suffix, const char *ns, const char *name,
		      struct strbuf *out)
{
	strbuf_adds(out, "/federator/");
	strbuf_adds(out, *k->group ? k->group : "core");
	strbuf_addc(out, '/');
	strbuf_adds(out, k->plural);
	strbuf_adds(out, suffix);
	strbuf_addc(out, '/');
	if (k->namespaced && ns) {
		strbuf_adds(out, ns);
		strbuf_addc(out, '/');
	}
	if (name)
		strbuf_adds(out, name);
}

void kind_key(const struct kind *k, const char *ns, const char *name, struct strbuf *out)
{
	write_key(k, "", ns, name, out);
}

void kind_status_key(const struct kind *k, const char *ns, const char *name, struct strbuf *out)
{
	write_key(k, ".status", ns, name, out);
}

void kind_path(const struct kind *k, const char *ns, const char *name, struct strbuf *out)
{
	strbuf_adds(out, *k->group ? "/apis/" : "/api/");
	kind_api_version(k, out);
	if (k->namespaced && ns)
		strbuf_addf(out, "/namespaces/%s", ns);
	strbuf_addf(out, "/%s", k->plural);
	if (name)
		strbuf_addf(out, "/%s", name);
}
