/* The watch cache: what it shows, when, and to whom. */
#include "store/cache.h"

#include "tests/unit/store/bed.h"
#include "tests/unit/store/etcd_server.h"
#include "tests/unit/store/proxy.h"

#define JOBS     STORE_PREFIX "g/jobs/"
#define STATUSES STORE_PREFIX "g/jobs.status/"
#define QUEUES   STORE_PREFIX "g/queues/"

#define GANGS         STORE_PREFIX "g/gangs/"
#define GANG_STATUSES STORE_PREFIX "g/gangs.status/"

static const struct cache_join joins[] = {
	{JOBS, STATUSES}, {GANGS, GANG_STATUSES, "{\"n\":0}"}, {NULL}};

struct stage {
	struct bed *bed;
	struct proxy *proxy;
	struct cache *cache;
	bool ready;
};

static void on_ready(void *arg)
{
	struct stage *s = arg;

	cr_assert(!s->ready, "ready twice");
	s->ready = true;
}

static void stage_open(struct stage *s, struct bed *bed)
{
	*s = (struct stage){.bed = bed, .proxy = proxy_create(bed->store)};
	s->cache = cache_create(proxy_store(s->proxy), bed->loop, joins, on_ready, s);
	cr_assert_not(s->ready);
}

static void stage_init(struct stage *s, struct bed *bed)
{
	stage_open(s, bed);
	bed_wait_flag(bed, &s->ready);
}

static void stage_finish(struct stage *s)
{
	cache_destroy(s->cache);
	proxy_destroy(s->proxy);
}

/* A document of a few bytes, with a text to tell it by. */
static int64_t put_doc(struct bed *bed, const char *key, const char *text)
{
	auto_xfree char *doc = xasprintf("{\"kind\":\"T\",\"metadata\":{},\"spec\":\"%s\"}", text);

	return put_now(bed, key, doc);
}

static struct store_write doc_write_of(const char *key, const char *text, char *room, size_t size)
{
	snprintf(room, size, "{\"kind\":\"T\",\"metadata\":{},\"spec\":\"%s\"}", text);
	return write_of(key, room);
}

/* Turns the loop until the cache has that version. */
struct version_goal {
	struct cache *cache;
	int64_t version;
};

static bool cache_has(void *arg)
{
	struct version_goal *g = arg;

	return cache_version(g->cache) >= g->version;
}

static void stage_reach(struct stage *s, int64_t version)
{
	struct version_goal g = {s->cache, version};

	bed_wait(s->bed, cache_has, &g);
}

static void assert_doc(struct stage *s, const char *key, const char *part)
{
	struct doc *doc = cache_get(s->cache, key);

	if (!part)
		cr_assert_null(doc, "%s is there", key);
	else
		cr_assert(doc && strstr(doc->bytes, part), "%s: %s", key,
			  doc ? doc->bytes : "absent");
}

/* --- tapes of the cache --- */

struct seen {
	enum cache_event_type type;
	char *key, *bytes, *prev;
	int64_t version;
};

struct cache_tape {
	struct stage *stage;
	struct cache_watch *watch;
	struct seen *items;
	size_t n, cap;
	bool ended;
	enum error_code code;
};

static void on_cache_event(const struct cache_event *e, void *arg)
{
	struct cache_tape *t = arg;

	cr_assert(!t->ended);
	cr_assert(!t->n || t->items[t->n - 1].version < e->version, "versions fell");
	cr_assert_eq(e->doc->version, e->version);
	cr_assert_eq(e->prev == NULL, e->type == CACHE_ADDED);
	GROW(t->items, t->n, t->cap);
	t->items[t->n++] = (struct seen){.type = e->type,
					 .key = xstrdup(e->doc->key),
					 .bytes = xstrdup(e->doc->bytes),
					 .prev = e->prev ? xstrdup(e->prev->bytes) : NULL,
					 .version = e->version};
}

static void on_cache_ended(const struct error *err, void *arg)
{
	struct cache_tape *t = arg;

	t->ended = true;
	t->code = err->code;
	t->watch = NULL;
}

static void cache_tape_start(struct cache_tape *t, struct stage *s, const char *prefix,
			     int64_t after)
{
	struct error err;

	*t = (struct cache_tape){.stage = s};
	t->watch = cache_watch(s->cache, prefix, after, on_cache_event, on_cache_ended, t, &err);
	cr_assert(t->watch, "%s", err.text);
	cr_assert_eq(t->n, 0, "called back from inside the call");
}

static void cache_tape_finish(struct cache_tape *t)
{
	cache_unwatch(t->watch);
	for (size_t i = 0; i < t->n; i++) {
		free(t->items[i].key);
		free(t->items[i].bytes);
		free(t->items[i].prev);
	}
	free(t->items);
}

struct tape_goal {
	struct cache_tape *tape;
	size_t n;
};

static bool tape_has(void *arg)
{
	struct tape_goal *g = arg;

	return g->tape->n >= g->n;
}

static void cache_tape_wait(struct cache_tape *t, size_t n)
{
	struct tape_goal g = {t, n};

	bed_wait(t->stage->bed, tape_has, &g);
	bed_sleep(t->stage->bed, 5); /* for one too many */
	cr_assert_eq(t->n, n);
}

static void assert_seen(const struct seen *e, enum cache_event_type type, const char *key,
			const char *part, const char *prev)
{
	cr_assert_eq(e->type, type, "%s", e->key);
	cr_assert_str_eq(e->key, key);
	cr_assert(strstr(e->bytes, part), "%s", e->bytes);
	cr_assert(prev ? strstr(e->prev, prev) != NULL : !e->prev, "%s", e->prev);
}

/* --- the cases, on both implementations --- */

static bool count_doc(struct doc *doc, void *arg)
{
	size_t *n = arg;

	return ++*n < 1000000;
}

static void loads_what_is_there_page_by_page(struct bed *bed)
{
	enum { N = 1234 };
	struct commit *c = xcalloc(N, sizeof(*c));
	struct stage s;
	size_t n = 0;
	int64_t last = 0;

	for (size_t i = 0; i < N; i++) {
		char key[64], room[128];
		struct store_write w;

		snprintf(key, sizeof(key), QUEUES "%05zu", i);
		w = doc_write_of(key, key, room, sizeof(room));
		commit_start(bed, &c[i], &(struct store_txn){.writes = &w, .n_writes = 1});
	}
	for (size_t i = 0; i < N; i++) {
		bed_wait_flag(bed, &c[i].done);
		cr_assert_eq(c[i].outcome, STORE_COMMITTED);
		last = c[i].versions[0] > last ? c[i].versions[0] : last;
	}
	stage_init(&s, bed);
	cr_assert_geq(cache_version(s.cache), last);
	cache_each(s.cache, QUEUES, NULL, count_doc, &n);
	cr_assert_eq(n, N);
	for (size_t i = 0; i < N; i++) {
		char key[64];
		struct doc *doc;

		snprintf(key, sizeof(key), QUEUES "%05zu", i);
		doc = cache_get(s.cache, key);
		cr_assert(doc && doc->version == c[i].versions[0], "%s", key);
		cr_assert_eq(doc->revision, c[i].revision);
		cr_assert_eq(doc->create_revision, c[i].revision);
	}
	free(c);
	stage_finish(&s);
}

struct listing {
	char text[256];
	size_t limit;
};

static bool add_name(struct doc *doc, void *arg)
{
	struct listing *l = arg;
	size_t used = strlen(l->text);

	snprintf(l->text + used, sizeof(l->text) - used, "%s ",
		 doc->key + strlen(STORE_PREFIX "g/"));
	return --l->limit > 0;
}

static void assert_each(struct stage *s, const char *prefix, const char *after, size_t limit,
			const char *expected)
{
	struct listing l = {.limit = limit};

	cache_each(s->cache, prefix, after, add_name, &l);
	cr_assert_str_eq(l.text, expected);
}

static void lists_in_key_order(struct bed *bed)
{
	struct stage s;

	put_doc(bed, QUEUES "b", "");
	put_doc(bed, QUEUES "a", "");
	put_now(bed, STORE_SESSIONS "leader", "not a document");
	put_now(bed, STATUSES "orphan", "{}");
	put_doc(bed, JOBS "j", "");
	stage_init(&s, bed);
	stage_reach(&s, put_doc(bed, QUEUES "c", ""));
	assert_each(&s, STORE_PREFIX, NULL, 9, "jobs/j queues/a queues/b queues/c ");
	assert_each(&s, QUEUES, NULL, 2, "queues/a queues/b ");
	assert_each(&s, QUEUES, QUEUES "a", 9, "queues/b queues/c ");
	assert_each(&s, QUEUES, QUEUES "aa", 1, "queues/b ");
	assert_each(&s, QUEUES, QUEUES "c", 9, "");
	assert_each(&s, QUEUES, JOBS "x", 1, "queues/a ");
	assert_each(&s, STATUSES, NULL, 9, "");
	assert_doc(&s, STATUSES "orphan", NULL);
	assert_doc(&s, STORE_SESSIONS "leader", NULL);
	assert_doc(&s, QUEUES "a", "spec");
	stage_finish(&s);
}

static void shows_changes_with_what_was_before(struct bed *bed)
{
	struct stage s;
	struct cache_tape t;
	int64_t from, last;

	put_doc(bed, QUEUES "a", "one");
	stage_init(&s, bed);
	from = cache_version(s.cache);
	cache_tape_start(&t, &s, QUEUES, from);
	put_doc(bed, QUEUES "a", "two");
	put_doc(bed, QUEUES "b", "three");
	put_doc(bed, JOBS "other", "");
	put_now(bed, STORE_SESSIONS "x", "y");
	last = put_now(bed, QUEUES "a", NULL);
	cache_tape_wait(&t, 3);
	assert_seen(&t.items[0], CACHE_MODIFIED, QUEUES "a", "two", "one");
	assert_seen(&t.items[1], CACHE_ADDED, QUEUES "b", "three", NULL);
	assert_seen(&t.items[2], CACHE_DELETED, QUEUES "a", "two", "two");
	cr_assert_eq(t.items[2].version, last);
	assert_doc(&s, QUEUES "a", NULL);
	cr_assert_geq(cache_version(s.cache), last);
	cache_tape_finish(&t);
	stage_finish(&s);
}

static void joins_the_status(struct bed *bed)
{
	struct stage s;
	struct cache_tape t;
	int64_t main, status, late_status, late_main;
	struct doc *doc;

	put_doc(bed, JOBS "b", "");
	late_status = put_now(bed, STATUSES "b", "{}");
	put_now(bed, STATUSES "c", "{}");
	late_main = put_doc(bed, JOBS "c", "");
	status = put_now(bed, STATUSES "a", "{\"n\":1}");
	stage_init(&s, bed);
	cr_assert_eq(cache_get(s.cache, JOBS "b")->version, late_status);
	cr_assert_eq(cache_get(s.cache, JOBS "c")->version, late_main);
	cache_tape_start(&t, &s, STORE_PREFIX, cache_version(s.cache));
	assert_doc(&s, JOBS "a", NULL);
	main = put_doc(bed, JOBS "a", "one");
	cache_tape_wait(&t, 1);
	assert_seen(&t.items[0], CACHE_ADDED, JOBS "a", "\"status\":{\"n\":1}", NULL);
	doc = cache_get(s.cache, JOBS "a");
	cr_assert_eq(doc->version, main);
	cr_assert_eq(doc->revision, version_revision(main));
	cr_assert_eq(doc->status_revision, version_revision(status));
	status = put_now(bed, STATUSES "a", "{\"n\":2}");
	cache_tape_wait(&t, 2);
	assert_seen(&t.items[1], CACHE_MODIFIED, JOBS "a", "{\"n\":2}", "{\"n\":1}");
	doc = cache_get(s.cache, JOBS "a");
	cr_assert_eq(doc->version, status);
	cr_assert_eq(doc->revision, version_revision(main));
	cr_assert_eq(doc->status_revision, version_revision(status));
	put_now(bed, STATUSES "a", NULL);
	cache_tape_wait(&t, 3);
	cr_assert(!strstr(t.items[2].bytes, "status"));
	cr_assert_eq(cache_get(s.cache, JOBS "a")->status_revision, 0);
	put_now(bed, STATUSES "a", "{\"n\":3}");
	put_now(bed, JOBS "a", NULL);
	cache_tape_wait(&t, 5);
	assert_seen(&t.items[4], CACHE_DELETED, JOBS "a", "{\"n\":3}", "{\"n\":3}");
	put_now(bed, STATUSES "a", NULL);
	put_doc(bed, JOBS "a", "again");
	cache_tape_wait(&t, 6);
	cr_assert(!strstr(t.items[5].bytes, "status"));
	cache_tape_finish(&t);
	stage_finish(&s);
}

static void shows_the_initial_status_while_there_is_none(struct bed *bed)
{
	struct stage s;
	struct cache_tape t;
	int64_t main;

	put_doc(bed, GANGS "old", "x");
	stage_init(&s, bed);
	assert_doc(&s, GANGS "old", "\"status\":{\"n\":0}");
	cache_tape_start(&t, &s, STORE_PREFIX, cache_version(s.cache));
	main = put_doc(bed, GANGS "a", "x");
	put_now(bed, GANG_STATUSES "a", "{\"n\":1}");
	put_now(bed, GANG_STATUSES "a", NULL);
	cache_tape_wait(&t, 3);
	assert_seen(&t.items[0], CACHE_ADDED, GANGS "a", "\"status\":{\"n\":0}", NULL);
	assert_seen(&t.items[1], CACHE_MODIFIED, GANGS "a", "{\"n\":1}", "{\"n\":0}");
	assert_seen(&t.items[2], CACHE_MODIFIED, GANGS "a", "{\"n\":0}", "{\"n\":1}");
	cr_assert_eq(t.items[0].version, main);
	cr_assert_eq(cache_get(s.cache, GANGS "a")->status_revision, 0);
	cache_tape_finish(&t);
	stage_finish(&s);
}

static void one_transaction_is_one_event_of_a_document(struct bed *bed)
{
	struct stage s;
	struct cache_tape t;
	struct commit c;
	char room[3][128];
	struct store_write w[4];

	stage_init(&s, bed);
	cache_tape_start(&t, &s, STORE_PREFIX, cache_version(s.cache));
	w[0] = write_of(STATUSES "a", "{\"n\":1}");
	w[1] = doc_write_of(QUEUES "q", "x", room[0], sizeof(room[0]));
	w[2] = doc_write_of(JOBS "a", "one", room[1], sizeof(room[1]));
	commit_now(bed, &c, &(struct store_txn){.writes = w, .n_writes = 3});
	cache_tape_wait(&t, 2);
	assert_seen(&t.items[0], CACHE_ADDED, QUEUES "q", "x", NULL);
	assert_seen(&t.items[1], CACHE_ADDED, JOBS "a", "\"status\":{\"n\":1}", NULL);
	cr_assert_eq(t.items[0].version, c.versions[1]);
	cr_assert_eq(t.items[1].version, c.versions[2]);
	w[0] = write_of(JOBS "a", NULL);
	w[1] = write_of(STATUSES "a", NULL);
	commit_now(bed, &c, &(struct store_txn){.writes = w, .n_writes = 2});
	cache_tape_wait(&t, 3);
	assert_seen(&t.items[2], CACHE_DELETED, JOBS "a", "{\"n\":1}", "{\"n\":1}");
	cr_assert_eq(t.items[2].version, c.versions[1]);
	cache_tape_finish(&t);
	stage_finish(&s);
}

struct pair_check {
	struct stage *stage;
	int events;
};

/* Whoever sees one of the pair sees the other in the same state. */
static void on_pair(const struct cache_event *e, void *arg)
{
	struct pair_check *p = arg;
	struct doc *a = cache_get(p->stage->cache, QUEUES "a");
	struct doc *b = cache_get(p->stage->cache, QUEUES "b");

	cr_assert(a && b);
	cr_assert_str_eq(a->bytes, b->bytes);
	p->events++;
}

static bool has_pairs(void *arg)
{
	struct pair_check *p = arg;

	return p->events >= 40;
}

static void no_half_of_a_transaction_is_seen(struct bed *bed)
{
	struct stage s;
	struct pair_check p = {.stage = &s};
	struct cache_watch *watch;
	struct commit c[20];

	stage_init(&s, bed);
	watch = cache_watch(s.cache, STORE_PREFIX, cache_version(s.cache), on_pair, on_cache_ended,
			    &p, NULL);
	for (int i = 0; i < 20; i++) {
		char room[2][128], text[16];
		struct store_write w[2];

		snprintf(text, sizeof(text), "%d", i);
		w[0] = doc_write_of(QUEUES "a", text, room[0], sizeof(room[0]));
		w[1] = doc_write_of(QUEUES "b", text, room[1], sizeof(room[1]));
		commit_start(bed, &c[i], &(struct store_txn){.writes = w, .n_writes = 2});
	}
	bed_wait(bed, has_pairs, &p);
	cache_unwatch(watch);
	stage_finish(&s);
}

static void watches_resume_behind_every_event(struct bed *bed)
{
	struct stage s;
	struct cache_tape all, cut[30];
	struct commit c[30];
	int64_t from;

	stage_init(&s, bed);
	from = cache_version(s.cache);
	cache_tape_start(&all, &s, STORE_PREFIX, from);
	for (int i = 0; i < 30; i++) {
		char room[128], text[16], key[64];
		struct store_write w;

		snprintf(text, sizeof(text), "%d", i);
		snprintf(key, sizeof(key), QUEUES "%d", i % 20);
		w = i % 7 == 6 && i > 20 ? write_of(key, NULL)
					 : doc_write_of(key, text, room, sizeof(room));
		commit_start(bed, &c[i], &(struct store_txn){.writes = &w, .n_writes = 1});
	}
	cache_tape_wait(&all, 30);
	for (size_t i = 0; i < 30; i++)
		cache_tape_start(&cut[i], &s, STORE_PREFIX, all.items[i].version);
	for (size_t i = 0; i < 30; i++) {
		cache_tape_wait(&cut[i], 29 - i);
		for (size_t k = i + 1; k < 30; k++) {
			cr_assert_eq(cut[i].items[k - i - 1].version, all.items[k].version);
			cr_assert_eq(cut[i].items[k - i - 1].type, all.items[k].type);
			cr_assert_str_eq(cut[i].items[k - i - 1].bytes, all.items[k].bytes);
		}
		cache_tape_finish(&cut[i]);
	}
	cache_tape_finish(&all);
	stage_finish(&s);
}

struct wait {
	bool done, failed;
	enum error_code code;
};

static void on_waited(const struct error *err, void *arg)
{
	struct wait *w = arg;

	cr_assert(!w->done, "answered twice");
	w->done = true;
	w->failed = err != NULL;
	if (err)
		w->code = err->code;
}

static void waits_for_a_version(struct bed *bed)
{
	struct stage s;
	struct wait past = {0}, next = {0}, never = {0}, forgotten = {0};
	int64_t version;

	stage_init(&s, bed);
	version = cache_version(s.cache);
	cache_wait(s.cache, version, 1000, on_waited, &past);
	cr_assert(!past.done, "called back from inside the call");
	cache_wait(s.cache, version + 1, 20000, on_waited, &next);
	cache_wait(s.cache, version + 1000000, 300, on_waited, &never);
	cache_wait(s.cache, version + 1, 100, on_waited, &forgotten);
	cache_forget(s.cache, &forgotten);
	bed_wait_flag(bed, &past.done);
	cr_assert(!past.failed && !next.done && !never.done);
	bed_wait_flag(bed, &never.done);
	cr_assert(never.failed && never.code == ERR_TIMEOUT && !next.done);
	put_doc(bed, QUEUES "a", "x");
	bed_wait_flag(bed, &next.done);
	cr_assert(!next.failed && !forgotten.done);
	assert_doc(&s, QUEUES "a", "x");
	cache_wait(s.cache, version + 1000000, 300, on_waited, &forgotten);
	stage_finish(&s);
}

static void a_fresh_read_sees_what_was_acknowledged(struct bed *bed)
{
	struct stage s;

	stage_init(&s, bed);
	for (int i = 0; i < 20; i++) {
		struct wait fresh = {0};
		char text[16];

		snprintf(text, sizeof(text), "%d!", i);
		put_doc(bed, QUEUES "a", text);
		cache_fresh(s.cache, on_waited, &fresh);
		cr_assert(!fresh.done, "called back from inside the call");
		bed_wait_flag(bed, &fresh.done);
		cr_assert(!fresh.failed);
		assert_doc(&s, QUEUES "a", text);
	}
	stage_finish(&s);
}

/* Reads before the write was asked for must not serve who asks after it. */
static void fresh_reads_share_one_read_that_starts_after_them(struct bed *bed)
{
	struct stage s;
	struct wait early[3] = {0}, late[3] = {0}, cancelled = {0};
	int before;

	stage_init(&s, bed);
	before = proxy_ranges(s.proxy);
	proxy_hold_ranges(s.proxy, true);
	for (int i = 0; i < 3; i++)
		cache_fresh(s.cache, on_waited, &early[i]);
	for (int i = 0; i < 3; i++)
		cache_fresh(s.cache, on_waited, &late[i]);
	cache_fresh(s.cache, on_waited, &cancelled);
	cache_forget(s.cache, &cancelled);
	bed_sleep(bed, 20);
	cr_assert_eq(proxy_ranges(s.proxy), before + 1, "the first read, alone");
	proxy_hold_ranges(s.proxy, false);
	for (int i = 0; i < 3; i++) {
		bed_wait_flag(bed, &early[i].done);
		bed_wait_flag(bed, &late[i].done);
		cr_assert(!early[i].failed && !late[i].failed);
	}
	cr_assert_eq(proxy_ranges(s.proxy), before + 2, "one more for all who asked meanwhile");
	cr_assert(!cancelled.done);
	stage_finish(&s);
}

static void a_view_held_back_is_old_and_says_so(struct bed *bed)
{
	struct stage s;
	struct wait fresh = {0}, late = {0};
	struct cache_tape t;
	int64_t old, version;

	put_doc(bed, QUEUES "a", "old");
	stage_init(&s, bed);
	old = cache_version(s.cache);
	cache_tape_start(&t, &s, QUEUES, old);
	cache_hold_back(s.cache, true);
	version = put_doc(bed, QUEUES "a", "new");
	cache_fresh(s.cache, on_waited, &fresh);
	cache_wait(s.cache, version, 500, on_waited, &late);
	bed_wait_flag(bed, &late.done);
	cr_assert(late.failed && late.code == ERR_TIMEOUT);
	bed_wait_flag(bed, &fresh.done);
	cr_assert(fresh.failed && fresh.code == ERR_UNAVAILABLE);
	assert_doc(&s, QUEUES "a", "old");
	cr_assert_eq(cache_version(s.cache), old);
	cr_assert_eq(t.n, 0);
	cache_hold_back(s.cache, false);
	assert_doc(&s, QUEUES "a", "new");
	cache_tape_wait(&t, 1);
	cache_tape_finish(&t);
	stage_finish(&s);
}

static void loads_anew_when_the_watch_is_lost(struct bed *bed)
{
	struct stage s;
	struct cache_tape t;
	struct wait w = {0};
	struct error err;
	int64_t old;

	put_doc(bed, QUEUES "gone", "x");
	put_doc(bed, QUEUES "a", "one");
	stage_init(&s, bed);
	old = cache_version(s.cache);
	cache_tape_start(&t, &s, QUEUES, old);
	proxy_hold_ranges(s.proxy, true);
	proxy_expire_watches(s.proxy);
	put_now(bed, QUEUES "gone", NULL);
	put_doc(bed, QUEUES "a", "two");
	assert_doc(&s, QUEUES "a", "one"); /* the old view serves until there is a new one */
	cache_wait(s.cache, old + 1, 20000, on_waited, &w);
	proxy_break_ranges(s.proxy, true);
	proxy_hold_ranges(s.proxy, false);
	bed_wait_flag(bed, &t.ended);
	cr_assert_eq(t.code, ERR_EXPIRED);
	bed_wait_flag(bed, &w.done);
	cr_assert(!w.failed);
	assert_doc(&s, QUEUES "a", "two");
	assert_doc(&s, QUEUES "gone", NULL);
	cr_assert_null(cache_watch(s.cache, QUEUES, old, on_cache_event, on_cache_ended, &t, &err));
	cr_assert_eq(err.code, ERR_EXPIRED);
	stage_reach(&s, put_doc(bed, QUEUES "a", "three"));
	assert_doc(&s, QUEUES "a", "three");
	cache_tape_finish(&t);
	stage_finish(&s);
}

static void loads_when_the_store_answers_at_last(struct bed *bed)
{
	struct stage s;

	put_doc(bed, QUEUES "a", "one");
	stage_open(&s, bed);
	proxy_break_ranges(s.proxy, true);
	cache_destroy(s.cache);
	s.cache = cache_create(proxy_store(s.proxy), bed->loop, joins, on_ready, &s);
	bed_sleep(bed, 300);
	cr_assert(!s.ready && proxy_ranges(s.proxy) > 2);
	proxy_break_ranges(s.proxy, false);
	bed_wait_flag(bed, &s.ready);
	assert_doc(&s, QUEUES "a", "one");
	stage_finish(&s);
}

struct quitter {
	struct cache_watch *own, *other;
	int events, others;
};

static void on_quitter(const struct cache_event *e, void *arg)
{
	struct quitter *q = arg;

	q->events++;
	cache_unwatch(q->own);
	cache_unwatch(q->other);
}

static void on_other(const struct cache_event *e, void *arg)
{
	struct quitter *q = arg;

	q->others++;
}

static void unwatch_inside_a_callback(struct bed *bed)
{
	struct stage s;
	struct quitter q = {0};
	struct cache_tape t;
	int64_t from;

	stage_init(&s, bed);
	from = cache_version(s.cache);
	q.own = cache_watch(s.cache, QUEUES, from, on_quitter, on_cache_ended, &q, NULL);
	q.other = cache_watch(s.cache, QUEUES, from, on_other, on_cache_ended, &q, NULL);
	cache_tape_start(&t, &s, QUEUES, from);
	put_doc(bed, QUEUES "a", "1");
	put_doc(bed, QUEUES "a", "2");
	cache_tape_wait(&t, 2);
	cr_assert(q.events == 1 && q.others == 0);
	cache_tape_finish(&t);
	stage_finish(&s);
}

#define CASES(X)                                                                                   \
	X(loads_what_is_there_page_by_page)                                                        \
	X(lists_in_key_order)                                                                      \
	X(shows_changes_with_what_was_before)                                                      \
	X(joins_the_status)                                                                        \
	X(shows_the_initial_status_while_there_is_none)                                            \
	X(one_transaction_is_one_event_of_a_document)                                              \
	X(no_half_of_a_transaction_is_seen)                                                        \
	X(watches_resume_behind_every_event)                                                       \
	X(waits_for_a_version)                                                                     \
	X(a_fresh_read_sees_what_was_acknowledged)                                                 \
	X(fresh_reads_share_one_read_that_starts_after_them)                                       \
	X(a_view_held_back_is_old_and_says_so)                                                     \
	X(loads_anew_when_the_watch_is_lost)                                                       \
	X(loads_when_the_store_answers_at_last)                                                    \
	X(unwatch_inside_a_callback)

#define X(name)                                                                                    \
	Test(cache_memory, name)                                                                   \
	{                                                                                          \
		struct bed bed;                                                                    \
                                                                                                   \
		bed_init(&bed, BACKEND_MEMORY);                                                    \
		name(&bed);                                                                        \
		bed_finish(&bed);                                                                  \
	}                                                                                          \
	Test(cache_etcd, name)                                                                     \
	{                                                                                          \
		struct bed bed;                                                                    \
                                                                                                   \
		bed_init(&bed, BACKEND_ETCD);                                                      \
		name(&bed);                                                                        \
		bed_finish(&bed);                                                                  \
	}
CASES(X)
#undef X

/* An etcd that is shared: its revision is everybody's. */
Test(cache_etcd, a_fresh_read_does_not_wait_for_what_others_write)
{
	struct wait fresh = {0};
	struct stage s;
	struct bed bed;

	bed_init(&bed, BACKEND_ETCD);
	stage_init(&s, &bed);
	put_doc(&bed, QUEUES "a", "x");
	etcd_server_put(bed.etcd, "/another-program/key", "y");
	cache_fresh(s.cache, on_waited, &fresh);
	bed_wait_flag(&bed, &fresh.done);
	cr_assert(!fresh.failed, "code %d", fresh.code);
	assert_doc(&s, QUEUES "a", "x");
	stage_finish(&s);
	bed_finish(&bed);
}

Test(cache_memory, the_window_reaches_back_so_far_and_no_farther)
{
	struct bed bed;
	struct stage s;
	struct cache_tape t;
	struct error err;
	int64_t first = 0, second = 0, last = 0;

	bed_init(&bed, BACKEND_MEMORY);
	stage_init(&s, &bed);
	for (int i = 0; i < CACHE_WINDOW + 2; i++) {
		last = put_doc(&bed, QUEUES "a", "x");
		if (i == 0)
			first = last;
		if (i == 1)
			second = last;
	}
	stage_reach(&s, last);
	cr_assert_null(
		cache_watch(s.cache, QUEUES, first, on_cache_event, on_cache_ended, &t, &err));
	cr_assert_eq(err.code, ERR_EXPIRED);
	cache_tape_start(&t, &s, QUEUES, second);
	cache_tape_wait(&t, CACHE_WINDOW);
	cr_assert_eq(t.items[CACHE_WINDOW - 1].version, last);
	cache_tape_finish(&t);
	stage_finish(&s);
	bed_finish(&bed);
}
