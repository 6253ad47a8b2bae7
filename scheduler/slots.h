/*
 * Resource names as small numbers, and what one pod takes as (slot, amount) pairs. Only what nodes
 * have gets a slot; a name that only a pod asks for does not, since users write those.
 */
#ifndef SCHEDULER_SLOTS_H
#define SCHEDULER_SLOTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "api/resources.h"
#include "base/map.h"

enum { SLOT_CPU, SLOT_MEMORY, SLOT_PODS, SLOTS_FIXED };
#define SLOT_NONE   (-1)
#define SLOTS_MAX   1024 /* names beyond are as if no node had them */
#define SLOT_STRIDE 8    /* vectors are multiples of this long */

struct resource_slot {
	char *name;
	int number;
	bool extended; /* a device and its like: neither cpu, memory, nor the platform's own */
	UT_hash_handle hh;
};

struct slots {
	struct resource_slot **items;
	size_t n, cap;
	struct resource_slot *by_name;
};

void slots_init(struct slots *s);
void slots_finish(struct slots *s);
int slots_find(const struct slots *s, const char *name); /* SLOT_NONE when there is none */
int slots_intern(struct slots *s, const char *name);     /* SLOT_NONE when full */
bool resource_is_extended(const char *name);

static inline size_t slots_stride(size_t n_slots)
{
	return (n_slots + SLOT_STRIDE - 1) / SLOT_STRIDE * SLOT_STRIDE;
}

/* Of cpu and memory, whichever is less, at 256 MiB, 4 GiB and 64 GiB per core. What holds a pod
 * has at least the pod's balance: maxima of cpu and of memory alone say little where nodes are
 * exhausted in one or the other. */
#define BALANCES 3
static inline void balance_set(int64_t balance[BALANCES], int64_t cpu_milli, int64_t memory)
{
	for (int i = 0; i < BALANCES; i++) {
		int64_t m = memory >> (18 + 4 * i);

		balance[i] = cpu_milli < m ? cpu_milli : m;
	}
}

/* Amounts above 0 of one pod. */
struct demand {
	struct demand_item {
		int64_t amount;
		int slot;
	} * items;
	size_t n;
	int64_t balance[BALANCES];
	uint64_t extended; /* bit slot % 64 of each extended one */
	bool unknown;      /* asks for something that has no slot: fits nowhere */
};

void demand_init(struct demand *d, const struct slots *s, const struct resource_list *l);
void demand_finish(struct demand *d);

static inline bool demand_fits(const struct demand *d, const int64_t *room, size_t stride)
{
	if (d->unknown)
		return false;
	for (size_t i = 0; i < d->n; i++)
		if ((size_t)d->items[i].slot >= stride ||
		    room[d->items[i].slot] < d->items[i].amount)
			return false;
	return true;
}

/* How many such pods the room holds; `most` when that is more or the pod takes nothing. */
int64_t demand_count(const struct demand *d, const int64_t *room, size_t stride, int64_t most);

#endif
