/*
 * Gangs: a job as the core sees it. Nothing of the view it was made from is kept.
 */
#ifndef SCHEDULER_GANG_H
#define SCHEDULER_GANG_H

#include "api/selector.h"
#include "api/views.h"
#include "scheduler/form.h"
#include "scheduler/taint.h"
#include "scheduler/treap.h"

/* When a job came: those of one second in the order in which the store took them, where that is
 * known. */
struct submission {
	int64_t ns; /* wall clock */
	int64_t revision;
};
/* As strcmp() compares; 0: neither was before the other. */
static inline int submission_order(struct submission a, struct submission b)
{
	if (a.ns != b.ns)
		return a.ns < b.ns ? -1 : 1;
	return (a.revision > b.revision) - (a.revision < b.revision);
}

struct gang {
	char *uid, *ns, *name, *queue;
	int32_t priority;
	struct submission submitted;
	char **tasks;    /* names */
	char **datasets; /* names, each once, sorted */
	size_t n_datasets;
	struct selector *cluster_selector;
	char *selector_text;            /* for people; "" when it selects everything */
	struct toleration *tolerations; /* of taints of clusters; in the arena */
	size_t n_tolerations;
	struct arena arena;
	struct form *form;
	void *owner;            /* of whoever holds it at level 1 */
	int charged;            /* variant that its queue is charged with; -1: none */
	struct treap_node link; /* in a pending list */
	bool pending;
	uint64_t seen;   /* as pending_seen() was told; 0: never */
	uint64_t oldest; /* seen of this and those below it in the list */
};

/* priority: of the job's class, looked up by the caller. choices: per task the alternative to take
 * (-1: the task itself), NULL: the core chooses. INVALID: the core cannot decide about this job. */
int gang_create(struct model *m, const struct job *job, int32_t priority, const int32_t *choices,
		struct gang **ret, struct error *err);
void gang_destroy(struct model *m, struct gang *g); /* NULL: nothing; must not be pending */

/* The variant with these alternatives (by task); -1: there is none. */
int gang_variant(const struct gang *g, const int32_t *choices);

/* Gangs that wait, in the order of the plugins. */
struct pending {
	struct treap_node *root;
	size_t n;
};
void pending_add(struct pending *p, struct gang *g);
void pending_remove(struct pending *p, struct gang *g); /* not there: nothing */
/* The first gang behind `after` (which need not be pending any more; NULL: from the start) that was
 * not seen at `version`; UINT64_MAX: seen or not. Skips others at no cost. */
struct gang *pending_next(const struct pending *p, const struct gang *after, uint64_t version);
/* The gang need not be looked at before there is a later version; 0: it must be. */
void pending_seen(struct pending *p, struct gang *g, uint64_t version);

#endif
