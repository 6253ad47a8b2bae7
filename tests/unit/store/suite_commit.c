/* Transactions: what is written, when, and what is answered. */
#include "tests/unit/store/suite.h"

void suite_reads_back_what_was_written(struct bed *bed)
{
	int64_t before = revision_now(bed), first = put_now(bed, KEY("a"), "one"), second;
	struct page p;

	cr_assert_eq(first, version_of(before + 1, 0));
	second = put_now(bed, KEY("a"), "two");
	cr_assert_eq(second, version_of(before + 2, 0));
	range_now(bed, &p, KEY("a"), NULL, 0, 0);
	cr_assert_eq(p.records.n, 1);
	cr_assert_eq(p.revision, before + 2);
	cr_assert_str_eq(p.records.items[0].key, KEY("a"));
	cr_assert_str_eq(p.records.items[0].value, "two");
	cr_assert_eq(p.records.items[0].version, second);
	cr_assert_eq(p.records.items[0].revision, before + 2);
	cr_assert_eq(p.records.items[0].create_revision, before + 1);
	page_finish(&p);
	put_now(bed, KEY("a"), NULL);
	assert_value(bed, KEY("a"), NULL);
}

static void check_bytes(struct bed *bed, const char *bytes, size_t size)
{
	const struct store_write w = {.key = KEY("bytes"), .value = bytes, .size = size};
	struct commit c;
	struct page p;

	commit_now(bed, &c, &(struct store_txn){.writes = &w, .n_writes = 1});
	cr_assert_eq(c.outcome, STORE_COMMITTED, "%s", c.err.text);
	range_now(bed, &p, KEY("bytes"), NULL, 0, 0);
	cr_assert_eq(p.records.n, 1);
	cr_assert_eq(p.records.items[0].size, size);
	cr_assert_arr_eq(p.records.items[0].value, bytes, size);
	page_finish(&p);
}

void suite_keeps_any_bytes(struct bed *bed)
{
	static const size_t sizes[] = {0,   1,   2,   3,    4,     255,
				       511, 512, 513, 1024, 70000, STORE_MAX_VALUE};
	auto_xfree char *bytes = xcalloc(1, STORE_MAX_VALUE);

	for (size_t i = 0; i < ARRAY_LEN(sizes); i++)
		check_bytes(bed, bytes, sizes[i]);
	for (size_t i = 0; i < STORE_MAX_VALUE; i++)
		bytes[i] = (char)bed_random(bed, 256);
	for (size_t i = 0; i < ARRAY_LEN(sizes); i++)
		check_bytes(bed, bytes, sizes[i]);
}

void suite_refuses_what_is_too_large(struct bed *bed)
{
	auto_xfree char *bytes = xcalloc(1, STORE_MAX_VALUE + 1);
	const struct store_write large = {.key = KEY("large"), bytes, STORE_MAX_VALUE + 1};
	struct store_write many[STORE_MAX_WRITES + 1];
	char keys[STORE_MAX_WRITES + 1][64];
	struct commit c;

	for (size_t i = 0; i < ARRAY_LEN(many); i++) {
		snprintf(keys[i], sizeof(keys[i]), KEY("many/%03zu"), i);
		many[i] = write_of(keys[i], "x");
	}
	commit_now(bed, &c, &(struct store_txn){.writes = &large, .n_writes = 1});
	cr_assert(c.outcome == STORE_FAILED && c.err.code == ERR_TOO_LARGE);
	commit_now(bed, &c, &(struct store_txn){.writes = many, .n_writes = ARRAY_LEN(many)});
	cr_assert(c.outcome == STORE_FAILED && c.err.code == ERR_TOO_LARGE);
	assert_value(bed, KEY("large"), NULL);
	assert_value(bed, KEY("many/001"), NULL);
	commit_now(bed, &c, &(struct store_txn){.writes = many, .n_writes = STORE_MAX_WRITES});
	cr_assert_eq(c.outcome, STORE_COMMITTED, "%s", c.err.text);
	for (size_t i = 0; i < STORE_MAX_WRITES; i++)
		cr_assert_eq(c.versions[i], version_of(c.revision, (int64_t)i));
}

static enum store_outcome try_guard(struct bed *bed, struct store_guard g, const char *value)
{
	const struct store_write w[] = {write_of(KEY("b"), value), write_of(KEY("c"), value)};
	struct commit c;

	commit_now(bed, &c, &(struct store_txn){&g, 1, w, ARRAY_LEN(w)});
	if (c.outcome == STORE_CONFLICT) {
		cr_assert_eq(c.err.code, ERR_CONFLICT);
		cr_assert(strstr(c.err.text, g.key), "%s", c.err.text);
	}
	return c.outcome;
}

void suite_commits_only_when_all_guards_hold(struct bed *bed)
{
	int64_t first = version_revision(put_now(bed, KEY("a"), "1"));
	int64_t second = version_revision(put_now(bed, KEY("a"), "2"));
	const struct store_guard both[] = {guard_mod(KEY("a"), second), guard_mod(KEY("z"), 7)};
	const struct store_write w = write_of(KEY("b"), "never");
	struct commit c;

	cr_assert_eq(try_guard(bed, guard_mod(KEY("a"), 0), "-"), STORE_CONFLICT);
	cr_assert_eq(try_guard(bed, guard_mod(KEY("a"), first), "-"), STORE_CONFLICT);
	cr_assert_eq(try_guard(bed, guard_create(KEY("a"), second), "-"), STORE_CONFLICT);
	cr_assert_eq(try_guard(bed, guard_create(KEY("a"), 0), "-"), STORE_CONFLICT);
	cr_assert_eq(try_guard(bed, guard_mod(KEY("z"), first), "-"), STORE_CONFLICT);
	commit_now(bed, &c, &(struct store_txn){both, 2, &w, 1});
	cr_assert_eq(c.outcome, STORE_CONFLICT);
	assert_value(bed, KEY("b"), NULL);
	assert_value(bed, KEY("c"), NULL);
	cr_assert_eq(revision_now(bed), second);
	cr_assert_eq(try_guard(bed, guard_mod(KEY("a"), second), "1"), STORE_COMMITTED);
	cr_assert_eq(try_guard(bed, guard_create(KEY("a"), first), "2"), STORE_COMMITTED);
	cr_assert_eq(try_guard(bed, guard_mod(KEY("z"), 0), "3"), STORE_COMMITTED);
	cr_assert_eq(try_guard(bed, guard_create(KEY("z"), 0), "4"), STORE_COMMITTED);
	assert_value(bed, KEY("b"), "4");
	assert_value(bed, KEY("c"), "4");
	commit_now(bed, &c, &(struct store_txn){both, 1, NULL, 0});
	cr_assert_eq(c.outcome, STORE_COMMITTED, "guards alone: %s", c.err.text);
	commit_now(bed, &c, &(struct store_txn){both, 2, NULL, 0});
	cr_assert_eq(c.outcome, STORE_CONFLICT, "guards alone");
	cr_assert_eq(revision_now(bed), second + 4);
}

void suite_a_new_life_of_a_key_has_a_new_create_revision(struct bed *bed)
{
	int64_t first = version_revision(put_now(bed, KEY("a"), "1"));
	struct page p;
	int64_t again;

	put_now(bed, KEY("a"), NULL);
	again = version_revision(put_now(bed, KEY("a"), "2"));
	cr_assert_eq(try_guard(bed, guard_create(KEY("a"), first), "-"), STORE_CONFLICT);
	range_now(bed, &p, KEY("a"), NULL, 0, 0);
	cr_assert_eq(p.records.items[0].create_revision, again);
	page_finish(&p);
}

void suite_versions_are_those_that_watchers_see(struct bed *bed)
{
	int64_t from = put_now(bed, KEY("a"), "1");
	const struct store_write w[] = {write_of(KEY("a"), NULL), write_of(KEY("b"), "2"),
					write_of(KEY("absent"), NULL), write_of(KEY("c"), "3")};
	const struct store_write nothing = write_of(KEY("absent"), NULL);
	struct commit c;
	struct tape t;

	tape_start(&t, bed->store, STORE_PREFIX, from);
	commit_now(bed, &c, &(struct store_txn){.writes = w, .n_writes = ARRAY_LEN(w)});
	cr_assert_eq(c.outcome, STORE_COMMITTED, "%s", c.err.text);
	tape_wait(bed, &t, 3);
	cr_assert_eq(c.versions[2], 0, "a delete that found nothing has no version");
	for (size_t k = 0; k < 3; k++)
		for (size_t i = 0; i < ARRAY_LEN(w); i++)
			if (!strcmp(t.records.items[k].key, w[i].key))
				cr_assert_eq(t.records.items[k].version, c.versions[i], "%s",
					     w[i].key);
	for (size_t k = 1; k < 3; k++)
		cr_assert_lt(t.records.items[k - 1].version, t.records.items[k].version);
	commit_now(bed, &c, &(struct store_txn){.writes = &nothing, .n_writes = 1});
	cr_assert(c.outcome == STORE_COMMITTED && c.versions[0] == 0);
	put_now(bed, KEY("d"), "4");
	tape_wait(bed, &t, 4);
	cr_assert_str_eq(t.records.items[3].key, KEY("d"));
	tape_finish(&t);
}

void suite_one_of_many_with_the_same_guard_wins(struct bed *bed)
{
	const struct store_guard absent = guard_mod(KEY("prize"), 0);
	struct commit c[50];
	char values[50][8];
	size_t winner = 50;

	for (size_t i = 0; i < 50; i++) {
		struct store_write w;

		snprintf(values[i], sizeof(values[i]), "%zu", i);
		w = write_of(KEY("prize"), values[i]);
		commit_start(bed, &c[i], &(struct store_txn){&absent, 1, &w, 1});
	}
	commits_wait(bed, c, 50);
	for (size_t i = 0; i < 50; i++) {
		if (c[i].outcome != STORE_COMMITTED) {
			cr_assert_eq(c[i].outcome, STORE_CONFLICT, "%s", c[i].err.text);
			continue;
		}
		cr_assert_eq(winner, 50, "two winners");
		winner = i;
	}
	cr_assert_lt(winner, 50);
	assert_value(bed, KEY("prize"), values[winner]);
}

/* Chains of keys: who waits for a key must not be overtaken on his other key. */
void suite_writes_to_one_key_keep_their_order(struct bed *bed)
{
	static const char *const chains[][2] = {{KEY("a"), KEY("b")},
						{KEY("b"), KEY("c")},
						{KEY("c"), KEY("d")},
						{KEY("d"), KEY("d2")}};
	struct commit c[120];
	struct tape t;
	char value[16];

	tape_start(&t, bed->store, STORE_PREFIX, 0);
	for (size_t i = 0; i < 120; i++) {
		struct store_write w[2];

		snprintf(value, sizeof(value), "%zu", i);
		w[0] = write_of(chains[i % 4][0], value);
		w[1] = write_of(chains[i % 4][1], value);
		commit_start(bed, &c[i],
			     &(struct store_txn){.writes = w, .n_writes = 1 + i % 3 / 2});
		if (i % 30 == 7)
			bed_wait_flag(bed, &c[i / 2].done);
	}
	commits_wait(bed, c, 120);
	tape_wait_version(bed, &t, version_of(revision_now(bed), 1023));
	for (size_t i = 0; i < t.records.n; i++)
		for (size_t k = i + 1; k < t.records.n; k++)
			if (!strcmp(t.records.items[i].key, t.records.items[k].key))
				cr_assert_lt(strtoul(t.records.items[i].value, NULL, 10),
					     strtoul(t.records.items[k].value, NULL, 10), "%s",
					     t.records.items[i].key);
	tape_finish(&t);
}

/* Every third guard fails; deletes of present and absent keys lie between the puts. */
void suite_outcomes_of_transactions_sent_together_are_separate(struct bed *bed)
{
	enum { N = 90 };
	struct commit c[N];
	char keys[N][2][64];
	struct tape t;
	size_t seen = 0;
	int64_t from = 0;

	for (size_t i = 0; i < N; i++) {
		snprintf(keys[i][0], sizeof(keys[i][0]), KEY("put/%zu"), i);
		snprintf(keys[i][1], sizeof(keys[i][1]), KEY("del/%zu"), i);
		if (i % 2)
			from = put_now(bed, keys[i][1], "old");
	}
	tape_start(&t, bed->store, STORE_PREFIX, from);
	for (size_t i = 0; i < N; i++) {
		const struct store_guard g = guard_mod(keys[i][0], i % 3 ? 0 : 1234567);
		const struct store_write w[2] = {
			write_of(keys[i][i % 5 == 0], i % 5 ? "new" : NULL),
			write_of(keys[i][i % 5 != 0], i % 5 ? NULL : "new")};

		commit_start(bed, &c[i], &(struct store_txn){&g, 1, w, 2});
	}
	commits_wait(bed, c, N);
	for (size_t i = 0; i < N; i++) {
		cr_assert_eq(c[i].outcome, i % 3 ? STORE_COMMITTED : STORE_CONFLICT, "%zu: %s", i,
			     c[i].err.text);
		seen += i % 3 ? 1 + i % 2 : 0;
		assert_value(bed, keys[i][0], i % 3 ? "new" : NULL);
		assert_value(bed, keys[i][1], i % 3 || i % 2 == 0 ? NULL : "old");
	}
	tape_wait(bed, &t, seen);
	for (size_t k = 0; k < seen; k++) {
		const struct record *r = &t.records.items[k];
		size_t i = strtoul(r->key + strlen(KEY("put/")), NULL, 10);
		bool is_second = r->deleted == (i % 5 != 0);

		cr_assert(!k || r[-1].version < r->version);
		cr_assert_eq(r->version, c[i].versions[is_second], "%s", r->key);
	}
	tape_finish(&t);
}

void suite_no_write_skew_between_transactions_sent_together(struct bed *bed)
{
	for (size_t round = 0; round < 20; round++) {
		char x[64], y[64];
		struct store_guard no_x, no_y;
		struct store_write put_x, put_y;
		struct commit c[3];

		snprintf(x, sizeof(x), KEY("x%zu"), round);
		snprintf(y, sizeof(y), KEY("y%zu"), round);
		no_x = guard_mod(x, 0);
		no_y = guard_mod(y, 0);
		put_x = write_of(x, "1");
		put_y = write_of(y, "1");
		/* something to be in flight, so that the others gather */
		commit_start(
			bed, &c[2],
			&(struct store_txn){.writes = &(struct store_write){.key = KEY("other"),
									    .value = "",
									    .size = 0},
					    .n_writes = 1});
		commit_start(bed, &c[0], &(struct store_txn){&no_x, 1, &put_y, 1});
		commit_start(bed, &c[1], &(struct store_txn){&no_y, 1, &put_x, 1});
		commits_wait(bed, c, 3);
		cr_assert_eq(c[0].outcome, STORE_COMMITTED);
		cr_assert_eq(c[1].outcome, STORE_CONFLICT);
	}
}

void suite_one_guard_shared_by_many(struct bed *bed)
{
	enum { N = 300 };
	const struct store_guard leader[] = {
		guard_create(KEY("leader"), version_revision(put_now(bed, KEY("leader"), "me"))),
		guard_create(KEY("leader"), 5000)};
	struct commit *c = xcalloc(N, sizeof(*c));
	char key[64];

	for (size_t i = 0; i < N; i++) {
		struct store_write w;

		snprintf(key, sizeof(key), KEY("led/%zu"), i);
		w = write_of(key, "x");
		commit_start(bed, &c[i], &(struct store_txn){&leader[i % 10 == 3], 1, &w, 1});
	}
	commits_wait(bed, c, N);
	for (size_t i = 0; i < N; i++)
		cr_assert_eq(c[i].outcome, i % 10 == 3 ? STORE_CONFLICT : STORE_COMMITTED,
			     "%zu: %s", i, c[i].err.text);
	free(c);
}

/* More keys, guards and bytes than one request to etcd may hold. */
void suite_large_and_small_transactions_together(struct bed *bed)
{
	enum { N = 40, KEYS = 60 };
	struct commit *c = xcalloc(N, sizeof(*c));
	auto_xfree char *large = xmalloc(200000);

	for (size_t i = 0; i < 200000; i++)
		large[i] = (char)bed_random(bed, 256);
	for (size_t i = 0; i < N; i++) {
		struct store_guard g[KEYS];
		struct store_write w[KEYS];
		char keys[KEYS][64];

		for (size_t k = 0; k < KEYS; k++) {
			snprintf(keys[k], sizeof(keys[k]), KEY("%zu/%zu"), i, k);
			g[k] = guard_mod(keys[k], 0);
			w[k] = write_of(keys[k], "small");
		}
		w[0] = (struct store_write){keys[0], large, 200000, 0};
		commit_start(bed, &c[i], &(struct store_txn){g, KEYS, w, i % 2 ? 1 : KEYS});
	}
	commits_wait(bed, c, N);
	for (size_t i = 0; i < N; i++)
		cr_assert_eq(c[i].outcome, STORE_COMMITTED, "%s", c[i].err.text);
	free(c);
}
