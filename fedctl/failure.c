/* What went wrong, in one line each, on stderr. */
#include <ctype.h>
#include <string.h>

#include "base/json.h"
#include "fedctl/output.h"
#include "fedctl/session.h"

int exit_of(const struct error *err)
{
	switch (err->code) {
	case ERR_UNREACHABLE:
		return EXIT_UNREACHABLE;
	case ERR_TIMEOUT:
		return EXIT_TIMEOUT;
	default:
		return EXIT_REFUSED;
	}
}

bool exit_is_silence(int exit_code)
{
	return exit_code == EXIT_UNREACHABLE || exit_code == EXIT_TIMEOUT;
}

static void say(const char *word, const char *color, const char *text)
{
	auto_strbuf clean = {0};

	clean_text(text, &clean);
	if (colors_on(stderr))
		fprintf(stderr, "%s%s:%s %s\n", color, word, COLOR_OFF, strbuf_str(&clean));
	else
		fprintf(stderr, "%s: %s\n", word, strbuf_str(&clean));
}

void say_error(const struct error *err)
{
	say("error", COLOR_RED, err->text);
}

void say_warning(const char *text)
{
	say("Warning", COLOR_YELLOW, text);
}

int usage_fail(const struct error *err)
{
	say_error(err);
	return EXIT_USAGE;
}

/* "job example-job: " of what was refused. */
static void add_subject(const json_t *details, struct strbuf *out)
{
	const char *kind = json_str_at(details, "kind", NULL);
	const char *name = json_str_at(details, "name", NULL);

	if (!kind || !name)
		return;
	for (const char *c = kind; *c; c++)
		strbuf_addc(out, (char)tolower((unsigned char)*c));
	strbuf_addf(out, " %s: ", name);
}

static bool is_absence(const json_t *cause)
{
	const char *reason = json_str_at(cause, "reason", NULL);

	return reason && !strcmp(reason, "FieldValueNotFound");
}

bool session_lacks(const struct session *s, const struct error *err)
{
	const json_t *causes = json_object_get(s->details, "causes");
	json_t *cause;
	size_t i;

	json_array_foreach (causes, i, cause)
		if (!is_absence(cause))
			return false;
	return err->code == ERR_NOT_FOUND || (err->code == ERR_INVALID && json_array_size(causes));
}

/* A queue that is not there is the commonest mistake: offers the one that was meant. */
static bool is_missing_queue(const json_t *cause)
{
	const char *field = json_str_at(cause, "field", NULL);

	return field && !strcmp(field, "spec.queue") && is_absence(cause);
}

static void add_missing_queue(struct session *s, const char *message, struct strbuf *out)
{
	const char *quote = strchr(message, '"');
	size_t n = quote ? strcspn(quote + 1, "\"") : 0;
	auto_xfree char *name = xstrndup(quote ? quote + 1 : "", n);
	auto_xfree char *meant = session_closest(s, kind_find_typed("queues"), NULL, name);

	strbuf_addf(out, "queue \"%s\" not found; ", name);
	if (meant)
		strbuf_addf(out, "did you mean \"%s\"?", meant);
	else
		strbuf_addf(out, "make it: fedctl queue create %s", name);
}

static void say_cause(struct session *s, const json_t *details, const json_t *cause)
{
	const char *field = json_str_at(cause, "field", NULL);
	const char *message = json_str_at(cause, "message", NULL);
	auto_strbuf text = {0};

	add_subject(details, &text);
	if (message && is_missing_queue(cause))
		add_missing_queue(s, message, &text);
	else
		strbuf_addf(&text, "%s%s%s", field ? field : "", field ? ": " : "",
			    message ? message : "");
	say("error", COLOR_RED, strbuf_str(&text));
}

int session_fail(struct session *s, const struct error *err)
{
	auto_json *details = take_ptr(s->details);
	const json_t *causes = json_object_get(details, "causes");
	json_t *cause;
	size_t i;

	if (err->code != ERR_INVALID || !json_array_size(causes)) {
		say_error(err);
		return exit_of(err);
	}
	json_array_foreach (causes, i, cause)
		say_cause(s, details, cause);
	return EXIT_REFUSED;
}
