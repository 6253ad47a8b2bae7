/*
 * Plugins: each row answers one of the core's questions. The table is in plugins.c; its order is
 * the order in which filters are asked and preferences compared.
 */
#ifndef SCHEDULER_PLUGIN_H
#define SCHEDULER_PLUGIN_H

#include <stdbool.h>
#include <stdint.h>

#include "base/strbuf.h"
#include "scheduler/filter.h"
#include "scheduler/gang.h"

struct fleet;
struct fleet_cluster;
struct fleet_job;

/* May this job go to this cluster, its room apart? */
struct cluster_question {
	const struct fleet *fleet;
	const struct fleet_job *job;
	const struct fleet_cluster *cluster;
	int64_t now_ns;
};

/* A cluster where the gang fits, and how it would stand there. */
struct cluster_option {
	struct fleet_cluster *cluster;
	const char *name;
	size_t variant; /* of the form; they are sorted best first */
	int64_t bytes;  /* of data sets that are not there */
	int64_t waste;  /* free units of extended resources not asked for, on the chosen nodes */
	int64_t free, capacity; /* of the dominant resource, afterwards */
};

struct plugin {
	const char *name;
	/* Below 0: a goes first. */
	int (*order)(const struct gang *a, const struct gang *b);
	/* One filter of clusters; `why` says what is in the way. */
	enum filter filter;
	bool (*passes)(const struct cluster_question *q);
	void (*why)(const struct cluster_question *q, struct strbuf *out);
	/* Below 0: a is better. `say` tells why it won, when this decided. */
	int (*prefer)(const struct cluster_option *a, const struct cluster_option *b);
	void (*say)(const struct cluster_option *won, const struct cluster_option *next,
		    size_t n_fit, size_t n_all, struct strbuf *out);
	/* The same from the other side: why the second was not taken, in a few words. */
	void (*say_lost)(const struct cluster_option *lost, struct strbuf *out);
};

extern const struct plugin *const plugins[]; /* NULL after the last */

extern const struct plugin plugin_priority, plugin_submission;
extern const struct plugin plugin_ready, plugin_cordon, plugin_report, plugin_namespace,
	plugin_taints, plugin_selector, plugin_backoff;
extern const struct plugin plugin_locality, plugin_alternatives, plugin_waste, plugin_spread,
	plugin_by_name;

int plugins_order(const struct gang *a, const struct gang *b);

#endif
