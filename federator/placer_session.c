/* Carries the core's decisions out: an offer for each job that is placed, a reason for each that
 * waits. */
#include <string.h>

#include "base/json.h"
#include "federator/jobs.h"
#include "federator/placer_internal.h"

/* Decisions of one turn; the core takes no event before its session has ended. */
struct failed_offers {
	char **uids;
	size_t n, cap;
};

static json_t *runners_up_json(const struct fleet_decision *d)
{
	json_t *list = json_array();

	for (size_t i = 0; i < d->n_runners_up; i++)
		json_array_append_new(list,
				      json_pack("{ss,ss}", "cluster", d->runners_up[i].cluster,
						"why", d->runners_up[i].why));
	return list;
}

static bool offer(struct placer *p, const struct fleet_decision *d)
{
	struct placed_cluster *c = placer_cluster(p, d->cluster);
	auto_json *runners_up = runners_up_json(d);
	int32_t *alternatives = xcalloc(d->n_choices, sizeof(*alternatives));
	struct record_offer offer = {
		.cluster = d->cluster,
		.cluster_uid = c ? c->uid : NULL,
		.why = d->why,
		.runners_up = runners_up,
		.alternatives = alternatives,
		.n_alternatives = d->n_choices,
		.incarnation = HUB_INCARNATION,
		.protocol = HUB_PROTOCOL,
	};
	bool made;

	for (size_t i = 0; i < d->n_choices; i++)
		alternatives[i] = d->choices[i].alternative;
	made = offer.cluster_uid && jobs_offer(p->hub, d->uid, &offer);
	free(alternatives);
	return made;
}

static void place(struct placer *p, const struct fleet_decision *d, struct failed_offers *failed)
{
	struct placed_job *j = placer_find(p, d->uid);

	if (j) {
		j->state = JOB_OPEN;
		j->generation = d->generation;
		j->offer_version = j->doc->version;
	}
	if (offer(p, d))
		return;
	GROW(failed->uids, failed->n, failed->cap);
	failed->uids[failed->n++] = xstrdup(d->uid);
}

/* --- why jobs wait --- */

static const struct explain_place *nearest(const struct explain *e)
{
	const struct explain_place *best = NULL;

	for (size_t i = 0; i < e->n_places; i++) {
		const struct explain_place *x = &e->places[i];

		if ((x->verdict == VERDICT_FULL || x->verdict == VERDICT_NEVER) &&
		    (!best || x->fits > best->fits))
			best = x;
	}
	return best;
}

json_t *placer_why(struct placer *p, const char *job_uid)
{
	auto_free(explain_destroy) struct explain *e =
		fleet_explain(p->fleet, job_uid, env_wall_ns(p->hub->env));
	const struct placed_job *j = placer_find(p, job_uid);

	if (j && j->trouble)
		return json_pack("{ss,ss}", "code", "Invalid", "detail", j->trouble);
	return e && !e->placed ? explain_pending_json(e, nearest(e)) : NULL;
}

struct waiting {
	char **uids;
	size_t n, cap;
};

/* After the session: questions to the core are events too. */
static void finish(struct placer *p, struct failed_offers *failed, struct waiting *waiting)
{
	for (size_t i = 0; i < failed->n; i++) {
		struct placed_job *j = placer_find(p, failed->uids[i]);

		if (j)
			placer_take_offer_back(p, j);
		free(failed->uids[i]);
	}
	for (size_t i = 0; i < waiting->n; i++) {
		jobs_wait(p->hub, waiting->uids[i]);
		free(waiting->uids[i]);
	}
	free(failed->uids);
	free(waiting->uids);
}

/* With many jobs that wait, a look at all of them for each that is submitted would leave no time
 * for anything else: sessions take a fifth of it at most. */
static void rest(struct placer *p, int64_t began_ns)
{
	int64_t now_ns = env_mono_ns(p->hub->env), rest_ns = (now_ns - began_ns) * PLACER_REST;
	int64_t until_ms = (now_ns + rest_ns) / 1000000;

	if (until_ms > p->paused_ms)
		p->paused_ms = until_ms;
}

/* What a new leader does not know yet must not send a job past its data: the clusters that were
 * Ready report within moments. */
static bool waits_for_reports(const struct placer *p)
{
	const struct placed_cluster *c, *next;

	if (env_mono_ms(p->hub->env) >= p->grace_ms)
		return false;
	for (c = p->clusters; c; c = next) {
		next = c->hh.next;
		if (c->expected && !c->held_seq)
			return true;
	}
	return false;
}

void placer_run_session(struct placer *p)
{
	int64_t began_ns = env_mono_ns(p->hub->env);
	int64_t end = began_ns / 1000000 + PLACER_BUDGET_MS;
	struct failed_offers failed = {0};
	struct waiting waiting = {0};
	struct fleet_decision d;
	bool more = true;

	if (!p->leading)
		return;
	if (waits_for_reports(p)) {
		placer_wake_in(p, PLACER_RETRY_MS);
		return;
	}
	fleet_session_begin(p->fleet, env_wall_ns(p->hub->env));
	while (env_mono_ms(p->hub->env) <= end && (more = fleet_session_next(p->fleet, &d))) {
		if (d.wait == WAIT_NONE) {
			place(p, &d, &failed);
			continue;
		}
		GROW(waiting.uids, waiting.n, waiting.cap);
		waiting.uids[waiting.n++] = xstrdup(d.uid);
	}
	fleet_session_end(p->fleet);
	rest(p, began_ns);
	if (more)
		placer_wake(p);
	finish(p, &failed, &waiting);
}
