#include <criterion/criterion.h>
#include <string.h>

#include "base/mem.h"
#include "base/pki.h"
#include "fedctl/command.h"

static const struct command *find(const char *path)
{
	for (size_t i = 0; i < commands_count; i++)
		if (!strcmp(commands[i].path, path))
			return &commands[i];
	cr_assert_fail("no command %s", path);
	return NULL;
}

static void expect_narrow(const char *text)
{
	while (*text) {
		size_t n = strcspn(text, "\n");

		cr_expect_leq(n, 100, "%.*s", (int)n, text);
		text += n + (text[n] == '\n');
	}
}

Test(help, shows_an_example_first)
{
	auto_strbuf out = {0};

	help_write(find("logs"), &out);
	cr_expect_eq(strncmp(out.bytes, "fedctl logs ", 12), 0, "%s", out.bytes);
	cr_expect(strstr(out.bytes, "Usage: fedctl logs JOB [FLAGS]"));
	cr_expect(strstr(out.bytes, "-f, --follow"));
}

Test(help, fits_100_columns_for_every_command)
{
	for (size_t i = 0; i < commands_count; i++) {
		auto_strbuf out = {0};

		if (!commands[i].summary)
			continue;
		help_write(&commands[i], &out);
		expect_narrow(out.bytes);
		cr_expect(strstr(commands[i].example, "fedctl "), "%s", commands[i].path);
	}
}

Test(help, lists_a_group)
{
	auto_strbuf out = {0}, none = {0};

	cr_expect(help_write_list("cluster token", &out));
	cr_expect(strstr(out.bytes, "cluster token create"));
	cr_expect_null(strstr(out.bytes, "cluster list"));
	cr_expect_not(help_write_list("clus", &none));
}

Test(help, tells_the_reference_of_all_that_is_shown)
{
	auto_strbuf out = {0};

	help_write_markdown(&out);
	cr_expect(strstr(out.bytes, "\n### fedctl cluster token create\n"));
	cr_expect(strstr(out.bytes, "| `--ttl TIME` |"));
	cr_expect(strstr(out.bytes, "wide, json, yaml, name"));
	cr_expect_null(strstr(out.bytes, "__complete"));
}

Test(help, is_what_the_docs_say)
{
	auto_xfree char *page = NULL;
	auto_strbuf out = {0};
	struct error err;
	size_t n;

	help_write_markdown(&out);
	cr_assert_eq(file_read(REFERENCE, &page, &n, &err), 0, "%s", err.text);
	cr_assert_gt(n, out.size);
	cr_expect_str_eq(page + n - out.size, out.bytes,
			 "docs/fedctl.md must end with what fedctl help --markdown prints");
}
