/* One attempt in this member: what is to be done follows from Placement, twin and pods. */
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "member-agent/runner_internal.h"

/* --- life and turns --- */

static void on_run_timer(void *arg)
{
	run_poke(arg);
}

struct run *run_create(struct runner *r, const char *name, const char *uid, int64_t part,
		       int64_t generation)
{
	struct run *run = xnew0(struct run);

	run->runner = r;
	run->name = xstrdup(name);
	run->uid = xstrdup(uid);
	run->part = part;
	run->generation = generation;
	run->timer = timer_create_in(r->env, on_run_timer, run);
	list_init(&run->calls);
	HASH_ADD_KEYPTR(hh, r->runs, run->name, strlen(run->name), run);
	return run;
}

static void set_orphan(struct run *run, bool orphan)
{
	if (run->orphan == orphan)
		return;
	run->orphan = orphan;
	run->runner->orphans += orphan ? 1 : (size_t)-1;
}

void run_destroy(struct run *run)
{
	HASH_DEL(run->runner->runs, run);
	list_remove(&run->dirty);
	set_orphan(run, false);
	claim_destroy(run->claim);
	supplies_destroy(run->supplies);
	word_cancel(run);
	create_cancel(run->twin_create);
	run_cancel_calls(run);
	journal_drop(run->runner->journal, run);
	run_release_room(run);
	places_destroy(run);
	timer_destroy(run->timer);
	doc_unref(run->placement_doc);
	placement_destroy(run->placement);
	twin_destroy(run->twin);
	free(run->counts_said);
	free(run->twin_uid);
	free(run->name);
	free(run->uid);
	free(run);
}

void run_poke(struct run *run)
{
	if (!list_linked(&run->dirty))
		list_push_back(&run->runner->dirty, &run->dirty);
	if (!timer_active(run->runner->turn))
		timer_start(run->runner->turn, 1);
}

void run_poke_in(struct run *run, int64_t ms)
{
	int64_t at = env_mono_ms(run->runner->env) + (ms < 1 ? 1 : ms);

	if (timer_active(run->timer) && run->wake_ms <= at)
		return;
	run->wake_ms = at;
	timer_start(run->timer, ms < 1 ? 1 : ms);
}

void run_retry(struct run *run)
{
	run_poke_in(run,
		    env_backoff_ms(run->runner->env, run->tries++, RETRY_BASE_MS, RETRY_MAX_MS));
}

int64_t run_now_ns(const struct run *run)
{
	return env_wall_ns(run->runner->env);
}

/* --- what is known --- */

static void drop_placement(struct run *run)
{
	doc_unref(run->placement_doc);
	placement_destroy(run->placement);
	run->placement_doc = NULL;
	run->placement = NULL;
}

void run_set_placement(struct run *run, struct doc *doc)
{
	struct placement *p;
	struct error err;

	if (!doc) {
		drop_placement(run);
		run_poke(run);
		return;
	}
	/* The last word is newer than whatever is shown yet. */
	if (run->settled || (run->placement_doc && doc->version < run->placement_doc->version))
		return;
	if (placement_view(doc, &p, &err)) {
		log_warn("runner", "placement %s: %s", run->name, err.text);
		return;
	}
	drop_placement(run);
	run->placement = p;
	run->placement_doc = doc_ref(doc);
	run_poke(run);
}

static void drop_twin(struct run *run)
{
	dry_run_cancel(take_ptr(run->dry)); /* it reads the twin; run_poke() asks again */
	twin_destroy(take_ptr(run->twin));
}

/* Made anew by others, as from a backup: what the old one owned is collected with it, and its
 * status was not restored. */
static void note_replaced(struct run *run, const struct twin *now)
{
	if (run->twin_uid && strcmp(run->twin_uid, now->meta.uid)) {
		log_warn("runner", "placement %s: its record here was replaced", run->name);
		supplies_destroy(take_ptr(run->supplies));
		run->memory_unwritten = true;
	}
	free(run->twin_uid);
	run->twin_uid = xstrdup(now->meta.uid);
}

void run_set_twin(struct run *run, struct doc *doc)
{
	struct twin *t;
	struct error err;

	if (!doc) {
		drop_twin(run);
		run->twin_gone_ms = env_mono_ms(run->runner->env);
		run_poke(run);
		return;
	}
	if (run->twin && doc->version < run->twin_version)
		return;
	if (twin_view(doc, &t, &err)) {
		log_warn("runner", "placement %s: %s", run->name, err.text);
		return;
	}
	drop_twin(run);
	note_replaced(run, t);
	run->twin = t;
	run->twin_version = doc->version;
	run->twin_gone_ms = 0;
	if (!run->memory_loaded)
		run->memory = t->memory;
	run->memory_loaded = true;
	places_make(run);
	run_poke(run);
}

static bool is_our_incarnation(const struct runner *r, int64_t incarnation)
{
	return r->incarnation < 0 || r->incarnation == incarnation;
}

static bool is_our_cluster(const struct runner *r, const char *uid)
{
	return !r->cluster_uid || !strcmp(r->cluster_uid, uid);
}

/* A Cluster of our name was there before us. It went only when no Placement of it was left, so that
 * the hub's word holds for what it had claimed too. */
static bool is_our_predecessor(const struct runner *r, const struct twin *t)
{
	return r->hub && t->hub && !strcmp(r->hub, t->hub);
}

bool run_is_ours(const struct run *run)
{
	return is_our_cluster(run->runner, run->placement->cluster_uid) &&
	       is_our_incarnation(run->runner, run->placement->incarnation);
}

bool run_is_anothers(const struct run *run)
{
	const struct runner *r = run->runner;
	const struct twin *t = run->twin;

	return t && (!is_our_incarnation(r, t->incarnation) ||
		     (!is_our_cluster(r, t->cluster_uid) && !is_our_predecessor(r, t)));
}

bool run_is_absent(const struct run *run)
{
	struct owner *o = run->runner->owner;

	return run_is_anothers(run) ||
	       o->ops->is_absent(o, run->name, run->twin ? run->twin->claim_version : 0);
}

/* --- what is to be done --- */

static void say_odd(struct run *run, const char *what)
{
	if (!run->said_odd)
		log_error("runner", "placement %s: %s", run->name, what);
	run->said_odd = true;
}

static void act_impossible(struct run *run)
{
	say_odd(run, "has a twin that it never allowed; nothing is touched");
}

static void act_unknown(struct run *run)
{
	say_odd(run, "asks for something that this agent does not know; nothing is started");
}

/* Whoever restores twins removes them first: what seems lost may be back in a moment. */
static bool may_come_back(struct run *run)
{
	int64_t left = run->twin_gone_ms + TWIN_WAIT_MS - env_mono_ms(run->runner->env);

	if (!run->twin_gone_ms || left <= 0)
		return false;
	run_poke_in(run, left);
	return true;
}

static void act_lost(struct run *run)
{
	struct word_text text = {
		.state = PLACEMENT_LOST,
		.reason = "TwinLost",
		.message = "the attempt ran here, and nothing of it is left",
	};
	bool ending;

	if (may_come_back(run) || run_may_yet_grow(run))
		return;
	if (run_pods_live(run, &ending))
		run_clear_pods(run, CLEAR_ALL);
	else if (!ending)
		word_say(run, &text);
}

static void act_refuse_released(struct run *run)
{
	struct word_text text = {
		.state = PLACEMENT_REFUSED,
		.reason = "Released",
		.message = "the end was asked for before the claim",
	};

	claim_destroy(take_ptr(run->claim));
	word_say(run, &text);
}

/* Claimed, and asked to end before the twin was there. */
static void act_release_bare(struct run *run)
{
	struct word_text text = {
		.state = PLACEMENT_RELEASED,
		.reason = "Released",
		.message = "nothing of it had been started",
	};
	bool ending;

	claim_destroy(take_ptr(run->claim));
	if (run->twin_create || !run_creates_settled(run) ||
	    (run->predecessors && runner_is_shut_in(run->runner)))
		return;
	if (run_pods_live(run, &ending))
		run_clear_pods(run, CLEAR_ALL);
	else if (!ending)
		word_say(run, &text);
}

/* The word was the last one, and the answer is on its way. */
static void act_wait(struct run *run)
{
}

#define STATE(s)  (1u << PLACEMENT_##s)
#define STARTED   (STATE(CLAIMED) | STATE(RUNNING))
#define LAST_WORD (STATE(REFUSED) | STATE(RELEASED) | STATE(DONE) | STATE(LOST))

/* The table of design document 3, "An agent starts": it holds at any time. */
static const struct situation {
	unsigned desired; /* bits of enum desired */
	unsigned states;
	int twin; /* 1: there, 0: not, -1: either */
	void (*act)(struct run *run);
} situations[] = {
	{~0u, LAST_WORD, -1, act_wait},
	{1u << DESIRED_GO, STATE(NONE), 0, run_offered},
	{1u << DESIRED_GO | 1u << DESIRED_RELEASE, STATE(NONE), 1, act_impossible},
	{1u << DESIRED_GO, STATE(CLAIMED), 0, run_claimed_without_twin},
	{1u << DESIRED_GO, STATE(RUNNING), 0, act_lost},
	{1u << DESIRED_GO | 1u << DESIRED_RELEASE, STARTED, 1, run_live},
	{1u << DESIRED_RELEASE, STATE(NONE), 0, act_refuse_released},
	{1u << DESIRED_RELEASE, STARTED, 0, act_release_bare},
	{~0u, ~0u, -1, act_unknown},
};

static const struct situation *situation_of(const struct run *run)
{
	const struct placement *p = run->placement;

	for (size_t i = 0; i < ARRAY_LEN(situations); i++) {
		const struct situation *s = &situations[i];

		if (!(s->desired & 1u << p->desired) || !(s->states & 1u << p->state))
			continue;
		if (s->twin < 0 || s->twin == (run->twin != NULL))
			return s;
	}
	return NULL;
}

static bool is_empty(const struct run *run)
{
	return !run->placement && !run->twin && !run_has_pods(run) && !run->twin_create &&
	       list_empty((struct list *)(uintptr_t)&run->calls);
}

/* The view may lag behind the last word; who has forgotten that would begin anew. */
static bool is_shown(const struct run *run)
{
	return run->settled && !run_is_absent(run);
}

/* The answer to a last word was lost; nothing else takes away the Placement of what was claimed. */
static bool was_heard(const struct run *run)
{
	return run->said_last && !run->settled && !run->word && run_is_absent(run);
}

static void act_without_placement(struct run *run)
{
	bool ending, live = run_pods_live(run, &ending);

	claim_destroy(take_ptr(run->claim));
	if (was_heard(run))
		run_over(run);
	run_drop_creates(run);
	set_orphan(run, live && !run->settled && !run->twin_create && run_is_absent(run));
	if (run->twin)
		run_forget(run);
	else if (run->hurried && !live && !run->orphan)
		run_clear_names(run);
}

void run_act(struct run *run)
{
	run_drop_unseen(run);
	if (!run->placement) {
		run->half_made = false;
		if (is_empty(run) && !is_shown(run))
			run_destroy(run);
		else
			act_without_placement(run);
		return;
	}
	set_orphan(run, false);
	if (!run_is_ours(run)) {
		run->half_made = false;
		say_odd(run, "is of another cluster or incarnation; nothing is touched");
		return;
	}
	if (!word_is_under_way(run) || run->twin)
		situation_of(run)->act(run);
}

/* The owner heard the last word, or knew it already. */
void run_over(struct run *run)
{
	run->settled = true;
	run->half_made = false;
	run_release_room(run);
	drop_placement(run);
	run_poke(run);
}
