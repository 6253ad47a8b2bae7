#include "server/options.h"

#include <errno.h>
#include <string.h>
#include <strings.h>

#include "base/encode.h"

#define FIELD_MANAGER_MAX 128 /* bytes */

void option_bool(const struct request *r, const char *name, bool *ret)
{
	const char *value = exchange_query(r->pub.x, name);

	if (value)
		*ret = strcasecmp(value, "false") != 0 && strcmp(value, "0") != 0;
}

int option_int(const struct request *r, const char *name, int64_t *ret, struct error *err)
{
	const char *text = request_query(r, name);
	char *end;
	long long v;

	if (!text)
		return 0;
	errno = 0;
	v = strtoll(text, &end, 10);
	if (errno || *end || (*text != '-' && (*text < '0' || *text > '9')))
		return error_set(err, ERR_BAD_REQUEST,
				 "%s: Invalid value: \"%.40s\": must be a whole number", name,
				 text);
	*ret = v;
	return 0;
}

int option_timeout(const struct request *r, struct error *err)
{
	const char *text = request_query(r, "timeout");
	int64_t ns;

	if (!text || !duration_parse(text, &ns))
		return 0;
	return error_set(err, ERR_BAD_REQUEST,
			 "timeout: Invalid value: \"%.40s\": must be a duration such as 30s", text);
}

/* --- what is wrong with them --- */

static const char *options_name(enum verb verb)
{
	static const struct {
		enum verb verb;
		const char *name;
	} names[] = {
		{VERB_CREATE, "CreateOptions"}, {VERB_UPDATE, "UpdateOptions"},
		{VERB_PATCH, "PatchOptions"},   {VERB_DELETE, "DeleteOptions"},
		{VERB_LIST, "ListOptions"},     {VERB_DELETECOLLECTION, "DeleteOptions"},
	};

	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		if (names[i].verb == verb)
			return names[i].name;
	return "ListOptions";
}

void option_wrong(struct request *r, enum cause_type type, const char *field, const char *value,
		  const char *detail)
{
	causes_add(&r->causes, type, field, value, "%s", detail);
}

int options_check(struct request *r, struct error *err)
{
	const char *name = options_name(r->verb);

	if (!r->causes.n)
		return 0;
	r->about = (struct about){.said = true, .group = "meta.k8s.io", .kind = name};
	status_invalid(name, r->about.group, "", &r->causes, err);
	return -1;
}

/* --- of writes --- */

void option_dry_run(struct request *r, bool *ret)
{
	const char *value = exchange_query(r->pub.x, "dryRun");
	auto_xfree char *quoted = value ? xasprintf("[\"%.40s\"]", value) : NULL;

	*ret = value != NULL;
	if (value && strcmp(value, "All") != 0)
		option_wrong(r, CAUSE_NOT_SUPPORTED, "dryRun", quoted, "supported values: \"All\"");
}

static void read_validation(struct request *r, enum field_validation *ret)
{
	static const char *const names[] = {
		[FIELDS_WARN] = "Warn",
		[FIELDS_STRICT] = "Strict",
		[FIELDS_IGNORE] = "Ignore",
	};
	const char *value = request_query(r, "fieldValidation");
	auto_xfree char *quoted = value ? xasprintf("\"%.40s\"", value) : NULL;

	*ret = FIELDS_WARN;
	if (!value)
		return;
	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		if (!strcmp(value, names[i])) {
			*ret = (enum field_validation)i;
			return;
		}
	}
	option_wrong(r, CAUSE_NOT_SUPPORTED, "fieldValidation", quoted,
		     "supported values: \"\", \"Ignore\", \"Strict\", \"Warn\"");
}

static void check_manager(struct request *r)
{
	const char *name = request_query(r, "fieldManager");

	if (!name)
		return;
	if (strlen(name) > FIELD_MANAGER_MAX)
		option_wrong(r, CAUSE_TOO_LONG, "fieldManager", NULL,
			     "may not be more than 128 bytes");
	for (const char *p = name; *p; p++) {
		if ((unsigned char)*p >= ' ' && *p != 0x7f)
			continue;
		option_wrong(r, CAUSE_INVALID, "fieldManager", NULL,
			     "control characters are not allowed");
		return;
	}
}

int options_of_write(struct request *r, bool *ret_dry_run, enum field_validation *ret_validation,
		     struct error *err)
{
	option_dry_run(r, ret_dry_run);
	read_validation(r, ret_validation);
	check_manager(r);
	if (r->verb == VERB_PATCH && exchange_query(r->pub.x, "force"))
		option_wrong(r, CAUSE_FORBIDDEN, "force", NULL,
			     "may not be specified for non-apply patch");
	return options_check(r, err);
}
