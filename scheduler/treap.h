/*
 * Ordered trees: a treap whose functions are made for one order and one summary, so that both are
 * inlined. A node's priority is a hash of its content: the shape depends on what is in the
 * tree, never on how it came there.
 */
#ifndef SCHEDULER_TREAP_H
#define SCHEDULER_TREAP_H

#include <stddef.h>
#include <stdint.h>

struct treap_node {
	struct treap_node *left, *right;
	uint64_t priority;
};

/* before(a, b): whether a stands before b; a strict total order.
 * update(n): makes n's summary from n and its children. */
#define DEFINE_TREAP(name, before, update)                                                         \
	static void name##_split(struct treap_node *t, struct treap_node *at,                      \
				 struct treap_node **ret_left, struct treap_node **ret_right)      \
	{                                                                                          \
		if (!t) {                                                                          \
			*ret_left = *ret_right = NULL;                                             \
			return;                                                                    \
		}                                                                                  \
		if (before(t, at)) {                                                               \
			name##_split(t->right, at, &t->right, ret_right);                          \
			*ret_left = t;                                                             \
		} else {                                                                           \
			name##_split(t->left, at, ret_left, &t->left);                             \
			*ret_right = t;                                                            \
		}                                                                                  \
		update(t);                                                                         \
	}                                                                                          \
	static struct treap_node *name##_merge(struct treap_node *a, struct treap_node *b)         \
	{                                                                                          \
		if (!a || !b)                                                                      \
			return a ? a : b;                                                          \
		if (a->priority > b->priority) {                                                   \
			a->right = name##_merge(a->right, b);                                      \
			update(a);                                                                 \
			return a;                                                                  \
		}                                                                                  \
		b->left = name##_merge(a, b->left);                                                \
		update(b);                                                                         \
		return b;                                                                          \
	}                                                                                          \
	static struct treap_node *name##_insert(struct treap_node *t, struct treap_node *n)        \
	{                                                                                          \
		if (!t || n->priority > t->priority) {                                             \
			name##_split(t, n, &n->left, &n->right);                                   \
			update(n);                                                                 \
			return n;                                                                  \
		}                                                                                  \
		if (before(n, t))                                                                  \
			t->left = name##_insert(t->left, n);                                       \
		else                                                                               \
			t->right = name##_insert(t->right, n);                                     \
		update(t);                                                                         \
		return t;                                                                          \
	}                                                                                          \
	/* n must be in t. */                                                                      \
	static struct treap_node *name##_remove(struct treap_node *t, struct treap_node *n)        \
	{                                                                                          \
		if (t == n) {                                                                      \
			t = name##_merge(n->left, n->right);                                       \
			n->left = n->right = NULL;                                                 \
			return t;                                                                  \
		}                                                                                  \
		if (before(n, t))                                                                  \
			t->left = name##_remove(t->left, n);                                       \
		else                                                                               \
			t->right = name##_remove(t->right, n);                                     \
		update(t);                                                                         \
		return t;                                                                          \
	}

static inline struct treap_node *treap_first(struct treap_node *t)
{
	while (t && t->left)
		t = t->left;
	return t;
}

#endif
