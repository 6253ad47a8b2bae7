/*
 * Shared by the files of the runner. A *run* is one attempt as this member sees it: what the owner
 * wants (Placement), what was begun (twin), what stands (pods). Its next step follows from these
 * three each time anything changes; everything in flight is kept so that it can be cancelled.
 */
#ifndef MEMBER_AGENT_RUNNER_INTERNAL_H
#define MEMBER_AGENT_RUNNER_INTERNAL_H

#include "base/list.h"
#include "base/map.h"
#include "kube/informer.h"
#include "lifecycle/attempt.h"
#include "member-agent/create.h"
#include "member-agent/dry.h"
#include "member-agent/names.h"
#include "member-agent/podinfo.h"
#include "member-agent/runner.h"
#include "member-agent/twin.h"
#include "scheduler/site.h"

#define PODS_IN_FLIGHT  16
#define NAME_WAIT_MS    30000
#define NO_ROOM_WAIT_MS 60000
#define NEVER_WAIT_MS   5000 /* no node could hold it: one may just be replaced */
#define COUNTS_EVERY_MS 2000
#define DENIED_WAIT_MS  10000
#define LOOK_AGAIN_MS   30000
#define UNSEEN_WAIT_MS  2000
#define TWIN_WAIT_MS    2000
#define RETRY_BASE_MS   500
#define RETRY_MAX_MS    15000

enum member_kind {
	KIND_NODES,
	KIND_PODS,
	KIND_TWINS,
	KIND_NAMESPACES,
	KIND_QUOTAS,
	KIND_LIMITS,
	KIND_VOLUMES,
	KIND_CLAIMS,
	KIND_STORAGE_CLASSES,
	KIND_PRIORITY_CLASSES,
	KIND_RUNTIME_CLASSES,
	KINDS,
};

/* A pod of an attempt should stand here. */
struct place {
	char *name;          /* of the pod */
	struct podinfo *pod; /* NULL: none that we know of */
	char *node;          /* booked, or of the pod; NULL: none */
	struct create *create;
	struct run *run;
	size_t task;
	int32_t index;
	struct arena arena; /* of what it takes, as far as that is known */
	struct resource_list request;
	int32_t *ports;
	size_t n_ports;
	bool unseen;           /* pod is known from the answer to its POST alone */
	bool deleting;         /* by us: its going is no loss */
	bool vanished;         /* it went without our doing */
	bool latched;          /* end is what it ended as, whatever comes later */
	bool dropping;         /* our finalizer is being taken off */
	bool withdrawn;        /* it did not fit after all, or was lost: another node */
	unsigned unanswered;   /* POSTs of it that may yet be carried out */
	int64_t unanswered_ms; /* boot time, of the last of them; 0: none */
	enum slot_state end;
	int64_t end_restart;
};

/* Of the twin, and known for as long as its pods. */
struct run_task {
	char *name;
	size_t first; /* number of its first place */
	int32_t replicas;
};

struct claim;
struct supplies;
struct word;

struct run {
	struct runner *runner;
	char *name, *uid;
	int64_t part, generation;
	UT_hash_handle hh;
	struct list_node dirty;
	struct timer *timer;

	struct doc *placement_doc;
	struct placement *placement; /* NULL: absent */
	struct twin *twin;           /* NULL: none */
	int64_t twin_version;
	char *twin_uid;               /* of the last one; NULL: there was none */
	int64_t twin_gone_ms;         /* boot time, since; 0: it is there, or never was */
	struct attempt_memory memory; /* the twin's, and what is not written yet */
	bool memory_loaded, memory_unwritten;
	struct place **places; /* by task, then index; made when the twin is there */
	size_t n_places;
	struct run_task *tasks;
	size_t n_tasks;
	struct podinfo **strays; /* pods of it without a place */
	size_t n_strays, cap_strays;

	struct claim *claim;       /* before the claim, and until its plan is used up */
	struct supplies *supplies; /* copies and Service */
	struct word *word;         /* to the owner, being said */
	struct create *twin_create;
	struct dry_run *dry; /* for pods that are missing */
	struct list calls;   /* other requests under way */
	bool twin_busy;      /* one of them writes the twin */
	bool predecessors;   /* claimed before this process began */
	bool half_made;      /* nothing new is claimed before it is whole or over */
	bool said_last;      /* a last word was sent, and may have been heard */
	bool settled;        /* the last word was heard: no Placement is taken any more */
	bool journaled, journal_asked, twin_deleted;
	bool hurried; /* somebody waits for its names */
	bool orphan, told_orphan;
	bool starved;                       /* too many pods are being made already */
	bool loss_noted;                    /* the loss that is being cleared is in memory */
	int64_t wake_ms;                    /* boot-time clock, of the timer */
	bool said_odd;                      /* an impossible state was logged */
	int64_t keep_until_ns;              /* wall clock; 0: not yet known */
	int64_t name_wait_ms, room_wait_ms; /* boot-time clock, since; 0: not waiting */
	int64_t never_fits_ms;              /* the same, for room that no node here has */
	int64_t counts_said_ms;
	char *counts_said;    /* the status as it was said last */
	unsigned tries;       /* of what failed in passing */
	char hold_reason[64]; /* why a pod is missing for now; "": none is, or nobody knows yet */
	char hold_message[240];
	char restart_message[240]; /* the pod for which it starts again; "": a predecessor knew */
};

struct runner {
	struct env *env;
	struct kube *member;
	struct owner *owner;
	char *cluster, *own_namespace;
	int64_t shutout_wait_ms, keep_pods_ms, journal_keep_ms, started_ms;
	bool clean, clean_if_empty;
	void (*capacity_changed)(void *arg);
	void *arg;
	void (*on_ready)(void *arg);
	void *on_ready_arg;
	void (*on_orphans)(void *arg);
	void *on_orphans_arg;
	int64_t term, reports, incarnation;
	char *cluster_uid;
	char *hub; /* ANNOTATION_HUB of what is claimed now; NULL: none */

	struct informer *informers[KINDS];
	unsigned synced;
	bool ready, placements_synced;
	struct run *runs;
	struct list dirty;
	struct timer *turn;          /* runs what is dirty */
	struct timer *capacity_turn; /* tells of changed capacity */
	struct timer *shutout;
	struct timer *look_again; /* at all runs, whatever woke them or not */
	struct site *site;
	struct dry_answer *dry; /* by namespace and template */
	struct journal *journal;
	struct list logs;
	unsigned pods_in_flight;
	size_t orphans, told_orphans;
};

/* runner.c */
struct run *runner_find(struct runner *r, const char *name);
int64_t runner_write_timeout_ms(const struct runner *r);
void runner_room_changed(struct runner *r);
struct doc *runner_known(const struct runner *r, enum member_kind kind, const char *ns,
			 const char *name);
bool runner_has_half_made(const struct runner *r);
void runner_poke_all(struct runner *r);
void runner_poke_waiting(struct runner *r); /* for room, for names, for their turn */
void runner_pod_seen(struct runner *r, const struct pod *p);

/* run.c */
struct run *run_create(struct runner *r, const char *name, const char *uid, int64_t part,
		       int64_t generation);
void run_destroy(struct run *run);
void run_poke(struct run *run);                /* act, soon */
void run_poke_in(struct run *run, int64_t ms); /* at the latest then */
void run_retry(struct run *run);               /* after a growing pause */
void run_act(struct run *run);
void run_set_placement(struct run *run, struct doc *doc); /* NULL: gone */
void run_set_twin(struct run *run, struct doc *doc);
void run_over(struct run *run); /* the last word was heard, or not needed */
int64_t run_now_ns(const struct run *run);
bool run_is_ours(const struct run *run); /* its Placement is of this Cluster and incarnation */
/* Its twin is not: the hub that we speak with now can say nothing of it. */
bool run_is_anothers(const struct run *run);
bool run_is_absent(const struct run *run); /* our owner knows of no such attempt */

/* run_call.c: one request under way for a run */
struct run_call;
typedef void (*run_call_done)(struct run *run, const struct kube_answer *a, void *arg);
void run_send(struct run *run, const char *method, const char *path, const json_t *body,
	      const char *content_type, run_call_done done, void *arg);
void run_cancel_calls(struct run *run);

/* run_claim.c */
void run_offered(struct run *run);
void run_claimed_without_twin(struct run *run);
void claim_destroy(struct claim *c); /* NULL: nothing */
const json_t *claim_work(const struct claim *c);
const char *claim_node(const struct claim *c, size_t place);  /* of its plan, by number of place */
const json_t *claim_spec(const struct claim *c, size_t task); /* as the member returned it */
void claim_refuse(struct claim *c, const char *reason, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* run_words.c: what is told to the owner */
struct word_text {
	enum placement_state state;
	const char *reason, *message; /* may be NULL */
	const struct outcome *outcome;
	const json_t *nearest_miss; /* or NULL */
};
void word_say(struct run *run, const struct word_text *text);
void word_say_counts(struct run *run, bool restarting);
void word_cancel(struct run *run);
bool word_is_under_way(const struct run *run);
bool word_is_last(const struct run *run); /* the one under way */

/* run_twin.c */
void run_make_twin(struct run *run);
void run_live(struct run *run);
void run_write_memory(struct run *run);
void run_give_up(struct run *run, const char *reason, const char *message);
/* Goes on without a pod for now, and says why. */
void run_hold(struct run *run, const char *reason, const char *message);
/* The member refuses something that the run needs: it gives up, or holds. */
void run_refused(struct run *run, const struct error *err);

/* run_places.c */
void places_make(struct run *run);
void places_destroy(struct run *run);
struct place *place_at(const struct run *run, size_t task, int32_t index);
bool run_has_pods(const struct run *run); /* whatever became of them */
void run_pod_seen(struct run *run, const struct pod *p);
void run_pod_gone(struct run *run, const char *name, const char *uid);
/* What was made, and was gone before the watch showed it, brings no event. */
void run_drop_unseen(struct run *run);
struct attempt run_attempt(const struct run *run, struct arena *a);
struct slot place_slot(const struct place *p);
bool place_has_ended(const struct place *p); /* its pod; latched, whatever the object says */
void place_note(struct place *p, const struct resource_list *request, const int32_t *ports,
		size_t n_ports);
/* Pods that run or will; ending: some that were told to end and have not. */
bool run_pods_live(const struct run *run, bool *ret_ending);
int64_t run_last_end_ns(const struct run *run);

/* run_pods.c */
void run_create_pods(struct run *run);
void run_drop_creates(struct run *run); /* no POST is sent any more, unless run_create_pods() */
/* Drops them; true when none is under way, and none may yet be carried out: no answer for W. */
bool run_creates_settled(struct run *run);
/* A pod may come to be that nobody here would start: one of ours, or a predecessor's. */
bool run_may_yet_grow(struct run *run);

/* run_clear.c */
enum clear { CLEAR_OLD, CLEAR_LOST, CLEAR_LIVE, CLEAR_ALL };
void run_clear_pods(struct run *run, enum clear what);
void run_withdraw_pod(struct place *p);
bool run_drop_finalizers(struct run *run); /* true: some pods that ended have ours still */

/* run_room.c: nodes for pods that are missing */
bool run_plan_missing(struct run *run); /* true: every absent place has a node */
void run_cancel_plan(struct run *run);
void run_release_room(struct run *run);
void run_book_again(struct place *p);
void place_note_spec(struct place *p, const json_t *spec);
/* What the member made takes more than was booked, and more than its node has. */
bool place_is_overbooked(const struct place *p, const struct pod *made);

/* run_supplies.c: copies of what the templates refer to, and what plugin svc needs */
typedef void (*supplies_read_done)(const struct error *err, struct run *run);
struct supplies *supplies_create(struct run *run, const struct twin *t);
void supplies_destroy(struct supplies *s);
/* Reads all originals from the owner; err NULL: they are there. t only until then. */
void supplies_read(struct supplies *s, supplies_read_done done);
bool supplies_ready(struct run *run); /* false: being made, or it gave up */

/* run_end.c */
void run_forget(struct run *run); /* with a twin */
void run_clear_names(struct run *run);
void run_hurry(struct run *run);

/* journal.c */
struct journal *journal_create(struct runner *r);
void journal_destroy(struct journal *j);
void journal_add(struct journal *j, struct run *run, const char *outcome);
void journal_hurry(struct journal *j); /* somebody waits for what is not written yet */
void journal_drop(struct journal *j, struct run *run); /* it will not be told */

/* logs.c */
void logs_destroy(struct runner *r);

/* capacity.c */

#endif
