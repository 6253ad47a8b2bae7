/*
 * JSON on jansson, for documents and configuration. Limits of outside input are checked here:
 * nesting depth, UTF-8, duplicate keys. The size is the caller's to bound.
 */
#ifndef BASE_JSON_H
#define BASE_JSON_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/mem.h"
#include "base/strbuf.h"

#define JSON_MAX_DEPTH 64

static inline void json_decref_p(json_t **j)
{
	json_decref(*j);
}
#define auto_json __attribute__((cleanup(json_decref_p), unused)) json_t

/* Caller owns the result; NULL with BAD_REQUEST (line and column in the text) on bad input.
 * Duplicate keys keep the last value, as Kubernetes does; the first duplicate's path
 * ("spec.tasks[0].name"), or NULL, is put into ret_duplicate (caller frees) when that is not NULL.
 * Integers of more than 64 bits become reals. */
json_t *json_parse(const char *bytes, size_t n, char **ret_duplicate, struct error *err);
/* The same for what another server sent and already accepted: takes all that scan.h takes. Strings
 * may hold \u0000, which json_parse refuses because it would hide the rest of a name from checks
 * (in a key it becomes U+FFFD), and numbers out of range become the greatest. */
json_t *json_parse_foreign(const char *bytes, size_t n, struct error *err);

/* Compact, keys in insertion order, reals by the fewest of 15 to 17 digits that read back as the
 * same number. */
void json_write(struct strbuf *out, const json_t *j);
char *json_print(const json_t *j); /* caller frees */

/* Walks keys: json_at(job, "spec", "tasks", NULL). Borrowed; NULL when absent or not an object. */
const json_t *json_at(const json_t *j, ...) __attribute__((sentinel));
/* Same, for strings and integers, with a default. */
const char *json_str_at(const json_t *j, ...) __attribute__((sentinel)); /* NULL when absent */
int64_t json_int_at(const json_t *j, int64_t otherwise, ...) __attribute__((sentinel));

/* The object under key, created when absent or something else. Borrowed, writable. */
json_t *json_object_need(json_t *object, const char *key);

/* Strings are the commonest value to set; NULL removes the key. */
void json_set_str(json_t *object, const char *key, const char *value);
void json_set_int(json_t *object, const char *key, int64_t value);

#endif
