/* A real etcd that is killed, a process that ends at its commit point. */
#include <signal.h>
#include <sys/wait.h>

#include "base/fault.h"
#include "tests/unit/store/bed.h"
#include "tests/unit/store/etcd_server.h"

#define WRITERS 32
#define KILLS   5

/* One writer raises its own key, each time guarded by the revision that it knows. */
struct writer {
	struct load *load;
	char key[64], value[16];
	uint64_t n; /* of the value last sent */
	int64_t revision;
	bool busy, in_doubt;
	int acked, doubts, failures;
	int64_t *versions; /* acknowledged */
	size_t n_versions, cap;
};

struct load {
	struct bed *bed;
	bool stopping;
	struct writer writers[WRITERS];
};

static void writer_write(struct writer *w);
static void writer_read(struct writer *w);

static void on_written(const struct store_result *r, void *arg)
{
	struct writer *w = arg;

	w->busy = false;
	switch (r->outcome) {
	case STORE_COMMITTED:
		GROW(w->versions, w->n_versions, w->cap);
		w->versions[w->n_versions++] = r->versions[0];
		w->revision = r->revision;
		w->acked++;
		break;
	case STORE_CONFLICT:
		cr_assert(w->in_doubt, "%s: %s", w->key, r->err.text);
		writer_read(w);
		return;
	case STORE_UNKNOWN:
		w->in_doubt = true;
		w->doubts++;
		break;
	case STORE_FAILED:
		cr_assert_eq(r->err.code, ERR_UNAVAILABLE, "%s", r->err.text);
		w->failures++;
		break;
	}
	writer_write(w);
}

/* What a writer in doubt does after the compare has told it that its write happened. */
static void on_read(const struct store_item *items, size_t n, bool more, int64_t revision,
		    const struct error *err, void *arg)
{
	struct writer *w = arg;

	w->busy = false;
	if (!err) {
		cr_assert_eq(n, 1);
		w->revision = items[0].revision;
		w->in_doubt = false;
	}
	writer_write(w);
}

static void writer_read(struct writer *w)
{
	w->busy = true;
	store_range(w->load->bed->store, w->key, NULL, 1, 0, on_read, w);
}

static void writer_write(struct writer *w)
{
	struct store_guard g = guard_mod(w->key, w->revision);
	struct store_write write;

	if (w->load->stopping)
		return;
	w->busy = true;
	snprintf(w->value, sizeof(w->value), "%llu", (unsigned long long)++w->n);
	write = write_of(w->key, w->value);
	store_commit(w->load->bed->store, &(struct store_txn){&g, 1, &write, 1}, on_written, w);
}

static bool load_is_idle(void *arg)
{
	struct load *load = arg;

	for (size_t i = 0; i < WRITERS; i++)
		if (load->writers[i].busy)
			return false;
	return true;
}

static void run_load(struct load *load)
{
	struct bed *bed = load->bed;

	for (size_t i = 0; i < WRITERS; i++) {
		struct writer *w = &load->writers[i];

		w->load = load;
		snprintf(w->key, sizeof(w->key), STORE_PREFIX "load/%02zu/", i);
		writer_write(w);
	}
	for (int i = 0; i < KILLS; i++) {
		bed_sleep(bed, 200 + (int64_t)bed_random(bed, 300));
		etcd_server_kill(bed->etcd);
		bed_sleep(bed, (int64_t)bed_random(bed, 200));
		etcd_server_restart(bed->etcd);
	}
	bed_sleep(bed, 1000);
	load->stopping = true;
	bed_wait(bed, load_is_idle, load);
}

static bool tape_has(const struct tape *t, const char *key, int64_t version)
{
	for (size_t i = 0; i < t->records.n; i++)
		if (t->records.items[i].version == version)
			return !strcmp(t->records.items[i].key, key);
	return false;
}

/* Values of one key rise: nothing was doubled, and nothing came out of order. */
static void check_rising(const struct tape *t)
{
	unsigned long last[WRITERS] = {0};

	for (size_t i = 0; i < t->records.n; i++) {
		const struct record *r = &t->records.items[i];
		size_t writer = strtoul(r->key + strlen(STORE_PREFIX "load/"), NULL, 10);
		unsigned long value = strtoul(r->value, NULL, 10);

		cr_assert_gt(value, last[writer], "%s", r->key);
		last[writer] = value;
	}
}

static void check_acknowledged(const struct load *load, const struct tape *t)
{
	int acked = 0, doubts = 0;

	for (size_t i = 0; i < WRITERS; i++) {
		const struct writer *w = &load->writers[i];

		for (size_t k = 0; k < w->n_versions; k++)
			cr_assert(tape_has(t, w->key, w->versions[k]), "%s lost %lld", w->key,
				  (long long)w->versions[k]);
		acked += w->acked;
		doubts += w->doubts;
	}
	cr_assert_geq(t->records.n, (size_t)acked);
	cr_assert_leq(t->records.n, (size_t)(acked + doubts));
	cr_assert(acked > 100 && doubts > 0, "%d acknowledged, %d in doubt", acked, doubts);
}

Test(faults_etcd, nothing_is_lost_or_doubled_when_etcd_is_killed)
{
	struct load *load = xcalloc(1, sizeof(*load));
	struct bed bed;
	struct tape live, again;
	int64_t end;

	bed_init(&bed, BACKEND_ETCD);
	load->bed = &bed;
	tape_start(&live, bed.store, STORE_PREFIX, 0);
	run_load(load);
	end = version_of(revision_now(&bed), 1023);
	tape_wait_version(&bed, &live, end);
	tape_start(&again, bed.store, STORE_PREFIX, 0);
	tape_wait_version(&bed, &again, end);
	check_acknowledged(load, &live);
	check_rising(&live);
	cr_assert_eq(live.records.n, again.records.n);
	for (size_t i = 0; i < live.records.n; i++)
		assert_same_records(&live.records.items[i], &again.records.items[i], "again");
	tape_finish(&live);
	tape_finish(&again);
	for (size_t i = 0; i < WRITERS; i++)
		free(load->writers[i].versions);
	free(load);
	bed_finish(&bed);
}

/* etcd comes back from an older state: a copy of its data that was made before. */
Test(faults_etcd, a_watch_ends_when_etcd_has_forgotten)
{
	struct bed bed;
	struct tape t;

	bed_init(&bed, BACKEND_ETCD);
	for (int i = 0; i < 20; i++)
		put_now(&bed, STORE_PREFIX "a", "x");
	tape_start(&t, bed.store, STORE_PREFIX, 0);
	tape_wait(&bed, &t, 20);
	etcd_server_kill(bed.etcd);
	etcd_server_wipe(bed.etcd);
	etcd_server_restart(bed.etcd);
	tape_wait_end(&bed, &t);
	cr_assert_eq(t.err.code, ERR_EXPIRED, "%s", t.err.text);
	tape_finish(&t);
	put_now(&bed, STORE_PREFIX "a", "y");
	bed_finish(&bed);
}

/* In a child, which ends at its second write of three. */
static int run_child(struct bed *bed, const char *fault)
{
	pid_t pid = fork();
	int status;

	if (!pid) {
		struct bed own = {.loop = loop_create(), .etcd = bed->etcd};
		const struct store_write w[] = {write_of(STORE_PREFIX "a", "1"),
						write_of(STORE_PREFIX "b", "1"),
						write_of(STORE_PREFIX "c", "1")};
		struct commit c;

		setenv("FEDERATOR_FAULT", fault, 1);
		own.store = bed_another_store(&own);
		for (int i = 0; i < 3; i++)
			commit_now(&own, &c, &(struct store_txn){.writes = &w[i], .n_writes = 1});
		_exit(0);
	}
	cr_assert_eq(waitpid(pid, &status, 0), pid);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void assert_keys(struct bed *bed, const char *expected)
{
	char got[8] = "";
	struct page p;

	range_now(bed, &p, STORE_PREFIX, NULL, 0, 0);
	for (size_t i = 0; i < p.records.n; i++)
		got[i] = p.records.items[i].key[strlen(STORE_PREFIX)];
	cr_assert_str_eq(got, expected);
	page_finish(&p);
}

Test(faults_etcd, a_process_ends_before_or_after_its_write)
{
	struct bed bed;

	bed_init(&bed, BACKEND_ETCD);
	cr_assert_eq(run_child(&bed, "exit-before:2"), FAULT_EXIT_STATUS);
	assert_keys(&bed, "a");
	cr_assert_eq(run_child(&bed, "exit-after:2"), FAULT_EXIT_STATUS);
	assert_keys(&bed, "ab");
	cr_assert_eq(run_child(&bed, "exit-after:4"), 0);
	assert_keys(&bed, "abc");
	bed_finish(&bed);
}
