/*
 * YAML to JSON by libyaml's events, with the resolver of the Kubernetes tools: only true/false are
 * booleans (yes, no, on, off stay strings), null and ~ are null, ints and floats are numbers;
 * anchors are expanded within a budget; merge keys, %TAG and tags other than the core ones are
 * refused. UTF-8 only.
 */
#ifndef BASE_YAML_H
#define BASE_YAML_H

#include <jansson.h>
#include <stddef.h>

#include "base/error.h"

/* All documents of a stream; empty ones are left out. ret_docs: a JSON array that the caller owns.
 * Errors are BAD_REQUEST with line and column. JSON is YAML, so it is read too. */
int yaml_parse_all(const char *text, size_t n, json_t **ret_docs, struct error *err);

/* Block style, as kubectl prints it; keys sorted. */
struct strbuf;
void yaml_write(struct strbuf *out, const json_t *j);

#endif
