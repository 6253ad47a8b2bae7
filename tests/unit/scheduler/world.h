/*
 * What tests of the scheduler build on: objects from short YAML. The form is in cases/README.md.
 */
#ifndef TESTS_SCHEDULER_WORLD_H
#define TESTS_SCHEDULER_WORLD_H

#include "api/views.h"
#include "base/json.h"
#include "scheduler/fleet.h"
#include "scheduler/site.h"

#define SECOND INT64_C(1000000000)

json_t *world_yaml(const char *text); /* one document; fails the test when it is malformed */

/* Views of short forms. Callers destroy; the default queue is "default", the uid the name. */
struct job *world_job(const json_t *j);
struct job *world_job_yaml(const char *yaml);
struct node *world_node(const json_t *j, int64_t number); /* name: "<name>-<number>" unless -1 */
struct pod *world_pod(const json_t *j);
struct queue *world_queue(const json_t *j);

/* cluster, with its capacity, and the report of its free shapes. */
void world_add_cluster(struct fleet *f, const json_t *cluster);
void world_add_dataset(struct fleet *f, const json_t *dataset);

/* Runs a session; returns {job: {cluster, why, alternatives, runnersUp} or {waits}} (owned). */
json_t *world_decide(struct fleet *f, int64_t now_ns);

#endif
