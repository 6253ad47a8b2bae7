#include "faulty.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

struct offer {
	struct list_node node;
	struct faulty *store;
	struct timer *timer; /* NULL: held, or committed */
	enum fate fate;
	void (*done)(const struct store_result *result, void *arg);
	void *arg;
	struct store_guard guards[8];
	struct store_write writes[8];
	struct store_txn txn;
};

struct faulty {
	struct store store;
	struct store *real;
	struct env *env;
	struct list offers;
	enum fate fate;
	const char *broken; /* part of the keys that cannot be written */
	int n_offers;
	struct strbuf trace;
};

static void offer_free(struct offer *o)
{
	list_remove(&o->node);
	timer_destroy(o->timer);
	for (size_t i = 0; i < o->txn.n_guards; i++)
		free((char *)(uintptr_t)o->guards[i].key);
	for (size_t i = 0; i < o->txn.n_writes; i++) {
		free((char *)(uintptr_t)o->writes[i].key);
		free((char *)(uintptr_t)o->writes[i].value);
	}
	free(o);
}

static void on_offer_done(const struct store_result *result, void *arg)
{
	struct offer *o = arg;
	struct store_result lost = {.outcome = STORE_UNKNOWN};

	error_set(&lost.err, ERR_UNAVAILABLE, "the line was cut");
	o->done(o->fate == FATE_LOSE_OUTCOME ? &lost : result, o->arg);
	offer_free(o);
}

static void on_offer_timer(void *arg)
{
	struct offer *o = arg;
	struct store_result result = {.outcome =
					      o->fate == FATE_FAIL ? STORE_FAILED : STORE_UNKNOWN};

	error_set(&result.err, ERR_UNAVAILABLE, "the line was cut");
	o->done(&result, o->arg);
	offer_free(o);
}

static struct offer *offer_copy(struct faulty *s, const struct store_txn *txn)
{
	struct offer *o = xnew0(struct offer);

	cr_assert(txn->n_guards <= 8 && txn->n_writes <= 8);
	o->store = s;
	o->txn = (struct store_txn){o->guards, txn->n_guards, o->writes, txn->n_writes};
	for (size_t i = 0; i < txn->n_guards; i++) {
		o->guards[i] = txn->guards[i];
		o->guards[i].key = xstrdup(txn->guards[i].key);
	}
	for (size_t i = 0; i < txn->n_writes; i++) {
		o->writes[i] = txn->writes[i];
		o->writes[i].key = xstrdup(txn->writes[i].key);
		o->writes[i].value = xstrndup(txn->writes[i].value, txn->writes[i].size);
	}
	list_push_back(&s->offers, &o->node);
	return o;
}

static bool writes(const struct store_txn *txn, const char *part_of_key)
{
	for (size_t i = 0; i < txn->n_writes; i++)
		if (strstr(txn->writes[i].key, part_of_key) && txn->writes[i].value)
			return true;
	return false;
}

/* --- what is asked of it --- */

#define TRACED 16

static const struct {
	const char *prefix, *word;
	bool traced; /* who writes it */
} words[] = {
	{STORE_PREFIX "batch.volcano.sh/jobs/", "Job", true},
	{STORE_PREFIX "batch.volcano.sh/jobs.status/", "record", true},
	{STORE_PREFIX "federator.dev/placements/", "Placement", true},
	{STORE_PREFIX "federator.dev/terms/", "term", true},
	{STORE_PREFIX "federator.dev/clusters/", "Cluster", false},
	{STORE_PREFIX "core/namespaces/", "Namespace", false},
	{STORE_SESSIONS "leader", "L", false},
};

static size_t row_of(const char *key)
{
	for (size_t i = 0; i < ARRAY_LEN(words); i++)
		if (!strncmp(key, words[i].prefix, strlen(words[i].prefix)))
			return i;
	return ARRAY_LEN(words);
}

static const char *word_of(const char *key)
{
	size_t row = row_of(key);

	return row < ARRAY_LEN(words) ? words[row].word : key;
}

static int compare_words(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static void add_words(struct strbuf *out, char **take, size_t n)
{
	qsort(take, n, sizeof(*take), compare_words);
	for (size_t i = 0; i < n; i++) {
		strbuf_addf(out, "%s ", take[i]);
		free(take[i]);
	}
}

static bool is_traced(const struct store_txn *txn)
{
	for (size_t i = 0; i < txn->n_writes; i++) {
		size_t row = row_of(txn->writes[i].key);

		if (row < ARRAY_LEN(words) && words[row].traced)
			return true;
	}
	return false;
}

static void trace(struct strbuf *out, const struct store_txn *txn)
{
	char *said[TRACED];

	if (!is_traced(txn))
		return;
	cr_assert(txn->n_guards <= TRACED && txn->n_writes <= TRACED);
	for (size_t i = 0; i < txn->n_guards; i++)
		said[i] = xasprintf("%s%s", word_of(txn->guards[i].key),
				    txn->guards[i].revision ? "" : "=0");
	add_words(out, said, txn->n_guards);
	strbuf_adds(out, "-> ");
	for (size_t i = 0; i < txn->n_writes; i++)
		said[i] = xasprintf("%s%s", txn->writes[i].value ? "" : "-",
				    word_of(txn->writes[i].key));
	add_words(out, said, txn->n_writes);
	out->bytes[out->size - 1] = '\n';
}

static void faulty_commit(struct store *store, const struct store_txn *txn,
			  void (*done)(const struct store_result *result, void *arg), void *arg)
{
	struct faulty *s = (struct faulty *)store;
	bool is_offer = writes(txn, "/placements/");
	bool is_broken = s->broken && writes(txn, s->broken);
	struct offer *o;

	trace(&s->trace, txn);
	if (!is_offer && !is_broken) {
		store_commit(s->real, txn, done, arg);
		return;
	}
	s->n_offers += is_offer;
	o = offer_copy(s, txn);
	o->fate = is_broken ? FATE_FAIL : s->fate;
	o->done = done;
	o->arg = arg;
	if (o->fate == FATE_COMMIT || o->fate == FATE_LOSE_OUTCOME) {
		store_commit(s->real, &o->txn, on_offer_done, o);
	} else if (o->fate != FATE_HOLD) {
		o->timer = timer_create_in(s->env, on_offer_timer, o);
		timer_start(o->timer, 1);
	}
}

static void faulty_range(struct store *store, const char *prefix, const char *after, size_t limit,
			 int64_t revision,
			 void (*done)(const struct store_item *items, size_t n, bool more,
				      int64_t revision, const struct error *err, void *arg),
			 void *arg)
{
	store_range(((struct faulty *)store)->real, prefix, after, limit, revision, done, arg);
}

static struct store_watch *faulty_watch(struct store *store, const char *prefix, int64_t after,
					const struct store_watcher *watcher)
{
	return store_watch(((struct faulty *)store)->real, prefix, after, watcher);
}

static void faulty_unwatch(struct store *store, struct store_watch *w)
{
	store_unwatch(w, ((struct faulty *)store)->real);
}

static void faulty_grant(struct store *store, int64_t ttl_s,
			 void (*done)(int64_t lease, const struct error *err, void *arg), void *arg)
{
	store_lease_grant(((struct faulty *)store)->real, ttl_s, done, arg);
}

static void faulty_keep(struct store *store, int64_t lease,
			void (*done)(bool alive, const struct error *err, void *arg), void *arg)
{
	store_lease_keep(((struct faulty *)store)->real, lease, done, arg);
}

static void faulty_revoke(struct store *store, int64_t lease,
			  void (*done)(const struct error *err, void *arg), void *arg)
{
	store_lease_revoke(((struct faulty *)store)->real, lease, done, arg);
}

static void faulty_forget(struct store *store, const void *arg)
{
	store_forget(((struct faulty *)store)->real, arg);
}

static const struct store_ops faulty_ops = {
	.commit = faulty_commit,
	.range = faulty_range,
	.watch = faulty_watch,
	.unwatch = faulty_unwatch,
	.lease_grant = faulty_grant,
	.lease_keep = faulty_keep,
	.lease_revoke = faulty_revoke,
	.forget = faulty_forget,
};

struct store *faulty_create(struct store *take_real, struct env *env)
{
	struct faulty *s = xnew0(struct faulty);

	s->store.ops = &faulty_ops;
	s->real = take_real;
	s->env = env;
	list_init(&s->offers);
	return &s->store;
}

void faulty_destroy(struct store *store)
{
	struct faulty *s = (struct faulty *)store;
	struct offer *o, *next;

	list_for_each_safe (o, next, &s->offers, node)
		cr_assert_null(o->timer, "an offer is under way");
	store_destroy(s->real);
	list_for_each_safe (o, next, &s->offers, node)
		offer_free(o);
	strbuf_finish(&s->trace);
	free(s);
}

struct store *faulty_real(struct store *store)
{
	return ((struct faulty *)store)->real;
}

void faulty_set_fate(struct store *store, enum fate fate)
{
	((struct faulty *)store)->fate = fate;
}

void faulty_break(struct store *store, const char *part_of_key)
{
	((struct faulty *)store)->broken = part_of_key;
}

void faulty_release(struct store *store)
{
	struct faulty *s = (struct faulty *)store;
	struct offer *o, *next;

	s->fate = FATE_COMMIT;
	list_for_each_safe (o, next, &s->offers, node) {
		if (o->fate != FATE_HOLD)
			continue;
		o->fate = FATE_COMMIT;
		store_commit(s->real, &o->txn, on_offer_done, o);
	}
}

int faulty_offers(const struct store *store)
{
	return ((const struct faulty *)store)->n_offers;
}

void faulty_trace(struct store *store, struct strbuf *ret)
{
	struct faulty *s = (struct faulty *)store;

	strbuf_clear(ret);
	strbuf_adds(ret, strbuf_str(&s->trace));
	strbuf_clear(&s->trace);
}
