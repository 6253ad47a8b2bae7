/*
 * Shared by the files of standalone. A *local job* is a Job of this cluster that an attempt may be
 * made of, or an attempt whose Job is gone.
 */
#ifndef MEMBER_AGENT_STANDALONE_INTERNAL_H
#define MEMBER_AGENT_STANDALONE_INTERNAL_H

#include "base/list.h"
#include "base/map.h"
#include "base/scan.h"
#include "kube/informer.h"
#include "member-agent/standalone.h"
#include "scheduler/site.h"

enum local_state {
	LOCAL_IDLE,    /* not ours, wrong, or over */
	LOCAL_WAITING, /* its gang is in the site's queue */
	LOCAL_HELD,    /* refused or released: not offered again before held_until_ms */
	LOCAL_OFFERED, /* the runner is deciding */
	LOCAL_OPEN,    /* claimed */
};

struct word_call;

struct local_job {
	struct standalone *alone;
	char *uid, *ns, *name;
	UT_hash_handle hh, by_gang;
	struct list_node waiting; /* linked while WAITING or HELD */
	enum local_state state;
	struct doc *doc;  /* the newest; NULL: there is no such Job any more */
	bool ending;      /* gone, or being deleted */
	int64_t judged;   /* metadata.generation that was; -1: none */
	json_t *tree;     /* with defaults, and the status as it is to be; NULL: nothing is done */
	struct doc *work; /* what the runner is to read: the tree, when it was offered */
	struct gang *gang;
	json_t *placement; /* NULL: none is open */
	int64_t placement_version;
	json_t *pending_before; /* status.pending when it was offered, or NULL */
	unsigned refusals;      /* in a row */
	int64_t held_until_ms;
	int64_t explained_ms; /* 0: never */
	char *told;           /* code of the last event about why it waits */

	struct kube_call *call, *event;
	struct timer *retry;
	unsigned tries, wanted, sent; /* of the status: changes, and how many the last try had */
	bool unwritten;               /* the status that is to be is not there yet */
	struct word_call *waiter;     /* hears when it is */
};

struct foreign_twin {
	char *name;
	UT_hash_handle hh;
};

struct standalone {
	struct owner owner;
	struct agent *agent;
	struct informer *jobs, *queues, *classes, *twins;
	unsigned synced;
	bool ready, stopped;
	struct local_job *by_uid, *by_gang;
	struct list waiting;
	struct foreign_twin *foreign; /* a hub's: never touched */
	struct timer *turn;
	int64_t turn_ms;
	struct local_job *offered;
	int64_t offered_ms;
	int64_t version;     /* of the Placements made here */
	bool only_ours;      /* told to stand beside Volcano */
	bool beside;         /* Volcano is there, or only_ours */
	bool asked_volcano;  /* once at least */
	bool volcano_schema; /* the Job kind here is Volcano's */
	struct kube_call *discovery;
	struct timer *ask_volcano;
	struct list calls;    /* of owner_ops, under way */
	struct timer *answer; /* those that need no waiting */
	char *explain_ns, *explain_name;
};

/* standalone.c */
void standalone_poke(struct standalone *s, int64_t ms); /* a turn, at the latest then */
struct local_job *standalone_find(const struct standalone *s, const char *uid);
int32_t standalone_priority(const struct standalone *s, const char *priority_class);
struct site *standalone_site(const struct standalone *s);

/* standalone_job.c */
struct local_job *local_create(struct standalone *s, const char *uid, const char *ns,
			       const char *name);
void local_destroy(struct local_job *j);
void local_set_doc(struct local_job *j, struct doc *doc, bool being_deleted); /* NULL: gone */
/* What is to be done about it now; not before all was listed. May destroy it. */
void local_update(struct local_job *j);
/* twin: the tree of its newest twin, or NULL. True when an attempt is open and was resumed. */
bool local_resume(struct local_job *j, const json_t *twin);
/* Placed by the site: offers it to the runner. alternatives: by task. */
void local_offer(struct local_job *j, const int32_t *alternatives);
void local_submit(struct local_job *j);  /* into the site's queue, again */
void local_explain(struct local_job *j); /* why it waits, when that is due */
bool local_explain_is_due(const struct local_job *j);
void local_drop_gang(struct local_job *j);
/* The twin of an attempt that was only offered is there: a predecessor's write came late. */
void local_twin_seen(struct local_job *j, const char *name);
/* A word was heard, and written where it had to be. May destroy it. */
void local_heard(struct local_job *j, json_t *take_placement, bool last);
/* pending: borrowed. */
void local_set_pending(struct local_job *j, const json_t *pending);
struct doc *local_placement_doc(const struct local_job *j);

/* standalone_words.c */
extern const struct owner_ops standalone_ops;
void words_init(struct standalone *s);
void words_finish(struct standalone *s);
void word_written(struct local_job *j); /* or nowhere to be written any more */

/* standalone_write.c: jobs/status and events */
void local_write(struct local_job *j);
void local_cancel_write(struct local_job *j);
void local_tell(struct local_job *j, const char *type, const char *reason, const char *message);

/* standalone_explain.c */
void standalone_explain(struct standalone *s);

/* standalone_record.c: trees in, trees out */
/* The end of it is in the status, or it is nothing of ours: a status that we did not write. */
bool job_has_ended(const json_t *job);
bool job_is_strange(const json_t *job);
/* The generation of the attempt that the record has open; 0: none. */
int64_t job_open_generation(const json_t *job);
/* An attempt that this twin (NULL: the record) stands for is not settled yet. */
bool job_leaves_open(const json_t *job, const json_t *twin);
/* The status for a Job kind that is Volcano's: no record, and pending is a number. */
json_t *status_for_volcano(const json_t *status);
/* The body of PATCH jobs/status (application/json-patch+json). */
json_t *status_patch(int64_t version, const json_t *status);
json_t *pending_of_explain(const struct explain *e);
json_t *pending_of_refusal(const char *cluster, const json_t *placement_status);
/* An Event about a Job; what is too long is cut. */
json_t *job_event(const json_t *job, const char *type, const char *reason, const char *message,
		  int64_t now_ns);

#endif
