#include "base/lines.h"

#include <criterion/criterion.h>
#include <string.h>

TestSuite(lines);

/* Each line that was told, in brackets. */
static void note(const char *line, size_t n, void *arg)
{
	strbuf_addf(arg, "[%.*s]", (int)n, line);
}

static void expect_told(struct strbuf *told, const char *text)
{
	cr_expect_str_eq(strbuf_str(told), text);
	strbuf_clear(told);
}

Test(lines, are_the_same_wherever_the_stream_is_cut)
{
	static const char stream[] = "one\n\ntwo three\n\nfour";
	size_t size = strlen(stream);

	for (size_t a = 0; a <= size; a++)
		for (size_t b = a; b <= size; b++) {
			auto_strbuf told = {0};
			struct lines l;

			lines_init(&l, 100);
			lines_feed(&l, stream, a, note, &told);
			lines_feed(&l, stream + a, b - a, note, &told);
			lines_feed(&l, stream + b, size - b, note, &told);
			expect_told(&told, "[one][][two three][]");
			lines_feed(&l, "\n", 1, note, &told);
			expect_told(&told, "[four]");
			cr_expect_not(l.overlong);
			lines_finish(&l);
		}
}

Test(lines, keep_what_is_no_text)
{
	auto_strbuf told = {0};
	struct lines l;

	lines_init(&l, 10);
	lines_feed(&l, "a\0b", 3, note, &told);
	cr_expect_eq(l.begun.size, 3);
	cr_expect_arr_eq(l.begun.bytes, "a\0b", 3);
	lines_finish(&l);
}

/* The one over the limit is left out and said to be; what follows it is told. */
Test(lines, over_the_limit_are_not_told_in_part)
{
	static const char stream[] = "12345\n123456\n1234\n";

	for (size_t piece = 1; piece <= strlen(stream); piece++) {
		auto_strbuf told = {0};
		struct lines l;

		lines_init(&l, 5);
		for (size_t at = 0; at < strlen(stream); at += piece) {
			size_t left = strlen(stream) - at;

			lines_feed(&l, stream + at, piece < left ? piece : left, note, &told);
		}
		expect_told(&told, "[12345][1234]");
		cr_expect(l.overlong, "pieces of %zu", piece);
		lines_finish(&l);
	}
}

Test(lines, over_the_limit_are_noticed_before_they_end)
{
	auto_strbuf told = {0};
	struct lines l;

	lines_init(&l, 5);
	lines_feed(&l, "12345", 5, note, &told);
	cr_expect_not(l.overlong);
	lines_feed(&l, "6", 1, note, &told);
	cr_expect(l.overlong);
	cr_expect_eq(l.begun.size, 5, "no more is kept than the limit");
	lines_finish(&l);
}

Test(lines, of_another_stream_begin_anew)
{
	auto_strbuf told = {0};
	struct lines l;

	lines_init(&l, 5);
	lines_feed(&l, "1234567", 7, note, &told);
	lines_clear(&l);
	cr_expect_not(l.overlong);
	lines_feed(&l, "8\n", 2, note, &told);
	expect_told(&told, "[8]");
	lines_finish(&l);
}
