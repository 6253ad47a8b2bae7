/* Filters of clusters: what keeps a job out whatever the room. */
#include <string.h>

#include "base/encode.h"
#include "scheduler/fleet_internal.h"

static bool is_ready(const struct cluster_question *q)
{
	return q->cluster->ready;
}

static void why_ready(const struct cluster_question *q, struct strbuf *out)
{
	strbuf_adds(out, "not ready");
}

const struct plugin plugin_ready = {
	.name = "ready", .filter = FILTER_READY, .passes = is_ready, .why = why_ready};

static bool is_open(const struct cluster_question *q)
{
	return !q->cluster->cordoned;
}

static void why_cordon(const struct cluster_question *q, struct strbuf *out)
{
	strbuf_adds(out, "cordoned");
}

const struct plugin plugin_cordon = {
	.name = "cordon", .filter = FILTER_CORDON, .passes = is_open, .why = why_cordon};

static bool has_reported(const struct cluster_question *q)
{
	return q->cluster->has_capacity && q->cluster->has_free;
}

static void why_report(const struct cluster_question *q, struct strbuf *out)
{
	strbuf_adds(out, "room not reported yet");
}

const struct plugin plugin_report = {
	.name = "report", .filter = FILTER_REPORT, .passes = has_reported, .why = why_report};

static bool takes_namespace(const struct cluster_question *q)
{
	const struct fleet_cluster *c = q->cluster;

	for (size_t i = 0; i < c->n_namespaces; i++)
		if (!strcmp(c->namespaces[i], q->job->gang->ns))
			return true;
	return c->any_namespace;
}

static void why_namespace(const struct cluster_question *q, struct strbuf *out)
{
	strbuf_addf(out, "not open to namespace %s", q->job->gang->ns);
}

const struct plugin plugin_namespace = {.name = "namespace",
					.filter = FILTER_NAMESPACE,
					.passes = takes_namespace,
					.why = why_namespace};

static const struct taint *repelled_by(const struct cluster_question *q)
{
	const struct gang *g = q->job->gang;

	return taints_repel(q->cluster->taints, q->cluster->n_taints, g->tolerations,
			    g->n_tolerations);
}

static bool is_tolerated(const struct cluster_question *q)
{
	return !repelled_by(q);
}

static void why_taints(const struct cluster_question *q, struct strbuf *out)
{
	taint_say(repelled_by(q), out);
}

const struct plugin plugin_taints = {.name = "taints",
				     .filter = FILTER_CLUSTER_TAINTS,
				     .passes = is_tolerated,
				     .why = why_taints};

static const char *cluster_label(const char *key, void *arg)
{
	const struct fleet_cluster *const *c = arg;

	for (size_t i = 0; i < (*c)->n_labels; i++)
		if (!strcmp((*c)->labels[i].key, key))
			return (*c)->labels[i].value;
	return NULL;
}

static bool is_selected(const struct cluster_question *q)
{
	const struct fleet_cluster *c = q->cluster;

	return selector_match_fn(q->job->gang->cluster_selector, cluster_label, &c);
}

static void why_selector(const struct cluster_question *q, struct strbuf *out)
{
	strbuf_addf(out, "not %s", q->job->gang->selector_text);
}

const struct plugin plugin_selector = {
	.name = "selector", .filter = FILTER_SELECTOR, .passes = is_selected, .why = why_selector};

/* The report that the refusal names is made behind it. When that one, or one between it and the
 * decision, shows other room already, no further report may ever come. */
static bool shows_other_room(const struct fleet_cluster *c, const struct backoff *b)
{
	return c->capacity_seq >= b->capacity_seq && c->room_seq > b->decided_seq;
}

static const struct backoff *find_backoff(const struct cluster_question *q)
{
	for (size_t i = 0; i < q->job->n_backoffs; i++) {
		const struct backoff *b = &q->job->backoffs[i];

		if (b->cluster != q->cluster)
			continue;
		if (b->until_ns ? q->now_ns < b->until_ns : !shows_other_room(q->cluster, b))
			return b;
	}
	return NULL;
}

static bool may_ask_again(const struct cluster_question *q)
{
	return !find_backoff(q);
}

static void why_backoff(const struct cluster_question *q, struct strbuf *out)
{
	const struct backoff *b = find_backoff(q);
	char until[TIME_SIZE];

	strbuf_addf(out, "refused%s%s; asked again ", *b->reason ? ": " : "", b->reason);
	if (!b->until_ns) {
		strbuf_adds(out, "when it reports other room");
		return;
	}
	/* not in so many seconds: it is stored, and read later */
	time_format(until, b->until_ns);
	strbuf_addf(out, "at %s", until);
}

const struct plugin plugin_backoff = {
	.name = "backoff", .filter = FILTER_BACKOFF, .passes = may_ask_again, .why = why_backoff};
