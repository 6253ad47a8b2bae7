/* From a body to an object that may be stored: pruned, defaulted, valid, admitted. */
#include <string.h>

#include "api/schema.h"
#include "server/write.h"

#define MAX_UNKNOWN 30 /* fields that are named; more help nobody */

static void on_dropped(const char *path, void *arg)
{
	struct write *w = arg;

	if (w->n_unknown == MAX_UNKNOWN)
		return;
	GROW(w->unknown, w->n_unknown, w->cap_unknown);
	w->unknown[w->n_unknown++] = arena_strdup(&w->scratch, path);
}

static void warn_fields(struct write *w)
{
	for (size_t i = 0; i < w->n_unknown; i++)
		server_write_warn(&w->pub, "unknown field \"%s\"", w->unknown[i]);
	if (w->duplicate)
		server_write_warn(&w->pub, "duplicate field \"%s\"", w->duplicate);
}

/* Kubernetes' two ways to say the same: 400 for a body, 422 for a patch. */
static int refuse_fields(struct write *w, struct error *err)
{
	const struct kind *k = w->pub.kind;
	auto_strbuf text = {.limit = sizeof(err->text) - 120};

	strbuf_adds(&text, "strict decoding error: ");
	for (size_t i = 0; i < w->n_unknown; i++)
		strbuf_addf(&text, "%sunknown field \"%s\"", i ? ", " : "", w->unknown[i]);
	if (w->duplicate)
		strbuf_addf(&text, "%sduplicate field \"%s\"", w->n_unknown ? ", " : "",
			    w->duplicate);
	if (w->type != WRITE_PATCH)
		return error_set(err, ERR_BAD_REQUEST,
				 "%s in version \"%s\" cannot be handled as a %s: %s", k->name,
				 k->version, k->name, strbuf_str(&text));
	w->about = (struct about){.said = true};
	causes_add(&w->pub.causes, CAUSE_INVALID, "patch", "\"<object>\"", "%s", strbuf_str(&text));
	return error_set(err, ERR_INVALID,
			 " \"\" is invalid: patch: Invalid value: \"<object>\": %s",
			 strbuf_str(&text));
}

static int check_fields(struct write *w, struct error *err)
{
	if ((!w->n_unknown && !w->duplicate) || w->validation == FIELDS_IGNORE)
		return 0;
	if (w->validation == FIELDS_STRICT)
		return refuse_fields(w, err);
	warn_fields(w);
	return 0;
}

static int check_causes(struct write *w, struct error *err)
{
	const struct kind *k = w->pub.kind;

	if (!w->pub.causes.n)
		return 0;
	status_invalid(k->name, k->group, w->pub.name ? w->pub.name : "", &w->pub.causes, err);
	return -1;
}

int object_admit(struct write *w, struct error *err)
{
	const struct server_profile *p = w->server->profile;

	if (p->admit && p->admit(&w->pub, err, p->arg))
		return -1;
	return check_causes(w, err);
}

int object_check(struct write *w, struct error *err)
{
	const struct kind *k = w->pub.kind;

	schema_prune(kind_schema(k), w->pub.object, on_dropped, w);
	if (check_fields(w, err))
		return -1;
	kind_default(k, w->pub.object);
	kind_validate(k, w->pub.object, w->old, &w->pub.causes);
	if (check_causes(w, err))
		return -1;
	return object_admit(w, err);
}
