#include "base/error.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/encode.h"

static const struct {
	const char *reason;
	int status;
} codes[] = {
#define X(name, reason, status) [ERR_##name] = {reason, status},
	ERROR_CODES(X)
#undef X
};

/* A text that was longer than there is room ends behind a whole character. */
static void end_text(struct error *err, int wanted)
{
	size_t room = sizeof(err->text) - 1;

	if (wanted > (int)room)
		err->text[utf8_cut(err->text, room)] = '\0';
}

int error_set(struct error *err, enum error_code code, const char *fmt, ...)
{
	va_list ap;
	int n;

	if (!err)
		return -1;
	err->code = code;
	va_start(ap, fmt);
	n = vsnprintf(err->text, sizeof(err->text), fmt, ap);
	va_end(ap);
	end_text(err, n);
	return -1;
}

int error_prefix(struct error *err, const char *fmt, ...)
{
	char old[sizeof(err->text)];
	va_list ap;
	size_t used;
	int n;

	if (!err)
		return -1;
	memcpy(old, err->text, sizeof(old));
	va_start(ap, fmt);
	n = vsnprintf(err->text, sizeof(err->text), fmt, ap);
	va_end(ap);
	end_text(err, n);
	used = strlen(err->text);
	n = snprintf(err->text + used, sizeof(err->text) - used, ": %s", old);
	end_text(err, (int)used + n);
	return -1;
}

const char *error_reason(enum error_code code)
{
	return codes[code].reason;
}

int error_http_status(enum error_code code)
{
	return codes[code].status;
}

enum error_code error_code_from(const char *reason, int http_status)
{
	size_t n = sizeof(codes) / sizeof(codes[0]);

	for (size_t i = 0; reason && i < n; i++)
		if (!strcmp(codes[i].reason, reason) && codes[i].status == http_status)
			return (enum error_code)i;
	for (size_t i = 0; i < n; i++)
		if (codes[i].status == http_status)
			return (enum error_code)i;
	return ERR_INTERNAL;
}

int error_no_answer(struct error *err, enum error_code code, int64_t timeout_ms)
{
	bool whole = timeout_ms % 1000 == 0;

	return error_set(err, code, "no answer within %lld %s",
			 (long long)(whole ? timeout_ms / 1000 : timeout_ms), whole ? "s" : "ms");
}
