/* A pod that only pretends: it "runs" for run-seconds and then has exit-code. */
#include <stdlib.h>
#include <string.h>

#include "base/encode.h"
#include "base/json.h"
#include "base/pki.h"
#include "sandbox/runtime.h"

#define RUN_MS       3000
#define STOPPED_CODE 143 /* 128 + SIGTERM */

struct run {
	struct timer *timer;
	int exit_code;
	int64_t stop_ms;
	void (*ended)(int exit_code, void *arg);
	void *arg;
};

char *runtime_log_path(const struct sandbox *s, const char *pod_uid)
{
	return xasprintf("%s/logs/%s.log", s->dir, pod_uid);
}

static const char *annotation(const json_t *pod, const char *name)
{
	auto_xfree char *key = xasprintf("sandbox.federator.dev/%s", name);

	return json_str_at(pod, "metadata", "annotations", key, NULL);
}

int64_t runtime_annotation_ms(const json_t *pod, const char *name, int64_t otherwise)
{
	const char *text = annotation(pod, name);
	char *end;
	double seconds = text ? strtod(text, &end) : 0;

	return text && end != text && seconds >= 0 && seconds < 1e9 ? (int64_t)(seconds * 1000)
								    : otherwise;
}

static void on_timer(void *arg)
{
	struct run *run = arg;

	run->ended(run->exit_code, run->arg);
}

/* Says so in the log, so that nobody takes it for the program's output. */
static void write_log(struct sandbox *s, const json_t *pod)
{
	auto_xfree char *path = runtime_log_path(s, json_str_at(pod, "metadata", "uid", NULL));
	auto_xfree char *text = xasprintf("simulated pod %s on node %s\n",
					  json_str_at(pod, "metadata", "name", NULL),
					  json_str_at(pod, "spec", "nodeName", NULL));
	struct error err;

	file_write(path, text, strlen(text), 0600, &err);
}

static struct run *simulated_start(struct sandbox *s, const json_t *pod,
				   void (*ended)(int exit_code, void *arg), void *arg,
				   struct error *err)
{
	const char *code = annotation(pod, "exit-code");
	struct run *run = xnew0(struct run);

	run->ended = ended;
	run->arg = arg;
	run->exit_code = code ? (int)strtol(code, NULL, 10) : 0;
	run->stop_ms = runtime_annotation_ms(pod, "stop-seconds", 0);
	run->timer = timer_create_in(s->env, on_timer, run);
	timer_start(run->timer, runtime_annotation_ms(pod, "run-seconds", RUN_MS));
	write_log(s, pod);
	return run;
}

static void simulated_stop(struct run *run, int64_t grace_s)
{
	int64_t wait = run->stop_ms < grace_s * 1000 ? run->stop_ms : grace_s * 1000;

	run->exit_code = STOPPED_CODE;
	timer_start(run->timer, wait);
}

static void simulated_free(struct run *run)
{
	timer_destroy(run->timer);
	free(run);
}

const struct runtime runtime_simulated = {simulated_start, simulated_stop, simulated_free};
