#include "base/strbuf.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

TestSuite(strbuf);

Test(strbuf, is_an_empty_string_before_anything_is_added)
{
	struct strbuf b = {0};
	char *taken;

	cr_assert_str_eq(strbuf_str(&b), "");
	taken = strbuf_take(&b);
	cr_assert_str_eq(taken, "");
	free(taken);
	strbuf_finish(&b);
}

Test(strbuf, collects_all_kinds_of_pieces)
{
	auto_strbuf b = {0};

	strbuf_adds(&b, "one");
	strbuf_addc(&b, ' ');
	strbuf_addf(&b, "%d %s", 2, "three");
	strbuf_add(&b, "\0x", 2);
	cr_assert_eq(b.size, 13);
	cr_assert_arr_eq(b.bytes, "one 2 three\0x", 14);
}

Test(strbuf, writes_numbers_in_full)
{
	auto_strbuf b = {0};

	for (size_t i = 0; i < 6; i++) {
		static const int64_t numbers[] = {0, 7, -1, 1234567890, INT64_MAX, INT64_MIN};

		strbuf_addi(&b, numbers[i]);
		strbuf_addc(&b, ' ');
	}
	cr_assert_str_eq(b.bytes, "0 7 -1 1234567890 9223372036854775807 -9223372036854775808 ");
}

Test(strbuf, formats_texts_of_any_length)
{
	for (int n = 100; n < 300; n++) {
		auto_strbuf b = {0};

		strbuf_addf(&b, "%0*d|%s", n, 1, "end");
		cr_assert_eq(b.size, (size_t)n + 4);
		cr_assert_str_eq(b.bytes + n - 1, "1|end");
	}
}

Test(strbuf, gives_room_to_write_into)
{
	auto_strbuf b = {0};

	strbuf_adds(&b, "ab");
	for (int i = 0; i < 100; i++)
		memset(strbuf_extend(&b, 10), 'x', 10);
	cr_assert_eq(b.size, 1002);
	cr_assert_eq(strspn(b.bytes + 2, "x"), 1000);
	strbuf_extend(&b, 0);
	cr_assert_eq(strlen(b.bytes), b.size);
}

Test(strbuf, ends_with_nul_at_every_length)
{
	auto_strbuf b = {0};

	for (size_t i = 0; i < 5000; i++) {
		strbuf_addc(&b, 'x');
		cr_assert_eq(b.size, i + 1);
		cr_assert_eq(b.bytes[b.size], '\0');
	}
}

Test(strbuf, limit_cuts_and_says_so)
{
	auto_strbuf b = {.limit = 10};

	strbuf_adds(&b, "12345678");
	cr_assert_not(b.truncated);
	strbuf_adds(&b, "90");
	cr_assert_not(b.truncated);
	strbuf_adds(&b, "abc");
	cr_assert(b.truncated);
	cr_assert_str_eq(strbuf_str(&b), "1234567890");
	strbuf_clear(&b);
	cr_assert_not(b.truncated);
	cr_assert_str_eq(strbuf_str(&b), "");
}

Test(strbuf, drops_from_either_end)
{
	auto_strbuf b = {0};

	strbuf_consume(&b, 0);
	strbuf_shrink(&b, 0);
	strbuf_adds(&b, "abcdef");
	strbuf_consume(&b, 2);
	cr_assert_str_eq(strbuf_str(&b), "cdef");
	strbuf_shrink(&b, 3);
	cr_assert_str_eq(strbuf_str(&b), "cde");
	strbuf_shrink(&b, 100);
	cr_assert_str_eq(strbuf_str(&b), "cde");
	strbuf_consume(&b, 3);
	cr_assert_str_eq(strbuf_str(&b), "");
	cr_assert_eq(b.size, 0);
}

Test(strbuf, take_leaves_it_empty_and_usable)
{
	auto_strbuf b = {0};
	char *taken;

	strbuf_adds(&b, "a");
	taken = strbuf_take(&b);
	cr_assert_str_eq(taken, "a");
	free(taken);
	strbuf_adds(&b, "b");
	cr_assert_str_eq(strbuf_str(&b), "b");
}
