/*
 * Failures as users see them: field causes, and the Kubernetes Status object made of them.
 */
#ifndef API_STATUS_H
#define API_STATUS_H

#include <jansson.h>
#include <stddef.h>

#include "base/error.h"

/* reason of a cause, how its message begins. */
#define CAUSE_TYPES(X)                                                                             \
	X(REQUIRED, "FieldValueRequired", "Required value")                                        \
	X(INVALID, "FieldValueInvalid", "Invalid value")                                           \
	X(NOT_SUPPORTED, "FieldValueNotSupported", "Unsupported value")                            \
	X(DUPLICATE, "FieldValueDuplicate", "Duplicate value")                                     \
	X(FORBIDDEN, "FieldValueForbidden", "Forbidden")                                           \
	X(TOO_LONG, "FieldValueTooLong", "Too long")                                               \
	X(TOO_MANY, "FieldValueTooMany", "Too many")                                               \
	X(TYPE, "FieldValueTypeInvalid", "Invalid value")                                          \
	X(NOT_FOUND, "FieldValueNotFound", "Not found")

enum cause_type {
#define X(name, reason, text) CAUSE_##name,
	CAUSE_TYPES(X)
#undef X
};

struct cause {
	enum cause_type type;
	const char *reason_override; /* e.g. "NeverFits"; NULL: the type's */
	char *field, *message;       /* message: `Invalid value: "x": must be ...` */
};

#define CAUSES_MAX 100 /* later ones are dropped: a Status stays small whatever is sent */

struct causes {
	struct cause *items;
	size_t n, cap;
};

/* value: the offending value as JSON text or NULL; detail: what is wrong, printf style; nothing
 * more is said where it comes out empty. */
void causes_add(struct causes *c, enum cause_type type, const char *field, const char *value,
		const char *detail, ...) __attribute__((format(printf, 5, 6)));
void causes_finish(struct causes *c);

/* What a Status says beside code and text. All may be NULL. */
struct status_details {
	const char *name, *group, *kind; /* kind: the plural, but the Kind for 422 */
	const char *uid;
	const struct causes *causes;
	int retry_after_s; /* 0: none */
};

/* A Status object of failure; the caller owns it. */
json_t *status_failure(const struct error *err, const struct status_details *details);
/* `Job.batch.volcano.sh "x" is invalid: [a: .., b: ..]` into err, code INVALID. */
void status_invalid(const char *kind, const char *group, const char *name,
		    const struct causes *causes, struct error *err);
/* Reads a Status (or any other error body) into err: code, and the message as the text. A code in
 * the Status counts more than the HTTP status. */
void status_read(int http_status, const char *body, size_t n, struct error *err);

#endif
