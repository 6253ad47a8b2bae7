#include "base/flags.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"

struct settings {
	char *name, *listen, *color;
	int64_t port, wait_ms;
	bool debug;
};
static struct settings settings;

static const char *name_mistake(const char *text)
{
	return *text == '-' && text[1] != '-' ? "begins with a dash" : NULL;
}

#define AT(field) .at = offsetof(struct settings, field)
static const struct flag flags[] = {
	{"name", FLAG_STRING, "NAME", NULL, "what it is called", AT(name), .mistake = name_mistake},
	{"listen", FLAG_STRING, "HOST", "127.0.0.1", "where it listens", AT(listen)},
	{"listen-port", FLAG_INT, "PORT", "7443", "on which port", AT(port)},
	{"wait", FLAG_DURATION, "TIME", "30s", "how long it waits", AT(wait_ms)},
	{"debug", FLAG_BOOL, NULL, NULL, "says more", AT(debug)},
	{"color", FLAG_CHOICE, "red|green", "red", "how it looks", AT(color)},
};
static const struct flag_set set = {
	.program = "tester",
	.summary = "tester: tests. For example: tester --name x",
	.flags = flags,
	.n = ARRAY_LEN(flags),
};

static char config_path[] = "/tmp/federator-flags-XXXXXX";

static void tear_down(void)
{
	flags_finish(&set, &settings);
	unlink(config_path);
}

TestSuite(flags, .fini = tear_down);

#define PARSE(err, ...) parse((const char *[]){"tester", __VA_ARGS__, NULL}, err)

static int parse(const char *const *argv, struct error *err)
{
	int argc = 0;

	while (argv[argc])
		argc++;
	return flags_parse(&set, &settings, argc, (char **)(uintptr_t)argv, err);
}

static void write_config(const char *text)
{
	int fd = mkstemp(config_path);

	cr_assert_geq(fd, 0);
	cr_assert_eq(write(fd, text, strlen(text)), (ssize_t)strlen(text));
	close(fd);
}

Test(flags, defaults_hold_when_nothing_is_given)
{
	const char *argv[] = {"tester", NULL};

	cr_assert_eq(parse(argv, NULL), 0);
	cr_assert_null(settings.name);
	cr_assert_str_eq(settings.listen, "127.0.0.1");
	cr_assert_eq(settings.port, 7443);
	cr_assert_eq(settings.wait_ms, 30000);
	cr_assert_not(settings.debug);
}

Test(flags, both_forms_of_a_value)
{
	struct error err = {.text = ""};

	cr_assert_eq(PARSE(&err, "--name", "a", "--listen-port=0", "--wait=1h30m", "--debug",
			   "--listen="),
		     0, "%s", err.text);
	cr_assert_str_eq(settings.name, "a");
	cr_assert_eq(settings.port, 0);
	cr_assert_eq(settings.wait_ms, 5400000);
	cr_assert(settings.debug);
	cr_assert_str_eq(settings.listen, "");
}

Test(flags, last_of_a_flag_given_twice_counts)
{
	cr_assert_eq(PARSE(NULL, "--name=a", "--name", "--b", "--debug", "--debug=false"), 0);
	cr_assert_str_eq(settings.name, "--b");
	cr_assert_not(settings.debug);
}

Test(flags, arguments_outweigh_environment_outweighs_file)
{
	write_config("name: file\nlisten-port: 1\nwait: 1s\ndebug: true\n");
	setenv("TESTER_LISTEN_PORT", "2", 1);
	setenv("TESTER_WAIT", "2s", 1);
	setenv("TESTER_LISTEN", "", 1); /* empty is unset */
	cr_assert_eq(PARSE(NULL, "--wait", "3s", "--config", config_path), 0);
	cr_assert_str_eq(settings.name, "file");
	cr_assert_eq(settings.port, 2);
	cr_assert_eq(settings.wait_ms, 3000);
	cr_assert(settings.debug);
	cr_assert_str_eq(settings.listen, "127.0.0.1");
}

Test(flags, path_of_the_file_may_come_from_the_environment)
{
	write_config("name: file\n");
	setenv("TESTER_CONFIG", config_path, 1);
	cr_assert_eq(PARSE(NULL, "--debug"), 0);
	cr_assert_str_eq(settings.name, "file");
	flags_finish(&set, &settings);
	setenv("TESTER_CONFIG", "/nonexistent", 1);
	cr_assert_eq(PARSE(NULL, "--config", config_path), 0);
}

Test(flags, errors_name_the_source_and_quote_the_value)
{
	static const struct {
		const char *args[3];
		const char *text;
	} cases[] = {
		{{"--listen-port", "x"}, "--listen-port: \"x\" is not a whole number"},
		{{"--listen-port="}, "--listen-port: \"\" is not a whole number"},
		{{"--listen-port=7443x"}, "--listen-port: \"7443x\" is not a whole number"},
		{{"--listen-port= 1"}, "--listen-port: \" 1\" is not a whole number"},
		{{"--listen-port=99999999999999999999"},
		 "--listen-port: \"99999999999999999999\" is not a whole number"},
		{{"--wait=5"}, "--wait: \"5\" is not a duration like 1h30m, 90s or 250ms"},
		{{"--wait=-5s"}, "--wait: \"-5s\" is not a duration like 1h30m, 90s or 250ms"},
		{{"--debug=yes"}, "--debug: \"yes\" is not true or false"},
		{{"--color=blue"}, "--color: \"blue\" is none of red|green"},
		{{"--color=red|green"}, "--color: \"red|green\" is none of red|green"},
		{{"--name", "-x"}, "--name: \"-x\" begins with a dash"},
		{{"--name"}, "--name needs a value: NAME"},
		{{"--config"}, "--config needs a value: FILE"},
		{{"--help=x"}, "--help takes no value"},
		{{"--version=x"}, "--version takes no value"},
		{{"--listn-port", "1"},
		 "unknown flag \"--listn-port\"; did you mean \"--listen-port\"?"},
		{{"-listen-port=1"},
		 "unknown flag \"-listen-port\"; did you mean \"--listen-port\"?"},
		{{"--conifg=x"}, "unknown flag \"--conifg\"; did you mean \"--config\"?"},
		{{"--hlep"}, "unknown flag \"--hlep\"; did you mean \"--help\"?"},
		{{"--entirely-other"}, "unknown flag \"--entirely-other\"; see: tester --help"},
		{{"stray"}, "unexpected argument \"stray\"; see: tester --help"},
		{{"-d"}, "unknown flag \"-d\"; see: tester --help"},
		{{"--"}, "unexpected argument \"--\"; see: tester --help"},
		{{"--=x"}, "unknown flag \"--\"; see: tester --help"},
		{{"--config=/nonexistent/x.yaml"}, NULL},
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		const char *argv[] = {"tester", cases[i].args[0], cases[i].args[1], NULL};
		struct error err = {.text = ""};

		cr_expect_eq(parse(argv, &err), -1, "%s", cases[i].args[0]);
		cr_expect_eq(err.code, ERR_BAD_REQUEST);
		if (cases[i].text)
			cr_expect_str_eq(err.text, cases[i].text);
		else
			cr_expect(strstr(err.text, "/nonexistent/x.yaml"), "%s", err.text);
	}
}

Test(flags, bad_variable_is_named)
{
	struct error err;

	setenv("TESTER_LISTEN_PORT", "many", 1);
	cr_assert_eq(PARSE(&err, "--debug"), -1);
	cr_assert_str_eq(err.text, "TESTER_LISTEN_PORT: \"many\" is not a whole number");
}

static void expect_config_error(const char *config, const char *expected)
{
	auto_xfree char *full = NULL;
	struct error err = {.text = ""};

	write_config(config);
	full = xasprintf("%s: %s", config_path, expected);
	cr_expect_eq(PARSE(&err, "--config", config_path), -1, "%s", config);
	cr_expect_str_eq(err.text, full);
	cr_expect_eq(err.code, ERR_BAD_REQUEST);
	unlink(config_path);
	memcpy(config_path + sizeof(config_path) - 7, "XXXXXX", 6);
}

Test(flags, bad_file_is_named_with_what_is_wrong)
{
	expect_config_error("nmae: x\n", "unknown flag \"nmae\"; did you mean \"name\"?");
	expect_config_error("listen-port: x\n", "listen-port: \"x\" is not a whole number");
	expect_config_error("listen-port: 1.5\n", "listen-port: \"1.5\" is not a whole number");
	expect_config_error("name: [a]\n", "name must be a single value");
	expect_config_error("name:\n", "name must be a single value");
	expect_config_error("- a\n", "must be one mapping of flags to values");
	expect_config_error("name: a\n---\nname: b\n", "must be one mapping of flags to values");
	expect_config_error("name: a\nname: b\n", "line 2, column 1: duplicate key \"name\"");
}

Test(flags, failure_stores_nothing)
{
	struct error err;

	settings.port = 5;
	cr_assert_eq(PARSE(&err, "--listen-port=9", "--name=a", "--wait=x"), -1);
	cr_assert_eq(settings.port, 5);
	cr_assert_null(settings.name);
}

/* Sends stdout to a file while flags_parse runs; returns what was printed. */
static const char *printed_by(const char *arg, int *ret_rc)
{
	static char text[4096];
	char path[] = "/tmp/federator-help-XXXXXX";
	int fd = mkstemp(path), saved = dup(STDOUT_FILENO);
	ssize_t n;

	unlink(path);
	fflush(stdout);
	dup2(fd, STDOUT_FILENO);
	*ret_rc = PARSE(NULL, "--unknown", arg);
	fflush(stdout);
	dup2(saved, STDOUT_FILENO);
	n = pread(fd, text, sizeof(text) - 1, 0);
	close(fd);
	close(saved);
	text[n > 0 ? n : 0] = '\0';
	return text;
}

Test(flags, help_is_a_table_of_all_flags)
{
	int rc;
	const char *text = printed_by("--help", &rc);

	cr_assert_eq(rc, 1);
	cr_assert_eq(strncmp(text, set.summary, strlen(set.summary)), 0);
	cr_assert(strstr(text, "  --listen-port PORT          on which port (default 7443) "
			       "[TESTER_LISTEN_PORT]\n"),
		  "%s", text);
	cr_assert(strstr(text, "  --debug                     says more [TESTER_DEBUG]\n"));
	cr_assert(strstr(text, "  --color red|green           how it looks (default red) "));
	cr_assert(strstr(text, "  --config FILE "));
	cr_assert(strstr(text, "  --version "));
	cr_assert(strstr(text, "  -h, --help "));
	cr_assert_eq(strcmp(printed_by("-h", &rc), "") != 0, 1);
	cr_assert_eq(rc, 1);
}

Test(flags, what_is_required_must_be_given_and_not_empty)
{
	struct flag all[ARRAY_LEN(flags)];
	const struct flag_set strict = {"tester", "tests", all, ARRAY_LEN(all)};
	const char *const empty[] = {"tester", "--name="}, *const given[] = {"tester", "--name=x"};
	struct error err = {.text = ""};

	memcpy(all, flags, sizeof(all));
	all[0].required = true;
	cr_expect_eq(flags_parse(&strict, &settings, 1, (char **)(uintptr_t)empty, &err), -1);
	cr_expect_str_eq(err.text, "--name is required; see: tester --help");
	cr_expect_eq(flags_parse(&strict, &settings, 2, (char **)(uintptr_t)empty, &err), -1);
	cr_expect_eq(flags_parse(&strict, &settings, 2, (char **)(uintptr_t)given, &err), 0);
	cr_expect_str_eq(settings.name, "x");
}

Test(flags, version_is_one_line)
{
	int rc;
	const char *text = printed_by("--version", &rc);

	cr_assert_eq(rc, 1);
	cr_assert_str_eq(text, "tester " FEDERATOR_VERSION "\n");
}
