/* What a run tells the owner: claim, counts, last word. One word at a time. */
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/log.h"
#include "base/strbuf.h"
#include "member-agent/runner_internal.h"

#define NODES_TEXT_MAX 60

struct word {
	struct run *run;
	enum placement_state state;
	char *status;
};

static bool is_last(enum placement_state s)
{
	return s == PLACEMENT_REFUSED || s == PLACEMENT_RELEASED || s == PLACEMENT_DONE ||
	       s == PLACEMENT_LOST;
}

static void word_free(struct word *w)
{
	free(w->status);
	free(w);
}

bool word_is_under_way(const struct run *run)
{
	return run->word != NULL;
}

bool word_is_last(const struct run *run)
{
	return run->word && is_last(run->word->state);
}

void word_cancel(struct run *run)
{
	if (!run->word)
		return;
	run->runner->owner->ops->forget_calls(run->runner->owner, run->word);
	word_free(take_ptr(run->word));
}

/* --- hearing --- */

/* An end that cannot be told now must outlive this process: pods may be collected meanwhile. */
static void keep_outcome(struct run *run)
{
	if (run->twin && run->memory.outcome.phase != OUTCOME_NONE && run->memory_unwritten)
		run_write_memory(run);
}

static void said(struct run *run, struct word *w, struct doc *now)
{
	run->tries = 0;
	free(run->counts_said);
	run->counts_said = take_ptr(w->status);
	run->counts_said_ms = env_mono_ms(run->runner->env);
	if (is_last(w->state))
		run_over(run);
	else if (now)
		run_set_placement(run, now);
}

/* A last word that was heard before settles the attempt. Any other tells only that there is no
 * Placement: what lives without one is an orphan. */
static void said_of_nothing(struct run *run, const struct word *w)
{
	if (is_last(w->state))
		run_over(run);
	else
		run_set_placement(run, NULL);
}

static void on_said(enum owner_reply reply, struct doc *now, const struct error *err, void *arg)
{
	struct word *w = arg;
	struct run *run = w->run;

	run->word = NULL;
	switch (reply) {
	case OWNER_OK:
		said(run, w, now);
		break;
	case OWNER_GONE:
		said_of_nothing(run, w);
		break;
	case OWNER_CHANGED:
		run_retry(run);
		break;
	case OWNER_LATER:
		if (w->state == PLACEMENT_DONE)
			keep_outcome(run);
		run_retry(run);
		break;
	}
	word_free(w);
	runner_room_changed(run->runner);
}

/* --- what is said --- */

static json_t *counts_json(const struct attempt *a)
{
	json_t *counts = json_object();

	for (size_t t = 0; t < a->n_tasks; t++) {
		json_t *of_task = json_object();

		for (int32_t i = 0; i < a->tasks[t].replicas; i++) {
			const char *name = attempt_counts_as(a, t, i);

			if (name)
				json_set_int(of_task, name,
					     json_int_at(of_task, 0, name, NULL) + 1);
		}
		json_object_set_new(counts, a->tasks[t].name, of_task);
	}
	return counts;
}

static int compare_names(const void *a, const void *b)
{
	return strverscmp(*(const char *const *)a, *(const char *const *)b);
}

/* Where the number at the end of a name begins; at its end when there is none. */
static size_t number_at(const char *name)
{
	size_t n = strlen(name);

	while (n && name[n - 1] >= '0' && name[n - 1] <= '9')
		n--;
	return n;
}

static bool follows(const char *a, const char *b)
{
	size_t n = number_at(a);

	return n == number_at(b) && !strncmp(a, b, n) && a[n] && b[n] &&
	       strtoll(b + n, NULL, 10) == strtoll(a + n, NULL, 10) + 1;
}

/* "gpu-0, gpu-1, arm-0 to arm-3": three or more in a row are a range. */
static void nodes_text(const char **names, size_t n, struct strbuf *out)
{
	for (size_t i = 0; i < n;) {
		size_t last = i;

		while (last + 1 < n && follows(names[last], names[last + 1]))
			last++;
		if (last - i < 2)
			last = i;
		strbuf_addf(out, "%s%s", i ? ", " : "", names[i]);
		if (last > i)
			strbuf_addf(out, " to %s", names[last]);
		i = last + 1;
	}
	if (out->size <= NODES_TEXT_MAX)
		return;
	strbuf_shrink(out, NODES_TEXT_MAX - strlen("..."));
	strbuf_adds(out, "...");
}

static void set_nodes(json_t *status, const struct run *run)
{
	size_t total = run->n_places, n = 0, kept = 0;
	auto_xfree const char **names = xcalloc(total + 1, sizeof(*names));
	auto_strbuf text = {0};

	for (size_t i = 0; i < total; i++)
		if (run->places[i]->pod && run->places[i]->node)
			names[n++] = run->places[i]->node;
	qsort(names, n, sizeof(*names), compare_names);
	for (size_t i = 0; i < n; i++)
		if (!kept || strcmp(names[kept - 1], names[i]))
			names[kept++] = names[i];
	nodes_text(names, kept, &text);
	if (text.size)
		json_set_str(status, "nodes", text.bytes);
}

static json_t *status_of(const struct run *run, enum placement_state state)
{
	json_t *status = json_object();
	struct arena arena = {0};

	json_set_str(status, "state", placement_state_name(state));
	if (run->twin) {
		struct attempt a = run_attempt(run, &arena);

		json_object_set_new(status, "counts", counts_json(&a));
		set_nodes(status, run);
	}
	json_set_int(status, "retries",
		     run->memory_loaded ? run->memory.retries : run->placement->retries);
	arena_finish(&arena);
	return status;
}

/* A claim and each last word change what is free: the next report is the first with it. */
static void set_seq(json_t *status, const struct run *run, enum placement_state state)
{
	const struct runner *r = run->runner;
	int64_t seq = run->placement->capacity_seq;

	if (state == PLACEMENT_CLAIMED || is_last(state))
		seq = (r->term << 32) + r->reports + 1;
	json_set_int(status, "capacitySeq", seq);
}

static void set_texts(json_t *status, const struct word_text *text)
{
	json_t *outcome;

	if (text->reason && *text->reason)
		json_set_str(status, "reason", text->reason);
	if (text->message && *text->message)
		json_set_str(status, "message", text->message);
	if (text->nearest_miss)
		json_object_set_new(status, "nearestMiss", json_deep_copy(text->nearest_miss));
	if (!text->outcome)
		return;
	outcome = json_object_need(status, "outcome");
	json_set_str(outcome, "phase",
		     text->outcome->phase == OUTCOME_COMPLETED ? "Completed" : "Failed");
	if (text->outcome->reason[0])
		json_set_str(outcome, "reason", text->outcome->reason);
	json_set_str(outcome, "message", text->outcome->message);
}

static void say(struct run *run, enum placement_state state, const json_t *status)
{
	struct word *w = xnew0(struct word);

	w->run = run;
	w->state = state;
	w->status = json_print(status);
	run->word = w;
	run->said_last = run->said_last || is_last(state);
	run->runner->owner->ops->say(run->runner->owner, run->placement_doc, status, on_said, w);
}

void word_say(struct run *run, const struct word_text *text)
{
	auto_json *status = NULL;

	if (run->word)
		return;
	status = status_of(run, text->state);
	set_texts(status, text);
	set_seq(status, run, text->state);
	say(run, text->state, status);
}

static struct word_text why_not_all_run(const struct run *run, bool restarting)
{
	if (restarting)
		return (struct word_text){
			.reason = "Restarting",
			.message = run->restart_message[0] ? run->restart_message : NULL,
		};
	if (run->hold_reason[0])
		return (struct word_text){.reason = run->hold_reason, .message = run->hold_message};
	return (struct word_text){0};
}

void word_say_counts(struct run *run, bool restarting)
{
	int64_t wait = run->counts_said_ms + COUNTS_EVERY_MS - env_mono_ms(run->runner->env);
	bool first = run->placement->state != PLACEMENT_RUNNING;
	struct word_text text = why_not_all_run(run, restarting);
	auto_json *status = NULL;
	auto_xfree char *print = NULL;

	if (run->word)
		return;
	status = status_of(run, PLACEMENT_RUNNING);
	set_texts(status, &text);
	set_seq(status, run, PLACEMENT_RUNNING);
	print = json_print(status);
	if (!first && run->counts_said && !strcmp(print, run->counts_said))
		return;
	if (!first && run->counts_said && wait > 0) {
		run_poke_in(run, wait);
		return;
	}
	say(run, PLACEMENT_RUNNING, status);
}
