/* Parts of job_validate() that have files of their own. Inside of api/ only. */
#ifndef API_JOB_RULES_H
#define API_JOB_RULES_H

#include "api/path.h"

/* A spec that changed although the job was given to a cluster: a cause for each field that did. */
void job_check_frozen(const json_t *job, const json_t *old, struct causes *c);

/* spec.placement: selectors, data sets, alternatives. at is the path of spec. */
void job_check_placement(const json_t *spec, const struct path *at, struct causes *c);

#endif
