#include "federator/outage.h"

#include "base/log.h"
#include "base/loop.h"
#include "base/mem.h"
#include "base/timer.h"
#include "store/store.h"

#define LOOK_MS 1000

struct outage {
	struct store *store;
	struct timer *timer;
	bool told;
};

static void on_look(void *arg)
{
	struct outage *o = arg;
	const struct error *trouble = store_trouble(o->store);

	if (trouble && !o->told)
		log_warn("federator", "%s; goes on trying", trouble->text);
	else if (!trouble && o->told)
		log_info("federator", "the state store answers again");
	o->told = trouble != NULL;
	timer_start(o->timer, LOOK_MS);
}

struct outage *outage_create(struct loop *loop, struct store *store)
{
	struct outage *o = xnew0(struct outage);

	o->store = store;
	o->timer = timer_create_in(loop_env(loop), on_look, o);
	timer_start(o->timer, LOOK_MS);
	return o;
}

void outage_destroy(struct outage *o)
{
	if (!o)
		return;
	timer_destroy(o->timer);
	free(o);
}
