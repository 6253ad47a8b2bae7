#include "base/program.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "base/mem.h"

enum { EXIT_OK, EXIT_FAILED, EXIT_SETTINGS };

/* The flags of the daemon and ours, whose value lies behind its settings. */
static struct flag *all_flags(const struct program *p, size_t log_level_at)
{
	struct flag *flags = xcalloc(p->n_flags + 1, sizeof(*flags));

	memcpy(flags, p->flags, p->n_flags * sizeof(*flags));
	flags[p->n_flags] = (struct flag){.name = "log-level",
					  .type = FLAG_CHOICE,
					  .metavar = "error|warn|info|debug",
					  .initial = "info",
					  .help = "how much is told on stderr",
					  .at = log_level_at};
	return flags;
}

static void set_log_level(const char *name)
{
	enum log_level level;
	int rc = log_level_parse(name, &level);

	assert(!rc); /* it was chosen from the flag's words */
	log_set_level(level);
}

static int fail(const struct program *p, int exit_code, const struct error *err)
{
	fprintf(stderr, "%s: %s\n", p->name, err->text);
	return exit_code;
}

static int run(const struct program *p, const void *settings)
{
	int exit_code = EXIT_OK;
	struct error err;

	if (p->check && p->check(settings, &err))
		return fail(p, EXIT_SETTINGS, &err);
	return p->run(settings, &exit_code, &err) ? fail(p, EXIT_FAILED, &err) : exit_code;
}

int program_main(const struct program *p, int argc, char **argv)
{
	size_t log_level_at = (p->settings_size + sizeof(char *) - 1) & -sizeof(char *);
	auto_xfree char *settings = xcalloc(1, log_level_at + sizeof(char *));
	auto_xfree struct flag *flags = all_flags(p, log_level_at);
	struct flag_set set = {p->name, p->summary, flags, p->n_flags + 1};
	struct error err;
	int rc = flags_parse(&set, settings, argc, argv, &err);

	if (rc < 0)
		return fail(p, EXIT_SETTINGS, &err);
	if (rc > 0)
		return EXIT_OK;
	set_log_level(*(char **)(void *)(settings + log_level_at));
	rc = run(p, settings);
	flags_finish(&set, settings);
	return rc;
}
