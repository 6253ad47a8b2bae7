/* The rows of the kind table and the functions that they name. Inside of api/ only. */
#ifndef API_KINDS_H
#define API_KINDS_H

#include "api/kind.h"
#include "api/path.h"

#define KIND_VARS(X)                                                                               \
	X(configmap)                                                                               \
	X(event)                                                                                   \
	X(namespace)                                                                               \
	X(node)                                                                                    \
	X(pod)                                                                                     \
	X(secret)                                                                                  \
	X(service)                                                                                 \
	X(csr)                                                                                     \
	X(lease)                                                                                   \
	X(event_v1)                                                                                \
	X(priorityclass)                                                                           \
	X(job)                                                                                     \
	X(queue)                                                                                   \
	X(cluster)                                                                                 \
	X(dataset)                                                                                 \
	X(placement)

#define X(var)                                                                                     \
	extern const struct kind kind_##var;                                                       \
	extern const struct column columns_##var[];
KIND_VARS(X)
#undef X

void job_set_defaults(json_t *job);
void namespace_set_defaults(json_t *ns);
void node_set_defaults(json_t *node);
void pod_set_defaults(json_t *pod);
void secret_set_defaults(json_t *secret);

/* As `validate` of struct kind. */
void cluster_validate(const json_t *cluster, const json_t *old, struct causes *causes);
void configmap_validate(const json_t *configmap, const json_t *old, struct causes *causes);
void csr_validate(const json_t *csr, const json_t *old, struct causes *causes);
void dataset_validate(const json_t *dataset, const json_t *old, struct causes *causes);
void event_validate(const json_t *event, const json_t *old, struct causes *causes);
void job_validate(const json_t *job, const json_t *old, struct causes *causes);
void node_validate(const json_t *node, const json_t *old, struct causes *causes);
void pod_validate(const json_t *pod, const json_t *old, struct causes *causes);
void priorityclass_validate(const json_t *class, const json_t *old, struct causes *causes);
void queue_validate(const json_t *queue, const json_t *old, struct causes *causes);
void secret_validate(const json_t *secret, const json_t *old, struct causes *causes);
void service_validate(const json_t *service, const json_t *old, struct causes *causes);

#endif
