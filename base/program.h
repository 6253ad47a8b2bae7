/*
 * The life of a daemon, from its arguments to its exit code: all of its main(). Exit codes: 0 a
 * clean end, 1 a failure, 2 wrong settings; others are the daemon's own.
 */
#ifndef BASE_PROGRAM_H
#define BASE_PROGRAM_H

#include "base/flags.h"

struct program {
	const char *name;         /* "federator" */
	const char *summary;      /* as in flag_set */
	const struct flag *flags; /* of its own; every daemon has --log-level too */
	size_t n_flags;
	size_t settings_size; /* of what the flags' offsets are in; all zero at first */
	/* What is wrong with settings that are right one by one. Nothing is opened or begun here,
	 * so that all mistakes are told before anything happens. May be NULL. */
	int (*check)(const void *settings, struct error *err);
	/* From the start to the end; its failure is told to the user. */
	int (*run)(const void *settings, int *ret_exit_code, struct error *err);
};

int program_main(const struct program *p, int argc, char **argv);

#endif
