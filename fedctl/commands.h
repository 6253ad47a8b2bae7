/* Handlers of the table of commands; each returns an exit code. */
#ifndef FEDCTL_COMMANDS_H
#define FEDCTL_COMMANDS_H

#include "fedctl/command.h"

int run_cancel(struct session *s);
int run_cluster_accept(struct session *s);
int run_cluster_cordon(struct session *s);
int run_cluster_list(struct session *s);
int run_cluster_token_create(struct session *s);
int run_cluster_uncordon(struct session *s);
int run_complete(struct session *s);
int run_completion(struct session *s);
int run_describe(struct session *s);
int run_explain(struct session *s);
int run_get(struct session *s);
int run_help(struct session *s);
int run_logs(struct session *s);
int run_queue_create(struct session *s);
int run_queue_list(struct session *s);
int run_submit(struct session *s);
int run_version(struct session *s);
int run_wait(struct session *s);

#endif
