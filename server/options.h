/* Options of requests: what verbs share, and how what is wrong with them is told. */
#ifndef SERVER_OPTIONS_H
#define SERVER_OPTIONS_H

#include "server/request.h"

/* As Kubernetes reads them: "false" and "0" are false, any other text is true, none too. Absent:
 * *ret stays. */
void option_bool(const struct request *r, const char *name, bool *ret);
/* A whole number; absent or empty: *ret stays. BAD_REQUEST when it is none. */
int option_int(const struct request *r, const char *name, int64_t *ret, struct error *err);
/* ?timeout=30s, which is only checked: BAD_REQUEST when it is no duration. */
int option_timeout(const struct request *r, struct error *err);

/* Notes what is wrong with an option; as causes_add(). */
void option_wrong(struct request *r, enum cause_type type, const char *field, const char *value,
		  const char *detail);
/* 0 when nothing was noted. Else INVALID: `ListOptions.meta.k8s.io "" is invalid: ...`, by the
 * verb; respond_error() tells the causes when it is given none. */
int options_check(struct request *r, struct error *err);

/* dryRun of the query: noted when it is neither absent nor All. */
void option_dry_run(struct request *r, bool *ret);
/* dryRun, fieldValidation, fieldManager and force of creates, updates and patches. */
int options_of_write(struct request *r, bool *ret_dry_run, enum field_validation *ret_validation,
		     struct error *err);

#endif
