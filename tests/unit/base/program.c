/* A daemon in a process of its own: what it says and how it ends. */
#include "base/program.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/log.h"
#include "base/mem.h"

struct settings {
	char *name;
	bool odd; /* so that what lies behind the settings has to be aligned */
};

static const struct flag flags[] = {
	{"name", FLAG_STRING, "NAME", NULL, "what it is called",
	 .at = offsetof(struct settings, name)},
	{"odd", FLAG_BOOL, "", NULL, "is odd", .at = offsetof(struct settings, odd)},
};

static int check(const void *settings, struct error *err)
{
	const struct settings *s = settings;

	return s->odd && !s->name ? error_set(err, ERR_BAD_REQUEST, "--odd needs --name") : 0;
}

static int run(const void *settings, int *ret_exit_code, struct error *err)
{
	const struct settings *s = settings;

	if (s->name && !strcmp(s->name, "broken"))
		return error_set(err, ERR_INTERNAL, "it is broken");
	printf("%s runs\n", s->name ? s->name : "somebody");
	log_debug("test", "has much to tell");
	if (s->name && !strcmp(s->name, "four"))
		*ret_exit_code = 4;
	return 0;
}

static const struct program program = {
	.name = "tester",
	.summary = "tester --name x",
	.flags = flags,
	.n_flags = ARRAY_LEN(flags),
	.settings_size = offsetof(struct settings, odd) + 1,
	.check = check,
	.run = run,
};

/* Both streams, and the exit code behind them. */
static const char *story(const char *const *argv)
{
	static char text[4096];
	int pipes[2], status, argc = 0;
	size_t used = 0;
	ssize_t n;
	pid_t pid;

	while (argv[argc])
		argc++;
	cr_assert_eq(pipe(pipes), 0);
	pid = fork();
	if (!pid) {
		dup2(pipes[1], STDOUT_FILENO);
		dup2(pipes[1], STDERR_FILENO);
		close(pipes[0]);
		status = program_main(&program, argc, (char **)(uintptr_t)argv);
		fflush(stdout);
		_exit(status);
	}
	close(pipes[1]);
	while ((n = read(pipes[0], text + used, sizeof(text) - 20 - used)) > 0)
		used += (size_t)n;
	close(pipes[0]);
	cr_assert_eq(waitpid(pid, &status, 0), pid);
	snprintf(text + used, sizeof(text) - used, "%d", WEXITSTATUS(status));
	return text;
}

#define STORY(...) story((const char *[]){"tester", __VA_ARGS__, NULL})

Test(program, runs_with_its_settings_and_ends_with_its_code)
{
	cr_expect_str_eq(STORY("--name", "x"), "x runs\n0");
	cr_expect_str_eq(STORY("--name", "four"), "four runs\n4");
}

Test(program, says_one_line_and_starts_nothing_when_settings_are_wrong)
{
	cr_expect_str_eq(STORY("--nmae", "x"),
			 "tester: unknown flag \"--nmae\"; did you mean \"--name\"?\n2");
	cr_expect_str_eq(STORY("--odd"), "tester: --odd needs --name\n2");
	cr_expect_str_eq(STORY("--log-level", "loud"),
			 "tester: --log-level: \"loud\" is none of error|warn|info|debug\n2");
}

Test(program, tells_why_it_failed)
{
	cr_expect_str_eq(STORY("--name", "broken"), "tester: it is broken\n1");
}

Test(program, help_and_version_run_nothing)
{
	cr_expect_str_eq(STORY("--version"), "tester " FEDERATOR_VERSION "\n0");
	cr_expect(strstr(STORY("-h"), "  --log-level error|warn|info|debug\n"));
	cr_expect_null(strstr(STORY("-h"), "runs"));
}

Test(program, log_level_is_a_setting_of_all)
{
	cr_expect_null(strstr(STORY("--odd", "--name", "x"), "has much to tell"));
	cr_expect(strstr(STORY("--odd", "--name", "x", "--log-level=debug"), "has much to tell"));
	setenv("TESTER_LOG_LEVEL", "debug", 1);
	cr_expect(strstr(STORY("--name", "x"), "has much to tell"));
	unsetenv("TESTER_LOG_LEVEL");
}
