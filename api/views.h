/*
 * Views: plain typed copies of what the code needs of an object, each in an arena of its own.
 * A view is made from a checked document; what is absent has its zero or the default named here.
 * Views are read-only: writes are made on trees.
 */
#ifndef API_VIEWS_H
#define API_VIEWS_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "api/doc.h"
#include "api/resources.h"
#include "api/selector.h"

struct label {
	const char *key, *value;
};

/* metadata, of every kind. */
struct meta {
	const char *ns, *name, *uid; /* ns "" when cluster-wide */
	int64_t version, generation;
	int64_t created_ns;       /* wall clock, whole seconds */
	int64_t created_revision; /* of the store, of a view of a document; else 0 */
	int64_t deleted_ns;       /* deletionTimestamp; 0: not being deleted */
	struct label *labels, *annotations;
	size_t n_labels, n_annotations;
	const char *const *finalizers; /* NULL-terminated */
	const char *owner_uid;         /* of the controlling owner, or NULL */
};
const char *meta_label(const struct meta *m, const char *key); /* NULL when absent */
const char *meta_annotation(const struct meta *m, const char *key);
bool meta_has_finalizer(const struct meta *m, const char *name);

struct job_alternative {
	const char *task;
	struct resource_list resources; /* replaces requests of these names in the task's pods */
	struct label *node_selector;    /* added to the template's */
	size_t n_node_selector;
	int32_t replicas; /* -1: as the task's */
};

struct job_task {
	const char *name;
	int32_t replicas, min_available, max_retry;
	const json_t *template_;      /* the PodTemplateSpec; lives as long as the view */
	struct resource_list request; /* of one pod */
};

struct job_dataset {
	const char *name;
};

/* status.dispatch: the authoritative record (design document 3). */
enum dispatch_phase {
	DISPATCH_NONE, /* no record yet: as Queued */
	DISPATCH_QUEUED,
	DISPATCH_CONFIRMED,
	DISPATCH_RUNNING,
	DISPATCH_RELEASING,
	DISPATCH_ENDED,
	DISPATCH_UNCERTAIN,
};
const char *dispatch_phase_name(enum dispatch_phase p); /* "Queued"; NONE: "" */

struct dispatch {
	enum dispatch_phase phase;
	int64_t n; /* generations used so far; never reset */
	int32_t retries;
	const char *cluster, *cluster_uid; /* of the one part; NULL when Queued */
	int64_t generation;
};

struct job {
	struct arena arena;
	json_t *tree; /* held for templates and tolerations */
	struct meta meta;
	const char *queue, *priority_class;
	int32_t min_available, min_success /* -1 */, max_retry;
	int64_t ttl_s; /* -1: keep */
	struct job_task *tasks;
	size_t n_tasks;
	bool plugin_env, plugin_svc;
	struct selector *cluster_selector;
	const json_t *tolerations; /* of taints of clusters: array or NULL; lives as long as tree */
	struct job_alternative *alternatives;
	size_t n_alternatives;
	struct job_dataset *datasets;
	size_t n_datasets;
	struct dispatch dispatch;
	const char *phase; /* status.state.phase, "" when none */
	int64_t phase_since_ns;
};
int job_view(const struct doc *d, struct job **ret, struct error *err);
int job_view_tree(const json_t *tree, struct job **ret, struct error *err);
void job_destroy(struct job *j);

struct queue {
	struct arena arena;
	struct meta meta;
	bool open;                       /* spec.closed is not set */
	const char *state;               /* status.state as its writer saw it, "" when none */
	struct resource_list capability; /* empty: no ceiling */
	bool has_capability;
};
int queue_view(const struct doc *d, struct queue **ret, struct error *err);
bool queue_is_open(const struct doc *d); /* the same as the view's, read alone */
void queue_destroy(struct queue *q);

/* Nodes of equal class and equal amounts: (class, vector, count). */
struct shape {
	struct label *labels; /* of the class, sorted by key; no hostname and its like */
	size_t n_labels;
	const json_t *taints; /* array or NULL; lives as long as the view's tree */
	struct resource_list amounts;
	int64_t count;
};

#define CLUSTER_CORDON_TAINT "federator.dev/cordoned"

struct cluster {
	struct arena arena;
	json_t *tree;
	struct meta meta;
	bool accepted, cordoned; /* cordoned: has the taint CLUSTER_CORDON_TAINT:NoSchedule */
	const json_t *taints;    /* that of the cordon too; array or NULL; lives as long as tree */
	bool ready;
	struct shape *capacity; /* of empty nodes */
	size_t n_capacity;
	bool reported; /* capacity has been reported at least once */
};
int cluster_view(const struct doc *d, struct cluster **ret, struct error *err);
void cluster_destroy(struct cluster *c);

/* A shapes array as in Cluster.status.capacityShapes and the capacity subresource. */
int shapes_parse(struct arena *a, const json_t *array, struct shape **ret, size_t *ret_n,
		 struct error *err);
json_t *shapes_json(const struct shape *shapes, size_t n);

enum desired { DESIRED_UNKNOWN, DESIRED_GO, DESIRED_RELEASE };
enum placement_state {
	PLACEMENT_NONE, /* offered, not answered */
	PLACEMENT_CLAIMED,
	PLACEMENT_RUNNING,
	PLACEMENT_REFUSED,
	PLACEMENT_RELEASED,
	PLACEMENT_DONE,
	PLACEMENT_LOST,
};
const char *placement_state_name(enum placement_state s); /* "Claimed"; NONE: "" */

struct placement_task {
	const char *name;
	int32_t alternative; /* index into the job's alternatives; -1: the task itself */
	int32_t replicas;
};

struct placement {
	struct arena arena;
	json_t *tree;
	struct meta meta;
	const char *job_ns, *job_name, *job_uid, *spec_hash, *cluster_uid;
	int64_t part, generation, incarnation;
	enum desired desired;
	int64_t grace_s, retries, protocol;
	struct placement_task *tasks; /* spec.size.tasks */
	size_t n_tasks;
	enum placement_state state;
	const char *reason, *message;
	int64_t capacity_seq;
};
int placement_view(const struct doc *d, struct placement **ret, struct error *err);
void placement_destroy(struct placement *p);

struct dataset_replica {
	const char *cluster;
	int64_t completeness_millionths; /* of "0" to "1" */
};
struct dataset {
	struct arena arena;
	struct meta meta;
	int64_t size_bytes;
	struct dataset_replica *replicas;
	size_t n_replicas;
};
int dataset_view(const struct doc *d, struct dataset **ret, struct error *err);
void dataset_destroy(struct dataset *d);

struct node {
	struct arena arena;
	json_t *tree;
	struct meta meta;
	bool unschedulable, ready;
	const json_t *taints; /* array or NULL */
	struct resource_list allocatable;
};
int node_view(const struct doc *d, struct node **ret, struct error *err);
void node_destroy(struct node *n);

enum pod_phase { POD_PENDING, POD_RUNNING, POD_SUCCEEDED, POD_FAILED, POD_UNKNOWN };

struct pod {
	struct arena arena;
	json_t *tree;
	struct meta meta;
	const char *node, *nominated_node; /* NULL: none */
	enum pod_phase phase;
	const char *reason, *message; /* of status; NULL when absent */
	struct resource_list request; /* by the rule for running pods; empty when terminal */
	int32_t exit_code;            /* of the first container that has one; -1: none */
	int32_t restarts;             /* over all containers */
	bool disrupted;               /* condition DisruptionTarget is true */
	int32_t *host_ports;
	size_t n_host_ports;
};
int pod_view(const struct doc *d, struct pod **ret, struct error *err);
void pod_destroy(struct pod *p);

DEFINE_CLEANUP(struct job, job_destroy)
DEFINE_CLEANUP(struct queue, queue_destroy)
DEFINE_CLEANUP(struct cluster, cluster_destroy)
DEFINE_CLEANUP(struct placement, placement_destroy)
DEFINE_CLEANUP(struct dataset, dataset_destroy)
DEFINE_CLEANUP(struct node, node_destroy)
DEFINE_CLEANUP(struct pod, pod_destroy)

#endif
