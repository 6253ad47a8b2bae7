/* What a person names: "jobs", "job x y", "job/x queue/y", and "x" where only a job can be meant.
 */
#ifndef FEDCTL_TARGETS_H
#define FEDCTL_TARGETS_H

#include "api/kind.h"
#include "base/mem.h"

struct target {
	const struct kind *kind;
	const char *name; /* NULL: all of the kind; borrowed */
};

struct targets {
	struct target *items;
	size_t n, cap;
};

/* "KIND", "KIND NAME..." or "KIND/NAME...". */
int targets_parse(const char *const *args, size_t n, struct targets *ret, struct error *err);
/* "NAME..." or "KIND/NAME..." of this kind only. */
int targets_parse_of(const struct kind *kind, const char *const *args, size_t n,
		     struct targets *ret, struct error *err);
void targets_finish(struct targets *t);

#endif
