#include "base/log.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"

TestSuite(log);

/* Sends stderr into a file from here on; log_text() reads what came. */
static int capture_fd;

static void capture(void)
{
	char path[] = "/tmp/federator-log-XXXXXX";

	capture_fd = mkstemp(path);
	cr_assert_geq(capture_fd, 0);
	unlink(path);
	cr_assert_eq(dup2(capture_fd, STDERR_FILENO), STDERR_FILENO);
}

static const char *log_text(void)
{
	static char text[20000];
	ssize_t n = pread(capture_fd, text, sizeof(text) - 1, 0);

	cr_assert_geq(n, 0);
	text[n] = '\0';
	return text;
}

Test(log, line_has_time_level_area_and_text)
{
	const char *text;
	int year, month, day, hour, minute, second, ms, used = 0;

	capture();
	log_warn("placement", "no room for \"%s\"", "a");
	text = log_text();
	cr_assert_eq(sscanf(text, "%4d-%2d-%2dT%2d:%2d:%2d.%3dZ%n", &year, &month, &day, &hour,
			    &minute, &second, &ms, &used),
		     7, "%s", text);
	cr_assert_eq(used, 24);
	cr_assert_str_eq(text + used, " WARN placement: no room for \"a\"\n");
}

Test(log, info_is_the_default_level)
{
	unsetenv("FEDERATOR_LOG");
	capture();
	log_debug("x", "hidden");
	log_info("x", "shown");
	cr_assert_null(strstr(log_text(), "hidden"));
	cr_assert(strstr(log_text(), " INFO x: shown\n"));
}

Test(log, variable_sets_the_level)
{
	setenv("FEDERATOR_LOG", "error", 1);
	capture();
	log_warn("x", "hidden");
	log_error("x", "shown");
	cr_assert_null(strstr(log_text(), "hidden"));
	cr_assert(strstr(log_text(), " ERROR x: shown\n"));
}

Test(log, call_outweighs_the_variable)
{
	setenv("FEDERATOR_LOG", "error", 1);
	capture();
	log_set_level(LOG_DEBUG);
	log_debug("x", "shown");
	cr_assert(strstr(log_text(), " DEBUG x: shown\n"));
}

Test(log, value_cannot_forge_a_line_or_steer_a_terminal)
{
	capture();
	log_info("x", "job \"%s\"", "a\nb\x1b[2J\x7f\xc3\xa9");
	cr_assert(strstr(log_text(), "job \"a\\nb\\x1b[2J\\x7f\xc3\xa9\"\n"), "%s", log_text());
}

Test(log, long_text_is_cut_with_a_mark)
{
	char big[9000];
	const char *text;
	size_t n;

	memset(big, 'x', sizeof(big) - 1);
	big[sizeof(big) - 1] = '\0';
	capture();
	log_info("x", "%s", big);
	text = log_text();
	n = strlen(text);
	cr_assert_lt(n, 5000);
	cr_assert_str_eq(text + n - 4, "...\n");
}

Test(log, level_names)
{
	enum log_level level;

	cr_assert_eq(log_level_parse("debug", &level), 0);
	cr_assert_eq(level, LOG_DEBUG);
	cr_assert_eq(log_level_parse("info", &level), 0);
	cr_assert_eq(level, LOG_INFO);
	cr_assert_eq(log_level_parse("warn", &level), 0);
	cr_assert_eq(level, LOG_WARN);
	cr_assert_eq(log_level_parse("error", &level), 0);
	cr_assert_eq(level, LOG_ERROR);
	cr_assert_eq(log_level_parse("INFO", &level), -1);
	cr_assert_eq(log_level_parse("", &level), -1);
	cr_assert_eq(level, LOG_ERROR, "failure must not write");
}
