#include "base/log.h"

#include <stdarg.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/strbuf.h"

#define LOG_MAX_LINE 4096 /* a longer text is cut: one write, never mixed with another line */
#define LOG_UNSET    -1

static const char *const level_names[] = {
	[LOG_ERROR] = "error",
	[LOG_WARN] = "warn",
	[LOG_INFO] = "info",
	[LOG_DEBUG] = "debug",
};
static const char *const level_marks[] = {
	[LOG_ERROR] = "ERROR",
	[LOG_WARN] = "WARN",
	[LOG_INFO] = "INFO",
	[LOG_DEBUG] = "DEBUG",
};

static atomic_int log_level = LOG_UNSET;

void log_set_level(enum log_level level)
{
	log_level = (int)level;
}

int log_level_parse(const char *name, enum log_level *ret_level)
{
	for (size_t i = 0; i < ARRAY_LEN(level_names); i++) {
		if (strcmp(level_names[i], name))
			continue;
		*ret_level = (enum log_level)i;
		return 0;
	}
	return -1;
}

static int level_now(void)
{
	enum log_level level = LOG_INFO;
	const char *name;

	if (log_level != LOG_UNSET)
		return log_level;
	name = getenv("FEDERATOR_LOG");
	if (name)
		log_level_parse(name, &level);
	log_level = (int)level;
	return (int)level;
}

static void add_time(struct strbuf *line)
{
	struct timespec now;
	struct tm tm;
	char text[32];

	clock_gettime(CLOCK_REALTIME, &now);
	gmtime_r(&now.tv_sec, &tm);
	strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%S", &tm);
	strbuf_addf(line, "%s.%03ldZ", text, now.tv_nsec / 1000000);
}

/* A user's value must not be able to begin a line of its own or to steer a terminal. */
static void add_printable(struct strbuf *line, const char *text)
{
	for (; *text; text++) {
		unsigned char c = (unsigned char)*text;

		if (c == '\n')
			strbuf_adds(line, "\\n");
		else if (c < 0x20 || c == 0x7f)
			strbuf_addf(line, "\\x%02x", c);
		else
			strbuf_addc(line, (char)c);
	}
}

static void write_all(const char *p, size_t n)
{
	while (n) {
		ssize_t done = write(STDERR_FILENO, p, n);

		if (done <= 0)
			return;
		p += done;
		n -= (size_t)done;
	}
}

void log_at(enum log_level level, const char *area, const char *fmt, ...)
{
	auto_strbuf line = {.limit = LOG_MAX_LINE};
	auto_xfree char *text = NULL;
	va_list ap;
	int n;

	if ((int)level > level_now())
		return;
	va_start(ap, fmt);
	n = vasprintf(&text, fmt, ap);
	va_end(ap);
	if (n < 0)
		abort();
	add_time(&line);
	strbuf_addf(&line, " %s %s: ", level_marks[level], area);
	add_printable(&line, text);
	line.limit = 0;
	strbuf_adds(&line, line.truncated ? "...\n" : "\n");
	write_all(line.bytes, line.size);
}
