/*
 * Settings of a daemon: flags, then environment variables, then one YAML file (--config) whose
 * names are the flags' names. One table makes the parser, --help and the errors.
 */
#ifndef BASE_FLAGS_H
#define BASE_FLAGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

enum flag_type {
	FLAG_STRING,
	FLAG_CHOICE, /* of the words in metavar: "etcd|memory" */
	FLAG_INT,
	FLAG_BOOL,
	FLAG_DURATION,
};

struct flag {
	const char *name; /* "listen-port" */
	enum flag_type type;
	const char *metavar; /* "PORT" */
	const char *initial; /* default as text, or NULL */
	const char *help;
	size_t at; /* offset in the settings: char * (strdup'ed), int64_t (DURATION: ms), bool */
	/* STRING: what is wrong with a text, as read behind it ("is not HOST:PORT"), or NULL. */
	const char *(*mistake)(const char *text);
	bool required;
};

struct flag_set {
	const char *program; /* "federator": the variable of listen-port is FEDERATOR_LISTEN_PORT */
	const char *summary; /* shown by --help, an example first */
	const struct flag *flags;
	size_t n;
};

/* 0: go on; 1: --help or --version was printed; -1: err says what is wrong (BAD_REQUEST), nothing
 * was stored. An empty variable counts as unset. */
int flags_parse(const struct flag_set *set, void *settings, int argc, char **argv,
		struct error *err);
void flags_finish(const struct flag_set *set, void *settings); /* frees the strings */

/* For command lines that have a grammar of their own: the same words for the same mistakes. All
 * return -1. word: n bytes as given, dashes included; meant: without dashes, or NULL; help: what
 * has --help. */
int flag_fail_unknown(const char *word, size_t n, const char *meant, const char *help,
		      struct error *err);
int flag_fail_no_value(const char *name, const char *metavar, struct error *err);
int flag_fail_value(const char *name, struct error *err); /* --help takes none */

#define FLAG_DURATION_WANTED "a duration like 1h30m, 90s or 250ms"
#define FLAG_BOOL_WANTED     "true or false"

/* Whether one of "a|b|c" is the word. */
bool flag_words_have(const char *words, const char *word, size_t n);

#endif
