/* One object of a file to the federator: jobs are made, other kinds made or brought up to date. */
#ifndef FEDCTL_PUT_H
#define FEDCTL_PUT_H

#include "fedctl/manifest.h"
#include "fedctl/session.h"

enum put_mode {
	PUT_CHECK, /* nothing is kept, and only a refusal is told */
	PUT_DRY,   /* nothing is kept */
	PUT_KEEP,
};

/* Prints what became of it: "job ml/x submitted", or its name where names are asked for; documents
 * are the caller's to print. What only servers set, as in a file that was read from one, is left
 * out. ret: the object as it is then, caller owns. */
int put_object(struct session *s, const struct manifest *m, enum put_mode mode, json_t **ret,
	       struct error *err);

#endif
