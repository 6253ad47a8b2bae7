/*
 * Why a form does not fit into one cluster: which filter of nodes or amounts it fails first, what
 * would lift that, and how much of it fits. For explaining; deciding only allocates.
 */
#ifndef SCHEDULER_JUDGE_H
#define SCHEDULER_JUDGE_H

#include "scheduler/explain.h"
#include "scheduler/form.h"
#include "scheduler/space.h"

struct judge {
	struct model *model;
	struct space *free, *capacity;
	struct form *form;
	uint64_t allowed; /* bit i: variant i may be chosen */
};

/* What is taken as passed. */
struct lift {
	unsigned filters;       /* FILTER_BITs */
	const char **resources; /* asked for no more */
	size_t n_resources;
};

/* The first filter that the variant fails; FILTER_NONE when it fits. */
enum filter judge_variant(const struct judge *j, const struct form_variant *v, struct lift lift);
/* The first filter of the variant that goes furthest. */
enum filter judge_form(const struct judge *j, struct lift lift, size_t *ret_variant);
/* Room apart: ARCHITECTURE to CAPACITY, or NONE. Remembered in the form until capacity grows. */
enum filter judge_capable(const struct judge *j);

/* The filter of node classes that every node fails; FILTER_CAPACITY when one passes them. */
enum filter judge_classes(struct space *capacity, const struct spec *spec);
/* The first of those filters that a group of empty nodes fails, FILTER_CAPACITY when none. */
enum filter judge_group(struct space *capacity, const struct spec *spec,
			const struct shape_group *g);

/* An extended resource that is asked for, and of which the group has none at all. */
bool judge_lacks_device(const struct space *s, const struct spec *spec,
			const struct shape_group *g);

struct judgement {
	enum filter filter;
	enum verdict verdict;
	size_t variant; /* that went furthest */
	bool sole;      /* lifting the filter, or one of the resources, alone would make it fit */
	struct explain_short *shorts;
	size_t n_shorts;
	int64_t fits, pods;
	const char *detail;
};
/* All of it. Strings live in the arena, or as long as the form. */
void judge_fully(const struct judge *j, struct arena *a, struct judgement *ret);

/* Why the filter is failed, in words. */
void judge_say(const struct judge *j, const struct judgement *what, struct strbuf *out);

#endif
