/* Headers by which clients say what they send and take. What is refused says so, and what is taken
 * is among what was offered. */
#include <assert.h>
#include <stdint.h>
#include <string.h>

#include "base/mem.h"
#include "server/negotiate.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

static void check_accept(const char *header)
{
	struct error err;
	enum form form;

	for (unsigned allowed = 1; allowed < 1u << (FORM_DISCOVERY_V2BETA1 + 1); allowed++) {
		if (accept_form(header, allowed, &form, &err))
			assert(err.code == ERR_NOT_ACCEPTABLE);
		else
			assert(!*header || allowed & 1u << form);
	}
}

static void check_content_type(const char *header)
{
	enum body_type type;
	struct error err;

	if (body_type_parse(header, &type, &err))
		assert(err.code == ERR_UNSUPPORTED_MEDIA);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	auto_xfree char *header = xstrndup((const char *)bytes, n);

	check_accept(header);
	check_content_type(header);
	return 0;
}
