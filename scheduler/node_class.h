/*
 * Classes: what does not change about a node as pods come and go, interned by content.
 */
#ifndef SCHEDULER_NODE_CLASS_H
#define SCHEDULER_NODE_CLASS_H

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>

#include "api/views.h"
#include "base/map.h"
#include "base/mem.h"
#include "scheduler/taint.h"

#define LABEL_BY_NODE       "*" /* value of a key that differs by node; no label can have it */
#define LABEL_ARCH          "kubernetes.io/arch"
#define LABEL_ARCH_BETA     "beta.kubernetes.io/arch"
#define LABEL_HOSTNAME      "kubernetes.io/hostname"
#define TAINT_UNSCHEDULABLE "node.kubernetes.io/unschedulable"
#define TAINT_NOT_READY     "node.kubernetes.io/not-ready"

struct node_class {
	int id;          /* small, used again when the class is gone */
	uint64_t serial; /* never used again */
	uint64_t bit;    /* 1 << id % 64 */
	size_t refs;
	char *key;            /* content; two classes are ordered by it */
	struct label *labels; /* sorted by key, each once */
	size_t n_labels;
	struct taint *taints; /* sorted */
	size_t n_taints;
	json_t *taints_json; /* the same as an array, for shapes; NULL when there are none */
	struct arena arena;
	UT_hash_handle hh;
};
const char *node_class_label(const struct node_class *c, const char *key); /* NULL when absent */

struct node_classes {
	struct node_class **by_id; /* NULL where an id is free */
	size_t n, cap, live;
	struct node_class *by_key;
	uint64_t last_serial;
};

/* Takes a reference for the caller. Order and repetition of labels and taints do not matter;
 * of equal keys of labels the last counts. */
struct node_class *node_class_intern(struct node_classes *all, const struct label *labels,
				     size_t n_labels, const struct taint *taints, size_t n_taints);
void node_class_unref(struct node_classes *all, struct node_class *c); /* NULL: nothing */
void node_classes_finish(struct node_classes *all);

#endif
