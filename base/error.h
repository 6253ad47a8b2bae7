/*
 * Errors: one struct, no allocation, a code that maps 1:1 to a Kubernetes Status reason.
 *
 * Functions that can fail return 0 or -1 and take a `struct error *err` last; it is written on
 * failure only. Libraries return errors, the edge of the program logs or prints them, once.
 */
#ifndef BASE_ERROR_H
#define BASE_ERROR_H

#include <stdint.h>

/* code, Status reason, HTTP status. */
#define ERROR_CODES(X)                                                                             \
	X(INTERNAL, "InternalError", 500)                                                          \
	X(INVALID, "Invalid", 422)                                                                 \
	X(BAD_REQUEST, "BadRequest", 400)                                                          \
	X(UNAUTHORIZED, "Unauthorized", 401)                                                       \
	X(FORBIDDEN, "Forbidden", 403)                                                             \
	X(NOT_FOUND, "NotFound", 404)                                                              \
	X(METHOD_NOT_ALLOWED, "MethodNotAllowed", 405)                                             \
	X(NOT_ACCEPTABLE, "NotAcceptable", 406)                                                    \
	X(ALREADY_EXISTS, "AlreadyExists", 409)                                                    \
	X(CONFLICT, "Conflict", 409)                                                               \
	X(EXPIRED, "Expired", 410)                                                                 \
	X(TOO_LARGE, "RequestEntityTooLarge", 413)                                                 \
	X(UNSUPPORTED_MEDIA, "UnsupportedMediaType", 415)                                          \
	X(TOO_MANY, "TooManyRequests", 429)                                                        \
	X(UNAVAILABLE, "ServiceUnavailable", 503)                                                  \
	X(TIMEOUT, "Timeout", 504)                                                                 \
	X(UNKNOWN_OUTCOME, "InternalError", 500)                                                   \
	X(UNREACHABLE, "ServiceUnavailable", 503)                                                  \
	X(CANCELLED, "InternalError", 500)

enum error_code {
#define X(name, reason, status) ERR_##name,
	ERROR_CODES(X)
#undef X
};

/* UNKNOWN_OUTCOME: a write that may have happened; the caller must find out before it goes on.
 * UNREACHABLE: the peer was not reached at all, nothing happened there. */
struct error {
	enum error_code code;
	char text[500];
};

/* Fills err (which may be NULL) and returns -1, so that a caller can `return error_set(...)`. */
int error_set(struct error *err, enum error_code code, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* Puts "context: " in front of the text; returns -1. */
int error_prefix(struct error *err, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* "no answer within 5 s"; returns -1. */
int error_no_answer(struct error *err, enum error_code code, int64_t timeout_ms);

const char *error_reason(enum error_code code); /* "NotFound" */
int error_http_status(enum error_code code);    /* 404 */

/* The code for a Status reason, or failing that for an HTTP status; INTERNAL when neither fits. */
enum error_code error_code_from(const char *reason, int http_status);

#endif
