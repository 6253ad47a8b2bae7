/* cancel: ends jobs by deleting them. */
#include <string.h>

#include "base/json.h"
#include "fedctl/commands.h"
#include "fedctl/output.h"
#include "fedctl/session.h"
#include "fedctl/targets.h"
#include "fedctl/wait.h"

/* 0: it is being deleted, *ret_uid says which it was; 1: there was none and that is fine. */
static int cancel(struct session *s, const char *name, char **ret_uid, struct error *err)
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
		if (!uid)
			uid = json_str_at(answer, "details", "uid", NULL);
		*ret_uid = uid ? xstrdup(uid) : NULL;
		return 0;
	}
	if (err->code != ERR_NOT_FOUND)
		return -1;
	return given_truth(s->inv, "ignore-not-found")
		       ? 1
		       : session_not_found(s, jobs, s->ns, name, err);
}

static void say_canceled(const char *name)
{
	auto_xfree char *line = xasprintf("job %s canceled and deleted\n", name);

	print_out(line, strlen(line));
}

static int cancel_all(struct session *s, const struct targets *t, struct job_name *gone,
		      char **uids)
{
	size_t n = 0;
	int rc = EXIT_DONE, waited;

	for (size_t i = 0; i < t->n; i++) {
		const char *name = t->items[i].name;
		struct error err;
		int one = cancel(s, name, &uids[n], &err);

		if (one < 0)
			rc = session_fail(s, &err);
		if (rc == EXIT_UNREACHABLE)
			return rc;
		if (one)
			continue;
		say_canceled(name);
		gone[n] = (struct job_name){.ns = s->ns, .name = name, .uid = uids[n]};
		n++;
	}
	if (!given_truth(s->inv, "wait") || !n)
		return rc;
	waited = wait_for_jobs(s, gone, n, WAIT_FOR_GONE, given_ns(s->inv, "timeout", 0), true);
	return waited ? waited : rc;
}

int run_cancel(struct session *s)
{
	size_t n = s->inv->n_args;
	auto_xfree struct job_name *gone = xcalloc(n, sizeof(*gone));
	auto_xfree char **uids = xcalloc(n, sizeof(*uids));
	struct targets t;
	struct error err;
	int rc;

	if (targets_parse_of(kind_find_typed("jobs"), s->inv->args, n, &t, &err))
		return usage_fail(&err);
	rc = cancel_all(s, &t, gone, uids);
	for (size_t i = 0; i < n; i++)
		free(uids[i]);
	targets_finish(&t);
	return rc;
}
