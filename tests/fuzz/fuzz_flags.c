/*
 * Settings of a daemon, a line of the input each: "a--port=1" is an argument, "e1=x" the variable
 * of flag 1, "fport: 1" a line of the file. What is refused stores nothing.
 */
#include <assert.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/flags.h"
#include "base/http_client.h"
#include "base/listen.h"
#include "text.h"

#define LINES 24

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

struct settings {
	char *listen, *urls, *store;
	int64_t size, pause_ms;
	bool loud;
};

#define AT(field) .at = offsetof(struct settings, field)
static const struct flag flags[] = {
	{"listen", FLAG_STRING, "HOST:PORT", "127.0.0.1:1", "", AT(listen), listen_mistake},
	{"urls", FLAG_STRING, "URLS", NULL, "", AT(urls), http_urls_mistake},
	{"store", FLAG_CHOICE, "etcd|memory", "etcd", "", AT(store)},
	{"size", FLAG_INT, "N", "3", "", AT(size)},
	{"pause", FLAG_DURATION, "TIME", NULL, "", AT(pause_ms)},
	{"loud", FLAG_BOOL, NULL, NULL, "", AT(loud)},
};
static const struct flag_set set = {"fuzz", "", flags, ARRAY_LEN(flags)};
static const char *const variables[] = {"FUZZ_LISTEN", "FUZZ_URLS",  "FUZZ_STORE",
					"FUZZ_SIZE",   "FUZZ_PAUSE", "FUZZ_LOUD"};

/* Help and version are printed, and another file could be any. */
static bool is_left_out(const char *word)
{
	return !strcmp(word, "-h") || !strcmp(word, "--help") || !strcmp(word, "--version") ||
	       !strncmp(word, "--config", strlen("--config"));
}

static void set_variable(const char *text)
{
	size_t i = (size_t)(*text - '0');

	if (*text && i < ARRAY_LEN(variables) && text[1] == '=')
		setenv(variables[i], text + 2, 1);
}

static void check(const struct settings *s)
{
	struct listen listen;

	assert(s->listen && !listen_mistake(s->listen));
	assert(!listen_parse(s->listen, &listen, NULL));
	assert(*listen.host && listen.port >= 1 && listen.port <= 65535);
	listen_finish(&listen);
	assert(!s->urls || !http_urls_mistake(s->urls));
	assert(!strcmp(s->store, "etcd") || !strcmp(s->store, "memory"));
	assert(s->pause_ms >= 0);
}

static void parse(int argc, char **argv)
{
	static const struct settings none;
	struct settings s = {0};
	struct error err;

	if (flags_parse(&set, &s, argc, argv, &err)) {
		assert(err.code == ERR_BAD_REQUEST && *err.text);
		assert(!memcmp(&s, &none, sizeof(s)));
		return;
	}
	check(&s);
	flags_finish(&set, &s);
}

static void write_line(int file, const char *line)
{
	assert(write(file, line, strlen(line)) == (ssize_t)strlen(line));
	assert(write(file, "\n", 1) == 1);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	auto_xfree char *text = text_of(bytes, n), *config = NULL;
	char *lines[LINES], *argv[LINES + 3], program[] = "fuzz";
	size_t count = text_lines(text, lines, LINES);
	int file = memfd_create("config", MFD_CLOEXEC), argc = 0;

	config = xasprintf("--config=/proc/self/fd/%d", file);
	argv[argc++] = program;
	argv[argc++] = config;
	for (size_t i = 0; i < count; i++) {
		if (lines[i][0] == 'a' && !is_left_out(lines[i] + 1))
			argv[argc++] = lines[i] + 1;
		else if (lines[i][0] == 'e')
			set_variable(lines[i] + 1);
		else if (lines[i][0] == 'f')
			write_line(file, lines[i] + 1);
	}
	parse(argc, argv);
	for (size_t i = 0; i < ARRAY_LEN(variables); i++)
		unsetenv(variables[i]);
	close(file);
	text_lines_free(lines, count);
	return 0;
}
