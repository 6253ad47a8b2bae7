/* The table of commands. */
#include "fedctl/commands.h"

#include "base/mem.h"

#define OUTPUTS       "wide|json|yaml|name"
#define OUTPUTS_PLAIN "json|yaml|name" /* where there is no table */
#define DOCUMENTS     "json|yaml"
#define WATCH_HELP    "go on with a line for every change"

const struct option global_options[] = {
	{"kubeconfig", 0, OPTION_TEXT, "FILE",
	 "where the federator is, and who you are there (KUBECONFIG)"},
	{"context", 0, OPTION_TEXT, "NAME", "which context of that file"},
	{"server", 0, OPTION_TEXT, "URL", "another federator than the file names"},
	{"namespace", 'n', OPTION_TEXT, "NAME", "the namespace of what is named"},
	{"output", 'o', OPTION_TEXT, "FORM", "how to print, where a command can print otherwise"},
	{"timeout", 0, OPTION_DURATION, "TIME", "how long a request may take (30s)"},
	{NULL},
};

static const struct option cancel_options[] = {
	{"wait", 0, OPTION_TRUTH, NULL, "return when the jobs and their pods are gone"},
	{"ignore-not-found", 0, OPTION_TRUTH, NULL, "a job that is not there is no error"},
	{"timeout", 0, OPTION_DURATION, "TIME", "how long to wait (for ever)"},
	{NULL},
};

static const struct option get_options[] = {
	{"all-namespaces", 'A', OPTION_TRUTH, NULL, "of all namespaces"},
	{"selector", 'l', OPTION_TEXT, "LABELS", "only those with these labels: app=x,tier!=test"},
	{"watch", 'w', OPTION_TRUTH, NULL, WATCH_HELP},
	{NULL},
};

static const struct option logs_options[] = {
	{"follow", 'f', OPTION_TRUTH, NULL, "wait for the start, print as it comes, until the end"},
	{"task", 't', OPTION_TEXT, "NAME", "which task (the first)"},
	{"index", 'i', OPTION_NUMBER, "N", "which of the task's pods (0)"},
	{"tail", 0, OPTION_NUMBER, "N", "only the last N lines of what is there"},
	{NULL},
};

static const struct option queue_create_options[] = {
	{"capability", 0, OPTION_TEXT, "AMOUNTS", "the most that its jobs may use at once"},
	{"closed", 0, OPTION_TRUTH, NULL, "takes no jobs yet"},
	{NULL},
};

static const struct option list_options[] = {
	{"watch", 'w', OPTION_TRUTH, NULL, WATCH_HELP},
	{NULL},
};

static const struct option submit_options[] = {
	{"wait", 'w', OPTION_TRUTH, NULL, "return when the jobs have ended"},
	{"timeout", 0, OPTION_DURATION, "TIME", "how long to wait (for ever)"},
	{"dry-run", 0, OPTION_TRUTH, NULL, "let the federator check everything, and keep nothing"},
	{NULL},
};

static const struct option token_options[] = {
	{"ttl", 0, OPTION_DURATION, "TIME", "how long the token is good for (24h)"},
	{NULL},
};

static const struct option wait_options[] = {
	{"for", 0, OPTION_TEXT, "STATE", "completed, ended (well or not) or running (completed)",
	 "completed|ended|running"},
	{"timeout", 0, OPTION_DURATION, "TIME", "how long to wait (for ever)"},
	{NULL},
};

static const struct option help_options[] = {
	{"markdown", 0, OPTION_TRUTH, NULL, "the reference of all commands"},
	{NULL},
};

const struct command commands[] = {
	{
		.path = "submit",
		.args = "FILE...",
		.min_args = 1,
		.max_args = ARGS_MAX_MANY,
		.argument = ARGUMENT_FILE,
		.outputs = OUTPUTS_PLAIN,
		.options = submit_options,
		.example = "fedctl submit job.yaml\n"
			   "fedctl submit job.yaml --wait\n"
			   "fedctl submit job.yaml -o name\n"
			   "generate-jobs | fedctl submit -",
		.summary = "give jobs, and what they need, to the federator",
		.run = run_submit,
	},
	{
		.path = "get",
		.args = "KIND[.GROUP] [NAME...]",
		.min_args = 1,
		.max_args = ARGS_MAX_MANY,
		.argument = ARGUMENT_KIND,
		.outputs = OUTPUTS,
		.options = get_options,
		.example = "fedctl get jobs\n"
			   "fedctl get jobs -A --watch\n"
			   "fedctl get job/train -o yaml",
		.summary = "list jobs, queues, clusters and other objects",
		.run = run_get,
	},
	{
		.path = "describe",
		.args = "KIND/NAME...",
		.min_args = 1,
		.max_args = ARGS_MAX_MANY,
		.argument = ARGUMENT_KIND,
		.example = "fedctl describe job/train",
		.summary = "all that is known of an object",
		.run = run_describe,
	},
	{
		.path = "explain",
		.args = "JOB",
		.min_args = 1,
		.max_args = 1,
		.argument = ARGUMENT_JOB,
		.outputs = DOCUMENTS,
		.example = "fedctl explain job/train",
		.summary = "why a job waits, or where it ran and why there",
		.run = run_explain,
	},
	{
		.path = "logs",
		.args = "JOB",
		.min_args = 1,
		.max_args = 1,
		.argument = ARGUMENT_JOB,
		.options = logs_options,
		.example = "fedctl logs -f train\n"
			   "fedctl logs train --task worker --index 3 --tail 20",
		.summary = "what a job's pods print",
		.run = run_logs,
	},
	{
		.path = "wait",
		.args = "JOB...",
		.min_args = 1,
		.max_args = ARGS_MAX_MANY,
		.argument = ARGUMENT_JOB,
		.options = wait_options,
		.example = "fedctl wait train --timeout 2h\n"
			   "fedctl wait train --for running",
		.summary = "wait until jobs have completed",
		.run = run_wait,
	},
	{
		.path = "cancel",
		.args = "JOB...",
		.min_args = 1,
		.max_args = ARGS_MAX_MANY,
		.argument = ARGUMENT_JOB,
		.outputs = "name",
		.options = cancel_options,
		.example = "fedctl cancel train\n"
			   "fedctl cancel train sweep-1 sweep-2 --wait",
		.summary = "end jobs and delete them",
		.run = run_cancel,
	},
	{
		.path = "queue create",
		.args = "NAME",
		.min_args = 1,
		.max_args = 1,
		.outputs = OUTPUTS_PLAIN,
		.options = queue_create_options,
		.example =
			"fedctl queue create ml --capability cpu=400,memory=2Ti,nvidia.com/gpu=64",
		.summary = "make a queue",
		.run = run_queue_create,
	},
	{
		.path = "queue list",
		.args = "",
		.outputs = OUTPUTS,
		.options = list_options,
		.example = "fedctl queue list\n"
			   "fedctl queue list --watch",
		.summary = "the queues: what they may use, and what they use",
		.run = run_queue_list,
	},
	{
		.path = "cluster list",
		.args = "",
		.outputs = OUTPUTS,
		.options = list_options,
		.example = "fedctl cluster list\n"
			   "fedctl cluster list --watch",
		.summary = "the member clusters: whether they are heard, and what is free",
		.run = run_cluster_list,
	},
	{
		.path = "cluster token create",
		.args = "NAME",
		.min_args = 1,
		.max_args = 1,
		.options = token_options,
		.example = "fedctl cluster token create gpu > token",
		.summary = "print a token with which an agent may ask to join as cluster NAME",
		.run = run_cluster_token_create,
	},
	{
		.path = "cluster accept",
		.args = "NAME",
		.min_args = 1,
		.max_args = 1,
		.argument = ARGUMENT_CLUSTER,
		.example = "fedctl cluster accept gpu",
		.summary = "let a cluster that asked to join, join",
		.run = run_cluster_accept,
	},
	{
		.path = "cluster cordon",
		.args = "NAME",
		.min_args = 1,
		.max_args = 1,
		.argument = ARGUMENT_CLUSTER,
		.example = "fedctl cluster cordon gpu",
		.summary = "give no new jobs to a cluster; those that run go on",
		.run = run_cluster_cordon,
	},
	{
		.path = "cluster uncordon",
		.args = "NAME",
		.min_args = 1,
		.max_args = 1,
		.argument = ARGUMENT_CLUSTER,
		.example = "fedctl cluster uncordon gpu",
		.summary = "give jobs to a cluster again",
		.run = run_cluster_uncordon,
	},
	{
		.path = "version",
		.args = "",
		.outputs = DOCUMENTS,
		.example = "fedctl version",
		.summary = "the versions of fedctl and of the federator",
		.offline = true,
		.run = run_version,
	},
	{
		.path = "completion",
		.args = "bash|zsh|fish",
		.min_args = 1,
		.max_args = 1,
		.example = "source <(fedctl completion bash)",
		.summary = "print what makes a shell complete fedctl's words",
		.offline = true,
		.run = run_completion,
	},
	{
		.path = "help",
		.args = "[COMMAND...]",
		.max_args = ARGS_MAX_MANY,
		.options = help_options,
		.example = "fedctl help logs",
		.summary = "how a command is used",
		.offline = true,
		.run = run_help,
	},
	{
		.path = "__complete",
		.args = "[WORD...]",
		.max_args = ARGS_MAX_MANY,
		.example = "",
		.offline = true,
		.run = run_complete,
	},
};
const size_t commands_count = ARRAY_LEN(commands);
