/* Which node each pod of a run gets: the session of level 2, and why there is none. */
#ifndef MEMBER_AGENT_PLAN_H
#define MEMBER_AGENT_PLAN_H

#include "member-agent/twin.h"
#include "scheduler/site.h"

struct runner;

struct refusal {
	char reason[64], message[400];
	bool lasting;         /* no node here could hold it, were it empty and without taints */
	json_t *nearest_miss; /* or NULL */
};
void refusal_finish(struct refusal *r);
void refusal_set(struct refusal *r, const char *reason, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* All pods (pods NULL) or these only, booked at once under the job's uid. specs: of each task, as
 * the member's apiserver returned them. NULL with ret_why when it cannot be: NoRoom when it could
 * on emptier nodes, else NeverFits. */
struct site_placement *plan_make(struct runner *r, const struct twin *t, json_t *const *specs,
				 const struct site_pod *pods, size_t n, struct refusal *ret_why);

#endif
