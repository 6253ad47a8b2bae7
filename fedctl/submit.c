/* submit: what is in files to the federator. Jobs are made, the other kinds made or brought up to
 * date. */
#include <string.h>

#include "api/patch.h"
#include "base/json.h"
#include "base/pki.h"
#include "fedctl/commands.h"
#include "fedctl/manifest.h"
#include "fedctl/output.h"
#include "fedctl/session.h"
#include "fedctl/wait.h"

#define MERGE_PATCH "application/merge-patch+json"

struct submission {
	struct session *session;
	struct manifests manifests;
	struct job_name *jobs; /* that were made, for --wait; borrowed from the trees */
	json_t *trees;         /* array of the jobs as they were made */
	size_t n_jobs;
	bool dry;
};

/* --- files --- */

static int read_stdin(struct strbuf *out, struct error *err)
{
	char piece[16384];
	size_t n;

	while ((n = fread(piece, 1, sizeof(piece), stdin)))
		strbuf_add(out, piece, n);
	return ferror(stdin) ? error_set(err, ERR_INTERNAL, "cannot read standard input") : 0;
}

static int read_file(struct submission *b, const char *path, struct error *err)
{
	const struct session *s = b->session;
	bool given = given_text(s->inv, "namespace") != NULL;
	auto_strbuf text = {0};
	auto_xfree char *bytes = NULL;
	size_t n;

	if (!strcmp(path, "-"))
		return read_stdin(&text, err) || manifests_add(&b->manifests, "standard input",
							       strbuf_str(&text), text.size, s->ns,
							       given, err)
			       ? -1
			       : 0;
	if (file_read(path, &bytes, &n, err))
		return -1;
	return manifests_add(&b->manifests, path, bytes, n, s->ns, given, err);
}

static int read_files(struct submission *b, struct error *err)
{
	for (size_t i = 0; i < b->session->inv->n_args; i++)
		if (read_file(b, b->session->inv->args[i], err))
			return -1;
	if (!b->manifests.n)
		return error_set(err, ERR_BAD_REQUEST, "there is no object in what was given");
	return 0;
}

/* --- one object --- */

static bool is_job(const struct manifest *m)
{
	return m->kind == kind_find_typed("jobs");
}

/* "job ml/x submitted" */
static void say_done(const struct submission *b, const struct manifest *m, const char *name,
		     const char *what)
{
	auto_strbuf line = {0};

	strbuf_addf(&line, "%s ", m->kind->singular);
	if (m->ns)
		strbuf_addf(&line, "%s/", m->ns);
	strbuf_addf(&line, "%s %s%s\n", name, what, b->dry ? " (dry run)" : "");
	print_out(line.bytes, line.size);
}

static void add_query(const struct submission *b, struct strbuf *path)
{
	strbuf_addf(path, "?fieldManager=fedctl&fieldValidation=Strict%s",
		    b->dry ? "&dryRun=All" : "");
}

static void note_job(struct submission *b, const struct manifest *m, json_t *made)
{
	json_array_append(b->trees, made);
	b->jobs[b->n_jobs++] =
		(struct job_name){.ns = m->ns,
				  .name = json_str_at(made, "metadata", "name", NULL),
				  .uid = json_str_at(made, "metadata", "uid", NULL)};
}

static int create(struct submission *b, const struct manifest *m, struct error *err)
{
	auto_json *made = NULL;
	auto_strbuf path = {0};
	const char *name;

	object_path(m->kind, m->ns, NULL, &path);
	add_query(b, &path);
	if (session_call(b->session, &(struct call){"POST", path.bytes, m->object}, &made, err))
		return -1;
	name = json_str_at(made, "metadata", "name", NULL);
	say_done(b, m, name ? name : m->name, is_job(m) ? "submitted" : "created");
	if (is_job(m) && name && !b->dry)
		note_job(b, m, made);
	return 0;
}

static int patch(struct submission *b, const struct manifest *m, const char *version,
		 struct error *err)
{
	auto_json *changed = NULL;
	auto_strbuf path = {0};
	const char *now;

	object_path(m->kind, m->ns, m->name, &path);
	add_query(b, &path);
	if (session_call(b->session, &(struct call){"PATCH", path.bytes, m->object, MERGE_PATCH},
			 &changed, err))
		return -1;
	now = json_str_at(changed, "metadata", "resourceVersion", NULL);
	say_done(b, m, m->name, now && !strcmp(now, version) ? "unchanged" : "updated");
	return 0;
}

/* Asks the server only where the file says something that is not so. */
static int update(struct submission *b, const struct manifest *m, struct error *err)
{
	auto_json *object = NULL, *wanted = NULL;
	const char *version;

	if (session_get(b->session, m->kind, m->ns, m->name, &object, err) ||
	    patch_apply(PATCH_MERGE, object, m->object, &wanted, err))
		return -1;
	version = json_str_at(object, "metadata", "resourceVersion", NULL);
	if (!json_equal(object, wanted))
		return patch(b, m, version ? version : "", err);
	say_done(b, m, m->name, "unchanged");
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

static int submit_one(struct submission *b, const struct manifest *m, struct error *err)
{
	if (!create(b, m, err))
		return 0;
	shorten(m, err);
	if (err->code != ERR_ALREADY_EXISTS || !m->name)
		return -1;
	if (!is_job(m))
		return update(b, m, err);
	return error_set(err, ERR_ALREADY_EXISTS,
			 "job \"%s\" is there already; give it another name, or first: fedctl "
			 "cancel %s",
			 m->name, m->name);
}

/* --- all --- */

static int wait_for_all(struct submission *b)
{
	const struct invocation *inv = b->session->inv;

	if (!given_truth(inv, "wait") || !b->n_jobs)
		return EXIT_DONE;
	return wait_for_jobs(b->session, b->jobs, b->n_jobs, WAIT_FOR_COMPLETED,
			     given_ns(inv, "timeout", 0), false);
}

/* What comes first in a file may be what the rest needs, so the first refusal ends it. */
static int submit_all(struct submission *b)
{
	struct error err;

	if (read_files(b, &err)) {
		say_error(&err);
		return EXIT_REFUSED;
	}
	b->jobs = xcalloc(b->manifests.n, sizeof(*b->jobs));
	for (size_t i = 0; i < b->manifests.n; i++)
		if (submit_one(b, &b->manifests.items[i], &err))
			return session_fail(b->session, &err);
	return wait_for_all(b);
}

int run_submit(struct session *s)
{
	struct submission b = {
		.session = s, .trees = json_array(), .dry = given_truth(s->inv, "dry-run")};
	int rc = submit_all(&b);

	json_decref(b.trees);
	free(b.jobs);
	manifests_finish(&b.manifests);
	return rc;
}
