/* Help and the reference, from the table. */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "fedctl/commands.h"
#include "fedctl/session.h"

#define COLUMN 26 /* where what an option does begins */

static const char exit_codes[] = "0 done, 1 refused or failed, 2 wrong usage, 3 not reachable, "
				 "4 timed out,\n5 the job itself failed";

static void add_lines(const char *lines, const char *indent, struct strbuf *out)
{
	while (*lines) {
		size_t n = strcspn(lines, "\n");

		strbuf_addf(out, "%s%.*s\n", indent, (int)n, lines);
		lines += n + (lines[n] == '\n');
	}
}

static void add_option_name(const struct option *o, struct strbuf *out)
{
	if (o->letter)
		strbuf_addf(out, "-%c, ", o->letter);
	strbuf_addf(out, "--%s%s%s", o->name, o->metavar ? " " : "", o->metavar ? o->metavar : "");
}

static void add_options(const struct option *options, struct strbuf *out)
{
	for (const struct option *o = options; o && o->name; o++) {
		auto_strbuf name = {0};

		strbuf_adds(&name, o->letter ? "" : "    ");
		add_option_name(o, &name);
		strbuf_addf(out, "  %-*s %s\n", COLUMN, strbuf_str(&name), o->help);
	}
}

static void add_outputs(const struct command *c, struct strbuf *out)
{
	auto_strbuf forms = {0};

	if (!c->outputs)
		return;
	strbuf_adds(&forms, "-o, --output ");
	strbuf_adds(&forms, c->outputs);
	strbuf_addf(out, "  %-*s %s\n", COLUMN, strbuf_str(&forms), "how to print");
}

static void add_usage(const struct command *c, struct strbuf *out)
{
	strbuf_addf(out, "fedctl %s%s%s%s", c->path, *c->args ? " " : "", c->args,
		    c->options || c->outputs ? " [FLAGS]" : "");
}

void help_write(const struct command *command, struct strbuf *out)
{
	add_lines(command->example, "", out);
	strbuf_addf(out, "\n%c%s.\n\nUsage: ", toupper((unsigned char)command->summary[0]),
		    command->summary + 1);
	add_usage(command, out);
	if (command->options || command->outputs)
		strbuf_adds(out, "\n\nFlags:\n");
	else
		strbuf_addc(out, '\n');
	add_options(command->options, out);
	add_outputs(command, out);
	strbuf_adds(out, "\nFlags of every command: fedctl help\n");
}

static bool in_group(const struct command *c, const char *group)
{
	size_t n = strlen(group);

	return c->summary &&
	       (!n || (!strncmp(c->path, group, n) && (c->path[n] == ' ' || !c->path[n])));
}

bool help_write_list(const char *group, struct strbuf *out)
{
	bool any = false;

	for (size_t i = 0; i < commands_count; i++) {
		if (!in_group(&commands[i], group))
			continue;
		strbuf_addf(out, "  %-*s %s\n", COLUMN, commands[i].path, commands[i].summary);
		any = true;
	}
	return any;
}

static void write_overview(struct strbuf *out)
{
	strbuf_adds(out, "fedctl submit job.yaml --wait\n\n"
			 "Gives batch jobs to a federation of Kubernetes clusters, and says what "
			 "becomes of them.\n\nCommands:\n");
	help_write_list("", out);
	strbuf_adds(out, "\nFlags of every command:\n");
	add_options(global_options, out);
	strbuf_addf(out, "  %-*s %s\n", COLUMN, "-h, --help", "an example, and how it is used");
	strbuf_addf(out, "\nA job is named x or job/x.\nExit codes: %s.\n", exit_codes);
}

/* --- the reference --- */

static void markdown_options(const struct option *options, struct strbuf *out)
{
	for (const struct option *o = options; o && o->name; o++) {
		strbuf_adds(out, "| `");
		add_option_name(o, out);
		strbuf_addf(out, "` | %s |\n", o->help);
	}
}

static void markdown_command(const struct command *c, struct strbuf *out)
{
	strbuf_addf(out, "\n### fedctl %s\n\n%c%s.\n\n```\n", c->path,
		    toupper((unsigned char)c->summary[0]), c->summary + 1);
	add_lines(c->example, "$ ", out);
	strbuf_adds(out, "```\n\n`");
	add_usage(c, out);
	strbuf_adds(out, "`\n");
	if (!c->options && !c->outputs)
		return;
	strbuf_adds(out, "\n| flag | what it does |\n|---|---|\n");
	markdown_options(c->options, out);
	if (!c->outputs)
		return;
	strbuf_adds(out, "| `-o, --output FORM` | how to print: ");
	for (const char *p = c->outputs; *p; p++)
		strbuf_adds(out, *p == '|' ? ", " : (char[]){*p, '\0'});
	strbuf_adds(out, " |\n");
}

void help_write_markdown(struct strbuf *out)
{
	strbuf_adds(out, "## Flags of every command\n\n| flag | what it does |\n|---|---|\n");
	markdown_options(global_options, out);
	strbuf_adds(out, "| `-h, --help` | an example, and how the command is used |\n");
	strbuf_addf(out, "\nExit codes: %s.\n\n## Commands\n", exit_codes);
	for (size_t i = 0; i < commands_count; i++)
		if (commands[i].summary)
			markdown_command(&commands[i], out);
}

/* --- the command --- */

static int help_of(const struct invocation *inv, struct strbuf *out)
{
	size_t used = 0;
	const struct command *c = command_find(inv->args, inv->n_args, &used);
	auto_strbuf group = {0};
	struct error err;

	if (c && used == inv->n_args && c->summary) {
		help_write(c, out);
		return EXIT_DONE;
	}
	for (size_t i = 0; i < inv->n_args; i++)
		strbuf_addf(&group, "%s%s", i ? " " : "", inv->args[i]);
	strbuf_adds(out, "Commands:\n");
	if (help_write_list(strbuf_str(&group), out))
		return EXIT_DONE;
	error_set(&err, ERR_BAD_REQUEST, "there is no command \"%s\"; see: fedctl help",
		  strbuf_str(&group));
	say_error(&err);
	return EXIT_USAGE;
}

int run_help(struct session *s)
{
	const struct invocation *inv = s->inv;
	auto_strbuf out = {0};
	int rc = EXIT_DONE;

	if (given_truth(inv, "markdown"))
		help_write_markdown(&out);
	else if (inv->n_args)
		rc = help_of(inv, &out);
	else
		write_overview(&out);
	if (rc == EXIT_DONE)
		fputs(strbuf_str(&out), stdout);
	return rc;
}
