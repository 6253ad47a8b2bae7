/*
 * logs: what a pod of a job prints, by way of the federator and its agent. With -f it waits for the
 * start, goes on with the next attempt when the job is started again, and ends with the job. A log
 * that breaks off is said to be cut: what came after is not known here.
 */
#include <string.h>

#include "api/status.h"
#include "base/encode.h"
#include "base/json.h"
#include "fedctl/commands.h"
#include "fedctl/follow.h"
#include "fedctl/jobs.h"
#include "fedctl/output.h"
#include "fedctl/targets.h"

#define SETTLE_MS 5000 /* from the end of a pod's log to the job's word about it */
#define RETRY_MS  500  /* the job runs, but the pod's log is not there yet */
#define RETRIES   20

struct logs {
	struct session *session;
	const char *name;
	char *task;
	int64_t index, tail; /* tail -1: all */
	bool follow;

	struct follow *watch;
	struct timer *timer;
	struct http_call *stream;
	enum job_phase phase; /* the job, as last seen */
	bool deleting, deleted;
	int64_t tasks;
	int64_t generation, restarts; /* which start it is in */
	bool read;                    /* a log was read to its end, that of these: */
	int64_t read_generation, read_restarts;
	bool begun; /* something of the present log was printed */
	unsigned tries;

	bool done, failed;
	struct error err; /* when failed */
};

static void open_log(struct logs *l);

static void finish(struct logs *l)
{
	session_wake(l->session, &l->done);
}

static void fail(struct logs *l, const struct error *err)
{
	l->failed = true;
	l->err = *err;
	finish(l);
}

/* --- the job --- */

static void job_seen(struct logs *l, const json_t *job)
{
	struct job_facts f;

	job_facts_read(job, &f);
	l->phase = f.phase;
	l->generation = f.generation;
	l->restarts = json_int_at(job, 0, "status", "retryCount", NULL);
	l->deleting = f.deleting;
	l->tasks = f.tasks;
}

static void start(struct logs *l)
{
	bool ended = job_has_ended(l->phase);
	struct error err;

	if (l->generation && l->phase != JOB_PENDING) {
		open_log(l);
	} else if (ended || l->deleted) {
		error_set(&err, ERR_NOT_FOUND, "job %s %s before it had started: there is no log",
			  l->name, l->deleted ? "was deleted" : "ended");
		fail(l, &err);
	}
}

static void fail_deleted(struct logs *l)
{
	struct error err;

	error_set(&err, ERR_NOT_FOUND, "job %s was deleted before it had ended", l->name);
	fail(l, &err);
}

/* After the end of a pod's log the job ends too, or starts again, or goes on without the pod. */
static void settle(struct logs *l)
{
	bool again = l->generation != l->read_generation || l->restarts != l->read_restarts;

	if (job_has_ended(l->phase)) {
		finish(l);
	} else if (l->deleted) {
		fail_deleted(l);
	} else if (l->phase == JOB_RUNNING && again) {
		timer_stop(l->timer);
		l->read = l->begun = false;
		l->tries = 0;
		open_log(l);
	}
}

static void on_changed(const json_t *object, const json_t *prev, void *arg)
{
	struct logs *l = arg;

	if (object)
		job_seen(l, object);
	l->deleted = !object;
	if (l->stream)
		return;
	if (l->read)
		settle(l);
	else if (!timer_active(l->timer))
		start(l);
}

/* --- the log --- */

static void on_timer(void *arg)
{
	struct logs *l = arg;

	if (!l->read) {
		open_log(l);
	} else if (l->phase == JOB_RUNNING && l->tasks > 1 && !l->deleting) {
		fprintf(stderr, "the pod has ended; job %s goes on\n", l->name);
		finish(l);
	}
}

static void on_data(struct http_call *call, const char *bytes, size_t n, void *arg)
{
	struct logs *l = arg;

	l->begun = true;
	if (print_out(bytes, n))
		return;
	kube_stream_cancel(l->session->kube, take_ptr(l->stream));
	finish(l); /* nobody reads any more: main() gives the exit code */
}

static void fail_cut(struct logs *l)
{
	struct error err;

	error_set(&err, ERR_UNAVAILABLE,
		  "the log of job %s was cut off: the line to the federator or to the agent of its "
		  "cluster broke; for what followed: fedctl logs%s %s",
		  l->name, l->follow ? " -f" : "", l->name);
	fail(l, &err);
}

/* Between the word that the job runs and its container's first sign of life there is no log. */
static bool try_later(struct logs *l, int status)
{
	if (!l->follow || l->begun || job_has_ended(l->phase) || l->tries++ >= RETRIES)
		return false;
	if (status != 400 && status != 404 && status != 503 && status != 504)
		return false;
	timer_start(l->timer, RETRY_MS);
	return true;
}

static void log_ended(struct logs *l)
{
	l->read = true;
	l->read_generation = l->generation;
	l->read_restarts = l->restarts;
	if (!l->follow) {
		finish(l);
		return;
	}
	timer_start(l->timer, SETTLE_MS);
	settle(l);
}

static void on_done(const struct http_answer *a, void *arg)
{
	struct logs *l = arg;
	struct error err;

	l->stream = NULL;
	if (a->status >= 200 && a->status < 300) {
		log_ended(l);
	} else if (!a->status && l->begun) {
		fail_cut(l);
	} else if (!try_later(l, a->status)) {
		err = a->err;
		if (a->status)
			status_read(a->status, a->body, a->size, &err);
		else
			session_translate(l->session, true, &err);
		fail(l, &err);
	}
}

static void open_log(struct logs *l)
{
	struct http_call_spec spec = {
		.method = "GET",
		.stream = true,
		.on_data = on_data,
		.on_done = on_done,
		.arg = l,
	};
	auto_strbuf path = {0};

	object_path(kind_find_typed("jobs"), l->session->ns, l->name, &path);
	strbuf_adds(&path, "/log?task=");
	percent_encode(&path, l->task);
	strbuf_addf(&path, "&index=%lld&follow=%s", (long long)l->index,
		    l->follow ? "true" : "false");
	if (l->tail >= 0)
		strbuf_addf(&path, "&tailLines=%lld", (long long)l->tail);
	spec.path = path.bytes;
	l->stream = kube_stream(l->session->kube, &spec);
}

/* --- which --- */

static const json_t *find_task(const json_t *job, const char *name)
{
	const json_t *tasks = json_at(job, "spec", "tasks", NULL);
	json_t *task;
	size_t i;

	if (!name)
		return json_array_get(tasks, 0);
	json_array_foreach (tasks, i, task) {
		const char *n = json_str_at(task, "name", NULL);

		if (n && !strcmp(n, name))
			return task;
	}
	return NULL;
}

static int fail_task(const struct logs *l, const json_t *job, const char *wanted, struct error *err)
{
	auto_strbuf names = {0};
	json_t *task;
	size_t i;

	json_array_foreach (json_at(job, "spec", "tasks", NULL), i, task)
		strbuf_addf(&names, "%s%s", i ? ", " : "", json_str_at(task, "name", NULL));
	return error_set(err, ERR_NOT_FOUND, "job %s has no task \"%s\"; it has %s", l->name,
			 wanted, strbuf_str(&names));
}

static int choose(struct logs *l, const json_t *job, struct error *err)
{
	const char *wanted = given_text(l->session->inv, "task"), *name;
	const json_t *task = find_task(job, wanted);
	int64_t replicas = json_int_at(task, 1, "replicas", NULL);

	if (!task)
		return fail_task(l, job, wanted ? wanted : "", err);
	name = json_str_at(task, "name", NULL);
	if (l->index >= replicas)
		return error_set(err, ERR_NOT_FOUND,
				 "job %s has no pod %lld of task %s; the last one is %lld", l->name,
				 (long long)l->index, name ? name : "", (long long)replicas - 1);
	l->task = xstrdup(name ? name : "");
	job_seen(l, job);
	return 0;
}

static int read_log(struct logs *l)
{
	const struct error *failure;

	if (l->follow)
		l->watch = follow_create(l->session,
					 &(struct follow_config){.kind = kind_find_typed("jobs"),
								 .ns = l->session->ns,
								 .names = &l->name,
								 .n_names = 1,
								 .changed = on_changed,
								 .arg = l,
								 .done = &l->done});
	else
		open_log(l);
	session_wait(l->session, &l->done);
	failure = l->watch ? follow_failed(l->watch) : NULL;
	if (!failure && l->failed)
		failure = &l->err;
	return failure ? session_fail(l->session, failure) : EXIT_DONE;
}

int run_logs(struct session *s)
{
	struct logs l = {
		.session = s,
		.index = given_number(s->inv, "index", 0),
		.tail = given_number(s->inv, "tail", -1),
		.follow = given_truth(s->inv, "follow"),
	};
	const struct kind *jobs = kind_find_typed("jobs");
	auto_json *job = NULL;
	struct targets t;
	struct error err;
	int rc;

	if (targets_parse_of(jobs, s->inv->args, 1, &t, &err))
		return usage_fail(&err);
	l.name = t.items[0].name;
	l.timer = timer_create_in(s->env, on_timer, &l);
	if (session_get(s, jobs, s->ns, l.name, &job, &err) || choose(&l, job, &err))
		rc = session_fail(s, &err);
	else
		rc = read_log(&l);
	kube_stream_cancel(s->kube, l.stream);
	follow_destroy(l.watch);
	timer_destroy(l.timer);
	free(l.task);
	targets_finish(&t);
	return rc;
}
