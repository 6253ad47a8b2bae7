/*
 * A watch that outlives its connections. Each stream is one request over the whole of
 * STORE_PREFIX, whatever the caller's prefix: the index of a deletion is counted from the events
 * before it, so all must be seen. What was given once is not given again.
 *
 * etcd sends all events of a revision in one message, or in fragments that say so. At a
 * compaction's own revision some versions lose the deletions; so a stream starts one revision
 * before the first that is needed, and etcd refuses it when that one could be incomplete.
 */
#include <assert.h>

#include "store/etcd.h"

#define RETRY_FIRST_MS   20
#define RETRY_LONGEST_MS 1000
#define STEADY_MS        2000 /* a stream that lasted so long was not refused */
#define SILENCE_MS       10000
#define CATCH_UP_MS      3000

struct watch {
	struct store_watch watch;
	struct etcd *etcd;
	struct grpc_call *stream;
	size_t endpoint;
	int64_t stream_revision;             /* the highest header of this stream; must not fall */
	int64_t event_revision, event_index; /* of the last event of this stream, given or not */
	int64_t opened_ms, heard_ms;
	unsigned tries;
	struct timer *timer;        /* to connect again, or to wonder about the silence */
	struct etcd_call *question; /* what is the store's revision? */
	int64_t question_asked;
	int64_t behind; /* the revision that must come by the next look; 0: none */
	bool busy;      /* a callback is on the stack */
	bool removed;   /* meanwhile */
	bool expired;   /* the caller is about to be told */
};

static void watch_open(struct watch *w);

static struct watch *watch_of(struct store_watch *w)
{
	return container_of(w, struct watch, watch);
}

/* --- the end --- */

static void watch_disconnect(struct watch *w)
{
	if (w->stream)
		grpc_call_cancel(take_ptr(w->stream));
	etcd_call_cancel(take_ptr(w->question));
	timer_stop(w->timer);
	w->behind = 0;
}

static void watch_free(struct watch *w)
{
	watch_disconnect(w);
	store_watch_finish(&w->watch);
	timer_destroy(w->timer);
	free(w);
}

void etcd_unwatch(struct store *s, struct store_watch *watch)
{
	struct watch *w = watch_of(watch);

	w->removed = true;
	if (!w->busy)
		watch_free(w);
}

static void watch_end(struct watch *w, enum error_code code, const char *why)
{
	struct error err;

	if (w->removed)
		return;
	w->removed = true;
	error_set(&err, code, "watch behind version %lld: %s", (long long)w->watch.seen, why);
	w->watch.to.ended(&err, w->watch.to.arg);
}

/* Runs part(w, arg), which may call the caller's functions, and frees what was removed by them. */
static void watch_run(struct watch *w, void (*part)(struct watch *w, void *arg), void *arg)
{
	assert(!w->busy);
	w->busy = true;
	part(w, arg);
	w->busy = false;
	if (w->removed)
		watch_free(w);
}

static void expire_part(struct watch *w, void *arg)
{
	watch_end(w, ERR_EXPIRED, "the store has gone back");
}

static struct watch *first_expired(struct etcd *e)
{
	struct store_watch *watch;

	list_for_each (watch, &e->watches, link) {
		if (watch_of(watch)->expired)
			return watch_of(watch);
	}
	return NULL;
}

void etcd_watches_run_expired(struct later_item *item)
{
	struct etcd *e = container_of(item, struct etcd, expiry);
	struct watch *w;

	while ((w = first_expired(e)))
		watch_run(w, expire_part, NULL);
}

void etcd_watches_expire(struct etcd *e)
{
	struct store_watch *watch;

	list_for_each (watch, &e->watches, link) {
		watch_disconnect(watch_of(watch));
		watch_of(watch)->expired = true;
	}
	if (!list_linked(&e->expiry.link))
		later_add(e->later, &e->expiry);
}

void etcd_watches_finish(struct etcd *e)
{
	struct store_watch *watch, *next;

	list_for_each_safe (watch, next, &e->watches, link) {
		watch_free(watch_of(watch));
	}
}

/* --- connecting again --- */

static void watch_retry(struct watch *w)
{
	struct etcd *e = w->etcd;

	watch_disconnect(w);
	etcd_endpoint_failed(e, w->endpoint);
	if (env_mono_ms(e->env) - w->opened_ms >= STEADY_MS)
		w->tries = 0;
	timer_start(w->timer, env_backoff_ms(e->env, w->tries++, RETRY_FIRST_MS, RETRY_LONGEST_MS));
}

/* --- is anything amiss? --- */

static int64_t watch_revision(const struct watch *w)
{
	return version_revision(w->watch.seen);
}

static void on_question(enum etcd_verdict verdict, struct sv message, const struct error *err,
			void *arg)
{
	struct watch *w = arg;
	struct etcd_range_answer answer;

	w->question = NULL;
	if (verdict != ETCD_DONE || etcd_read_range(message, &answer, NULL)) {
		timer_start(w->timer, CATCH_UP_MS);
		return;
	}
	free(answer.items.items);
	w->behind = answer.revision > watch_revision(w) ? answer.revision : 0;
	timer_start(w->timer, w->behind ? CATCH_UP_MS : SILENCE_MS);
	etcd_revision_told(w->etcd, answer.revision, w->question_asked);
}

static void watch_ask_revision(struct watch *w)
{
	struct strbuf message = {0};

	if (w->question)
		return;
	etcd_write_range(&message, STORE_SESSIONS "absent", NULL, 1, 0);
	w->question_asked = w->etcd->revision;
	w->question = etcd_call_start(w->etcd,
				      &(struct etcd_call_spec){.method = "/etcdserverpb.KV/Range",
							       .message = &message,
							       .repeatable = true,
							       .done = on_question,
							       .arg = w});
}

static void watch_look(struct watch *w)
{
	int64_t silent_ms = env_mono_ms(w->etcd->env) - w->heard_ms;

	if (!w->stream) {
		watch_open(w);
	} else if (w->behind > watch_revision(w)) {
		grpc_call_give_up(take_ptr(w->stream));
		watch_retry(w);
	} else if (silent_ms < SILENCE_MS) {
		w->behind = 0;
		timer_start(w->timer, SILENCE_MS - silent_ms);
	} else {
		watch_ask_revision(w);
	}
}

static void on_watch_timer(void *arg)
{
	watch_look(arg);
}

/* --- events --- */

static void give_event(struct watch *w, const struct etcd_item *from, struct arena *arena)
{
	struct store_event event = {.type = from->deleted ? STORE_EVENT_DELETE : STORE_EVENT_PUT};
	int64_t index;
	struct error err;

	if (from->revision < w->event_revision)
		return; /* some versions give old events again after a reconnection */
	if (etcd_item_open(w->etcd->packer, from, arena, &event.item, &index, &err)) {
		watch_end(w, err.code, err.text);
		return;
	}
	if (from->deleted)
		index = from->revision == w->event_revision ? w->event_index + 1 : 0;
	w->event_revision = from->revision;
	w->event_index = index;
	event.item.version = version_of(from->revision, index);
	if (event.item.version <= w->watch.seen)
		return;
	w->watch.seen = event.item.version;
	if (!strncmp(event.item.key, w->watch.prefix, strlen(w->watch.prefix)))
		w->watch.to.event(&event, w->watch.to.arg);
}

static void give_events(struct watch *w, const struct etcd_items *items)
{
	for (size_t i = 0; i < items->n && !w->removed; i++) {
		struct arena arena = {0};

		give_event(w, &items->items[i], &arena);
		arena_finish(&arena);
	}
}

static void give_progress(struct watch *w, int64_t revision)
{
	int64_t version = version_of(revision, VERSION_LAST_INDEX);

	if (w->removed || version <= w->watch.seen)
		return;
	w->watch.seen = version;
	if (w->watch.to.progress)
		w->watch.to.progress(version, w->watch.to.arg);
}

/* --- messages --- */

static bool reason_has(struct sv reason, const char *part)
{
	return reason.n && memmem(reason.p, reason.n, part, strlen(part));
}

static void watch_canceled(struct watch *w, const struct etcd_watch_message *m)
{
	if (m->compact_revision || reason_has(m->reason, "compacted"))
		watch_end(w, ERR_EXPIRED, "what comes next was compacted");
	else if (reason_has(m->reason, "permission denied"))
		watch_end(w, ERR_FORBIDDEN, "etcd denies it");
	else
		watch_retry(w);
}

static void watch_take(struct watch *w, const struct etcd_watch_message *m)
{
	struct etcd *e = w->etcd;

	if (m->canceled) {
		watch_canceled(w, m);
		return;
	}
	if (m->revision < w->stream_revision) {
		watch_end(w, ERR_EXPIRED, "the store's revision fell");
		return;
	}
	w->stream_revision = m->revision;
	if (m->created) {
		/* a member that lags, or a store that was replaced by an older one */
		if (m->revision < e->revision)
			watch_ask_revision(w);
	} else {
		give_events(w, &m->items);
		if (!m->fragment)
			give_progress(w, m->items.n ? w->event_revision : m->revision);
	}
	if (m->revision > e->revision)
		e->revision = m->revision;
}

static void take_message(struct watch *w, void *arg)
{
	const struct sv *message = arg;
	struct etcd_watch_message m;

	if (etcd_read_watch(*message, &m, NULL)) {
		watch_retry(w);
		return;
	}
	watch_take(w, &m);
	free(m.items.items);
}

static void on_stream_message(struct grpc_call *call, const void *bytes, size_t n, void *arg)
{
	struct watch *w = arg;
	struct sv message = {bytes, n};

	w->heard_ms = env_mono_ms(w->etcd->env);
	watch_run(w, take_message, &message);
}

static void stream_over(struct watch *w, void *arg)
{
	const struct grpc_answer *answer = arg;
	struct error err;

	if (etcd_judge(answer, &err) == ETCD_REFUSED)
		watch_end(w, err.code, err.text);
	else
		watch_retry(w);
}

static void on_stream_done(const struct grpc_answer *answer, void *arg)
{
	struct watch *w = arg;
	struct grpc_answer copy = *answer;

	w->stream = NULL;
	watch_run(w, stream_over, &copy);
}

/* --- the beginning --- */

static void watch_open(struct watch *w)
{
	struct etcd *e = w->etcd;
	int64_t needed = version_next_revision(w->watch.seen);
	auto_strbuf message = {0};
	struct grpc_call_spec spec = {.method = "/etcdserverpb.Watch/Watch",
				      .metadata = etcd_metadata,
				      .n_metadata = ETCD_STREAM_METADATA,
				      .stream = true,
				      .on_message = on_stream_message,
				      .on_done = on_stream_done,
				      .arg = w};

	w->stream_revision = w->event_revision = 0;
	w->endpoint = e->current;
	w->opened_ms = w->heard_ms = env_mono_ms(e->env);
	etcd_write_watch(&message, STORE_PREFIX, needed > 2 ? needed - 1 : 1);
	spec.message = message.bytes;
	spec.size = message.size;
	w->stream = grpc_call_start(e->endpoints[w->endpoint].client, &spec);
	timer_start(w->timer, SILENCE_MS);
}

struct store_watch *etcd_watch(struct store *s, const char *prefix, int64_t after_version,
			       const struct store_watcher *to)
{
	struct watch *w = xnew0(struct watch);

	w->etcd = etcd_of(s);
	w->timer = timer_create_in(w->etcd->env, on_watch_timer, w);
	store_watch_init(&w->watch, prefix, after_version, to);
	list_push_back(&w->etcd->watches, &w->watch.link);
	watch_open(w);
	return &w->watch;
}
