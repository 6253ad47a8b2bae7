/*
 * Who owns the attempts: the hub (link.c), or, without one, this cluster itself (standalone.c).
 * The runner sees Placements, Jobs and answers only through this table.
 */
#ifndef MEMBER_AGENT_OWNER_H
#define MEMBER_AGENT_OWNER_H

#include <jansson.h>
#include <stdbool.h>

#include "api/doc.h"
#include "api/views.h"
#include "base/error.h"

enum owner_reply {
	OWNER_OK,      /* written; `now` is the Placement as it is, NULL when the word removed it */
	OWNER_CHANGED, /* somebody else wrote it first: its newest state comes as an event */
	OWNER_GONE,    /* there is no such Placement any more: settled */
	OWNER_LATER,   /* not reached, or not known: say it again after a pause */
};

struct owner;

struct owner_ops {
	/* Replaces the status of a Placement, by compare with placement->version and the term. */
	void (*say)(struct owner *o, const struct doc *placement, const json_t *status,
		    void (*done)(enum owner_reply reply, struct doc *now, const struct error *err,
				 void *arg),
		    void *arg);
	/* The Job of a Placement as it is now, read not older than the Placement; job NULL with
	 * err. The runner checks the spec's hash. */
	void (*read_job)(struct owner *o, const struct placement *p,
			 void (*done)(struct doc *job, const struct error *err, void *arg),
			 void *arg);
	/* A ConfigMap or Secret that the Job refers to ("/api/v1/namespaces/x/secrets/y"). */
	void (*read_object)(struct owner *o, const struct placement *p, const char *path,
			    void (*done)(const json_t *object, const struct error *err, void *arg),
			    void *arg);
	/* True when no Placement of that name is in a view of the present incarnation that is not
	 * older than the claim's version: the rule of forgetting (design document 3). */
	bool (*is_absent)(struct owner *o, const char *placement_name, int64_t claim_version);
	/* Calls of `say` and `read_*` that are under way for this arg will not call back. */
	void (*forget_calls)(struct owner *o, void *arg);
};

struct owner {
	const struct owner_ops *ops;
};

#endif
