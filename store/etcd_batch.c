/*
 * One batch: first sent flat (all guards, then all writes), which costs etcd a third less; when a
 * guard failed, once more as nested transactions, each with its own guards and its own outcome.
 */
#include <assert.h>

#include "base/fault.h"
#include "store/etcd.h"

/* --- the request --- */

static void add_guards(struct strbuf *out, const struct etcd_entry *entry, bool with_shared)
{
	for (size_t i = 0; i < entry->n_guards; i++) {
		const struct etcd_guard *g = &entry->guards[i];

		if (with_shared || !g->shared)
			etcd_write_guard(out, g->key->name, g->target, g->revision);
	}
}

/* index: of the entry's first write in the batch; the same however the batch is sent. A transaction
 * that writes nothing reads: etcd judges the guards of an empty one on any member's old view. */
static void add_writes(struct strbuf *out, const struct etcd_entry *entry, int64_t index)
{
	if (!entry->n_writes)
		etcd_write_count(out, entry->guards[0].key->name);
	for (size_t i = 0; i < entry->n_writes; i++, index++) {
		const struct etcd_write *w = &entry->writes[i];

		if (w->deletes)
			etcd_write_delete(out, w->key->name);
		else
			etcd_write_put(out, w->key->name, w->format, index,
				       (struct sv){strbuf_str(&w->payload), w->payload.size},
				       w->lease);
	}
}

static void write_flat(struct strbuf *out, const struct etcd_batch *b)
{
	struct etcd_entry *entry;
	int64_t index = 0;

	list_for_each (entry, &b->entries, link) {
		add_guards(out, entry, false);
		add_writes(out, entry, index);
		index += (int64_t)etcd_entry_ops(entry);
	}
}

static void write_nested(struct strbuf *out, const struct etcd_batch *b)
{
	struct etcd_entry *entry;
	int64_t index = 0;

	list_for_each (entry, &b->entries, link) {
		struct etcd_op txn = etcd_write_txn_begin(out);

		add_guards(out, entry, true);
		add_writes(out, entry, index);
		index += (int64_t)etcd_entry_ops(entry);
		etcd_write_txn_end(out, txn);
	}
}

/* --- the outcomes --- */

/* A put has the index that it carries; a deletion, as every watcher counts it, one more than the
 * event before it. */
static void number_writes(struct etcd_entry *entry, const struct etcd_op_answer *ops,
			  int64_t revision, int64_t index, int64_t *last)
{
	for (size_t i = 0; i < entry->n_writes; i++, index++) {
		struct etcd_write *w = &entry->writes[i];

		w->version = 0;
		if (w->deletes && !ops[i].deleted)
			continue;
		*last = w->deletes ? *last + 1 : index;
		w->version = version_of(revision, *last);
	}
}

static size_t answers_expected(const struct etcd_batch *b, const struct etcd_txn_answer *a)
{
	struct etcd_entry *entry;
	size_t n = 0;

	if (!b->nested)
		return a->succeeded ? b->n_ops : 0;
	list_for_each (entry, &b->entries, link) {
		if (n >= a->n || !a->ops[n].nested)
			return SIZE_MAX;
		n += 1 + (a->ops[n].succeeded ? etcd_entry_ops(entry) : 0);
	}
	return n;
}

static void settle(struct etcd_batch *b, const struct etcd_txn_answer *a)
{
	const struct etcd_op_answer *op = a->ops;
	int64_t index = 0, last = -1;
	struct etcd_entry *entry;

	b->revision = a->revision;
	list_for_each (entry, &b->entries, link) {
		bool held = b->nested ? op++->succeeded : a->succeeded;

		entry->outcome = held ? STORE_COMMITTED : STORE_CONFLICT;
		if (held) {
			number_writes(entry, op, a->revision, index, &last);
			op += etcd_entry_ops(entry);
		}
		index += (int64_t)etcd_entry_ops(entry);
	}
}

static void settle_all(struct etcd_batch *b, enum store_outcome outcome, const struct error *err)
{
	struct etcd_entry *entry;

	b->err = *err;
	if (outcome == STORE_UNKNOWN)
		error_set(&b->err, ERR_UNKNOWN_OUTCOME, "%s; what was asked may have been done",
			  err->text);
	list_for_each (entry, &b->entries, link) {
		entry->outcome = outcome;
	}
}

static void tell(struct etcd_batch *b, struct etcd_entry *entry)
{
	struct store_result r = {.outcome = entry->outcome};
	int64_t versions[STORE_MAX_WRITES];

	if (fault_after_write()) {
		r.outcome = STORE_UNKNOWN;
		error_set(&r.err, ERR_UNKNOWN_OUTCOME, "the answer was lost");
	} else if (r.outcome == STORE_COMMITTED) {
		r.revision = b->revision;
		r.versions = versions;
		for (size_t i = 0; i < entry->n_writes; i++)
			versions[i] = entry->writes[i].version;
	} else if (r.outcome == STORE_CONFLICT) {
		store_conflict(entry->n_guards, entry->guards[0].key->name, &r.err);
	} else {
		r.err = b->err;
	}
	if (entry->done)
		entry->done(&r, entry->arg);
}

/* Every callback may commit more, and forget others of this batch. */
static void batch_tell(struct etcd_batch *b)
{
	struct list_node *node;

	etcd_batch_over(b);
	while ((node = list_first(&b->entries))) {
		struct etcd_entry *entry = list_entry(node, struct etcd_entry, link);

		tell(b, entry);
		etcd_entry_destroy(b->etcd, entry);
	}
	list_remove(&b->link);
	free(b);
}

/* --- the conversation --- */

static void batch_ask(struct etcd_batch *b);

static void batch_take(struct etcd_batch *b, struct sv message)
{
	struct etcd_txn_answer a;
	struct error err;

	if (etcd_read_txn(message, &a, &err)) {
		settle_all(b, STORE_UNKNOWN, &err);
		batch_tell(b);
		return;
	}
	etcd_revision_told(b->etcd, a.revision, b->asked);
	if (!a.succeeded && !b->nested && b->n_entries > 1) {
		b->nested = true;
		batch_ask(b);
	} else if (answers_expected(b, &a) == a.n) {
		settle(b, &a);
		batch_tell(b);
	} else {
		error_set(&err, ERR_UNKNOWN_OUTCOME,
			  "etcd answered %zu operations to a batch of %zu", a.n, b->n_ops);
		settle_all(b, STORE_UNKNOWN, &err);
		batch_tell(b);
	}
	free(a.ops);
}

static void on_batch(enum etcd_verdict verdict, struct sv message, const struct error *err,
		     void *arg)
{
	struct etcd_batch *b = arg;

	b->call = NULL;
	if (verdict == ETCD_DONE) {
		batch_take(b, message);
		return;
	}
	settle_all(b, verdict == ETCD_UNKNOWN ? STORE_UNKNOWN : STORE_FAILED, err);
	if (verdict != ETCD_REFUSED)
		etcd_commits_give_up(b->etcd, err);
	batch_tell(b);
}

static void batch_ask(struct etcd_batch *b)
{
	struct strbuf message = {0};

	if (b->nested)
		write_nested(&message, b);
	else
		write_flat(&message, b);
	b->asked = b->etcd->revision;
	b->call =
		etcd_call_start(b->etcd, &(struct etcd_call_spec){.method = "/etcdserverpb.KV/Txn",
								  .message = &message,
								  .done = on_batch,
								  .arg = b});
}

void etcd_batch_send(struct etcd_batch *b)
{
	for (size_t i = 0; i < b->n_entries; i++)
		fault_before_write();
	batch_ask(b);
}

void etcd_batch_destroy(struct etcd_batch *b)
{
	struct list_node *node;

	etcd_call_cancel(b->call);
	list_remove(&b->link);
	while ((node = list_first(&b->entries)))
		etcd_entry_destroy(b->etcd, list_entry(node, struct etcd_entry, link));
	free(b);
}
