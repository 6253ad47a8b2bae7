#include "federator/controllers.h"

#include <string.h>

#include "base/log.h"
#include "federator/clusters.h"
#include "federator/jobs.h"
#include "federator/placer.h"
#include "federator/queues.h"

#define RELOAD_MS 1000

/* doc NULL: gone. */
static const struct row {
	const char *plural;
	void (*changed)(struct hub *hub, struct doc *doc, struct doc *prev);
} rows[] = {
	/* The placer learns of rooms and rules before it is told of jobs that want them. */
	{"priorityclasses", placer_priority_changed},
	{"datasets", placer_dataset_changed},
	{"queues", placer_queue_changed},
	{"queues", queues_changed},
	{"clusters", placer_cluster_changed},
	{"clusters", clusters_changed},
	{"certificatesigningrequests", clusters_request_changed},
	{"leases", clusters_lease_changed},
	{"placements", jobs_placement_changed},
	{"placements", placer_placement_changed},
	{"jobs", jobs_changed},
};

struct controllers {
	struct hub *hub;
	struct cache_watch *watch; /* NULL while not leading */
	struct timer *reload;
	char *prefixes[ARRAY_LEN(rows)]; /* of the rows' keys */
	bool leading;
};

static void dispatch(struct controllers *c, const char *key, struct doc *doc, struct doc *prev)
{
	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		if (!strncmp(key, c->prefixes[i], strlen(c->prefixes[i])))
			rows[i].changed(c->hub, doc, prev);
}

static void on_event(const struct cache_event *e, void *arg)
{
	struct controllers *c = arg;
	bool gone = e->type == CACHE_DELETED;

	dispatch(c, e->doc->key, gone ? NULL : e->doc, gone ? e->doc : e->prev);
}

struct told {
	struct hub *hub;
	const struct row *row;
};

static bool tell_one(struct doc *doc, void *arg)
{
	struct told *told = arg;

	told->row->changed(told->hub, doc, NULL);
	return true;
}

static void begin(struct controllers *c);

static void on_reload(void *arg)
{
	begin(arg);
}

/* The cache had to load anew: what we know may be behind; begin again. */
static void on_ended(const struct error *err, void *arg)
{
	struct controllers *c = arg;

	log_warn("controllers", "start over: %s", err->text);
	c->watch = NULL;
	controllers_follow(c);
	c->leading = true;
	timer_start(c->reload, RELOAD_MS);
}

static void load(struct controllers *c)
{
	struct error err;

	c->watch = cache_watch(c->hub->cache, STORE_PREFIX, cache_version(c->hub->cache), on_event,
			       on_ended, c, &err);
	if (!c->watch) {
		timer_start(c->reload, RELOAD_MS);
		return;
	}
	placer_lead(c->hub->placer);
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct told told = {c->hub, &rows[i]};

		cache_each(c->hub->cache, c->prefixes[i], NULL, tell_one, &told);
	}
}

static void on_fresh(const struct error *err, void *arg)
{
	struct controllers *c = arg;

	if (!err) {
		load(c);
		return;
	}
	log_warn("controllers", "wait for a view that is not old: %s", err->text);
	timer_start(c->reload, RELOAD_MS);
}

/* The leader before us may have written what is not in our cache yet: nothing is decided on a view
 * that is older than our leadership. */
static void begin(struct controllers *c)
{
	cache_fresh(c->hub->cache, on_fresh, c);
}

struct controllers *controllers_create(struct hub *hub)
{
	struct controllers *c = xnew0(struct controllers);

	c->hub = hub;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct strbuf prefix = {0};

		kind_key(hub_kind(rows[i].plural), NULL, NULL, &prefix);
		c->prefixes[i] = strbuf_take(&prefix);
	}
	c->reload = timer_create_in(hub->env, on_reload, c);
	return c;
}

void controllers_destroy(struct controllers *c)
{
	if (!c)
		return;
	controllers_follow(c);
	timer_destroy(c->reload);
	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		free(c->prefixes[i]);
	free(c);
}

void controllers_lead(struct controllers *c)
{
	c->leading = true;
	begin(c);
}

void controllers_follow(struct controllers *c)
{
	timer_stop(c->reload);
	if (c->hub->cache)
		cache_forget(c->hub->cache, c);
	if (c->watch)
		cache_unwatch(take_ptr(c->watch));
	if (!c->leading)
		return;
	c->leading = false;
	jobs_follow(c->hub);
	clusters_follow(c->hub);
	queues_follow(c->hub);
	placer_follow(c->hub->placer);
}

bool controllers_lead_now(const struct controllers *c)
{
	return c->leading && c->watch;
}
