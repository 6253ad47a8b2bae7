#include <criterion/criterion.h>
#include <string.h>

#include "base/mem.h"
#include "fedctl/command.h"

#define NS_PER_S 1000000000LL

#define PARSE(inv, err, ...) parse((const char *[]){"fedctl", __VA_ARGS__, NULL}, inv, err)

static int parse(const char *const *argv, struct invocation *inv, struct error *err)
{
	int argc = 0;

	while (argv[argc])
		argc++;
	return invocation_parse(argc, (char **)(uintptr_t)argv, inv, err);
}

Test(parse, finds_the_command_by_its_longest_path)
{
	struct invocation inv;
	struct error err;

	cr_assert_eq(PARSE(&inv, &err, "cluster", "token", "create", "gpu", "--ttl", "1h30m"), 0);
	cr_expect_str_eq(inv.command->path, "cluster token create");
	cr_expect_eq(inv.n_args, 1);
	cr_expect_str_eq(inv.args[0], "gpu");
	cr_expect_eq(given_ns(&inv, "ttl", 0), 5400 * NS_PER_S);
	invocation_finish(&inv);
}

Test(parse, takes_global_flags_anywhere)
{
	static const char *const lines[][8] = {
		{"fedctl", "-n", "ml", "get", "jobs", "-o", "json", NULL},
		{"fedctl", "get", "-nml", "jobs", "-ojson", NULL},
		{"fedctl", "get", "jobs", "--namespace=ml", "--output=json", NULL},
		{"fedctl", "--output", "json", "get", "--namespace", "ml", "jobs", NULL},
		{"fedctl", "-n=ml", "get", "jobs", "-o=json", NULL},
	};

	for (size_t i = 0; i < ARRAY_LEN(lines); i++) {
		struct invocation inv;
		struct error err;

		cr_assert_eq(parse(lines[i], &inv, &err), 0, "%zu: %s", i, err.text);
		cr_expect_str_eq(inv.command->path, "get");
		cr_expect_str_eq(given_text(&inv, "namespace"), "ml");
		cr_expect_str_eq(given_text(&inv, "output"), "json");
		cr_expect_eq(inv.n_args, 1);
		cr_expect_str_eq(inv.args[0], "jobs");
		invocation_finish(&inv);
	}
}

Test(parse, takes_flags_of_the_command_between_its_arguments)
{
	struct invocation inv;
	struct error err;

	cr_assert_eq(PARSE(&inv, &err, "get", "-l", "app=x", "jobs", "-wA"), 0);
	cr_expect_eq(inv.n_args, 1);
	cr_expect_str_eq(given_text(&inv, "selector"), "app=x");
	cr_expect(given_truth(&inv, "watch"));
	cr_expect(given_truth(&inv, "all-namespaces"));
	invocation_finish(&inv);
	cr_assert_eq(PARSE(&inv, &err, "logs", "--index", "3", "x", "--tail=0"), 0);
	cr_expect_eq(given_number(&inv, "index", 0), 3);
	cr_expect_eq(given_number(&inv, "tail", -1), 0);
	cr_expect_not(given_truth(&inv, "follow"));
	invocation_finish(&inv);
}

/* Letters that stand alone may stand before one that takes a value, in its word or the next one. */
Test(parse, takes_letters_and_a_value_in_one_word)
{
	static const char *const lines[][8] = {
		{"fedctl", "get", "jobs", "-wojson", NULL},
		{"fedctl", "get", "jobs", "-wo=json", NULL},
		{"fedctl", "get", "-wo", "json", "jobs", NULL},
		{"fedctl", "get", "-wAojson", "jobs", "-A=false", NULL},
	};

	for (size_t i = 0; i < ARRAY_LEN(lines); i++) {
		struct invocation inv;
		struct error err;

		cr_assert_eq(parse(lines[i], &inv, &err), 0, "%zu: %s", i, err.text);
		cr_expect_str_eq(given_text(&inv, "output"), "json", "%zu", i);
		cr_expect(given_truth(&inv, "watch"), "%zu", i);
		cr_expect_not(given_truth(&inv, "all-namespaces"), "%zu", i);
		cr_expect_eq(inv.n_args, 1, "%zu", i);
		cr_expect_str_eq(inv.args[0], "jobs", "%zu", i);
		invocation_finish(&inv);
	}
}

Test(parse, lets_the_last_of_two_count)
{
	struct invocation inv;
	struct error err;

	cr_assert_eq(PARSE(&inv, &err, "logs", "x", "-f", "--follow=false", "-t", "a", "-t", "b"),
		     0);
	cr_expect_not(given_truth(&inv, "follow"));
	cr_expect_str_eq(given_text(&inv, "task"), "b");
	invocation_finish(&inv);
}

Test(parse, takes_a_dash_and_what_follows_two_dashes_as_arguments)
{
	struct invocation inv;
	struct error err;

	cr_assert_eq(PARSE(&inv, &err, "submit", "-"), 0);
	cr_expect_str_eq(inv.args[0], "-");
	invocation_finish(&inv);
	cr_assert_eq(PARSE(&inv, &err, "submit", "--", "-x", "--wait"), 0);
	cr_expect_eq(inv.n_args, 2);
	cr_expect_str_eq(inv.args[1], "--wait");
	cr_expect_not(given_truth(&inv, "wait"));
	invocation_finish(&inv);
}

Test(parse, asks_for_help)
{
	struct invocation inv;
	struct error err;

	cr_assert_eq(PARSE(&inv, &err, "logs", "--help"), 0);
	cr_expect(inv.help);
	cr_expect_str_eq(inv.command->path, "logs");
	invocation_finish(&inv);
	cr_assert_eq(PARSE(&inv, &err, "cluster", "-h"), 0);
	cr_expect_str_eq(inv.command->path, "help");
	cr_expect_str_eq(inv.args[0], "cluster");
	invocation_finish(&inv);
	cr_assert_eq(PARSE(&inv, &err, "get", "--bogus", "-h"), 0);
	cr_expect(inv.help, "whatever else is wrong");
	invocation_finish(&inv);
	cr_assert_eq(PARSE(&inv, &err, "cancel", "--", "-h"), 0);
	cr_expect_not(inv.help);
	invocation_finish(&inv);
	cr_assert_eq(parse((const char *[]){"fedctl", NULL}, &inv, &err), 0);
	cr_expect_str_eq(inv.command->path, "help");
	invocation_finish(&inv);
}

Test(parse, asks_for_the_version)
{
	struct invocation inv;
	struct error err;

	cr_assert_eq(PARSE(&inv, &err, "--version"), 0);
	cr_expect(inv.version);
	cr_expect_not(inv.help);
	invocation_finish(&inv);
	cr_assert_eq(PARSE(&inv, &err, "get", "--version"), 0);
	cr_expect(inv.version, "as help does, without what the command needs");
	invocation_finish(&inv);
}

Test(parse, says_what_is_wrong)
{
	static const struct {
		const char *line[6], *text;
	} cases[] = {
		{{"gte"}, "unknown command \"gte\"; did you mean \"get\"?"},
		{{"jobs"}, "unknown command \"jobs\"; to list them: fedctl get jobs"},
		{{"launch"}, "unknown command \"launch\"; see: fedctl help"},
		{{"cluster", "acept", "x"},
		 "unknown command \"cluster acept\"; did you mean \"cluster accept\"?"},
		{{"cluster"}, "cluster does nothing alone; see: fedctl help cluster"},
		{{"get"}, "get needs KIND[.GROUP] [NAME...]; see: fedctl get --help"},
		{{"explain", "a", "b"}, "explain: \"b\" is too much; see: fedctl explain --help"},
		{{"get", "jobs", "--wacth"}, "unknown flag \"--wacth\"; did you mean \"--watch\"?"},
		{{"get", "jobs", "--zzz=1"}, "unknown flag \"--zzz\"; see: fedctl get --help"},
		{{"get", "jobs", "-x=1"}, "unknown flag \"-x=1\"; see: fedctl get --help"},
		{{"get", "jobs", "-wxo"}, "unknown flag \"-xo\"; see: fedctl get --help"},
		{{"get", "jobs", "-wo"}, "--output needs a value: FORM"},
		{{"--zzz"}, "unknown flag \"--zzz\"; see: fedctl --help"},
		{{"get", "--help=jobs"}, "--help takes no value"},
		{{"--version=1"}, "--version takes no value"},
		{{"get", "jobs", "-o"}, "--output needs a value: FORM"},
		{{"get", "jobs", "-o", "xml"}, "-o: \"xml\" is none of wide|json|yaml|name"},
		{{"describe", "job/x", "-o", "json"}, "describe has no -o"},
		{{"cancel", "x", "-o", "json"}, "-o: \"json\" is none of name"},
		{{"wait", "x", "--for", "done"},
		 "--for: \"done\" is none of completed|ended|running"},
		{{"wait", "x", "--timeout", "60"},
		 "--timeout: \"60\" is not a duration like 1h30m, 90s or 250ms"},
		{{"wait", "x", "--timeout", "-1s"},
		 "--timeout: \"-1s\" is not a duration like 1h30m, 90s or 250ms"},
		{{"logs", "x", "--tail", "-3"}, "--tail: \"-3\" is not a whole number, 0 or more"},
		{{"logs", "x", "--index", "99999999999999999999"},
		 "--index: \"99999999999999999999\" is not a whole number, 0 or more"},
		{{"logs", "x", "--follow=yes"}, "--follow: \"yes\" is not true or false"},
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		const char *argv[8] = {"fedctl"};
		struct invocation inv;
		struct error err = {0};

		memcpy(argv + 1, cases[i].line, sizeof(cases[i].line));
		cr_assert_eq(parse(argv, &inv, &err), -1, "%zu", i);
		cr_expect_eq(err.code, ERR_BAD_REQUEST);
		cr_expect_str_eq(err.text, cases[i].text, "%zu: %s", i, err.text);
	}
}

/* A way of waiting is a flag of the command, so it must not be taken for the global one. */
Test(parse, puts_a_flag_of_the_command_before_a_global_one)
{
	struct invocation inv;
	struct error err;

	cr_assert_eq(PARSE(&inv, &err, "--timeout", "2s", "wait", "x"), 0);
	cr_expect_eq(given_ns(&inv, "timeout", 0), 2 * NS_PER_S);
	cr_expect_neq(inv.given[0].option, &global_options[5]);
	invocation_finish(&inv);
}
