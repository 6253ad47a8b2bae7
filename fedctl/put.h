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

/* Prints what became of it: "job ml/x submitted". What only servers set, as in a file that was read
 * from one, is left out. ret_job: the job as it was made, caller owns; NULL for all else. */
int put_object(struct session *s, const struct manifest *m, enum put_mode mode, json_t **ret_job,
	       struct error *err);

#endif
