/* Stored objects as bytes: splitting at metadata, sending, joining a status kept apart. */
#include "api/doc.h"

#include <assert.h>
#include <inttypes.h>
#include <string.h>

#include "base/json.h"
#include "base/scan.h"

/* Offset just behind the { of metadata; 0 when there is none. What stands before it may be nested
 * as deep as other servers let through. */
static size_t find_splice(const char *bytes, size_t size)
{
	struct scan s;
	struct sv key;

	scan_init_deep(&s, bytes, size);
	scan_object_begin(&s);
	while (scan_key(&s, &key)) {
		if (sv_eq(key, "metadata"))
			return scan_object_begin(&s) ? (size_t)(s.at - bytes) : 0;
		scan_skip(&s);
	}
	return 0;
}

struct doc *doc_create(const char *key, const char *bytes, size_t size)
{
	struct doc *d = xcalloc(1, sizeof(*d) + size + 1);

	d->refs = 1;
	d->key = xstrdup(key);
	d->size = size;
	memcpy(d->bytes, bytes, size);
	d->splice = find_splice(d->bytes, size);
	assert(d->splice);
	return d;
}

struct doc *doc_ref(const struct doc *d)
{
	/* the count is the owners' business, not part of what a const doc promises */
	struct doc *owned = (struct doc *)(uintptr_t)d;

	owned->refs++;
	return owned;
}

void doc_unref(struct doc *d)
{
	if (!d || --d->refs)
		return;
	free(d->key);
	free(d);
}

static bool metadata_is_empty(const struct doc *d)
{
	const char *p = d->bytes + d->splice;

	return p[strspn(p, " \t\r\n")] == '}';
}

void doc_write(struct strbuf *out, const struct doc *d)
{
	strbuf_add(out, d->bytes, d->splice);
	strbuf_adds(out, "\"resourceVersion\":\"");
	strbuf_addi(out, d->version);
	strbuf_adds(out, metadata_is_empty(d) ? "\"" : "\",");
	strbuf_add(out, d->bytes + d->splice, d->size - d->splice);
}

json_t *doc_tree(const struct doc *d)
{
	json_t *j = json_parse_foreign(d->bytes, d->size, NULL);
	char version[24];

	assert(j);
	snprintf(version, sizeof(version), "%" PRId64, d->version);
	json_set_str(json_object_get(j, "metadata"), "resourceVersion", version);
	return j;
}

/* All members of the object but status, each with a comma behind it. */
static void add_without_status(struct strbuf *out, const struct doc *d)
{
	struct sv key, value;
	struct scan s;

	scan_init(&s, d->bytes, d->size);
	scan_object_begin(&s);
	while (scan_key(&s, &key) && scan_raw(&s, &value)) {
		if (sv_eq(key, "status"))
			continue;
		strbuf_addc(out, '"');
		strbuf_add(out, key.p, key.n);
		strbuf_adds(out, "\":");
		strbuf_add(out, value.p, value.n);
		strbuf_addc(out, ',');
	}
	assert(!s.failed);
}

struct doc *doc_join(const struct doc *main, const char *status, size_t status_size)
{
	auto_strbuf bytes = {0};
	struct doc *d;

	strbuf_addc(&bytes, '{');
	add_without_status(&bytes, main);
	strbuf_adds(&bytes, "\"status\":");
	strbuf_add(&bytes, status, status_size);
	strbuf_addc(&bytes, '}');
	d = doc_create(main->key, strbuf_str(&bytes), bytes.size);
	d->version = main->version;
	d->revision = main->revision;
	d->create_revision = main->create_revision;
	d->status_revision = main->status_revision;
	return d;
}
