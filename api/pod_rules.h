/* What must hold of pods and of the templates that they are made from. Inside of api/ only. */
#ifndef API_POD_RULES_H
#define API_POD_RULES_H

#include "api/path.h"

/* Labels, annotations and spec of a PodTemplateSpec, as far as schedulers read them; the member's
 * apiserver is asked for the rest. Refuses what would be without effect or could never start. */
void pod_template_check(const json_t *template_, const struct path *at, struct causes *c);
/* Beyond the schema of a pod's spec, which has found nothing wrong. */
void pod_spec_check(const json_t *spec, const struct path *at, struct causes *c);

/* matchExpressions of labels: In and NotIn have values, Exists and DoesNotExist none, Gt and Lt one
 * whole number. */
void expressions_check(const json_t *expressions, const struct path *at, struct causes *c);
/* {name: amount}: names are good, amounts of devices whole. */
void amounts_check(const json_t *amounts, const struct path *at, struct causes *c);
/* The same for what a container asks for, where a name without a domain is Kubernetes' own. */
void container_amounts_check(const json_t *amounts, const struct path *at, struct causes *c);
/* The same for what a queue may use, pods and storage included. */
void queue_amounts_check(const json_t *amounts, const struct path *at, struct causes *c);

/* One toleration: of pods, or of a job for clusters. */
void toleration_check(const json_t *toleration, const struct path *at, struct causes *c);

#endif
