#include "scheduler/slots.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

bool resource_is_extended(const char *name)
{
	static const char own[] = "kubernetes.io";
	const char *slash = strchr(name, '/');
	size_t n = slash ? (size_t)(slash - name) : 0;
	size_t k = sizeof(own) - 1;

	if (!slash)
		return false;
	return n < k || strncmp(slash - k, own, k) != 0 || (n > k && name[n - k - 1] != '.');
}

int slots_find(const struct slots *s, const char *name)
{
	struct resource_slot *found;

	HASH_FIND_STR(s->by_name, name, found);
	return found ? found->number : SLOT_NONE;
}

int slots_intern(struct slots *s, const char *name)
{
	struct resource_slot *slot;
	int number = slots_find(s, name);

	if (number != SLOT_NONE || s->n == SLOTS_MAX)
		return number;
	slot = xnew0(struct resource_slot);
	slot->name = xstrdup(name);
	slot->number = (int)s->n;
	slot->extended = resource_is_extended(name);
	GROW(s->items, s->n, s->cap);
	s->items[s->n++] = slot;
	HASH_ADD_KEYPTR(hh, s->by_name, slot->name, strlen(slot->name), slot);
	return slot->number;
}

void slots_init(struct slots *s)
{
	static const char *const fixed[SLOTS_FIXED] = {"cpu", "memory", "pods"};

	*s = (struct slots){0};
	for (size_t i = 0; i < SLOTS_FIXED; i++)
		slots_intern(s, fixed[i]);
}

void slots_finish(struct slots *s)
{
	HASH_CLEAR(hh, s->by_name);
	for (size_t i = 0; i < s->n; i++) {
		free(s->items[i]->name);
		free(s->items[i]);
	}
	free(s->items);
	*s = (struct slots){0};
}

void demand_init(struct demand *d, const struct slots *s, const struct resource_list *l)
{
	*d = (struct demand){.items = xcalloc(l->n, sizeof(*d->items))};
	balance_set(d->balance, resource_list_get(l, "cpu"), resource_list_get(l, "memory"));
	for (size_t i = 0; i < l->n; i++) {
		int slot = slots_find(s, l->items[i].name);

		if (l->items[i].amount <= 0)
			continue;
		if (slot == SLOT_NONE) {
			d->unknown = true;
			continue;
		}
		d->items[d->n++] = (struct demand_item){l->items[i].amount, slot};
		if (s->items[slot]->extended)
			d->extended |= UINT64_C(1) << (slot & 63);
	}
}

void demand_finish(struct demand *d)
{
	free(d->items);
	*d = (struct demand){0};
}

int64_t demand_count(const struct demand *d, const int64_t *room, size_t stride, int64_t most)
{
	if (!demand_fits(d, room, stride))
		return 0;
	for (size_t i = 0; i < d->n; i++) {
		int64_t n = room[d->items[i].slot] / d->items[i].amount;

		if (n < most)
			most = n;
	}
	return most;
}
