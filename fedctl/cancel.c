/* cancel: ends jobs by deleting them. */
#include "base/json.h"
#include "fedctl/commands.h"
#include "fedctl/output.h"
#include "fedctl/session.h"
#include "fedctl/targets.h"
#include "fedctl/wait.h"

struct canceled {
	const char *name;
	char *uid;
	bool gone; /* at once */
};

/* 0: *ret tells which it is; 1: there was none and that is fine. */
static int cancel(struct session *s, const char *name, struct canceled *ret, struct error *err)
{
	const struct kind *jobs = kind_find_typed("jobs");
	auto_json *options = json_pack("{ss,ss,ss}", "apiVersion", "v1", "kind", "DeleteOptions",
				       "propagationPolicy", "Background");
	auto_json *answer = NULL;
	auto_strbuf path = {0};
	const char *uid;

	object_path(jobs, s->ns, name, &path);
	if (!session_call(s, &(struct call){"DELETE", path.bytes, options}, &answer, err)) {
		uid = json_str_at(answer, "metadata", "uid", NULL);
		ret->gone = !uid; /* a Status: nothing was left to wait for */
		ret->uid = xstrdup(uid ? uid : "");
		ret->name = name;
		return 0;
	}
	if (err->code != ERR_NOT_FOUND)
		return -1;
	return given_truth(s->inv, "ignore-not-found")
		       ? 1
		       : session_not_found(s, jobs, s->ns, name, err);
}

static void say(const struct session *s, const struct canceled *c, bool gone)
{
	auto_json *named = json_pack("{s{ss}}", "metadata", "name", c->name);
	auto_xfree char *line = xasprintf(gone ? "job %s canceled and deleted\n"
					       : "job %s canceled; it is being deleted\n",
					  c->name);

	outcome_print(line, named, output_parse(given_text(s->inv, "output")),
		      kind_find_typed("jobs"));
}

/* Tells of each that it is gone when all are. */
static int wait_for_end(struct session *s, const struct canceled *list, size_t n)
{
	auto_xfree struct job_name *jobs = xcalloc(n, sizeof(*jobs));
	size_t left = 0;
	int rc = EXIT_DONE;

	for (size_t i = 0; i < n; i++)
		if (!list[i].gone)
			jobs[left++] = (struct job_name){
				.ns = s->ns, .name = list[i].name, .uid = list[i].uid};
	if (left)
		rc = wait_for_jobs(s, jobs, left, WAIT_FOR_GONE, session_left_ns(s), true);
	for (size_t i = 0; i < n && !rc; i++)
		say(s, &list[i], true);
	return rc;
}

static int cancel_all(struct session *s, const struct targets *t, struct canceled *list,
		      size_t *ret_n)
{
	int rc = EXIT_DONE;

	for (size_t i = 0; i < t->n && !exit_is_silence(rc); i++) {
		struct error err;
		int one = cancel(s, t->items[i].name, &list[*ret_n], &err);

		if (one < 0)
			rc = session_fail(s, &err);
		if (one == 0)
			(*ret_n)++;
	}
	return rc;
}

static int run(struct session *s, const struct targets *t, struct canceled *list)
{
	size_t n = 0;
	int rc = cancel_all(s, t, list, &n), waited = EXIT_DONE;

	if (given_truth(s->inv, "wait") && !exit_is_silence(rc))
		waited = wait_for_end(s, list, n);
	else
		for (size_t i = 0; i < n; i++)
			say(s, &list[i], list[i].gone);
	return waited ? waited : rc;
}

int run_cancel(struct session *s)
{
	size_t n = s->inv->n_args;
	auto_xfree struct canceled *list = xcalloc(n, sizeof(*list));
	struct targets t;
	struct error err;
	int rc;

	if (targets_parse_of(kind_find_typed("jobs"), s->inv->args, n, &t, &err))
		return usage_fail(&err);
	rc = run(s, &t, list);
	for (size_t i = 0; i < n; i++)
		free(list[i].uid);
	targets_finish(&t);
	return rc;
}
