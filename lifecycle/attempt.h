/*
 * The member's side of a job's life: what an attempt does next, from its twin and its pods. Pure:
 * recovery is reading the objects and asking again (design document 3, "In the member").
 */
#ifndef LIFECYCLE_ATTEMPT_H
#define LIFECYCLE_ATTEMPT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/strbuf.h"

#define ATTEMPT_RESTART_BASE_MS 10000 /* first restart of the gang; doubled each time */
#define ATTEMPT_RESTART_MAX_MS  300000
#define ATTEMPT_LOSS_BASE_MS    1000 /* a pod that the platform lost is made again after */
#define ATTEMPT_LOSS_MAX_MS     60000
#define ATTEMPT_LOSSES          3 /* within the window: the attempt is released */
#define ATTEMPT_LOSS_WINDOW_MS  600000

enum slot_state {
	SLOT_ABSENT, /* no pod object */
	SLOT_PENDING,
	SLOT_RUNNING,
	SLOT_SUCCEEDED,
	SLOT_FAILED,
	SLOT_LOST, /* failed by the platform (OutOfcpu, node lost): to be removed and made again */
};

/* The pod of (task, index). */
struct slot {
	enum slot_state state;
	bool terminating;  /* has a deletionTimestamp and still stands */
	int64_t restart;   /* the twin's retries when it was made */
	int32_t exit_code; /* -1: none */
	int32_t container_restarts;
	const char *reason, *message; /* of a failure; may be NULL */
};

struct attempt_task {
	const char *name;
	int32_t replicas, min_available, max_retry;
	bool on_failure;    /* restartPolicy OnFailure */
	struct slot *slots; /* of replicas */
};

enum outcome_phase { OUTCOME_NONE, OUTCOME_COMPLETED, OUTCOME_FAILED };

struct outcome {
	enum outcome_phase phase;
	char reason[64];
	char message[240];
};

/* What is durable in the twin's status. */
struct attempt_memory {
	int64_t retries;
	int64_t restart_at_ns; /* pods of these retries are not made before (wall clock); 0: now */
	int64_t losses;        /* inside the window that began at first_loss_ns */
	int64_t first_loss_ns, last_loss_ns;
	struct outcome outcome;
	bool release; /* ending without an outcome; release_reason says why */
	char release_reason[64], release_message[240];
};

struct attempt {
	struct attempt_task *tasks;
	size_t n_tasks;
	int32_t min_available, min_success /* -1: none */, max_retry;
	struct attempt_memory memory;
	bool release_asked; /* the Placement says Release */
};

enum attempt_act {
	ATTEMPT_WAIT,         /* until something changes, or `until_ns` */
	ATTEMPT_CREATE,       /* make the pods of all slots that are absent */
	ATTEMPT_RESTART,      /* write the twin: retries + 1, restart_at; then ask again */
	ATTEMPT_CLEAR_OLD,    /* delete pods of earlier restarts, by uid; then wait */
	ATTEMPT_CLEAR_LOST,   /* write the loss into the twin, delete the lost pods */
	ATTEMPT_DECIDE,       /* write `outcome` into the twin; then ask again */
	ATTEMPT_GIVE_UP,      /* write release, release_reason into the twin; then ask again */
	ATTEMPT_CLEAR_LIVE,   /* delete the pods that have not ended, by uid; then wait */
	ATTEMPT_SAY_DONE,     /* last word Done with the twin's outcome */
	ATTEMPT_SAY_RELEASED, /* last word Released with the twin's reason */
};

struct attempt_decision {
	enum attempt_act act;
	int64_t until_ns;       /* WAIT: ask again then; 0: only on change. RESTART: restart_at */
	struct outcome outcome; /* DECIDE */
	char reason[64], message[240]; /* RESTART, CLEAR_LOST, GIVE_UP */
	bool running;                  /* minAvailable pods run or have succeeded */
	bool restarting;               /* between a restart and its pods */
};

struct attempt_decision attempt_next(const struct attempt *a, int64_t now_ns);

/* As what people are told of the pod of (task, index): "Pending", "Running", "Succeeded", "Failed";
 * NULL: as nothing. Behind an outcome those count that ended by themselves, and the one that the
 * outcome is about: what was ended for it neither waits nor failed. */
const char *attempt_counts_as(const struct attempt *a, size_t task, int32_t index);

/* Delay before restart number `retries` (1 first): 10 s x 2^(retries - 1), at most 5 min. */
int64_t attempt_restart_delay_ms(int64_t retries);

/* The end rule for pods that ended or were ended: minSuccess decides when it is given; else each
 * task needs its minAvailable when the job's minAvailable asks for all of them; else the job needs
 * its minAvailable (Volcano's rule for a running job whose pods have all ended). */
enum outcome_phase attempt_end_rule(const struct attempt *a);

#endif
