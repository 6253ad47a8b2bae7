/* What the tests of patches share: checks that show the whole case, and documents by chance. */
#ifndef TESTS_UNIT_API_PATCH_CHECK_H
#define TESTS_UNIT_API_PATCH_CHECK_H

#include "api/patch.h"
#include "tests/unit/property.h"

json_t *patch_parse(const char *text);
/* patch_apply(), and whatever happens the target stays as it was. */
int patch_try(enum patch_type type, const json_t *target, const json_t *patch, json_t **ret,
	      struct error *err);
void patch_check(enum patch_type type, const char *target, const char *patch, const char *want);
void patch_check_refused(enum patch_type type, const char *target, const char *patch,
			 enum error_code code, const char *text);

json_t *make_document(struct draw *d);
json_t *make_value(struct draw *d, int depth);
/* As a property: the patch is taken, and the result is what is wanted. */
bool patch_leads_to(struct draw *d, enum patch_type type, const json_t *target, const json_t *patch,
		    const json_t *want);

#endif
