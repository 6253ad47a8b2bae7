/*
 * One candidate. It looks at the key once a second; when the key is absent, it takes a lease and
 * tries to create the key under it. The key's value is a number of this very try and the identity,
 * so that a try whose answer was lost can be recognized.
 *
 * A leader's time is counted from when it *asked* for the last renewal that was granted, less a
 * tenth, so it ends before the lease can.
 */
#include "store/election.h"

#include <assert.h>
#include <inttypes.h>

#include "base/mem.h"

#define LOOK_MS     1000
#define RESIGN_MS   2000
#define NONCE_CHARS 16

enum election_state { ELECTION_LOOKING, ELECTION_TAKING, ELECTION_LEADING, ELECTION_LEAVING };

struct election {
	struct store *store;
	struct loop *loop;
	struct env *env;
	char *key, *identity;
	int64_t ttl_ms;
	struct election_callbacks callbacks;
	enum election_state state;
	struct timer *timer; /* the next look; a leader's next renewal; the end of leaving */
	struct timer *end;   /* of the leader's time */
	int64_t lease;       /* 0: none */
	int64_t asked_ms;    /* when the grant or renewal under way was asked for */
	int64_t until_ms;    /* the lease is ours up to here */
	char value[NONCE_CHARS + 1 + 256];
	int64_t create_revision;
	char *leader;
	void (*done)(void *arg);
	void *done_arg;
};

static void election_look(struct election *e);

static int64_t now_ms(const struct election *e)
{
	return env_mono_ms(e->env);
}

static void look_later(struct election *e)
{
	e->state = ELECTION_LOOKING;
	timer_start(e->timer, env_backoff_ms(e->env, 0, LOOK_MS, LOOK_MS));
}

static void on_dropped(const struct error *err, void *arg)
{
	/* a lease that could not be revoked ends by itself */
}

static void lease_drop(struct election *e)
{
	if (e->lease)
		store_lease_revoke(e->store, e->lease, on_dropped, e);
	e->lease = 0;
	e->value[0] = '\0';
}

static void lease_extend(struct election *e)
{
	e->until_ms = e->asked_ms + e->ttl_ms - e->ttl_ms / 10;
}

/* --- leading --- */

static void renew_later(struct election *e, int64_t delay_ms)
{
	timer_start(e->timer, delay_ms);
}

static void election_lead(struct election *e, int64_t create_revision)
{
	free(e->leader);
	e->leader = xstrdup(e->identity);
	e->create_revision = create_revision;
	e->state = ELECTION_LEADING;
	renew_later(e, e->ttl_ms / 3);
	timer_start(e->end, e->until_ms - now_ms(e));
	e->callbacks.elected(e->callbacks.arg);
}

static void election_depose(struct election *e)
{
	store_forget(e->store, e);
	lease_drop(e);
	timer_stop(e->end);
	free(take_ptr(e->leader));
	look_later(e);
	e->callbacks.deposed(e->callbacks.arg);
}

static void on_end(void *arg)
{
	election_depose(arg);
}

static void on_kept(bool alive, const struct error *err, void *arg)
{
	struct election *e = arg;

	if (err) {
		renew_later(e, e->ttl_ms / 20);
	} else if (!alive) {
		election_depose(e);
	} else {
		lease_extend(e);
		timer_start(e->end, e->until_ms - now_ms(e));
		renew_later(e, e->ttl_ms / 3);
	}
}

/* A lease may be renewed whose keys are gone: some versions of etcd do that. */
static void on_verified(const struct store_item *items, size_t n, bool more, int64_t revision,
			const struct error *err, void *arg)
{
	struct election *e = arg;

	if (err)
		return;
	if (!n || strcmp(items[0].key, e->key) || items[0].create_revision != e->create_revision)
		election_depose(e);
}

static void election_renew(struct election *e)
{
	e->asked_ms = now_ms(e);
	store_lease_keep(e->store, e->lease, on_kept, e);
	store_range(e->store, e->key, NULL, 1, 0, on_verified, e);
}

/* --- taking the key --- */

static void on_taken(const struct store_result *result, void *arg)
{
	struct election *e = arg;

	if (result->outcome == STORE_COMMITTED && now_ms(e) < e->until_ms)
		election_lead(e, result->revision);
	else
		election_look(e);
}

static void election_take(struct election *e)
{
	const struct store_guard absent = {.key = e->key, .target = STORE_CREATE};
	const struct store_write write = {
		.key = e->key, .value = e->value, .size = strlen(e->value), .lease = e->lease};

	store_commit(e->store,
		     &(struct store_txn){
			     .guards = &absent, .n_guards = 1, .writes = &write, .n_writes = 1},
		     on_taken, e);
}

static void on_granted(int64_t lease, const struct error *err, void *arg)
{
	struct election *e = arg;

	if (err) {
		look_later(e);
		return;
	}
	e->lease = lease;
	lease_extend(e);
	snprintf(e->value, sizeof(e->value), "%016" PRIx64 " %s", env_random(e->env), e->identity);
	election_take(e);
}

static void election_try(struct election *e)
{
	e->state = ELECTION_TAKING;
	if (e->lease && now_ms(e) < e->until_ms - e->ttl_ms / 2) {
		election_take(e);
		return;
	}
	lease_drop(e);
	e->asked_ms = now_ms(e);
	store_lease_grant(e->store, (e->ttl_ms + 999) / 1000, on_granted, e);
}

/* --- looking --- */

static bool is_ours(const struct election *e, const struct store_item *item)
{
	return e->lease && item->size == strlen(e->value) &&
	       !memcmp(item->value, e->value, item->size) && now_ms(e) < e->until_ms;
}

static void see_leader(struct election *e, const struct store_item *item)
{
	const char *value = item->value;
	size_t skip = item->size > NONCE_CHARS ? NONCE_CHARS + 1 : item->size;

	free(e->leader);
	e->leader = xstrndup(value + skip, item->size - skip);
}

static void on_looked(const struct store_item *items, size_t n, bool more, int64_t revision,
		      const struct error *err, void *arg)
{
	struct election *e = arg;
	bool there = n && !strcmp(items[0].key, e->key);

	if (err) {
		look_later(e);
	} else if (there && is_ours(e, &items[0])) {
		election_lead(e, items[0].create_revision);
	} else if (there) {
		see_leader(e, &items[0]);
		lease_drop(e);
		look_later(e);
	} else {
		free(take_ptr(e->leader));
		election_try(e);
	}
}

static void election_look(struct election *e)
{
	store_range(e->store, e->key, NULL, 1, 0, on_looked, e);
}

/* --- life --- */

static void election_free(struct election *e)
{
	timer_destroy(e->timer);
	timer_destroy(e->end);
	free(e->key);
	free(e->identity);
	free(e->leader);
	free(e);
}

static void election_leave(struct election *e)
{
	void (*done)(void *arg) = e->done;
	void *arg = e->done_arg;

	store_forget(e->store, e);
	election_free(e);
	if (done)
		done(arg);
}

static void on_timer(void *arg)
{
	struct election *e = arg;

	switch (e->state) {
	case ELECTION_LOOKING:
	case ELECTION_TAKING:
		election_look(e);
		break;
	case ELECTION_LEADING:
		election_renew(e);
		break;
	case ELECTION_LEAVING:
		election_leave(e);
		break;
	}
}

static void on_resigned(const struct error *err, void *arg)
{
	election_leave(arg);
}

struct election *election_create(struct store *s, struct loop *loop, const char *name,
				 const char *identity, int64_t ttl_s,
				 const struct election_callbacks *callbacks)
{
	struct election *e = xnew0(struct election);

	assert(strlen(identity) < sizeof(e->value) - NONCE_CHARS - 1);
	e->store = s;
	e->loop = loop;
	e->env = loop_env(loop);
	e->key = xasprintf("%s%s", STORE_SESSIONS, name);
	e->identity = xstrdup(identity);
	e->ttl_ms = ttl_s * 1000;
	e->callbacks = *callbacks;
	e->timer = timer_create_in(e->env, on_timer, e);
	e->end = timer_create_in(e->env, on_end, e);
	election_look(e);
	return e;
}

bool election_is_leader(const struct election *e)
{
	return e->state == ELECTION_LEADING && now_ms(e) < e->until_ms;
}

struct store_guard election_guard(const struct election *e)
{
	assert(e->state == ELECTION_LEADING);
	return (struct store_guard){
		.key = e->key, .target = STORE_CREATE, .revision = e->create_revision};
}

const char *election_leader(const struct election *e)
{
	return e->leader;
}

void election_destroy(struct election *e, void (*done)(void *arg), void *arg)
{
	if (!e)
		return;
	store_forget(e->store, e);
	timer_stop(e->end);
	e->state = ELECTION_LEAVING;
	e->done = done;
	e->done_arg = arg;
	timer_start(e->timer, e->lease ? RESIGN_MS : 0);
	if (e->lease)
		store_lease_revoke(e->store, e->lease, on_resigned, e);
}
