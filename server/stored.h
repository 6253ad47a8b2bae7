/*
 * The form in which objects are stored (api/doc.h): for the server, and for controllers that write
 * transactions of their own.
 */
#ifndef SERVER_STORED_H
#define SERVER_STORED_H

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>

#include "api/doc.h"
#include "api/kind.h"
#include "base/loop.h"
#include "base/strbuf.h"

/* The value of the main key: apiVersion, kind, metadata first; no resourceVersion; no status where
 * the kind keeps it apart. */
void stored_main(const struct kind *k, const json_t *object, struct strbuf *out);
/* The value of the status key of a kind with split_status: "{}" when the object has none. */
void stored_status(const json_t *object, struct strbuf *out);

/* uid, creationTimestamp, generation and namespace of an object that is about to be created. */
void stored_stamp(struct env *env, const struct kind *k, const char *ns, json_t *object);

/* As doc_write, with another version: what a watcher sees of an object that went. */
void stored_write_at(struct strbuf *out, const struct doc *d, int64_t version);

#endif
