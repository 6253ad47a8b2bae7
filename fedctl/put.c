#include "fedctl/put.h"

#include <string.h>

#include "api/patch.h"
#include "base/json.h"
#include "fedctl/output.h"

#define MERGE_PATCH "application/merge-patch+json"

struct put {
	struct session *session;
	const struct manifest *manifest;
	enum put_mode mode;
	enum output output;
	json_t *object; /* as it is sent */
};

static bool is_job(const struct manifest *m)
{
	return m->kind == kind_find_typed("jobs");
}

/* "job ml/x submitted" */
static void say_done(const struct put *p, const json_t *object, const char *what)
{
	const struct manifest *m = p->manifest;
	const char *name = json_str_at(object, "metadata", "name", NULL);
	auto_strbuf line = {0};

	if (p->mode == PUT_CHECK || output_is_document(p->output))
		return;
	strbuf_addf(&line, "%s ", m->kind->singular);
	if (m->ns)
		strbuf_addf(&line, "%s/", m->ns);
	strbuf_addf(&line, "%s %s%s\n", name ? name : m->name, what,
		    p->mode == PUT_DRY ? " (dry run)" : "");
	outcome_print(line.bytes, object, p->output, m->kind);
}

/* A copy of the object without what a server would refuse or pass over in it. */
static json_t *as_written(const json_t *object)
{
	static const char *const of_servers[] = {
		"uid",
		"resourceVersion",
		"generation",
		"creationTimestamp",
		"deletionTimestamp",
		"deletionGracePeriodSeconds",
		"managedFields",
		"selfLink",
	};
	json_t *copy = json_copy((json_t *)(uintptr_t)object), *meta;

	json_object_del(copy, "status");
	meta = json_copy(json_object_get(object, "metadata"));
	for (size_t i = 0; i < ARRAY_LEN(of_servers); i++)
		json_object_del(meta, of_servers[i]);
	json_object_set_new(copy, "metadata", meta);
	return copy;
}

static int ask(const struct put *p, const char *method, const char *name, json_t **ret,
	       struct error *err)
{
	const struct manifest *m = p->manifest;
	auto_strbuf path = {0};
	struct call call = {.method = method, .body = p->object, .quiet = p->mode == PUT_CHECK};

	object_path(m->kind, m->ns, name, &path);
	strbuf_addf(&path, "?fieldManager=fedctl&fieldValidation=Strict%s",
		    p->mode == PUT_KEEP ? "" : "&dryRun=All");
	call.path = path.bytes;
	call.content_type = name ? MERGE_PATCH : NULL;
	return session_call(p->session, &call, ret, err);
}

/* Of what a new object needs, only its namespace can be missing, or the kind as a whole. */
static int fail_lack(const struct put *p, struct error *err)
{
	const struct kind *namespaces = kind_find_typed("namespaces");
	const struct manifest *m = p->manifest;
	auto_xfree char *meant = NULL;

	if (!p->session->details)
		return session_not_served(p->session, m->kind, err);
	if (!m->ns)
		return -1;
	meant = session_closest(p->session, namespaces, NULL, m->ns);
	if (meant)
		return error_set(err, ERR_NOT_FOUND,
				 "%s %s: namespace \"%s\" not found; did you mean \"%s\"?",
				 m->kind->singular, m->name ? m->name : "", m->ns, meant);
	return error_set(err, ERR_NOT_FOUND,
			 "%s %s: namespace \"%s\" not found; make it: kubectl create namespace %s",
			 m->kind->singular, m->name ? m->name : "", m->ns, m->ns);
}

static int create(const struct put *p, json_t **ret, struct error *err)
{
	if (ask(p, "POST", NULL, ret, err))
		return err->code == ERR_NOT_FOUND ? fail_lack(p, err) : -1;
	say_done(p, *ret, is_job(p->manifest) ? "submitted" : "created");
	return 0;
}

static int patch(const struct put *p, const char *version, json_t **ret, struct error *err)
{
	const char *now;

	if (ask(p, "PATCH", p->manifest->name, ret, err))
		return -1;
	now = json_str_at(*ret, "metadata", "resourceVersion", NULL);
	say_done(p, *ret, now && !strcmp(now, version) ? "unchanged" : "updated");
	return 0;
}

/* Asks the server only where the file says something that is not so. */
static int update(const struct put *p, json_t **ret, struct error *err)
{
	const struct manifest *m = p->manifest;
	auto_json *object = NULL, *wanted = NULL;
	const char *version;

	if (session_get(p->session, m->kind, m->ns, m->name, &object, err) ||
	    patch_apply(PATCH_MERGE, object, p->object, &wanted, err))
		return -1;
	version = json_str_at(object, "metadata", "resourceVersion", NULL);
	if (!json_equal(object, wanted))
		return patch(p, version ? version : "", ret, err);
	say_done(p, object, "unchanged");
	*ret = take_ptr(object);
	return 0;
}

/* `strict decoding error: unknown field "spec.x"` is all that a person needs of the sentence. */
static void shorten(const struct manifest *m, struct error *err)
{
	static const char before[] = "strict decoding error: ";
	const char *strict = strstr(err->text, before);
	auto_xfree char *rest = strict ? xstrdup(strict + sizeof(before) - 1) : NULL;

	if (rest)
		error_set(err, err->code, "%s %s: %s", m->kind->singular, m->name ? m->name : "",
			  rest);
}

/* Whether the job that has the name is on its way out. */
static bool is_leaving(const struct put *p)
{
	const struct manifest *m = p->manifest;
	auto_json *object = NULL;
	struct error err;

	return !session_get(p->session, m->kind, m->ns, m->name, &object, &err) &&
	       json_str_at(object, "metadata", "deletionTimestamp", NULL);
}

static int fail_taken(const struct put *p, struct error *err)
{
	const char *name = p->manifest->name;

	if (is_leaving(p))
		return error_set(err, ERR_ALREADY_EXISTS,
				 "job \"%s\" is still being deleted; to wait until it is gone: "
				 "fedctl cancel %s --wait",
				 name, name);
	return error_set(err, ERR_ALREADY_EXISTS,
			 "job \"%s\" is there already; give it another name, or first: fedctl "
			 "cancel %s --wait",
			 name, name);
}

static int put(const struct put *p, json_t **ret, struct error *err)
{
	const struct manifest *m = p->manifest;

	if (!create(p, ret, err))
		return 0;
	shorten(m, err);
	if (err->code != ERR_ALREADY_EXISTS || !m->name)
		return -1;
	return is_job(m) ? fail_taken(p, err) : update(p, ret, err);
}

int put_object(struct session *s, const struct manifest *m, enum put_mode mode, json_t **ret,
	       struct error *err)
{
	auto_json *object = as_written(m->object);
	struct put p = {.session = s,
			.manifest = m,
			.mode = mode,
			.output = output_parse(given_text(s->inv, "output")),
			.object = object};

	*ret = NULL;
	return put(&p, ret, err);
}
