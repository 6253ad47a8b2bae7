/* What the agent writes on objects of its member, and how it names them. */
#ifndef MEMBER_AGENT_NAMES_H
#define MEMBER_AGENT_NAMES_H

#include <stdint.h>

#define LABEL_UID        "federator.dev/uid" /* of the job */
#define LABEL_PART       "federator.dev/part"
#define LABEL_GENERATION "federator.dev/generation"
#define LABEL_RESTART    "federator.dev/restart" /* of pods: the attempt's retries */

#define LABEL_JOB_NAME      "volcano.sh/job-name"
#define LABEL_JOB_NAMESPACE "volcano.sh/job-namespace"
#define LABEL_TASK          "volcano.sh/task-spec"
#define LABEL_TASK_INDEX    "volcano.sh/task-index"
#define LABEL_QUEUE         "volcano.sh/queue-name"

#define ANNOTATION_HUB    "federator.dev/hub" /* of twins: "<hash of the CA>/<our name there>" */
#define ANNOTATION_CLAIM  "federator.dev/claim-version" /* of twins: the Placement's version */
#define FINALIZER_TWIN    "federator.dev/forget"
#define FINALIZER_OUTCOME "federator.dev/outcome" /* of pods, until they are counted */

#define SCHEDULER_NAME "federator"
#define POD_NAME_MAX   63
#define TWINS_PATH     "/apis/federator.dev/v1alpha1/placements"
#define HOSTS_MOUNT    "/etc/volcano"

/* All are the caller's. */
char *pod_name_make(const char *job, const char *task, int32_t index); /* "train-worker-3" */
/* The copy of a referenced object: name cut to 40, "-", 8 of the job's uid. */
char *copy_name_make(const char *name, const char *job_uid);
char *pods_path(const char *ns);
char *twins_path(const char *ns);

#endif
