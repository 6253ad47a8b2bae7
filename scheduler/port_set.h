/*
 * Sets of host ports, interned by content. A port counts whatever its protocol and address: two
 * that would not collide are kept apart, never the other way round.
 */
#ifndef SCHEDULER_PORT_SET_H
#define SCHEDULER_PORT_SET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/map.h"

struct port_set {
	size_t refs, n;
	UT_hash_handle hh;
	int32_t ports[]; /* ascending */
};

/* NULL is the empty set, everywhere. Each of these takes a reference for the caller. */
struct port_set *port_set_intern(struct port_set **all, const int32_t *ports, size_t n);
struct port_set *port_set_union(struct port_set **all, struct port_set *a, struct port_set *b);
struct port_set *port_set_ref(struct port_set *s);
void port_set_unref(struct port_set **all, struct port_set *s);

bool port_set_meets(const struct port_set *a, const struct port_set *b); /* share a port */
int port_set_compare(const struct port_set *a, const struct port_set *b);

#endif
