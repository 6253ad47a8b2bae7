/* What a server says of a failure, behind the digit of its HTTP status: there is always a text and
 * a code, and both come back from the Status that is made of them. */
#include <assert.h>

#include "api/status.h"
#include "base/json.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

static void check_again(const struct error *err)
{
	auto_json *status = status_failure(err, NULL);
	auto_xfree char *text = json_print(status);
	struct error again = {0};

	status_read(error_http_status(err->code), text, strlen(text), &again);
	assert(again.code == err->code);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	static const int statuses[] = {400, 401, 403, 404, 405, 409, 410, 422, 429, 503};
	struct error err = {0};

	if (!n)
		return 0;
	status_read(statuses[bytes[0] % ARRAY_LEN(statuses)], (const char *)bytes + 1, n - 1, &err);
	assert(*err.text);
	check_again(&err);
	return 0;
}
