#include "tests/unit/store/suite.h"

#define KEY(name) STORE_PREFIX "test/" name

static void assert_value(struct bed *bed, const char *key, const char *expected)
{
	auto_xfree char *value = get_now(bed, key);

	if (!expected)
		cr_assert_null(value, "%s is there", key);
	else
		cr_assert(value && !strcmp(value, expected), "%s is %s, not %s", key, value,
			  expected);
}

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

static void wait_all(struct bed *bed, const struct commit *c, size_t n)
{
	for (size_t i = 0; i < n; i++)
		bed_wait_flag(bed, &c[i].done);
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
	wait_all(bed, c, 50);
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
	wait_all(bed, c, 120);
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
	wait_all(bed, c, N);
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
		wait_all(bed, c, 3);
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
	wait_all(bed, c, N);
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
	wait_all(bed, c, N);
	for (size_t i = 0; i < N; i++)
		cr_assert_eq(c[i].outcome, STORE_COMMITTED, "%s", c[i].err.text);
	free(c);
}

static void assert_keys(struct bed *bed, const char *prefix, const char *after, size_t limit,
			bool more, const char *expected)
{
	char got[256] = "";
	struct page p;
	size_t used = 0;

	range_now(bed, &p, prefix, after, limit, 0);
	cr_assert(!p.failed, "%s", p.err.text);
	for (size_t i = 0; i < p.records.n; i++)
		used += (size_t)snprintf(got + used, sizeof(got) - used, "%s ",
					 p.records.items[i].key + strlen(KEY("")));
	cr_assert_str_eq(got, expected);
	cr_assert_eq(p.more, more);
	page_finish(&p);
}

void suite_ranges_in_byte_order_by_pages(struct bed *bed)
{
	static const char *const keys[] = {KEY("b/\xc3\xa9"), KEY("b/z"), KEY("b0"),  KEY("b"),
					   KEY("b/"),         KEY("a"),   KEY("b/A"), KEY("c/x")};

	for (size_t i = 0; i < ARRAY_LEN(keys); i++)
		put_now(bed, keys[i], "");
	assert_keys(bed, KEY(""), NULL, 0, false, "a b b/ b/A b/z b/\xc3\xa9 b0 c/x ");
	assert_keys(bed, KEY("b/"), NULL, 0, false, "b/ b/A b/z b/\xc3\xa9 ");
	assert_keys(bed, KEY("b/"), NULL, 2, true, "b/ b/A ");
	assert_keys(bed, KEY("b/"), KEY("b/A"), 2, false, "b/z b/\xc3\xa9 ");
	assert_keys(bed, KEY("b/"), KEY("b/A"), 1, true, "b/z ");
	assert_keys(bed, KEY("b/"), KEY("b/B"), 1, true, "b/z ");
	assert_keys(bed, KEY("b/"), KEY("a"), 1, true, "b/ ");
	assert_keys(bed, KEY("b/"), KEY("b/\xc3\xa9"), 1, false, "");
	assert_keys(bed, KEY("b/"), KEY("c"), 1, false, "");
	assert_keys(bed, KEY("d"), NULL, 1, false, "");
	assert_keys(bed, KEY("c/x"), NULL, 1, false, "c/x ");
}

static void assert_past(struct bed *bed, int64_t revision, const char *a, const char *b)
{
	const char *expected[] = {a, b};
	struct page p;
	size_t n = 0;

	range_now(bed, &p, KEY(""), NULL, 0, revision);
	cr_assert(!p.failed, "%s", p.err.text);
	cr_assert_eq(p.revision, revision);
	for (size_t i = 0; i < 2; i++)
		if (expected[i]) {
			cr_assert_lt(n, p.records.n);
			cr_assert_str_eq(p.records.items[n++].value, expected[i]);
		}
	cr_assert_eq(n, p.records.n);
	page_finish(&p);
}

static void assert_past_fails(struct bed *bed, int64_t revision, enum error_code code)
{
	struct page p;

	range_now(bed, &p, KEY(""), NULL, 0, revision);
	cr_assert(p.failed && p.err.code == code, "revision %lld: %s", (long long)revision,
		  p.err.text);
	page_finish(&p);
}

void suite_ranges_of_the_past(struct bed *bed)
{
	int64_t r = version_revision(put_now(bed, KEY("a"), "1"));

	put_now(bed, KEY("b"), "2");
	put_now(bed, KEY("a"), "3");
	put_now(bed, KEY("a"), NULL);
	put_now(bed, KEY("a"), "5");
	put_now(bed, KEY("b"), NULL);
	for (int again = 0; again < 2; again++) {
		if (!again) {
			assert_past(bed, r, "1", NULL);
			assert_past(bed, r + 1, "1", "2");
		}
		assert_past(bed, r + 2, "3", "2");
		assert_past(bed, r + 3, NULL, "2");
		assert_past(bed, r + 4, "5", "2");
		assert_past(bed, r + 5, "5", NULL);
		assert_past_fails(bed, r + 6, ERR_BAD_REQUEST);
		compact_now(bed, r + 2, -1);
	}
	assert_past_fails(bed, r + 1, ERR_EXPIRED);
	compact_now(bed, r + 2, -1);
	compact_now(bed, r + 1, -1);
	compact_now(bed, r + 6, ERR_BAD_REQUEST);
	compact_now(bed, r + 5, -1);
	assert_past(bed, r + 5, "5", NULL);
	assert_past_fails(bed, r + 4, ERR_EXPIRED);
}

void suite_a_range_sees_what_was_acknowledged(struct bed *bed)
{
	for (int i = 0; i < 30; i++) {
		char value[16];

		snprintf(value, sizeof(value), "%d", i);
		put_now(bed, KEY("a"), value);
		assert_value(bed, KEY("a"), value);
	}
}

void suite_watches_history_then_live(struct bed *bed)
{
	int64_t first = put_now(bed, KEY("a"), "1"), last;
	struct tape all, tail;

	put_now(bed, KEY("b"), "2");
	put_now(bed, KEY("a"), NULL);
	tape_start(&all, bed->store, STORE_PREFIX, 0);
	tape_start(&tail, bed->store, STORE_PREFIX, first);
	tape_wait(bed, &all, 3);
	last = put_now(bed, KEY("a"), "4");
	tape_wait_version(bed, &all, last);
	tape_wait_version(bed, &tail, last);
	cr_assert_eq(all.records.n, 4);
	cr_assert_eq(tail.records.n, 3);
	cr_assert_eq(all.records.items[0].version, first);
	cr_assert_str_eq(all.records.items[1].value, "2");
	cr_assert(all.records.items[2].deleted && !all.records.items[2].create_revision);
	cr_assert_eq(all.records.items[3].version, last);
	cr_assert_eq(all.records.items[3].create_revision, version_revision(last));
	for (size_t i = 0; i < 3; i++)
		assert_same_records(&all.records.items[i + 1], &tail.records.items[i], "tail");
	tape_finish(&all);
	tape_finish(&tail);
}

void suite_watches_only_its_prefix(struct bed *bed)
{
	struct tape t;
	const struct store_write w[] = {write_of(KEY("a/1"), "x"), write_of(KEY("b/1"), "x"),
					write_of(KEY("a/0"), NULL), write_of(KEY("b/0"), NULL)};
	struct commit c;

	put_now(bed, KEY("a/0"), "x");
	put_now(bed, KEY("b/0"), "x");
	tape_start(&t, bed->store, KEY("b/"), 0);
	commit_now(bed, &c, &(struct store_txn){.writes = w, .n_writes = ARRAY_LEN(w)});
	tape_wait_version(bed, &t, version_of(c.revision, 1023));
	cr_assert_eq(t.records.n, 3);
	cr_assert_eq(t.records.items[1].version, c.versions[1]);
	cr_assert_eq(t.records.items[2].version, c.versions[3], "counted among all writes");
	tape_finish(&t);
}

void suite_a_watch_behind_a_compaction_ends(struct bed *bed)
{
	int64_t first = put_now(bed, KEY("a"), "1"), second, last;
	struct tape old, cut, whole, live;

	tape_start(&live, bed->store, STORE_PREFIX, 0);
	second = put_now(bed, KEY("a"), "2");
	last = put_now(bed, KEY("a"), "3");
	tape_wait_version(bed, &live, last);
	compact_now(bed, version_revision(second), -1);
	tape_start(&old, bed->store, STORE_PREFIX, first);
	tape_start(&cut, bed->store, STORE_PREFIX, version_of(version_revision(second), 0));
	tape_start(&whole, bed->store, STORE_PREFIX, version_of(version_revision(second), 1023));
	tape_wait_end(bed, &old);
	tape_wait_end(bed, &cut);
	cr_assert(old.err.code == ERR_EXPIRED && !old.records.n, "%s", old.err.text);
	cr_assert(cut.err.code == ERR_EXPIRED && !cut.records.n, "%s", cut.err.text);
	tape_wait(bed, &whole, 1);
	cr_assert_eq(whole.records.items[0].version, last);
	put_now(bed, KEY("a"), "4");
	tape_wait(bed, &whole, 2);
	tape_wait(bed, &live, 4);
	tape_finish(&old);
	tape_finish(&cut);
	tape_finish(&whole);
	tape_finish(&live);
}

void suite_a_watch_of_the_future_waits(struct bed *bed)
{
	int64_t now = put_now(bed, KEY("a"), "1");
	struct tape t;

	tape_start(&t, bed->store, STORE_PREFIX, version_of(version_revision(now) + 2, 1023));
	for (int i = 0; i < 3; i++)
		now = put_now(bed, KEY("a"), "x");
	tape_wait_version(bed, &t, now);
	cr_assert_eq(t.records.n, 1);
	cr_assert_eq(t.records.items[0].version, now);
	tape_finish(&t);
}

struct stopper {
	struct bed *bed;
	struct store_watch *own, *other;
	size_t events, others;
};

static void on_stopper_event(const struct store_event *event, void *arg)
{
	struct stopper *s = arg;

	if (++s->events == 2) {
		store_unwatch(s->own, s->bed->store);
		store_unwatch(s->other, s->bed->store);
	}
}

static void on_other_event(const struct store_event *event, void *arg)
{
	struct stopper *s = arg;

	s->others++;
}

static bool has_stopped(void *arg)
{
	struct stopper *s = arg;

	return s->events >= 2;
}

static void on_no_end(const struct error *err, void *arg)
{
	cr_assert_fail("%s", err->text);
}

void suite_unwatch_inside_a_callback(struct bed *bed)
{
	struct stopper s = {.bed = bed};
	const struct store_watcher stopping = {on_stopper_event, NULL, on_no_end, &s};
	const struct store_watcher other = {on_other_event, NULL, on_no_end, &s};
	struct tape t;

	s.own = store_watch(bed->store, STORE_PREFIX, 0, &stopping);
	s.other = store_watch(bed->store, STORE_PREFIX, version_of(1000000, 0), &other);
	tape_start(&t, bed->store, STORE_PREFIX, 0);
	for (int i = 0; i < 4; i++)
		put_now(bed, KEY("a"), "x");
	bed_wait(bed, has_stopped, &s);
	put_now(bed, KEY("a"), "x");
	tape_wait(bed, &t, 5);
	cr_assert_eq(s.events, 2);
	cr_assert_eq(s.others, 0);
	tape_finish(&t);
}

/* 20 MB of values that cannot be deflated: etcd sends them in fragments. */
void suite_a_large_backlog_comes_whole(struct bed *bed)
{
	enum { N = 40, SIZE = 500000 };
	auto_xfree char *bytes = xmalloc(SIZE);
	struct tape t;
	char key[64];

	for (size_t i = 0; i < SIZE; i++)
		bytes[i] = (char)bed_random(bed, 256);
	for (int i = 0; i < N; i++) {
		struct store_write w = {key, bytes, SIZE, 0};
		struct commit c;

		snprintf(key, sizeof(key), KEY("%02d"), i);
		bytes[0] = (char)i;
		commit_now(bed, &c, &(struct store_txn){.writes = &w, .n_writes = 1});
		cr_assert_eq(c.outcome, STORE_COMMITTED, "%s", c.err.text);
	}
	tape_start(&t, bed->store, STORE_PREFIX, 0);
	tape_wait_version(bed, &t, version_of(revision_now(bed), 1023));
	cr_assert_eq(t.records.n, N);
	for (int i = 0; i < N; i++) {
		bytes[0] = (char)i;
		cr_assert_eq(t.records.items[i].size, SIZE);
		cr_assert_arr_eq(t.records.items[i].value, bytes, SIZE);
	}
	tape_finish(&t);
}

struct lease {
	bool done, alive, failed;
	int64_t id;
};

static void on_granted(int64_t lease, const struct error *err, void *arg)
{
	struct lease *l = arg;

	cr_assert(!err, "%s", err->text);
	l->id = lease;
	l->done = true;
}

static void on_kept(bool alive, const struct error *err, void *arg)
{
	struct lease *l = arg;

	cr_assert(!err, "%s", err->text);
	l->alive = alive;
	l->done = true;
}

static void on_revoked(const struct error *err, void *arg)
{
	struct lease *l = arg;

	cr_assert(!err, "%s", err->text);
	l->done = true;
}

static int64_t grant_now(struct bed *bed, int64_t ttl_s)
{
	struct lease l = {0};

	store_lease_grant(bed->store, ttl_s, on_granted, &l);
	cr_assert(!l.done, "called back from inside the call");
	bed_wait_flag(bed, &l.done);
	cr_assert_neq(l.id, 0);
	return l.id;
}

static bool keep_now(struct bed *bed, int64_t id)
{
	struct lease l = {0};

	store_lease_keep(bed->store, id, on_kept, &l);
	cr_assert(!l.done, "called back from inside the call");
	bed_wait_flag(bed, &l.done);
	return l.alive;
}

static void revoke_now(struct bed *bed, int64_t id)
{
	struct lease l = {0};

	store_lease_revoke(bed->store, id, on_revoked, &l);
	cr_assert(!l.done, "called back from inside the call");
	bed_wait_flag(bed, &l.done);
}

static enum store_outcome put_leased(struct bed *bed, const char *key, int64_t lease)
{
	const struct store_write w = {key, "x", 1, lease};
	struct commit c;

	commit_now(bed, &c, &(struct store_txn){.writes = &w, .n_writes = 1});
	if (c.outcome == STORE_FAILED)
		cr_assert_eq(c.err.code, ERR_NOT_FOUND, "%s", c.err.text);
	return c.outcome;
}

void suite_keys_of_a_lease_go_with_it(struct bed *bed)
{
	int64_t revoked = grant_now(bed, 60), expired = grant_now(bed, 2);
	struct tape t;
	int64_t last;

	cr_assert_eq(put_leased(bed, STORE_SESSIONS "r2", revoked), STORE_COMMITTED);
	cr_assert_eq(put_leased(bed, STORE_SESSIONS "r1", revoked), STORE_COMMITTED);
	cr_assert_eq(put_leased(bed, STORE_SESSIONS "freed", revoked), STORE_COMMITTED);
	cr_assert_eq(put_leased(bed, STORE_SESSIONS "e", expired), STORE_COMMITTED);
	last = put_now(bed, STORE_SESSIONS "freed", "without a lease now");
	tape_start(&t, bed->store, STORE_PREFIX, last);
	revoke_now(bed, revoked);
	revoke_now(bed, revoked);
	cr_assert(!keep_now(bed, revoked));
	cr_assert_eq(put_leased(bed, STORE_SESSIONS "late", revoked), STORE_FAILED);
	tape_wait(bed, &t, 3);
	cr_assert_str_eq(t.records.items[0].key, STORE_SESSIONS "r1");
	cr_assert_str_eq(t.records.items[1].key, STORE_SESSIONS "r2");
	cr_assert_eq(t.records.items[0].version, version_of(t.records.items[0].revision, 0));
	cr_assert_eq(t.records.items[1].version, t.records.items[0].version + 1);
	cr_assert_str_eq(t.records.items[2].key, STORE_SESSIONS "e");
	cr_assert(t.records.items[2].deleted);
	cr_assert(!keep_now(bed, expired));
	assert_value(bed, STORE_SESSIONS "freed", "without a lease now");
	tape_finish(&t);
}

void suite_a_lease_that_is_kept_lives(struct bed *bed)
{
	int64_t lease = grant_now(bed, 2);

	cr_assert_eq(put_leased(bed, STORE_SESSIONS "k", lease), STORE_COMMITTED);
	for (int i = 0; i < 5; i++) {
		bed_sleep(bed, 800);
		cr_assert(keep_now(bed, lease));
	}
	assert_value(bed, STORE_SESSIONS "k", "x");
	revoke_now(bed, lease);
	assert_value(bed, STORE_SESSIONS "k", NULL);
}

void suite_forgotten_calls_are_not_answered(struct bed *bed)
{
	const struct store_write w[] = {write_of(KEY("a"), "1"), write_of(KEY("b"), "1")};
	struct lease l = {0}, k = {0};
	struct page p, kept;
	struct commit c[2];

	for (size_t i = 0; i < 2; i++)
		commit_start(bed, &c[i], &(struct store_txn){.writes = &w[i], .n_writes = 1});
	range_start(bed, &p, KEY(""), NULL, 0, 0);
	range_start(bed, &kept, KEY(""), NULL, 0, 0);
	store_lease_grant(bed->store, 60, on_granted, &l);
	store_lease_keep(bed->store, 1, on_kept, &k);
	store_forget(bed->store, &c[1]);
	store_forget(bed->store, &p);
	store_forget(bed->store, &l);
	store_forget(bed->store, &k);
	bed_wait_flag(bed, &c[0].done);
	bed_wait_flag(bed, &kept.done);
	put_now(bed, KEY("b"), "2");
	revoke_now(bed, 1);
	cr_assert(!c[1].done && !p.done && !l.done && !k.done);
	page_finish(&kept);
}

void suite_destroyed_in_the_middle_of_its_work(struct bed *bed)
{
	struct commit c[150];
	struct lease l = {0};
	struct page p;
	struct tape t;
	char key[64];

	put_now(bed, KEY("a"), "1");
	tape_start(&t, bed->store, STORE_PREFIX, 0);
	for (size_t i = 0; i < 150; i++) {
		struct store_write w;

		snprintf(key, sizeof(key), KEY("%zu"), i % 60);
		w = write_of(key, "x");
		commit_start(bed, &c[i], &(struct store_txn){.writes = &w, .n_writes = 1});
	}
	range_start(bed, &p, KEY(""), NULL, 0, 0);
	store_lease_grant(bed->store, 60, on_granted, &l);
	store_compact(bed->store, 2, on_revoked, &l);
	if (bed_random(bed, 2))
		bed_wait_flag(bed, &c[0].done);
	store_destroy(take_ptr(bed->store));
	for (size_t i = 1; i < 150; i++)
		c[i].done = true; /* an answer that comes now fails the test */
	t.ended = true;
	bed_sleep(bed, 50);
	records_finish(&t.records);
	page_finish(&p);
}

void suite_a_lost_answer_is_an_unknown_outcome(struct bed *bed)
{
	const struct store_write w[] = {write_of(KEY("a"), "1"), write_of(KEY("b"), "1"),
					write_of(KEY("c"), "1")};
	const struct store_guard never = guard_mod(KEY("x"), 77);
	struct commit c[3];

	setenv("FEDERATOR_FAULT", "lose-answer:2", 1);
	for (size_t i = 0; i < 3; i++)
		commit_start(bed, &c[i], &(struct store_txn){&never, i == 2, &w[i], 1});
	wait_all(bed, c, 3);
	cr_assert_eq(c[0].outcome, STORE_COMMITTED);
	cr_assert(c[1].outcome == STORE_UNKNOWN && c[1].err.code == ERR_UNKNOWN_OUTCOME);
	cr_assert_eq(c[2].outcome, STORE_CONFLICT);
	assert_value(bed, KEY("b"), "1");
}
