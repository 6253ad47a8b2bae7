/* What the tests of patches share: checks that show the whole case, and documents by chance. */
#ifndef TESTS_UNIT_API_PATCH_CHECK_H
#define TESTS_UNIT_API_PATCH_CHECK_H

#include "api/patch.h"

struct random;

json_t *patch_parse(const char *text);
/* patch_apply(), and whatever happens the target stays as it was. */
int patch_try(enum patch_type type, const json_t *target, const json_t *patch, json_t **ret,
	      struct error *err);
void patch_check(enum patch_type type, const char *target, const char *patch, const char *want);
void patch_check_refused(enum patch_type type, const char *target, const char *patch,
			 enum error_code code, const char *text);

/* Small documents come in the first of the rounds, so that what fails first is small. */
#define ROUNDS 500
json_t *make_document(struct random *r, int round);
json_t *make_value(struct random *r, int depth);
void patch_check_same(const struct random *r, const json_t *got, const json_t *want,
		      const json_t *target, const json_t *patch);

#endif
