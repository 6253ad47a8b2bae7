/* Objects of a kind as they are printed: once, or as they change. */
#ifndef FEDCTL_LISTING_H
#define FEDCTL_LISTING_H

#include <jansson.h>

#include "fedctl/layout.h"
#include "fedctl/output.h"
#include "fedctl/session.h"
#include "fedctl/targets.h"

struct listing {
	struct session *session;
	struct layout layout;
	enum output output;
	const char *ns;       /* NULL: of all */
	const char *selector; /* the text of -l, or NULL */
	bool below;           /* a table stands above */
	json_t *list;         /* where documents are gathered instead of printed; NULL: nowhere */
};

/* In the namespace that is in force, as --output and --watch say; the command has a --watch. */
struct listing listing_begin(struct session *s, const struct kind *kind);

/* The named objects, or all when there is no name; targets are of the one kind. Returns the exit
 * code. With --watch it ends only when nobody reads any more, or at a failure of the first look. */
int listing_run(const struct listing *l, const struct target *targets, size_t n);
/* All of a kind without namespaces, with those columns for people. */
int listing_run_columns(struct session *s, const struct kind *kind,
			const struct layout_column *columns);

#endif
