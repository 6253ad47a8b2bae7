/*
 * Label and field selectors: the query form ("a=b,c in (x,y),!d"), and the object form
 * ({matchLabels, matchExpressions}) with Kubernetes' operators.
 */
#ifndef API_SELECTOR_H
#define API_SELECTOR_H

#include <jansson.h>
#include <stdbool.h>

#include "base/error.h"

struct selector;

/* NULL or "" selects everything. BAD_REQUEST on malformed text. */
int selector_parse(const char *text, struct selector **ret, struct error *err);
/* {matchLabels, matchExpressions}; absent or {} selects everything; operators In, NotIn, Exists,
 * DoesNotExist, and for node affinity Gt and Lt. */
int selector_from_object(const json_t *object, struct selector **ret, struct error *err);
void selector_destroy(struct selector *s);
bool selector_is_empty(const struct selector *s);
/* labels: an object of strings, or NULL. */
bool selector_match(const struct selector *s, const json_t *labels);
/* The same over a callback: value of a label, or NULL. */
bool selector_match_fn(const struct selector *s, const char *(*get)(const char *key, void *arg),
		       void *arg);
/* Names that the selector refers to, in order; NULL after the last. */
const char *selector_key(const struct selector *s, size_t i);

/* Field selectors: terms "path=value" and "path!=value". */
struct field_selector;
int field_selector_parse(const char *text, struct field_selector **ret, struct error *err);
void field_selector_destroy(struct field_selector *s);
/* The i-th term's path, NULL after the last: the caller checks that the kind allows it. */
const char *field_selector_path(const struct field_selector *s, size_t i);
bool field_selector_match(const struct field_selector *s, const json_t *object);
/* The value that metadata.name must have for anything to match, or NULL. */
const char *field_selector_name(const struct field_selector *s);

#endif
