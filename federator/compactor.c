#include "federator/compactor.h"

#include "base/log.h"

struct compactor {
	struct hub *hub;
	struct timer *timer;
	int64_t revisions[COMPACT_BEHIND]; /* of the last periods, a ring; 0: not yet */
	unsigned at;
};

static void on_compacted(const struct error *err, void *arg)
{
	if (err)
		log_debug("compactor", "%s", err->text);
}

static void on_timer(void *arg)
{
	struct compactor *c = arg;
	int64_t behind = c->revisions[c->at];

	c->revisions[c->at] = version_revision(cache_version(c->hub->cache));
	c->at = (c->at + 1) % COMPACT_BEHIND;
	if (behind && hub_leads(c->hub, NULL))
		store_compact(c->hub->store, behind, on_compacted, c);
	timer_start(c->timer, COMPACT_PERIOD_MS);
}

struct compactor *compactor_create(struct hub *hub)
{
	struct compactor *c = xnew0(struct compactor);

	c->hub = hub;
	c->timer = timer_create_in(hub->env, on_timer, c);
	timer_start(c->timer, COMPACT_PERIOD_MS);
	return c;
}

void compactor_destroy(struct compactor *c)
{
	if (!c)
		return;
	timer_destroy(c->timer);
	free(c);
}
