/* Answers: could it ever fit, why does it wait. */
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

/* --- explain --- */

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
	if (!e || e->placed) {
		placer_history_text(p, job, now, &text);
	} else {
		explain_text(e, now, utc_offset_s, &text);
		placer_attempts_text(job, &text);
	}
	return with_text(e ? explain_json(e) : json_object(), job, &text);
}
