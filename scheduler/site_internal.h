/* Shared by the site_*.c files. */
#ifndef SCHEDULER_SITE_INTERNAL_H
#define SCHEDULER_SITE_INTERNAL_H

#include "base/list.h"
#include "scheduler/census.h"
#include "scheduler/gang.h"
#include "scheduler/load.h"
#include "scheduler/quota.h"
#include "scheduler/site.h"
#include "scheduler/space.h"

struct site_node {
	char *name;
	bool present; /* else only pods speak of it */
	bool dirty;
	struct arena arena; /* of labels and taints */
	struct label *labels;
	size_t n_labels;
	struct taint *taints;
	size_t n_taints;
	int64_t *allocatable;
	size_t n_allocatable; /* slots */
	struct node_class *cls;
	struct seat free, capacity;
	uint64_t rank;
	struct list tenants;
	struct list_node dirty_link;
	UT_hash_handle hh;
};

/* A pod that was seen, or a booking. */
struct tenant {
	struct load *load;
	struct site_node *node;
	struct list_node on_node;
	UT_hash_handle hh;
	char id[]; /* pod uid, or the booking's key */
};

struct site {
	char *name;
	struct model model;
	struct space free, capacity;
	struct site_node *nodes;  /* by name */
	struct site_node **order; /* by name, those present */
	size_t n_order, cap_order;
	struct list dirty;
	struct tenant *pods, *bookings;
	struct census census;
	bool census_dirty;
	uint64_t specs_seen;
	struct shape_report *report; /* the last one; NULL: none yet */
	struct quotas quotas;
	struct pending pending;
	uint64_t events;           /* after which site_next must begin anew */
	const struct gang *resume; /* the last that site_next looked at */
	uint64_t resume_events;
};

/* site.c */
struct site_node *site_need_node(struct site *s, const char *name);
void site_touch(struct site *s, struct site_node *n); /* its room may have changed */
void site_drop_if_unused(struct site *s, struct site_node *n);
void site_settle(struct site *s); /* brings groups up to date with the events */

/* site_pods.c */
/* The node's groups must already count it, or be touched by the caller. */
void site_book_load(struct site *s, const struct site_key *key, struct site_node *n,
		    struct load *take_load);
void site_pods_finish(struct site *s);

/* site_shapes.c */
void site_report_forget(struct site *s);

#endif
