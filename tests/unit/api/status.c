#include "api/status.h"

#include <criterion/criterion.h>
#include <string.h>

#include "base/json.h"

static void finish_causes(struct causes *c)
{
	causes_finish(c);
}
#define auto_causes __attribute__((cleanup(finish_causes))) struct causes

/* The texts are those that people know from Kubernetes. */
Test(status, words_causes_by_type)
{
	static const struct {
		enum cause_type type;
		const char *value, *detail, *message, *reason;
	} cases[] = {
		{CAUSE_REQUIRED, NULL, "", "Required value", "FieldValueRequired"},
		{CAUSE_REQUIRED, NULL, "name it", "Required value: name it", "FieldValueRequired"},
		{CAUSE_INVALID, "-1", "must be at least 0", "Invalid value: -1: must be at least 0",
		 "FieldValueInvalid"},
		{CAUSE_INVALID, "\"x\"", "", "Invalid value: \"x\"", "FieldValueInvalid"},
		{CAUSE_NOT_SUPPORTED, "\"a\"", "supported values: \"b\"",
		 "Unsupported value: \"a\": supported values: \"b\"", "FieldValueNotSupported"},
		{CAUSE_DUPLICATE, "\"a\"", "", "Duplicate value: \"a\"", "FieldValueDuplicate"},
		{CAUSE_FORBIDDEN, NULL, "is frozen", "Forbidden: is frozen", "FieldValueForbidden"},
		{CAUSE_TOO_LONG, NULL, "at most 63", "Too long: at most 63", "FieldValueTooLong"},
		{CAUSE_TOO_MANY, NULL, "at most 2", "Too many: at most 2", "FieldValueTooMany"},
		{CAUSE_TYPE, "\"x\"", "must be a number", "Invalid value: \"x\": must be a number",
		 "FieldValueTypeInvalid"},
		{CAUSE_NOT_FOUND, "\"q\"", "", "Not found: \"q\"", "FieldValueNotFound"},
	};
	struct error err = {.code = ERR_INVALID, .text = "t"};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		auto_causes c = {0};
		struct status_details details = {.causes = &c};
		auto_json *status = NULL;
		const json_t *cause;

		causes_add(&c, cases[i].type, "spec.x", cases[i].value, "%s", cases[i].detail);
		status = status_failure(&err, &details);
		cause = json_array_get(json_at(status, "details", "causes", NULL), 0);
		cr_expect_str_eq(json_str_at(cause, "message", NULL), cases[i].message);
		cr_expect_str_eq(json_str_at(cause, "reason", NULL), cases[i].reason);
		cr_expect_str_eq(json_str_at(cause, "field", NULL), "spec.x");
	}
}

Test(status, formats_the_detail_of_a_cause)
{
	auto_causes c = {0};

	causes_add(&c, CAUSE_INVALID, "a", NULL, "at most %d %s", 3, "tasks");
	cr_expect_str_eq(c.items[0].message, "Invalid value: at most 3 tasks");
	/* a value is no format */
	causes_add(&c, CAUSE_INVALID, "a", "\"%s%n\"", "%s", "");
	cr_expect_str_eq(c.items[1].message, "Invalid value: \"%s%n\"");
}

Test(status, bounds_what_a_user_can_make_it_say)
{
	auto_causes c = {0};
	char value[1001];

	memset(value, 'v', 1000);
	value[1000] = '\0';
	memcpy(value + 199, "\xc3\xa4", 2); /* a character over the cut */
	for (int i = 0; i < 5000; i++)
		causes_add(&c, CAUSE_INVALID, "spec.x", value, "no");
	cr_expect_eq(c.n, CAUSES_MAX);
	cr_expect_lt(strlen(c.items[0].message), 250);
	cr_expect(strstr(c.items[0].message, "vvv...: no"), "%s", c.items[0].message);
}

static void check_status(const struct error *err, const struct status_details *d, const char *want)
{
	auto_json *status = status_failure(err, d);
	auto_xfree char *text = json_print(status);

	cr_expect_str_eq(text, want);
}

Test(status, has_the_shape_that_clients_read)
{
	auto_causes c = {0};
	struct error absent = {.code = ERR_NOT_FOUND,
			       .text = "jobs.batch.volcano.sh \"x\" not found"};
	struct error busy = {.code = ERR_TOO_MANY, .text = "later"};
	struct error invalid = {.code = ERR_INVALID, .text = "never"};

	check_status(&absent,
		     &(struct status_details){
			     .name = "x", .group = "batch.volcano.sh", .kind = "jobs", .uid = "u"},
		     "{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"metadata\":{},"
		     "\"status\":\"Failure\","
		     "\"message\":\"jobs.batch.volcano.sh \\\"x\\\" not found\","
		     "\"reason\":\"NotFound\",\"details\":{\"name\":\"x\","
		     "\"group\":\"batch.volcano.sh\",\"kind\":\"jobs\",\"uid\":\"u\"},"
		     "\"code\":404}");
	check_status(&busy, &(struct status_details){.retry_after_s = 3},
		     "{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"metadata\":{},"
		     "\"status\":\"Failure\",\"message\":\"later\",\"reason\":\"TooManyRequests\","
		     "\"details\":{\"retryAfterSeconds\":3},\"code\":429}");
	check_status(&busy, NULL,
		     "{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"metadata\":{},"
		     "\"status\":\"Failure\",\"message\":\"later\",\"reason\":\"TooManyRequests\","
		     "\"code\":429}");
	causes_add(&c, CAUSE_FORBIDDEN, "spec.tasks", NULL, "no cluster could");
	c.items[0].reason_override = "NeverFits";
	check_status(&invalid, &(struct status_details){.causes = &c},
		     "{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"metadata\":{},"
		     "\"status\":\"Failure\",\"message\":\"never\",\"reason\":\"Invalid\","
		     "\"details\":{\"causes\":[{\"reason\":\"NeverFits\","
		     "\"message\":\"Forbidden: no cluster could\",\"field\":\"spec.tasks\"}]},"
		     "\"code\":422}");
}

Test(status, survives_a_text_that_is_not_utf8)
{
	struct error err = {.code = ERR_INTERNAL, .text = "cut \xc3"};
	auto_json *status = status_failure(&err, NULL);

	cr_expect_str_eq(json_str_at(status, "message", NULL), "cut ?");
}

Test(status, says_what_is_invalid_as_kubernetes_does)
{
	auto_causes c = {0};
	struct error err = {0};

	causes_add(&c, CAUSE_REQUIRED, "spec.x", NULL, "%s", "");
	status_invalid("Job", "batch.volcano.sh", "j", &c, &err);
	cr_expect_eq(err.code, ERR_INVALID);
	cr_expect_str_eq(err.text, "Job.batch.volcano.sh \"j\" is invalid: spec.x: Required value");
	causes_add(&c, CAUSE_FORBIDDEN, "spec.y", NULL, "no");
	status_invalid("ConfigMap", "", "j", &c, &err);
	cr_expect_str_eq(err.text, "ConfigMap \"j\" is invalid: [spec.x: Required value, "
				   "spec.y: Forbidden: no]");
	status_invalid("ConfigMap", "", "j", &c, NULL);
}

Test(status, counts_the_causes_that_do_not_fit_into_the_text)
{
	auto_causes c = {0};
	struct error err = {0};
	char name[600];

	for (int i = 0; i < 60; i++)
		causes_add(&c, CAUSE_REQUIRED, "spec.tasks[10].name", NULL, "%s", "");
	status_invalid("Job", "g", "j", &c, &err);
	cr_expect(strstr(err.text, " more]"), "%s", err.text);
	cr_expect_lt(strlen(err.text), sizeof(err.text));
	memset(name, 'n', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	status_invalid("Job", "g", name, &c, &err);
	cr_expect(strstr(err.text, "nnn...\" is invalid: [spec.tasks[10].name: Required value, "),
		  "%s", err.text);
	cr_expect(strstr(err.text, " more]"), "%s", err.text);
}

static void check_read(int http_status, const char *body, enum error_code code, const char *text)
{
	struct error err = {0};

	status_read(http_status, body, strlen(body), &err);
	cr_expect_eq(err.code, code, "%s: %d", body, err.code);
	cr_expect_str_eq(err.text, text);
}

Test(status, reads_what_servers_answer)
{
	check_read(409, "{\"kind\":\"Status\",\"reason\":\"AlreadyExists\",\"message\":\"there\"}",
		   ERR_ALREADY_EXISTS, "there");
	check_read(409, "{\"kind\":\"Status\",\"reason\":\"Conflict\",\"message\":\"stale\"}",
		   ERR_CONFLICT, "stale");
	check_read(410, "{\"kind\":\"Status\",\"reason\":\"Expired\",\"message\":\"old\"}",
		   ERR_EXPIRED, "old");
	/* in the stream of a watch */
	check_read(200,
		   "{\"kind\":\"Status\",\"reason\":\"Expired\",\"message\":\"old\",\"code\":410}",
		   ERR_EXPIRED, "old");
	/* etcd lost its quorum: no reason at all */
	check_read(500, "{\"kind\":\"Status\",\"message\":\"code = Unavailable\"}", ERR_INTERNAL,
		   "code = Unavailable");
	check_read(404, "404 page not found\n", ERR_NOT_FOUND, "404 page not found");
	check_read(503, "", ERR_UNAVAILABLE, "HTTP status 503");
	check_read(502, "<html>\n<p>", ERR_INTERNAL, "<html>");
	check_read(401, "{\"message\":\"not a Status\"}", ERR_UNAUTHORIZED,
		   "{\"message\":\"not a Status\"}");
	check_read(429, "{\"kind\":\"Status\",\"reason\":\"TooManyRequests\",\"message\":\"\"}",
		   ERR_TOO_MANY, "TooManyRequests");
	check_read(500, "{\"kind\":\"Status\",\"reason\":\"\",\"message\":\"\"}", ERR_INTERNAL,
		   "no message");
	check_read(403, "{\"kind\":1", ERR_FORBIDDEN, "{\"kind\":1");
}

Test(status, reads_back_what_it_makes)
{
	static const enum error_code codes[] = {
		ERR_INVALID,        ERR_BAD_REQUEST, ERR_UNAUTHORIZED,      ERR_FORBIDDEN,
		ERR_NOT_FOUND,      ERR_CONFLICT,    ERR_ALREADY_EXISTS,    ERR_EXPIRED,
		ERR_TOO_LARGE,      ERR_TOO_MANY,    ERR_UNSUPPORTED_MEDIA, ERR_TIMEOUT,
		ERR_NOT_ACCEPTABLE,
	};

	for (size_t i = 0; i < ARRAY_LEN(codes); i++) {
		struct error err = {.code = codes[i], .text = "what it says"}, again = {0};
		auto_json *status = status_failure(&err, NULL);
		auto_xfree char *text = json_print(status);

		status_read(error_http_status(codes[i]), text, strlen(text), &again);
		cr_expect_eq(again.code, codes[i]);
		cr_expect_str_eq(again.text, "what it says");
	}
}
