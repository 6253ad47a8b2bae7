#include "base/map.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <unistd.h>

struct entry {
	char name[16];
	UT_hash_handle hh;
};

TestSuite(map);

static void map_fill(struct entry **map, struct entry *entries, int n)
{
	for (int i = 0; i < n; i++) {
		snprintf(entries[i].name, sizeof(entries[i].name), "key-%d", i);
		HASH_ADD_STR(*map, name, &entries[i]);
	}
}

Test(map, finds_what_was_added_and_iterates_in_order)
{
	static struct entry entries[2000];
	struct entry *map = NULL, *e, *next;
	int i = 0;

	map_fill(&map, entries, 2000);
	HASH_FIND_STR(map, "key-1234", e);
	cr_assert_eq(e, &entries[1234]);
	HASH_FIND_STR(map, "key-2000", e);
	cr_assert_null(e);
	HASH_ITER (hh, map, e, next) {
		cr_assert_eq(e, &entries[i]);
		i++;
		HASH_DEL(map, e);
	}
	cr_assert_eq(i, 2000);
	cr_assert_null(map);
}

Test(map, seed_can_be_fixed)
{
	setenv("FEDERATOR_SEED", "12345", 1);
	cr_assert_eq(map_seed(), 12345);
	setenv("FEDERATOR_SEED", "1", 1);
	cr_assert_eq(map_seed(), 12345, "the seed must not change while maps exist");
}

/* Each Criterion test is a process of its own; two of this program's seeds must differ. */
Test(map, seed_differs_between_processes)
{
	uint64_t seeds[2];
	int fds[2];

	unsetenv("FEDERATOR_SEED");
	cr_assert_eq(pipe(fds), 0);
	for (int i = 0; i < 2; i++) {
		if (fork() == 0) {
			uint64_t seed = map_seed();

			_exit(write(fds[1], &seed, sizeof(seed)) != sizeof(seed));
		}
		cr_assert_eq(read(fds[0], &seeds[i], sizeof(seeds[i])), sizeof(seeds[i]));
	}
	cr_assert_neq(seeds[0], seeds[1]);
}
