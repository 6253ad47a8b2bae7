/*
 * Random transactions, many at a time, on both implementations: what the store answered, what a
 * watch saw, and what a range reads must be one and the same history; and a watch that is cut
 * behind any event and resumed sees the rest of it.
 */
#include "tests/unit/property.h"
#include "tests/unit/store/bed.h"

#define N_KEYS   12
#define MAX_TXNS 320
#define MAX_PART 4
#define LAST_KEY STORE_PREFIX "queues/last"

struct random_txn {
	struct store_guard guards[MAX_PART];
	struct store_write writes[MAX_PART];
	size_t n_guards, n_writes;
	char value[24];
	struct commit commit;
};

struct history_check {
	struct bed *bed;
	struct draw *draw;
	size_t n_txns;
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
	enum store_target target = draw_below(h->draw, 3) ? STORE_MOD : STORE_CREATE;
	int64_t revision = state_revision(newest(&h->tape, h->tape.records.n, key), target);

	if (draw_one_in(h->draw, 5))
		revision = (int64_t)draw_below(h->draw, 10);
	return (struct store_guard){.key = key, .target = target, .revision = revision};
}

static void random_txn_make(struct history_check *h, size_t number)
{
	struct random_txn *x = &h->txns[number];
	size_t first = draw_below(h->draw, N_KEYS);

	snprintf(x->value, sizeof(x->value), "v%zu", number);
	x->n_guards = draw_below(h->draw, MAX_PART);
	x->n_writes = !x->n_guards + draw_below(h->draw, MAX_PART);
	for (size_t i = 0; i < x->n_writes; i++) {
		const char *key = h->keys[(first + i * 5) % N_KEYS];

		x->writes[i] = write_of(key, draw_below(h->draw, 3) ? x->value : NULL);
	}
	for (size_t i = 0; i < x->n_guards; i++)
		x->guards[i] = random_guard(h, h->keys[draw_below(h->draw, N_KEYS)]);
}

static void run_txns(struct history_check *h)
{
	size_t started = 0;

	while (started < h->n_txns) {
		size_t burst = 1 + draw_below(h->draw, 25), from = started;

		for (; started < h->n_txns && started - from < burst; started++) {
			struct random_txn *x = &h->txns[started];

			random_txn_make(h, started);
			commit_start(h->bed, &x->commit,
				     &(struct store_txn){x->guards, x->n_guards, x->writes,
							 x->n_writes});
		}
		for (; from < started; from++)
			bed_wait_flag(h->bed, &h->txns[from].commit.done);
	}
}

/* The transactions may have written nothing, and a watch tells its progress behind what it sees:
 * so there is always one write more, the last of all. */
static void run_to_the_last(struct history_check *h)
{
	run_txns(h);
	tape_wait_version(h->bed, &h->tape, put_now(h->bed, LAST_KEY, "last"));
}

static size_t find_version(const struct tape *t, int64_t version)
{
	for (size_t i = 0; i < t->records.n; i++)
		if (t->records.items[i].version == version)
			return i;
	return t->records.n;
}

/* How much of what is claimed was tried: the sum over all cases. */
static size_t n_conflicts, n_committed, n_shared;

static bool check_write(struct history_check *h, const struct random_txn *x, size_t i)
{
	size_t at = find_version(&h->tape, x->commit.versions[i]);
	const struct record *r = &h->tape.records.items[at];

	if (!x->commit.versions[i])
		return !x->writes[i].value ||
		       draw_fail(h->draw, "%s: a put without a version", x->value);
	if (at == h->tape.records.n)
		return draw_fail(h->draw, "%s: acknowledged, not seen", x->value);
	if (strcmp(r->key, x->writes[i].key) || r->deleted != !x->writes[i].value ||
	    (!r->deleted && strcmp(r->value, x->value)))
		return draw_fail(h->draw, "%s of %s is seen as %s of %s", x->value,
				 x->writes[i].key, r->deleted ? "deletion" : r->value, r->key);
	return true;
}

static bool check_writes(struct history_check *h, const struct random_txn *x, size_t *seen)
{
	for (size_t i = 0; i < x->n_writes; i++) {
		if (!check_write(h, x, i))
			return false;
		*seen += x->commit.versions[i] != 0;
	}
	return true;
}

static int64_t first_version(const struct random_txn *x)
{
	int64_t first = INT64_MAX;

	for (size_t i = 0; i < x->n_writes; i++)
		if (x->commit.versions[i] && x->commit.versions[i] < first)
			first = x->commit.versions[i];
	return first;
}

/* A guard holds on the state before the first write of its own transaction; what wrote nothing
 * shows no such time. */
static bool check_guards(struct history_check *h, const struct random_txn *x)
{
	size_t n = 0;

	if (first_version(x) == INT64_MAX)
		return true;
	while (n < h->tape.records.n && h->tape.records.items[n].version < first_version(x))
		n++;
	for (size_t i = 0; i < x->n_guards; i++) {
		const struct store_guard *g = &x->guards[i];

		if (state_revision(newest(&h->tape, n, g->key), g->target) != g->revision)
			return draw_fail(h->draw, "%s was committed against its guard on %s",
					 x->value, g->key);
	}
	return true;
}

static bool check_outcomes(struct history_check *h)
{
	size_t seen = 1; /* the last */

	for (size_t i = 0; i < h->n_txns; i++) {
		const struct random_txn *x = &h->txns[i];

		draw_count(h->draw,
			   x->commit.outcome == STORE_CONFLICT ? &n_conflicts : &n_committed);
		if (x->commit.outcome == STORE_CONFLICT)
			continue;
		if (x->commit.outcome != STORE_COMMITTED)
			return draw_fail(h->draw, "%s: %s", x->value, x->commit.err.text);
		if (!check_writes(h, x, &seen) || !check_guards(h, x))
			return false;
	}
	return seen == h->tape.records.n || draw_fail(h->draw, "a watch saw what nobody wrote");
}

static bool check_order(struct history_check *h)
{
	for (size_t i = 0; i < h->tape.records.n; i++) {
		const struct record *r = &h->tape.records.items[i];

		if (version_revision(r->version) != r->revision)
			return draw_fail(h->draw, "%s: a version of another revision", r->key);
		if (i && r[-1].version >= r->version)
			return draw_fail(h->draw, "%s comes before %s", r->key, r[-1].key);
		if (i && r[-1].revision == r->revision)
			draw_count(h->draw, &n_shared);
	}
	return true;
}

static bool check_range(struct history_check *h)
{
	struct page p;
	size_t live = 1; /* the last */
	bool good = true;

	range_now(h->bed, &p, STORE_PREFIX, NULL, 0, 0);
	for (size_t i = 0; i < N_KEYS; i++) {
		const struct record *r = newest(&h->tape, h->tape.records.n, h->keys[i]);

		live += r && !r->deleted;
	}
	for (size_t i = 0; good && i < p.records.n; i++) {
		const struct record *r =
			newest(&h->tape, h->tape.records.n, p.records.items[i].key);

		good = (r && same_records(&p.records.items[i], r)) ||
		       draw_fail(h->draw, "%s: a range reads what no watch saw",
				 p.records.items[i].key);
	}
	if (good && live != p.records.n)
		good = draw_fail(h->draw, "%zu keys live, a range reads %zu", live, p.records.n);
	page_finish(&p);
	return good;
}

static bool check_rest(struct history_check *h, const struct tape *t, size_t from,
		       const char *prefix)
{
	size_t n = 0;

	for (size_t i = from; i < h->tape.records.n; i++) {
		const struct record *r = &h->tape.records.items[i];

		if (strncmp(r->key, prefix, strlen(prefix)))
			continue;
		if (n == t->records.n || !same_records(r, &t->records.items[n++]))
			return draw_fail(h->draw, "%s is lost behind a cut", r->key);
	}
	return n == t->records.n || draw_fail(h->draw, "a resumed watch sees too much");
}

/* Behind every event one watch of the prefix. */
static bool check_cuts(struct history_check *h, const char *prefix)
{
	size_t n = h->tape.records.n;
	int64_t end = h->tape.records.items[n - 1].version;
	struct tape *t = xcalloc(n, sizeof(*t));
	bool good = true;

	for (size_t i = 0; i < n - 1; i++)
		tape_start(&t[i], h->bed->store, prefix, h->tape.records.items[i].version);
	for (size_t i = 0; i < n - 1; i++) {
		tape_wait_version(h->bed, &t[i], end);
		good = good && check_rest(h, &t[i], i + 1, prefix);
		tape_finish(&t[i]);
	}
	free(t);
	return good;
}

static bool check_history(struct history_check *h)
{
	return check_order(h) && check_outcomes(h) && check_range(h) &&
	       check_cuts(h, STORE_PREFIX) && check_cuts(h, STORE_PREFIX "queues/");
}

static bool is_one_history(struct bed *bed, struct draw *d, size_t n_txns)
{
	struct history_check h = {.bed = bed, .draw = d, .n_txns = n_txns};
	bool good;

	h.txns = xcalloc(n_txns + 1, sizeof(*h.txns));
	keys_init(&h);
	tape_start(&h.tape, bed->store, STORE_PREFIX, 0);
	run_to_the_last(&h);
	good = check_history(&h);
	tape_finish(&h.tape);
	free(h.txns);
	return good;
}

static void check_tried(void)
{
	cr_expect(n_conflicts > 5 && n_committed > 5 && n_shared > 10,
		  "%zu conflicts, %zu committed, %zu writes shared a revision", n_conflicts,
		  n_committed, n_shared);
}

static struct bed memory;

static bool memory_is_one_history(struct draw *d)
{
	struct bed bed = memory;
	bool good;

	bed.store = store_memory_create(bed.loop);
	good = is_one_history(&bed, d, draw_below(d, MAX_TXNS));
	store_destroy(bed.store);
	return good;
}

Test(property_memory, one_history)
{
	bed_init(&memory, BACKEND_MEMORY);
	property_check(memory_is_one_history, 10);
	check_tried();
	bed_finish(&memory);
}

static struct bed etcd;

static bool etcd_is_one_history(struct draw *d)
{
	return is_one_history(&etcd, d, MAX_TXNS / 2 + draw_below(d, MAX_TXNS / 2));
}

/* One case, and not a small one: this store cannot begin anew, and so not with a smaller case
 * either. */
Test(property_etcd, one_history)
{
	bed_init(&etcd, BACKEND_ETCD);
	property_check_once(etcd_is_one_history, etcd.seed);
	check_tried();
	bed_finish(&etcd);
}

static bool etcd_is_nothing_at_first(struct draw *d)
{
	return is_one_history(&etcd, d, 0);
}

/* As above when no transaction writes: all conflict, or delete what is absent. */
Test(property_etcd, history_of_nothing)
{
	bed_init(&etcd, BACKEND_ETCD);
	property_check_once(etcd_is_nothing_at_first, etcd.seed);
	bed_finish(&etcd);
}
