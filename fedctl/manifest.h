/* Files that people write, to the objects in them. */
#ifndef FEDCTL_MANIFEST_H
#define FEDCTL_MANIFEST_H

#include <jansson.h>

#include "api/kind.h"

struct manifest {
	const struct kind *kind;
	json_t *object;
	const char *name;   /* of the object; NULL: generateName makes one; borrowed */
	char *ns;           /* where it goes; NULL for kinds without namespaces */
	const char *source; /* of the text that it was in; borrowed */
};

struct manifests {
	struct manifest *items;
	size_t n, cap;
};

/* Adds all documents of a YAML or JSON text, the items of Lists one by one. Objects without a
 * namespace get ns; when given is true, another one in a document is an error. source is for error
 * texts and must outlive out. On failure out is as before. */
int manifests_add(struct manifests *out, const char *source, const char *text, size_t n,
		  const char *ns, bool given, struct error *err);
/* One job named in two places would be refused when half is done. */
int manifests_check_twice(const struct manifests *m, struct error *err);
void manifests_finish(struct manifests *m);

#endif
