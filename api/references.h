/*
 * What a pod template refers to: ConfigMaps and Secrets by name, in env, envFrom, volumes,
 * projected volumes and imagePullSecrets. The hub asks whether a job refers to an object, the
 * agent rewrites the references to its copies.
 */
#ifndef API_REFERENCES_H
#define API_REFERENCES_H

#include <jansson.h>
#include <stdbool.h>

enum reference_kind { REFERENCE_CONFIGMAP, REFERENCE_SECRET };

/* Calls each for every reference of a pod spec: holder[key] is the name. each may change the name
 * in the holder; optional says that the object may be missing. */
void references_each(json_t *pod_spec,
		     void (*each)(enum reference_kind kind, json_t *holder, const char *key,
				  bool optional, void *arg),
		     void *arg);

/* True when a task of the Job refers to the object. */
bool job_refers_to(const json_t *job, enum reference_kind kind, const char *name);

#endif
