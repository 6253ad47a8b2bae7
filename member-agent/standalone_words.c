/* The owner's table without a hub: Placements in memory, Jobs and what they refer to from here. */
#include <string.h>

#include "base/json.h"
#include "base/log.h"
#include "lifecycle/record.h"
#include "member-agent/standalone_internal.h"

/* A word, or something that is read. */
struct word_call {
	struct list_node node;
	struct standalone *alone;
	struct kube_call *call;
	bool answered; /* the timer tells it */
	void (*said)(enum owner_reply reply, struct doc *now, const struct error *err, void *arg);
	void (*job)(struct doc *job, const struct error *err, void *arg);
	void (*object)(const json_t *object, const struct error *err, void *arg);
	void *arg;
	enum owner_reply reply; /* of `said` */
	struct doc *doc;        /* of `said` and `job` */
	struct error err;
	json_t *after; /* the Placement with the word in it, until it is heard */
	bool last;
};

static struct standalone *standalone_of(struct owner *o)
{
	return container_of(o, struct standalone, owner);
}

static struct word_call *call_create(struct standalone *s, void *arg)
{
	struct word_call *c = xnew0(struct word_call);

	c->alone = s;
	c->arg = arg;
	list_push_back(&s->calls, &c->node);
	return c;
}

static void call_free(struct word_call *c)
{
	list_remove(&c->node);
	kube_cancel(c->call);
	doc_unref(c->doc);
	json_decref(c->after);
	free(c);
}

/* --- answers --- */

static void answer_soon(struct word_call *c)
{
	c->answered = true;
	if (!timer_active(c->alone->answer))
		timer_start(c->alone->answer, 0);
}

static void answer_now(struct word_call *c)
{
	if (c->said)
		c->said(c->reply, c->doc, c->reply == OWNER_OK ? NULL : &c->err, c->arg);
	else if (c->job)
		c->job(c->doc, c->doc ? NULL : &c->err, c->arg);
	call_free(c);
}

static struct word_call *next_answer(struct standalone *s)
{
	struct word_call *c;

	list_for_each (c, &s->calls, node)
		if (c->answered)
			return c;
	return NULL;
}

/* An answer may bring the next question: that one waits for the next turn. */
static void on_answer_timer(void *arg)
{
	struct standalone *s = arg;
	struct word_call *c = next_answer(s);

	if (!c)
		return;
	timer_start(s->answer, 0);
	answer_now(c);
}

static void answer_word(struct word_call *c, enum owner_reply reply, const char *why)
{
	c->reply = reply;
	if (reply != OWNER_OK)
		error_set(&c->err, ERR_CONFLICT, "%s", why);
	answer_soon(c);
}

/* --- words --- */

static void hear(struct local_job *j, struct word_call *c)
{
	bool last = c->last;

	local_heard(j, take_ptr(c->after), last);
	/* The job may be gone by now when that was the last word. */
	if (!last)
		c->doc = local_placement_doc(j);
	answer_word(c, OWNER_OK, NULL);
}

void word_written(struct local_job *j)
{
	if (j->waiter)
		hear(j, take_ptr(j->waiter));
}

static bool is_state(const json_t *placement, const char *state)
{
	const char *now = json_str_at(placement, "status", "state", NULL);

	return now && !strcmp(now, state);
}

/* What people would read on must not be wrong: a claim ends the reason for waiting. */
static bool shows_pending(const struct local_job *j)
{
	return json_is_object(j->pending_before);
}

static void set_status(struct local_job *j, json_t *take_status)
{
	json_object_set_new(j->tree, "status", take_status);
	j->unwritten = true;
}

/* The word moves the record of a Job that is there; false: it must not be heard. */
static bool move_record(struct local_job *j, struct word_call *c)
{
	json_t *status = NULL;
	struct error err;

	if (!j->doc) {
		c->last = !is_state(c->after, "Claimed") && !is_state(c->after, "Running");
		return true;
	}
	if (record_answer(j->tree, j->placement, c->after, env_wall_ns(j->alone->agent->env),
			  &status, &c->last, &err)) {
		log_error("standalone", "job %s/%s: %s", j->ns, j->name, err.text);
		return false;
	}
	if (status)
		set_status(j, status);
	else if (shows_pending(j))
		j->unwritten = true;
	return true;
}

static void take_word(struct local_job *j, struct word_call *c)
{
	if (!move_record(j, c)) {
		answer_word(c, OWNER_LATER, "the word does not fit the job's record");
		return;
	}
	/* A refusal is written with its reason. */
	if (!j->doc || !j->unwritten || is_state(c->after, "Refused")) {
		hear(j, c);
		return;
	}
	j->waiter = c;
	local_write(j);
}

static bool is_present(const struct local_job *j, const json_t *placement)
{
	const char *open = json_str_at(j->placement, "metadata", "name", NULL);
	const char *name = json_str_at(placement, "metadata", "name", NULL);

	return open && !strcmp(open, name);
}

static void standalone_say(struct owner *o, const struct doc *placement, const json_t *status,
			   void (*done)(enum owner_reply reply, struct doc *now,
					const struct error *err, void *arg),
			   void *arg)
{
	struct standalone *s = standalone_of(o);
	struct word_call *c = call_create(s, arg);
	auto_json *tree = doc_tree(placement);
	struct local_job *j = standalone_find(s, json_str_at(tree, "spec", "job", "uid", NULL));

	c->said = done;
	if (!j || !is_present(j, tree)) {
		answer_word(c, OWNER_GONE, "the attempt is settled");
		return;
	}
	if (placement->version != j->placement_version || j->waiter) {
		answer_word(c, OWNER_CHANGED, "the placement has changed");
		return;
	}
	c->after = json_deep_copy(j->placement);
	json_object_set_new(c->after, "status", json_deep_copy(status));
	take_word(j, c);
}

/* --- reading --- */

static void standalone_read_job(struct owner *o, const struct placement *p,
				void (*done)(struct doc *job, const struct error *err, void *arg),
				void *arg)
{
	struct standalone *s = standalone_of(o);
	struct word_call *c = call_create(s, arg);
	struct local_job *j = standalone_find(s, p->job_uid);

	c->job = done;
	if (j && j->doc && j->work)
		c->doc = doc_ref(j->work);
	else
		error_set(&c->err, ERR_NOT_FOUND, "job %s/%s is gone", p->job_ns, p->job_name);
	answer_soon(c);
}

static void on_object(const struct kube_answer *a, void *arg)
{
	struct word_call *c = arg;
	auto_json *object = a->ok ? json_parse_foreign(a->body, a->size, NULL) : NULL;

	c->call = NULL;
	c->object(object, a->ok ? NULL : &a->err, c->arg);
	call_free(c);
}

static void standalone_read_object(struct owner *o, const struct placement *p, const char *path,
				   void (*done)(const json_t *object, const struct error *err,
						void *arg),
				   void *arg)
{
	struct standalone *s = standalone_of(o);
	struct word_call *c = call_create(s, arg);

	c->object = done;
	c->call = kube_send(
		s->agent->member,
		&(struct kube_request){.method = "GET", .path = path, .done = on_object, .arg = c});
}

/* "<uid>-<part>-<generation>" */
static struct local_job *find_by_placement(const struct standalone *s, const char *name)
{
	auto_xfree char *uid = xstrdup(name);

	for (int cuts = 0; cuts < 2; cuts++) {
		char *dash = strrchr(uid, '-');

		if (!dash)
			return NULL;
		*dash = '\0';
	}
	return standalone_find(s, uid);
}

static bool standalone_is_absent(struct owner *o, const char *placement_name, int64_t claim_version)
{
	struct standalone *s = standalone_of(o);
	struct local_job *j = find_by_placement(s, placement_name);
	const char *open = j ? json_str_at(j->placement, "metadata", "name", NULL) : NULL;
	struct foreign_twin *foreign;

	HASH_FIND_STR(s->foreign, placement_name, foreign);
	return s->ready && !foreign && !(open && !strcmp(open, placement_name));
}

/* A word that is being written takes its effect; only nobody hears of it. */
static void standalone_forget_calls(struct owner *o, void *arg)
{
	struct standalone *s = standalone_of(o);
	struct word_call *c, *tmp;

	list_for_each_safe (c, tmp, &s->calls, node) {
		if (c->arg != arg)
			continue;
		if (c->said && c->after) {
			c->said = NULL;
			c->arg = NULL;
		} else {
			call_free(c);
		}
	}
}

const struct owner_ops standalone_ops = {
	.say = standalone_say,
	.read_job = standalone_read_job,
	.read_object = standalone_read_object,
	.is_absent = standalone_is_absent,
	.forget_calls = standalone_forget_calls,
};

void words_init(struct standalone *s)
{
	list_init(&s->calls);
	s->answer = timer_create_in(s->agent->env, on_answer_timer, s);
}

void words_finish(struct standalone *s)
{
	struct word_call *c, *tmp;

	list_for_each_safe (c, tmp, &s->calls, node)
		call_free(c);
	timer_destroy(s->answer);
}
