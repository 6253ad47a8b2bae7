/*
 * The room of one cluster: groups of nodes that are equal in class, used ports and free amounts.
 * At level 1 a group is a count; at level 2 (`seated`) it also has its nodes.
 */
#ifndef SCHEDULER_SPACE_H
#define SCHEDULER_SPACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "scheduler/model.h"
#include "scheduler/treap.h"

#define SPACE_RECENT 128 /* insertions that a cursor can catch up on */

/* A node's place in one space, inside the node of its owner. */
struct seat {
	struct treap_node link; /* priority: a hash of the name */
	struct shape_group *group;
	const uint64_t *rank; /* order among the nodes of the space; unique */
	void *owner;
};

struct group_key {
	struct node_class *cls;
	struct port_set *ports;
};

struct shape_group {
	struct treap_node link;
	struct space_tree *tree; /* NULL while count is 0 */
	int64_t count;
	struct treap_node *seats;
	int64_t extended; /* free units of extended resources */
	int64_t leftover; /* free cpu in milli + free memory in 4 MiB */
	uint64_t below;   /* bits of the classes in this subtree */
	int64_t balance[BALANCES], balance_below[BALANCES]; /* greatest of the subtree */
	int64_t touched;                                    /* scratch of waste counting */
	uint32_t pins;                                      /* by log entries: not to be freed */
	uint32_t stride;
	UT_hash_handle hh;
	struct group_key key; /* the vector stands right behind: both are the hash key */
	int64_t vectors[];    /* free[stride], then the maxima of the subtree */
};

static inline const int64_t *group_free(const struct shape_group *g)
{
	return g->vectors;
}

struct space_cursor {
	uint64_t serial;            /* of the spec */
	uint64_t seen;              /* insertions */
	int64_t extended, leftover; /* no group that stands before holds the spec */
};

/* The groups with the same set of extended resources free. */
struct space_tree {
	uint64_t kinds; /* bit slot % 64 */
	struct treap_node *root;
	uint64_t insertions;
	struct shape_group *recent[SPACE_RECENT];
	struct space_cursor *cursors; /* by spec id */
	size_t n_cursors;
};

/* n nodes went from one group to another by taking `pods` pods each. */
struct move {
	struct shape_group *from, *to;
	struct seat *seat; /* level 2; n is 1 */
	int64_t n, pods;
	struct spec *spec;
	int32_t part; /* the caller's */
};

struct space {
	struct model *model;
	int id;
	bool seated;
	const char *(*node_value)(const char *key, void *owner); /* as spec_admits_node */
	uint32_t stride;
	struct shape_group *groups; /* by content; also those with count 0 that are still known */
	size_t n_empty;
	struct space_tree **trees;
	size_t n_trees, cap_trees;
	struct move *log;
	size_t n_log, cap_log;
	int64_t *total; /* sum of free */
	int64_t nodes;
	uint64_t growth; /* raised by the owner with every event after which more may fit */
	struct shape_group *probe;
};

void space_init(struct space *s, struct model *m, bool seated);
void space_finish(struct space *s); /* seats must have been taken out; cuts the log */

/* --- events; the log must be empty -------------------------------------------------------- */

/* Vectors of this many slots fit from now on. */
void space_widen(struct space *s, size_t n_slots);
/* Found or made. free: of n_free slots, not negative. */
struct shape_group *space_group(struct space *s, struct node_class *cls, struct port_set *ports,
				const int64_t *free, size_t n_free);
void space_add(struct space *s, struct shape_group *g, int64_t n); /* n may be negative */
void space_seat(struct space *s, struct seat *seat, struct shape_group *g);
void space_unseat(struct space *s, struct seat *seat);

/* --- decisions ---------------------------------------------------------------------------- */

/* The first group, in the order of binpack, that holds one pod; NULL when none does. ret_seat: the
 * node to take, when not every node of the group will do. The spec must be fresh. */
struct shape_group *space_find(struct space *s, struct spec *spec, struct seat **ret_seat);
/* Whether one pod may stand on a node of this group, amounts included. */
bool space_holds(struct space *s, const struct spec *spec, const struct shape_group *g,
		 struct seat **ret_seat);

/* Level 2: whether a node of the group meets the spec's rules on labels and name. */
bool space_any_seat(struct space *s, const struct spec *spec, const struct shape_group *g);

/* Puts `pods` pods each on n nodes of g (level 2: the first by rank, or the given seat). */
void space_take(struct space *s, struct shape_group *g, struct seat *seat, int64_t n, int64_t pods,
		struct spec *spec, int32_t part);

static inline size_t space_mark(const struct space *s)
{
	return s->n_log;
}
void space_rollback(struct space *s, size_t mark); /* undoes what was taken since */
void space_cut(struct space *s);                   /* keeps all that was taken, empties the log */

/* --- reading ------------------------------------------------------------------------------ */

/* Groups with a count, in an order made of content only. Caller frees the array. */
struct shape_group **space_groups(const struct space *s, size_t *ret_n);
bool group_before(const struct shape_group *a, const struct shape_group *b);
uint64_t space_checksum(const struct space *s); /* of all content, however it came about */
const char *space_fault(const struct space *s); /* a broken invariant, NULL when sound; for tests */

#endif
