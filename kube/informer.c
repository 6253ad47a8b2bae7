#include "kube/informer.h"

#include <stdlib.h>
#include <string.h>

#include "api/status.h"
#include "base/lines.h"
#include "base/log.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/scan.h"
#include "base/strbuf.h"
#include "kube/object.h"

#define PAGE          500
#define RETRY_BASE_MS 500
#define RETRY_MAX_MS  5000   /* an offer that waits for us is taken back after 10 s */
#define ABSENT_MS     30000  /* a kind that is not served may come to be */
#define WATCH_BASE_S  300    /* with up to as much again, so that watches spread */
#define SILENCE_MS    180000 /* bookmarks come each minute: three are missing */
#define ABANDON_MS    1000   /* the server ends a watch that failed; if not, we do */
#define SHORT_MS      1000   /* a watch that ends sooner, without an event, backs off */
#define LINE_LIMIT    (8 * 1024 * 1024)
#define BEHIND_TRIES  5 /* answers "not so far yet" until the server has gone back */

struct known {
	UT_hash_handle hh;
	struct doc *doc; /* its key is the map's */
	bool seen;       /* in the list that is being read */
};

struct informer {
	struct kube *kube;
	struct env *env;
	char *path, *selector;
	int64_t min_version;
	bool absent_is_empty, may_go_back;
	struct informer_config callbacks;

	struct known *known;
	int64_t version; /* to watch from */
	int64_t highest;
	unsigned behind; /* answers in a row that the server is not as far as `highest` */
	bool going_back; /* the list that is read may be older than what was seen */
	bool synced, healthy, told_health;

	struct kube_call *list_call;
	char *page_token; /* of the next page; NULL: first */
	struct http_call *watch;
	struct lines lines;
	struct error watch_error; /* code set when an ERROR event or a bad line came */
	bool watch_failed, watch_active, relist;
	int64_t watch_since_ms;
	unsigned failures;
	struct timer *timer;
};

static void informer_list(struct informer *i);
static void informer_watch(struct informer *i);
static void watch_abandon(struct informer *i);

static void set_health(struct informer *i, bool ok, const struct error *err)
{
	if (i->told_health && i->healthy == ok)
		return;
	i->told_health = true;
	i->healthy = ok;
	if (i->callbacks.health)
		i->callbacks.health(ok, err, i->callbacks.arg);
}

static void on_timer(void *arg)
{
	struct informer *i = arg;

	if (i->watch)
		watch_abandon(i);
	else if (i->relist)
		informer_list(i);
	else
		informer_watch(i);
}

static void again_after(struct informer *i, int64_t ms)
{
	timer_start(i->timer, ms);
}

static void back_off(struct informer *i)
{
	again_after(i, env_backoff_ms(i->env, i->failures++, RETRY_BASE_MS, RETRY_MAX_MS));
}

/* --- what is known --- */

static struct known *known_find(const struct informer *i, const char *key)
{
	struct known *k;

	HASH_FIND(hh, i->known, key, strlen(key), k);
	return k;
}

static void known_set(struct informer *i, struct known *k, struct doc *doc)
{
	if (k) {
		HASH_DEL(i->known, k);
		doc_unref(k->doc);
	} else {
		k = xnew0(struct known);
	}
	k->doc = doc_ref(doc);
	k->seen = true;
	HASH_ADD_KEYPTR(hh, i->known, k->doc->key, strlen(k->doc->key), k);
}

static void known_remove(struct informer *i, struct known *k)
{
	auto_free(doc_unref) struct doc *prev = k->doc;

	HASH_DEL(i->known, k);
	free(k);
	i->callbacks.changed(NULL, prev, i->callbacks.arg);
}

static void take_version(struct informer *i, int64_t version)
{
	i->version = version;
	if (version > i->highest || i->going_back)
		i->highest = version;
}

static void upsert(struct informer *i, struct doc *doc)
{
	struct known *k = known_find(i, doc->key);
	auto_free(doc_unref) struct doc *prev = k ? doc_ref(k->doc) : NULL;

	if (prev && prev->version == doc->version && !i->going_back) {
		k->seen = true;
		return;
	}
	known_set(i, k, doc);
	i->callbacks.changed(doc, prev, i->callbacks.arg);
}

/* One object that cannot be read must not hide the others: it counts as absent. */
static bool is_readable(const struct informer *i, const struct doc *doc, struct sv object)
{
	if (object_is_shallow(object))
		return true;
	log_warn("informer", "%s: %s is left out: nested deeper than 64 levels", i->path, doc->key);
	return false;
}

/* --- list --- */

static void list_failed(struct informer *i, const struct error *err)
{
	free(take_ptr(i->page_token));
	i->relist = true;
	set_health(i, false, err);
	back_off(i);
}

static void list_begin(struct informer *i)
{
	struct known *k, *tmp;

	HASH_ITER (hh, i->known, k, tmp)
		k->seen = false;
}

static void list_finished(struct informer *i)
{
	struct known *k, *tmp;

	HASH_ITER (hh, i->known, k, tmp)
		if (!k->seen)
			known_remove(i, k);
	i->relist = i->going_back = false;
	i->failures = i->behind = 0;
	set_health(i, true, NULL);
	if (!i->synced) {
		i->synced = true;
		if (i->callbacks.synced)
			i->callbacks.synced(i->callbacks.arg);
	}
}

static int64_t oldest_allowed(const struct informer *i)
{
	return i->min_version > i->highest ? i->min_version : i->highest;
}

/* One that lags catches up. A list that names no version is then the newest that there is. */
static void note_behind(struct informer *i, bool behind)
{
	i->behind = behind ? i->behind + 1 : 0;
	i->going_back = i->may_go_back && i->behind >= BEHIND_TRIES;
	if (i->going_back)
		log_warn("informer",
			 "%s: the server does not reach version %lld: its store went back", i->path,
			 (long long)oldest_allowed(i));
}

static int take_items(struct informer *i, struct sv items, struct error *err)
{
	struct scan s;
	struct sv item;

	scan_init_deep(&s, items.p, items.n);
	if (!scan_array_begin(&s))
		return error_set(err, ERR_INTERNAL, "list %s: items is not an array", i->path);
	while (scan_element(&s) && scan_raw(&s, &item)) {
		auto_free(doc_unref) struct doc *doc = object_doc(item, err);

		if (!doc)
			return -1;
		if (is_readable(i, doc, item))
			upsert(i, doc);
	}
	return 0;
}

static int take_page(struct informer *i, const struct kube_answer *a, struct error *err)
{
	struct sv key;
	struct object_list list;

	if (object_list_read(a->body, a->size, &list, err))
		return -1;
	if (list.version < oldest_allowed(i) && !i->going_back)
		return error_set(err, ERR_TIMEOUT, "list %s: version %lld was asked for, not %lld",
				 i->path, (long long)oldest_allowed(i), (long long)list.version);
	if (list.items.n && take_items(i, list.items, err))
		return -1;
	key = list.next_page;
	free(i->page_token);
	i->page_token = key.n ? xstrndup(key.p, key.n) : NULL;
	if (!i->page_token)
		take_version(i, list.version);
	return 0;
}

static void list_absent(struct informer *i)
{
	list_begin(i);
	list_finished(i);
	i->relist = true;
	again_after(i, ABSENT_MS);
}

static void on_list(const struct kube_answer *a, void *arg)
{
	struct informer *i = arg;
	struct error err;

	i->list_call = NULL;
	if (!a->ok && a->status == 404 && i->absent_is_empty) {
		list_absent(i);
		return;
	}
	if (!a->ok) {
		note_behind(i, a->status == 504);
		list_failed(i, &a->err);
		return;
	}
	if (!i->page_token)
		list_begin(i);
	if (take_page(i, a, &err)) {
		note_behind(i, err.code == ERR_TIMEOUT);
		list_failed(i, &err);
		return;
	}
	if (i->page_token) {
		informer_list(i);
		return;
	}
	list_finished(i);
	informer_watch(i);
}

static bool may_retry_list(const struct error *why, void *arg)
{
	struct informer *i = arg;

	if (i->callbacks.put_off)
		i->callbacks.put_off(why, i->callbacks.arg);
	return true;
}

static void informer_list(struct informer *i)
{
	struct kube_request request = {
		.method = "GET", .done = on_list, .may_retry = may_retry_list, .arg = i};
	auto_strbuf path = {0};

	strbuf_addf(&path, "%s?limit=%d", i->path, PAGE);
	if (i->selector)
		strbuf_addf(&path, "&%s", i->selector);
	if (i->page_token)
		strbuf_addf(&path, "&continue=%s", i->page_token);
	else if (oldest_allowed(i) && !i->going_back)
		strbuf_addf(&path, "&resourceVersion=%lld&resourceVersionMatch=NotOlderThan",
			    (long long)oldest_allowed(i));
	request.path = path.bytes;
	i->list_call = kube_send(i->kube, &request);
}

/* --- watch --- */

static void watch_over(struct informer *i)
{
	bool was_short = env_mono_ms(i->env) - i->watch_since_ms < SHORT_MS;

	i->watch = NULL;
	lines_clear(&i->lines);
	if (i->watch_failed && i->watch_error.code == ERR_EXPIRED) {
		i->relist = true;
		again_after(i, i->failures++ ? RETRY_BASE_MS : 1);
		return;
	}
	if (i->watch_failed) {
		set_health(i, false, &i->watch_error);
		back_off(i);
		return;
	}
	if (was_short && !i->watch_active)
		back_off(i);
	else
		informer_watch(i);
}

static void watch_fail(struct informer *i, const struct error *err)
{
	i->watch_failed = true;
	i->watch_error = *err;
	again_after(i, ABANDON_MS);
}

static void watch_abandon(struct informer *i)
{
	kube_stream_cancel(i->kube, i->watch);
	watch_over(i);
}

/* The same version would bring the same line again: what it was about is listed. */
static void watch_unreadable(struct informer *i, const struct error *err)
{
	watch_fail(i, err);
	i->relist = true;
}

static int apply_event(struct informer *i, const char *type, struct sv object, struct error *err)
{
	auto_free(doc_unref) struct doc *doc = NULL;
	struct known *k;

	if (!strcmp(type, "BOOKMARK")) {
		int64_t version;

		if (object_version(object, &version, err))
			return -1;
		take_version(i, version);
		return 0;
	}
	doc = object_doc(object, err);
	if (!doc)
		return -1;
	take_version(i, doc->version);
	k = known_find(i, doc->key);
	if (strcmp(type, "DELETED") && is_readable(i, doc, object))
		upsert(i, doc);
	else if (k)
		known_remove(i, k);
	return 0;
}

static void on_line(const char *line, size_t n, void *arg)
{
	struct informer *i = arg;
	struct sv object, type;
	struct error err;
	char name[16];

	if (!n || i->watch_failed)
		return;
	if (!scan_find_str((struct sv){line, n}, &type, "type", NULL) || type.n >= sizeof(name) ||
	    !scan_find((struct sv){line, n}, &object, "object", NULL)) {
		error_set(&err, ERR_INTERNAL, "watch %s: a line is not a watch event", i->path);
		watch_unreadable(i, &err);
		return;
	}
	memcpy(name, type.p, type.n);
	name[type.n] = '\0';
	if (!strcmp(name, "ERROR")) {
		status_read(0, object.p, object.n, &err);
		watch_fail(i, &err);
		return;
	}
	if (apply_event(i, name, object, &err)) {
		watch_unreadable(i, &err);
		return;
	}
	i->watch_active = true;
	i->failures = 0;
	set_health(i, true, NULL);
}

static void on_watch_data(struct http_call *call, const char *bytes, size_t n, void *arg)
{
	struct informer *i = arg;
	struct error err;

	lines_feed(&i->lines, bytes, n, on_line, i);
	if (!i->lines.overlong || i->watch_failed)
		return;
	error_set(&err, ERR_TOO_LARGE, "watch %s: a line is over %d bytes", i->path, LINE_LIMIT);
	watch_unreadable(i, &err);
}

static void on_watch_done(const struct http_answer *a, void *arg)
{
	struct informer *i = arg;
	struct error err;

	/* Silence may be a watch from a version that the server no longer has: list again. */
	if (!i->watch_failed && !a->status && a->err.code == ERR_TIMEOUT) {
		err = a->err;
		err.code = ERR_EXPIRED;
		watch_fail(i, &err);
	}
	if (!i->watch_failed && !a->status && !i->watch_active)
		watch_fail(i, &a->err);
	if (!i->watch_failed && a->status >= 300) {
		status_read(a->status, a->body, a->size, &err);
		watch_fail(i, &err);
	}
	watch_over(i);
}

static void informer_watch(struct informer *i)
{
	int64_t seconds = WATCH_BASE_S + (int64_t)env_random_below(i->env, WATCH_BASE_S);
	struct http_call_spec spec = {
		.method = "GET",
		.accept = "application/json",
		.stream = true,
		.timeout_ms = SILENCE_MS,
		.on_data = on_watch_data,
		.on_done = on_watch_done,
		.arg = i,
	};
	auto_strbuf path = {0};

	strbuf_addf(&path,
		    "%s?watch=true&allowWatchBookmarks=true&resourceVersion=%lld"
		    "&timeoutSeconds=%lld",
		    i->path, (long long)i->version, (long long)seconds);
	if (i->selector)
		strbuf_addf(&path, "&%s", i->selector);
	spec.path = path.bytes;
	i->watch_failed = i->watch_active = false;
	i->watch_since_ms = env_mono_ms(i->env);
	i->watch = kube_stream(i->kube, &spec);
}

/* --- life --- */

struct informer *informer_create(struct kube *k, struct env *env,
				 const struct informer_config *config)
{
	struct informer *i = xnew0(struct informer);

	i->kube = k;
	i->env = env;
	i->path = xstrdup(config->path);
	i->selector = config->selector ? xstrdup(config->selector) : NULL;
	i->min_version = config->min_version;
	i->absent_is_empty = config->absent_is_empty;
	i->may_go_back = config->may_go_back;
	i->callbacks = *config;
	lines_init(&i->lines, LINE_LIMIT);
	i->timer = timer_create_in(env, on_timer, i);
	i->relist = true;
	informer_list(i);
	return i;
}

void informer_destroy(struct informer *i)
{
	struct known *k, *tmp;

	if (!i)
		return;
	kube_cancel(i->list_call);
	kube_stream_cancel(i->kube, i->watch);
	timer_destroy(i->timer);
	HASH_ITER (hh, i->known, k, tmp) {
		HASH_DEL(i->known, k);
		doc_unref(k->doc);
		free(k);
	}
	lines_finish(&i->lines);
	free(i->page_token);
	free(i->path);
	free(i->selector);
	free(i);
}

bool informer_is_synced(const struct informer *i)
{
	return i->synced;
}

struct doc *informer_get(const struct informer *i, const char *ns, const char *name)
{
	auto_xfree char *key = ns && *ns ? xasprintf("%s/%s", ns, name) : xstrdup(name);
	struct known *k = known_find(i, key);

	return k ? k->doc : NULL;
}

void informer_each(const struct informer *i, void (*each)(struct doc *doc, void *arg), void *arg)
{
	struct known *k, *tmp;

	HASH_ITER (hh, i->known, k, tmp)
		each(k->doc, arg);
}

int64_t informer_version(const struct informer *i)
{
	return i->highest;
}
