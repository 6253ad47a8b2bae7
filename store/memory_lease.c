/* Leases of the memory store: a timer each; at its end the keys go, in one revision. */
#include "store/memory.h"

struct memory_lease {
	struct list_node link;
	struct memory *memory;
	int64_t id, ttl_s;
	struct timer *timer;
};

static struct memory_lease *lease_find(const struct memory *m, int64_t id)
{
	struct memory_lease *lease;

	list_for_each (lease, &m->leases, link) {
		if (lease->id == id)
			return lease;
	}
	return NULL;
}

bool memory_lease_exists(const struct memory *m, int64_t id)
{
	return lease_find(m, id) != NULL;
}

struct lease_keys {
	int64_t lease;
	const char **names;
	size_t n, cap;
};

static bool lease_keys_add(struct history_change *c, void *arg)
{
	struct lease_keys *keys = arg;

	if (c->lease == keys->lease) {
		GROW(keys->names, keys->n, keys->cap);
		keys->names[keys->n++] = c->key->name;
	}
	return true;
}

static void lease_end(struct memory_lease *lease)
{
	struct memory *m = lease->memory;
	struct lease_keys keys = {.lease = lease->id};

	list_remove(&lease->link);
	timer_destroy(lease->timer);
	history_each(&m->history, STORE_SESSIONS, NULL, INT64_MAX, lease_keys_add, &keys);
	if (keys.n)
		memory_delete(m, keys.names, keys.n);
	free(keys.names);
	free(lease);
}

static void on_lease_timer(void *arg)
{
	lease_end(arg);
}

void memory_leases_finish(struct memory *m)
{
	struct memory_lease *lease, *next;

	list_for_each_safe (lease, next, &m->leases, link) {
		list_remove(&lease->link);
		timer_destroy(lease->timer);
		free(lease);
	}
}

struct lease_answer {
	struct later_item item;
	int64_t lease;
	bool alive;
	void (*granted)(int64_t lease, const struct error *err, void *arg);
	void (*kept)(bool alive, const struct error *err, void *arg);
	void (*revoked)(const struct error *err, void *arg);
};

static void lease_answer_drop(struct later_item *item)
{
	free(container_of(item, struct lease_answer, item));
}

static void lease_answer_run(struct later_item *item)
{
	struct lease_answer *a = container_of(item, struct lease_answer, item);

	if (a->granted)
		a->granted(a->lease, NULL, item->arg);
	if (a->kept)
		a->kept(a->alive, NULL, item->arg);
	if (a->revoked)
		a->revoked(NULL, item->arg);
	free(a);
}

static struct lease_answer *lease_answer_create(struct memory *m, void *arg)
{
	struct lease_answer *a = xnew0(struct lease_answer);

	a->item =
		(struct later_item){.run = lease_answer_run, .drop = lease_answer_drop, .arg = arg};
	later_add(m->later, &a->item);
	return a;
}

void memory_lease_grant(struct store *s, int64_t ttl_s,
			void (*done)(int64_t lease, const struct error *err, void *arg), void *arg)
{
	struct memory *m = memory_of(s);
	struct lease_answer *a = lease_answer_create(m, arg);
	struct memory_lease *lease = xnew0(struct memory_lease);

	lease->memory = m;
	lease->id = ++m->last_lease;
	lease->ttl_s = ttl_s;
	lease->timer = timer_create_in(loop_env(m->loop), on_lease_timer, lease);
	timer_start(lease->timer, ttl_s * 1000);
	list_push_back(&m->leases, &lease->link);
	a->lease = lease->id;
	a->granted = done;
}

void memory_lease_keep(struct store *s, int64_t lease_id,
		       void (*done)(bool alive, const struct error *err, void *arg), void *arg)
{
	struct memory *m = memory_of(s);
	struct lease_answer *a = lease_answer_create(m, arg);
	struct memory_lease *lease = lease_find(m, lease_id);

	if (lease)
		timer_start(lease->timer, lease->ttl_s * 1000);
	a->alive = lease != NULL;
	a->kept = done;
}

void memory_lease_revoke(struct store *s, int64_t lease_id,
			 void (*done)(const struct error *err, void *arg), void *arg)
{
	struct memory *m = memory_of(s);
	struct lease_answer *a = lease_answer_create(m, arg);
	struct memory_lease *lease = lease_find(m, lease_id);

	if (lease)
		lease_end(lease);
	a->revoked = done;
}
