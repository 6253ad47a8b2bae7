/*
 * A pod that really runs: each container is a process of this machine, in a folder of its own, its
 * output goes to the pod's log. Volumes, images and networks do not exist here.
 */
#include "sandbox/process.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/json.h"
#include "base/pki.h"
#include "sandbox/runtime.h"

struct container_process {
	uv_process_t handle;
	struct run *run;
	bool open; /* the handle must be closed before the run is freed */
	bool alive;
};

struct run {
	struct sandbox *sandbox;
	struct container_process *processes;
	size_t n, alive, open;
	int exit_code; /* of the first container that failed */
	bool freed;
	struct timer *kill_timer;
	void (*ended)(int exit_code, void *arg);
	void *arg;
};

static void run_maybe_free(struct run *run)
{
	if (!run->freed || run->open)
		return;
	timer_destroy(run->kill_timer);
	free(run->processes);
	free(run);
}

static void on_closed(uv_handle_t *handle)
{
	struct container_process *p = handle->data;

	p->open = false;
	p->run->open--;
	run_maybe_free(p->run);
}

static void on_exit_of(uv_process_t *handle, int64_t status, int signal_number)
{
	struct container_process *p = handle->data;
	struct run *run = p->run;
	int code = signal_number ? 128 + signal_number : (int)status;

	p->alive = false;
	run->alive--;
	if (code && !run->exit_code)
		run->exit_code = code;
	uv_close((uv_handle_t *)handle, on_closed);
	if (!run->alive && !run->freed)
		run->ended(run->exit_code, run->arg);
}

static void signal_all(struct run *run, int number)
{
	for (size_t i = 0; i < run->n; i++)
		if (run->processes[i].alive)
			kill(-run->processes[i].handle.pid, number);
}

static void on_kill_timer(void *arg)
{
	signal_all(arg, SIGKILL);
}

static int spawn(struct run *run, const json_t *pod, const json_t *container, int log_fd,
		 struct error *err)
{
	struct container_process *p = &run->processes[run->n];
	uv_stdio_container_t stdio[3] = {
		{.flags = UV_IGNORE},
		{.flags = UV_INHERIT_FD, .data.fd = log_fd},
		{.flags = UV_INHERIT_FD, .data.fd = log_fd},
	};
	uv_process_options_t options = {
		.exit_cb = on_exit_of,
		.flags = UV_PROCESS_DETACHED, /* a group of its own, to be ended whole */
		.stdio = stdio,
		.stdio_count = 3,
	};
	char **env = NULL, **argv = NULL;
	int rc = -1;

	if (!process_environment(run->sandbox, pod, container, &env, err)) {
		argv = process_arguments(container, env);
		options.file = argv[0];
		options.args = argv;
		options.env = env;
		options.cwd = json_str_at(container, "workingDir", NULL);
		rc = uv_spawn(loop_uv(run->sandbox->loop), &p->handle, &options);
		if (rc)
			error_set(err, ERR_INVALID, "container %s: start %s: %s",
				  json_str_at(container, "name", NULL), argv[0], uv_strerror(rc));
		p->handle.data = p;
		p->run = run;
		p->open = true;
		p->alive = !rc;
		run->n++;
		run->open++;
		run->alive += !rc;
		if (rc)
			uv_close((uv_handle_t *)&p->handle, on_closed);
	}
	strings_free(env);
	strings_free(argv);
	return rc ? -1 : 0;
}

static int open_log(struct sandbox *s, const json_t *pod, struct error *err)
{
	auto_xfree char *path = runtime_log_path(s, json_str_at(pod, "metadata", "uid", NULL));
	int fd = open(path, O_CREAT | O_APPEND | O_WRONLY | O_CLOEXEC, 0600);

	return fd >= 0 ? fd : error_set(err, ERR_INTERNAL, "open %s: %s", path, strerror(errno));
}

static void process_free(struct run *run)
{
	signal_all(run, SIGKILL);
	run->freed = true;
	run_maybe_free(run);
}

bool process_is_wanted(const json_t *pod)
{
	const char *runtime =
		json_str_at(pod, "metadata", "annotations", "sandbox.federator.dev/runtime", NULL);

	return runtime && !strcmp(runtime, "process");
}

void process_check(const json_t *pod, struct causes *causes)
{
	const json_t *spec = json_object_get(pod, "spec");
	json_t *c;
	size_t i;

	if (json_array_size(json_object_get(spec, "initContainers")))
		causes_add(causes, CAUSE_FORBIDDEN, "spec.initContainers", NULL,
			   "init containers do not run as local processes");
	if (json_array_size(json_object_get(spec, "volumes")))
		causes_add(causes, CAUSE_FORBIDDEN, "spec.volumes", NULL,
			   "a local process has no volumes, so neither plugin svc, whose host "
			   "lists are one");
	json_array_foreach (json_object_get(spec, "containers"), i, c) {
		auto_xfree char *field = xasprintf("spec.containers[%zu].command", i);

		if (!json_array_size(json_object_get(c, "command")))
			causes_add(causes, CAUSE_REQUIRED, field, NULL,
				   "no image is pulled for a local process");
	}
}

static struct run *process_start(struct sandbox *s, const json_t *pod,
				 void (*ended)(int exit_code, void *arg), void *arg,
				 struct error *err)
{
	const json_t *containers = json_at(pod, "spec", "containers", NULL), *c;
	struct run *run;
	int log_fd = open_log(s, pod, err);
	size_t i;

	if (log_fd < 0)
		return NULL;
	run = xnew0(struct run);
	run->sandbox = s;
	run->ended = ended;
	run->arg = arg;
	run->processes = xcalloc(json_array_size(containers), sizeof(*run->processes));
	run->kill_timer = timer_create_in(s->env, on_kill_timer, run);
	json_array_foreach (containers, i, c) {
		if (!spawn(run, pod, c, log_fd, err))
			continue;
		process_free(run);
		run = NULL;
		break;
	}
	close(log_fd);
	return run;
}

static void process_stop(struct run *run, int64_t grace_s)
{
	signal_all(run, SIGTERM);
	timer_start(run->kill_timer, grace_s * 1000);
}

const struct runtime runtime_process = {process_start, process_stop, process_free};
