/* Answers: could it ever fit, why does it wait, where did it go and why. */
#include <string.h>

#include "base/json.h"
#include "federator/admitted.h"
#include "federator/capable.h"
#include "federator/placer_internal.h"

int placer_admit(struct placer *p, const json_t *job, bool created, struct causes *causes,
		 char **ret_warning, struct error *err)
{
	auto_free(job_destroy) struct job *view = NULL;
	enum fleet_fit fit = FLEET_MAY_FIT;
	auto_strbuf text = {0};

	if (job_view_tree(job, &view, err) ||
	    fleet_fits(p->leading ? p->fleet : capable_fleet(p->capable), view, &fit, &text, err))
		return -1;
	if (fit == FLEET_NO_CAPABLE)
		*ret_warning = xstrdup(strbuf_str(&text));
	if (fit != FLEET_NEVER_FITS && created && p->leading)
		admitted_add(p->admitted, take_ptr(view));
	if (fit != FLEET_NEVER_FITS)
		return 0;
	causes_add(causes, CAUSE_INVALID, "spec.tasks", NULL, "NeverFits: %s", strbuf_str(&text));
	causes->items[causes->n - 1].reason_override = "NeverFits";
	return 0;
}

struct job *placer_take_admitted(struct placer *p, const struct doc *doc, const char *uid)
{
	return doc && uid ? admitted_take(p->admitted, doc, uid) : NULL;
}

/* --- jobs that have, or had, a place --- */

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

static void history_text(const json_t *job, struct strbuf *out)
{
	const json_t *attempts = json_at(job, "status", "dispatch", "attempts", NULL), *a;
	const char *phase = json_str_at(job, "status", "state", "phase", NULL);
	const char *message = json_str_at(job, "status", "state", "message", NULL);
	size_t i;

	strbuf_addf(out, "%s is %s%s%s\n\n", json_str_at(job, "metadata", "name", NULL),
		    phase ? phase : "Pending", message ? ": " : "", message ? message : "");
	json_array_foreach (attempts, i, a)
		attempt_text(a, out);
}

static json_t *with_text(json_t *take_tree, const json_t *job, const struct strbuf *text)
{
	const json_t *attempts = json_at(job, "status", "dispatch", "attempts", NULL);

	if (attempts)
		json_object_set_new(take_tree, "attempts", json_deep_copy(attempts));
	json_set_str(take_tree, "text", strbuf_str(text));
	return take_tree;
}

json_t *placer_explain(struct placer *p, const json_t *job, int32_t utc_offset_s)
{
	const char *uid = json_str_at(job, "metadata", "uid", NULL);
	int64_t now = env_wall_ns(p->hub->env);
	auto_free(explain_destroy) struct explain *e = fleet_explain(p->fleet, uid, now);
	const json_t *attempts = json_at(job, "status", "dispatch", "attempts", NULL);
	const struct placed_job *j = uid ? placer_find(p, uid) : NULL;
	auto_strbuf text = {0};

	if (j && j->trouble) {
		strbuf_addf(&text, "%s waits: %s\n", json_str_at(job, "metadata", "name", NULL),
			    j->trouble);
		return with_text(json_pack("{ss,ss}", "code", "Invalid", "detail", j->trouble), job,
				 &text);
	}
	if (!e && !json_array_size(attempts))
		return NULL;
	if (!e || e->placed)
		history_text(job, &text);
	if (e && e->placed)
		strbuf_addc(&text, '\n');
	if (e)
		explain_text(e, now, utc_offset_s, &text);
	if (e && !e->placed)
		for (size_t i = 0; i < json_array_size(attempts); i++)
			attempt_text(json_array_get(attempts, i), &text);
	return with_text(e ? explain_json(e) : json_object(), job, &text);
}
