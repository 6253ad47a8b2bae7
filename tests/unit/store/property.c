/*
 * Random transactions, many at a time, on both implementations: what the store answered, what a
 * watch saw, and what a range reads must be one and the same history; and a watch that is cut
 * behind any event and resumed sees the rest of it.
 */
#include <inttypes.h>

#include "tests/unit/store/bed.h"

#define N_KEYS   12
#define N_TXNS   160
#define MAX_PART 4

struct random_txn {
	struct store_guard guards[MAX_PART];
	struct store_write writes[MAX_PART];
	size_t n_guards, n_writes;
	char value[16];
	struct commit commit;
};

struct history_check {
	struct bed *bed;
	char keys[N_KEYS][48];
	struct random_txn *txns;
	struct tape tape;
};

static void keys_init(struct history_check *h)
{
	static const char *const kinds[] = {"jobs", "queues", "-"};

	for (size_t i = 0; i < N_KEYS; i++)
		snprintf(h->keys[i], sizeof(h->keys[i]), STORE_PREFIX "%s/k%zu", kinds[i % 3], i);
}

/* The last change of a key among the first n records; NULL: none. */
static const struct record *newest(const struct tape *t, size_t n, const char *key)
{
	while (n--)
		if (!strcmp(t->records.items[n].key, key))
			return &t->records.items[n];
	return NULL;
}

static int64_t state_revision(const struct record *r, enum store_target target)
{
	if (!r || r->deleted)
		return 0;
	return target == STORE_MOD ? r->revision : r->create_revision;
}

/* Mostly what the watch has shown last, so that guards hold and fail in about equal parts. */
static struct store_guard random_guard(struct history_check *h, const char *key)
{
	enum store_target target = bed_random(h->bed, 3) ? STORE_MOD : STORE_CREATE;
	int64_t revision = state_revision(newest(&h->tape, h->tape.records.n, key), target);

	if (!bed_random(h->bed, 5))
		revision = (int64_t)bed_random(h->bed, 10);
	return (struct store_guard){.key = key, .target = target, .revision = revision};
}

static void random_txn_make(struct history_check *h, size_t number)
{
	struct random_txn *x = &h->txns[number];
	size_t first = bed_random(h->bed, N_KEYS);

	snprintf(x->value, sizeof(x->value), "v%zu", number);
	x->n_guards = bed_random(h->bed, MAX_PART);
	x->n_writes = !x->n_guards + bed_random(h->bed, MAX_PART);
	for (size_t i = 0; i < x->n_writes; i++) {
		const char *key = h->keys[(first + i * 5) % N_KEYS];

		x->writes[i] = write_of(key, bed_random(h->bed, 3) ? x->value : NULL);
	}
	for (size_t i = 0; i < x->n_guards; i++)
		x->guards[i] = random_guard(h, h->keys[bed_random(h->bed, N_KEYS)]);
}

static void run_txns(struct history_check *h)
{
	size_t started = 0;

	while (started < N_TXNS) {
		size_t burst = 1 + bed_random(h->bed, 25), from = started;

		for (; started < N_TXNS && started - from < burst; started++) {
			struct random_txn *x = &h->txns[started];

			random_txn_make(h, started);
			commit_start(h->bed, &x->commit,
				     &(struct store_txn){x->guards, x->n_guards, x->writes,
							 x->n_writes});
		}
		for (; from < started; from++)
			bed_wait_flag(h->bed, &h->txns[from].commit.done);
	}
	tape_wait_version(h->bed, &h->tape, version_of(revision_now(h->bed), 1023));
}

static size_t find_version(const struct tape *t, int64_t version)
{
	for (size_t i = 0; i < t->records.n; i++)
		if (t->records.items[i].version == version)
			return i;
	return t->records.n;
}

static size_t check_writes(struct history_check *h, const struct random_txn *x)
{
	size_t seen = 0;

	for (size_t i = 0; i < x->n_writes; i++) {
		size_t at = find_version(&h->tape, x->commit.versions[i]);
		const struct record *r = &h->tape.records.items[at];

		if (!x->commit.versions[i]) {
			cr_assert_null(x->writes[i].value, "a put without a version");
			continue;
		}
		cr_assert_lt(at, h->tape.records.n, "%s: acknowledged, not seen", x->value);
		cr_assert_str_eq(r->key, x->writes[i].key);
		cr_assert_eq(r->deleted, !x->writes[i].value);
		cr_assert(r->deleted || !strcmp(r->value, x->value));
		seen++;
	}
	return seen;
}

static int64_t first_version(const struct random_txn *x)
{
	int64_t first = INT64_MAX;

	for (size_t i = 0; i < x->n_writes; i++)
		if (x->commit.versions[i] && x->commit.versions[i] < first)
			first = x->commit.versions[i];
	return first;
}

/* A guard holds on the state before the first write of its own transaction. */
static void check_guards(struct history_check *h, const struct random_txn *x)
{
	size_t n = 0;

	while (n < h->tape.records.n && h->tape.records.items[n].version < first_version(x))
		n++;
	for (size_t i = 0; i < x->n_guards; i++) {
		const struct store_guard *g = &x->guards[i];
		const struct record *r = newest(&h->tape, n, g->key);

		if (r && r->deleted)
			r = NULL;
		cr_assert_eq(state_revision(r, g->target), g->revision,
			     "%s was committed against its guard on %s", x->value, g->key);
	}
}

static void check_outcomes(struct history_check *h)
{
	size_t seen = 0, conflicts = 0;

	for (size_t i = 0; i < N_TXNS; i++) {
		const struct random_txn *x = &h->txns[i];
		size_t wrote;

		conflicts += x->commit.outcome == STORE_CONFLICT;
		if (x->commit.outcome == STORE_CONFLICT)
			continue;
		cr_assert_eq(x->commit.outcome, STORE_COMMITTED, "%s", x->commit.err.text);
		wrote = check_writes(h, x);
		if (wrote)
			check_guards(h, x);
		seen += wrote;
	}
	cr_assert_eq(seen, h->tape.records.n, "a watch saw what nobody wrote");
	cr_assert(conflicts > 5 && conflicts < N_TXNS - 5, "%zu conflicts", conflicts);
}

static void check_order(struct history_check *h)
{
	size_t shared = 0;

	for (size_t i = 1; i < h->tape.records.n; i++) {
		const struct record *r = &h->tape.records.items[i];

		cr_assert_lt(r[-1].version, r->version);
		cr_assert_eq(version_revision(r->version), r->revision);
		shared += r[-1].revision == r->revision;
	}
	cr_assert_gt(shared, 10, "too few writes shared a revision to test it");
}

static void check_range(struct history_check *h)
{
	struct page p;
	size_t live = 0;

	range_now(h->bed, &p, STORE_PREFIX, NULL, 0, 0);
	for (size_t i = 0; i < N_KEYS; i++) {
		const struct record *r = newest(&h->tape, h->tape.records.n, h->keys[i]);

		live += r && !r->deleted;
	}
	cr_assert_eq(live, p.records.n);
	for (size_t i = 0; i < p.records.n; i++) {
		const struct record *r = &p.records.items[i];

		assert_same_records(r, newest(&h->tape, h->tape.records.n, r->key), "range");
	}
	page_finish(&p);
}

static void check_rest(struct history_check *h, struct tape *t, size_t from, const char *prefix)
{
	size_t n = 0;

	for (size_t i = from; i < h->tape.records.n; i++) {
		const struct record *r = &h->tape.records.items[i];

		if (strncmp(r->key, prefix, strlen(prefix)))
			continue;
		cr_assert_lt(n, t->records.n, "%s lost behind a cut", r->key);
		assert_same_records(r, &t->records.items[n++], "resumed");
	}
	cr_assert_eq(n, t->records.n);
}

/* Behind every event one watch of all and one of a prefix. */
static void check_cuts(struct history_check *h)
{
	static const char *const prefixes[] = {STORE_PREFIX, STORE_PREFIX "queues/"};
	size_t n = h->tape.records.n;
	int64_t end = h->tape.records.items[n - 1].version;
	struct tape *t = xcalloc(n, sizeof(*t));

	for (size_t p = 0; p < 2; p++) {
		for (size_t i = 0; i < n - 1; i++)
			tape_start(&t[i], h->bed->store, prefixes[p],
				   h->tape.records.items[i].version);
		for (size_t i = 0; i < n - 1; i++) {
			tape_wait_version(h->bed, &t[i], end);
			check_rest(h, &t[i], i + 1, prefixes[p]);
			tape_finish(&t[i]);
		}
	}
	free(t);
}

static void check_history(struct bed *bed)
{
	struct history_check h = {.bed = bed};

	h.txns = xcalloc(N_TXNS, sizeof(*h.txns));
	keys_init(&h);
	tape_start(&h.tape, bed->store, STORE_PREFIX, 0);
	run_txns(&h);
	check_order(&h);
	check_outcomes(&h);
	check_range(&h);
	/* one more, so that the last watch has something to wait for */
	tape_wait_version(bed, &h.tape, put_now(bed, STORE_PREFIX "queues/end", "end"));
	check_cuts(&h);
	tape_finish(&h.tape);
	free(h.txns);
}

Test(property_memory, one_history)
{
	struct bed bed;

	bed_init(&bed, BACKEND_MEMORY);
	for (int i = 0; i < 5; i++) {
		struct bed again = bed;

		again.store = store_memory_create(bed.loop);
		again.seed = bed_random(&bed, UINT64_MAX);
		check_history(&again);
		store_destroy(again.store);
	}
	bed_finish(&bed);
}

Test(property_etcd, one_history)
{
	struct bed bed;

	bed_init(&bed, BACKEND_ETCD);
	check_history(&bed);
	bed_finish(&bed);
}
