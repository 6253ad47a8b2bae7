/*
 * Patches: RFC 7386 merge patch, RFC 6902 JSON patch, and Kubernetes' strategic merge patch for
 * core kinds (its merge keys are a small table).
 */
#ifndef API_PATCH_H
#define API_PATCH_H

#include <jansson.h>

#include "api/kind.h"
#include "base/error.h"

enum patch_type { PATCH_MERGE, PATCH_JSON, PATCH_STRATEGIC };

/* From a Content-Type; UNSUPPORTED_MEDIA for others, and for strategic on kinds that are not core.
 */
int patch_type_parse(const char *content_type, const struct kind *k, enum patch_type *ret,
		     struct error *err);

/* A new object; the caller owns it, target is not changed. INVALID: a `test` that fails, a path
 * that does not exist, a result that is no object. BAD_REQUEST: a malformed patch, or one deeper
 * than JSON_MAX_DEPTH. TOO_LARGE: over 10,000 operations, or copies and searches out of proportion.
 */
int patch_apply(enum patch_type type, const json_t *target, const json_t *patch, json_t **ret,
		struct error *err);

#endif
