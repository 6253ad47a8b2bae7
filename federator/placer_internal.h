/*
 * The placer's own: placer.c feeds the core with events, placer_jobs.c with those of jobs,
 * placer_session.c carries decisions out, placer_explain.c answers questions.
 */
#ifndef FEDERATOR_PLACER_INTERNAL_H
#define FEDERATOR_PLACER_INTERNAL_H

#include "api/views.h"
#include "base/map.h"
#include "federator/placer.h"
#include "scheduler/fleet.h"

#define PLACER_BUDGET_MS  5    /* of one turn of a session */
#define PLACER_GRACE_MS   5000 /* a new leader waits so long for the reports of Ready clusters */
#define PLACER_REST       4    /* times as long as a turn took, before the next */
#define PLACER_RETRY_MS   50   /* an offer that was not made is made again after */
#define PLACER_PAUSE_MS   1000 /* no offers after one that the store did not take */
#define PLACER_ALARM_MS   100  /* refusals that end so close together are looked at together */
#define PLACER_UNKNOWN_MS 1000 /* what became of an offer is asked again after */
#define PLACER_BACKOFF_MS                                                                          \
	INT64_C(30000) /* of a cluster that refused for another reason than room */
#define PLACER_BACKOFF_MAX_MS INT64_C(600000)

enum placed_state { JOB_UNKNOWN, JOB_WAITS, JOB_OPEN };

/* A job as the placer told the core of it. */
struct placed_job {
	UT_hash_handle hh;
	char *uid, *queue;
	enum placed_state state;
	int64_t generation;    /* of the open attempt, or of the next */
	struct doc *doc;       /* as of the last event */
	int64_t told_revision; /* of the spec that the core has */
	int64_t offer_version; /* of the document that was offered last */
	bool unknown;          /* the outcome of its offer */
	char *trouble;         /* why the core cannot decide about it; NULL: it can */
	struct arena arena;    /* of request */
	struct resource_list request;
};

/* A cluster: its object, and what its agent and its heartbeat say. */
struct placed_cluster {
	UT_hash_handle hh;
	char *name, *uid;
	struct doc *doc;
	bool heard;
	bool expected;    /* was Ready when last written about: its report is to come */
	int64_t held_seq; /* of the report that the core holds; 0: none */
	json_t *capacity; /* shapes of empty nodes as last reported; NULL: those of its status */
};

struct priority {
	UT_hash_handle hh;
	char *name;
	int32_t value;
};

struct placer {
	struct hub *hub;
	struct fleet *fleet;
	struct capable *capable; /* asked while not leading */
	struct admitted *admitted;
	struct placed_job *jobs;
	struct placed_cluster *clusters;
	struct priority *priorities;
	int32_t default_priority;
	bool leading;
	struct timer *session; /* due soon: events gather until then */
	int64_t session_ms;    /* when; meaningful while the timer is active */
	int64_t grace_ms;      /* until then the first session waits for reports */
	int64_t paused_ms;     /* no session before */
	struct timer *unknowns;
	struct timer *alarm; /* when the next refusal is over */
	int64_t alarm_ns;    /* wall clock; meaningful while the timer is active */
};

struct placed_job *placer_find(struct placer *p, const char *uid);
struct placed_cluster *placer_cluster(struct placer *p, const char *name); /* NULL: unknown */
int32_t placer_priority(const struct placer *p, const struct job *job);
/* A session runs soon; at the latest then, unless there is a pause. */
void placer_wake(struct placer *p);
void placer_wake_in(struct placer *p, int64_t ms);
/* One runs when a refusal ends: by the wall clock, and in least_ms at the earliest. */
void placer_wake_at(struct placer *p, int64_t when_ns, int64_t least_ms);
/* None runs for a while: the store takes no offers. */
void placer_pause(struct placer *p);
void placer_job_free(struct placer *p, struct placed_job *j);
void placer_run_session(struct placer *p);
/* The offer of a waiting job did not happen: the core is told anew what the job is now. */
void placer_take_offer_back(struct placer *p, struct placed_job *j);

/* placer_history.c */
/* How a job that has, or had, a place stands, and each of its attempts. */
void placer_history_text(const struct placer *p, const json_t *job, int64_t now_ns,
			 struct strbuf *out);
void placer_attempts_text(const json_t *job, struct strbuf *out);

#endif
