/*
 * Why jobs wait, as status.pending shows it: written when a session finds a reason, and looked at
 * again while it is shown, for numbers and names in it change without the reason being another.
 *
 * Reasons are many and soon out of date; they must not crowd out the writes of users. So turns are
 * short, and each looks at a few jobs: half of them news, half those looked at longest ago.
 */
#include "base/json.h"
#include "federator/jobs_internal.h"
#include "federator/placer.h"

#define FIRST_MS 1000 /* not for a wait that is over at once */
#define AGAIN_MS 5000 /* written at most, and looked at again, so often a job */
#define TURN_MS  50
#define LOOKS    5    /* at jobs of each list in a turn */
#define PASSES   1000 /* jobs of which nothing can have changed: a comparison each */

static struct job_entry *first_of(const struct list *l)
{
	struct list_node *node = list_first(l);

	return node ? list_entry(node, struct job_entry, waiting) : NULL;
}

static int64_t due_of(const struct list *l)
{
	const struct job_entry *e = first_of(l);

	return e ? e->due_ms : INT64_MAX;
}

static void arm(struct jobs *j)
{
	int64_t now = env_mono_ms(j->hub->env), news = due_of(&j->news), shown = due_of(&j->shown);
	int64_t due = news < shown ? news : shown;

	if (due == INT64_MAX)
		return;
	if (due < j->next_turn_ms)
		due = j->next_turn_ms;
	timer_start(j->turn, due > now ? due - now : 1);
}

/* By when they are due; what comes last is nearly always due last. */
static void enlist(struct job_entry *e, struct list *l, int64_t due_ms)
{
	struct list_node *at = &l->head;

	list_remove(&e->waiting);
	e->is_news = l == &e->jobs->news;
	e->due_ms = due_ms;
	while (at->prev != &l->head &&
	       list_entry(at->prev, struct job_entry, waiting)->due_ms > due_ms)
		at = at->prev;
	list_insert_before(at, &e->waiting);
}

void jobs_pending_found(struct job_entry *e)
{
	int64_t now = env_mono_ms(e->jobs->hub->env);
	int64_t due = e->pending_at_ms ? e->pending_at_ms + AGAIN_MS : now + FIRST_MS;

	if (list_linked(&e->waiting) && e->is_news)
		return;
	enlist(e, &e->jobs->news, due > now ? due : now);
	arm(e->jobs);
}

void jobs_pending_failed(struct job_entry *e)
{
	e->pending_at_ms = 0;
	list_remove(&e->waiting);
	jobs_pending_found(e);
}

void jobs_pending_leave(struct job_entry *e)
{
	list_remove(&e->waiting);
}

static void write_reason(struct job_entry *e, int64_t now)
{
	struct hub *hub = e->jobs->hub;
	auto_json *why = placer_why(hub->placer, e->uid);
	auto_json *job = why ? doc_tree(e->doc) : NULL;
	auto_json *status = why ? record_set_pending(job, why, env_wall_ns(hub->env)) : NULL;
	struct job_write *w;

	if (!status)
		return;
	e->pending_at_ms = now;
	w = xnew0(struct job_write);
	w->purpose = WRITE_REASON;
	json_write(&w->status, status);
	if (jobs_commit(e, w, NULL, 0, false, false))
		jobs_write_free(w);
}

static bool waits(const struct job_entry *e)
{
	return (e->phase == DISPATCH_NONE || e->phase == DISPATCH_QUEUED) && !e->deleted && e->doc;
}

/* True when it was asked why the job waits. */
static bool look(struct job_entry *e, int64_t now)
{
	struct jobs *j = e->jobs;
	uint64_t version = placer_version(j->hub->placer);
	bool unchanged = !e->is_news && e->seen == version;

	if (!waits(e)) {
		list_remove(&e->waiting);
		return false;
	}
	if (e->write) {
		enlist(e, &j->news, now + JOBS_SETTLE_MS);
		return false;
	}
	enlist(e, &j->shown, now + AGAIN_MS);
	if (unchanged)
		return false;
	e->seen = version;
	write_reason(e, now);
	return true;
}

static void look_at(struct list *l, int64_t now)
{
	int looks = 0;

	for (int i = 0; i < PASSES && looks < LOOKS && due_of(l) <= now; i++)
		looks += look(first_of(l), now);
}

static void on_turn(void *arg)
{
	struct jobs *j = arg;
	int64_t now = env_mono_ms(j->hub->env);

	j->next_turn_ms = now + TURN_MS;
	look_at(&j->news, now);
	look_at(&j->shown, now);
	arm(j);
}

void jobs_pending_init(struct jobs *j)
{
	list_init(&j->news);
	list_init(&j->shown);
	j->turn = timer_create_in(j->hub->env, on_turn, j);
}

void jobs_pending_finish(struct jobs *j)
{
	timer_destroy(j->turn);
}
