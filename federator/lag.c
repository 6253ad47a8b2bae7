#include "federator/lag.h"

#include <signal.h>
#include <stdlib.h>

#include "base/log.h"
#include "base/loop.h"
#include "base/mem.h"
#include "store/cache.h"

struct lag {
	uv_signal_t hold, release;
	struct cache *cache;
	unsigned open; /* handles that are not closed yet */
};

static void on_hold(uv_signal_t *handle, int number)
{
	struct lag *l = handle->data;

	log_warn("federator", "the view is held back at version %lld",
		 (long long)cache_version(l->cache));
	cache_hold_back(l->cache, true);
}

static void on_release(uv_signal_t *handle, int number)
{
	struct lag *l = handle->data;

	cache_hold_back(l->cache, false);
	log_warn("federator", "the view has caught up to version %lld",
		 (long long)cache_version(l->cache));
}

static void listen_to(struct lag *l, struct loop *loop, uv_signal_t *handle, uv_signal_cb fn,
		      int number)
{
	uv_signal_init(loop_uv(loop), handle);
	handle->data = l;
	uv_signal_start(handle, fn, number);
	uv_unref((uv_handle_t *)handle);
	l->open++;
}

struct lag *lag_create(struct loop *loop, struct cache *cache)
{
	const char *wanted = getenv("FEDERATOR_LAG");
	struct lag *l;

	if (!wanted || !*wanted)
		return NULL;
	l = xnew0(struct lag);
	l->cache = cache;
	listen_to(l, loop, &l->hold, on_hold, SIGUSR1);
	listen_to(l, loop, &l->release, on_release, SIGUSR2);
	return l;
}

static void on_closed(uv_handle_t *handle)
{
	struct lag *l = handle->data;

	if (!--l->open)
		free(l);
}

void lag_destroy(struct lag *l)
{
	if (!l)
		return;
	uv_close((uv_handle_t *)&l->hold, on_closed);
	uv_close((uv_handle_t *)&l->release, on_closed);
}
