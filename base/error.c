#include "base/error.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static const struct {
	const char *reason;
	int status;
} codes[] = {
#define X(name, reason, status) [ERR_##name] = {reason, status},
	ERROR_CODES(X)
#undef X
};

int error_set(struct error *err, enum error_code code, const char *fmt, ...)
{
	va_list ap;

	if (!err)
		return -1;
	err->code = code;
	va_start(ap, fmt);
	vsnprintf(err->text, sizeof(err->text), fmt, ap);
	va_end(ap);
	return -1;
}

int error_prefix(struct error *err, const char *fmt, ...)
{
	char old[sizeof(err->text)];
	va_list ap;
	size_t used;

	if (!err)
		return -1;
	memcpy(old, err->text, sizeof(old));
	va_start(ap, fmt);
	vsnprintf(err->text, sizeof(err->text), fmt, ap);
	va_end(ap);
	used = strlen(err->text);
	snprintf(err->text + used, sizeof(err->text) - used, ": %s", old);
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
