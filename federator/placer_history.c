/* What is told of a job that has, or had, a place: where it went and why, and what became of it. */
#include <string.h>

#include "api/cells.h"
#include "base/encode.h"
#include "base/json.h"
#include "federator/placer_internal.h"
#include "lifecycle/record.h"

#define WHY_THERE "why there"
#define NOT_THERE "not " /* and which cluster */

/* Of the column in which it says what the texts are about. */
static int label_width(const json_t *runners_up)
{
	size_t width = strlen(WHY_THERE), i;
	json_t *other;

	json_array_foreach (runners_up, i, other) {
		const char *cluster = json_str_at(other, "cluster", NULL);
		size_t n = strlen(NOT_THERE) + (cluster ? strlen(cluster) : 0);

		width = n > width ? n : width;
	}
	return (int)width;
}

static void choice_text(const json_t *attempt, struct strbuf *out)
{
	const json_t *runners_up = json_object_get(attempt, "runnersUp");
	const char *why = json_str_at(attempt, "why", NULL);
	int width = label_width(runners_up);
	json_t *other;
	size_t i;

	strbuf_addf(out, "  %-*s  %s\n", width, WHY_THERE, why ? why : "-");
	json_array_foreach (runners_up, i, other)
		strbuf_addf(out, "  " NOT_THERE "%-*s  %s\n", width - (int)strlen(NOT_THERE),
			    json_str_at(other, "cluster", NULL), json_str_at(other, "why", NULL));
}

static void attempt_text(const json_t *attempt, struct strbuf *out)
{
	const char *how = json_str_at(attempt, "how", NULL);
	const char *nodes = json_str_at(attempt, "nodes", NULL);
	const char *reason = json_str_at(attempt, "reason", NULL);
	const char *message = json_str_at(attempt, "message", NULL);

	strbuf_addf(out, "Attempt %lld  %s", (long long)json_int_at(attempt, 0, "generation", NULL),
		    json_str_at(attempt, "cluster", NULL));
	if (nodes)
		strbuf_addf(out, " (%s)", nodes);
	strbuf_addf(out, ", %s", how ? how : "under way");
	if (reason || message)
		strbuf_addf(out, ": %s%s%s", reason ? reason : "", reason && message ? ", " : "",
			    message ? message : "");
	strbuf_addc(out, '\n');
	choice_text(attempt, out);
}

static const char *cluster_of(const json_t *job)
{
	return json_str_at(json_array_get(json_at(job, "status", "dispatch", "parts", NULL), 0),
			   "cluster", NULL);
}

static void headline(const json_t *job, struct strbuf *out)
{
	const char *name = json_str_at(job, "metadata", "name", NULL);
	const char *phase = json_str_at(job, "status", "state", "phase", NULL);
	const char *message = json_str_at(job, "status", "state", "message", NULL);
	bool uncertain = record_phase(job) == DISPATCH_UNCERTAIN;

	if (uncertain)
		phase = dispatch_phase_name(DISPATCH_UNCERTAIN);
	strbuf_addf(out, "%s is %s%s%s%s\n", name, phase ? phase : "Pending",
		    json_at(job, "metadata", "deletionTimestamp", NULL) ? ", and being deleted"
									: "",
		    message ? ": " : "", message ? message : "");
	if (uncertain)
		strbuf_addf(
			out,
			"Nobody knows what became of it in %s. It keeps its share of the queue until "
			"somebody decides:\nfedctl cancel %s -n %s ends it for good; then it may be "
			"submitted again.\n",
			cluster_of(job), name, json_str_at(job, "metadata", "namespace", NULL));
}

static bool is_heard(const json_t *cluster)
{
	const char *ready = json_string_value(cell_condition(cluster, "Ready", "status"));

	return !ready || !strcmp(ready, "True");
}

/* What is told of a job is as old as what was heard of its cluster. */
static void silence_text(const struct placer *p, const json_t *job, int64_t now_ns,
			 struct strbuf *out)
{
	const char *name = cluster_of(job);
	auto_json *cluster = name ? hub_tree(p->hub, hub_kind("clusters"), NULL, name) : NULL;
	const char *last = json_str_at(cluster, "status", "lastHeartbeat", NULL);
	char since[TIME_SIZE];
	int64_t last_ns;

	if (!cluster || is_heard(cluster) || record_phase(job) == DISPATCH_ENDED)
		return;
	if (last && !time_parse(last, &last_ns)) {
		duration_format(since, time_between(last_ns, now_ns));
		strbuf_addf(out, "Nothing was heard of %s for %s", name, since);
	} else {
		strbuf_addf(out, "Nothing is heard of %s", name);
	}
	strbuf_adds(out, ": this is how it stood then. What runs there goes on; more is known when "
			 "its agent is back.\n");
}

void placer_attempts_text(const json_t *job, struct strbuf *out)
{
	const json_t *attempts = json_at(job, "status", "dispatch", "attempts", NULL), *a;
	size_t i;

	json_array_foreach (attempts, i, a)
		attempt_text(a, out);
}

void placer_history_text(const struct placer *p, const json_t *job, int64_t now_ns,
			 struct strbuf *out)
{
	headline(job, out);
	silence_text(p, job, now_ns, out);
	strbuf_addc(out, '\n');
	placer_attempts_text(job, out);
}
