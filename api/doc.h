/*
 * The stored object: a JSON document as bytes, immutable, reference-counted. Never crosses a
 * thread; a write makes a new doc.
 *
 * Stored bytes are one JSON object that begins {"apiVersion":..,"kind":..,"metadata":{ and carry no
 * resourceVersion: it is spliced in when the document is sent. A kind whose status lies in a key
 * of its own (Job) is joined by the cache before anybody sees the doc.
 */
#ifndef API_DOC_H
#define API_DOC_H

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>

#include "base/mem.h"
#include "base/strbuf.h"

struct doc {
	unsigned refs;
	char *key;               /* the store's key: "/federator/<group>/<plural>/[<ns>/]<name>" */
	int64_t version;         /* the resourceVersion */
	int64_t revision;        /* the store's revision of the main key: what guards compare */
	int64_t create_revision; /* of the main key */
	int64_t status_revision; /* of the status key; 0 when there is none */
	size_t splice;           /* offset just behind the { of metadata */
	size_t size;
	char bytes[]; /* NUL-terminated */
};

/* Copies key and bytes; version and revisions are 0 and the caller's to set. Aborts on bytes
 * without metadata. */
struct doc *doc_create(const char *key, const char *bytes, size_t size);
struct doc *doc_ref(const struct doc *d);
void doc_unref(struct doc *d); /* NULL is fine */

/* The document with its resourceVersion, appended to out. */
void doc_write(struct strbuf *out, const struct doc *d);

/* A tree of its own with resourceVersion set; the caller owns it. Aborts on bytes that are not
 * JSON of at most 64 levels: what is stored, and what an informer tells, was checked before. */
json_t *doc_tree(const struct doc *d);

/* main with "status" set to the given object: what readers of a split kind see. Version and
 * revisions are main's; the caller sets what the status changes of them. */
struct doc *doc_join(const struct doc *main, const char *status, size_t status_size);

DEFINE_CLEANUP(struct doc, doc_unref)

#endif
