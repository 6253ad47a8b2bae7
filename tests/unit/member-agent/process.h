/*
 * The process around the parts of an agent, as the test plays it: an agent on virtual time, whose
 * member and hub are peers, and which notes that it was ended instead of ending.
 */
#ifndef TESTS_UNIT_MEMBER_AGENT_PROCESS_H
#define TESTS_UNIT_MEMBER_AGENT_PROCESS_H

#include "member-agent/agent.h"
#include "peer.h"

struct process {
	struct agent agent;
	struct peer *member, *hub;
	struct peer *elsewhere; /* whatever agent_connect() was last asked for */
	char *elsewhere_url;
	size_t connected, deposed, stopped;
	char *deposed_why;
	int exit_code;
	char why[500];
};

struct process *process_create(void);
void process_destroy(struct process *p); /* what was made of its agent is freed before */
/* What is logged from here on is kept; process_logged(): how often that text was. */
void process_keep_log(void);
size_t process_logged(const char *text);
/* Both clocks are moved together. */
void process_advance(struct process *p, int64_t ms);

DEFINE_CLEANUP(struct process, process_destroy)

#endif
