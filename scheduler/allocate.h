/*
 * The action allocate: a gang into a space.
 */
#ifndef SCHEDULER_ALLOCATE_H
#define SCHEDULER_ALLOCATE_H

#include "scheduler/form.h"
#include "scheduler/space.h"

/* Whole, or nothing: true leaves the takings in the log (`part` is the task), false leaves nothing
 * behind. */
bool allocate_gang(struct space *s, const struct form_variant *v, size_t n_tasks);

/* As much of every task as goes in, larger pods first; stays in the log. placed: by task, may be
 * NULL. Returns the number of pods. */
int64_t allocate_most(struct space *s, const struct form_variant *v, size_t n_tasks,
		      int64_t *placed);

#endif
