/*
 * A replica that lags behind, on demand of a test: nothing else shows what clients get from a view
 * that is old. Inert unless FEDERATOR_LAG is set when the process starts.
 */
#ifndef FEDERATOR_LAG_H
#define FEDERATOR_LAG_H

struct cache;
struct lag;
struct loop;

/* SIGUSR1 holds the cache back, SIGUSR2 lets it catch up. NULL when FEDERATOR_LAG is not set. */
struct lag *lag_create(struct loop *loop, struct cache *cache);
/* Before the cache. */
void lag_destroy(struct lag *l);

#endif
