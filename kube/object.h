/*
 * Objects as a server sends them, read by the scanner: no tree is built for what is only passed on.
 */
#ifndef KUBE_OBJECT_H
#define KUBE_OBJECT_H

#include <stdbool.h>
#include <stdint.h>

#include "api/doc.h"
#include "base/error.h"
#include "base/scan.h"

struct object_list {
	struct sv items;     /* the array's bytes; n 0: none or null */
	struct sv next_page; /* the continue token; n 0: this was the last */
	int64_t version;
};
int object_list_read(const char *bytes, size_t n, struct object_list *ret, struct error *err);

/* metadata.resourceVersion as a number: versions of a server that ours must compare. */
int object_version(struct sv object, int64_t *ret, struct error *err);

/* True when the object may become a tree: whole, and nested at most 64 levels. A real apiserver
 * takes deeper ones where a schema preserves unknown fields. */
bool object_is_shallow(struct sv object);

/* A doc whose key is "ns/name" or "name". NULL with err when metadata is not what it must be. */
struct doc *object_doc(struct sv object, struct error *err);
/* The same of the answer to a request, which nobody has looked at: NULL too when it may not become
 * a tree. */
struct doc *object_answer(struct sv body, struct error *err);

#endif
