/* Leadership, on both implementations. */
#include "store/election.h"

#include "tests/unit/store/bed.h"
#include "tests/unit/store/etcd_server.h"

#define KEY STORE_SESSIONS "leader"
#define TTL 5

struct candidate {
	struct bed *bed;
	struct election *election;
	int elected, deposed;
	bool left;
	int64_t deposed_ms;
};

static void on_elected(void *arg)
{
	struct candidate *c = arg;

	cr_assert(election_is_leader(c->election));
	c->elected++;
}

static void on_deposed(void *arg)
{
	struct candidate *c = arg;

	cr_assert(!election_is_leader(c->election));
	c->deposed++;
	c->deposed_ms = env_mono_ms(loop_env(c->bed->loop));
}

static void on_left(void *arg)
{
	struct candidate *c = arg;

	c->left = true;
}

static void candidate_start(struct candidate *c, struct bed *bed, const char *identity)
{
	const struct election_callbacks callbacks = {on_elected, on_deposed, c};

	*c = (struct candidate){.bed = bed};
	c->election = election_create(bed->store, bed->loop, "leader", identity, TTL, &callbacks);
	cr_assert(!election_is_leader(c->election));
}

static void candidate_leave(struct candidate *c)
{
	election_destroy(c->election, on_left, c);
	cr_assert(!c->left, "called back from inside the call");
	bed_wait_flag(c->bed, &c->left);
}

static bool is_elected(void *arg)
{
	struct candidate *c = arg;

	return c->elected > c->deposed;
}

static bool is_deposed(void *arg)
{
	struct candidate *c = arg;

	return c->deposed > 0;
}

static enum store_outcome write_as(struct candidate *c, struct store_guard guard)
{
	const struct store_write w = write_of(STORE_PREFIX "led", "x");
	struct commit commit;

	commit_now(c->bed, &commit, &(struct store_txn){&guard, 1, &w, 1});
	return commit.outcome;
}

static void the_only_candidate_leads(struct bed *bed)
{
	struct candidate c;
	struct store_guard guard;
	char *key;

	candidate_start(&c, bed, "https://one");
	bed_wait(bed, is_elected, &c);
	cr_assert_str_eq(election_leader(c.election), "https://one");
	guard = election_guard(c.election);
	cr_assert_eq(write_as(&c, guard), STORE_COMMITTED);
	guard.key = KEY;
	candidate_leave(&c);
	cr_assert_eq(write_as(&c, guard), STORE_CONFLICT, "wrote after it had left");
	key = get_now(bed, KEY);
	cr_assert_null(key);
}

static bool sees_leader(void *arg)
{
	struct candidate *c = arg;

	return election_leader(c->election) != NULL;
}

static void another_follows_a_leader_that_leaves(struct bed *bed)
{
	struct candidate a, b;
	int64_t left_ms;

	candidate_start(&a, bed, "the same");
	bed_wait(bed, is_elected, &a);
	candidate_start(&b, bed, "the same");
	bed_wait(bed, sees_leader, &b);
	bed_sleep(bed, 1500);
	cr_assert(b.elected == 0 && a.deposed == 0);
	cr_assert_str_eq(election_leader(b.election), "the same");
	candidate_leave(&a);
	left_ms = env_mono_ms(loop_env(bed->loop));
	bed_wait(bed, is_elected, &b);
	cr_assert_lt(env_mono_ms(loop_env(bed->loop)) - left_ms, 3000);
	cr_assert_eq(a.deposed, 0, "who leaves is not told of it");
	candidate_leave(&b);
}

static void one_of_many_leads(struct bed *bed)
{
	struct candidate c[5];
	int leaders = 0;

	for (int i = 0; i < 5; i++)
		candidate_start(&c[i], bed, "x");
	bed_sleep(bed, 1500);
	for (int i = 0; i < 5; i++)
		leaders += election_is_leader(c[i].election);
	cr_assert_eq(leaders, 1);
	for (int i = 0; i < 5; i++)
		candidate_leave(&c[i]);
}

static void a_leader_stays_past_its_first_lease(struct bed *bed)
{
	struct candidate c;

	candidate_start(&c, bed, "x");
	bed_wait(bed, is_elected, &c);
	bed_sleep(bed, TTL * 1000 + 2500);
	cr_assert(election_is_leader(c.election) && c.elected == 1 && !c.deposed);
	candidate_leave(&c);
}

static void a_leader_whose_key_is_gone_is_deposed(struct bed *bed)
{
	struct candidate c;
	struct store_guard guard;

	candidate_start(&c, bed, "x");
	bed_wait(bed, is_elected, &c);
	guard = election_guard(c.election);
	guard.key = KEY;
	put_now(bed, KEY, NULL);
	put_now(bed, KEY, "0123456789abcdef another");
	cr_assert_eq(write_as(&c, guard), STORE_CONFLICT);
	bed_wait(bed, is_deposed, &c);
	bed_wait(bed, sees_leader, &c);
	cr_assert_str_eq(election_leader(c.election), "another");
	put_now(bed, KEY, NULL);
	bed_wait(bed, is_elected, &c);
	cr_assert_eq(c.elected, 2);
	candidate_leave(&c);
}

static void a_lost_answer_does_not_lose_the_election(struct bed *bed)
{
	struct candidate c;
	int64_t before = revision_now(bed);

	setenv("FEDERATOR_FAULT", "lose-answer:1", 1);
	candidate_start(&c, bed, "x");
	bed_wait(bed, is_elected, &c);
	cr_assert_eq(election_guard(c.election).revision, before + 1, "its first try counts");
	cr_assert_eq(write_as(&c, election_guard(c.election)), STORE_COMMITTED);
	candidate_leave(&c);
}

static void left_at_any_moment(struct bed *bed)
{
	for (int i = 0; i < 6; i++) {
		struct candidate c;

		candidate_start(&c, bed, "x");
		bed_sleep(bed, i);
		candidate_leave(&c);
	}
	election_destroy(NULL, NULL, NULL);
}

#define CASES(X)                                                                                   \
	X(the_only_candidate_leads)                                                                \
	X(another_follows_a_leader_that_leaves)                                                    \
	X(one_of_many_leads)                                                                       \
	X(a_leader_stays_past_its_first_lease)                                                     \
	X(a_leader_whose_key_is_gone_is_deposed)                                                   \
	X(a_lost_answer_does_not_lose_the_election)                                                \
	X(left_at_any_moment)

#define X(name)                                                                                    \
	Test(election_memory, name)                                                                \
	{                                                                                          \
		struct bed bed;                                                                    \
                                                                                                   \
		bed_init(&bed, BACKEND_MEMORY);                                                    \
		name(&bed);                                                                        \
		bed_finish(&bed);                                                                  \
	}                                                                                          \
	Test(election_etcd, name)                                                                  \
	{                                                                                          \
		struct bed bed;                                                                    \
                                                                                                   \
		bed_init(&bed, BACKEND_ETCD);                                                      \
		name(&bed);                                                                        \
		bed_finish(&bed);                                                                  \
	}
CASES(X)
#undef X

Test(election_etcd, deposed_in_time_when_etcd_is_gone)
{
	struct bed bed;
	struct candidate c;
	int64_t killed_ms;

	bed_init(&bed, BACKEND_ETCD);
	candidate_start(&c, &bed, "x");
	bed_wait(&bed, is_elected, &c);
	etcd_server_kill(bed.etcd);
	killed_ms = env_mono_ms(loop_env(bed.loop));
	bed_wait(&bed, is_deposed, &c);
	cr_assert_leq(c.deposed_ms - killed_ms, TTL * 1000);
	etcd_server_restart(bed.etcd);
	bed_wait(&bed, is_elected, &c);
	candidate_leave(&c);
	bed_finish(&bed);
}
