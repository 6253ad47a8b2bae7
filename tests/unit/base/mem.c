#include "base/mem.h"

#include <criterion/criterion.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>

TestSuite(mem);

Test(mem, zero_sizes_give_pointers)
{
	auto_xfree void *a = xmalloc(0);
	auto_xfree void *b = xcalloc(0, 8);
	auto_xfree void *c = xrealloc(NULL, 0, 8);

	cr_assert(a && b && c);
}

Test(mem, impossible_sizes_end_the_process, .signal = SIGABRT)
{
	void *volatile p = xrealloc(NULL, SIZE_MAX / 2, 4);

	free(p);
}

Test(mem, grow_keeps_what_was_there)
{
	auto_xfree int *items = NULL;
	size_t n = 0, cap = 0;

	for (int i = 0; i < 1000; i++) {
		GROW(items, n, cap);
		items[n++] = i;
	}
	cr_assert_geq(cap, 1000);
	for (int i = 0; i < 1000; i++)
		cr_assert_eq(items[i], i);
}

Test(mem, take_hands_out_and_leaves_null)
{
	char *a = xstrndup("abcdef", 3);
	char *b = take_ptr(a);

	cr_assert_null(a);
	cr_assert_str_eq(b, "abc");
	free(b);
}

Test(mem, arena_gives_zeroed_aligned_memory_of_any_size)
{
	static const size_t sizes[] = {0, 1, 15, 16, 17, 4095, 4096, 4097, 100000, 3};
	struct arena a = {0};

	for (int round = 0; round < 3; round++) {
		for (size_t i = 0; i < ARRAY_LEN(sizes); i++) {
			char *p = arena_alloc(&a, sizes[i]);

			cr_assert_eq((uintptr_t)p % 16, 0);
			for (size_t j = 0; j < sizes[i]; j++)
				cr_assert_eq(p[j], 0);
			memset(p, 0xaa, sizes[i]);
		}
	}
	arena_finish(&a);
	cr_assert_null(a.blocks);
	arena_finish(&a);
}

Test(mem, arena_strings_are_copies_that_end)
{
	struct arena a = {0};
	char source[] = "hello world";
	char *whole = arena_strdup(&a, source), *part = arena_strndup(&a, source, 5);
	char *text = arena_printf(&a, "%s-%d", source, 42);

	memset(source, 'x', sizeof(source) - 1);
	cr_assert_str_eq(whole, "hello world");
	cr_assert_str_eq(part, "hello");
	cr_assert_str_eq(text, "hello world-42");
	cr_assert_null(arena_strdup(&a, NULL));
	arena_finish(&a);
}
