/*
 * The agent process: what its parts share. Private to this folder.
 */
#ifndef MEMBER_AGENT_AGENT_H
#define MEMBER_AGENT_AGENT_H

#include "base/loop.h"
#include "kube/client.h"
#include "member-agent/identity.h"
#include "member-agent/runner.h"

#define AGENT_NAMESPACE   "federator-system" /* in the member: Lease, identity, journal */
#define AGENT_PROTOCOL    1
#define AGENT_TERM_HEADER "Federator-Term"

#define AGENT_FORGOTTEN_MS 10000

struct election;
struct heartbeat;
struct join;
struct link;
struct reporter;
struct requests;
struct standalone;

struct settings { /* in an agent: borrowed from main() */
	char *name, *hub, *token_file, *ca_hash, *ca_file, *kubeconfig, *state;
	int64_t shutout_wait_ms, keep_pods_ms, journal_keep_ms;
	bool standalone, beside_volcano;
	char *explain; /* "ns/job"; standalone only */
};

struct agent {
	struct settings settings;
	struct loop *loop;
	struct env *env;
	struct kube *member; /* this cluster's apiserver */
	struct kube *hub;    /* NULL when standalone, or not joined yet */
	struct identity identity;
	struct identity_call *loading; /* of it, from the Secret */
	struct join *join;             /* NULL: not needed, or not begun */
	struct election *election;     /* of the agents of this member */
	struct runner *runner;
	struct link *link;
	struct reporter *reporter;
	struct heartbeat *heartbeat;
	struct requests *requests;
	struct standalone *standalone; /* NULL with a hub */
	char *member_uid;              /* of kube-system */
	int64_t hub_version;           /* highest resourceVersion of the hub that was ever seen */
	char *hub_cluster; /* uid of the Cluster there, when it was seen; NULL: not known */
	char *term;     /* header of what is written on the hub: uid and term; NULL before hello */
	bool forgotten; /* the hub has no Cluster of ours, and the user was told */
	int exit_code;
};

/* Ends the process in order; code and text as they will be given to the user. */
void agent_stop(struct agent *a, int exit_code, const char *why);
/* This process no longer speaks for the cluster: it must write nothing more, anywhere. */
void agent_deposed(struct agent *a, const char *why);

/* A client of a hub, the caller's. */
struct kube *agent_connect(struct agent *a, const struct kube_config *config);

/* Whether this is not what the user was told last, *told; from now on it is. */
bool agent_has_news(char **told, const char *what);
/* What is waited for while the hub has not accepted the cluster; the caller's. */
char *agent_awaits_acceptance(const struct agent *a);
/* Whether a refusal has a cause of that reason. */
bool agent_is_told(const struct kube_answer *answer, const char *cause);
/* The hub answered that it has no Cluster of ours, or as one that has: told when it is news. It is
 * asked on, for its store may be restored; until then nothing here ends or begins. */
void agent_cluster_gone(struct agent *a);
void agent_cluster_there(struct agent *a);
/* After how long a request that failed is made again: not so soon when nobody waits for it. */
int64_t agent_pace_ms(const struct agent *a, int64_t ms);
/* True for a 409 that says that this agent's term is over. */
bool agent_is_superseded(const struct kube_answer *answer);

#endif
