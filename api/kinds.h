/* The rows of the kind table and the functions that they name. Inside of api/ only. */
#ifndef API_KINDS_H
#define API_KINDS_H

#include "api/kind.h"
#include "api/path.h"

extern const struct kind kind_job, kind_queue;
extern const struct kind kind_namespace, kind_configmap;

extern const struct column columns_job[], columns_queue[];
extern const struct column columns_namespace[], columns_configmap[];

void job_set_defaults(json_t *job);

void job_validate(const json_t *job, const json_t *old, struct causes *causes);
void configmap_validate(const json_t *configmap, const json_t *old, struct causes *causes);

#endif
