/*
 * The one table of commands: it drives the parser, help, completion and the reference in docs/. A
 * command's handler gets an invocation and returns an exit code.
 */
#ifndef FEDCTL_COMMAND_H
#define FEDCTL_COMMAND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/strbuf.h"

enum exit_code {
	EXIT_DONE,
	EXIT_REFUSED, /* or failed */
	EXIT_USAGE,
	EXIT_UNREACHABLE,
	EXIT_TIMEOUT,
	EXIT_JOB_FAILED,
};

enum option_type { OPTION_TEXT, OPTION_TRUTH, OPTION_NUMBER, OPTION_DURATION };

struct option {
	const char *name; /* "namespace" */
	char letter;      /* 'n'; 0: none */
	enum option_type type;
	const char *metavar, *help;
	const char *words; /* "completed|ended|running": nothing else is taken; NULL: anything */
};

/* What an argument names, for completion. */
enum argument { ARGUMENT_ANY, ARGUMENT_KIND, ARGUMENT_JOB, ARGUMENT_CLUSTER, ARGUMENT_FILE };

struct invocation;
struct session;

struct command {
	const char *path; /* "cluster token create" */
	const char *args; /* "NAME..." as help shows them, or "" */
	size_t min_args, max_args;
	enum argument argument;
	const char *outputs;          /* what -o takes: "json|yaml"; NULL: nothing */
	const struct option *options; /* ends with a NULL name; may be NULL */
	const char *example;          /* lines of shell, the shortest first */
	const char *summary;          /* NULL: not shown to people */
	bool offline;                 /* run gets a session that is not open */
	int (*run)(struct session *s);
};

extern const struct command commands[];
extern const size_t commands_count;
extern const struct option global_options[]; /* ends with a NULL name */

#define ARGS_MAX_MANY SIZE_MAX

/* The text given for an option. */
struct given {
	const struct option *option;
	const char *text; /* borrowed from argv */
	int64_t number;   /* NUMBER; DURATION: ns */
};

struct invocation {
	const struct command *command;
	const char **args; /* borrowed from argv */
	size_t n_args;
	struct given *given;
	size_t n_given, cap_given;
	bool help, version; /* asked for, whatever else is there */
};

/* err is about the words alone (BAD_REQUEST); ret is the caller's to finish on success. */
int invocation_parse(int argc, char **argv, struct invocation *ret, struct error *err);
void invocation_finish(struct invocation *inv);

/* The option must be one of the command's or a global one. */
const char *given_text(const struct invocation *inv, const char *option); /* NULL: not given */
bool given_truth(const struct invocation *inv, const char *option);
int64_t given_number(const struct invocation *inv, const char *option, int64_t otherwise);
int64_t given_ns(const struct invocation *inv, const char *option, int64_t otherwise);

/* The option that the word is, "--name" or "-n", if its value is the next word; else NULL. command
 * NULL: one of the global options. */
const struct option *option_awaiting(const struct command *command, const char *word);

/* The longest path that the words begin with; NULL when none. ret_used: words of it. */
const struct command *command_find(const char *const *words, size_t n, size_t *ret_used);

void help_write(const struct command *command, struct strbuf *out);
/* Every command, or those whose paths begin with the words; false: there are none. */
bool help_write_list(const char *group, struct strbuf *out);
void help_write_markdown(struct strbuf *out);

#endif
