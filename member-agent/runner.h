/*
 * The runner: from Placements to pods. Holds the model of this cluster (nodes, pods), one attempt
 * per Placement, the twins, and what is left to forget. Level 2 of the scheduling.
 */
#ifndef MEMBER_AGENT_RUNNER_H
#define MEMBER_AGENT_RUNNER_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/loop.h"
#include "kube/client.h"
#include "member-agent/owner.h"

struct runner;

struct runner_config {
	const char *cluster;       /* "gpu" */
	const char *own_namespace; /* of the agent: journal and Lease live there */
	int64_t shutout_wait_ms;   /* W: no last word and no forgetting until it has passed */
	int64_t keep_pods_ms;      /* ended pods and their twin stay for logs */
	int64_t journal_keep_ms;
	bool predecessor_left_cleanly; /* then there is no W to wait */
	bool predecessor_unknown;      /* nor when nothing here says that there ever was one */
};

/* member: this cluster's apiserver. capacity_changed is called (soon, by a timer) when free or
 * capacity shapes may have changed. Everything but config's pointers must outlive the runner. */
struct runner *runner_create(struct env *env, struct kube *member, struct owner *owner,
			     const struct runner_config *config,
			     void (*capacity_changed)(void *arg), void *arg);
void runner_destroy(struct runner *r);

/* Everything of the member (nodes, pods, twins) was listed: the owner may start to deliver. */
bool runner_is_ready(const struct runner *r);
void runner_on_ready(struct runner *r, void (*fn)(void *arg), void *arg);

/* While a predecessor's writes may yet be carried out: W is not over, and it did not leave
 * cleanly. Who ends now has not left cleanly either. */
bool runner_is_shut_in(const struct runner *r);

/* Placement events of the owner, in order; doc NULL on deletion (prev then tells which). Every
 * Placement of the first list comes as new before runner_placements_synced. */
void runner_placement_changed(struct runner *r, struct doc *doc, struct doc *prev);
void runner_placements_synced(struct runner *r);

/* --- capacity --- */
/* The term is the upper half of every sequence number: set before the first claim. */
void runner_set_term(struct runner *r, int64_t term);
/* What Placements must name to be acted on; cluster_uid NULL, incarnation -1: not checked. A
 * Placement of another Cluster or incarnation is neither started, ended nor forgotten; twins of an
 * earlier Cluster are, where they name the same hub ("<hash of its CA>/<our name there>"). */
void runner_set_identity(struct runner *r, const char *cluster_uid, const char *hub,
			 int64_t incarnation);

/* --- orphans: attempts that live here and have no Placement --- */
size_t runner_orphans(const struct runner *r);
/* Called (by a timer) when their number changed. */
void runner_on_orphans(struct runner *r, void (*fn)(void *arg), void *arg);
struct capacity_report {
	int64_t seq;      /* term * 2^32 + n: grows with every report */
	json_t *shapes;   /* free shapes, the caller's */
	json_t *capacity; /* shapes of empty nodes, the caller's */
};
/* What the cluster has free now. Claims and last words said before carry a seq at most this. */
struct capacity_report runner_report(struct runner *r);

/* --- logs --- */
struct log_request {
	const char *ns, *uid; /* the job's */
	int64_t part, generation;
	const char *task; /* NULL: the first */
	int64_t index;
	bool follow;
	int64_t tail_lines; /* -1: all */
};
/* Streams a pod's log: data until ended (err NULL: it ended well). The result is cancelled with
 * runner_log_cancel; NULL with err when there is no such pod here. */
struct log_stream;
struct log_stream *runner_log(struct runner *r, const struct log_request *request,
			      void (*data)(const char *bytes, size_t n, void *arg),
			      void (*ended)(const struct error *err, void *arg), void *arg,
			      struct error *err);
/* Paused, the member is not read: for who takes it slowly. */
void runner_log_pause(struct log_stream *s, bool paused);
void runner_log_cancel(struct log_stream *s);

/* The nodes and pods of this cluster, for who orders jobs here without a hub. */
struct site;
struct site *runner_site(struct runner *r);

#endif
