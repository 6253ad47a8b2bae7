/* What the three kinds of patches share. Internal to patch*.c. */
#ifndef API_PATCH_INTERNAL_H
#define API_PATCH_INTERNAL_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

/* What a patch may cost beyond its own size: nodes and string bytes that it copies, list elements
 * that it compares. A small text must not make a large document, nor a long silence. */
#define PATCH_WORK (1 << 22)

struct patch_work {
	size_t left;
	struct error *err;
};

/* TOO_LARGE when n more is too much; returns -1 then. */
int patch_spend(struct patch_work *w, size_t n);
/* Spends the size of a value; BAD_REQUEST when it is deeper than depth levels. */
int patch_measure(struct patch_work *w, const json_t *value, size_t depth);
/* Equal as JSON values: 1 and 1.0 are. */
bool patch_values_equal(const json_t *a, const json_t *b);

/* Both change *doc, which nobody else may hold, and may leave it half changed on failure. */
int patch_apply_json(struct patch_work *w, json_t **doc, const json_t *patch);
int patch_apply_strategic(struct patch_work *w, json_t *doc, const json_t *patch);

#endif
