/*
 * submit: what is in files to the federator. All of it is checked before any of it is kept, as far
 * as the federator can tell beforehand.
 */
#include <string.h>

#include "base/json.h"
#include "base/pki.h"
#include "fedctl/commands.h"
#include "fedctl/manifest.h"
#include "fedctl/output.h"
#include "fedctl/put.h"
#include "fedctl/session.h"
#include "fedctl/wait.h"

#define STDIN      "standard input"
#define NAMED_LEFT 5

struct submission {
	struct session *session;
	struct manifests manifests;
	json_t *objects;       /* array of those that were given, as they are then */
	struct job_name *jobs; /* that were made, for --wait; borrowed from the objects */
	size_t n_jobs;
	enum output output;
	bool dry;
};

/* --- files --- */

static int read_stdin(struct strbuf *out, struct error *err)
{
	char piece[16384];
	size_t n;

	while ((n = fread(piece, 1, sizeof(piece), stdin)))
		strbuf_add(out, piece, n);
	return ferror(stdin) ? error_set(err, ERR_INTERNAL, "cannot read " STDIN) : 0;
}

static int read_file(struct submission *b, const char *path, struct error *err)
{
	const struct session *s = b->session;
	bool given = given_text(s->inv, "namespace") != NULL;
	auto_strbuf text = {0};
	auto_xfree char *bytes = NULL;
	size_t n;

	if (!strcmp(path, "-"))
		return read_stdin(&text, err) ||
				       manifests_add(&b->manifests, STDIN, strbuf_str(&text),
						     text.size, s->ns, given, err)
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
	return manifests_check_twice(&b->manifests, err);
}

/* --- before anything is kept --- */

static bool is_job(const struct manifest *m)
{
	return m->kind == kind_find_typed("jobs");
}

/* What is missing may be made by an object that stands before it: only then it can be seen. */
static bool may_come(const struct submission *b, size_t i, const struct error *err)
{
	bool makes = false;

	for (size_t k = 0; k < i && !makes; k++)
		makes = !is_job(&b->manifests.items[k]);
	return makes && session_lacks(b->session, err);
}

static void say_none(size_t refused, size_t n)
{
	struct error err;

	error_set(&err, ERR_INVALID, "nothing was submitted: %zu of %zu objects %s refused",
		  refused, n, refused == 1 ? "was" : "were");
	say_error(&err);
}

/* All refusals are told. A single object is checked when it is given. */
static int check_all(struct submission *b)
{
	const struct manifests *m = &b->manifests;
	enum put_mode mode = b->dry ? PUT_DRY : PUT_CHECK;
	size_t refused = 0;
	int rc = EXIT_DONE;

	for (size_t i = 0; i < m->n && (b->dry || m->n > 1); i++) {
		auto_json *object = NULL;
		struct error err;

		if (!put_object(b->session, &m->items[i], mode, &object, &err)) {
			if (b->dry)
				json_array_append(b->objects, object);
			continue;
		}
		if (may_come(b, i, &err))
			continue;
		rc = session_fail(b->session, &err);
		if (rc != EXIT_REFUSED)
			return rc;
		refused++;
	}
	if (refused && m->n > 1 && !b->dry)
		say_none(refused, m->n);
	return rc;
}

/* --- all --- */

static void note(struct submission *b, const struct manifest *m, json_t *take_object)
{
	const char *name = json_str_at(take_object, "metadata", "name", NULL);

	json_array_append_new(b->objects, take_object);
	if (is_job(m) && name)
		b->jobs[b->n_jobs++] = (struct job_name){
			.ns = m->ns,
			.name = name,
			.uid = json_str_at(take_object, "metadata", "uid", NULL),
		};
}

/* From the i-th on, which was refused after all. */
static void say_left_out(const struct submission *b, size_t i)
{
	const struct manifests *m = &b->manifests;
	auto_strbuf names = {0};
	struct error err;

	if (m->n == 1)
		return;
	for (size_t k = i; k < m->n && k < i + NAMED_LEFT; k++)
		strbuf_addf(&names, "%s%s %s", k > i ? ", " : "", m->items[k].kind->singular,
			    m->items[k].name ? m->items[k].name : "(without a name)");
	if (m->n - i > NAMED_LEFT)
		strbuf_addf(&names, " and %zu more", m->n - i - NAMED_LEFT);
	error_set(&err, ERR_INVALID, "%zu of %zu objects %s submitted; left out: %s", i, m->n,
		  i == 1 ? "was" : "were", names.bytes);
	say_error(&err);
}

static int keep_all(struct submission *b)
{
	const struct manifests *m = &b->manifests;

	b->jobs = xcalloc(m->n, sizeof(*b->jobs));
	for (size_t i = 0; i < m->n; i++) {
		json_t *object;
		struct error err;
		int rc;

		if (put_object(b->session, &m->items[i], PUT_KEEP, &object, &err)) {
			rc = session_fail(b->session, &err);
			say_left_out(b, i);
			return rc;
		}
		note(b, &m->items[i], object);
	}
	return EXIT_DONE;
}

static int wait_for_all(struct submission *b)
{
	const struct invocation *inv = b->session->inv;

	if (!given_truth(inv, "wait") || !b->n_jobs)
		return EXIT_DONE;
	return wait_for_jobs(b->session, b->jobs, b->n_jobs, WAIT_FOR_COMPLETED,
			     session_left_ns(b->session), b->output != OUTPUT_TABLE);
}

/* A single object as it is, several as a List; those before a refusal too. */
static void print_documents(const struct submission *b)
{
	auto_strbuf out = {0};

	if (!output_is_document(b->output) || !json_array_size(b->objects))
		return;
	if (b->manifests.n == 1)
		object_write(json_array_get(b->objects, 0), b->output, NULL, &out);
	else
		objects_write(b->objects, b->output, NULL, &out);
	print_out(out.bytes, out.size);
}

static int submit_all(struct submission *b)
{
	struct error err;
	int rc;

	if (read_files(b, &err)) {
		say_error(&err);
		return EXIT_REFUSED;
	}
	rc = check_all(b);
	if (!rc && !b->dry)
		rc = keep_all(b);
	print_documents(b);
	return rc || b->dry ? rc : wait_for_all(b);
}

int run_submit(struct session *s)
{
	struct submission b = {.session = s,
			       .objects = json_array(),
			       .output = output_parse(given_text(s->inv, "output")),
			       .dry = given_truth(s->inv, "dry-run")};
	int rc = submit_all(&b);

	json_decref(b.objects);
	free(b.jobs);
	manifests_finish(&b.manifests);
	return rc;
}
