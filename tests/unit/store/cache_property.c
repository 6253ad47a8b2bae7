/*
 * Random transactions against the cache: its view is what a range of the store joins to, and its
 * events, replayed over the first view, lead to the last.
 */
#include "store/cache.h"

#include "tests/unit/store/bed.h"

#define JOBS     STORE_PREFIX "g/jobs/"
#define STATUSES STORE_PREFIX "g/jobs.status/"
#define QUEUES   STORE_PREFIX "g/queues/"
#define N_NAMES  6
#define N_TXNS   150

static const struct cache_join joins[] = {{JOBS, STATUSES}, {NULL, NULL}};
static const char *const kinds[] = {JOBS, STATUSES, QUEUES};

/* What a reader of the events knows. */
struct model {
	struct doc *docs[2][N_NAMES]; /* jobs, queues */
	int64_t version;
	size_t events;
};

static void key_of(char key[64], const char *kind, size_t name)
{
	snprintf(key, 64, "%s%zu", kind, name);
}

static struct doc **model_at(struct model *m, const char *key)
{
	bool is_job = !strncmp(key, JOBS, strlen(JOBS));

	return &m->docs[!is_job][strtoul(key + strlen(is_job ? JOBS : QUEUES), NULL, 10)];
}

static void on_event(const struct cache_event *e, void *arg)
{
	struct model *m = arg;
	struct doc **at = model_at(m, e->doc->key);

	cr_assert_gt(e->version, m->version);
	cr_assert_eq(*at, e->prev, "%s: not what was there before", e->doc->key);
	cr_assert_eq(e->type == CACHE_ADDED, !*at);
	doc_unref(*at);
	*at = e->type == CACHE_DELETED ? NULL : doc_ref(e->doc);
	m->version = e->version;
	m->events++;
}

static void on_ended(const struct error *err, void *arg)
{
	cr_assert_fail("%s", err->text);
}

static void on_ready(void *arg)
{
	bool *ready = arg;

	*ready = true;
}

struct random_txn {
	char keys[3][64], values[3][96];
	struct store_write writes[3];
	size_t n;
	struct commit commit;
};

static void random_txn_start(struct bed *bed, struct random_txn *x, size_t number)
{
	size_t name = bed_random(bed, N_NAMES), first = bed_random(bed, 3);

	x->n = 1 + bed_random(bed, 3);
	for (size_t i = 0; i < x->n; i++) {
		size_t kind = (first + i) % 3;

		key_of(x->keys[i], kinds[kind], name);
		snprintf(x->values[i], sizeof(x->values[i]),
			 kind == 1 ? "{\"n\":%zu}" : "{\"metadata\":{},\"n\":%zu}", number);
		x->writes[i] = write_of(x->keys[i], bed_random(bed, 3) ? x->values[i] : NULL);
	}
	commit_start(bed, &x->commit, &(struct store_txn){.writes = x->writes, .n_writes = x->n});
}

static void run_txns(struct bed *bed, size_t n)
{
	struct random_txn *txns = xcalloc(n, sizeof(*txns));

	for (size_t i = 0; i < n; i++)
		random_txn_start(bed, &txns[i], i);
	for (size_t i = 0; i < n; i++) {
		bed_wait_flag(bed, &txns[i].commit.done);
		cr_assert_eq(txns[i].commit.outcome, STORE_COMMITTED);
	}
	free(txns);
}

static const struct record *find_record(const struct page *p, const char *key)
{
	for (size_t i = 0; i < p->records.n; i++)
		if (!strcmp(p->records.items[i].key, key))
			return &p->records.items[i];
	return NULL;
}

/* The least version that the joined document may have: each key's own. A status that was deleted
 * since has left no trace in the range, so the cache's version may be higher. */
static void check_doc(struct cache *cache, const struct page *p, const char *kind, size_t name)
{
	char key[64], status_key[64];
	const struct record *main, *status;
	struct doc *doc, *own, *joined;

	key_of(key, kind, name);
	key_of(status_key, STATUSES, name);
	main = find_record(p, key);
	status = kind == kinds[0] ? find_record(p, status_key) : NULL;
	doc = cache_get(cache, key);
	cr_assert_eq(!main, !doc, "%s", key);
	if (!main)
		return;
	own = doc_create(key, main->value, main->size);
	joined = status ? doc_join(own, status->value, status->size) : doc_ref(own);
	cr_assert_str_eq(doc->bytes, joined->bytes);
	cr_assert_eq(doc->revision, main->revision);
	cr_assert_eq(doc->create_revision, main->create_revision);
	cr_assert_eq(doc->status_revision, status ? status->revision : 0);
	cr_assert_geq(doc->version, main->version);
	cr_assert(!status || doc->version >= status->version);
	doc_unref(joined);
	doc_unref(own);
}

struct view_goal {
	struct cache *cache;
	int64_t version;
};

static bool cache_has(void *arg)
{
	struct view_goal *g = arg;

	return cache_version(g->cache) >= g->version;
}

static void check_view(struct bed *bed, struct cache *cache)
{
	struct view_goal goal = {cache, version_of(revision_now(bed), 1023)};
	struct page p;

	bed_wait(bed, cache_has, &goal);
	range_now(bed, &p, STORE_PREFIX, NULL, 0, 0);
	for (size_t name = 0; name < N_NAMES; name++) {
		check_doc(cache, &p, kinds[0], name);
		check_doc(cache, &p, kinds[2], name);
	}
	page_finish(&p);
}

static void check_replay(struct cache *cache, struct model *m)
{
	char key[64];

	cr_assert_gt(m->events, N_TXNS / 4);
	for (size_t name = 0; name < N_NAMES; name++)
		for (size_t k = 0; k < 2; k++) {
			key_of(key, kinds[2 * k], name);
			cr_assert_eq(cache_get(cache, key), m->docs[k][name], "%s", key);
			doc_unref(m->docs[k][name]);
		}
}

static bool model_add(struct doc *doc, void *arg)
{
	*model_at(arg, doc->key) = doc_ref(doc);
	return true;
}

static void check_cache(struct bed *bed)
{
	struct model m = {0};
	struct cache_watch *watch;
	struct cache *cache;
	bool ready = false;

	run_txns(bed, 20);
	cache = cache_create(bed->store, bed->loop, joins, on_ready, &ready);
	bed_wait_flag(bed, &ready);
	cache_each(cache, STORE_PREFIX, NULL, model_add, &m);
	watch = cache_watch(cache, STORE_PREFIX, cache_version(cache), on_event, on_ended, &m,
			    NULL);
	for (int i = 0; i < 3; i++) {
		run_txns(bed, N_TXNS / 3);
		check_view(bed, cache);
	}
	bed_sleep(bed, 10);
	check_replay(cache, &m);
	cache_unwatch(watch);
	cache_destroy(cache);
}

Test(cache_property_memory, the_view_is_the_store)
{
	struct bed bed;

	bed_init(&bed, BACKEND_MEMORY);
	check_cache(&bed);
	bed_finish(&bed);
}

Test(cache_property_etcd, the_view_is_the_store)
{
	struct bed bed;

	bed_init(&bed, BACKEND_ETCD);
	check_cache(&bed);
	bed_finish(&bed);
}
