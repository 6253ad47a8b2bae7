/*
 * Taints and who bears them, by the rules of Kubernetes: of nodes, and of whole clusters.
 */
#ifndef SCHEDULER_TAINT_H
#define SCHEDULER_TAINT_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "base/mem.h"
#include "base/strbuf.h"

/* Only the effects that keep pods away; a toleration names the effect by the same texts. */
struct taint {
	const char *key, *value; /* value "" when absent */
	const char *effect;      /* "NoSchedule" or "NoExecute" */
};

struct toleration {
	const char *key, *value, *effect; /* "": any */
	bool exists;
};

/* From a Kubernetes taints array (or NULL); other effects are left out. Strings are borrowed. */
void taints_parse(struct arena *a, const json_t *array, struct taint **ret, size_t *ret_n);
/* The same into the arena, strings too. */
void taints_copy(struct arena *a, const json_t *array, struct taint **ret, size_t *ret_n);
/* From a Kubernetes tolerations array (or NULL); strings go into the arena. INVALID:
 * "tolerations[i]...". */
int tolerations_parse(struct arena *a, const json_t *array, struct toleration **ret, size_t *ret_n,
		      struct error *err);

/* The first taint that none of the tolerations bears; NULL when there is none. */
const struct taint *taints_repel(const struct taint *taints, size_t n_taints,
				 const struct toleration *tolerations, size_t n_tolerations);
/* "taint gpu=a:NoSchedule is not tolerated" */
void taint_say(const struct taint *t, struct strbuf *out);

#endif
