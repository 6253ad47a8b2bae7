#include "scheduler/port_set.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

static int compare_ports(const void *a, const void *b)
{
	const int32_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

static struct port_set *sorted_set(const int32_t *ports, size_t n)
{
	struct port_set *s = xcalloc(1, sizeof(*s) + n * sizeof(*ports));

	memcpy(s->ports, ports, n * sizeof(*ports));
	qsort(s->ports, n, sizeof(*ports), compare_ports);
	for (size_t i = 0; i < n; i++)
		if (!s->n || s->ports[s->n - 1] != s->ports[i])
			s->ports[s->n++] = s->ports[i];
	return s;
}

struct port_set *port_set_intern(struct port_set **all, const int32_t *ports, size_t n)
{
	struct port_set *s, *found;

	if (!n)
		return NULL;
	s = sorted_set(ports, n);
	HASH_FIND(hh, *all, s->ports, s->n * sizeof(*s->ports), found);
	if (found) {
		free(s);
		return port_set_ref(found);
	}
	HASH_ADD_KEYPTR(hh, *all, s->ports, s->n * sizeof(*s->ports), s);
	return port_set_ref(s);
}

struct port_set *port_set_union(struct port_set **all, struct port_set *a, struct port_set *b)
{
	auto_xfree int32_t *both = NULL;

	if (!a || !b || a == b)
		return port_set_ref(a ? a : b);
	both = xcalloc(a->n + b->n, sizeof(*both));
	memcpy(both, a->ports, a->n * sizeof(*both));
	memcpy(both + a->n, b->ports, b->n * sizeof(*both));
	return port_set_intern(all, both, a->n + b->n);
}

struct port_set *port_set_ref(struct port_set *s)
{
	if (s)
		s->refs++;
	return s;
}

void port_set_unref(struct port_set **all, struct port_set *s)
{
	if (!s || --s->refs)
		return;
	HASH_DEL(*all, s);
	free(s);
}

bool port_set_meets(const struct port_set *a, const struct port_set *b)
{
	size_t i = 0, j = 0;

	while (a && b && i < a->n && j < b->n) {
		if (a->ports[i] == b->ports[j])
			return true;
		if (a->ports[i] < b->ports[j])
			i++;
		else
			j++;
	}
	return false;
}

int port_set_compare(const struct port_set *a, const struct port_set *b)
{
	size_t na = a ? a->n : 0, nb = b ? b->n : 0;

	for (size_t i = 0; i < na && i < nb; i++)
		if (a->ports[i] != b->ports[i])
			return a->ports[i] < b->ports[i] ? -1 : 1;
	return (na > nb) - (na < nb);
}
