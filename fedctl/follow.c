#include "fedctl/follow.h"

#include <string.h>

#include "base/encode.h"
#include "base/json.h"
#include "fedctl/patience.h"
#include "kube/informer.h"

#define FEW 16 /* names that get a watch each; more share that of the namespace */

struct follow {
	struct session *session;
	struct follow_config config;
	struct patience patience; /* until what was there has been told */
	char **names;
	struct informer **informers;
	size_t n_informers, n_synced;
	struct error failure;
	bool failed;
	struct timer *end; /* of the first look; NULL: the owner's */
	int64_t timeout_ms;
	struct error last; /* why it is to come again; empty: it never was */
	bool lost;         /* a failure was warned of, and is not over */
};

static bool is_named(const struct follow *f, const char *key)
{
	const char *slash = strrchr(key, '/'), *name = slash ? slash + 1 : key;

	for (size_t i = 0; i < f->config.n_names; i++)
		if (!strcmp(f->names[i], name))
			return true;
	return !f->names;
}

static void on_changed(struct doc *doc, struct doc *prev, void *arg)
{
	struct follow *f = arg;
	auto_json *object = NULL, *before = NULL;

	if (!is_named(f, doc ? doc->key : prev->key))
		return;
	object = doc ? json_parse_foreign(doc->bytes, doc->size, NULL) : NULL;
	before = prev ? json_parse_foreign(prev->bytes, prev->size, NULL) : NULL;
	f->config.changed(object, before, f->config.arg);
}

static void on_synced(void *arg)
{
	struct follow *f = arg;

	if (++f->n_synced < f->n_informers)
		return;
	patience_end(&f->patience);
	timer_destroy(take_ptr(f->end));
	if (f->config.synced)
		f->config.synced(f->config.arg);
}

static void fail(struct follow *f, const struct error *err)
{
	if (f->failed)
		return;
	f->failed = true;
	timer_destroy(take_ptr(f->end));
	f->failure = *err;
	patience_end(&f->patience);
	session_wake(f->session, f->config.done);
}

/* It took too long, whatever the reason. */
static void on_end(void *arg)
{
	struct follow *f = arg;
	struct error late;

	session_fail_late(f->session, f->timeout_ms, f->last.text, &late);
	fail(f, &late);
}

/* A federator that asks to come again is asked again, until on_end(). */
static void first_look_failed(struct follow *f, const struct error *err)
{
	struct error said = *err;

	if (err->code == ERR_UNAVAILABLE)
		return;
	if (error_is_of_transport(err))
		session_translate(f->session, true, &said);
	fail(f, &said);
}

static void say_lost(struct follow *f, const struct error *err)
{
	auto_xfree char *text = NULL;

	if (f->lost)
		return;
	f->lost = true;
	text = xasprintf("lost the federator, trying again: %s", failure_reason(err));
	say_warning(text);
}

static void say_back(struct follow *f)
{
	if (f->lost)
		say_warning("the federator is back");
	f->lost = false;
}

static void on_health(bool ok, const struct error *err, void *arg)
{
	struct follow *f = arg;

	if (ok)
		say_back(f);
	else if (f->n_synced < f->n_informers)
		first_look_failed(f, err);
	else
		say_lost(f, err);
}

static void on_put_off(const struct error *why, void *arg)
{
	struct follow *f = arg;

	if (!f->patience.timer)
		return;
	f->last = *why;
	patience_hear(&f->patience, why);
}

static struct informer *start(struct follow *f, const char *query)
{
	auto_strbuf path = {0};

	object_path(f->config.kind, f->config.ns, NULL, &path);
	return informer_create(f->session->kube, f->session->env,
			       &(struct informer_config){.path = path.bytes,
							 .selector = query,
							 .changed = on_changed,
							 .synced = on_synced,
							 .health = on_health,
							 .put_off = on_put_off,
							 .arg = f});
}

static void start_named(struct follow *f)
{
	f->n_informers = f->config.n_names;
	f->informers = xcalloc(f->n_informers, sizeof(struct informer *));
	for (size_t i = 0; i < f->n_informers; i++) {
		auto_strbuf field = {0}, query = {0};

		strbuf_addf(&field, "metadata.name=%s", f->names[i]);
		strbuf_adds(&query, "fieldSelector=");
		percent_encode(&query, field.bytes);
		f->informers[i] = start(f, query.bytes);
	}
}

static void start_one(struct follow *f)
{
	auto_strbuf query = {0};

	f->n_informers = 1;
	f->informers = xcalloc(1, sizeof(struct informer *));
	if (f->config.selector) {
		strbuf_adds(&query, "labelSelector=");
		percent_encode(&query, f->config.selector);
	}
	f->informers[0] = start(f, query.size ? query.bytes : NULL);
}

struct follow *follow_create(struct session *s, const struct follow_config *config)
{
	struct follow *f = xnew0(struct follow);

	f->session = s;
	f->config = *config;
	f->names = config->names ? xcalloc(config->n_names, sizeof(char *)) : NULL;
	for (size_t i = 0; i < config->n_names; i++)
		f->names[i] = xstrdup(config->names[i]);
	patience_begin(&f->patience, s);
	f->timeout_ms = session_timeout_ms(s);
	if (!config->patient) {
		f->end = timer_create_in(s->env, on_end, f);
		timer_start(f->end, f->timeout_ms);
	}
	if (f->names && config->n_names <= FEW)
		start_named(f);
	else
		start_one(f);
	return f;
}

void follow_destroy(struct follow *f)
{
	if (!f)
		return;
	patience_end(&f->patience);
	timer_destroy(f->end);
	for (size_t i = 0; i < f->n_informers; i++)
		informer_destroy(f->informers[i]);
	for (size_t i = 0; f->names && i < f->config.n_names; i++)
		free(f->names[i]);
	free(f->names);
	free(f->informers);
	free(f);
}

const struct error *follow_failed(const struct follow *f)
{
	return f->failed ? &f->failure : NULL;
}
