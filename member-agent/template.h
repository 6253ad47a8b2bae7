/*
 * From a task's template to pods: what the agent adds to what the user wrote. Trees only; no I/O.
 */
#ifndef MEMBER_AGENT_TEMPLATE_H
#define MEMBER_AGENT_TEMPLATE_H

#include <jansson.h>
#include <stdint.h>

#include "api/views.h"
#include "member-agent/twin.h"

/* The chosen alternative (NULL: none), scheduler, restart policy and priority class (NULL: the
 * template's own), in place. */
void template_prepare(json_t *template_, const struct job_alternative *alt,
		      const char *priority_class);
/* Names of ConfigMaps and Secrets become those of their copies. */
void template_rewrite_references(json_t *template_, const char *job_uid);

/* Pod `index` of a task, bound to a node; the caller's. */
struct pod_order {
	const struct twin *twin;
	size_t task;
	int32_t index;
	int64_t restart;
	const char *node; /* NULL: none, for a dry run */
	bool finalizer;   /* keep it until its outcome is counted */
};
json_t *pod_make(const struct pod_order *order);

/* What plugin svc needs beside the pods; the caller's. */
json_t *service_make(const struct twin *t);
json_t *hosts_make(const struct twin *t); /* ConfigMap <job>-svc: <task>.host, "-" as "_" */
char *hosts_name_make(const char *job);

#endif
