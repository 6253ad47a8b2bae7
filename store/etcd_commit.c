/*
 * Group commit: transactions that wait while one is under way go together in the next request and
 * keep separate outcomes.
 *
 * A request's guards are all judged before its writes, and requests under way may arrive in any
 * order. So a transaction waits while another one before it is in the same request, under way, or
 * waiting itself, and either of the two writes a key that the other touches.
 */
#include <assert.h>

#include "store/etcd.h"

/* Requests under way at the same time. */
#define BATCHES_SENT 2
/* Waiting entries looked at for one request. */
#define LOOKAHEAD 1000

enum {
	KEY_GUARDED = 1,     /* by the batch that is assembled, with the key's guard */
	KEY_WRITE_WAITS = 2, /* by an entry that was passed over */
	KEY_GUARD_WAITS = 4,
};

/* --- keys --- */

static struct etcd_key *key_ref(struct etcd *e, const char *name)
{
	size_t size = strlen(name) + 1;
	struct etcd_key *key;

	HASH_FIND(hh, e->keys, name, size - 1, key);
	if (key) {
		key->refs++;
		return key;
	}
	key = xcalloc(1, sizeof(*key) + size);
	key->refs = 1;
	memcpy(key->name, name, size);
	HASH_ADD(hh, e->keys, name, size - 1, key);
	return key;
}

static void key_unref(struct etcd *e, struct etcd_key *key)
{
	if (--key->refs)
		return;
	HASH_DEL(e->keys, key);
	free(key);
}

static unsigned key_marks(const struct etcd *e, const struct etcd_key *key)
{
	return key->round == e->round ? key->marks : 0;
}

static void key_mark(const struct etcd *e, struct etcd_key *key, unsigned mark)
{
	key->marks = key_marks(e, key) | mark;
	key->round = e->round;
}

/* --- entries --- */

static void entry_add_guards(struct etcd *e, struct etcd_entry *entry, const struct store_txn *txn)
{
	entry->guards = xcalloc(txn->n_guards, sizeof(*entry->guards));
	entry->n_guards = txn->n_guards;
	for (size_t i = 0; i < txn->n_guards; i++) {
		const struct store_guard *from = &txn->guards[i];

		entry->guards[i] = (struct etcd_guard){.key = key_ref(e, from->key),
						       .target = from->target,
						       .revision = from->revision};
		entry->bytes += strlen(from->key) + 32;
	}
}

static void write_init(struct etcd *e, struct etcd_write *w, const struct store_write *from)
{
	w->key = key_ref(e, from->key);
	w->deletes = !from->value;
	w->lease = from->lease;
	if (!w->deletes)
		w->format = envelope_pack(e->packer, from->value, from->size, &w->payload);
}

static void entry_add_writes(struct etcd *e, struct etcd_entry *entry, const struct store_txn *txn)
{
	entry->writes = xcalloc(txn->n_writes, sizeof(*entry->writes));
	entry->n_writes = txn->n_writes;
	for (size_t i = 0; i < txn->n_writes; i++) {
		struct etcd_write *w = &entry->writes[i];

		write_init(e, w, &txn->writes[i]);
		entry->alone |= w->lease != 0;
		entry->bytes += strlen(w->key->name) + w->payload.size + 32;
	}
}

void etcd_entry_destroy(struct etcd *e, struct etcd_entry *entry)
{
	for (size_t i = 0; i < entry->n_guards; i++)
		key_unref(e, entry->guards[i].key);
	for (size_t i = 0; i < entry->n_writes; i++) {
		key_unref(e, entry->writes[i].key);
		strbuf_finish(&entry->writes[i].payload);
	}
	list_remove(&entry->link);
	free(entry->guards);
	free(entry->writes);
	free(entry);
}

/* --- assembling --- */

static bool guard_is_shared(const struct etcd *e, const struct etcd_guard *g)
{
	return key_marks(e, g->key) & KEY_GUARDED && g->key->guard_target == g->target &&
	       g->key->guard_revision == g->revision;
}

static bool guard_fits(const struct etcd *e, const struct etcd_guard *g)
{
	unsigned marks = key_marks(e, g->key);

	if (g->key->sent_writes || marks & KEY_WRITE_WAITS)
		return false;
	/* two guards that cannot both hold would make the whole request fail */
	return !(marks & KEY_GUARDED) || guard_is_shared(e, g);
}

static bool write_fits(const struct etcd *e, const struct etcd_write *w)
{
	return !w->key->sent_writes && !w->key->sent_guards &&
	       !(key_marks(e, w->key) & (KEY_WRITE_WAITS | KEY_GUARD_WAITS));
}

static bool entry_keys_fit(const struct etcd *e, const struct etcd_entry *entry)
{
	for (size_t i = 0; i < entry->n_guards; i++)
		if (!guard_fits(e, &entry->guards[i]))
			return false;
	for (size_t i = 0; i < entry->n_writes; i++)
		if (!write_fits(e, &entry->writes[i]))
			return false;
	return true;
}

/* Guards that the batch does not have yet. */
static size_t entry_new_guards(const struct etcd *e, const struct etcd_entry *entry)
{
	size_t n = 0;

	for (size_t i = 0; i < entry->n_guards; i++)
		n += !guard_is_shared(e, &entry->guards[i]);
	return n;
}

static bool batch_has_room(const struct etcd *e, const struct etcd_batch *b,
			   const struct etcd_entry *entry)
{
	if (!b->n_entries)
		return true;
	return b->n_entries < BATCH_ENTRIES && b->n_ops + etcd_entry_ops(entry) <= BATCH_OPS &&
	       b->n_guards + entry_new_guards(e, entry) <= BATCH_GUARDS &&
	       b->bytes + entry->bytes <= BATCH_BYTES;
}

static void batch_add(struct etcd *e, struct etcd_batch *b, struct etcd_entry *entry)
{
	for (size_t i = 0; i < entry->n_guards; i++) {
		struct etcd_guard *g = &entry->guards[i];

		g->shared = guard_is_shared(e, g);
		b->n_guards += !g->shared;
		key_mark(e, g->key, KEY_GUARDED);
		g->key->guard_target = g->target;
		g->key->guard_revision = g->revision;
		g->key->sent_guards++;
	}
	for (size_t i = 0; i < entry->n_writes; i++)
		entry->writes[i].key->sent_writes++;
	list_remove(&entry->link);
	list_push_back(&b->entries, &entry->link);
	b->n_entries++;
	b->n_ops += etcd_entry_ops(entry);
	b->bytes += entry->bytes;
}

static void entry_pass_over(const struct etcd *e, struct etcd_entry *entry)
{
	for (size_t i = 0; i < entry->n_guards; i++)
		key_mark(e, entry->guards[i].key, KEY_GUARD_WAITS);
	for (size_t i = 0; i < entry->n_writes; i++)
		key_mark(e, entry->writes[i].key, KEY_WRITE_WAITS);
}

/* NULL: nothing that waits may go now. */
static struct etcd_batch *batch_assemble(struct etcd *e)
{
	struct etcd_batch *b = xnew0(struct etcd_batch);
	struct etcd_entry *entry, *next;
	unsigned looked = 0;

	b->etcd = e;
	list_init(&b->entries);
	e->round++;
	list_for_each_safe (entry, next, &e->queue, link) {
		if (looked++ == LOOKAHEAD)
			break;
		if (!entry_keys_fit(e, entry) || (entry->alone && b->n_entries)) {
			entry_pass_over(e, entry);
			continue;
		}
		if (!batch_has_room(e, b, entry))
			break;
		batch_add(e, b, entry);
		if (entry->alone)
			break;
	}
	if (b->n_entries)
		return b;
	free(b);
	return NULL;
}

static void commits_flush(struct etcd *e)
{
	struct etcd_batch *b;

	while (e->n_batches < BATCHES_SENT && (b = batch_assemble(e))) {
		list_push_back(&e->batches, &b->link);
		e->n_batches++;
		etcd_batch_send(b);
	}
}

static void on_flush(struct later_item *item)
{
	commits_flush(container_of(item, struct etcd, flush));
}

/* At the end of the turn, so that what is committed in one turn goes together. */
static void commits_wake(struct etcd *e)
{
	if (!list_linked(&e->flush.link) && !list_empty(&e->queue))
		later_add(e->later, &e->flush);
}

static void entry_release_keys(struct etcd_entry *entry)
{
	for (size_t i = 0; i < entry->n_guards; i++)
		entry->guards[i].key->sent_guards--;
	for (size_t i = 0; i < entry->n_writes; i++)
		entry->writes[i].key->sent_writes--;
}

void etcd_batch_over(struct etcd_batch *batch)
{
	struct etcd *e = batch->etcd;
	struct etcd_entry *entry;

	list_for_each (entry, &batch->entries, link) {
		entry_release_keys(entry);
	}
	e->n_batches--;
	commits_wake(e);
}

/* --- commits --- */

struct refusal {
	struct later_item item;
	struct store_result result;
	void (*done)(const struct store_result *result, void *arg);
};

static void refusal_drop(struct later_item *item)
{
	free(container_of(item, struct refusal, item));
}

static void refusal_run(struct later_item *item)
{
	struct refusal *r = container_of(item, struct refusal, item);

	r->done(&r->result, item->arg);
	free(r);
}

static void commit_refuse(struct etcd *e, const struct error *err,
			  void (*done)(const struct store_result *result, void *arg), void *arg)
{
	struct refusal *r = xnew0(struct refusal);

	r->item = (struct later_item){.run = refusal_run, .drop = refusal_drop, .arg = arg};
	r->result = (struct store_result){.outcome = STORE_FAILED, .err = *err};
	r->done = done;
	later_add(e->later, &r->item);
}

void etcd_commit(struct store *s, const struct store_txn *txn,
		 void (*done)(const struct store_result *result, void *arg), void *arg)
{
	struct etcd *e = etcd_of(s);
	struct etcd_entry *entry;
	struct error err;

	if (store_txn_check(txn, &err)) {
		commit_refuse(e, &err, done, arg);
		return;
	}
	entry = xnew0(struct etcd_entry);
	entry->done = done;
	entry->arg = arg;
	entry->since_ms = env_mono_ms(e->env);
	entry_add_guards(e, entry, txn);
	entry_add_writes(e, entry, txn);
	list_push_back(&e->queue, &entry->link);
	commits_wake(e);
}

void etcd_commits_init(struct etcd *e)
{
	list_init(&e->queue);
	list_init(&e->batches);
	e->flush.run = on_flush;
}

static void entries_forget(struct list *entries, const void *arg)
{
	struct etcd_entry *entry;

	list_for_each (entry, entries, link) {
		if (entry->arg == arg)
			entry->done = NULL;
	}
}

void etcd_commits_forget(struct etcd *e, const void *arg)
{
	struct etcd_batch *b;

	entries_forget(&e->queue, arg);
	list_for_each (b, &e->batches, link) {
		entries_forget(&b->entries, arg);
	}
}

void etcd_commits_give_up(struct etcd *e, const struct error *why)
{
	int64_t before_ms = env_mono_ms(e->env) - ETCD_PATIENCE_MS;
	struct etcd_entry *entry, *next;
	struct error err;

	error_set(&err, ERR_UNAVAILABLE, "%s", why->text);
	list_for_each_safe (entry, next, &e->queue, link) {
		if (entry->since_ms > before_ms)
			break;
		if (entry->done)
			commit_refuse(e, &err, entry->done, entry->arg);
		etcd_entry_destroy(e, entry);
	}
}

void etcd_commits_finish(struct etcd *e)
{
	struct list_node *node;

	while ((node = list_first(&e->batches)))
		etcd_batch_destroy(list_entry(node, struct etcd_batch, link));
	while ((node = list_first(&e->queue)))
		etcd_entry_destroy(e, list_entry(node, struct etcd_entry, link));
}
