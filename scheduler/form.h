/*
 * Forms: what a gang asks for, shared by all gangs that ask the same, in each of its variants (one
 * alternative chosen for every task), best first.
 */
#ifndef SCHEDULER_FORM_H
#define SCHEDULER_FORM_H

#include "api/views.h"
#include "scheduler/filter.h"
#include "scheduler/model.h"

#define FORM_VARIANTS_MAX 64 /* the best ones, when alternatives of many tasks multiply */

struct form_part {
	struct spec *spec; /* held by the form */
	int32_t replicas;
	int32_t alternative; /* index into the job's alternatives; -1: the task itself */
};

struct form_variant {
	struct form_part *parts; /* by task */
	int32_t *order;          /* of tasks: those with the largest pods first */
	int64_t rank;            /* sum of places in the tasks' lists; 0 is the best */
	int64_t pods;
	struct resource_list total; /* requests of all pods */
};

/* What was found about one space; a growth is 0 for never. */
struct form_memory {
	uint64_t full;   /* growth of free at which nothing fitted, + 1 */
	uint64_t judged; /* growth of capacity at which `capable` was found, + 1 */
	enum filter capable;
	char *why; /* in words, why not; NULL: not asked yet */
};

struct form {
	size_t refs;
	char *key;
	struct arena arena;
	size_t n_tasks, n_variants;
	struct form_variant *variants;
	struct form_memory *memories; /* by space id */
	size_t n_memories;
	UT_hash_handle hh;
};

/* Takes a reference for the caller. choices: per task the alternative to take; NULL: any. INVALID
 * names the field of the job that is malformed or not supported. */
int form_intern(struct model *m, const struct job *job, const int32_t *choices, struct form **ret,
		struct error *err);
struct form *form_ref(struct form *f);
void form_unref(struct model *m, struct form *f); /* NULL: nothing */

/* Tasks with the largest pods first: most devices, then cpu and memory as in binpack. */
void form_order(const struct form_part *parts, size_t n, int32_t *ret_order);

/* The bits of all variants. */
static inline uint64_t form_all(const struct form *f)
{
	return UINT64_MAX >> (FORM_VARIANTS_MAX - f->n_variants);
}

struct form_memory *form_memory(struct form *f, int space_id);

#endif
