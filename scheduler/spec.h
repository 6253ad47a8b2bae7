/*
 * Specs: what the core needs of a pod template, interned, so that equal pods are decided once.
 */
#ifndef SCHEDULER_SPEC_H
#define SCHEDULER_SPEC_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "api/selector.h"
#include "scheduler/filter.h"
#include "scheduler/node_class.h"
#include "scheduler/port_set.h"
#include "scheduler/slots.h"

#define FIELD_NODE_NAME "metadata.name"

/* Undecided: a requirement on what differs by node. */
enum admission { ADMIT_NO, ADMIT_BY_NODE, ADMIT_YES };

struct spec_rule {
	struct selector *selector; /* of one requirement; NULL: of names */
	const char *key;
	const char **names; /* the node has one of them, or none when `except` */
	size_t n_names;
	bool except;
	bool architecture;
	char *text; /* "disk=ssd", for people */
};

struct spec_term { /* all of them hold */
	struct spec_rule *rules;
	size_t n;
};

struct spec {
	int id;                  /* small, used again; -1: a variant, not interned */
	uint64_t serial;         /* never used again */
	const struct spec *base; /* of a variant: owns what follows but request, demand and ports */
	size_t refs;
	char *key;
	struct arena arena;
	struct resource_list request;
	struct spec_term all;  /* nodeSelector */
	struct spec_term *any; /* required node affinity: one of them, when there are any */
	size_t n_any;
	struct toleration *tolerations;
	size_t n_tolerations;
	struct port_set *ports;
	struct load *load; /* NULL: not asked for yet */
	unsigned ignore;   /* FILTER_BITs that are taken as passed */
	struct demand demand;
	size_t slots_seen;       /* when demand was made */
	unsigned char *verdicts; /* enum admission, by class id */
	size_t n_verdicts;
	uint64_t classes_seen; /* last serial that was judged; later classes are new */
	uint64_t mask;         /* bits of the classes that are not refused */
	bool by_node;          /* some class is, or was, ADMIT_BY_NODE */
	UT_hash_handle hh;
};

struct model;

/* Takes a reference for the caller. pod_spec: a PodSpec; request: of one pod; labels: further
 * required node labels. INVALID names the field that is malformed or not supported. */
int spec_intern(struct model *m, const json_t *pod_spec, const struct resource_list *request,
		const struct label *labels, size_t n_labels, struct spec **ret, struct error *err);
void spec_unref(struct model *m, struct spec *s); /* NULL: nothing */

/* The same but for some filters, and for resources that are not asked for. Caller ends it with
 * spec_unref, before the base. */
struct spec *spec_variant(struct model *m, const struct spec *base, unsigned ignore,
			  const char *const *without, size_t n_without);

/* Brings slots and classes that came since up to date; before a search. */
void spec_refresh(struct model *m, struct spec *s);
/* After spec_refresh. */
static inline enum admission spec_admission(const struct spec *s, const struct node_class *c)
{
	return s->verdicts[c->id];
}
/* Asked anew, with these filters taken as passed besides the spec's own. */
enum admission spec_judge(const struct spec *s, const struct node_class *c, unsigned ignore);

/* The rules on labels and name, on one node: get gives a label's value, or its name for
 * FIELD_NODE_NAME; NULL when absent. */
bool spec_admits_node(const struct spec *s, const char *(*get)(const char *key, void *arg),
		      void *arg);

/* The first taint of the class that is not tolerated; NULL when there is none. */
const struct taint *spec_repelled_by(const struct spec *s, const struct node_class *c);

#endif
