/*
 * Structural schemas, compiled from the CRD files (and files of the same format for core kinds):
 * pruning, defaulting, type checks, explain and OpenAPI all come from here.
 */
#ifndef API_SCHEMA_H
#define API_SCHEMA_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "api/status.h"

struct schema;

/* From the CRD's YAML text; aborts on a bad file, which only a bad build can hold. */
struct schema *schema_compile(const char *crd_yaml, size_t n);
void schema_destroy(struct schema *s);

/* Drops fields that the schema does not have. Each dropped path ("spec.bogus") is handed to
 * dropped (may be NULL). metadata is pruned to ObjectMeta's fields. What lies below
 * x-kubernetes-preserve-unknown-fields stays. */
void schema_prune(const struct schema *s, json_t *object,
		  void (*dropped)(const char *path, void *arg), void *arg);
/* Sets defaults where a field is absent (or null, where the schema is not nullable). Other nulls
 * of fields that are not nullable go, as in Kubernetes. */
void schema_default(const struct schema *s, json_t *object);
/* Types, required fields, bounds, enums, patterns by name ("format"): a cause for each mistake. */
void schema_validate(const struct schema *s, const json_t *object, struct causes *causes);

/* True when the schema has this path ("spec.tasks[].name"; [] is any element of an array, and any
 * member of a map); *ret_type gets its type: "object", "array", "string", "integer", "boolean",
 * "int-or-string", "quantity", or "" where anything goes. */
bool schema_lookup(const struct schema *s, const char *path, const char **ret_type);

/* The OpenAPI v3 schema object of the kind ({type, description, properties, ...}); caller owns. */
json_t *schema_openapi(const struct schema *s);

#endif
