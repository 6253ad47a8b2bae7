#include "tests/unit/store/bed.h"

#include <inttypes.h>
#include <sys/random.h>

#include "tests/unit/store/etcd_server.h"

#define PATIENCE_MS 30000

static void seed_choose(struct bed *bed)
{
	const char *text = getenv("FEDERATOR_TEST_SEED");

	if (text)
		bed->seed = strtoull(text, NULL, 0);
	else if (getrandom(&bed->seed, sizeof(bed->seed), 0) != sizeof(bed->seed))
		abort();
	cr_log_info("FEDERATOR_TEST_SEED=%" PRIu64, bed->seed);
}

void bed_init(struct bed *bed, enum backend backend)
{
	*bed = (struct bed){.loop = loop_create()};
	seed_choose(bed);
	if (backend == BACKEND_MEMORY) {
		bed->store = store_memory_create(bed->loop);
		return;
	}
	bed->etcd = etcd_server_start();
	bed->store = bed_another_store(bed);
}

struct store *bed_another_store(struct bed *bed)
{
	const struct store_etcd_config config = {.endpoints = etcd_server_url(bed->etcd)};

	return store_etcd_create(bed->loop, &config, NULL);
}

void bed_finish(struct bed *bed)
{
	store_destroy(bed->store);
	loop_destroy(bed->loop);
	etcd_server_stop(bed->etcd);
}

struct turning {
	bool (*done)(void *arg);
	void *arg;
	bool over;
};

static void on_patience(void *arg)
{
	struct turning *t = arg;

	t->over = true;
}

/* Before the loop sleeps: what was waited for may have come in this very turn. */
static void on_prepare(uv_prepare_t *prepare)
{
	struct turning *t = prepare->data;

	if (t->over || (t->done && t->done(t->arg)))
		uv_stop(prepare->loop);
}

/* False: the time was over first. */
static bool turn_until(struct bed *bed, bool (*done)(void *arg), void *arg, int64_t ms)
{
	struct turning t = {.done = done, .arg = arg};
	struct timer *patience = timer_create_in(loop_env(bed->loop), on_patience, &t);
	uv_prepare_t prepare;

	uv_prepare_init(loop_uv(bed->loop), &prepare);
	prepare.data = &t;
	uv_prepare_start(&prepare, on_prepare);
	timer_start(patience, ms);
	loop_run(bed->loop);
	timer_destroy(patience);
	uv_close((uv_handle_t *)&prepare, NULL);
	uv_run(loop_uv(bed->loop), UV_RUN_NOWAIT);
	return !t.over;
}

void bed_wait(struct bed *bed, bool (*done)(void *arg), void *arg)
{
	cr_assert(turn_until(bed, done, arg, PATIENCE_MS),
		  "waited %d ms in vain (FEDERATOR_TEST_SEED=%" PRIu64 ")", PATIENCE_MS, bed->seed);
}

static bool flag_is_set(void *arg)
{
	return *(bool *)arg;
}

void bed_wait_flag(struct bed *bed, const bool *flag)
{
	bed_wait(bed, flag_is_set, (void *)(uintptr_t)flag);
}

void bed_sleep(struct bed *bed, int64_t ms)
{
	turn_until(bed, NULL, NULL, ms);
}

uint64_t bed_random(struct bed *bed, uint64_t below)
{
	uint64_t z = bed->seed += 0x9e3779b97f4a7c15;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
	z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
	return (z ^ (z >> 31)) % below;
}

static void on_commit(const struct store_result *result, void *arg)
{
	struct commit *c = arg;

	cr_assert(!c->done, "answered twice");
	c->done = true;
	c->outcome = result->outcome;
	c->revision = result->revision;
	c->err = result->err;
	if (result->outcome == STORE_COMMITTED && c->n_writes)
		memcpy(c->versions, result->versions, c->n_writes * sizeof(c->versions[0]));
}

void commit_start(struct bed *bed, struct commit *c, const struct store_txn *txn)
{
	*c = (struct commit){.n_writes = txn->n_writes};
	store_commit(bed->store, txn, on_commit, c);
	cr_assert(!c->done, "called back from inside the call");
}

void commit_now(struct bed *bed, struct commit *c, const struct store_txn *txn)
{
	commit_start(bed, c, txn);
	bed_wait_flag(bed, &c->done);
}

void commits_wait(struct bed *bed, const struct commit *c, size_t n)
{
	for (size_t i = 0; i < n; i++)
		bed_wait_flag(bed, &c[i].done);
}

struct store_write write_of(const char *key, const char *value)
{
	return (struct store_write){.key = key, .value = value, .size = value ? strlen(value) : 0};
}

struct store_guard guard_mod(const char *key, int64_t revision)
{
	return (struct store_guard){.key = key, .target = STORE_MOD, .revision = revision};
}

struct store_guard guard_create(const char *key, int64_t revision)
{
	return (struct store_guard){.key = key, .target = STORE_CREATE, .revision = revision};
}

int64_t put_now(struct bed *bed, const char *key, const char *value)
{
	const struct store_write w = write_of(key, value);
	struct commit c;

	commit_now(bed, &c, &(struct store_txn){.writes = &w, .n_writes = 1});
	cr_assert_eq(c.outcome, STORE_COMMITTED, "%s: %s", key, c.err.text);
	return c.versions[0];
}

void records_add(struct records *r, const struct store_item *item, bool deleted)
{
	struct record *to;

	GROW(r->items, r->n, r->cap);
	to = &r->items[r->n++];
	*to = (struct record){.deleted = deleted,
			      .key = xstrdup(item->key),
			      .size = item->size,
			      .version = item->version,
			      .revision = item->revision,
			      .create_revision = item->create_revision};
	if (!deleted) {
		to->value = xcalloc(1, item->size + 1);
		memcpy(to->value, item->value, item->size);
	}
}

void records_finish(struct records *r)
{
	for (size_t i = 0; i < r->n; i++) {
		free(r->items[i].key);
		free(r->items[i].value);
	}
	free(r->items);
	*r = (struct records){0};
}

static void on_page(const struct store_item *items, size_t n, bool more, int64_t revision,
		    const struct error *err, void *arg)
{
	struct page *p = arg;

	cr_assert(!p->done, "answered twice");
	p->done = true;
	p->more = more;
	p->revision = revision;
	p->failed = err != NULL;
	if (err)
		p->err = *err;
	for (size_t i = 0; i < n; i++)
		records_add(&p->records, &items[i], false);
}

void range_start(struct bed *bed, struct page *p, const char *prefix, const char *after,
		 size_t limit, int64_t revision)
{
	*p = (struct page){0};
	store_range(bed->store, prefix, after, limit, revision, on_page, p);
	cr_assert(!p->done, "called back from inside the call");
}

void range_now(struct bed *bed, struct page *p, const char *prefix, const char *after, size_t limit,
	       int64_t revision)
{
	range_start(bed, p, prefix, after, limit, revision);
	bed_wait_flag(bed, &p->done);
}

void page_finish(struct page *p)
{
	records_finish(&p->records);
}

char *get_now(struct bed *bed, const char *key)
{
	char *value = NULL;
	struct page p;

	range_now(bed, &p, key, NULL, 1, 0);
	cr_assert(!p.failed, "%s", p.err.text);
	if (p.records.n && !strcmp(p.records.items[0].key, key))
		value = take_ptr(p.records.items[0].value);
	page_finish(&p);
	return value;
}

void assert_value(struct bed *bed, const char *key, const char *expected)
{
	auto_xfree char *value = get_now(bed, key);

	if (!expected)
		cr_assert_null(value, "%s is there", key);
	else
		cr_assert(value && !strcmp(value, expected), "%s is %s, not %s", key, value,
			  expected);
}

int64_t revision_now(struct bed *bed)
{
	struct page p;

	range_now(bed, &p, STORE_PREFIX "no/such", NULL, 1, 0);
	cr_assert(!p.failed, "%s", p.err.text);
	page_finish(&p);
	return p.revision;
}

struct compaction {
	bool done, failed;
	struct error err;
};

static void on_compacted(const struct error *err, void *arg)
{
	struct compaction *c = arg;

	c->done = true;
	c->failed = err != NULL;
	if (err)
		c->err = *err;
}

void compact_now(struct bed *bed, int64_t revision, int expected_code)
{
	struct compaction c = {0};

	store_compact(bed->store, revision, on_compacted, &c);
	cr_assert(!c.done, "called back from inside the call");
	bed_wait_flag(bed, &c.done);
	if (expected_code < 0)
		cr_assert(!c.failed, "%s", c.err.text);
	else
		cr_assert(c.failed && (int)c.err.code == expected_code, "%s", c.err.text);
}

static void on_event(const struct store_event *event, void *arg)
{
	struct tape *t = arg;

	cr_assert(!t->ended);
	cr_assert(event->item.version > t->progress, "%s came behind its progress",
		  event->item.key);
	records_add(&t->records, &event->item, event->type == STORE_EVENT_DELETE);
}

static void on_progress(int64_t version, void *arg)
{
	struct tape *t = arg;

	cr_assert(version >= t->progress, "progress fell");
	t->progress = version;
}

static void on_ended(const struct error *err, void *arg)
{
	struct tape *t = arg;

	t->ended = true;
	t->err = *err;
	t->watch = NULL;
}

void tape_start(struct tape *t, struct store *s, const char *prefix, int64_t after_version)
{
	const struct store_watcher watcher = {on_event, on_progress, on_ended, t};

	*t = (struct tape){.store = s};
	t->watch = store_watch(s, prefix, after_version, &watcher);
	cr_assert(!t->ended && !t->records.n && !t->progress, "called back from inside the call");
}

struct tape_goal {
	struct tape *tape;
	size_t n;
	int64_t version;
};

static bool tape_has_records(void *arg)
{
	struct tape_goal *goal = arg;

	cr_assert(!goal->tape->ended, "%s", goal->tape->err.text);
	return goal->tape->records.n >= goal->n;
}

void tape_wait(struct bed *bed, struct tape *t, size_t n)
{
	struct tape_goal goal = {.tape = t, .n = n};

	bed_wait(bed, tape_has_records, &goal);
}

static bool tape_has_version(void *arg)
{
	struct tape_goal *goal = arg;

	cr_assert(!goal->tape->ended, "%s", goal->tape->err.text);
	return goal->tape->progress >= goal->version;
}

void tape_wait_version(struct bed *bed, struct tape *t, int64_t version)
{
	struct tape_goal goal = {.tape = t, .version = version};

	bed_wait(bed, tape_has_version, &goal);
}

void tape_wait_end(struct bed *bed, struct tape *t)
{
	bed_wait_flag(bed, &t->ended);
}

void tape_finish(struct tape *t)
{
	store_unwatch(t->watch, t->store);
	records_finish(&t->records);
}

bool same_records(const struct record *a, const struct record *b)
{
	return a->deleted == b->deleted && !strcmp(a->key, b->key) && a->version == b->version &&
	       a->revision == b->revision && a->create_revision == b->create_revision &&
	       a->size == b->size && (a->deleted || !memcmp(a->value, b->value, a->size));
}

void assert_same_records(const struct record *a, const struct record *b, const char *what)
{
	cr_assert(same_records(a, b),
		  "%s: %s%s at %" PRId64 " (created at %" PRId64
		  ", %zu bytes), not %s%s at %" PRId64 " (%" PRId64 ", %zu bytes)",
		  what, a->deleted ? "deletion of " : "", a->key, a->version, a->create_revision,
		  a->size, b->deleted ? "deletion of " : "", b->key, b->version, b->create_revision,
		  b->size);
}
