/* Leases; calls that are forgotten, cut short, or whose answer is lost. */
#include "tests/unit/store/suite.h"

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
	commits_wait(bed, c, 3);
	cr_assert_eq(c[0].outcome, STORE_COMMITTED);
	cr_assert(c[1].outcome == STORE_UNKNOWN && c[1].err.code == ERR_UNKNOWN_OUTCOME);
	cr_assert_eq(c[2].outcome, STORE_CONFLICT);
	assert_value(bed, KEY("b"), "1");
}
