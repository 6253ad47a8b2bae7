/* Ranges, of now and of the past, and watches. */
#include "tests/unit/store/suite.h"

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
