/* wait: until jobs have completed, ended, run, or are gone. */
#include "fedctl/wait.h"

#include <string.h>
#include <unistd.h>

#include "base/encode.h"
#include "base/json.h"
#include "fedctl/commands.h"
#include "fedctl/follow.h"
#include "fedctl/jobs.h"
#include "fedctl/output.h"
#include "fedctl/targets.h"

#define NS_PER_MS 1000000
#define REDRAW_MS 1000

enum verdict { UNDECIDED, FULFILLED, JOB_HAS_FAILED, DELETED, NOT_FOUND };

struct waited {
	struct job_name job;
	enum verdict verdict;
	enum job_phase phase;
	bool seen;
	char *uid;  /* of the one that was seen */
	char *text; /* progress as it was last told */
};

struct waiting {
	struct session *session;
	struct waited *jobs;
	size_t n;
	enum wait_for what;
	bool quiet, terminal;
	bool line; /* the cursor stands behind an unfinished progress line */
	struct timer *deadline, *redraw;
	bool timed_out, done;
	int64_t since_ns;
};

/* One namespace's part of it. */
struct part {
	struct waiting *waiting;
	const char *ns;
	struct follow *follow;
};

/* --- progress --- */

static void end_line(struct waiting *w)
{
	if (w->line)
		print_out("\r\033[K", 4);
	w->line = false;
}

static char *progress_text(const struct job_facts *f)
{
	switch (f->phase) {
	case JOB_PENDING:
		return f->cluster       ? xasprintf("starts in %s", f->cluster)
		       : f->why_waiting ? xasprintf("waits: %s", f->why_waiting)
					: xstrdup("waits");
	case JOB_RUNNING:
		return xasprintf("runs in %s, %lld of %lld tasks", f->cluster ? f->cluster : "?",
				 (long long)f->done, (long long)f->tasks);
	case JOB_RESTARTING:
		return xasprintf("restarts in %s: %s", f->cluster ? f->cluster : "?",
				 f->message ? f->message : "a task failed");
	case JOB_COMPLETED:
		return xstrdup("completed");
	case JOB_FAILED:
		return xstrdup("failed");
	case JOB_UNCERTAIN:
		return xstrdup("is uncertain");
	}
	return NULL;
}

static size_t count(const struct waiting *w, enum job_phase phase)
{
	size_t n = 0;

	for (size_t i = 0; i < w->n; i++)
		n += w->jobs[i].seen && w->jobs[i].phase == phase;
	return n;
}

/* On a terminal: one line that says how it stands. */
static void draw(struct waiting *w)
{
	auto_strbuf text = {0}, clean = {0}, out = {0};
	char elapsed[TIME_SIZE];

	duration_format(elapsed, env_mono_ns(w->session->env) - w->since_ns);
	if (w->n == 1)
		strbuf_addf(&text, "job %s %s", w->jobs[0].job.name,
			    w->jobs[0].text ? w->jobs[0].text : "");
	else
		strbuf_addf(&text, "%zu jobs: %zu wait, %zu run, %zu completed, %zu failed", w->n,
			    count(w, JOB_PENDING), count(w, JOB_RUNNING) + count(w, JOB_RESTARTING),
			    count(w, JOB_COMPLETED), count(w, JOB_FAILED));
	strbuf_addf(&text, " (%s)", elapsed);
	clean_text(text.bytes, &clean);
	strbuf_adds(&out, "\r\033[K");
	cut_text(clean.bytes, output_width() - 1, &out);
	print_out(out.bytes, out.size);
	w->line = true;
}

/* What is decided gets its own line by the outcome. */
static void tell_progress(struct waiting *w, struct waited *j, const struct job_facts *f,
			  enum verdict verdict)
{
	auto_xfree char *text = progress_text(f);
	auto_strbuf line = {0}, clean = {0};

	if (j->text && !strcmp(j->text, text))
		return;
	free(j->text);
	j->text = take_ptr(text);
	if (w->quiet || w->terminal || verdict || j->verdict)
		return;
	strbuf_addf(&line, "job %s %s", j->job.name, j->text);
	clean_text(line.bytes, &clean);
	strbuf_addc(&clean, '\n');
	print_out(clean.bytes, clean.size);
}

static void on_redraw(void *arg)
{
	struct waiting *w = arg;

	draw(w);
	timer_start(w->redraw, REDRAW_MS);
}

/* --- outcomes --- */

static void say_failed(const struct waited *j, const struct job_facts *f)
{
	struct error err;

	error_set(&err, ERR_INTERNAL, "job %s failed%s%s%s%s; see: fedctl explain job/%s",
		  j->job.name, f->reason ? ": " : "", f->reason ? f->reason : "",
		  f->message ? ": " : "", f->message ? f->message : "", j->job.name);
	say_error(&err);
}

static void say_uncertain(const struct waited *j, const struct job_facts *f)
{
	struct error err;

	error_set(
		&err, ERR_INTERNAL,
		"job %s is uncertain: nobody knows what became of it in %s; fedctl explain job/%s "
		"tells more, fedctl cancel %s ends it",
		j->job.name, f->cluster ? f->cluster : "its cluster", j->job.name, j->job.name);
	say_error(&err);
}

static void tell_outcome(struct waiting *w, const struct waited *j, const struct job_facts *f)
{
	static const char *const said[] = {
		[JOB_PENDING] = "waits",       [JOB_RUNNING] = "runs",
		[JOB_RESTARTING] = "restarts", [JOB_COMPLETED] = "completed",
		[JOB_FAILED] = "failed",       [JOB_UNCERTAIN] = "is uncertain",
	};
	auto_xfree char *line = NULL;
	struct error err;

	end_line(w);
	if (j->verdict == JOB_HAS_FAILED && f->phase == JOB_UNCERTAIN) {
		say_uncertain(j, f);
	} else if (j->verdict == JOB_HAS_FAILED) {
		say_failed(j, f);
	} else if (j->verdict == DELETED) {
		error_set(&err, ERR_NOT_FOUND, "job %s was deleted while it was waited for",
			  j->job.name);
		say_error(&err);
	} else if (j->verdict == FULFILLED && f) {
		line = xasprintf("job %s %s\n", j->job.name, said[f->phase]);
		print_out(line, strlen(line));
	}
}

static void decide(struct waiting *w, struct waited *j, enum verdict verdict,
		   const struct job_facts *f)
{
	if (verdict == UNDECIDED || j->verdict)
		return;
	j->verdict = verdict;
	tell_outcome(w, j, f);
	for (size_t i = 0; i < w->n; i++)
		if (!w->jobs[i].verdict)
			return;
	session_wake(w->session, &w->done);
}

static enum verdict judge(enum wait_for what, enum job_phase phase)
{
	static const bool fulfills[][JOB_UNCERTAIN + 1] = {
		[WAIT_FOR_COMPLETED] = {[JOB_COMPLETED] = true},
		[WAIT_FOR_ENDED] = {[JOB_COMPLETED] = true, [JOB_FAILED] = true},
		[WAIT_FOR_RUNNING] = {[JOB_RUNNING] = true, [JOB_COMPLETED] = true},
		[WAIT_FOR_GONE] = {false},
	};

	if (fulfills[what][phase])
		return FULFILLED;
	if (what == WAIT_FOR_GONE)
		return UNDECIDED;
	return phase == JOB_FAILED || phase == JOB_UNCERTAIN ? JOB_HAS_FAILED : UNDECIDED;
}

/* --- events --- */

static struct waited *find(struct waiting *w, const struct job_facts *f)
{
	for (size_t i = 0; i < w->n; i++)
		if (!strcmp(w->jobs[i].job.name, f->name) && !strcmp(w->jobs[i].job.ns, f->ns))
			return &w->jobs[i];
	return NULL;
}

/* The name is free, or somebody else's: the job that was waited for is gone. */
static bool is_another(const struct waited *j, const struct job_facts *f)
{
	const char *known = j->job.uid ? j->job.uid : j->uid;

	return known && f->uid && strcmp(known, f->uid) != 0;
}

static void on_changed(const json_t *object, const json_t *prev, void *arg)
{
	struct part *p = arg;
	struct waiting *w = p->waiting;
	enum verdict verdict;
	struct job_facts f;
	struct waited *j;

	job_facts_read(object ? object : prev, &f);
	j = find(w, &f);
	if (!j)
		return;
	if (!object || is_another(j, &f)) {
		decide(w, j, w->what == WAIT_FOR_GONE ? FULFILLED : DELETED, NULL);
		return;
	}
	j->seen = true;
	j->phase = f.phase;
	if (!j->uid && f.uid)
		j->uid = xstrdup(f.uid);
	verdict = judge(w->what, f.phase);
	tell_progress(w, j, &f, verdict);
	decide(w, j, verdict, &f);
}

static void on_synced(void *arg)
{
	struct part *p = arg;
	struct waiting *w = p->waiting;

	for (size_t i = 0; i < w->n; i++) {
		struct waited *j = &w->jobs[i];

		if (!j->seen && !strcmp(j->job.ns, p->ns))
			decide(w, j, w->what == WAIT_FOR_GONE ? FULFILLED : NOT_FOUND, NULL);
	}
}

static void on_deadline(void *arg)
{
	struct waiting *w = arg;

	w->timed_out = true;
	session_wake(w->session, &w->done);
}

/* --- parts --- */

static struct follow *follow_namespace(struct waiting *w, struct part *p)
{
	auto_xfree const char **names = xcalloc(w->n, sizeof(*names));
	size_t n = 0;

	for (size_t i = 0; i < w->n; i++)
		if (!strcmp(w->jobs[i].job.ns, p->ns))
			names[n++] = w->jobs[i].job.name;
	return follow_create(w->session, &(struct follow_config){.kind = kind_find_typed("jobs"),
								 .ns = p->ns,
								 .names = names,
								 .n_names = n,
								 .changed = on_changed,
								 .synced = on_synced,
								 .arg = p,
								 .done = &w->done,
								 .patient = true});
}

static bool has_part(const struct part *parts, size_t n, const char *ns)
{
	for (size_t i = 0; i < n; i++)
		if (!strcmp(parts[i].ns, ns))
			return true;
	return false;
}

static const struct error *wait_parts(struct waiting *w, struct part *parts)
{
	const struct error *failure = NULL;
	size_t n = 0;

	for (size_t i = 0; i < w->n; i++) {
		const char *ns = w->jobs[i].job.ns;

		if (has_part(parts, n, ns))
			continue;
		parts[n] = (struct part){.waiting = w, .ns = ns};
		parts[n].follow = follow_namespace(w, &parts[n]);
		n++;
	}
	session_wait(w->session, &w->done);
	for (size_t i = 0; i < n && !failure; i++)
		failure = follow_failed(parts[i].follow);
	return failure;
}

/* --- the whole --- */

static void fail_one(const struct waiting *w, const struct waited *j, struct error *err)
{
	const char *name = j->job.name;

	if (w->what == WAIT_FOR_GONE)
		error_set(err, ERR_TIMEOUT,
			  "timed out: job %s is still being deleted; see: fedctl describe job/%s",
			  name, name);
	else if (!j->text)
		error_set(err, ERR_TIMEOUT,
			  "timed out: the federator has not answered how job %s is", name);
	else
		error_set(err, ERR_TIMEOUT, "timed out: job %s %s; see: fedctl explain job/%s",
			  name, j->text, name);
}

static void say_timeout(const struct waiting *w)
{
	size_t left = 0, last = 0;
	struct error err;

	for (size_t i = 0; i < w->n; i++) {
		if (w->jobs[i].verdict)
			continue;
		left++;
		last = i;
	}
	if (left == 1)
		fail_one(w, &w->jobs[last], &err);
	else
		error_set(&err, ERR_TIMEOUT,
			  "timed out: %zu of %zu jobs are left; see: fedctl get jobs", left, w->n);
	say_error(&err);
}

static int result(struct waiting *w, const struct error *failure)
{
	int rc = EXIT_DONE;

	end_line(w);
	if (failure)
		return session_fail(w->session, failure);
	for (size_t i = 0; i < w->n; i++) {
		struct waited *j = &w->jobs[i];
		struct error err;

		if (j->verdict == NOT_FOUND) {
			session_not_found(w->session, kind_find_typed("jobs"), j->job.ns,
					  j->job.name, &err);
			say_error(&err);
		}
		if (j->verdict == NOT_FOUND || j->verdict == DELETED)
			rc = EXIT_REFUSED;
		else if (j->verdict == JOB_HAS_FAILED && rc != EXIT_REFUSED)
			rc = EXIT_JOB_FAILED;
	}
	if (w->timed_out) {
		say_timeout(w);
		return EXIT_TIMEOUT;
	}
	return rc;
}

static void start_timers(struct waiting *w, int64_t timeout_ns)
{
	w->deadline = timer_create_in(w->session->env, on_deadline, w);
	w->redraw = timer_create_in(w->session->env, on_redraw, w);
	if (timeout_ns)
		timer_start(w->deadline, (timeout_ns + NS_PER_MS - 1) / NS_PER_MS);
	if (w->terminal && !w->quiet)
		timer_start(w->redraw, REDRAW_MS);
}

int wait_for_jobs(struct session *s, const struct job_name *jobs, size_t n, enum wait_for what,
		  int64_t timeout_ns, bool quiet)
{
	struct waiting w = {
		.session = s,
		.jobs = xcalloc(n, sizeof(*w.jobs)),
		.n = n,
		.what = what,
		.quiet = quiet,
		.terminal = isatty(STDOUT_FILENO),
		.since_ns = env_mono_ns(s->env),
	};
	struct part *parts = xcalloc(n, sizeof(*parts));
	int rc;

	for (size_t i = 0; i < n; i++)
		w.jobs[i].job = jobs[i];
	start_timers(&w, timeout_ns);
	rc = result(&w, wait_parts(&w, parts));
	for (size_t i = 0; i < n; i++) {
		follow_destroy(parts[i].follow);
		free(w.jobs[i].text);
		free(w.jobs[i].uid);
	}
	timer_destroy(w.deadline);
	timer_destroy(w.redraw);
	free(parts);
	free(w.jobs);
	return rc;
}

static enum wait_for parse_for(const char *text)
{
	if (text && !strcmp(text, "ended"))
		return WAIT_FOR_ENDED;
	return text && !strcmp(text, "running") ? WAIT_FOR_RUNNING : WAIT_FOR_COMPLETED;
}

int run_wait(struct session *s)
{
	auto_xfree struct job_name *jobs = xcalloc(s->inv->n_args, sizeof(*jobs));
	struct targets t;
	struct error err;
	int rc;

	if (targets_parse_of(kind_find_typed("jobs"), s->inv->args, s->inv->n_args, &t, &err))
		return usage_fail(&err);
	for (size_t i = 0; i < t.n; i++)
		jobs[i] = (struct job_name){.ns = s->ns, .name = t.items[i].name};
	rc = wait_for_jobs(s, jobs, t.n, parse_for(given_text(s->inv, "for")), session_left_ns(s),
			   false);
	targets_finish(&t);
	return rc;
}
