/*
 * What the member's apiserver makes of a pod before it is made: one dry run for each task and
 * template. Its answer, with that cluster's defaults and overhead, is what is booked.
 */
#ifndef MEMBER_AGENT_DRY_H
#define MEMBER_AGENT_DRY_H

#include "member-agent/twin.h"

struct runner;
struct dry_run;

/* specs: a PodSpec of each task, the caller's array and references; NULL when refused, then err
 * has the member's own text. */
typedef void (*dry_done)(json_t **take_specs, const struct error *err, void *arg);

/* t must outlive it. May call back only later. What fails in passing is tried again. */
struct dry_run *dry_run_start(struct runner *r, const struct twin *t, dry_done done, void *arg);
void dry_run_cancel(struct dry_run *d); /* NULL: nothing */

/* Answers for a namespace (NULL: all) may be different from now on. */
void dry_forget(struct runner *r, const char *ns);

#endif
