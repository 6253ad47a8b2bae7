/* Objects as they change: one watch, or one for each name when there are few. */
#ifndef FEDCTL_FOLLOW_H
#define FEDCTL_FOLLOW_H

#include "api/doc.h"
#include "fedctl/session.h"

struct follow;

struct follow_config {
	const struct kind *kind;
	const char *ns;           /* NULL: all */
	const char *selector;     /* the text of -l, or NULL */
	const char *const *names; /* NULL: all */
	size_t n_names;
	/* As of kube/informer.h; object is NULL when it is gone, prev when it is new. */
	void (*changed)(const json_t *object, const json_t *prev, void *arg);
	void (*synced)(void *arg); /* what was there has been told; may be NULL */
	void *arg;
	bool *done;   /* what the owner waits for */
	bool patient; /* the owner ends a first look that takes too long */
};

/* When the first look fails the owner is woken and follow_failed() gives why. Later failures are
 * warned of, and it goes on. */
struct follow *follow_create(struct session *s, const struct follow_config *config);
void follow_destroy(struct follow *f);
DEFINE_CLEANUP(struct follow, follow_destroy)
const struct error *follow_failed(const struct follow *f); /* NULL: it did not */

#endif
