/* The program fedctl, also installed as kubectl-fed. */
#include <locale.h>

#include "fedctl/commands.h"
#include "fedctl/session.h"

static int run(const struct invocation *inv)
{
	struct session s = {.inv = inv};
	struct error err;
	int rc;

	if (inv->command->offline)
		return inv->command->run(&s);
	if (session_open(&s, inv, &err))
		return err.code == ERR_BAD_REQUEST ? usage_fail(&err) : session_fail(&s, &err);
	rc = inv->command->run(&s);
	session_close(&s);
	return rc;
}

static int print_version(void)
{
	puts("fedctl " FEDERATOR_VERSION);
	return EXIT_DONE;
}

static int print_help(const struct invocation *inv)
{
	auto_strbuf out = {0};

	help_write(inv->command, &out);
	fputs(strbuf_str(&out), stdout);
	return EXIT_DONE;
}

static int answer(const struct invocation *inv)
{
	if (inv->help && inv->command->run != run_help)
		return print_help(inv);
	return inv->version && !inv->help ? print_version() : run(inv);
}

/* A reader that went away is no failure of ours to talk about, but it is no success either. */
static int finish_output(int rc)
{
	return (fflush(stdout) || ferror(stdout)) && !rc ? EXIT_REFUSED : rc;
}

int main(int argc, char **argv)
{
	struct invocation inv;
	struct error err;
	int rc;

	if (!setlocale(LC_CTYPE, "C.UTF-8"))
		setlocale(LC_CTYPE, "");
	if (invocation_parse(argc, argv, &inv, &err))
		return usage_fail(&err);
	rc = answer(&inv);
	invocation_finish(&inv);
	return finish_output(rc);
}
