/* What a plain YAML scalar means: shared by the reader and the writer of this folder only. */
#ifndef BASE_YAML_SCALAR_H
#define BASE_YAML_SCALAR_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

/* The value of a plain scalar by the Kubernetes tools' rules: null, boolean, number or else the
 * text itself. NULL for infinities and not-a-number, which JSON cannot hold. Caller owns. */
json_t *yaml_scalar_value(const char *text, size_t n);

/* True when some YAML reader, ours or an older one, would not read the plain text as a string;
 * it ends with a NUL. */
bool yaml_scalar_ambiguous(const char *text, size_t n);

#endif
