/* Shared by those who make explanations. */
#ifndef SCHEDULER_EXPLAIN_INTERNAL_H
#define SCHEDULER_EXPLAIN_INTERNAL_H

#include "scheduler/explain.h"
#include "scheduler/gang.h"
#include "scheduler/judge.h"
#include "scheduler/quota.h"

/* With what is known of the gang itself; places are room for that many. */
struct explain *explain_create(const struct gang *g, size_t n_places);
/* Every resource of which the best variant is more than the queue may still use. */
void explain_add_quotas(struct explain *e, const struct quota_queue *q, const struct gang *g);
/* One cluster, judged by its nodes. */
void explain_add_judged(struct explain *e, const struct gang *g, const char *name,
			const struct judge *j);
void explain_add_step(struct explain *e, enum filter f, int64_t left, int64_t alone);
/* Which filters the gang's own wishes bring in: FILTER_BITs. */
unsigned explain_asked(const struct gang *g);

/* code, detail, remedy, sole and the other gates, from the gate's code, its queue (NULL: there is
 * none; covers: some variant, by its quota) and the places. */
struct explain_gates {
	enum wait_code first;
	const struct quota_queue *queue;
	bool covers;
	const char *missing_dataset; /* NULL: none */
};
void explain_conclude(struct explain *e, const struct explain_gates *gates, bool any_capable);

/* Clusters with the same reason are named together: "arm, large: no node has x; gpu: full". */
struct reason {
	const char *cluster, *text;
};
void reasons_write(const struct reason *r, size_t n, struct strbuf *out);

/* "nvidia.com/gpu: 4 of 16" */
void explain_write_short(const struct explain_short *s, struct strbuf *out);
void explain_amount(const char *resource, int64_t amount, struct strbuf *out);

#endif
