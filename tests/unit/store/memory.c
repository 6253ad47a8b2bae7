/* What only the memory store has: a window of changes of its own size. */
#include "store/history.h"

#include "tests/unit/store/bed.h"

Test(memory, remembers_at_least_its_window)
{
	enum { N = HISTORY_WINDOW + 5000 };
	struct bed bed;
	struct tape t, old;
	int64_t *versions = xcalloc(N, sizeof(*versions));
	struct page p;

	bed_init(&bed, BACKEND_MEMORY);
	put_now(&bed, STORE_PREFIX "still", "here");
	for (int i = 0; i < N; i++) {
		char key[64];

		snprintf(key, sizeof(key), STORE_PREFIX "k%d", i % 7);
		versions[i] = put_now(&bed, key, i % 7 == 6 ? NULL : "x");
		if (i % 7 == 6)
			versions[i] = put_now(&bed, key, "y");
	}
	tape_start(&old, bed.store, STORE_PREFIX, versions[0]);
	tape_start(&t, bed.store, STORE_PREFIX, versions[N - HISTORY_WINDOW / 8 * 7 + 1]);
	tape_wait_end(&bed, &old);
	cr_assert_eq(old.err.code, ERR_EXPIRED);
	tape_wait_version(&bed, &t, versions[N - 1]);
	cr_assert_geq(t.records.n, HISTORY_WINDOW / 8 * 7 - 2);
	range_now(&bed, &p, STORE_PREFIX, NULL, 0, version_revision(versions[N - 5000]));
	cr_assert(!p.failed && p.records.n == 8, "%s", p.err.text);
	page_finish(&p);
	range_now(&bed, &p, STORE_PREFIX, NULL, 0, version_revision(versions[10]));
	cr_assert(p.failed && p.err.code == ERR_EXPIRED);
	page_finish(&p);
	assert_value(&bed, STORE_PREFIX "still", "here");
	tape_finish(&old);
	tape_finish(&t);
	bed_finish(&bed);
	free(versions);
}
