#include "base/error.h"

#include <criterion/criterion.h>
#include <string.h>

#include "base/encode.h"

TestSuite(error);

Test(error, set_writes_code_and_text_and_returns_failure)
{
	struct error err = {0};

	cr_assert_eq(error_set(&err, ERR_CONFLICT, "job \"%s\" was changed", "a"), -1);
	cr_assert_eq(err.code, ERR_CONFLICT);
	cr_assert_str_eq(err.text, "job \"a\" was changed");
	cr_assert_eq(error_set(NULL, ERR_CONFLICT, "nobody listens"), -1);
}

Test(error, prefix_goes_before_the_text_and_keeps_the_code)
{
	struct error err;

	error_set(&err, ERR_NOT_FOUND, "no such queue");
	cr_assert_eq(error_prefix(&err, "submit %s", "x"), -1);
	cr_assert_str_eq(err.text, "submit x: no such queue");
	cr_assert_eq(err.code, ERR_NOT_FOUND);
	cr_assert_eq(error_prefix(NULL, "x"), -1);
}

Test(error, long_texts_are_cut_and_still_end)
{
	struct error err;
	char big[2000];

	memset(big, 'x', sizeof(big) - 1);
	big[sizeof(big) - 1] = '\0';
	error_set(&err, ERR_INTERNAL, "%s", big);
	cr_assert_eq(strlen(err.text), sizeof(err.text) - 1);
	error_prefix(&err, "%s", big);
	cr_assert_eq(strlen(err.text), sizeof(err.text) - 1);
}

Test(error, a_cut_text_ends_behind_a_whole_character)
{
	static const char *const fillers[] = {"x\xc3\xa4", "\xe2\x82\xac", "ab\xf0\x9f\x98\x80"};

	for (size_t i = 0; i < sizeof(fillers) / sizeof(fillers[0]); i++) {
		char big[2000] = "";
		struct error err;

		for (size_t n = 0; n + 8 < sizeof(big); n += strlen(fillers[i]))
			memcpy(big + n, fillers[i], strlen(fillers[i]));
		error_set(&err, ERR_INTERNAL, "%s", big);
		cr_expect(utf8_valid(err.text, strlen(err.text)), "%s", fillers[i]);
		cr_expect_geq(strlen(err.text), sizeof(err.text) - 4);
		for (int k = 0; k < 4; k++) {
			error_prefix(&err, "a");
			cr_expect(utf8_valid(err.text, strlen(err.text)), "%s, %d", fillers[i], k);
		}
	}
}

/* What client-go's reasons and the API conventions pair with each other. */
Test(error, reasons_and_statuses_are_those_of_kubernetes)
{
	static const struct {
		enum error_code code;
		const char *reason;
		int status;
	} cases[] = {
		{ERR_INVALID, "Invalid", 422},
		{ERR_BAD_REQUEST, "BadRequest", 400},
		{ERR_UNAUTHORIZED, "Unauthorized", 401},
		{ERR_FORBIDDEN, "Forbidden", 403},
		{ERR_NOT_FOUND, "NotFound", 404},
		{ERR_METHOD_NOT_ALLOWED, "MethodNotAllowed", 405},
		{ERR_NOT_ACCEPTABLE, "NotAcceptable", 406},
		{ERR_ALREADY_EXISTS, "AlreadyExists", 409},
		{ERR_CONFLICT, "Conflict", 409},
		{ERR_EXPIRED, "Expired", 410},
		{ERR_TOO_LARGE, "RequestEntityTooLarge", 413},
		{ERR_UNSUPPORTED_MEDIA, "UnsupportedMediaType", 415},
		{ERR_TOO_MANY, "TooManyRequests", 429},
		{ERR_INTERNAL, "InternalError", 500},
		{ERR_UNAVAILABLE, "ServiceUnavailable", 503},
		{ERR_TIMEOUT, "Timeout", 504},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		cr_expect_str_eq(error_reason(cases[i].code), cases[i].reason);
		cr_expect_eq(error_http_status(cases[i].code), cases[i].status);
		cr_expect_eq(error_code_from(cases[i].reason, cases[i].status), cases[i].code, "%s",
			     cases[i].reason);
	}
}

Test(error, code_falls_back_to_the_status)
{
	cr_expect_eq(error_code_from(NULL, 404), ERR_NOT_FOUND);
	cr_expect_eq(error_code_from("", 503), ERR_UNAVAILABLE);
	cr_expect_eq(error_code_from("SomethingNew", 403), ERR_FORBIDDEN);
	cr_expect_eq(error_code_from("SomethingNew", 418), ERR_INTERNAL);
	/* who sends a 500 does not say whether a write happened */
	cr_expect_eq(error_code_from(NULL, 500), ERR_INTERNAL);
}
