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

enum flag_type { FLAG_STRING, FLAG_INT, FLAG_BOOL, FLAG_DURATION /* int64 ms */ };

struct flag {
	const char *name; /* "listen-port" */
	enum flag_type type;
	const char *metavar; /* "PORT" */
	const char *initial; /* default as text, or NULL */
	const char *help;
	void *value; /* char ** (strdup'ed), int64_t *, bool *, int64_t * */
};

struct flag_set {
	const char *program;    /* "federator" */
	const char *env_prefix; /* "FEDERATOR": listen-port becomes FEDERATOR_LISTEN_PORT */
	const char *summary;    /* shown by --help, an example first */
	const struct flag *flags;
	size_t n;
};

/* 0: go on; 1: --help or --version was printed; -1: err says what is wrong (BAD_REQUEST), nothing
 * was stored. An empty variable counts as unset. */
int flags_parse(const struct flag_set *set, int argc, char **argv, struct error *err);
void flags_finish(const struct flag_set *set); /* frees the strings */

#endif
