/* An intrusive doubly linked list: embed `struct list_node`, keep a `struct list` as head. */
#ifndef BASE_LIST_H
#define BASE_LIST_H

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/mem.h"

struct list_node {
	struct list_node *prev, *next; /* both NULL while not in a list */
};

struct list {
	struct list_node head; /* use list_init() */
};

static inline void list_init(struct list *l)
{
	l->head.prev = l->head.next = &l->head;
}

static inline bool list_empty(const struct list *l)
{
	return l->head.next == &l->head;
}

static inline bool list_linked(const struct list_node *n)
{
	return n->next != NULL;
}

static inline void list_insert_before(struct list_node *at, struct list_node *n)
{
	assert(!list_linked(n));
	n->prev = at->prev;
	n->next = at;
	at->prev->next = n;
	at->prev = n;
}

static inline void list_push_back(struct list *l, struct list_node *n)
{
	list_insert_before(&l->head, n);
}

static inline void list_push_front(struct list *l, struct list_node *n)
{
	list_insert_before(l->head.next, n);
}

static inline void list_remove(struct list_node *n)
{
	if (!list_linked(n))
		return;
	n->prev->next = n->next;
	n->next->prev = n->prev;
	n->prev = n->next = NULL;
}

static inline struct list_node *list_first(const struct list *l)
{
	return list_empty(l) ? NULL : l->head.next;
}

#define list_entry(node, type, member) container_of((node), type, member)

/* var: pointer to the embedding struct; the body must not remove it. */
#define list_for_each(var, list, member)                                                           \
	for ((var) = container_of((list)->head.next, __typeof__(*(var)), member);                  \
	     &(var)->member != &(list)->head;                                                      \
	     (var) = container_of((var)->member.next, __typeof__(*(var)), member))

/* As above, and the body may remove var. */
#define list_for_each_safe(var, tmp, list, member)                                                 \
	for ((var) = container_of((list)->head.next, __typeof__(*(var)), member),                  \
	    (tmp) = container_of((var)->member.next, __typeof__(*(var)), member);                  \
	     &(var)->member != &(list)->head;                                                      \
	     (var) = (tmp), (tmp) = container_of((tmp)->member.next, __typeof__(*(tmp)), member))

#endif
